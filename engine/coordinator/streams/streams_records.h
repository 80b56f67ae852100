#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "coordinator/coordinator_log.h"
#include "coordinator/streams/streams_member.h"
#include "coordinator/streams/topology.h"
#include "protocol/generated/streams_group_current_member_assignment_value.h"
#include "protocol/generated/streams_group_member_metadata_value.h"
#include "protocol/generated/streams_group_target_assignment_member_value.h"

namespace tidemark::coordinator {

/// What StreamsGroupMetadata holds.
struct StreamsGroupFacts {
  int32_t epoch = 1;
  int64_t metadataHash = 0;
  /// The topology epoch for which tasks can be assigned; −1: none.
  int32_t validatedTopologyEpoch = -1;
  /// The settings that the last assignment was made with.
  std::map<std::string, std::string> assignmentConfigs;
  // Of a plugin that this program does not have; carried on as they were read.
  int32_t storedDescriptionTopologyEpoch = -1;
  int32_t failedDescriptionTopologyEpoch = -1;
};

// Records of `__consumer_offsets` for streams groups, all in version 0, the only one of Kafka 4.4. Lists are in order
// of subtopologies and partitions.
CoordinatorRecord streamsGroupRecord(std::string_view groupId, const StreamsGroupFacts& facts);
CoordinatorRecord streamsTopologyRecord(std::string_view groupId, const StreamsTopology& topology);
CoordinatorRecord streamsMemberRecord(std::string_view groupId, const StreamsMember& member);
CoordinatorRecord streamsTargetEpochRecord(std::string_view groupId, int32_t assignmentEpoch, int64_t timestampMs);
CoordinatorRecord streamsTargetRecord(std::string_view groupId, std::string_view memberId, const StreamsTasks& target);
CoordinatorRecord streamsCurrentRecord(std::string_view groupId, const StreamsMember& member);

CoordinatorRecord streamsGroupTombstone(std::string_view groupId);
CoordinatorRecord streamsTopologyTombstone(std::string_view groupId);
CoordinatorRecord streamsMemberTombstone(std::string_view groupId, std::string_view memberId);
CoordinatorRecord streamsTargetEpochTombstone(std::string_view groupId);
CoordinatorRecord streamsTargetTombstone(std::string_view groupId, std::string_view memberId);
CoordinatorRecord streamsCurrentTombstone(std::string_view groupId, std::string_view memberId);

// And back, into what is known of the member already.
void readMember(const protocol::StreamsGroupMemberMetadataValue& value, StreamsMember& member);
void readCurrent(const protocol::StreamsGroupCurrentMemberAssignmentValue& value, StreamsMember& member);
StreamsTasks readTarget(const protocol::StreamsGroupTargetAssignmentMemberValue& value);

/// Tasks in the lists of any message or record: one entry for each subtopology, by id, its partitions in order.
template <class TaskIds>
std::vector<TaskIds> taskIdsOf(const TaskSet& tasks) {
  std::vector<TaskIds> lists;
  for (const TaskId& task : tasks) {
    if (lists.empty() || lists.back().subtopologyId != task.subtopology) {
      lists.emplace_back().subtopologyId = protocol::Text(task.subtopology);
    }
    lists.back().partitions.push_back(task.partition);
  }
  return lists;
}

template <class TaskIds>
TaskSet taskSetOf(const std::vector<TaskIds>& lists) {
  TaskSet tasks;
  for (const TaskIds& list : lists) {
    for (const int32_t partition : list.partitions) tasks.insert({list.subtopologyId.str(), partition});
  }
  return tasks;
}

}  // namespace tidemark::coordinator
