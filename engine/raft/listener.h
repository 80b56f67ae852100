#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "raft/types.h"

namespace tidemark::raft {

/// One committed batch of the metadata log. Views are valid during the call.
struct CommittedBatch {
  Offset baseOffset;
  Offset lastOffset;
  LeaderEpoch epoch;
  /// When the leader appended it, Unix milliseconds.
  int64_t appendTimestampMs = -1;
  int32_t sizeInBytes = 0;
  /// A control batch is the quorum's own business: it has no records here, only offsets.
  bool isControl = false;
  /// The values of its records in order: framed metadata records. Record i is at baseOffset + i.
  std::vector<ByteView> records;
};

/// A snapshot as a listener reads it: metadata records without the quorum's control records.
class SnapshotReader {
 public:
  virtual ~SnapshotReader() = default;
  virtual OffsetAndEpoch id() const = 0;
  virtual int64_t lastContainedLogTimestampMs() const = 0;
  /// The next batch of records, none at the end. Views are valid until the next call.
  virtual Result<std::optional<std::vector<ByteView>>> next() = 0;
};

/// Whoever follows the metadata log: the controller, the broker's metadata loader. Called on the node's executor, in
/// the log's order, without gaps; must not block and must not call back into the node but by its thread-safe functions.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Everything in `batches` is committed.
  virtual void onCommit(std::span<const CommittedBatch> batches) = 0;
  /// Forget what was applied and start from this; the next commit is at its end offset. Never on a leader (K7).
  virtual void onLoadSnapshot(SnapshotReader& reader) = 0;
  /// Another leader or epoch. If this node leads, it is told only after everything before its epoch was given to
  /// onCommit, so the listener is at the log's end. A leader that resigned is told at once that its epoch has no
  /// leader; what it appended and did not see committed may or may not come.
  virtual void onLeaderChange(LeaderAndEpoch leader) = 0;
  /// The node stops; nothing follows.
  virtual void onShutdown() {}
};

}  // namespace tidemark::raft
