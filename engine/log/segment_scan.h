#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "log/log_types.h"
#include "platform/file_system.h"
#include "records/batch.h"

namespace tidemark::log {

/// How far an offset may lie above its segment's base: an index entry has 32 bits for it, one of them the sign.
inline constexpr int64_t kMaxRelativeOffset = INT32_MAX;

/// The rule by which Kafka indexes batches, in one place for appends and rebuilds: before a batch is written, if more
/// than the interval was written since the last entry (or the segment's start), it gets an entry in each index.
class IndexRule {
 public:
  IndexRule() = default;
  explicit IndexRule(Offset base) : maxTimestampOffset_(base), lastTimeOffset_(base) {}

  struct Entries {
    bool offset = false;
    bool time = false;
  };
  /// For the next batch, which starts at byte `position`: which entries it gets; offsetEntry() and timeEntry() are
  /// them.
  Entries next(const records::BatchHeader& header, uint64_t position, int32_t intervalBytes) noexcept {
    if (header.maxTimestampMs > maxTimestampMs_) {
      maxTimestampMs_ = header.maxTimestampMs;
      maxTimestampOffset_ = header.lastOffset();
    }
    Entries entries;
    // Offsets do not grow where a leftover repeats a batch: it gets no entry, so that entries always rise.
    if (bytesSinceEntry_ > intervalBytes && header.lastOffset() > lastOffsetEntry_) {
      offsetEntry_ = {header.lastOffset(), static_cast<int64_t>(position)};
      lastOffsetEntry_ = header.lastOffset();
      entries.offset = true;
      entries.time = takeTimeEntry();
      bytesSinceEntry_ = 0;
    }
    bytesSinceEntry_ += static_cast<int64_t>(header.sizeInBytes());
    return entries;
  }
  /// Whether the maximum is beyond the last entry; the entry counts as written.
  bool takeTimeEntry() noexcept {
    if (maxTimestampMs_ <= lastTimeMs_) return false;
    lastTimeMs_ = maxTimestampMs_;
    lastTimeOffset_ = maxTimestampOffset_;
    return true;
  }
  const OffsetIndexEntry& offsetEntry() const noexcept { return offsetEntry_; }
  TimeIndexEntry timeEntry() const noexcept { return {lastTimeMs_, lastTimeOffset_}; }

  int64_t maxTimestampMs() const noexcept { return maxTimestampMs_; }
  Offset maxTimestampOffset() const noexcept { return maxTimestampOffset_; }

  /// As when a log is opened: the counter starts at 0, the rest comes from the last entries.
  void resume(std::optional<OffsetIndexEntry> lastOffsetEntry, std::optional<TimeIndexEntry> lastTimeEntry) noexcept {
    bytesSinceEntry_ = 0;
    if (lastOffsetEntry) lastOffsetEntry_ = lastOffsetEntry->offset;
    if (lastTimeEntry) {
      maxTimestampMs_ = lastTimeMs_ = lastTimeEntry->timestampMs;
      maxTimestampOffset_ = lastTimeOffset_ = lastTimeEntry->offset;
    }
  }
  /// A batch behind the last entry that was not written now.
  void observe(const records::BatchHeader& header) noexcept {
    if (header.maxTimestampMs <= maxTimestampMs_) return;
    maxTimestampMs_ = header.maxTimestampMs;
    maxTimestampOffset_ = header.lastOffset();
  }

 private:
  int64_t bytesSinceEntry_ = 0;
  int64_t maxTimestampMs_ = records::kNoTimestamp;
  Offset maxTimestampOffset_{0};
  OffsetIndexEntry offsetEntry_;
  Offset lastOffsetEntry_ = kNoOffset;
  int64_t lastTimeMs_ = records::kNoTimestamp;
  Offset lastTimeOffset_{0};
};

/// What reading a .log file from front to back found.
struct SegmentScan {
  /// Bytes of whole, valid batches at the front.
  uint64_t validBytes = 0;
  /// One past the last offset; the base if there is no batch.
  Offset nextOffset;
  int64_t batches = 0;
  std::vector<OffsetIndexEntry> offsetEntries;
  /// Without the one that is added when a segment is closed.
  std::vector<TimeIndexEntry> timeEntries;
  IndexRule rule;
  /// Why it ended before the file did; None if it did not.
  records::CorruptReason reason = records::CorruptReason::None;
};

/// Reads the first `size` bytes batch by batch, checks length, format, CRC, that offsets fit the segment and rise and
/// that leader epochs do not fall, and works out the index entries. A batch behind a gap, or of a higher epoch, is
/// false if the next one goes on with what stands before it. `contiguous`: there are no gaps. `visit` gets each valid
/// batch and its position; an error of it ends the scan with that error. Reads a megabyte at a time, more only for a
/// batch that is larger.
Result<SegmentScan> scanSegment(const platform::File& file, uint64_t size, Offset base, int32_t indexIntervalBytes,
                                const std::function<Result<void>(const records::BatchView&, uint64_t position)>& visit,
                                bool contiguous = false);

/// One past the last byte in [from, end) that is not zero; `from` if all are. Holes of the file are not read.
Result<uint64_t> endOfData(const platform::File& file, uint64_t from, uint64_t end);

/// The largest offset that headers name, kNoOffset if there is none, and where the last of them says its batch ends.
struct HeadersFound {
  Offset lastOffset = kNoOffset;
  uint64_t end = 0;
};
/// Walks over headers from byte `from` to `end` as long as they rise from `next` on and can be of a segment with base
/// offset `base`. Their batches may be damaged.
Result<HeadersFound> headersFrom(const platform::File& log, uint64_t from, uint64_t end, Offset next, Offset base);

}  // namespace tidemark::log
