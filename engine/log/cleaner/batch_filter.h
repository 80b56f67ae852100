#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/batch.h"
#include "records/record.h"

namespace tidemark::log {

/// What becomes of a batch without records.
enum class EmptyBatch : uint8_t {
  Dropped,
  /// Its header stays, with its offsets and sequence.
  Kept,
};

/// What is decided about a batch before its records are looked at.
struct BatchVerdict {
  EmptyBatch whenEmpty = EmptyBatch::Dropped;
  /// None of its records stays.
  bool discardRecords = false;
  /// It holds the marker of a transaction of which nothing is left: gets a delete horizon if it has none.
  bool markerOfGoneTransaction = false;
};

/// Where a record is that its batch is known to hold.
struct PlacedRecord {
  /// Of its first byte, behind the start of the batch.
  uint32_t place = 0;
  Offset offset;
};

/// What was left of one batch.
struct FilteredBatch {
  /// Of what was written; nothing if the batch went.
  std::optional<records::BatchHeader> header;
  int32_t recordsRead = 0;
  int32_t recordsKept = 0;
  /// Of the kept ones, those without a value.
  int32_t tombstonesKept = 0;
  int32_t tombstonesDropped = 0;
};

/// Writes what compaction leaves of batches, as Kafka's MemoryRecords.filterTo does: untouched batches byte for byte,
/// others built anew with base offset, last offset, producer, sequence and codec of the old one; a batch that is the
/// first to be left with tombstones (or a needless marker) gets its delete horizon (KIP-534). Owns the buffers that it
/// uses for one batch after another. One thread.
class BatchFilter {
 public:
  /// `nowMs` + `deleteRetentionMs` is the horizon of batches that get one.
  BatchFilter(int64_t nowMs, int64_t deleteRetentionMs) : nowMs_(nowMs), deleteRetentionMs_(deleteRetentionMs) {}

  /// Adds what stays of `batch` to `output`. `keep` is asked for each record unless the verdict discards them all.
  /// CorruptMessage if the batch's records cannot be read.
  Result<FilteredBatch> filter(const records::BatchView& batch, const BatchVerdict& verdict,
                               const std::function<bool(const records::RecordCursor&)>& keep, ByteVector& output);

  // The same of a batch of which it is known already, as far as it is, that its records can be read.

  /// Looks at those `records` alone, all others go; without tombstonesDropped. If they are less than all, only their
  /// bytes of the batch need to be there, and its header. CorruptMessage if they are not where they should be.
  Result<FilteredBatch> filterPlaced(const records::BatchView& batch, const BatchVerdict& verdict,
                                     std::span<const PlacedRecord> records,
                                     const std::function<bool(const records::RecordCursor&)>& keep, ByteVector& output);
  /// All of it stays, and none of its records is a tombstone.
  static FilteredBatch copy(const records::BatchView& batch, ByteVector& output);
  /// None of its records stays. Its header suffices.
  static FilteredBatch empty(const records::BatchView& batch, const BatchVerdict& verdict, ByteVector& output);

 private:
  Result<void> chooseRecords(const records::BatchView& batch, const BatchVerdict& verdict,
                             const std::function<bool(const records::RecordCursor&)>& keep, FilteredBatch& result);
  /// Writes what was chosen.
  FilteredBatch write(const records::BatchView& batch, const BatchVerdict& verdict, FilteredBatch result,
                      ByteVector& output);
  void rebuild(const records::BatchHeader& header, std::optional<int64_t> horizonMs, ByteVector& output);
  static ByteVector emptied(const records::BatchHeader& header);

  const int64_t nowMs_;
  const int64_t deleteRetentionMs_;
  ByteVector payload_;
  std::vector<records::RecordView> kept_;
};

}  // namespace tidemark::log
