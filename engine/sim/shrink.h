#pragma once

#include "sim/scenario.h"

namespace tidemark::sim {

/// A run that still fails, with less in it.
struct Shrunk {
  ScenarioOptions options;
  ScenarioResult result;
  /// How many runs it took to find it.
  int runs = 0;
};

/// Looks for a smaller run that breaks the same invariant: with fewer brokers, then with fewer faults, a half of them
/// at a time, then a quarter, … then one. `failing` is what `options` led to.
Shrunk shrink(const ScenarioOptions& options, const ScenarioResult& failing, int mostRuns = 60);

}  // namespace tidemark::sim
