#include "coordinator/share/share_groups.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/share/share_group_records.h"
#include "protocol/framing.h"
#include "protocol/generated/share_group_current_member_assignment_key.h"
#include "protocol/generated/share_group_current_member_assignment_value.h"
#include "protocol/generated/share_group_member_metadata_key.h"
#include "protocol/generated/share_group_member_metadata_value.h"
#include "protocol/generated/share_group_metadata_key.h"
#include "protocol/generated/share_group_metadata_value.h"
#include "protocol/generated/share_group_state_partition_metadata_key.h"
#include "protocol/generated/share_group_state_partition_metadata_value.h"
#include "protocol/generated/share_group_target_assignment_member_key.h"
#include "protocol/generated/share_group_target_assignment_member_value.h"
#include "protocol/generated/share_group_target_assignment_metadata_key.h"
#include "protocol/generated/share_group_target_assignment_metadata_value.h"

namespace tidemark::coordinator {

using protocol::ShareGroupHeartbeatRequest;
using protocol::ShareGroupHeartbeatResponse;

namespace {

constexpr int32_t kShareJoin = 0;
constexpr int32_t kShareLeave = -1;

template <class Wire>
SharePartitions sharePartitionsOf(const std::vector<Wire>& wire) {
  SharePartitions partitions;
  for (const Wire& topic : wire)
    if (!topic.partitions.empty()) partitions[topic.topicId].insert(topic.partitions.begin(), topic.partitions.end());
  return partitions;
}

template <class Wire>
std::map<Uuid, ShareTopicState> shareStatesOf(const std::vector<Wire>& wire) {
  std::map<Uuid, ShareTopicState> states;
  for (const Wire& topic : wire) {
    ShareTopicState& state = states[topic.topicId];
    state.name = topic.topicName.str();
    state.partitions.insert(topic.partitions.begin(), topic.partitions.end());
  }
  return states;
}

Effects refuseHeartbeat(ErrorCode error, std::string message, Reply<ShareGroupHeartbeatResponse> reply) {
  Effects out;
  out.replies.emplace_back([error, message = std::move(message), reply = std::move(reply)]() mutable {
    ShareGroupHeartbeatResponse response;
    response.errorCode = static_cast<int16_t>(error);
    response.errorMessage = protocol::Text(message);
    reply(std::move(response));
  });
  return out;
}

}  // namespace

const ShareGroup* ShareGroups::find(std::string_view groupId) const {
  const auto found = groups_.find(groupId);
  return found == groups_.end() ? nullptr : &found->second;
}

// ---- the log

Result<bool> ShareGroups::replay(int16_t type, ByteView body, int16_t version, std::optional<ByteView> value) {
  /// The group that a record speaks of; a tombstone makes none.
  const auto groupOf = [&](const protocol::Text& id) -> ShareGroup* {
    if (value) return &groups_[id.str()];
    const auto found = groups_.find(id.view());
    return found == groups_.end() ? nullptr : &found->second;
  };
  switch (type) {
    case protocol::ShareGroupMetadataKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::ShareGroupMetadataKey>(body, version));
      if (!value) {
        groups_.erase(key.groupId.str());
        asked_.erase(key.groupId.str());
        return true;
      }
      TIDEMARK_ASSIGN(const auto decoded, protocol::decodeVersionedAs<protocol::ShareGroupMetadataValue>(*value));
      ShareGroup* group = groupOf(key.groupId);
      group->epoch = decoded.epoch;
      group->metadataHash = decoded.metadataHash;
      return true;
    }
    case protocol::ShareGroupMemberMetadataKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::ShareGroupMemberMetadataKey>(body, version));
      ShareGroup* group = groupOf(key.groupId);
      if (!value) {
        if (group != nullptr) group->members.erase(key.memberId.str());
        return true;
      }
      TIDEMARK_ASSIGN(const auto decoded, protocol::decodeVersionedAs<protocol::ShareGroupMemberMetadataValue>(*value));
      ShareGroupMember& member = group->members[key.memberId.str()];
      member.rackId.reset();
      if (decoded.rackId) member.rackId = decoded.rackId->str();
      member.clientId = decoded.clientId.str();
      member.clientHost = decoded.clientHost.str();
      member.topics.clear();
      for (const protocol::Text& topic : decoded.subscribedTopicNames) member.topics.insert(topic.str());
      return true;
    }
    case protocol::ShareGroupTargetAssignmentMetadataKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::ShareGroupTargetAssignmentMetadataKey>(body, version));
      ShareGroup* group = groupOf(key.groupId);
      if (!value) {
        if (group != nullptr) group->targetEpoch = 0;
        return true;
      }
      TIDEMARK_ASSIGN(const auto decoded,
                      protocol::decodeVersionedAs<protocol::ShareGroupTargetAssignmentMetadataValue>(*value));
      group->targetEpoch = decoded.assignmentEpoch;
      group->targetTimestampMs = decoded.assignmentTimestamp;
      return true;
    }
    case protocol::ShareGroupTargetAssignmentMemberKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::ShareGroupTargetAssignmentMemberKey>(body, version));
      ShareGroup* group = groupOf(key.groupId);
      if (!value) {
        if (group != nullptr) group->target.erase(key.memberId.str());
        return true;
      }
      TIDEMARK_ASSIGN(const auto decoded,
                      protocol::decodeVersionedAs<protocol::ShareGroupTargetAssignmentMemberValue>(*value));
      group->target[key.memberId.str()] = sharePartitionsOf(decoded.topicPartitions);
      return true;
    }
    case protocol::ShareGroupCurrentMemberAssignmentKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::ShareGroupCurrentMemberAssignmentKey>(body, version));
      ShareGroup* group = groupOf(key.groupId);
      const auto member =
          group != nullptr ? group->members.find(key.memberId.view()) : decltype(group->members)::iterator();
      if (group == nullptr || member == group->members.end()) return true;
      if (!value) {
        member->second.epoch = member->second.previousEpoch = 0;
        member->second.assigned.clear();
        return true;
      }
      TIDEMARK_ASSIGN(const auto decoded,
                      protocol::decodeVersionedAs<protocol::ShareGroupCurrentMemberAssignmentValue>(*value));
      member->second.epoch = decoded.memberEpoch;
      member->second.previousEpoch = decoded.previousMemberEpoch;
      member->second.assigned = sharePartitionsOf(decoded.assignedPartitions);
      return true;
    }
    case protocol::ShareGroupStatePartitionMetadataKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::ShareGroupStatePartitionMetadataKey>(body, version));
      ShareGroup* group = groupOf(key.groupId);
      if (!value) {
        if (group != nullptr) {
          group->initializing.clear();
          group->initialized.clear();
          group->deleting.clear();
        }
        return true;
      }
      TIDEMARK_ASSIGN(const auto decoded,
                      protocol::decodeVersionedAs<protocol::ShareGroupStatePartitionMetadataValue>(*value));
      group->initializing = shareStatesOf(decoded.initializingTopics);
      group->initialized = shareStatesOf(decoded.initializedTopics);
      group->deleting.clear();
      for (const auto& topic : decoded.deletingTopics) group->deleting[topic.topicId] = topic.topicName.str();
      return true;
    }
    default:
      return false;
  }
}

void ShareGroups::onLoaded(Effects& out) const {
  for (const auto& [id, group] : groups_)
    for (const auto& [memberId, member] : group.members)
      out.arm(sessionTimer(id, memberId), environment_.settings(id).sessionTimeout);
}

// ---- membership

int64_t ShareGroups::hashOf(const ShareGroup& group) const {
  uint64_t hash = 0;
  for (const std::string& name : group.subscribedTopics())
    if (const auto topic = environment_.topic(name)) hash = hash * 31 + static_cast<uint64_t>(topic->hash);
  return static_cast<int64_t>(hash);
}

std::map<std::string, std::pair<Uuid, std::set<int32_t>>, std::less<>> ShareGroups::assignable(
    const ShareGroup& group) const {
  std::map<std::string, std::pair<Uuid, std::set<int32_t>>, std::less<>> partitions;
  for (const std::string& name : group.subscribedTopics()) {
    const auto topic = environment_.topic(name);
    if (!topic) continue;
    const auto state = group.initialized.find(topic->id);
    if (state == group.initialized.end()) continue;
    auto& [id, indexes] = partitions[name];
    id = topic->id;
    for (const int32_t partition : state->second.partitions)
      if (partition < topic->partitions) indexes.insert(partition);
  }
  return partitions;
}

void ShareGroups::rebalance(std::string_view groupId, ShareGroup& group, bool changed,
                            std::vector<CoordinatorRecord>& records) const {
  const int64_t hash = hashOf(group);
  changed = changed || hash != group.metadataHash;
  const auto partitions = assignable(group);
  if (!changed) {
    // Partitions that can be assigned since their state was set up.
    SharePartitions targeted;
    for (const auto& [member, assigned] : group.target)
      for (const auto& [topic, indexes] : assigned) targeted[topic].insert(indexes.begin(), indexes.end());
    for (const auto& [name, topic] : partitions) {
      const auto known = targeted.find(topic.first);
      changed = changed || std::ranges::any_of(topic.second, [&](int32_t partition) {
                  return known == targeted.end() || !known->second.contains(partition);
                });
    }
    changed = changed && !group.members.empty();
  }
  if (changed) {
    ++group.epoch;
    group.metadataHash = hash;
    records.push_back(shareGroupRecord(groupId, group));
  }
  if (group.epoch <= group.targetEpoch) return;
  const int64_t now = clock_.wallMs();
  // Not one target after the other, while many come and go. The first comes at once. One that was made by a clock ahead
  // of this one, which may have been set back, holds nothing up.
  const int64_t sinceMs = now - group.targetTimestampMs;
  if (group.targetTimestampMs > 0 && !group.target.empty() && sinceMs >= 0 &&
      sinceMs < environment_.settings(groupId).assignmentInterval.count())
    return;
  auto target = assignSimply(group.members, partitions, group.target);
  for (const auto& [member, assigned] : target) {
    const auto before = group.target.find(member);
    if (before == group.target.end() || before->second != assigned)
      records.push_back(shareTargetMemberRecord(groupId, member, assigned));
  }
  group.target = std::move(target);
  group.targetEpoch = group.epoch;
  group.targetTimestampMs = now;
  records.push_back(shareTargetRecord(groupId, group));
}

Effects ShareGroups::leave(std::string_view groupId, std::string_view memberId) const {
  ShareGroup group = *find(groupId);
  Effects out;
  group.members.erase(group.members.find(memberId));
  if (const auto target = group.target.find(memberId); target != group.target.end()) group.target.erase(target);
  addShareMemberTombstones(groupId, memberId, out.records);
  group.metadataHash = hashOf(group);
  ++group.epoch;
  out.records.push_back(shareGroupRecord(groupId, group));
  out.disarm(sessionTimer(groupId, memberId));
  return out;
}

Effects ShareGroups::onTimeout(const TimerKey& key) const {
  const ShareGroup* group = find(key.group);
  if (group == nullptr || !group->members.contains(key.member)) return {};
  return leave(key.group, key.member);
}

Effects ShareGroups::heartbeat(const RequestInfo& info, const ShareGroupHeartbeatRequest& request,
                               Reply<ShareGroupHeartbeatResponse> reply) const {
  const std::string groupId = request.groupId.str();
  const std::string memberId = request.memberId.str();
  const auto refuse = [&](ErrorCode error, std::string message) {
    return refuseHeartbeat(error, std::move(message), std::move(reply));
  };
  if (groupId.empty() || memberId.empty())
    return refuse(ErrorCode::InvalidRequest, "the request names no group or no member");
  if (request.memberEpoch < kShareLeave)
    return refuse(ErrorCode::InvalidRequest, fmt::format("{} is no member epoch", request.memberEpoch));
  if (request.memberEpoch == kShareJoin && (!request.subscribedTopicNames || request.subscribedTopicNames->empty()))
    return refuse(ErrorCode::InvalidRequest, "who joins must subscribe to topics");
  const ShareGroup* known = find(groupId);
  if (known == nullptr && request.memberEpoch != kShareJoin)
    return refuse(ErrorCode::GroupIdNotFound, fmt::format("Group {} not found.", groupId));
  const ShareGroupMember* before = nullptr;
  if (known != nullptr)
    if (const auto found = known->members.find(memberId); found != known->members.end()) before = &found->second;
  if (before == nullptr && request.memberEpoch != kShareJoin)
    return refuse(ErrorCode::UnknownMemberId, fmt::format("member {} is not in group {}", memberId, groupId));
  if (request.memberEpoch == kShareLeave) {
    Effects out = leave(groupId, memberId);
    out.whenCommitted = [memberId, reply = std::move(reply)](ErrorCode code) mutable {
      ShareGroupHeartbeatResponse response;
      response.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
      response.memberId = protocol::Text(memberId);
      response.memberEpoch = kShareLeave;
      reply(std::move(response));
      return Effects();
    };
    return out;
  }
  if (before == nullptr && known != nullptr && known->members.size() >= static_cast<size_t>(environment_.maxSize))
    return refuse(ErrorCode::GroupMaxSizeReached,
                  fmt::format("group {} has {} members already", groupId, known->members.size()));
  if (before != nullptr && request.memberEpoch != kShareJoin && request.memberEpoch != before->epoch &&
      request.memberEpoch != before->previousEpoch)
    return refuse(ErrorCode::FencedMemberEpoch,
                  fmt::format("member epoch {} is not {}", request.memberEpoch, before->epoch));

  // What the group becomes; the log makes it so.
  ShareGroup group = known != nullptr ? *known : ShareGroup();
  ShareGroupMember& member = group.members[memberId];
  const bool isNew = before == nullptr;
  const std::set<std::string> subscribedBefore = member.topics;
  if (request.rackId || isNew) member.rackId = request.rackId ? std::optional(request.rackId->str()) : std::nullopt;
  member.clientId = info.clientId;
  member.clientHost = info.clientHost;
  if (request.subscribedTopicNames) {
    member.topics.clear();
    for (const protocol::Text& topic : *request.subscribedTopicNames) member.topics.insert(topic.str());
  }
  Effects out;
  if (isNew || member != *before) out.records.push_back(shareMemberRecord(groupId, memberId, member));
  rebalance(groupId, group, isNew || member.topics != subscribedBefore, out.records);
  bool reassigned = false;
  if (const auto target = group.target.find(memberId);
      target != group.target.end() && member.epoch != group.targetEpoch) {
    reassigned = isNew || member.assigned != target->second;
    member.previousEpoch = member.epoch;
    member.epoch = group.targetEpoch;
    member.assigned = target->second;
    out.records.push_back(shareCurrentRecord(groupId, memberId, member));
  } else if (isNew) {
    // It is too soon for a new target: it comes with a later heartbeat, and has a higher epoch.
    member.epoch = group.targetEpoch;
    out.records.push_back(shareCurrentRecord(groupId, memberId, member));
  }
  const ShareMembershipSettings settings = environment_.settings(groupId);
  out.arm(sessionTimer(groupId, memberId), settings.sessionTimeout);
  ShareGroupHeartbeatResponse response;
  response.memberId = protocol::Text(memberId);
  response.memberEpoch = member.epoch;
  response.heartbeatIntervalMs = static_cast<int32_t>(settings.heartbeatInterval.count());
  // Also to who may have forgotten, or has not heard of the last one.
  if (reassigned || request.memberEpoch == kShareJoin || request.subscribedTopicNames ||
      request.memberEpoch != member.epoch) {
    auto& assignment = response.assignment.emplace();
    for (const auto& [topic, indexes] : member.assigned) {
      auto& one = assignment.topicPartitions.emplace_back();
      one.topicId = topic;
      one.partitions.assign(indexes.begin(), indexes.end());
    }
  }
  out.whenCommitted = replyWhenCommitted(std::move(reply), std::move(response));
  return out;
}

// ---- what is told of it

protocol::ShareGroupDescribeResponse::DescribedGroup ShareGroups::describe(std::string_view groupId) const {
  protocol::ShareGroupDescribeResponse::DescribedGroup described;
  described.groupId = protocol::Text(groupId);
  const ShareGroup* group = find(groupId);
  if (group == nullptr) {
    described.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
    described.errorMessage = protocol::Text(fmt::format("Group {} not found.", groupId));
    return described;
  }
  described.groupState = protocol::Text(group->stateName());
  described.groupEpoch = group->epoch;
  described.assignmentEpoch = group->targetEpoch;
  described.assignorName = "simple";
  for (const auto& [id, member] : group->members) {
    auto& one = described.members.emplace_back();
    one.memberId = protocol::Text(id);
    if (member.rackId) one.rackId = protocol::Text(*member.rackId);
    one.memberEpoch = member.epoch;
    one.clientId = protocol::Text(member.clientId);
    one.clientHost = protocol::Text(member.clientHost);
    for (const std::string& topic : member.topics) one.subscribedTopicNames.push_back(protocol::Text(topic));
    for (const auto& [topic, indexes] : member.assigned) {
      const auto state = group->initialized.find(topic);
      auto& assigned = one.assignment.topicPartitions.emplace_back();
      assigned.topicId = topic;
      if (state != group->initialized.end()) assigned.topicName = protocol::Text(state->second.name);
      assigned.partitions.assign(indexes.begin(), indexes.end());
    }
  }
  return described;
}

}  // namespace tidemark::coordinator
