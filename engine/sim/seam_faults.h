#pragma once

#include <span>
#include <vector>

#include "faults/fault.h"
#include "faults/place.h"
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

/// Draws one for a cluster of these nodes, numbered from 1 on; all end by themselves. Nothing that answers instead of a
/// broker what clients would take for good.
SeamFault drawSeamFault(platform::Generator& choices, std::span<const faults::Member> members);

/// One that changes what lies on the disk of a broker that is down, and that it must notice or make anew when it
/// starts: a partition's folder is gone, or a bit of an index is another. Not a bit of a log: what a batch's sum does
/// not cover nobody can notice.
faults::Fault drawDamage(platform::Generator& choices, NodeId broker);

}  // namespace tidemark::sim
