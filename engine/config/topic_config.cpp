#include "config/topic_config.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/invariant.h"

namespace tidemark::config {
namespace {

const std::string* lookUp(const ConfigMap& map, std::string_view key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

void addFrom(std::vector<ConfigSynonym>& out, const ConfigMap& map, std::string_view key, ConfigSource source) {
  if (const std::string* value = lookUp(map, key)) out.push_back({std::string(key), *value, source});
}

/// Every value of the broker keys behind a topic's or group's key (or of one broker key), the strongest first.
std::vector<ConfigSynonym> brokerValues(const std::vector<BrokerSynonym>& names, const BrokerLayers& layers) {
  std::vector<ConfigSynonym> found;
  for (const BrokerSynonym& name : names) {
    addFrom(found, layers.dynamicBroker, name.name, ConfigSource::DynamicBrokerConfig);
  }
  for (const BrokerSynonym& name : names) {
    addFrom(found, layers.dynamicDefault, name.name, ConfigSource::DynamicDefaultBrokerConfig);
  }
  for (const BrokerSynonym& name : names) {
    addFrom(found, layers.staticBroker, name.name, ConfigSource::StaticBrokerConfig);
  }
  for (const BrokerSynonym& name : names) {
    const ConfigDefinition* definition = configTable(ConfigLevel::Broker).find(name.name);
    if (definition && definition->defaultValue) {
      found.push_back({std::string(name.name), std::string(*definition->defaultValue), ConfigSource::DefaultConfig});
    }
  }
  return found;
}

/// A broker's value in the unit of the topic's key: times the factor; below zero means unlimited and stays −1.
std::optional<std::string> scaled(const std::optional<std::string>& value, int64_t factor) {
  if (factor == 1 || !value) return value;
  const ConfigDefinition number{.name = "", .type = ConfigType::Long};
  const Result<ConfigValue> parsed = parseValue(number, *value);
  if (!parsed) return std::nullopt;
  const int64_t raw = std::get<int64_t>(*parsed);
  if (raw < 0) return "-1";
  int64_t product = 0;
  if (__builtin_mul_overflow(raw, factor, &product)) product = std::numeric_limits<int64_t>::max();
  return std::to_string(product);
}

EffectiveConfig effective(const ConfigDefinition& key, const ConfigMap& own, ConfigSource ownSource,
                          const BrokerLayers& layers) {
  EffectiveConfig result{.definition = &key};
  addFrom(result.synonyms, own, key.name, ownSource);
  const bool isSet = !result.synonyms.empty();
  for (ConfigSynonym& synonym : brokerValues(key.brokerSynonyms, layers)) result.synonyms.push_back(std::move(synonym));
  if (result.synonyms.empty()) {
    if (key.defaultValue) result.value = std::string(*key.defaultValue);
    return result;
  }
  const ConfigSynonym& first = result.synonyms.front();
  result.source = first.source;
  result.value = first.value;
  if (!isSet) {
    const auto at = std::ranges::find(key.brokerSynonyms, std::string_view(first.name), &BrokerSynonym::name);
    result.value = scaled(first.value, at->factor);
  }
  return result;
}

/// The first value of a topic's key that parses, from its own down to the default.
ConfigValue topicValue(std::string_view name, const ConfigMap& topic, const BrokerLayers& layers) {
  const ConfigDefinition* key = configTable(ConfigLevel::Topic).find(name);
  TIDEMARK_INVARIANT(key != nullptr, fmt::format("no topic key is called {}", name));
  if (const std::string* own = lookUp(topic, name)) {
    if (Result<ConfigValue> value = parseValue(*key, *own)) return std::move(*value);
  }
  for (const ConfigSynonym& synonym : brokerValues(key->brokerSynonyms, layers)) {
    const auto at = std::ranges::find(key->brokerSynonyms, std::string_view(synonym.name), &BrokerSynonym::name);
    const std::optional<std::string> text = scaled(synonym.value, at->factor);
    if (!text) continue;
    // Broker keys and topic keys differ in their bounds (log.segment.bytes of internal topics): only the type counts.
    const ConfigDefinition untested{.name = key->name, .type = key->type};
    if (Result<ConfigValue> value = parseValue(untested, *text)) return std::move(*value);
  }
  if (!key->defaultValue) return {};
  return parseValue(*key, *key->defaultValue).value_or(ConfigValue());
}

}  // namespace

EffectiveConfig effectiveTopicConfig(const ConfigDefinition& key, const ConfigMap& topic, const BrokerLayers& layers) {
  return effective(key, topic, ConfigSource::TopicConfig, layers);
}

EffectiveConfig effectiveGroupConfig(const ConfigDefinition& key, const ConfigMap& group, const BrokerLayers& layers) {
  return effective(key, group, ConfigSource::GroupConfig, layers);
}

EffectiveConfig effectiveBrokerConfig(const ConfigDefinition& key, const BrokerLayers& layers) {
  EffectiveConfig result{.definition = &key};
  result.synonyms = brokerValues({{key.name, 1}}, layers);
  if (!result.synonyms.empty()) {
    result.value = result.synonyms.front().value;
    result.source = result.synonyms.front().source;
  }
  return result;
}

Result<void> validateTopicConfig(const ConfigMap& topic) {
  const ConfigTable& table = configTable(ConfigLevel::Topic);
  for (const auto& [name, text] : topic) {
    const ConfigDefinition* key = table.find(name);
    if (!key) return fail(ErrorCode::InvalidConfig, fmt::format("Unknown topic config name: {}", name));
    TIDEMARK_TRY(parseValue(*key, text));
  }
  static const ConfigMap kNothing;
  const TopicConfig config = TopicConfig::resolve(topic, {kNothing, kNothing, kNothing});
  if (config.minCompactionLag > config.maxCompactionLag) {
    return fail(ErrorCode::InvalidConfig,
                fmt::format("conflict topic config setting min.compaction.lag.ms ({}) > max.compaction.lag.ms ({})",
                            config.minCompactionLag.count(), config.maxCompactionLag.count()));
  }
  if (config.remoteStorageEnable) {
    return fail(ErrorCode::InvalidConfig,
                "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log "
                "storage.");
  }
  return {};
}

Result<void> validateClientMetricsConfig(const ConfigMap& subscription) {
  for (const auto& [name, text] : subscription) {
    const ConfigDefinition* key = configTable(ConfigLevel::ClientMetrics).find(name);
    if (!key) return fail(ErrorCode::InvalidConfig, fmt::format("Unknown client metrics configuration: {}", name));
    TIDEMARK_ASSIGN(const ConfigValue value, parseValue(*key, text));
    if (name == "interval.ms" && (std::get<int64_t>(value) < 100 || std::get<int64_t>(value) > 3600000)) {
      return fail(
          ErrorCode::InvalidConfig,
          fmt::format("Invalid value {} for interval.ms, interval must be between 100 and 3600000 (1 hour)", text));
    }
  }
  return {};
}

TopicConfig TopicConfig::resolve(const ConfigMap& topic, const BrokerLayers& layers) {
  const auto number = [&](std::string_view name) {
    const ConfigValue value = topicValue(name, topic, layers);
    return std::holds_alternative<int64_t>(value) ? std::get<int64_t>(value) : 0;
  };
  const auto int32 = [&](std::string_view name) { return static_cast<int32_t>(number(name)); };
  const auto ms = [&](std::string_view name) { return milliseconds(number(name)); };
  const auto flag = [&](std::string_view name) { return std::get<bool>(topicValue(name, topic, layers)); };
  const auto list = [&](std::string_view name) {
    return std::get<std::vector<std::string>>(topicValue(name, topic, layers));
  };
  const auto text = [&](std::string_view name) { return std::get<std::string>(topicValue(name, topic, layers)); };

  const std::vector<std::string> policy = list("cleanup.policy");
  TopicConfig config;
  config.cleanupCompact = std::ranges::find(policy, "compact") != policy.end();
  config.cleanupDelete = std::ranges::find(policy, "delete") != policy.end();
  config.compressionType = text("compression.type");
  config.gzipLevel = int32("compression.gzip.level");
  config.lz4Level = int32("compression.lz4.level");
  config.zstdLevel = int32("compression.zstd.level");
  config.deleteRetention = ms("delete.retention.ms");
  config.fileDeleteDelay = ms("file.delete.delay.ms");
  config.flushMessages = number("flush.messages");
  config.flushInterval = ms("flush.ms");
  config.indexIntervalBytes = int32("index.interval.bytes");
  config.maxCompactionLag = ms("max.compaction.lag.ms");
  config.minCompactionLag = ms("min.compaction.lag.ms");
  config.minCleanableDirtyRatio = std::get<double>(topicValue("min.cleanable.dirty.ratio", topic, layers));
  config.maxMessageBytes = int32("max.message.bytes");
  config.maxDecompressedMessageBytes = int32("max.decompressed.message.bytes");
  config.timestampAfterMax = ms("message.timestamp.after.max.ms");
  config.timestampBeforeMax = ms("message.timestamp.before.max.ms");
  config.timestampType =
      text("message.timestamp.type") == "LogAppendTime" ? TimestampType::LogAppendTime : TimestampType::CreateTime;
  config.minInsyncReplicas = int32("min.insync.replicas");
  config.preallocate = flag("preallocate");
  config.retentionBytes = number("retention.bytes");
  config.retention = ms("retention.ms");
  config.segmentBytes = int32("segment.bytes");
  if (lookUp(topic, "internal.segment.bytes")) {
    if (const int32_t bytes = int32("internal.segment.bytes"); bytes > 0) config.segmentBytes = bytes;
  }
  config.segmentIndexBytes = int32("segment.index.bytes");
  config.segmentJitter = ms("segment.jitter.ms");
  config.segmentRoll = ms("segment.ms");
  config.uncleanLeaderElection = flag("unclean.leader.election.enable");
  config.remoteStorageEnable = flag("remote.storage.enable");
  config.leaderThrottledReplicas = list("leader.replication.throttled.replicas");
  config.followerThrottledReplicas = list("follower.replication.throttled.replicas");
  return config;
}

}  // namespace tidemark::config
