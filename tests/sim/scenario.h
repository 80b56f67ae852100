#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "broker/node.h"
#include "platform/clock.h"
#include "sim/checker.h"
#include "sim/tally.h"

namespace tidemark::sim {

struct ScenarioOptions {
  uint64_t seed = 1;
  /// Has a say in how brokers are started: for rules that are switched off.
  std::function<void(broker::NodeOptions&)> alter;
  platform::Duration faultsFor = std::chrono::seconds(25);
  /// Within that time after everything was mended all must be well again.
  platform::Duration settleWithin = std::chrono::seconds(90);
  /// Lines of log and trace.
  std::function<void(std::string_view)> trace;
  /// Log lines of every process.
  std::function<void(std::string_view)> log;
};

struct ScenarioResult {
  std::optional<Breach> breach;
  Tally tally;
  uint64_t traceHash = 0;
  uint64_t steps = 0;
  /// How long the second phase took.
  platform::Duration settled{};
};

/// From one seed: a cluster under load, a phase with faults, then one in which everything is mended and must become
/// whole. The invariants are checked after every event, and once more when all is quiet.
ScenarioResult runScenario(const ScenarioOptions& options);

}  // namespace tidemark::sim
