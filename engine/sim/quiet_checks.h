#pragma once

#include <vector>

#include "sim/checker.h"
#include "sim/index_check.h"
#include "sim/replication_checkers.h"

namespace tidemark::sim {

/// What must hold once all brokers run and nothing moves any more: R4 (every replica holds all that is committed), R11
/// (leader epochs as the batches tell them), S2 (index entries are true), T9 (producer snapshots are), K10 (one
/// metadata offset, one image), L6 (nothing is parked past its deadline).
void checkWhenQuiet(Judge& judge, const std::vector<broker::Node*>& nodes, const ReplicaLogs& logs,
                    CommittedRecords& committed, const IsFlipped& isFlipped);

}  // namespace tidemark::sim
