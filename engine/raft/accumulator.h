#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace tidemark::raft {

/// Records that a leader was given and has not appended yet. Offsets are promised when records come in; each group is
/// appended whole, in one batch. Not thread-safe: its owner's lock guards it.
class Accumulator {
 public:
  /// Most bytes that may wait.
  static constexpr size_t kMaxWaitingBytes = 64 * 1024 * 1024;

  /// This node leads `epoch` and the log ends at `next`.
  void open(LeaderEpoch epoch, Offset next);
  /// It does not lead any more: what waits is dropped.
  void close();
  bool isOpen() const noexcept { return epoch_.has_value(); }
  std::optional<LeaderEpoch> epoch() const noexcept { return epoch_; }
  Offset nextOffset() const noexcept { return next_; }
  bool empty() const noexcept { return groups_.empty(); }
  /// Enough for a batch: worth appending without further waiting.
  bool isFull() const noexcept;

  /// The offset of the last of `records`. NotController, RecordListTooLarge, ThrottlingQuotaExceeded.
  Result<Offset> add(LeaderEpoch epoch, std::vector<ByteVector> records);

  /// Batches in the order of their offsets, with offsets and epoch set; groups share a batch while they fit.
  std::vector<ByteVector> drain(int64_t nowMs);

 private:
  struct Group {
    std::vector<ByteVector> records;
    size_t bytes = 0;
  };
  std::optional<LeaderEpoch> epoch_;
  Offset next_{0};
  /// Offset of the first record that waits.
  Offset first_{0};
  std::deque<Group> groups_;
  size_t bytes_ = 0;
};

}  // namespace tidemark::raft
