#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "log/cleaner/cleanable.h"
#include "platform/clock.h"

namespace tidemark::log {

/// The broker's settings of the cleaner, by their Kafka names, with Kafka's defaults. May change at run time.
struct CleanerConfig {
  /// `log.cleaner.enable`
  bool enabled = true;
  /// `log.cleaner.threads`: logs that are cleaned at one time.
  int threads = 1;
  /// `log.cleaner.dedupe.buffer.size`: memory of the offset maps of all threads together, bytes.
  int64_t dedupeBufferBytes = 128 << 20;
  /// `log.cleaner.io.buffer.load.factor`: how full a map may get.
  double loadFactor = 0.9;
  /// `log.cleaner.io.buffer.size`: bytes read at a time, of all threads together.
  int32_t ioBufferBytes = 512 << 10;
  /// `log.cleaner.io.max.bytes.per.second`, read and written together.
  double maxBytesPerSecond = 1.7976931348623157e308;
  /// `log.cleaner.backoff.ms`: when a log whose cleaning failed for want of disk is tried again.
  platform::Duration backoff = std::chrono::seconds(15);
  friend bool operator==(const CleanerConfig&, const CleanerConfig&) = default;
};

/// What one pass over one log did.
struct CleanedPass {
  platform::WallTime startedAt{};
  platform::Duration took{};
  /// Of that, how long the throttle held it back.
  platform::Duration throttled{};
  /// Dirty offsets whose keys were looked at: [firstDirty, endOffset).
  Offset firstDirty;
  Offset endOffset;
  /// Keys in the offset map, of so many that fit.
  int64_t keys = 0;
  int64_t mapSlots = 0;
  /// Records of the segments that were written anew.
  int64_t recordsRead = 0;
  int64_t recordsKept = 0;
  /// Tombstones that stay until their horizon, and those that went.
  int64_t tombstonesKept = 0;
  int64_t tombstonesDropped = 0;
  /// Transaction markers that went.
  int64_t markersDropped = 0;
  /// Records without a key, which a compacted log should not have: they went.
  int64_t recordsWithoutKey = 0;
  int64_t bytesBefore = 0;
  int64_t bytesAfter = 0;
  int segmentsBefore = 0;
  int segmentsAfter = 0;
  /// The earliest delete horizon among the batches that were left; nothing: none has one.
  std::optional<platform::WallTime> earliestHorizon;

  int64_t recordsDropped() const noexcept { return recordsRead - recordsKept; }
};

/// Where a compacted log stands.
struct CleanerStatus {
  TopicPartition partition;
  Offset logStart;
  Offset logEnd;
  CleanPlan plan;
  /// The topic's settings, as far as they are about this.
  double minDirtyRatio = 0.5;
  int64_t deleteRetentionMs = 0;
  bool running = false;
  /// Passes since the broker started.
  int64_t passes = 0;
  std::optional<CleanedPass> lastPass;
  /// Why it is set aside; empty: it is not.
  std::string uncleanableReason;
};

}  // namespace tidemark::log
