#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "testing/fake_cluster.h"

namespace tidemark::widgets::fake {

/// A partition of the cluster of numbers, and when its copies last moved.
struct FakeCluster::Partition {
  struct Copy {
    observe::ReplicaSnapshot shown;
    Duration fetched{};
    Duration caughtUp{};
    int64_t sinceIndexEntry = 0;
  };
  std::string topic;
  bool internal = false;
  observe::PartitionSnapshot shown;
  std::vector<Copy> copies;
  double due = 0;
  int correlation = 100;
  std::deque<observe::ParkedSnapshot> parked;
  std::deque<Duration> parkedAt;

  Copy* copy(NodeId broker) {
    const auto found = std::ranges::find_if(copies, [broker](const Copy& one) { return one.shown.broker == broker; });
    return found == copies.end() ? nullptr : &*found;
  }
  bool inIsr(NodeId broker) const { return std::ranges::find(shown.isr, broker) != shown.isr.end(); }
};

}  // namespace tidemark::widgets::fake
