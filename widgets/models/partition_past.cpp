#include "models/partition_past.h"

#include <algorithm>

namespace tidemark::widgets {

using observe::BrokerState;

void PartitionPast::add(const observe::ClusterSnapshot& cluster) {
  for (const observe::TopicSnapshot& topic : cluster.topics) {
    if (topic.internal) continue;
    for (const observe::PartitionSnapshot& partition : topic.partitions) {
      auto& copies = m_partitions[{topic.name, partition.index}];
      for (const observe::ReplicaSnapshot& replica : partition.copies) {
        Copy& copy = copies[replica.broker];
        const observe::BrokerSnapshot* broker = observe::findBroker(cluster, replica.broker);
        const BrokerState state = broker == nullptr ? BrokerState::Stopped : broker->state;
        const bool down = state == BrokerState::Killed || state == BrokerState::Stopped;
        CopyStretch now{cluster.wall,
                        down             ? CopyStretch::State::Down
                        : replica.inSync ? CopyStretch::State::InSync
                                         : CopyStretch::State::Behind,
                        replica.leader && !down, partition.leaderEpoch};
        if (copy.broker != state && (down || state == BrokerState::Paused)) copy.wentDown = cluster.wall;
        copy.broker = state;
        if (copy.stretches.empty() || !copy.stretches.back().sameAs(now)) {
          if (!copy.stretches.empty() && copy.stretches.back().state == CopyStretch::State::InSync && !replica.inSync)
            copy.leftIsr = cluster.wall;
          copy.stretches.push_back(now);
        }
        while (copy.stretches.size() > 1 && copy.stretches[1].begin < cluster.wall - kKept) copy.stretches.pop_front();
        if (const auto lag = observe::lagOf(partition, replica)) {
          const bool same = !copy.lag.empty() && copy.lag.back().records == *lag;
          if (!same && !copy.lag.empty() && cluster.wall - copy.lag.back().at < kLagStep)
            copy.lag.back().records = std::max(copy.lag.back().records, *lag);
          else if (!same)
            copy.lag.push_back({cluster.wall, *lag});
        }
        while (copy.lag.size() > 1 && copy.lag[1].at < cluster.wall - kLagKept) copy.lag.pop_front();
      }
    }
  }
}

const PartitionPast::Copy* PartitionPast::copy(const TopicPartition& partition, NodeId broker) const {
  const auto found = m_partitions.find(partition);
  if (found == m_partitions.end()) return nullptr;
  const auto copy = found->second.find(broker);
  return copy == found->second.end() ? nullptr : &copy->second;
}

}  // namespace tidemark::widgets
