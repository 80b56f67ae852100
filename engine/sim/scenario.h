#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/clock.h"
#include "sim/checker.h"
#include "sim/tally.h"

namespace tidemark::sim {

struct ScenarioOptions {
  uint64_t seed = 1;
  /// Also share groups, streams groups, and clusters of transaction.version 0 and 1, as the seed says. All else is the
  /// same without.
  bool allKinds = true;
  /// Instead of what the seed says.
  std::optional<int> brokers = {};
  /// Numbers of the faults that happen, the others are left out; nothing: all.
  std::optional<std::set<size_t>> faults = {};
  platform::Duration faultsFor = std::chrono::seconds(25);
  /// Within that time after everything was mended all must be well again.
  platform::Duration settleWithin = std::chrono::seconds(90);
  /// Ends the run at that time since its start, whatever is the matter then.
  std::optional<platform::Duration> until = {};
  /// Lines of log and trace.
  std::function<void(std::string_view)> trace = {};
  /// Lines of a recording that the window opens (observe/recording_file.h).
  std::function<void(std::string_view)> record = {};
  /// Log lines of every process.
  std::function<void(std::string_view)> log = {};
};

struct ScenarioResult {
  std::optional<Breach> breach;
  /// Whether it ended before its plan was through: by a breach, or by `until`.
  bool cutShort = false;
  Tally tally;
  uint64_t traceHash = 0;
  uint64_t steps = 0;
  int brokers = 0;
  /// In words: brokers, copies, how many must be in sync.
  std::string topology;
  /// Simulated time that passed.
  platform::Duration length{};
  /// How long the second phase took.
  platform::Duration settled{};
  /// The numbers of the faults that came to pass.
  std::vector<size_t> faults;
  /// In words: what was acknowledged and is lost by Kafka's rules (Losses), and was told to be.
  std::vector<std::string> losses;
  uint64_t events = 0;
  /// Of a breach: what happened last, a column for each broker.
  std::string excerpt;
};

/// From one seed: a cluster under load, a phase with faults, then one in which everything is mended and must become
/// whole. The invariants are checked after every event, and once more when all is quiet. Same options, same run.
ScenarioResult runScenario(const ScenarioOptions& options);

}  // namespace tidemark::sim
