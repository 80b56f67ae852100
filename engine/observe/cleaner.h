#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "log/cleaner/cleaner_types.h"
#include "platform/clock.h"

namespace tidemark::observe {

/// What the last cleaning of a log did.
using CleanerPassSnapshot = log::CleanedPass;

/// A compacted log of one broker: from its start to `firstDirty` it is clean, from there to `firstUncleanable` dirty,
/// and what follows cannot be cleaned yet (active segment, not stable, or too young).
struct CleanerSnapshot {
  NodeId broker;
  TopicPartition partition;
  Offset logStart;
  Offset firstDirty;
  Offset firstUncleanable;
  Offset logEnd;
  int64_t cleanBytes = 0;
  int64_t dirtyBytes = 0;
  int64_t uncleanableBytes = 0;
  /// Dirty of clean and dirty bytes, 0 to 1, and what it must exceed (`min.cleanable.dirty.ratio`).
  double dirtyRatio = 0;
  double minDirtyRatio = 0;
  /// A dirty record is older than `max.compaction.lag.ms`.
  bool overdue = false;
  bool running = false;
  /// Since the broker started.
  int64_t passes = 0;
  std::optional<CleanerPassSnapshot> lastPass;
  /// `delete.retention.ms`
  platform::Duration deleteRetention{};
  /// When time alone will make it due; empty: it will not.
  std::optional<platform::WallTime> lookAgainAt;
  /// Why it is set aside, in the engine's words; empty: it is not.
  std::string uncleanableReason;
};

}  // namespace tidemark::observe
