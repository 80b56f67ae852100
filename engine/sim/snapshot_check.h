#pragma once

#include <vector>

#include "log/partition_log.h"
#include "platform/file_system.h"
#include "sim/checker.h"

namespace tidemark::sim {

/// T9: each producer snapshot in a log's folder is named by an offset of the log, holds nothing at or above it, and of
/// each producer the last batch that the log has below it. One that cannot be read holds nothing. `batches`: all of the
/// log's, in order.
void checkSnapshots(Judge& judge, NodeId broker, platform::FileSystem& files, const log::PartitionLog& log,
                    const std::vector<log::BatchInfo>& batches);

}  // namespace tidemark::sim
