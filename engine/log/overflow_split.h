#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "platform/file_system.h"

namespace tidemark::log {

// Segments whose offsets reach further from their base than an index can say (2³¹−1): old cleaners of Kafka made
// such (KAFKA-6264). Recovery splits them, as Kafka's splitOverflowedSegment does.

/// Where a segment's first batch lies that is too far from its base.
struct OverflowSplit {
  uint64_t position = 0;
  Offset baseOffset;
};

/// Looks for it in the first `size` bytes of a .log with base offset `base`. Nothing: none is too far, or the batch
/// there reaches `end`, where the next segment begins: what a torn write left is no reason to split. Reads headers
/// only.
Result<std::optional<OverflowSplit>> findOverflow(const platform::File& log, uint64_t size, Offset base, Offset end);

/// Writes the two parts of a segment of `size` bytes beside it and leaves them, synced, as `.swap`: a start from here
/// on puts them in its place, one before throws them away. Returns the names of the two files.
Result<std::vector<std::string>> writeSplit(platform::FileSystem& files, const std::string& directory, Offset base,
                                            uint64_t size, const OverflowSplit& split);

}  // namespace tidemark::log
