#include "metadata/controller/leader_updates.h"

#include <algorithm>

#include "base/mutation.h"
#include "metadata/controller/partition_change_builder.h"

namespace tidemark::metadata {
namespace {

PartitionFilter inIsr(NodeId node) {
  return [node](const PartitionRegistration& partition) { return partition.isInIsr(node); };
}

PartitionFilter inElr(NodeId node) {
  return [node](const PartitionRegistration& partition) {
    return std::ranges::find(partition.elr, node) != partition.elr.end();
  };
}

bool hasNoLeader(const PartitionRegistration& partition) {
  return !partition.hasLeader();
}

}  // namespace

void generateLeaderAndIsrUpdates(const ControllerView& view, const BrokerMove& move, const PartitionFilter& filter,
                                 Records& records) {
  const auto isAlive = [&](NodeId node) {
    return node != move.remove && node != move.uncleanShutdown &&
           (node == move.add || view.image.cluster.isActive(node));
  };
  for (const auto& [id, topic] : view.image.topics.byId) {
    std::optional<Election> election;
    for (const auto& [index, partition] : topic->partitions) {
      if (!filter(*partition)) continue;
      if (!election) election = view.uncleanElectionEnabled(topic->name) ? Election::Unclean : Election::Online;
      std::vector<NodeId> isr;
      std::ranges::copy_if(partition->isr, std::back_inserter(isr),
                           [&](NodeId node) { return node != move.remove && node != move.uncleanShutdown; });
      PartitionChangeBuilder builder(view, *topic, index, *partition, isAlive);
      builder.election(*election).targetIsr(std::move(isr)).uncleanShutdownReplica(move.uncleanShutdown);
      if (std::optional<Record> record = builder.build()) records.push_back(std::move(*record));
    }
  }
}

void fenceBroker(const ControllerView& view, const BrokerRegistration& broker, Records& records) {
  if (!isMutated(Mutation::FencedStaysInIsr))
    generateLeaderAndIsrUpdates(view, {.remove = broker.id}, inIsr(broker.id), records);
  records.push_back({protocol::BrokerRegistrationChangeRecord{
      .brokerId = broker.id.value(), .brokerEpoch = broker.epoch.value(), .fenced = 1}});
}

void unfenceBroker(const ControllerView& view, const BrokerRegistration& broker, Records& records) {
  records.push_back({protocol::BrokerRegistrationChangeRecord{
      .brokerId = broker.id.value(), .brokerEpoch = broker.epoch.value(), .fenced = -1}});
  generateLeaderAndIsrUpdates(view, {.add = broker.id}, hasNoLeader, records);
}

void beginControlledShutdown(const ControllerView& view, const BrokerRegistration& broker, Records& records) {
  if (!broker.inControlledShutdown) {
    records.push_back(
        {protocol::BrokerRegistrationChangeRecord{
             .brokerId = broker.id.value(), .brokerEpoch = broker.epoch.value(), .inControlledShutdown = 1},
         1});
  }
  generateLeaderAndIsrUpdates(view, {.remove = broker.id}, inIsr(broker.id), records);
}

void cleanUpIncarnation(const ControllerView& view, NodeId broker, bool wasClean, Records& records) {
  if (isMutated(Mutation::UncleanStaysInIsr)) return;
  if (!view.elrEnabled() || wasClean) {
    generateLeaderAndIsrUpdates(view, {.remove = broker}, inIsr(broker), records);
    return;
  }
  generateLeaderAndIsrUpdates(view, {.uncleanShutdown = broker}, inIsr(broker), records);
  generateLeaderAndIsrUpdates(view, {.uncleanShutdown = broker}, inElr(broker), records);
}

void electPreferredLeaders(const ControllerView& view, size_t limit, Records& records) {
  for (const auto& [id, topic] : view.image.topics.byId) {
    for (const auto& [index, partition] : topic->partitions) {
      if (records.size() >= limit) return;
      if (partition->leader == partition->preferredLeader()) continue;
      PartitionChangeBuilder builder(view, *topic, index, *partition);
      builder.election(Election::Preferred);
      if (std::optional<Record> record = builder.build()) records.push_back(std::move(*record));
    }
  }
}

void electUncleanLeaders(const ControllerView& view, Records& records) {
  for (const auto& [id, topic] : view.image.topics.byId) {
    std::optional<bool> enabled;
    for (const auto& [index, partition] : topic->partitions) {
      if (partition->hasLeader()) continue;
      if (!enabled) enabled = view.uncleanElectionEnabled(topic->name);
      if (!*enabled) break;
      PartitionChangeBuilder builder(view, *topic, index, *partition);
      builder.election(Election::Unclean);
      if (std::optional<Record> record = builder.build()) records.push_back(std::move(*record));
    }
  }
}

}  // namespace tidemark::metadata
