#pragma once

#include <vector>

#include "faults/fault.h"
#include "platform/simulated/generator.h"

namespace tidemark::sim {

/// A fault of engine/faults as the plan of a run sets it.
struct SeamFault {
  faults::Fault fault;
  /// Brokers that it may throw out of an ISR or bring down; none: nobody.
  std::vector<NodeId> harms;
  /// The broker may end over it, and says so as an error.
  bool brings = false;
};

/// Draws one for a cluster of so many brokers; all end by themselves. Nothing that changes bytes at rest, and nothing
/// that answers instead of a broker what clients would take for good.
SeamFault drawSeamFault(platform::Generator& choices, int brokers);

}  // namespace tidemark::sim
