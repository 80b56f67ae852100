#pragma once

#include <vector>

#include "broker/share/share_partition.h"
#include "log/log_types.h"
#include "replication/partition.h"

namespace tidemark::broker {

/// Part of a partition's log, read for a share group: its whole batches, and where each lies in the slice.
struct ShareRead {
  struct Batch {
    LogBatchRange range;
    uint64_t position = 0;
    uint64_t end = 0;
  };
  platform::FileSlice slice;
  std::vector<Batch> batches;

  std::vector<LogBatchRange> ranges() const;
  /// The batches that hold what was acquired, and what lies between them.
  platform::FileSlice sliceOf(const std::vector<AcquiredRange>& acquired) const;
};

/// Takes a read apart, up to the batch that holds `last`. Batches of aborted transactions are marked, if the read knows
/// of any. A batch that is cut off is left out.
Result<ShareRead> scanShareRead(log::ReadResult read, Offset last);

}  // namespace tidemark::broker
