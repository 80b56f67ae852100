#include <algorithm>

#include "cluster/cluster.h"
#include "cluster/slot.h"

// What a snapshot tells of groups. Coordinators are asked and answer in their own time, so what is told of a group may
// be one snapshot behind; where logs end is put beside it when the snapshot is made.

namespace tidemark::cluster {
namespace {

constexpr platform::Duration kGroupsEvery = std::chrono::milliseconds(250);

observe::GroupSnapshot groupShown(NodeId coordinator, const coordinator::GroupSnapshot& told) {
  observe::GroupSnapshot group{.id = told.groupId,
                               .kind = told.kind,
                               .state = told.state,
                               .protocolType = told.protocolType,
                               .protocol = told.protocol,
                               .generation = told.generation,
                               .assignmentEpoch = told.assignmentEpoch,
                               .subtopologies = told.subtopologies,
                               .problem = told.problem,
                               .coordinator = coordinator,
                               .coordinatorPartition = told.coordinatorPartition,
                               .members = {},
                               .partitions = {},
                               .shared = {}};
  std::map<TopicPartition, observe::GroupPartitionSnapshot> partitions;
  for (const coordinator::GroupMemberSnapshot& member : told.members) {
    group.members.push_back({.memberId = member.memberId,
                             .instanceId = member.groupInstanceId,
                             .clientId = member.clientId,
                             .host = member.clientHost,
                             .software = {},
                             .rack = member.rackId,
                             .state = member.state,
                             .classic = member.isClassic,
                             .leader = !told.leader.empty() && member.memberId == told.leader,
                             .epoch = member.epoch,
                             .subscribedTopics = member.subscribedTopics,
                             .subscribedRegex = member.subscribedRegex,
                             .assigned = member.assigned,
                             .target = member.target,
                             .revoking = member.revoking,
                             .tasks = member.tasks,
                             .targetTasks = member.targetTasks,
                             .revokingTasks = member.revokingTasks,
                             .processId = member.processId,
                             .silent = member.silent,
                             .sessionTimeout = member.sessionTimeout});
    for (const TopicPartition& one : member.assigned) partitions[one];
  }
  std::ranges::sort(group.members, {}, &observe::GroupMemberSnapshot::memberId);
  for (const coordinator::GroupOffsetSnapshot& offset : told.offsets) {
    observe::GroupPartitionSnapshot& one = partitions[offset.partition];
    one.committed = offset.offset;
    if (offset.commitTimestampMs > 0)
      one.committedAt = platform::WallTime(platform::milliseconds(offset.commitTimestampMs));
    one.metadata = offset.metadata;
  }
  for (auto& [partition, one] : partitions) {
    one.partition = partition;
    group.partitions.push_back(std::move(one));
  }
  return group;
}

}  // namespace

void Cluster::askGroups() {
  if (!looking_) return;
  const platform::MonotonicTime now = lab_->clock().monotonic();
  std::optional<platform::Duration> later;
  for (auto& [id, slot] : slots_) {
    if (!slot->isOpen || !slot->place.isBroker || slot->state == observe::BrokerState::Paused ||
        slot->groupsAskedIn == slot->incarnation)
      continue;
    if (const auto due = slot->groupsAskedAt + kGroupsEvery;
        slot->groupsAskedAt != platform::MonotonicTime{} && due > now) {
      later = std::min(later.value_or(due - now), due - now);
      continue;
    }
    slot->groupsAskedAt = now;
    slot->groupsAskedIn = slot->incarnation;
    askShares(*slot);
    slot->node->broker()->groups().groups().snapshot(
        [this, node = id, incarnation = slot->incarnation](std::vector<coordinator::GroupSnapshot> told) {
          std::vector<observe::GroupSnapshot> groups;
          for (const coordinator::GroupSnapshot& group : told) groups.push_back(groupShown(node, group));
          run([this, node, incarnation, groups = std::move(groups)]() mutable {
            groupsTold(node, incarnation, std::move(groups));
          });
        });
  }
  if (later) groupTimer_ = executor_->schedule(*later, [this] { askGroups(); });
}

void Cluster::takeGroupsNow(Slot& slot) {
  slot.groups.clear();
  for (const coordinator::GroupSnapshot& group : slot.node->broker()->groups().groups().snapshotNow())
    slot.groups.push_back(groupShown(slot.place.id, group));
}

void Cluster::groupsTold(NodeId id, uint64_t incarnation, std::vector<observe::GroupSnapshot> groups) {
  const auto found = slots_.find(id);
  if (found == slots_.end() || found->second->incarnation != incarnation) return;
  Slot& slot = *found->second;
  slot.groupsAskedIn = 0;
  if (groups == slot.groups) return;
  slot.groups = std::move(groups);
  changed();
}

std::optional<platform::WallTime> Cluster::firstPending(const observe::ClusterSnapshot& in,
                                                        const TopicPartition& partition, Offset committed) {
  auto& [offset, time] = pendingTimes_[partition];
  // What could not be read may be there the next time.
  if (offset == committed && time) return time;
  offset = committed;
  time.reset();
  const observe::PartitionSnapshot* shown = observe::findPartition(in, partition);
  const auto leader = shown == nullptr ? slots_.end() : slots_.find(shown->leader);
  if (leader == slots_.end() || !leader->second->isOpen) return time;
  const auto replica = leader->second->node->broker()->replicas().find(partition);
  if (!replica) return time;
  const auto batches = replica->log()->batches(std::max(committed, shown->logStart), 1);
  if (batches && !batches->empty())
    time = platform::WallTime(platform::milliseconds(batches->front().header.deleteHorizonMs()
                                                         ? batches->front().header.maxTimestampMs
                                                         : batches->front().header.baseTimestampMs));
  return time;
}

void Cluster::describeGroups(observe::ClusterSnapshot& into) {
  for (const auto& [id, slot] : slots_)
    if (slot->isOpen) into.groups.insert(into.groups.end(), slot->groups.begin(), slot->groups.end());
  std::ranges::sort(into.groups, {}, &observe::GroupSnapshot::id);
  describeShares(into);
  for (observe::GroupSnapshot& group : into.groups) {
    for (observe::GroupMemberSnapshot& member : group.members) {
      const auto connection =
          std::ranges::find(into.connections, member.clientId, &observe::ConnectionSnapshot::client);
      if (connection != into.connections.end() && !connection->softwareName.empty())
        member.software = connection->softwareName + " " + connection->softwareVersion;
    }
    for (observe::GroupPartitionSnapshot& one : group.partitions) {
      const observe::PartitionSnapshot* partition = observe::findPartition(into, one.partition);
      if (partition == nullptr || partition->leader == kNoNode) continue;
      one.highWatermark = partition->highWatermark;
      if (looking_ && one.lag().value_or(0) > 0) one.firstPending = firstPending(into, one.partition, *one.committed);
    }
  }
}

}  // namespace tidemark::cluster
