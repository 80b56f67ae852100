#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/log_types.h"

namespace tidemark::log {

/// Which leader epoch began at which offset (Kafka's LeaderEpochFileCache, KIP-101), rising strictly in both. Kept in
/// memory; its owner writes encode() to `leader-epoch-checkpoint` when `dirty()`: the file can be rebuilt from the
/// batches behind the recovery point, so it must be on disk before that point moves. Guarded by the log's lock,
/// and in none of what the log publishes: whoever asks for an epoch waits for a change under way.
class EpochCache {
 public:
  /// An epoch begins at `startOffset`. Entries that contradict it (same or later epoch, same or later offset) go.
  /// Returns whether anything changed.
  bool assign(LeaderEpoch epoch, Offset startOffset);

  /// The rule of OffsetForLeaderEpoch: unknown → {none, −1}; the latest → its epoch and `logEndOffset`; before the
  /// first → the epoch asked for and the first start; else the epoch at or below it and the start of the next.
  EpochEndOffset endOffsetFor(LeaderEpoch epoch, Offset logEndOffset) const;

  /// Forgets epochs that begin at or after `endOffset`.
  void truncateFromEnd(Offset endOffset);
  /// Forgets epochs that end at or before `startOffset`; the one that holds it begins there now.
  void truncateFromStart(Offset startOffset);
  void clear();

  std::optional<LeaderEpoch> latestEpoch() const;
  std::optional<EpochEntry> earliest() const;
  /// The epoch that the record at `offset` was (or would be) written in.
  std::optional<LeaderEpoch> epochForOffset(Offset offset) const;
  /// The largest epoch below `epoch`.
  std::optional<LeaderEpoch> previousEpoch(LeaderEpoch epoch) const;
  const std::vector<EpochEntry>& entries() const noexcept { return entries_; }

  /// Changed since the last markClean().
  bool dirty() const noexcept { return dirty_; }
  void markClean() noexcept { dirty_ = false; }

  /// The text of `leader-epoch-checkpoint`.
  std::string encode() const;
  /// CorruptMessage if the text is not one: the log is then scanned instead.
  static Result<EpochCache> decode(std::string_view text);

 private:
  std::vector<EpochEntry> entries_;
  bool dirty_ = false;
};

}  // namespace tidemark::log
