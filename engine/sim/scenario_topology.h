#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "faults/place.h"

namespace tidemark::sim {

/// What a seed says of the cluster.
struct ScenarioTopology {
  int brokers = 3;
  /// The quorum's voters: the first so many brokers, or as many nodes of their own, numbered behind the brokers.
  int controllers = 3;
  bool separate = false;
  /// Of each topic.
  int copies = 3;
  int minInsyncReplicas = 2;
  int partitions = 3;
  /// Of the load's topics; 0: one segment holds all.
  int segmentBytes = 0;

  int nodes() const noexcept { return separate ? brokers + controllers : brokers; }
  std::vector<faults::Member> members() const;
  NodeId firstController() const noexcept { return NodeId(separate ? brokers + 1 : 1); }
};

/// `brokers`: instead of those that the seed says.
ScenarioTopology drawTopology(uint64_t seed, std::optional<int> brokers);
std::string textOf(const ScenarioTopology& topology);

}  // namespace tidemark::sim
