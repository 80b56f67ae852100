#include "metadata/controller/view.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "config/config_table.h"
#include "config/topic_config.h"

namespace tidemark::metadata {
namespace {

std::string effective(const ControllerView& view, std::string_view topic, std::string_view key) {
  const config::ConfigDefinition* definition = config::configTable(config::ConfigLevel::Topic).find(key);
  return config::effectiveTopicConfig(*definition, view.image.configs.topic(topic), view.layers()).value.value_or("");
}

}  // namespace

ControllerSettings ControllerSettings::from(const config::BrokerConfig& config, std::string clusterId,
                                            std::vector<NodeId> quorum) {
  return {.nodeId = config.nodeId(),
          .clusterId = std::move(clusterId),
          .quorum = std::move(quorum),
          .sessionTimeout = config.getMs("broker.session.timeout.ms"),
          .maxIdle = config.getMs("metadata.max.idle.interval.ms"),
          .leaderImbalanceCheck = config.getBool("auto.leader.rebalance.enable")
                                      ? std::optional<platform::Duration>(std::chrono::seconds(
                                            config.getLong("leader.imbalance.check.interval.seconds")))
                                      : std::nullopt,
          .defaultPartitions = config.getInt("num.partitions"),
          .defaultReplicationFactor = static_cast<int16_t>(config.getInt("default.replication.factor")),
          .deleteTopicEnable = config.getBool("delete.topic.enable"),
          .properties = config.properties()};
}

bool ControllerView::uncleanElectionEnabled(std::string_view topic) const {
  return effective(*this, topic, "unclean.leader.election.enable") == "true";
}

int32_t ControllerView::minInsyncReplicas(std::string_view topic, size_t replicas) const {
  const std::string text = effective(*this, topic, "min.insync.replicas");
  int32_t value = 1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::min(value, static_cast<int32_t>(replicas));
}

Uuid ControllerView::defaultDirectory(NodeId id) const {
  const BrokerRegistration* broker = image.cluster.broker(id);
  if (!broker || broker->directories.size() > 1) return kUnassignedDirectory;
  return broker->directories.empty() ? kMigratingDirectory : broker->directories.front();
}

Result<const BrokerRegistration*> ControllerView::checkBrokerEpoch(int32_t brokerId, int64_t brokerEpoch) const {
  const BrokerRegistration* broker = image.cluster.broker(NodeId(brokerId));
  if (!broker) {
    return fail(ErrorCode::StaleBrokerEpoch, fmt::format("No broker registration found for broker id {}", brokerId));
  }
  if (broker->epoch.value() != brokerEpoch) {
    return fail(ErrorCode::StaleBrokerEpoch,
                fmt::format("Expected broker epoch {}, but got broker epoch {}", broker->epoch.value(), brokerEpoch));
  }
  return broker;
}

}  // namespace tidemark::metadata
