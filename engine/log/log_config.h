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
  /// `segment.ms`
  int64_t segmentMs = 604'800'000;
  /// `segment.jitter.ms`: each segment rolls up to so much earlier.
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
  /// `max.compaction.lag.ms`
  int64_t maxCompactionLagMs = INT64_MAX;
  /// `retention.ms`
  int64_t retentionMs = 604'800'000;
  /// `retention.bytes`
  int64_t retentionBytes = -1;
  /// `flush.messages`: records between two flushes.
  int64_t flushMessages = INT64_MAX;
  /// `producer.id.expiration.ms` (a broker's setting): idempotence state of a producer silent for so long is dropped.
  int64_t producerIdExpirationMs = 86'400'000;

  /// How old, by timestamps, a segment may grow before it is closed.
  int64_t rollAfterMs() const noexcept {
    return compact && maxCompactionLagMs < segmentMs ? maxCompactionLagMs : segmentMs;
  }
  records::ProduceOptions produceOptions() const noexcept;
};

}  // namespace tidemark::log
