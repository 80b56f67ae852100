#pragma once

#include <cstddef>
#include <vector>

#include "log_lab.h"

// Rows of the log that take more than a loop.

namespace tidemark::bench {

/// A log of `bytes` read from its first offset on, a megabyte at a time, and sent to a socket as a broker does it,
/// beside sendfile of the same file to such a socket. Both have one reader, who throws everything away.
Turns reading(Lab& lab, size_t bytes);

/// What a lookup of a random offset costs in a log of `segments` GiB.
struct LookupCost {
  /// Most pages of one index that one lookup touched, and most reads of a .log before the one that found the batch.
  double pages = 0;
  double reads = 0;
};
/// Twice: the first lookup after the log was opened, of many; and any later one.
std::vector<LookupCost> lookingUp(Lab& lab, int segments);

/// fsync calls for 1000 batches that `producers` threads append, each flushed before it is acknowledged. A sync takes a
/// millisecond at least.
double flushing(Lab& lab, int producers, size_t batches);

struct Compaction {
  Turns turns;
  /// Largest growth of the process's memory in a pass of ours, over what the cleaner was given; filled by the turns.
  std::shared_ptr<std::vector<double>> memory;
};
/// The cleaning of a log of `bytes` with `keys` keys that was never cleaned and is on disk, beside reading it, and
/// reading, writing and syncing what survives. Keys have 16 bytes, values `valueBytes`, at least 8.
Compaction compacting(Lab& lab, size_t bytes, size_t keys, size_t valueBytes);

}  // namespace tidemark::bench
