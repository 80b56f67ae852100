#pragma once

#include <functional>
#include <string>
#include <vector>

#include "log/partition_log.h"
#include "sim/checker.h"

namespace tidemark::sim {

/// Whether somebody has flipped a bit of the file at that path of the broker.
using IsFlipped = std::function<bool(NodeId broker, const std::string& path)>;

/// S2: each entry of an offset index names the last offset of the batch that starts at its position, each of a time
/// index the largest time up to its offset. `batches`: all that the log holds, by a scan.
///
/// An entry with a flipped bit may be false until a lookup meets it, but none may be misled by it: then each lookup by
/// offset in that segment must equal the scan. (By time it need not, see log/README.md.)
void checkIndexes(Judge& judge, NodeId broker, const log::PartitionLog& log, const std::vector<log::BatchInfo>& batches,
                  const IsFlipped& isFlipped);

}  // namespace tidemark::sim
