#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "log/log_types.h"
#include "records/batch.h"

namespace tidemark::log {

/// One step of a lookup, as the code that took it tells it. Which fields mean something stands at the kind.
struct LookupStep {
  enum class Kind : uint8_t {
    /// The lookup goes on in this segment: number `entry` of `count`. By offset: the last one that begins at or below
    /// `offset`, or the next one with data. By time: the first whose largest timestamp, `timestampMs`, is high enough.
    SegmentChosen,
    /// By time: number `entry` of `count`; its largest timestamp, `timestampMs`, is lower than the one asked for.
    SegmentSkipped,
    /// Only in a log opened for reading: an index of this segment is missing or wrong. A broker builds it anew; here it
    /// counts as empty.
    IndexUnusable,
    /// One look of the search in `index`: entry `entry` of `count`, `low` to `high` (exclusive) were possible until
    /// now. `taken`: it is at or below what is sought, so that the search goes on behind it. `remembered`: an earlier
    /// search had looked at it, so that the file was not touched.
    Probe,
    /// What the search in `index` ended at: the last entry at or below what is sought.
    FloorEntry,
    /// Every entry of `index` (there are `count`) is above what is sought: the segment's first byte it is.
    NoFloorEntry,
    /// What the last entry of `index` says is not so: at byte `position` there is no such batch, or the batch that
    /// holds
    /// `offset` does not have `timestampMs` as its largest. The index is wrong; the search goes on without it.
    EntryFalse,
    /// Batches are read from byte `position` on, for `offset`.
    ScanBegins,
    /// The header of the batch at byte `position`. `taken`: it may hold what is sought.
    BatchScanned,
    /// The answer of a lookup by offset, and the batch in which one by time looks at records.
    BatchFound,
    /// By time: the answer, `offset` with `timestampMs`, was record `entry` of its batch.
    RecordFound,
    /// By time: `count` records of the batch were looked at and none will do.
    NoRecordInBatch,
    /// Nothing at or after what is sought in this segment, up to byte `position`.
    NotInSegment,
    /// Told without a look at any file: `offset` is the log's end, start, or at the reader's bound.
    KnownOffset,
  };
  enum class Index : uint8_t { None, Offset, Time };

  Kind kind{};
  Index index = Index::None;
  /// Base offset of the segment this is about.
  Offset segmentBase = kNoOffset;
  size_t entry = 0;
  size_t count = 0;
  size_t low = 0;
  size_t high = 0;
  /// Of the entry, the batch (its last) or the record.
  Offset offset = kNoOffset;
  int64_t timestampMs = records::kNoTimestamp;
  int64_t position = -1;
  bool taken = false;
  bool remembered = false;
  /// Of the batch, where one was read.
  records::BatchHeader header;
};

/// Recorder of one lookup, lent to it by whoever wants to know. Filled by Segment, the index views and PartitionLog
/// themselves; without one (nullptr) each step costs a branch. Used by one thread.
class LookupTrace {
 public:
  /// Steps beyond are counted only: a segment without index entries may hold millions of batches.
  static constexpr size_t kMaxSteps = 100'000;

  const std::vector<LookupStep>& steps() const noexcept { return steps_; }
  uint64_t omitted() const noexcept { return omitted_; }
  /// A lookup begins, perhaps again because the log changed under it.
  void begin() {
    steps_.clear();
    omitted_ = 0;
    segment_ = kNoOffset;
  }
  /// The steps that follow are about this segment.
  void enter(Offset segmentBase) noexcept { segment_ = segmentBase; }

  void add(LookupStep step) {
    if (steps_.size() >= kMaxSteps) {
      ++omitted_;
      return;
    }
    if (step.segmentBase == kNoOffset) step.segmentBase = segment_;
    steps_.push_back(step);
  }
  void addEntry(LookupStep step, const OffsetIndexEntry& entry) {
    step.index = LookupStep::Index::Offset;
    step.offset = entry.offset;
    step.position = entry.position;
    add(step);
  }
  void addEntry(LookupStep step, const TimeIndexEntry& entry) {
    step.index = LookupStep::Index::Time;
    step.offset = entry.offset;
    step.timestampMs = entry.timestampMs;
    add(step);
  }
  void addBatch(LookupStep::Kind kind, uint64_t position, const records::BatchHeader& header, bool taken) {
    add({.kind = kind,
         .offset = header.lastOffset(),
         .timestampMs = header.maxTimestampMs,
         .position = static_cast<int64_t>(position),
         .taken = taken,
         .header = header});
  }

 private:
  std::vector<LookupStep> steps_;
  uint64_t omitted_ = 0;
  Offset segment_ = kNoOffset;
};

}  // namespace tidemark::log
