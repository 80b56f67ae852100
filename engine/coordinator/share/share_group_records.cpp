#include "coordinator/share/share_group_records.h"

#include "coordinator/record_encoding.h"
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
namespace {

template <class Wire>
void addPartitions(const SharePartitions& partitions, std::vector<Wire>& into) {
  for (const auto& [topic, indexes] : partitions) {
    Wire& one = into.emplace_back();
    one.topicId = topic;
    one.partitions.assign(indexes.begin(), indexes.end());
  }
}

template <class Wire>
void addStates(const std::map<Uuid, ShareTopicState>& states, std::vector<Wire>& into) {
  for (const auto& [topic, state] : states) {
    Wire& one = into.emplace_back();
    one.topicId = topic;
    one.topicName = protocol::Text::borrowed(state.name);
    one.partitions.assign(state.partitions.begin(), state.partitions.end());
  }
}

}  // namespace

CoordinatorRecord shareGroupRecord(std::string_view groupId, const ShareGroup& group) {
  protocol::ShareGroupMetadataValue value;
  value.epoch = group.epoch;
  value.metadataHash = group.metadataHash;
  return {keyOfGroup<protocol::ShareGroupMetadataKey>(groupId), encodedValue(value, 0)};
}

CoordinatorRecord shareMemberRecord(std::string_view groupId, std::string_view memberId,
                                    const ShareGroupMember& member) {
  protocol::ShareGroupMemberMetadataValue value;
  value.rackId = borrowedText(member.rackId);
  value.clientId = protocol::Text::borrowed(member.clientId);
  value.clientHost = protocol::Text::borrowed(member.clientHost);
  for (const std::string& topic : member.topics) value.subscribedTopicNames.push_back(protocol::Text::borrowed(topic));
  return {keyOfMember<protocol::ShareGroupMemberMetadataKey>(groupId, memberId), encodedValue(value, 0)};
}

CoordinatorRecord shareTargetRecord(std::string_view groupId, const ShareGroup& group) {
  protocol::ShareGroupTargetAssignmentMetadataValue value;
  value.assignmentEpoch = group.targetEpoch;
  value.assignmentTimestamp = group.targetTimestampMs;
  return {keyOfGroup<protocol::ShareGroupTargetAssignmentMetadataKey>(groupId), encodedValue(value, 0)};
}

CoordinatorRecord shareTargetMemberRecord(std::string_view groupId, std::string_view memberId,
                                          const SharePartitions& target) {
  protocol::ShareGroupTargetAssignmentMemberValue value;
  addPartitions(target, value.topicPartitions);
  return {keyOfMember<protocol::ShareGroupTargetAssignmentMemberKey>(groupId, memberId), encodedValue(value, 0)};
}

CoordinatorRecord shareCurrentRecord(std::string_view groupId, std::string_view memberId,
                                     const ShareGroupMember& member) {
  protocol::ShareGroupCurrentMemberAssignmentValue value;
  value.memberEpoch = member.epoch;
  value.previousMemberEpoch = member.previousEpoch;
  addPartitions(member.assigned, value.assignedPartitions);
  return {keyOfMember<protocol::ShareGroupCurrentMemberAssignmentKey>(groupId, memberId), encodedValue(value, 0)};
}

CoordinatorRecord shareStatePartitionsRecord(std::string_view groupId, const ShareGroup& group) {
  protocol::ShareGroupStatePartitionMetadataValue value;
  addStates(group.initializing, value.initializingTopics);
  addStates(group.initialized, value.initializedTopics);
  for (const auto& [topic, name] : group.deleting) {
    auto& one = value.deletingTopics.emplace_back();
    one.topicId = topic;
    one.topicName = protocol::Text::borrowed(name);
  }
  return {keyOfGroup<protocol::ShareGroupStatePartitionMetadataKey>(groupId), encodedValue(value, 0)};
}

void addShareMemberTombstones(std::string_view groupId, std::string_view memberId,
                              std::vector<CoordinatorRecord>& into) {
  into.push_back({keyOfMember<protocol::ShareGroupCurrentMemberAssignmentKey>(groupId, memberId), std::nullopt});
  into.push_back({keyOfMember<protocol::ShareGroupTargetAssignmentMemberKey>(groupId, memberId), std::nullopt});
  into.push_back({keyOfMember<protocol::ShareGroupMemberMetadataKey>(groupId, memberId), std::nullopt});
}

void addShareGroupTombstones(std::string_view groupId, std::vector<CoordinatorRecord>& into) {
  into.push_back({keyOfGroup<protocol::ShareGroupTargetAssignmentMetadataKey>(groupId), std::nullopt});
  into.push_back({keyOfGroup<protocol::ShareGroupStatePartitionMetadataKey>(groupId), std::nullopt});
  into.push_back({keyOfGroup<protocol::ShareGroupMetadataKey>(groupId), std::nullopt});
}

}  // namespace tidemark::coordinator
