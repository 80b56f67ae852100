#include "coordinator/classic/classic_records.h"

#include "base/invariant.h"
#include "coordinator/record_encoding.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/group_metadata_value.h"

namespace tidemark::coordinator {
namespace {

using protocol::Blob;
using protocol::Text;

constexpr int16_t kGroupMetadataVersion = 3;

ByteVector groupKey(std::string_view groupId) {
  protocol::GroupMetadataKey key;
  key.group = Text::borrowed(groupId);
  return encodedKey(key);
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
  return {groupKey(group.id()), encodedValue(value, kGroupMetadataVersion)};
}

CoordinatorRecord emptyGroupMetadataRecord(const ClassicGroup& group) {
  protocol::GroupMetadataValue value;
  value.protocol.reset();
  value.leader.reset();
  value.currentStateTimestamp = stateTimestampMs(group);
  return {groupKey(group.id()), encodedValue(value, kGroupMetadataVersion)};
}

CoordinatorRecord groupTombstone(std::string_view groupId) {
  return {groupKey(groupId), std::nullopt};
}

}  // namespace tidemark::coordinator
