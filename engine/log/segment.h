#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "events/text.h"
#include "log/header_scanner.h"
#include "log/index_file.h"
#include "log/log_config.h"
#include "log/log_context.h"
#include "log/log_types.h"
#include "log/segment_scan.h"
#include "log/txn_index.h"

namespace tidemark::log {

/// The open files of one segment. Shared by its readers: what is in use stays open and mapped.
class SegmentFiles {
 public:
  SegmentFiles(std::shared_ptr<platform::File> log, std::unique_ptr<OffsetIndex> offsets,
               std::unique_ptr<TimeIndex> times, bool indexesUsable = true) noexcept
      : log_(std::move(log)),
        offsetIndex_(std::move(offsets)),
        timeIndex_(std::move(times)),
        indexesUsable_(indexesUsable) {}

  const std::shared_ptr<platform::File>& log() const noexcept { return log_; }
  /// False: read-only, and an index is missing or wrong; both are empty then.
  bool indexesUsable() const noexcept { return indexesUsable_; }
  OffsetIndex& offsetIndex() const noexcept { return *offsetIndex_; }
  TimeIndex& timeIndex() const noexcept { return *timeIndex_; }

 private:
  const std::shared_ptr<platform::File> log_;
  const std::unique_ptr<OffsetIndex> offsetIndex_;
  const std::unique_ptr<TimeIndex> timeIndex_;
  const bool indexesUsable_;
};

/// Where a batch is.
struct BatchPosition {
  uint64_t position = 0;
  records::BatchHeader header;
};

/// What recovery cut off the end of a segment.
struct SegmentCut {
  /// Where in the `.log` it began.
  uint64_t position = 0;
  uint64_t bytes = 0;
  /// Of those, without the zeros at their end that were set aside and never written.
  uint64_t written = 0;
  /// The largest offset that headers in it name: those that can be read from its first byte on. kNoOffset: none.
  Offset lastOffset = kNoOffset;
};

/// One stretch of a log: `.log` with its sparse `.index` and `.timeindex`. The last segment of a log is the active one:
/// its files stay open; those of the others open on first use and stay under the handle cache's cap.
///
/// Const member functions are for any thread; the others are called by one thread at a time (the log's lock). A reader
/// bounds itself by the position it was given or size().
class Segment {
 public:
  /// Makes the files of an empty, active segment. `extra`: behind all their names, for a segment that is not yet part
  /// of its log (a literal).
  static Result<std::shared_ptr<Segment>> create(const LogContext& context, events::PartitionTag tag,
                                                 const std::string& directory, Offset base, const LogConfig& config,
                                                 std::string_view extra = {});
  /// One that is on disk, inactive. Touches no file. `logSize`, and the index sizes for views, are as listed.
  static std::shared_ptr<Segment> adopt(const LogContext& context, events::PartitionTag tag,
                                        const std::string& directory, Offset base, const LogConfig& config,
                                        uint64_t logSize, uint64_t offsetIndexSize, uint64_t timeIndexSize,
                                        uint64_t txnIndexSize = 0);
  ~Segment();

  Offset baseOffset() const noexcept { return base_; }
  /// Bytes of whole batches in the .log file.
  uint64_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  // --- readers ---
  Result<std::shared_ptr<SegmentFiles>> files() const;
  /// The first batch whose last offset is at or after `target`, below byte `end`. Nothing: there is none.
  /// `trace`, here and below: is told each step, may be null.
  Result<std::optional<BatchPosition>> find(Offset target, uint64_t end, LookupTrace* trace = nullptr) const;
  /// The first record at or after `startOffset` whose timestamp is `timestampMs` or later, below byte `end`.
  Result<std::optional<TimestampAndOffset>> findByTimestamp(int64_t timestampMs, Offset startOffset, uint64_t end,
                                                            LookupTrace* trace = nullptr) const;
  /// The first record that has the segment's largest timestamp. Nothing as well if the time index was wrong about that
  /// one: maxTimestampMs() is right from then on.
  Result<std::optional<TimestampAndOffset>> findMaxTimestamp(uint64_t end, LookupTrace* trace = nullptr) const;
  /// Largest timestamp of all records, −1 if none has one; from the time index for a segment that is not active.
  Result<int64_t> maxTimestampMs() const;
  /// The aborted transactions whose markers lie here; touches no file if there is none.
  Result<std::vector<AbortedTxn>> abortedTxns() const;
  bool hasAborted() const noexcept { return txnEntries_.load(std::memory_order_acquire) > 0; }
  /// An offset above all that lie before byte `end`, as close as the index tells; `otherwise` if it tells nothing.
  Result<Offset> boundOfBytes(uint64_t end, Offset otherwise) const;
  /// Max timestamp of the first batch, by which the segment's age is told; −1: there is none.
  Result<int64_t> firstTimestampMs() const;
  int64_t offsetIndexBytes() const noexcept {
    return offsetEntries_.load() * static_cast<int64_t>(OffsetIndexFormat::kSize);
  }
  int64_t timeIndexBytes() const noexcept { return timeEntries_.load() * static_cast<int64_t>(TimeIndexFormat::kSize); }
  /// For views; opens nothing of an inactive segment but, once, its time index.
  SegmentInfo info() const;
  /// When this object was made: the age of a segment without timestamps.
  int64_t createdMs() const noexcept { return createdMs_.load(std::memory_order_relaxed); }
  /// For the last segment of a log that is opened read-only: bounds it behind its last whole batch, as opening it would
  /// but without cutting the file, and returns the next offset. Reads the headers behind the last index entry.
  Result<Offset> boundForReading();

  // --- writer ---
  /// Makes the segment of an opened log the active one: opens its files, trims preallocated indexes, and says how it
  /// ends, for which it reads the headers behind the last index entry. Nothing: an index is wrong or what is
  /// behind its last entry is no batch; recover() then. Both indexes are there.
  struct Tail {
    Offset nextOffset;
    /// Of the last batch; nothing if there is none.
    std::optional<LeaderEpoch> epoch;
  };
  Result<std::optional<Tail>> activate();
  /// Reads everything, cuts the file behind the last valid batch and writes both indexes anew, with the time index
  /// entry of a closed segment. `visit` gets each batch. The segment is not active afterwards. `cut`: what went, may be
  /// null. `contiguous`: as of scanSegment().
  Result<SegmentScan> recover(const std::function<Result<void>(const records::BatchView&, uint64_t position)>& visit,
                              SegmentCut* cut, bool contiguous);

  /// Writes batches whose headers are `headers` at the end, with one call, and their index entries.
  Result<void> append(ByteView bytes, std::span<const records::BatchHeader> headers, const LogConfig& config);
  /// Adds transactions that a marker in this segment aborted; the first makes the file.
  Result<void> appendAborted(std::span<const AbortedTxn> entries);
  /// All of them anew, as recovery computed them.
  Result<void> replaceAborted(std::span<const AbortedTxn> entries);
  /// Kafka's rules: size, time, a full index, an offset too far from the base.
  Result<bool> shouldRoll(size_t bytes, int64_t maxTimestampMs, Offset lastOffset, const LogConfig& config,
                          int64_t rollJitterMs) const;
  /// Cuts at the batch that holds `offset`; the segment becomes the active one. The files' former readers keep the
  /// indexes as they were. Returns where the log ends now: `offset`, or the base of the batch that was cut if that is
  /// lower.
  Result<Offset> truncateTo(Offset offset);
  /// Adds the last time index entry; the files may be closed from now on.
  Result<void> becomeInactive();
  /// Adds the last time index entry of the active segment at a clean stop, and gives back the space set aside for it.
  Result<void> addLastTimeEntry();
  /// Flushes what was written of .log since the last time, and of the indexes too if asked to. One thread at a time
  /// (the log's sync lock); appends may go on meanwhile.
  Result<void> sync(bool indexes) const;
  /// Renames the files to `.deleted` and returns their names for removal. Nobody opens them by this object any more.
  Result<std::vector<std::string>> retire();
  /// Renames the files to end in `extra` (a literal), the .log first. Nobody else may be using the segment.
  Result<void> renameTo(std::string_view extra);
  /// Removes the files of a segment that did not become part of its log, as far as they are there.
  void discard();

 private:
  Segment(const LogContext& context, events::PartitionTag tag, const std::string& directory, Offset base,
          const LogConfig& config);
  std::string path(std::string_view suffix) const;
  Result<std::shared_ptr<SegmentFiles>> openFiles() const;
  /// Opens both indexes, which are there; null if one is wrong.
  Result<std::shared_ptr<SegmentFiles>> openChecked() const;
  /// Writes the indexes as new files.
  Result<std::shared_ptr<SegmentFiles>> writeIndexes(std::shared_ptr<platform::File> log,
                                                     std::span<const OffsetIndexEntry> offsets,
                                                     std::span<const TimeIndexEntry> times) const;
  /// Where batches are read from for a target, and by which entry that is so.
  struct SearchStart {
    uint64_t position = 0;
    std::optional<OffsetIndexEntry> entry;
  };
  /// Kafka before 4.0 named the last offset of all that was appended at once, which may be more than one batch.
  bool leadsTo(const OffsetIndexEntry& entry, const records::BatchHeader& header) const noexcept;
  /// No batch has the largest time that the time index names: finds out what it is.
  Result<void> correctMaxTimestamp(const SegmentFiles& files, const TimeIndexEntry& wrong, LookupTrace* trace) const;
  Result<SearchStart> startOfSearch(const SegmentFiles& files, Offset target, LookupTrace* trace) const;
  /// The first header that `scanner` meets. Where an index entry leads to something else than the batch it names, the
  /// index is wrong: then the scanner begins at the segment's front.
  Result<records::Step> firstOfSearch(const SegmentFiles& files, const SearchStart& start, HeaderScanner& scanner,
                                      LookupTrace* trace) const;
  /// An entry was found to be false: unless the segment is active, both indexes are built anew when they are next
  /// needed.
  void distrustIndexes(const SegmentFiles& files, std::string_view why) const;
  Result<void> truncateAborted(Offset offset);
  Result<void> syncAborted() const;

  const LogContext context_;
  const events::PartitionTag tag_;
  const std::string directory_;
  const Offset base_;
  const int32_t indexIntervalBytes_;
  const uint64_t id_;
  /// Behind the suffix of each file; empty once it is part of the log.
  std::string_view extra_;
  std::atomic<uint64_t> size_{0};
  std::atomic<int64_t> createdMs_{0};
  /// Counts of entries as far as they are known without opening the indexes.
  mutable std::atomic<int64_t> offsetEntries_{0};
  mutable std::atomic<int64_t> timeEntries_{0};
  /// Written since the last sync.
  mutable std::atomic<bool> logDirty_{false};
  mutable std::atomic<bool> indexesDirty_{false};
  mutable std::atomic<bool> txnDirty_{false};
  /// An entry was false.
  mutable std::atomic<bool> indexesFalse_{false};
  /// In the .txnindex; 0: there is no such file.
  std::atomic<size_t> txnEntries_{0};

  /// Held while files are opened (and perhaps indexes rebuilt), so that retire() knows nobody does. Taken before
  /// mutex_.
  mutable Mutex openMutex_;
  bool retired_ GUARDED_BY(openMutex_) = false;

  mutable Mutex mutex_;
  /// Set while active.
  std::shared_ptr<SegmentFiles> pinned_ GUARDED_BY(mutex_);
  /// −1: none; nothing: not read yet.
  mutable std::optional<TimeIndexEntry> maxTimestamp_ GUARDED_BY(mutex_);
  /// Of the first batch, by which the segment's age is told.
  mutable std::optional<int64_t> firstTimestampMs_ GUARDED_BY(mutex_);

  /// Has space set aside for what will be appended, once the segment is large enough for that to pay.
  void reserveSpace(platform::File& log, uint64_t end, const LogConfig& config);
  Result<void> releaseSpace(platform::File& log);

  // Writer's own.
  IndexRule rule_;
  /// Space on disk up to here was asked for.
  uint64_t reserved_ = 0;
  /// The file was made this long (`preallocate`): zeros lie behind the batches until it is closed.
  uint64_t preallocated_ = 0;
};

/// The segments of a log, in order. Guarded by the log's lock; whoever only looks gets the copy that the log publishes.
class SegmentList {
 public:
  bool empty() const noexcept { return segments_.empty(); }
  /// Another one whenever a segment came or went.
  uint64_t version() const noexcept { return version_; }
  size_t size() const noexcept { return segments_.size(); }
  const std::shared_ptr<Segment>& at(size_t index) const { return segments_[index]; }
  const std::shared_ptr<Segment>& first() const { return segments_.front(); }
  const std::shared_ptr<Segment>& active() const { return segments_.back(); }
  /// Index of the last segment that begins at or below `offset`; size() if all begin above.
  size_t floorIndex(Offset offset) const;
  /// Null if all begin above.
  std::shared_ptr<Segment> floor(Offset offset) const;
  /// The one after the segment that begins at `base`; null if it is the last.
  std::shared_ptr<Segment> higher(Offset base) const;
  std::shared_ptr<Segment> exactly(Offset base) const;
  /// Behind all others.
  void add(std::shared_ptr<Segment> segment);
  void removeFirst(size_t count);
  /// `segment` in place of `count` segments from `first` on.
  void replace(size_t first, size_t count, std::shared_ptr<Segment> segment);
  /// At `index`; those from there on move up.
  void insert(size_t index, std::shared_ptr<Segment> segment);
  void removeLast();
  void clear() {
    segments_.clear();
    ++version_;
  }
  auto begin() const { return segments_.begin(); }
  auto end() const { return segments_.end(); }

 private:
  std::vector<std::shared_ptr<Segment>> segments_;
  uint64_t version_ = 0;
};

}  // namespace tidemark::log
