#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "platform/file_system.h"
#include "records/batch.h"
#include "records/validator.h"

namespace tidemark::log {

/// An offset and, if known, where in the log's files it is (Kafka's LogOffsetMetadata).
struct LogOffsetMetadata {
  Offset offset{0};
  /// Base offset of the segment that holds it; kNoOffset: the place is not known.
  Offset segmentBaseOffset = kNoOffset;
  /// Byte in that segment's .log file; −1: not known.
  int64_t position = -1;

  bool offsetOnly() const noexcept { return segmentBaseOffset == kNoOffset; }
  /// False if either place is unknown.
  bool onOlderSegment(const LogOffsetMetadata& other) const noexcept {
    return !offsetOnly() && !other.offsetOnly() && segmentBaseOffset < other.segmentBaseOffset;
  }
  bool onSameSegment(const LogOffsetMetadata& other) const noexcept {
    return !offsetOnly() && segmentBaseOffset == other.segmentBaseOffset;
  }
  /// Bytes from `before` to here; both on one segment.
  int64_t bytesSince(const LogOffsetMetadata& before) const noexcept { return position - before.position; }

  friend bool operator==(const LogOffsetMetadata&, const LogOffsetMetadata&) = default;
};

/// What came of an append.
struct AppendInfo {
  /// Offsets of what was appended; of the first attempt if it was a duplicate. kNoOffset: nothing was in it.
  Offset firstOffset = kNoOffset;
  Offset lastOffset = kNoOffset;
  /// Of the last batch.
  LeaderEpoch lastLeaderEpoch;
  int64_t maxTimestampMs = records::kNoTimestamp;
  /// Set under LogAppendTime, else −1.
  int64_t logAppendTimeMs = records::kNoTimestamp;
  Offset logStartOffset{0};
  int64_t recordCount = 0;
  int64_t sizeInBytes = 0;
  /// A producer's retry of a batch that is in the log already; nothing was appended.
  bool duplicate = false;
};

/// Stands for one question whether a partition is in a producer's transaction; that the transaction ended since, makes
/// it void. Counts from 1.
using VerificationGuard = uint64_t;
/// No question was needed: the transaction was open here.
inline constexpr VerificationGuard kWasOpen = 0;
/// Nobody asked: the broker did not lead the partition when the coordinator was to be asked. Should it lead it by now,
/// the batch has to come again.
inline constexpr VerificationGuard kNotAsked = UINT64_MAX;

struct AppendOptions {
  records::Origin origin = records::Origin::Client;
  /// A batch of a transaction that is not open here is taken only with the guard of its producer. Nothing: it is taken
  /// without.
  std::optional<VerificationGuard> verification = std::nullopt;
  /// An earlier batch of the producer was refused and is to come again: if nobody knows the producer, it may not begin
  /// with this one.
  bool earlierRefused = false;
  /// Of the coordinator that a marker comes from: from version 2 on its epoch is above that of all it ends.
  int16_t transactionVersion = 0;
  /// Version of the Produce request.
  int16_t apiVersion = INT16_MAX;
  /// Lent for decompression; null: a buffer is made for the call.
  ByteVector* scratch = nullptr;
};

/// Up to where a read may go.
enum class FetchIsolation : uint8_t {
  LogEnd,         ///< replicas
  HighWatermark,  ///< read_uncommitted
  Committed,      ///< read_committed: the last stable offset
};

/// A transaction that a read_committed reader leaves out (FetchResponse's aborted transactions).
struct AbortedTransaction {
  ProducerId producerId;
  Offset firstOffset;
  friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
};

/// Part of one segment. Starts with the whole batch that holds the offset asked for; may end inside a batch.
struct ReadResult {
  /// The offset asked for and the place where its batch starts.
  LogOffsetMetadata start;
  /// Empty (no file, length 0): nothing there below the bound, or nothing fits.
  platform::FileSlice slice;
  /// The first batch is larger than what was allowed, and is cut off.
  bool firstBatchIncomplete = false;
  /// Only for FetchIsolation::Committed.
  std::vector<AbortedTransaction> abortedTransactions;
};

/// The four ends of a log, true at one moment.
struct OffsetSnapshot {
  Offset logStartOffset{0};
  LogOffsetMetadata logEndOffset;
  LogOffsetMetadata highWatermark;
  LogOffsetMetadata lastStableOffset;
};

/// Answer to ListOffsets: −1/−1 in an empty optional's place.
struct TimestampAndOffset {
  int64_t timestampMs = records::kNoTimestamp;
  Offset offset = kNoOffset;
  LeaderEpoch leaderEpoch;
  friend bool operator==(const TimestampAndOffset&, const TimestampAndOffset&) = default;
};

/// The timestamps of ListOffsets that mean a place rather than a time.
inline constexpr int64_t kLatestTimestamp = -1;
inline constexpr int64_t kEarliestTimestamp = -2;
inline constexpr int64_t kMaxTimestamp = -3;
inline constexpr int64_t kEarliestLocalTimestamp = -4;
inline constexpr int64_t kLatestTieredTimestamp = -5;

/// Where an epoch ended (OffsetForLeaderEpoch): {none, −1} if unknown.
struct EpochEndOffset {
  LeaderEpoch epoch;
  Offset endOffset = kNoOffset;
  friend bool operator==(const EpochEndOffset&, const EpochEndOffset&) = default;
};

/// One entry of a leader epoch cache: the epoch and the first offset written in it.
struct EpochEntry {
  LeaderEpoch epoch;
  Offset startOffset;
  friend bool operator==(const EpochEntry&, const EpochEntry&) = default;
};

/// A segment as a view shows it.
struct SegmentInfo {
  Offset baseOffset;
  int64_t sizeInBytes = 0;
  int64_t offsetIndexEntries = 0;
  int64_t timeIndexEntries = 0;
  /// −1: no record has one.
  int64_t maxTimestampMs = records::kNoTimestamp;
  bool active = false;
};

/// A log as its last change left it, for whoever may not wait for the disk.
struct LogLook {
  struct SegmentSize {
    Offset baseOffset;
    int64_t sizeInBytes = 0;
  };
  OffsetSnapshot ends;
  int64_t sizeInBytes = 0;
  /// The last is the active one.
  std::vector<SegmentSize> segments;
};

/// An entry of the offset index: `offset` is the last offset of the batch that starts at byte `position`.
struct OffsetIndexEntry {
  Offset offset;
  int64_t position = 0;
  friend bool operator==(const OffsetIndexEntry&, const OffsetIndexEntry&) = default;
};

/// An entry of the time index: no record up to `offset` has a larger timestamp.
struct TimeIndexEntry {
  int64_t timestampMs = records::kNoTimestamp;
  Offset offset;
  friend bool operator==(const TimeIndexEntry&, const TimeIndexEntry&) = default;
};

/// A batch as a view shows it.
struct BatchInfo {
  Offset segmentBaseOffset;
  int64_t position = 0;
  records::BatchHeader header;
};

/// A producer as DescribeProducers tells it.
struct ProducerInfo {
  ProducerId producerId;
  ProducerEpoch producerEpoch;
  int32_t lastSequence = records::kNoSequence;
  int64_t lastTimestampMs = records::kNoTimestamp;
  int32_t coordinatorEpoch = -1;
  Offset currentTransactionStartOffset = kNoOffset;
  friend bool operator==(const ProducerInfo&, const ProducerInfo&) = default;
};

}  // namespace tidemark::log
