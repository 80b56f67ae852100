#pragma once

#include <map>
#include <memory>
#include <vector>

#include "cluster/cluster.h"
#include "events/recorder.h"
#include "sim/checker.h"

namespace tidemark::sim {

/// Follows all brokers of a simulated cluster through their events, restarts included, and tells the checkers in order.
class Watch {
 public:
  Watch(cluster::Cluster& cluster, int nodes);

  /// Checkers are told in the order in which they are added; they outlive the Watch.
  void add(Checker& checker) { checkers_.push_back(&checker); }
  /// To be called after every step of the world.
  void look();
  /// Null unless the node runs and has read its disk.
  broker::Node* node(NodeId id) const;
  /// The newest that a running broker has; null if none runs.
  metadata::ImagePtr newestImage() const;

 private:
  struct Broker {
    NodeId id;
    std::shared_ptr<events::Recorder> recorder;
    broker::Node* node = nullptr;
    uint64_t sequence = 0;
    /// By the recorder's tags.
    std::vector<std::string> topics;
  };

  void drain(Broker& broker);
  const std::string& topicName(Broker& broker, events::TopicTag tag);

  cluster::Cluster& cluster_;
  std::vector<Broker> brokers_;
  std::vector<Checker*> checkers_;
  std::vector<events::Event> scratch_;
  TopicPartition partition_;
};

}  // namespace tidemark::sim
