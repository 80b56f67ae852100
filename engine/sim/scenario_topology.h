#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::sim {

/// What a seed says of the cluster.
struct ScenarioTopology {
  int brokers = 3;
  /// The first so many brokers are the quorum's voters.
  int controllers = 3;
  /// Of each topic.
  int copies = 3;
  int minInsyncReplicas = 2;
  int partitions = 3;
};

/// `brokers`: instead of those that the seed says.
ScenarioTopology drawTopology(uint64_t seed, std::optional<int> brokers);
std::string textOf(const ScenarioTopology& topology);

}  // namespace tidemark::sim
