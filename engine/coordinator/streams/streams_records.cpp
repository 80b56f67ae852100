#include "coordinator/streams/streams_records.h"

#include "coordinator/record_encoding.h"
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

using protocol::StreamsGroupCurrentMemberAssignmentValue;
using CurrentTaskIds = StreamsGroupCurrentMemberAssignmentValue::TaskIds;

constexpr int16_t kStreamsRecordVersion = 0;

std::optional<std::string> optionalString(const std::optional<protocol::Text>& value) {
  return value ? std::optional(value->str()) : std::nullopt;
}

std::vector<CurrentTaskIds> withEpochs(const TaskEpochs& tasks) {
  std::vector<CurrentTaskIds> lists;
  for (const auto& [task, epoch] : tasks) {
    if (lists.empty() || lists.back().subtopologyId != task.subtopology) {
      lists.emplace_back().subtopologyId = protocol::Text(task.subtopology);
    }
    lists.back().partitions.push_back(task.partition);
    lists.back().assignmentEpochs->push_back(epoch);
  }
  return lists;
}

/// Records of before there were epochs: all tasks were given in `memberEpoch`.
TaskEpochs taskEpochsOf(const std::vector<CurrentTaskIds>& lists, int32_t memberEpoch) {
  TaskEpochs tasks;
  for (const CurrentTaskIds& list : lists) {
    const bool known = list.assignmentEpochs && list.assignmentEpochs->size() == list.partitions.size();
    for (size_t i = 0; i < list.partitions.size(); ++i) {
      tasks[{list.subtopologyId.str(), list.partitions[i]}] = known ? (*list.assignmentEpochs)[i] : memberEpoch;
    }
  }
  return tasks;
}

}  // namespace

CoordinatorRecord streamsGroupRecord(std::string_view groupId, const StreamsGroupFacts& facts) {
  protocol::StreamsGroupMetadataValue value;
  value.epoch = facts.epoch;
  value.metadataHash = facts.metadataHash;
  value.validatedTopologyEpoch = facts.validatedTopologyEpoch;
  value.lastAssignmentConfigs.emplace();
  for (const auto& [key, config] : facts.assignmentConfigs) value.lastAssignmentConfigs->push_back({key, config});
  value.storedDescriptionTopologyEpoch = facts.storedDescriptionTopologyEpoch;
  value.failedDescriptionTopologyEpoch = facts.failedDescriptionTopologyEpoch;
  return {keyOfGroup<protocol::StreamsGroupMetadataKey>(groupId), encodedValue(value, kStreamsRecordVersion)};
}

CoordinatorRecord streamsTopologyRecord(std::string_view groupId, const StreamsTopology& topology) {
  return {keyOfGroup<protocol::StreamsGroupTopologyKey>(groupId),
          encodedValue(topologyValue(topology), kStreamsRecordVersion)};
}

CoordinatorRecord streamsMemberRecord(std::string_view groupId, const StreamsMember& member) {
  protocol::StreamsGroupMemberMetadataValue value;
  value.instanceId = borrowedText(member.instanceId);
  value.rackId = borrowedText(member.rackId);
  value.clientId = protocol::Text::borrowed(member.clientId);
  value.clientHost = protocol::Text::borrowed(member.clientHost);
  value.rebalanceTimeoutMs = static_cast<int32_t>(member.rebalanceTimeout.count());
  value.topologyEpoch = member.topologyEpoch;
  value.processId = protocol::Text::borrowed(member.processId);
  if (member.userEndpoint) {
    auto& endpoint = value.userEndpoint.emplace();
    endpoint.host = protocol::Text::borrowed(member.userEndpoint->host);
    endpoint.port = member.userEndpoint->port;
  }
  for (const auto& [key, tag] : member.clientTags) value.clientTags.push_back({key, tag});
  return {keyOfMember<protocol::StreamsGroupMemberMetadataKey>(groupId, member.id),
          encodedValue(value, kStreamsRecordVersion)};
}

CoordinatorRecord streamsTargetEpochRecord(std::string_view groupId, int32_t assignmentEpoch, int64_t timestampMs) {
  protocol::StreamsGroupTargetAssignmentMetadataValue value;
  value.assignmentEpoch = assignmentEpoch;
  value.assignmentTimestamp = timestampMs;
  return {keyOfGroup<protocol::StreamsGroupTargetAssignmentMetadataKey>(groupId),
          encodedValue(value, kStreamsRecordVersion)};
}

CoordinatorRecord streamsTargetRecord(std::string_view groupId, std::string_view memberId, const StreamsTasks& target) {
  using Value = protocol::StreamsGroupTargetAssignmentMemberValue;
  Value value;
  value.activeTasks = taskIdsOf<Value::TaskIds>(target.active);
  value.standbyTasks = taskIdsOf<Value::TaskIds>(target.standby);
  value.warmupTasks = taskIdsOf<Value::TaskIds>(target.warmup);
  return {keyOfMember<protocol::StreamsGroupTargetAssignmentMemberKey>(groupId, memberId),
          encodedValue(value, kStreamsRecordVersion)};
}

CoordinatorRecord streamsCurrentRecord(std::string_view groupId, const StreamsMember& member) {
  StreamsGroupCurrentMemberAssignmentValue value;
  value.memberEpoch = member.epoch;
  value.previousMemberEpoch = member.previousEpoch;
  value.state = static_cast<int8_t>(member.state);
  value.activeTasks = withEpochs(member.assigned.active);
  value.standbyTasks = taskIdsOf<CurrentTaskIds>(member.assigned.standby);
  value.warmupTasks = taskIdsOf<CurrentTaskIds>(member.assigned.warmup);
  value.activeTasksPendingRevocation = withEpochs(member.pendingRevocation.active);
  value.standbyTasksPendingRevocation = taskIdsOf<CurrentTaskIds>(member.pendingRevocation.standby);
  value.warmupTasksPendingRevocation = taskIdsOf<CurrentTaskIds>(member.pendingRevocation.warmup);
  return {keyOfMember<protocol::StreamsGroupCurrentMemberAssignmentKey>(groupId, member.id),
          encodedValue(value, kStreamsRecordVersion)};
}

CoordinatorRecord streamsGroupTombstone(std::string_view groupId) {
  return {keyOfGroup<protocol::StreamsGroupMetadataKey>(groupId), std::nullopt};
}
CoordinatorRecord streamsTopologyTombstone(std::string_view groupId) {
  return {keyOfGroup<protocol::StreamsGroupTopologyKey>(groupId), std::nullopt};
}
CoordinatorRecord streamsMemberTombstone(std::string_view groupId, std::string_view memberId) {
  return {keyOfMember<protocol::StreamsGroupMemberMetadataKey>(groupId, memberId), std::nullopt};
}
CoordinatorRecord streamsTargetEpochTombstone(std::string_view groupId) {
  return {keyOfGroup<protocol::StreamsGroupTargetAssignmentMetadataKey>(groupId), std::nullopt};
}
CoordinatorRecord streamsTargetTombstone(std::string_view groupId, std::string_view memberId) {
  return {keyOfMember<protocol::StreamsGroupTargetAssignmentMemberKey>(groupId, memberId), std::nullopt};
}
CoordinatorRecord streamsCurrentTombstone(std::string_view groupId, std::string_view memberId) {
  return {keyOfMember<protocol::StreamsGroupCurrentMemberAssignmentKey>(groupId, memberId), std::nullopt};
}

void readMember(const protocol::StreamsGroupMemberMetadataValue& value, StreamsMember& member) {
  member.instanceId = optionalString(value.instanceId);
  member.rackId = optionalString(value.rackId);
  member.clientId = value.clientId.str();
  member.clientHost = value.clientHost.str();
  member.rebalanceTimeout = platform::milliseconds(value.rebalanceTimeoutMs);
  member.topologyEpoch = value.topologyEpoch;
  member.processId = value.processId.str();
  member.userEndpoint.reset();
  if (value.userEndpoint) member.userEndpoint = {value.userEndpoint->host.str(), value.userEndpoint->port};
  member.clientTags.clear();
  for (const auto& tag : value.clientTags) member.clientTags[tag.key.str()] = tag.value.str();
}

void readCurrent(const StreamsGroupCurrentMemberAssignmentValue& value, StreamsMember& member) {
  member.epoch = value.memberEpoch;
  member.previousEpoch = value.previousMemberEpoch;
  member.state = streamsMemberState(value.state);
  member.assigned = {taskEpochsOf(value.activeTasks, value.memberEpoch), taskSetOf(value.standbyTasks),
                     taskSetOf(value.warmupTasks)};
  member.pendingRevocation = {taskEpochsOf(value.activeTasksPendingRevocation, value.memberEpoch),
                              taskSetOf(value.standbyTasksPendingRevocation),
                              taskSetOf(value.warmupTasksPendingRevocation)};
}

StreamsTasks readTarget(const protocol::StreamsGroupTargetAssignmentMemberValue& value) {
  return {taskSetOf(value.activeTasks), taskSetOf(value.standbyTasks), taskSetOf(value.warmupTasks)};
}

}  // namespace tidemark::coordinator
