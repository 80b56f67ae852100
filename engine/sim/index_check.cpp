#include "sim/index_check.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "log/file_names.h"

namespace tidemark::sim {
namespace {

using SegmentBatches = std::span<const log::BatchInfo>;

/// Of the batches, which are in order, those of one segment.
SegmentBatches batchesOf(const std::vector<log::BatchInfo>& batches, Offset segment) {
  const auto [first, last] = std::ranges::equal_range(batches, segment, {}, &log::BatchInfo::segmentBaseOffset);
  return {first, last};
}

/// What is wrong with the first false entry; empty if all are true.
std::string falseOffset(const std::vector<log::OffsetIndexEntry>& entries, SegmentBatches batches) {
  for (const log::OffsetIndexEntry& entry : entries) {
    const auto named = std::ranges::lower_bound(batches, entry.position, {}, &log::BatchInfo::position);
    const bool begins = named != batches.end() && named->position == entry.position;
    if (begins && named->header.lastOffset() == entry.offset) continue;
    return fmt::format("offset {} ends the batch at byte {}: {}", entry.offset, entry.position,
                       begins ? fmt::format("{} does", named->header.lastOffset()) : "no batch begins there");
  }
  return {};
}

std::string falseTime(const std::vector<log::TimeIndexEntry>& entries, SegmentBatches batches) {
  int64_t largest = records::kNoTimestamp;
  Offset last = kNoOffset;
  auto batch = batches.begin();
  for (const log::TimeIndexEntry& entry : entries) {
    if (entry.offset < last) return fmt::format("offset {} follows offset {}", entry.offset, last);
    last = entry.offset;
    for (; batch != batches.end() && batch->header.lastOffset() <= entry.offset; ++batch)
      largest = std::max(largest, batch->header.maxTimestampMs);
    if (largest != entry.timestampMs)
      return fmt::format("the largest time up to offset {} is {}: {} is", entry.offset, entry.timestampMs, largest);
  }
  return {};
}

/// What the first lookup finds that is misled; empty if each finds what a scan finds.
std::string misled(const log::PartitionLog& log, SegmentBatches batches) {
  for (const log::BatchInfo& batch : batches) {
    for (const Offset offset : {batch.header.baseOffset, batch.header.lastOffset()}) {
      const auto found = log.batches(offset, 1);
      if (!found) return fmt::format("a lookup of offset {} fails: {}", offset, found.error().message);
      if (found->empty() || found->front().segmentBaseOffset != batch.segmentBaseOffset ||
          found->front().position != batch.position)
        return fmt::format("a lookup of offset {} finds {}, which is in the batch at byte {}", offset,
                           found->empty() ? "nothing" : fmt::format("byte {}", found->front().position),
                           batch.position);
    }
  }
  return {};
}

}  // namespace

void checkIndexes(Judge& judge, NodeId broker, const log::PartitionLog& log, const std::vector<log::BatchInfo>& batches,
                  const IsFlipped& isFlipped) {
  for (const log::SegmentInfo& segment : log.segments()) {
    const auto offsets = log.offsetIndexEntries(segment.baseOffset, 0, SIZE_MAX);
    const auto times = log.timeIndexEntries(segment.baseOffset, 0, SIZE_MAX);
    if (!offsets || !times) return judge.breach("S2", (offsets ? times.error() : offsets.error()).message);
    const SegmentBatches held = batchesOf(batches, segment.baseOffset);
    const auto tell = [&](std::string_view suffix, const std::string& wrong) {
      const std::string path = log::offsetFilePath(log.directory(), segment.baseOffset, suffix);
      std::string found;
      if (isFlipped(broker, path)) {
        found = misled(log, held);
        if (found.empty()) return;
        found = fmt::format("; a bit of it was flipped, but {}", found);
      }
      judge.breach("S2", fmt::format("broker {}, {}: it says that {}{}", broker, path, wrong, found));
    };
    if (const std::string wrong = falseOffset(*offsets, held); !wrong.empty()) tell(log::kOffsetIndexSuffix, wrong);
    if (const std::string wrong = falseTime(*times, held); !wrong.empty()) tell(log::kTimeIndexSuffix, wrong);
  }
}

}  // namespace tidemark::sim
