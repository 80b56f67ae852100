#include "sim/fault_budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::sim {

bool FaultBudget::areFull(const metadata::Image& image, const std::set<NodeId>& but) const {
  for (const auto& [name, topic] : image.topics.byName)
    for (const auto& [index, partition] : topic->partitions)
      for (NodeId replica : partition->replicas)
        if (!but.contains(replica) && !partition->isInIsr(replica)) return false;
  return true;
}

size_t FaultBudget::smallestReplication(const metadata::Image& image) const {
  auto smallest = static_cast<size_t>(brokers_);
  for (const auto& [name, topic] : image.topics.byName)
    for (const auto& [index, partition] : topic->partitions) smallest = std::min(smallest, partition->replicas.size());
  return smallest;
}

void FaultBudget::update() {
  if (victims_.empty()) return;
  const metadata::ImagePtr image = watch_.newestImage();
  if (!image || !areFull(*image, {})) return;
  for (const auto& [victim, before] : victims_) {
    const metadata::BrokerRegistration* known = image->cluster.broker(victim);
    if (known == nullptr || known->epoch <= before) return;
  }
  victims_.clear();
  harmed_.clear();
}

void FaultBudget::troubled(NodeId broker, platform::Duration length) {
  platform::MonotonicTime& calm = calmAt_[broker];
  calm = std::max(calm, world_.now() + length + std::chrono::milliseconds(500));
}

bool FaultBudget::mayHarm(NodeId broker) {
  update();
  if (!holdsReplicas(broker)) return true;
  if (victims_.empty() || victims_.contains(broker) || harmed_.contains(broker)) return true;
  const metadata::ImagePtr image = watch_.newestImage();
  if (!image || victims_.size() + harmed_.size() + 1 >= smallestReplication(*image)) return false;
  harmed_.insert(broker);
  return true;
}

bool FaultBudget::mayHarmAll() {
  update();
  return victims_.empty();
}

bool FaultBudget::isWell(NodeId broker, const metadata::Image& image) const {
  const auto process = platform_.alive(fmt::format("broker-{}", broker));
  if (!holdsReplicas(broker)) return process && process->state() == platform::Process::State::Running;
  const metadata::BrokerRegistration* registered = image.cluster.broker(broker);
  if (!process || process->state() != platform::Process::State::Running || registered == nullptr ||
      !registered->isActive())
    return false;
  broker::Node* node = watch_.node(broker);
  return node != nullptr && node->broker()->isRunning() && node->broker()->epoch() == registered->epoch;
}

bool FaultBudget::isSettled(const metadata::Image& image) const {
  for (int i = 1; i <= nodes_; ++i) {
    broker::Node* node = watch_.node(NodeId(i));
    if (node == nullptr || node->shared().metadataLog->logEndOffset() > image.provenance.lastContainedOffset.next())
      return false;
  }
  return true;
}

bool FaultBudget::mayLosePower(NodeId broker) {
  update();
  if (!holdsReplicas(broker)) return true;
  if (!harmed_.empty() || victims_.contains(broker)) return false;
  const metadata::ImagePtr image = watch_.newestImage();
  const metadata::BrokerRegistration* registered = image ? image->cluster.broker(broker) : nullptr;
  if (registered == nullptr) return false;
  const size_t replication = smallestReplication(*image);
  if (victims_.size() + 1 >= std::min(static_cast<size_t>(minInsyncReplicas_), replication)) return false;
  std::set<NodeId> away{broker};
  for (const auto& [victim, before] : victims_) away.insert(victim);
  if (!areFull(*image, away) || !isSettled(*image)) return false;
  // Nobody else is about to fall out for what was done to him before.
  for (int i = 1; i <= nodes_; ++i) {
    const NodeId other(i);
    if (away.contains(other)) continue;
    const auto calm = calmAt_.find(other);
    if (!isWell(other, *image) || (calm != calmAt_.end() && calm->second > world_.now())) return false;
  }
  victims_.emplace(broker, registered->epoch);
  return true;
}

}  // namespace tidemark::sim
