#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "faults/fault.h"
#include "observe/snapshot.h"

namespace tidemark::observe {

/// "broker 2", "controller 4": what a node is called.
std::string nodeText(NodeId id, bool isBroker);

/// Whether something of that kind can be done to a node in that state. InvalidRequest says why not, of `who`.
Result<void> checkState(faults::Kind kind, std::string_view who, BrokerState state);

/// Whether the fault can be set in the cluster as it was seen: all that setFault() refuses, known beforehand, but for
/// what only the files tell. A name that stands for nobody now is no reason against a fault that begins later. The
/// error says what is impossible.
Result<void> checkFault(const faults::Fault& fault, const ClusterSnapshot& cluster);

/// Whether a fault of that kind, whatever its target and parameters, could be set. The error says what the cluster
/// lacks.
Result<void> checkKind(faults::Kind kind, const ClusterSnapshot& cluster);

/// Where the fault acts, names resolved as the cluster was seen; errors as of faults::placeOf().
Result<faults::Place> placeOf(const faults::Fault& fault, const ClusterSnapshot& cluster);

/// The broker that a name stands for; none if it stands for nobody now.
NodeId resolve(const faults::NodeName& name, const ClusterSnapshot& cluster) noexcept;

}  // namespace tidemark::observe
