#include "sim/watch.h"

namespace tidemark::sim {

Watch::Watch(cluster::Cluster& cluster, int nodes) : cluster_(cluster) {
  for (int i = 1; i <= nodes; ++i) brokers_.push_back({.id = NodeId(i), .recorder = {}, .topics = {}});
}

broker::Node* Watch::node(NodeId id) const {
  for (const Broker& each : brokers_)
    if (each.id == id) return each.node;
  return nullptr;
}

metadata::ImagePtr Watch::newestImage() const {
  metadata::ImagePtr newest;
  for (const Broker& each : brokers_) {
    if (each.node == nullptr || each.node->broker() == nullptr) continue;
    metadata::ImagePtr image = each.node->broker()->image();
    if (!newest || image->provenance.lastContainedOffset > newest->provenance.lastContainedOffset)
      newest = std::move(image);
  }
  return newest;
}

void Watch::look() {
  for (Broker& broker : brokers_) {
    const cluster::Cluster::Started now = cluster_.started(broker.id);
    if (now.recorder != broker.recorder) {
      broker.node = nullptr;
      if (broker.recorder) drain(broker);
      broker = {.id = broker.id, .recorder = now.recorder, .topics = {}};
      if (now.recorder) {
        now.recorder->want(events::Kinds::all());
        for (Checker* checker : checkers_) checker->started(broker.id);
      }
    }
    if (!broker.recorder) continue;
    // A node makes its roles once it has read its disk.
    if (broker.node == nullptr && now.node != nullptr &&
        (now.node->broker() != nullptr || now.node->controller() != nullptr)) {
      broker.node = now.node;
      for (Checker* checker : checkers_) checker->opened(broker.id, *broker.node);
    }
    if (broker.recorder->sequence() != broker.sequence) drain(broker);
  }
}

void Watch::drain(Broker& broker) {
  broker.sequence = broker.recorder->sequence();
  scratch_.clear();
  const uint64_t lost = broker.recorder->drain(scratch_);
  for (const events::Event& event : scratch_) {
    const events::PartitionTag tag = events::partitionOf(event.payload);
    partition_ = {topicName(broker, tag.topic), tag.partition};
    const Seen seen{.broker = broker.id, .event = event, .partition = partition_, .node = broker.node};
    for (Checker* checker : checkers_) checker->on(seen);
  }
  if (lost > 0 && broker.node != nullptr)
    for (Checker* checker : checkers_) checker->missed(broker.id, *broker.node);
}

const std::string& Watch::topicName(Broker& broker, events::TopicTag tag) {
  static const std::string kNone;
  if (tag == events::kNoTopicTag) return kNone;
  const auto index = static_cast<size_t>(tag.value());
  if (broker.topics.size() <= index) broker.topics.resize(index + 1);
  if (broker.topics[index].empty()) broker.topics[index] = broker.recorder->topicName(tag);
  return broker.topics[index];
}

}  // namespace tidemark::sim
