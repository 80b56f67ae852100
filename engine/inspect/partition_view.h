#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "inspect/batch_anatomy.h"
#include "inspect/finding.h"
#include "log/log_types.h"
#include "log/lookup_trace.h"
#include "log/partition_log.h"
#include "log/txn_index.h"
#include "platform/process.h"
#include "records/batch.h"

namespace tidemark::inspect {

/// A segment as a view lists it.
struct SegmentSummary {
  Offset baseOffset;
  /// One past the last offset it can hold: the next segment's base, or the log end.
  Offset endOffset;
  /// Bytes of whole batches in the .log (what is behind them in a torn file is not counted), and of the file.
  uint64_t bytes = 0;
  uint64_t fileBytes = 0;
  /// Entries; nothing if there is no such file. Zeros of a preallocated file are no entries.
  std::optional<uint64_t> offsetEntries;
  std::optional<uint64_t> timeEntries;
  std::optional<uint64_t> abortedEntries;
  /// Largest timestamp of the first batch and of all; −1 if none has one.
  int64_t firstTimestampMs = records::kNoTimestamp;
  int64_t maxTimestampMs = records::kNoTimestamp;
  /// The last segment: appended to, or where a broker would go on.
  bool active = false;
};

/// Up to as many entries of an index as were asked for, of `total`, from number `from` on.
template <class Entry>
struct IndexPage {
  uint64_t total = 0;
  uint64_t from = 0;
  std::vector<Entry> entries;
};

/// Where a batch is and what its header says; its records were not looked at.
struct BatchSummary {
  Offset segmentBase;
  uint64_t position = 0;
  records::BatchHeader header;
};

struct BatchPage {
  std::vector<BatchSummary> batches;
  /// Byte where the next batch starts; nothing at the segment's end.
  std::optional<uint64_t> next;
  /// Byte where something starts that is no whole batch; the walk ends there.
  std::optional<uint64_t> damagedAt;
};

/// A record with its bytes, which live as long as the page (or copies of the values) does. Nothing is cut.
struct RecordFields {
  struct Header {
    std::string key;
    std::optional<SharedBytes> value;
  };
  Offset offset;
  int64_t timestampMs = records::kNoTimestamp;
  int32_t sequence = records::kNoSequence;
  std::optional<SharedBytes> key;
  std::optional<SharedBytes> value;
  std::vector<Header> headers;
};

struct RecordPage {
  BatchSummary batch;
  /// As the header says.
  uint64_t total = 0;
  uint64_t from = 0;
  std::vector<RecordFields> records;
  /// Why the records end early: damaged bytes; empty if they do not.
  std::string problem;
};

/// The answer to a lookup and how it came about.
struct Lookup {
  log::LookupTrace trace;
  /// The batch: of the offset asked for or the next higher one; nothing if it is the log end.
  std::optional<BatchSummary> batch;
  /// By time: the record.
  std::optional<log::TimestampAndOffset> record;
  /// What the lookup failed with, as a client would be told: the offset is out of range, a batch is damaged.
  std::optional<Error> error;
};

/// A partition as its files show it: a broker's log while it runs, a folder that a broker of ours or Apache Kafka left
/// or is using, or one single file of it (`.log`, `.index`, …, also with `.deleted`, `.cleaned`, `.swap`, also a
/// metadata
/// `.checkpoint`). Nothing is ever changed. A view of a folder shows the segments as they were when it was opened: open
/// it again to see more. Any thread; calls block on files, so none of them belongs on a window's thread.
///
/// Lookups are those of engine/log itself, which tells each of its steps.
class PartitionView {
 public:
  /// `path`: a partition's folder, or one file. KafkaStorageError says what is wrong with it. `process` outlives the
  /// view.
  static Result<std::shared_ptr<const PartitionView>> open(platform::Process& process, const std::string& path);
  /// A log that is open in this program.
  static std::shared_ptr<const PartitionView> of(std::shared_ptr<const log::PartitionLog> log,
                                                 platform::Process& process);

  /// What was opened.
  const std::string& path() const noexcept { return path_; }
  /// By the folder's name.
  const std::optional<TopicPartition>& partition() const noexcept { return partition_; }
  bool live() const noexcept { return live_; }
  /// Where the log starts and ends; of a view from disk the high watermark is not known and told as the log start.
  log::OffsetSnapshot bounds() const { return log_->offsetSnapshot(); }
  std::vector<log::EpochEntry> epochs() const { return log_->epochEntries(); }
  /// Only of a live log.
  std::vector<log::ProducerInfo> producers() const { return log_->producers(); }

  std::vector<SegmentSummary> segments() const;
  /// Entries from number `from` on, at most `count`. An index that is missing has none. Whatever is in the file is
  /// told, true or not.
  Result<IndexPage<log::OffsetIndexEntry>> offsetIndex(Offset segmentBase, uint64_t from, size_t count) const;
  Result<IndexPage<log::TimeIndexEntry>> timeIndex(Offset segmentBase, uint64_t from, size_t count) const;
  Result<IndexPage<log::AbortedTxn>> abortedIndex(Offset segmentBase, uint64_t from, size_t count) const;

  /// Headers of up to `count` batches from byte `position` on, where one starts.
  Result<BatchPage> batches(Offset segmentBase, uint64_t position, size_t count) const;
  /// Up to `count` records from number `from` on of the batch at byte `position`.
  Result<RecordPage> records(Offset segmentBase, uint64_t position, uint64_t from, size_t count) const;
  /// The batch byte by byte; up to `count` of its records from number `from` on.
  Result<BatchAnatomy> anatomy(Offset segmentBase, uint64_t position, uint64_t from = 0, size_t count = 1000) const;

  /// The lookup of a fetch at `offset` by a reader who may see everything.
  Lookup lookupOffset(Offset offset) const;
  /// The lookup of ListOffsets; also the special timestamps (log::k…Timestamp).
  Lookup lookupTimestamp(int64_t timestampMs) const;

  /// What is wrong in the files of one segment, with file and position. Reads all of it. `progress` is told now and
  /// then how many bytes were read since the last call; false ends the check with RequestTimedOut. See check.h for
  /// whole folders.
  Result<std::vector<Finding>> check(Offset segmentBase, std::function<bool(uint64_t bytes)> progress = {}) const;

 private:
  struct Private {};

 public:
  PartitionView(Private, std::shared_ptr<const log::PartitionLog> log, platform::Process& process,
                std::shared_ptr<platform::FileSystem> ownFiles, std::string path, bool live);

 private:
  platform::FileSystem& files() const { return ownFiles_ ? *ownFiles_ : process_.files(); }
  std::string pathOf(Offset base, std::string_view suffix) const;
  std::optional<uint64_t> countEntries(Offset base, std::string_view suffix, size_t entrySize) const;
  /// Bytes that may be read of a segment; an error if there is no such segment.
  Result<uint64_t> readableBytes(Offset base) const;
  Result<SharedBytes> readBatch(Offset base, uint64_t position, BatchSummary& summary) const;
  template <class Entry, class Decode>
  Result<IndexPage<Entry>> readIndex(Offset base, std::string_view suffix, size_t entrySize, uint64_t from,
                                     size_t count, const Decode& decode) const;

  template <class Entry, class Read>
  Result<IndexPage<Entry>> liveIndex(Offset base, uint64_t from, size_t count, int64_t log::SegmentInfo::* total,
                                     const Read& read) const;

  platform::Process& process_;
  /// For a single file: leads the names of a segment's files to it.
  const std::shared_ptr<platform::FileSystem> ownFiles_;
  const std::shared_ptr<const log::PartitionLog> log_;
  const std::string path_;
  const std::optional<TopicPartition> partition_;
  const bool live_;

  mutable Mutex mutex_;
  /// Of the first batch of each segment that was listed.
  mutable std::map<Offset, int64_t> firstTimestamps_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::inspect
