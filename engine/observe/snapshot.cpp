#include "observe/snapshot.h"

#include <algorithm>
#include <tuple>

namespace tidemark::observe {

const BrokerSnapshot* findBroker(const ClusterSnapshot& cluster, NodeId id) noexcept {
  const auto found = std::ranges::find(cluster.brokers, id, &BrokerSnapshot::id);
  return found == cluster.brokers.end() ? nullptr : &*found;
}

const TopicSnapshot* findTopic(const ClusterSnapshot& cluster, std::string_view name) noexcept {
  const auto found = std::ranges::find(cluster.topics, name, &TopicSnapshot::name);
  return found == cluster.topics.end() ? nullptr : &*found;
}

const PartitionSnapshot* findPartition(const ClusterSnapshot& cluster, const TopicPartition& partition) noexcept {
  const TopicSnapshot* topic = findTopic(cluster, partition.topic);
  if (topic == nullptr) return nullptr;
  const auto found = std::ranges::find(topic->partitions, partition.partition, &PartitionSnapshot::index);
  return found == topic->partitions.end() ? nullptr : &*found;
}

const ReplicaSnapshot* findReplica(const PartitionSnapshot& partition, NodeId broker) noexcept {
  const auto found = std::ranges::find(partition.copies, broker, &ReplicaSnapshot::broker);
  return found == partition.copies.end() ? nullptr : &*found;
}

std::optional<int64_t> lagOf(const PartitionSnapshot& partition, const ReplicaSnapshot& replica) noexcept {
  if (replica.leader) return 0;
  if (partition.logEnd == kNoOffset || replica.logEnd == kNoOffset) return std::nullopt;
  return std::max<int64_t>(0, partition.logEnd - replica.logEnd);
}

bool isBelowMinInSync(const TopicSnapshot& topic, const PartitionSnapshot& partition) noexcept {
  const auto least = std::min<size_t>(static_cast<size_t>(std::max(topic.minInSync, 1)), partition.replicas.size());
  return partition.leader != kNoNode && partition.isr.size() < least;
}

bool operator==(const GroupMemberSnapshot& a, const GroupMemberSnapshot& b) {
  const auto facts = [](const GroupMemberSnapshot& member) {
    return std::tie(member.memberId, member.instanceId, member.clientId, member.host, member.software, member.rack,
                    member.state, member.classic, member.leader, member.epoch, member.subscribedTopics,
                    member.subscribedRegex, member.assigned, member.target, member.revoking, member.tasks,
                    member.targetTasks, member.revokingTasks, member.processId, member.sessionTimeout);
  };
  return facts(a) == facts(b);
}

}  // namespace tidemark::observe
