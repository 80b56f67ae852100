#pragma once

#include <optional>
#include <vector>

#include "models/timeline_past.h"
#include "observe/snapshot.h"

namespace tidemark::widgets {

/// Something that broke a log off, or began anew in it: to be marked where it happened.
struct LogBreak {
  enum class What {
    /// A leader begins its epoch at `from`.
    EpochBegan,
    /// `broker` gave up [from, to), which its leader does not have.
    Truncated,
    /// [from, to) had been acknowledged to acks=all and is no more, since `broker` was elected uncleanly. Equal:
    /// whatever
    /// others had from there on is gone, and none of it is known to have been acknowledged.
    Lost,
  };
  What what = What::Truncated;
  NodeId broker = kNoNode;
  /// Of the leader under which it happened.
  LeaderEpoch epoch;
  Offset from;
  Offset to;
  platform::WallTime at;
  /// Its number in the history: the first one's, if several tell of one loss.
  uint64_t event = 0;
  int64_t count() const noexcept { return std::max<int64_t>(0, to - from); }
  friend bool operator==(const LogBreak&, const LogBreak&) = default;
};

/// What had happened to a partition by then, oldest first.
std::vector<LogBreak> breaksOf(const TimelinePartition& past, platform::WallTime by);

/// The highest watermark that had been seen by then: whatever lies below was acknowledged.
Offset highestSeen(const TimelinePartition& past, platform::WallTime by);

/// From which offset on the copy holds what is not in its leader's log: a batch of an older epoch where the leader has
/// a newer one already, or behind the leader's end. Nothing: as far as their batches are known they agree.
std::optional<Offset> partsFrom(const observe::PartitionSnapshot& partition, const observe::ReplicaSnapshot& copy);

}  // namespace tidemark::widgets
