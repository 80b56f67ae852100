#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "raft/types.h"

namespace tidemark::raft {

/// What the state machine may know about the log. Answers never change between two inputs but by the effects it asked
/// for.
class LogView {
 public:
  virtual ~LogView() = default;

  virtual Offset startOffset() const = 0;
  virtual Offset endOffset() const = 0;
  /// Epoch of the last record; of the snapshot the log starts at if it holds none; 0 for an empty log without one.
  virtual LeaderEpoch lastEpoch() const = 0;
  /// Records below this survive a power loss.
  virtual Offset syncedEndOffset() const = 0;
  /// Where `epoch` ends here: the largest epoch ≤ it that the log knows and the offset where the next one starts (the
  /// log's end for the last). An epoch below all it knows ends where the first one starts.
  virtual OffsetAndEpoch endOffsetForEpoch(LeaderEpoch epoch) const = 0;
  virtual std::optional<OffsetAndEpoch> earliestSnapshotId() const = 0;
  virtual std::optional<OffsetAndEpoch> latestSnapshotId() const = 0;

  OffsetAndEpoch end() const { return {endOffset(), lastEpoch()}; }
};

/// How a fetch position relates to the log (Kafka's ValidOffsetAndEpoch).
struct FetchPosition {
  enum class Kind : uint8_t { Valid, Diverging, Snapshot };
  Kind kind = Kind::Valid;
  /// Diverging: the last epoch both may share and where it ends here. Snapshot: the one to fetch.
  OffsetAndEpoch at;
};
FetchPosition validateFetchPosition(const LogView& log, Offset offset, LeaderEpoch lastFetchedEpoch);

/// Where a follower cuts its log when the leader says that it diverges at `diverging`.
Offset truncationOffset(const LogView& log, OffsetAndEpoch diverging);

/// A snapshot that is being written. Forgotten (its temporary file removed at the next start) unless freeze() succeeds.
class RawSnapshotWriter {
 public:
  virtual ~RawSnapshotWriter() = default;
  virtual OffsetAndEpoch id() const = 0;
  virtual uint64_t sizeInBytes() const = 0;
  virtual Result<void> append(ByteView bytes) = 0;
  /// Synced and renamed to its name: it is a snapshot from now on.
  virtual Result<void> freeze() = 0;
};

/// A finished snapshot; immutable. Any thread.
class RawSnapshot {
 public:
  virtual ~RawSnapshot() = default;
  virtual OffsetAndEpoch id() const = 0;
  virtual uint64_t sizeInBytes() const = 0;
  virtual Result<size_t> readAt(uint64_t position, MutableBytes into) const = 0;
  /// Where it lies, for messages.
  virtual const std::string& path() const = 0;
};

/// The metadata log with its snapshots. Owned by a RaftNode, used on its executor only, but for endOffsetForEpoch(),
/// createSnapshot() and openSnapshot(), which any thread may call. After an error of a write or a
/// sync the log may not be used any more: the node dies (invariants.md, "fsync fails").
class RaftLog : public LogView {
 public:
  /// Appends whole batches of this node's own making; sets base offsets and `epoch` in them. Returns the first offset.
  virtual Result<Offset> appendAsLeader(MutableBytes batches, LeaderEpoch epoch) = 0;
  /// Appends whole batches as the leader made them. CorruptMessage if one is damaged: nothing was appended then.
  virtual Result<void> appendAsFollower(ByteView batches) = 0;
  virtual Result<void> sync() = 0;
  /// A new leader's epoch starts at the log's end.
  virtual Result<void> beginEpoch(LeaderEpoch epoch) = 0;
  /// Drops everything at or above `offset`.
  virtual Result<void> truncateTo(Offset offset) = 0;
  /// If the latest snapshot lies above the log: empties the log and starts it at that snapshot. Whether it did.
  virtual Result<bool> truncateToLatestSnapshot() = 0;
  /// Whole batches from the one that holds `from` on, below `below`; at least one, then up to maxBytes. Empty at the
  /// end.
  virtual Result<SharedBytes> read(Offset from, Offset below, size_t maxBytes) const = 0;
  virtual void updateHighWatermark(Offset offset) = 0;

  /// Nothing if that snapshot exists already.
  virtual Result<std::unique_ptr<RawSnapshotWriter>> createSnapshot(OffsetAndEpoch id) = 0;
  /// SnapshotNotFound.
  virtual Result<std::shared_ptr<const RawSnapshot>> openSnapshot(OffsetAndEpoch id) const = 0;
  /// Removes snapshots older than `id` and what the log holds below `id` (K6: the log starts at the oldest one kept).
  virtual Result<void> deleteBefore(OffsetAndEpoch id) = 0;
  virtual std::vector<OffsetAndEpoch> snapshotIds() const = 0;
  /// Of the log, without snapshots.
  virtual uint64_t sizeInBytes() const = 0;

  virtual Result<void> close() = 0;
};

}  // namespace tidemark::raft
