#include "cluster/topology.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tidemark::cluster {
namespace {

using nlohmann::json;

/// Brackets around an IPv6 address.
std::string address(const std::string& host, uint16_t port) {
  return fmt::format("{}", platform::Endpoint{host, port});
}

std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::InvalidConfig, what);
}

}  // namespace

size_t Topology::brokers() const {
  return static_cast<size_t>(std::ranges::count(nodes, true, &NodePlace::isBroker));
}

std::string Topology::bootstrap() const {
  return address(advertisedHost, nodes.front().port);
}

raft::VoterSet Topology::voters() const {
  std::vector<raft::Voter> voters;
  voters.reserve(nodes.size());
  for (const NodePlace& node : nodes)
    if (node.isController)
      voters.push_back({.key = {node.id, node.directoryId},
                        .endpoints = {{.listener = "CONTROLLER", .host = advertisedHost, .port = node.controllerPort}},
                        .minKRaftVersion = 0,
                        .maxKRaftVersion = 1});
  return raft::VoterSet(std::move(voters));
}

std::string encodeTopology(const Topology& topology) {
  json nodes = json::array();
  for (const NodePlace& node : topology.nodes) {
    nodes.push_back({{"id", node.id.value()},
                     {"port", node.port},
                     {"controllerPort", node.controllerPort},
                     {"directoryId", node.directoryId.toString()}});
    if (!node.isController) nodes.back()["controller"] = false;
    if (!node.isBroker) nodes.back()["broker"] = false;
  }
  json document = {{"version", 1},
                   {"clusterId", topology.clusterId},
                   {"host", topology.host},
                   {"advertisedHost", topology.advertisedHost},
                   {"nodes", std::move(nodes)}};
  if (topology.logDirectories != 1) document["logDirectories"] = topology.logDirectories;
  // A host that is no UTF-8 is no address of anybody's, and nothing to die of.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Topology> decodeTopology(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return wrong("this is not a JSON object");
  const auto text_ = [&](const json& from, const char* key) -> Result<std::string> {
    if (!from.contains(key) || !from[key].is_string()) return wrong(fmt::format("\"{}\" is missing or no string", key));
    return from[key].get<std::string>();
  };
  const auto number = [&](const json& from, const char* key, int64_t least, int64_t most) -> Result<int64_t> {
    if (!from.contains(key) || !from[key].is_number_integer())
      return wrong(fmt::format("\"{}\" is missing or no number", key));
    // Beyond int64_t it would wrap around.
    const bool huge = from[key].is_number_unsigned() && from[key].get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    const auto value = huge ? INT64_MAX : from[key].get<int64_t>();
    if (huge || value < least || value > most)
      return wrong(fmt::format("\"{}\" is {}, it can be {} to {}", key, from[key].dump(), least, most));
    return value;
  };
  Topology topology;
  TIDEMARK_ASSIGN(const int64_t version, number(document, "version", 1, INT64_MAX));
  if (version != 1) return wrong(fmt::format("version {} is newer than this program", version));
  TIDEMARK_ASSIGN(topology.clusterId, text_(document, "clusterId"));
  TIDEMARK_ASSIGN(topology.host, text_(document, "host"));
  TIDEMARK_ASSIGN(topology.advertisedHost, text_(document, "advertisedHost"));
  if (document.contains("logDirectories")) {
    TIDEMARK_ASSIGN(const int64_t directories, number(document, "logDirectories", 1, kMostLogDirectories));
    topology.logDirectories = static_cast<int>(directories);
  }
  if (!document.contains("nodes") || !document["nodes"].is_array() || document["nodes"].empty())
    return wrong("\"nodes\" is missing or empty");
  for (const json& entry : document["nodes"]) {
    NodePlace node;
    TIDEMARK_ASSIGN(const int64_t id, number(entry, "id", 0, INT32_MAX));
    TIDEMARK_ASSIGN(const int64_t port, number(entry, "port", 1, 65535));
    TIDEMARK_ASSIGN(const int64_t controllerPort, number(entry, "controllerPort", 1, 65535));
    TIDEMARK_ASSIGN(const std::string directory, text_(entry, "directoryId"));
    const auto directoryId = Uuid::parse(directory);
    if (!directoryId) return wrong(fmt::format("\"directoryId\" is \"{}\", which is no id", directory));
    node.id = NodeId(static_cast<int32_t>(id));
    node.port = static_cast<uint16_t>(port);
    node.controllerPort = static_cast<uint16_t>(controllerPort);
    node.directoryId = *directoryId;
    for (const auto& [key, role] : {std::pair{"controller", &node.isController}, std::pair{"broker", &node.isBroker}}) {
      if (!entry.contains(key)) continue;
      if (!entry[key].is_boolean()) return wrong(fmt::format("\"{}\" is neither true nor false", key));
      *role = entry[key].get<bool>();
    }
    if (!node.isController && !node.isBroker)
      return wrong(fmt::format("node {} is neither a controller nor a broker", node.id));
    topology.nodes.push_back(node);
  }
  if (std::ranges::none_of(topology.nodes, &NodePlace::isController)) return wrong("none of the nodes is a controller");
  if (!topology.nodes.front().isBroker) return wrong("the first of the nodes is no broker");
  return topology;
}

std::string nodeFolder(const std::string& dataFolder, NodeId id) {
  return fmt::format("{}/broker-{}", dataFolder, id);
}

std::vector<std::string> nodeDirectories(const Topology& topology, const std::string& dataFolder, NodeId id) {
  std::vector<std::string> directories = {nodeFolder(dataFolder, id)};
  for (int disk = 2; disk <= topology.logDirectories; ++disk)
    directories.push_back(fmt::format("{}.disk-{}", directories.front(), disk));
  return directories;
}

config::ConfigMap labSettings(int brokers, const std::vector<observe::Setting>& overrides) {
  config::ConfigMap settings = config::labProfile(brokers);
  for (const observe::Setting& setting : overrides) settings[setting.key] = setting.value;
  return settings;
}

Result<void> checkOverrides(const std::vector<observe::Setting>& overrides) {
  static constexpr std::array<std::string_view, 13> kOwn = {"process.roles",
                                                            "node.id",
                                                            "broker.id",
                                                            "listeners",
                                                            "advertised.listeners",
                                                            "controller.listener.names",
                                                            "listener.security.protocol.map",
                                                            "inter.broker.listener.name",
                                                            "controller.quorum.bootstrap.servers",
                                                            "controller.quorum.voters",
                                                            "log.dir",
                                                            "log.dirs",
                                                            "metadata.log.dir"};
  for (const observe::Setting& setting : overrides)
    if (std::ranges::find(kOwn, setting.key) != kOwn.end())
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("Invalid value {} for configuration {}: the lab gives each broker its own", setting.value,
                              setting.key));
  return {};
}

Result<config::BrokerConfig> nodeConfig(const Topology& topology, const NodePlace& place, const std::string& dataFolder,
                                        const config::ConfigMap& settings) {
  config::ConfigMap properties = settings;
  std::string quorum;
  for (const NodePlace& node : topology.nodes)
    if (node.isController)
      quorum += (quorum.empty() ? "" : ",") + address(topology.advertisedHost, node.controllerPort);
  const auto listeners = [&](const std::string& host) {
    if (!place.isController) return fmt::format("PLAINTEXT://{}", address(host, place.port));
    if (!place.isBroker) return fmt::format("CONTROLLER://{}", address(host, place.controllerPort));
    return fmt::format("PLAINTEXT://{},CONTROLLER://{}", address(host, place.port),
                       address(host, place.controllerPort));
  };
  properties["process.roles"] = !place.isController ? "broker" : place.isBroker ? "broker,controller" : "controller";
  properties["node.id"] = std::to_string(place.id.value());
  properties["listeners"] = listeners(topology.host);
  properties["advertised.listeners"] = listeners(topology.advertisedHost);
  properties["controller.listener.names"] = "CONTROLLER";
  properties["listener.security.protocol.map"] = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT";
  properties["controller.quorum.bootstrap.servers"] = quorum;
  properties["log.dirs"] = fmt::format("{}", fmt::join(nodeDirectories(topology, dataFolder, place.id), ","));
  return config::BrokerConfig::create(std::move(properties));
}

}  // namespace tidemark::cluster
