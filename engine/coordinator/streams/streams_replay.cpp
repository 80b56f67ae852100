// What is read back from the log, and what is told about it.

#include "coordinator/streams/streams_groups.h"

#include <utility>

#include "protocol/generated/streams_group_current_member_assignment_key.h"
#include "protocol/generated/streams_group_member_metadata_key.h"
#include "protocol/generated/streams_group_metadata_key.h"
#include "protocol/generated/streams_group_metadata_value.h"
#include "protocol/generated/streams_group_target_assignment_member_key.h"
#include "protocol/generated/streams_group_target_assignment_metadata_key.h"
#include "protocol/generated/streams_group_target_assignment_metadata_value.h"
#include "protocol/generated/streams_group_topology_key.h"

namespace tidemark::coordinator {
namespace {

/// A record of before Kafka 4.1, of no use any more.
constexpr int16_t kPartitionMetadataType = 18;

template <class Key>
Result<Key> keyOf(const protocol::FramedRecord& framed) {
  return protocol::decode<Key>(framed.body, framed.version);
}

bool isStreamsRecord(int16_t type) {
  return type >= protocol::StreamsGroupMetadataKey::kRecordType &&
         type <= protocol::StreamsGroupTopologyKey::kRecordType && type != kPartitionMetadataType;
}

/// All keys of this protocol have the group's id first, some a member's behind it.
Result<std::string> groupIdOf(const protocol::FramedRecord& framed) {
  protocol::Reader reader(framed.body);
  TIDEMARK_ASSIGN(const auto key, protocol::decode<protocol::StreamsGroupMetadataKey>(reader, framed.version));
  return key.groupId.str();
}

events::GroupState eventState(StreamsState state) {
  switch (state) {
    case StreamsState::Empty:
      return events::GroupState::Empty;
    case StreamsState::NotReady:
      return events::GroupState::NotReady;
    case StreamsState::Assigning:
      return events::GroupState::Assigning;
    case StreamsState::Reconciling:
      return events::GroupState::Reconciling;
    case StreamsState::Stable:
      break;
  }
  return events::GroupState::Stable;
}

/// What a record of that type brings about, where it is not what its handler says.
events::GroupCause causeOf(int16_t type, events::GroupCause handler) {
  if (type == protocol::StreamsGroupTargetAssignmentMetadataKey::kRecordType) return events::GroupCause::Assigned;
  if (type == protocol::StreamsGroupCurrentMemberAssignmentKey::kRecordType) return events::GroupCause::Reconciled;
  return handler;
}

}  // namespace

StreamsGroup& StreamsGroups::groupOf(const std::string& groupId) {
  return groups_.try_emplace(groupId, groupId).first->second;
}

Result<std::optional<std::string>> StreamsGroups::replay(const protocol::FramedRecord& key,
                                                         std::optional<ByteView> value) {
  if (!loaded_ || !isStreamsRecord(key.type)) return apply(key, value);
  TIDEMARK_ASSIGN(const std::string groupId, groupIdOf(key));
  const StreamsGroup* group = find(groupId);
  const events::GroupState before = group != nullptr ? eventState(group->state()) : events::GroupState::Dead;
  TIDEMARK_ASSIGN(std::optional<std::string> applied, apply(key, value));
  group = find(groupId);
  const events::GroupState after = group != nullptr ? eventState(group->state()) : events::GroupState::Dead;
  if (before != after) {
    teller_.state({.group = groupId,
                   .from = before,
                   .to = after,
                   .cause = causeOf(key.type, cause_),
                   .member = {},
                   .generation = group != nullptr ? group->epoch() : 0,
                   .members = group != nullptr ? group->members().size() : 0});
  }
  if (group == nullptr) teller_.forget(groupId);
  return applied;
}

Result<std::optional<std::string>> StreamsGroups::apply(const protocol::FramedRecord& key,
                                                        std::optional<ByteView> value) {
  if (!isStreamsRecord(key.type)) return std::nullopt;
  TIDEMARK_ASSIGN(std::string groupId, groupIdOf(key));
  const auto known = groups_.find(groupId);
  switch (key.type) {
    case protocol::StreamsGroupMetadataKey::kRecordType:
      TIDEMARK_TRY(replayGroup(groupId, value));
      break;
    case protocol::StreamsGroupTopologyKey::kRecordType:
      if (value) {
        TIDEMARK_ASSIGN(const auto topology, protocol::decodeVersionedAs<protocol::StreamsGroupTopologyValue>(*value));
        groupOf(groupId).setTopology(topologyOf(topology));
      } else if (known != groups_.end()) {
        known->second.setTopology(std::nullopt);
      }
      break;
    case protocol::StreamsGroupMemberMetadataKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto decoded, keyOf<protocol::StreamsGroupMemberMetadataKey>(key));
      TIDEMARK_TRY(replayMember(groupId, decoded.memberId.str(), value));
      break;
    }
    case protocol::StreamsGroupTargetAssignmentMetadataKey::kRecordType:
      if (value) {
        TIDEMARK_ASSIGN(const auto target,
                        protocol::decodeVersionedAs<protocol::StreamsGroupTargetAssignmentMetadataValue>(*value));
        groupOf(groupId).setAssignmentEpoch(target.assignmentEpoch, target.assignmentTimestamp);
      } else if (known != groups_.end()) {
        known->second.setAssignmentEpoch(-1, 0);
      }
      break;
    case protocol::StreamsGroupTargetAssignmentMemberKey::kRecordType: {
      TIDEMARK_ASSIGN(const auto decoded, keyOf<protocol::StreamsGroupTargetAssignmentMemberKey>(key));
      if (value) {
        TIDEMARK_ASSIGN(const auto target,
                        protocol::decodeVersionedAs<protocol::StreamsGroupTargetAssignmentMemberValue>(*value));
        groupOf(groupId).setTarget(decoded.memberId.str(), readTarget(target));
      } else if (known != groups_.end()) {
        known->second.setTarget(decoded.memberId.str(), std::nullopt);
      }
      break;
    }
    default: {
      TIDEMARK_ASSIGN(const auto decoded, keyOf<protocol::StreamsGroupCurrentMemberAssignmentKey>(key));
      TIDEMARK_TRY(replayCurrent(groupId, decoded.memberId.str(), value));
      break;
    }
  }
  return groupId;
}

Result<void> StreamsGroups::replayGroup(const std::string& groupId, std::optional<ByteView> value) {
  if (!value) {
    groups_.erase(groupId);
    soft_.erase(groupId);
    return {};
  }
  TIDEMARK_ASSIGN(const auto metadata, protocol::decodeVersionedAs<protocol::StreamsGroupMetadataValue>(*value));
  StreamsGroupFacts facts;
  facts.epoch = metadata.epoch;
  facts.metadataHash = metadata.metadataHash;
  facts.validatedTopologyEpoch = metadata.validatedTopologyEpoch;
  facts.storedDescriptionTopologyEpoch = metadata.storedDescriptionTopologyEpoch;
  facts.failedDescriptionTopologyEpoch = metadata.failedDescriptionTopologyEpoch;
  if (metadata.lastAssignmentConfigs) {
    for (const auto& config : *metadata.lastAssignmentConfigs) {
      facts.assignmentConfigs[config.key.str()] = config.value.str();
    }
  }
  groupOf(groupId).setFacts(std::move(facts));
  return {};
}

Result<void> StreamsGroups::replayMember(const std::string& groupId, const std::string& memberId,
                                         std::optional<ByteView> value) {
  if (value) {
    TIDEMARK_ASSIGN(const auto metadata,
                    protocol::decodeVersionedAs<protocol::StreamsGroupMemberMetadataValue>(*value));
    StreamsGroup& group = groupOf(groupId);
    const StreamsMember* known = group.member(memberId);
    StreamsMember member = known != nullptr ? *known : StreamsMember();
    member.id = memberId;
    readMember(metadata, member);
    if (known == nullptr && loaded_) teller_.joined(groupId, memberId, member.instanceId.has_value(), member.epoch);
    group.putMember(std::move(member));
    return {};
  }
  const auto found = groups_.find(groupId);
  if (found == groups_.end() || found->second.member(memberId) == nullptr) return {};
  if (loaded_) tellLeft(groupId, *found->second.member(memberId));
  found->second.removeMember(memberId);
  if (const auto soft = soft_.find(groupId); soft != soft_.end()) {
    soft->second.offsets.erase(memberId);
    soft->second.heard.erase(memberId);
    // Whoever asked for the shutdown has it now.
    if (found->second.isEmpty()) soft->second.shutdownRequestedBy.reset();
  }
  return {};
}

Result<void> StreamsGroups::replayCurrent(const std::string& groupId, const std::string& memberId,
                                          std::optional<ByteView> value) {
  if (value) {
    TIDEMARK_ASSIGN(const auto current,
                    protocol::decodeVersionedAs<protocol::StreamsGroupCurrentMemberAssignmentValue>(*value));
    StreamsGroup& group = groupOf(groupId);
    const StreamsMember* known = group.member(memberId);
    StreamsMember member = known != nullptr ? *known : StreamsMember();
    member.id = memberId;
    readCurrent(current, member);
    if (loaded_) tellProgress(group, member);
    group.putMember(std::move(member));
    return {};
  }
  const auto found = groups_.find(groupId);
  if (found == groups_.end()) return {};
  const StreamsMember* known = found->second.member(memberId);
  if (known == nullptr) return {};
  StreamsMember member = *known;
  member.epoch = kLeaveEpoch;
  member.previousEpoch = kLeaveEpoch;
  member.assigned = {};
  member.pendingRevocation = {};
  found->second.putMember(std::move(member));
  return {};
}

void StreamsGroups::tellLeft(const std::string& groupId, const StreamsMember& member) {
  platform::Duration silent{};
  platform::Duration allowed{};
  if (cause_ == events::GroupCause::SessionMissed) {
    const Soft& soft = soft_[groupId];
    const auto heard = soft.heard.find(member.id);
    if (heard != soft.heard.end()) silent = around_.clock.monotonic() - heard->second;
    allowed = around_.configOf(groupId).sessionTimeout;
  } else if (cause_ == events::GroupCause::RebalanceTimedOut) {
    allowed = member.rebalanceTimeout;
  }
  teller_.left(groupId, member.id, cause_, silent, allowed);
}

void StreamsGroups::tellProgress(const StreamsGroup& group, const StreamsMember& member) {
  const bool revokes = member.state == StreamsMemberState::UnrevokedTasks;
  const AssignedTasks& tasks = revokes ? member.pendingRevocation : member.assigned;
  const events::MemberStep step = revokes                                      ? events::MemberStep::Revoking
                                  : member.state == StreamsMemberState::Stable ? events::MemberStep::Reconciled
                                                                               : events::MemberStep::Waiting;
  teller_.progressed(group.id(), member.id, step, member.epoch, group.assignmentEpoch(),
                     static_cast<int32_t>(tasks.active.size() + tasks.standby.size() + tasks.warmup.size()));
}

void StreamsGroups::onLoaded(Effects& out) {
  loaded_ = true;
  for (const auto& [groupId, group] : groups_) {
    const platform::milliseconds session = around_.configOf(groupId).sessionTimeout;
    for (const auto& [memberId, member] : group.members()) {
      out.arm({TimerKey::Kind::Heartbeat, groupId, memberId}, session);
      if (member.state == StreamsMemberState::UnrevokedTasks) {
        out.arm({TimerKey::Kind::Rebalance, groupId, memberId}, member.rebalanceTimeout);
      }
    }
  }
}

}  // namespace tidemark::coordinator
