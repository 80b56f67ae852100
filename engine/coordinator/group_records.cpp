#include "coordinator/group_records.h"

#include <utility>

#include "base/invariant.h"
#include "protocol/framing.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/group_metadata_value.h"
#include "protocol/generated/offset_commit_key.h"
#include "protocol/generated/offset_commit_value.h"

namespace tidemark::coordinator {
namespace {

using protocol::Blob;
using protocol::Text;

constexpr int16_t kGroupMetadataVersion = 3;
constexpr int16_t kOffsetCommitVersion = 4;
/// The only version that has the field expireTimestamp.
constexpr int16_t kOffsetCommitVersionWithExpiry = 1;

template <class T>
T certain(Result<T> encoded) {
  TIDEMARK_INVARIANT(encoded.has_value(), encoded.error().message);
  return std::move(*encoded);
}

ByteVector groupKey(std::string_view groupId) {
  protocol::GroupMetadataKey key;
  key.group = Text::borrowed(groupId);
  return certain(protocol::encodeCoordinatorKey(key));
}

ByteVector offsetKey(std::string_view groupId, std::string_view topic, int32_t partition) {
  protocol::OffsetCommitKey key;
  key.group = Text::borrowed(groupId);
  key.topic = Text::borrowed(topic);
  key.partition = partition;
  return certain(protocol::encodeCoordinatorKey(key));
}

int64_t stateTimestampMs(const ClassicGroup& group) {
  return group.stateSince() ? group.stateSince()->time_since_epoch().count() : -1;
}

}  // namespace

CoordinatorRecord groupMetadataRecord(const ClassicGroup& group, const Assignments& assignments) {
  protocol::GroupMetadataValue value;
  value.protocolType = Text::borrowed(group.protocolType() ? std::string_view(*group.protocolType()) : "");
  value.generation = group.generation();
  value.protocol.reset();
  if (group.protocol()) value.protocol = Text::borrowed(*group.protocol());
  value.leader.reset();
  if (group.leader()) value.leader = Text::borrowed(*group.leader());
  value.currentStateTimestamp = stateTimestampMs(group);
  for (const auto& [id, member] : group.members()) {
    auto& one = value.members.emplace_back();
    one.memberId = Text::borrowed(id);
    if (member.instanceId) one.groupInstanceId = Text::borrowed(*member.instanceId);
    one.clientId = Text::borrowed(member.clientId);
    one.clientHost = Text::borrowed(member.clientHost);
    one.rebalanceTimeout = static_cast<int32_t>(member.rebalanceTimeout.count());
    one.sessionTimeout = static_cast<int32_t>(member.sessionTimeout.count());
    const ByteVector* subscription = member.metadataOf(group.protocol().value_or(""));
    TIDEMARK_INVARIANT(subscription != nullptr, "a member of group " + group.id() + " does not know its protocol");
    one.subscription = Blob::borrowed(*subscription);
    if (const auto found = assignments.find(id); found != assignments.end()) {
      one.assignment = Blob::borrowed(found->second);
    }
  }
  return {groupKey(group.id()), certain(protocol::encodeVersioned(value, kGroupMetadataVersion))};
}

CoordinatorRecord emptyGroupMetadataRecord(const ClassicGroup& group) {
  protocol::GroupMetadataValue value;
  value.protocol.reset();
  value.leader.reset();
  value.currentStateTimestamp = stateTimestampMs(group);
  return {groupKey(group.id()), certain(protocol::encodeVersioned(value, kGroupMetadataVersion))};
}

CoordinatorRecord groupTombstone(std::string_view groupId) {
  return {groupKey(groupId), std::nullopt};
}

CoordinatorRecord offsetCommitRecord(std::string_view groupId, std::string_view topic, int32_t partition,
                                     const CommittedOffset& committed) {
  protocol::OffsetCommitValue value;
  value.offset = committed.offset.value();
  value.leaderEpoch = committed.leaderEpoch.value();
  value.metadata = Text::borrowed(committed.metadata);
  value.commitTimestamp = committed.commitTimestampMs;
  value.expireTimestamp = committed.expireTimestampMs.value_or(-1);
  value.topicId = committed.topicId;
  const int16_t version = committed.expireTimestampMs ? kOffsetCommitVersionWithExpiry : kOffsetCommitVersion;
  return {offsetKey(groupId, topic, partition), certain(protocol::encodeVersioned(value, version))};
}

CoordinatorRecord offsetTombstone(std::string_view groupId, std::string_view topic, int32_t partition) {
  return {offsetKey(groupId, topic, partition), std::nullopt};
}

}  // namespace tidemark::coordinator
