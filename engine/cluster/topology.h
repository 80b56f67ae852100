#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "config/broker_config.h"
#include "observe/snapshot.h"
#include "platform/file_system.h"
#include "raft/types.h"

namespace tidemark::cluster {

/// One node of a lab's cluster: a broker, a controller, most often both.
struct NodePlace {
  NodeId id;
  /// Kept free if it is no broker.
  uint16_t port = 0;
  /// Kept free if it is no controller.
  uint16_t controllerPort = 0;
  bool isBroker = true;
  bool isController = true;
  /// Of its metadata log.
  Uuid directoryId;
};

/// Which nodes a cluster has and where they listen. Kept in its data folder as `tidemark.json`, so that it comes back
/// under the same addresses.
struct Topology {
  std::string clusterId;
  /// What brokers bind to, and what they tell clients.
  std::string host;
  std::string advertisedHost;
  /// Log directories of each node.
  int logDirectories = 1;
  /// Brokers first.
  std::vector<NodePlace> nodes;

  size_t brokers() const;
  std::string bootstrap() const;
  raft::VoterSet voters() const;
};

inline constexpr int kMostBrokers = 7;
inline constexpr int kMostSeparateControllers = 5;
inline constexpr int kMostLogDirectories = 16;
inline constexpr std::string_view kTopologyFile = "tidemark.json";

std::string encodeTopology(const Topology& topology);
/// InvalidConfig that says what is wrong with the file.
Result<Topology> decodeTopology(std::string_view text);

/// `FOLDER/broker-3`.
std::string nodeFolder(const std::string& dataFolder, NodeId id);

/// A node's log directories: that folder, and `FOLDER/broker-3.disk-2` and so on beside it.
std::vector<std::string> nodeDirectories(const Topology& topology, const std::string& dataFolder, NodeId id);

/// What a lab's cluster of that many nodes sets differently from Kafka's defaults, `overrides` on top.
config::ConfigMap labSettings(int brokers, const std::vector<observe::Setting>& overrides);

/// InvalidConfig for a key that the lab itself gives each broker: its id, addresses, folder.
Result<void> checkOverrides(const std::vector<observe::Setting>& overrides);

/// The configuration of one node: the lab's settings, its addresses, its folder. InvalidConfig names key, value,
/// reason.
Result<config::BrokerConfig> nodeConfig(const Topology& topology, const NodePlace& place, const std::string& dataFolder,
                                        const config::ConfigMap& settings);

}  // namespace tidemark::cluster
