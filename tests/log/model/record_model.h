#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "records/batch.h"

namespace tidemark::log {

/// A record as the model remembers it and as a reader finds it.
struct ModelRecord {
  Offset offset;
  int64_t timestampMs = 0;
  LeaderEpoch epoch;
  ProducerId producer;
  bool transactional = false;
  bool control = false;
  std::string key;
  /// Nothing: a tombstone.
  std::optional<std::string> value;

  friend bool operator==(const ModelRecord&, const ModelRecord&) = default;
};
std::string described(const ModelRecord& record);

/// What was appended to one log and not truncated, as plain lists: the truth that a log is held against. Knows as well
/// which records compaction may have taken, and how far a power loss must leave the log.
class RecordModel {
 public:
  const std::vector<ModelRecord>& records() const noexcept { return records_; }
  Offset end() const noexcept { return end_; }
  /// Where the log ends by its records: behind a truncation that ended between batches only memory knows more.
  Offset dataEnd() const { return records_.empty() ? Offset(0) : records_.back().offset.next(); }
  Offset start() const noexcept { return start_; }
  Offset highWatermark() const noexcept { return highWatermark_; }
  Offset flushed() const noexcept { return flushed_; }

  /// All records of one batch whose offsets end before `next`.
  void append(std::vector<ModelRecord> records, Offset next);
  /// A batch of the offsets [first, next): for truncation, which takes whole batches.
  void noteBatch(Offset first, Offset next) { batches_[first] = next; }
  /// The start of the batch that holds `offset`, or `offset` if none does.
  Offset batchStart(Offset offset) const;
  void truncate(Offset offset);
  void moveStart(Offset offset) { start_ = std::max(start_, offset); }
  void raiseHighWatermark(Offset offset);
  void noteFlushed() { flushed_ = dataEnd(); }

  /// After a crash: the log ends at `end` and starts at `start`, which the caller has checked.
  void adopt(Offset start, Offset end);

  /// Whether compaction may have taken the record: something below a high watermark superseded it, or it was aborted,
  /// or is a tombstone or a marker that the high watermark passed.
  bool mayBeGone(const ModelRecord& record) const { return gone_.contains(record.offset); }
  /// Records of transactions that were aborted in the log as it is.
  std::set<Offset> aborted() const;
  /// First offset at or above `from` of each open transaction; who has none there is left out.
  std::map<ProducerId, Offset> open(Offset from = Offset(0)) const;

 private:
  void markGone(Offset from, Offset to);

  std::vector<ModelRecord> records_;
  /// First offset → one past the last.
  std::map<Offset, Offset> batches_;
  /// Sticky: compaction does not give back what a truncation made valid again.
  std::set<Offset> gone_;
  Offset end_{0};
  Offset start_{0};
  Offset highWatermark_{0};
  Offset flushed_{0};
};

}  // namespace tidemark::log
