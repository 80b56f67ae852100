#pragma once

#include <cstdint>

#include "records/batch.h"
#include "records/validator.h"

namespace tidemark::log {

/// The settings of one topic that its logs obey, by their Kafka names, with Kafka's defaults. Times in milliseconds,
/// sizes in bytes, −1: no limit. A value: a log holds a shared copy and swaps it when the topic's settings change.
struct LogConfig {
  /// `segment.bytes`
  int32_t segmentBytes = 1 << 30;
  /// `preallocate`: a segment's `.log` is made as long as a segment may be and cut when it is closed.
  bool preallocate = false;
  /// `segment.ms`
  int64_t segmentMs = 604'800'000;
  /// `segment.jitter.ms`: each segment rolls up to so much earlier, but not before it has an age.
  int64_t segmentJitterMs = 0;
  /// `segment.index.bytes`
  int32_t segmentIndexBytes = 10 << 20;
  /// `index.interval.bytes`
  int32_t indexIntervalBytes = 4096;
  /// `max.message.bytes`
  int32_t maxMessageBytes = 1048588;
  /// `max.decompressed.message.bytes`
  int64_t maxDecompressedMessageBytes = 2147483639;
  /// `message.timestamp.type`
  records::TimestampType timestampType = records::TimestampType::CreateTime;
  /// `message.timestamp.before.max.ms`
  int64_t timestampBeforeMaxMs = INT64_MAX;
  /// `message.timestamp.after.max.ms`
  int64_t timestampAfterMaxMs = 3'600'000;
  /// `compression.type` and its level
  records::TopicCompression compression;
  /// `cleanup.policy`
  bool compact = false;
  bool remove = true;
  /// `min.compaction.lag.ms`: younger records are not cleaned.
  int64_t minCompactionLagMs = 0;
  /// `max.compaction.lag.ms`: older ones are, however little there is.
  int64_t maxCompactionLagMs = INT64_MAX;
  /// `min.cleanable.dirty.ratio`: a log is cleaned once more of it than this is dirty.
  double minCleanableDirtyRatio = 0.5;
  /// `delete.retention.ms`: how long a tombstone stays after the first cleaning that saw it.
  int64_t deleteRetentionMs = 86'400'000;
  /// `file.delete.delay.ms`: between a segment's end and the removal of its files.
  int64_t fileDeleteDelayMs = 60'000;
  /// `retention.ms`
  int64_t retentionMs = 604'800'000;
  /// `retention.bytes`
  int64_t retentionBytes = -1;
  /// `flush.messages`: records between two flushes.
  int64_t flushMessages = INT64_MAX;
  /// `flush.ms`: how long a record may wait for a flush.
  int64_t flushMs = INT64_MAX;
  /// `producer.id.expiration.ms` (a broker's setting): idempotence state of a producer silent for so long is dropped.
  int64_t producerIdExpirationMs = 86'400'000;

  /// How old, by timestamps, a segment may grow before it is closed.
  int64_t rollAfterMs() const noexcept {
    return compact && maxCompactionLagMs < segmentMs ? maxCompactionLagMs : segmentMs;
  }
  records::ProduceOptions produceOptions() const noexcept;
};

}  // namespace tidemark::log
