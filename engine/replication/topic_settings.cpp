#include "replication/topic_settings.h"

#include <string>

namespace tidemark::replication {

log::LogConfig toLogConfig(const config::TopicConfig& topic, int64_t producerIdExpirationMs) {
  log::LogConfig config;
  config.segmentBytes = topic.segmentBytes;
  config.preallocate = topic.preallocate;
  config.segmentMs = topic.segmentRoll.count();
  config.segmentJitterMs = topic.segmentJitter.count();
  config.segmentIndexBytes = topic.segmentIndexBytes;
  config.indexIntervalBytes = topic.indexIntervalBytes;
  config.maxMessageBytes = topic.maxMessageBytes;
  config.maxDecompressedMessageBytes = topic.maxDecompressedMessageBytes;
  config.timestampType = topic.timestampType == config::TimestampType::LogAppendTime
                             ? records::TimestampType::LogAppendTime
                             : records::TimestampType::CreateTime;
  config.timestampBeforeMaxMs = topic.timestampBeforeMax.count();
  config.timestampAfterMaxMs = topic.timestampAfterMax.count();
  if (topic.compressionType == "uncompressed") {
    config.compression.codec = records::Codec::None;
  } else if (topic.compressionType == "gzip") {
    config.compression = {records::Codec::Gzip, topic.gzipLevel};
  } else if (topic.compressionType == "snappy") {
    config.compression.codec = records::Codec::Snappy;
  } else if (topic.compressionType == "lz4") {
    config.compression = {records::Codec::Lz4, topic.lz4Level};
  } else if (topic.compressionType == "zstd") {
    config.compression = {records::Codec::Zstd, topic.zstdLevel};
  }
  config.compact = topic.cleanupCompact;
  config.remove = topic.cleanupDelete;
  config.minCompactionLagMs = topic.minCompactionLag.count();
  config.maxCompactionLagMs = topic.maxCompactionLag.count();
  config.minCleanableDirtyRatio = topic.minCleanableDirtyRatio;
  config.deleteRetentionMs = topic.deleteRetention.count();
  config.fileDeleteDelayMs = topic.fileDeleteDelay.count();
  config.retentionMs = topic.retention.count();
  config.retentionBytes = topic.retentionBytes;
  config.flushMessages = topic.flushMessages;
  config.flushMs = topic.flushInterval.count();
  config.producerIdExpirationMs = producerIdExpirationMs;
  return config;
}

log::CleanerConfig toCleanerConfig(const config::BrokerConfig& broker) {
  log::CleanerConfig config;
  config.enabled = broker.getBool("log.cleaner.enable");
  config.threads = broker.getInt("log.cleaner.threads");
  config.dedupeBufferBytes = broker.getLong("log.cleaner.dedupe.buffer.size");
  config.loadFactor = broker.getDouble("log.cleaner.io.buffer.load.factor");
  config.ioBufferBytes = broker.getInt("log.cleaner.io.buffer.size");
  config.maxBytesPerSecond = broker.getDouble("log.cleaner.io.max.bytes.per.second");
  config.backoff = broker.getMs("log.cleaner.backoff.ms");
  return config;
}

}  // namespace tidemark::replication
