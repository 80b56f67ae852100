#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config_table.h"
#include "config/config_value.h"

namespace tidemark::config {

/// The layers under a topic's (or group's) own configuration, the strongest first. Borrowed; none may be null.
struct BrokerLayers {
  const ConfigMap& dynamicBroker;   ///< ConfigRecords of this broker
  const ConfigMap& dynamicDefault;  ///< ConfigRecords of broker "" (cluster-wide)
  const ConfigMap& staticBroker;    ///< the properties file
};

/// One place where a value for a key was found.
struct ConfigSynonym {
  std::string name;
  std::optional<std::string> value;
  ConfigSource source = ConfigSource::Unknown;
};

/// What is in force for a key: the first of `synonyms`, which go on with what it covers, down to the default.
struct EffectiveConfig {
  const ConfigDefinition* definition = nullptr;
  std::optional<std::string> value;
  ConfigSource source = ConfigSource::DefaultConfig;
  std::vector<ConfigSynonym> synonyms;
};

/// A topic key through all layers: topic override > dynamic per-broker > dynamic cluster default > static broker >
/// default, with the broker synonyms and their factors (log.retention.hours × 3600000 = retention.ms).
EffectiveConfig effectiveTopicConfig(const ConfigDefinition& key, const ConfigMap& topic, const BrokerLayers& layers);
/// The same for a group key.
EffectiveConfig effectiveGroupConfig(const ConfigDefinition& key, const ConfigMap& group, const BrokerLayers& layers);
/// A broker key through the broker layers.
EffectiveConfig effectiveBrokerConfig(const ConfigDefinition& key, const BrokerLayers& layers);

/// Checks the whole of a topic's own configuration (Kafka's LogConfig.validate): known keys, each value, and rules
/// between them.
Result<void> validateTopicConfig(const ConfigMap& topic);
/// The same for a client-metrics subscription (keys and values).
Result<void> validateClientMetricsConfig(const ConfigMap& subscription);

enum class TimestampType : uint8_t { CreateTime, LogAppendTime };

/// Everything that holds for one topic, typed. −1 of a size or time that Kafka reads as "no limit" stays −1.
struct TopicConfig {
  using milliseconds = std::chrono::milliseconds;

  bool cleanupCompact = false;
  bool cleanupDelete = true;
  std::string compressionType;  ///< producer, uncompressed, gzip, snappy, lz4, zstd
  int32_t gzipLevel = -1;
  int32_t lz4Level = 9;
  int32_t zstdLevel = 3;
  milliseconds deleteRetention{};
  milliseconds fileDeleteDelay{};
  int64_t flushMessages = 0;
  milliseconds flushInterval{};
  int32_t indexIntervalBytes = 0;
  milliseconds maxCompactionLag{};
  milliseconds minCompactionLag{};
  double minCleanableDirtyRatio = 0.5;
  int32_t maxMessageBytes = 0;
  int32_t maxDecompressedMessageBytes = 0;
  milliseconds timestampAfterMax{};
  milliseconds timestampBeforeMax{};
  TimestampType timestampType = TimestampType::CreateTime;
  int32_t minInsyncReplicas = 1;
  bool preallocate = false;
  int64_t retentionBytes = -1;
  milliseconds retention{};
  int32_t segmentBytes = 0;
  int32_t segmentIndexBytes = 0;
  milliseconds segmentJitter{};
  milliseconds segmentRoll{};  ///< segment.ms
  bool uncleanLeaderElection = false;
  bool remoteStorageEnable = false;
  std::vector<std::string> leaderThrottledReplicas;
  std::vector<std::string> followerThrottledReplicas;

  /// From what is set for the topic and the layers below. Values that do not parse (they were checked when they were
  /// set) fall back to the next layer.
  static TopicConfig resolve(const ConfigMap& topic, const BrokerLayers& layers);
  friend bool operator==(const TopicConfig&, const TopicConfig&) = default;
};

}  // namespace tidemark::config
