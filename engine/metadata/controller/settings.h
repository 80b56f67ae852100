#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "config/broker_config.h"
#include "config/config_value.h"
#include "platform/clock.h"

namespace tidemark::metadata {

/// What the controller of a node takes from its configuration. Constant.
struct ControllerSettings {
  NodeId nodeId;
  std::string clusterId;
  /// The controllers of the quorum, for the check that all know a feature.
  std::vector<NodeId> quorum;
  /// broker.session.timeout.ms: a broker that was silent for longer is fenced.
  platform::Duration sessionTimeout = std::chrono::seconds(9);
  /// metadata.max.idle.interval.ms: a NoOpRecord is appended after so long without another; 0: never.
  platform::Duration maxIdle = std::chrono::milliseconds(500);
  /// leader.imbalance.check.interval.seconds, how often leadership goes back to preferred replicas; nothing: never
  /// (auto.leader.rebalance.enable is off).
  std::optional<platform::Duration> leaderImbalanceCheck;
  int32_t defaultPartitions = 1;
  int16_t defaultReplicationFactor = 1;
  bool deleteTopicEnable = true;
  /// The properties file: the lowest layer under topics' configurations.
  config::ConfigMap properties;

  static ControllerSettings from(const config::BrokerConfig& config, std::string clusterId, std::vector<NodeId> quorum);
};

}  // namespace tidemark::metadata
