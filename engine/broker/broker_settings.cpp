#include "broker/broker_settings.h"

#include "broker/group_settings.h"
#include "config/config_table.h"
#include "records/codec.h"

namespace tidemark::broker {
namespace {

/// A codec by its number, as settings of internal topics name it.
records::Codec codecOf(const config::BrokerConfig& config, std::string_view key) {
  return records::codecByNumber(config.getInt(key)).value_or(records::Codec::None);
}

}  // namespace

int64_t rateLimit(const metadata::ConfigsImage& configs, NodeId self, std::string_view key) {
  const config::ConfigDefinition* definition = config::configTable(config::ConfigLevel::QuotaBroker).find(key);
  for (const config::ConfigMap* layer : {&configs.broker(self), &configs.clusterDefault()}) {
    const auto found = layer->find(key);
    if (found == layer->end()) continue;
    if (const auto value = config::parseValue(*definition, found->second);
        value && std::holds_alternative<int64_t>(*value))
      return std::get<int64_t>(*value);
  }
  return INT64_MAX;
}

bool isRackAware(const config::BrokerConfig& config, platform::Logger& log) {
  if (config.isNull("replica.selector.class")) return false;
  const std::string name = config.getString("replica.selector.class");
  if (name == "org.apache.kafka.common.replica.RackAwareReplicaSelector") return true;
  if (name != "org.apache.kafka.common.replica.LeaderSelector")
    log.warning("broker", "replica.selector.class={} is not known: consumers read from leaders", name);
  return false;
}

coordinator::GroupConfig groupConfig(const config::BrokerConfig& config, events::Recorder& recorder) {
  coordinator::GroupConfig group;
  group.minSessionTimeout = config.getMs("group.min.session.timeout.ms");
  group.maxSessionTimeout = config.getMs("group.max.session.timeout.ms");
  group.initialRebalanceDelay = config.getMs("group.initial.rebalance.delay.ms");
  group.maxGroupSize = config.getInt("group.max.size");
  group.offsetMetadataMax = static_cast<size_t>(config.getInt("offset.metadata.max.bytes"));
  group.offsetsRetention = std::chrono::minutes(config.getInt("offsets.retention.minutes"));
  group.offsetsRetentionCheckInterval = config.getMs("offsets.retention.check.interval.ms");
  group.commitTimeout = config.getMs("offsets.commit.timeout.ms");
  group.loadBufferSize = static_cast<size_t>(config.getInt("offsets.load.buffer.size"));
  group.codec = codecOf(config, "offsets.topic.compression.codec");
  group.consumer = consumerGroupConfig(config);
  group.share.maxSize = config.getInt("group.share.max.size");
  group.share.initializeRetry = config.getMs("group.share.initialize.retry.interval.ms");
  group.recorder = &recorder;
  return group;
}

coordinator::ShareStateConfig shareStateConfig(const config::BrokerConfig& config) {
  return {.updatesPerSnapshot = config.getInt("share.coordinator.snapshot.update.records.per.snapshot"),
          .coldSnapshotInterval = config.getMs("share.coordinator.cold.partition.snapshot.interval.ms"),
          .pruneInterval = config.getMs("share.coordinator.state.topic.prune.interval.ms"),
          .writeTimeout = config.getMs("share.coordinator.write.timeout.ms"),
          .loadBufferSize = static_cast<size_t>(config.getInt("share.coordinator.load.buffer.size")),
          .codec = codecOf(config, "share.coordinator.state.topic.compression.codec")};
}

}  // namespace tidemark::broker
