#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "log/log_config.h"

namespace tidemark::log {

/// A segment as the decision what to clean needs it.
struct SegmentFacts {
  Offset baseOffset;
  int64_t sizeInBytes = 0;
  int64_t offsetIndexBytes = 0;
  int64_t timeIndexBytes = 0;
  /// Of its records, else when it was made; asked for only where the topic has a minimum lag.
  int64_t largestTimestampMs = 0;
  /// Max timestamp of its first batch, −1 if it has none; asked for only where the topic has a maximum lag.
  int64_t firstTimestampMs = -1;
};

struct CleanableFacts {
  Offset logStart;
  Offset logEnd;
  Offset lastStable;
  /// Where the last cleaning ended; nothing: never.
  std::optional<Offset> cleanedTo;
  /// All of them; the last is the active one.
  std::vector<SegmentFacts> segments;
};

/// Which part of a log could be cleaned now, and whether it should be (Kafka's LogToClean).
struct CleanPlan {
  Offset firstDirty;
  /// Base of the first segment that has to stay as it is.
  Offset firstUncleanable;
  /// Bytes of the segments before the first dirty offset's, and from there to the first uncleanable one.
  int64_t cleanBytes = 0;
  int64_t cleanableBytes = 0;
  /// Bytes from there on, the active segment's included.
  int64_t uncleanableBytes = 0;
  /// A dirty record is older than `max.compaction.lag.ms`.
  bool overdue = false;
  /// `overdue` or dirtier than `min.cleanable.dirty.ratio`, and there is something to clean.
  bool due = false;
  /// The checkpoint was outside the log: cleaning starts anew at the log start.
  bool checkpointWrong = false;
  /// When time alone may make it due (Unix milliseconds).
  std::optional<int64_t> lookAgainAtMs;

  /// Cleanable bytes of all that a pass would read; 0 for an empty log.
  double dirtyRatio() const noexcept;
};

/// By the rules of Kafka's LogCleanerManager: never past the active segment, the last stable offset, or a segment whose
/// records are younger than `min.compaction.lag.ms`.
CleanPlan planCleaning(const CleanableFacts& facts, const LogConfig& config, int64_t nowMs);

/// Neighbours that together fit into one segment, as [first, last) of `segments`: by size, by index size, and so that
/// relative offsets stay below 2³¹. `end`: one past the last offset of them all.
struct SegmentGroup {
  size_t first = 0;
  size_t last = 0;
  friend bool operator==(const SegmentGroup&, const SegmentGroup&) = default;
};
std::vector<SegmentGroup> groupSegments(std::span<const SegmentFacts> segments, const LogConfig& config, Offset end);

}  // namespace tidemark::log
