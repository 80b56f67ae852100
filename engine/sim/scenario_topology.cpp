#include "sim/scenario_topology.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "platform/simulated/generator.h"

namespace tidemark::sim {
namespace {

/// Three are what most clusters have, and what breaks soonest.
constexpr std::array kSizes = {3, 3, 3, 3, 3, 3, 3, 5, 5, 4, 1, 2, 6, 7};

}  // namespace

ScenarioTopology drawTopology(uint64_t seed, std::optional<int> brokers) {
  platform::Generator dice(platform::mix(seed, "topology"));
  ScenarioTopology topology;
  const int drawn = kSizes[dice.below(kSizes.size())];
  topology.brokers = brokers.value_or(drawn);
  const bool few = dice.chance(50);
  topology.controllers = few ? (topology.brokers + 1) / 2 : topology.brokers;
  const bool many = dice.chance(40);
  topology.copies = std::min(topology.brokers, many ? 5 : 3);
  topology.separate = dice.chance(25);
  if (topology.separate) topology.controllers = dice.chance(70) ? 3 : 1;
  // Whoever is away leaves too few: it stays eligible.
  if (topology.brokers > 1 && dice.chance(20)) topology.copies = 2;
  topology.minInsyncReplicas = std::min(topology.copies, topology.copies > 3 ? 3 : 2);
  if (dice.chance(40)) topology.segmentBytes = static_cast<int>(4000 + dice.below(16'000));
  return topology;
}

std::vector<faults::Member> ScenarioTopology::members() const {
  std::vector<faults::Member> all;
  for (int id = 1; id <= nodes(); ++id)
    all.push_back(
        {.id = NodeId(id), .isBroker = id <= brokers, .isController = separate ? id > brokers : id <= controllers});
  return all;
}

std::string textOf(const ScenarioTopology& topology) {
  return fmt::format("{} broker{}, {} {}, {} partitions, copies {}, in sync at least {}{}", topology.brokers,
                     topology.brokers == 1 ? "" : "s", topology.controllers,
                     topology.separate ? "separate controllers" : "of them controllers", topology.partitions,
                     topology.copies, topology.minInsyncReplicas,
                     topology.segmentBytes > 0 ? fmt::format(", segments of {} bytes", topology.segmentBytes) : "");
}

}  // namespace tidemark::sim
