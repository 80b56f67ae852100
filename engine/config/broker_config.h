#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/uuid.h"
#include "config/config_table.h"
#include "config/config_value.h"
#include "config/security_protocol.h"
#include "config/topic_config.h"

namespace tidemark::config {

/// One entry of `listeners` or `advertised.listeners`: NAME://HOST:PORT. An empty host listens on all addresses; in
/// `advertised.listeners` (derived from such a listener) the caller puts its own host name there.
struct Listener {
  std::string name;
  std::string host;
  uint16_t port = 0;
  SecurityProtocol protocol = SecurityProtocol::Plaintext;
  friend bool operator==(const Listener&, const Listener&) = default;
};

/// One voter of `controller.quorum.voters` (ID@HOST:PORT), or a bootstrap server (then id −1).
struct QuorumAddress {
  NodeId id;
  std::string host;
  uint16_t port = 0;
  friend bool operator==(const QuorumAddress&, const QuorumAddress&) = default;
};

/// A node's configuration: its properties file and, once known, the dynamic layers of the metadata image. Immutable.
class BrokerConfig {
 public:
  using milliseconds = std::chrono::milliseconds;

  /// Checks every known key and Kafka's rules between keys (KafkaConfig.validateValues). Unknown keys are kept and
  /// listed by unknownKeys(), as Kafka does. Errors are InvalidConfig and name key, value and reason.
  static Result<BrokerConfig> create(ConfigMap properties);

  /// The same node with dynamic values on top. Values of read-only keys, and values that do not parse, are ignored.
  BrokerConfig withDynamic(ConfigMap perBroker, ConfigMap clusterDefault) const;

  // Any key, by name. The key must exist in the broker table and be of that type: asking otherwise is an invariant
  // broken.
  bool getBool(std::string_view key) const;
  int64_t getLong(std::string_view key) const;
  int32_t getInt(std::string_view key) const;
  double getDouble(std::string_view key) const;
  milliseconds getMs(std::string_view key) const { return milliseconds(getLong(key)); }
  /// Empty when null.
  std::string getString(std::string_view key) const;
  std::vector<std::string> getList(std::string_view key) const;
  /// Whether the value is null.
  bool isNull(std::string_view key) const;
  EffectiveConfig effective(std::string_view key) const;

  // Identity and roles.
  NodeId nodeId() const noexcept { return nodeId_; }
  bool isBroker() const noexcept { return isBroker_; }
  bool isController() const noexcept { return isController_; }
  std::optional<std::string> rack() const;

  // Listeners.
  const std::vector<Listener>& listeners() const noexcept { return listeners_; }
  /// Of the broker's clients and peers: `advertised.listeners`, or the listeners that are not the controller's.
  const std::vector<Listener>& advertisedListeners() const noexcept { return advertisedListeners_; }
  /// Listeners of the controller role, advertised.
  const std::vector<Listener>& controllerListeners() const noexcept { return controllerListeners_; }
  const std::vector<std::string>& controllerListenerNames() const noexcept { return controllerListenerNames_; }
  bool isControllerListener(std::string_view name) const noexcept;
  const std::string& interBrokerListenerName() const noexcept { return interBrokerListenerName_; }
  SecurityProtocol protocolOf(std::string_view listenerName) const noexcept;

  // Quorum.
  const std::vector<QuorumAddress>& quorumVoters() const noexcept { return quorumVoters_; }
  const std::vector<QuorumAddress>& quorumBootstrapServers() const noexcept { return quorumBootstrapServers_; }

  // Log directories.
  const std::vector<std::string>& logDirs() const noexcept { return logDirs_; }
  /// Those of them where no new log is placed: `cordoned.log.dirs` (KIP-1066), whose `*` means all. What it names
  /// besides is none of this broker's and does not count.
  std::vector<std::string> cordonedLogDirs() const;
  const std::string& metadataLogDir() const noexcept { return metadataLogDir_; }

  /// What topics start from.
  BrokerLayers layers() const noexcept { return {*perBroker_, *clusterDefault_, *static_}; }
  const ConfigMap& properties() const noexcept { return *static_; }
  /// Keys of the file that no table knows (a prefix listener.name.*, metrics reporters' own keys … are no error).
  const std::vector<std::string>& unknownKeys() const noexcept { return unknownKeys_; }

 private:
  BrokerConfig() = default;
  Result<void> readIdentity();
  Result<void> readListeners();
  Result<void> readQuorum();
  Result<void> checkRules() const;
  ConfigValue value(std::string_view key) const;

  std::shared_ptr<const ConfigMap> static_;
  std::shared_ptr<const ConfigMap> perBroker_;
  std::shared_ptr<const ConfigMap> clusterDefault_;
  NodeId nodeId_;
  bool isBroker_ = false;
  bool isController_ = false;
  std::map<std::string, SecurityProtocol, std::less<>> protocols_;
  std::vector<Listener> listeners_;
  std::vector<Listener> advertisedListeners_;
  std::vector<Listener> controllerListeners_;
  std::vector<std::string> controllerListenerNames_;
  std::string interBrokerListenerName_;
  std::vector<QuorumAddress> quorumVoters_;
  std::vector<QuorumAddress> quorumBootstrapServers_;
  std::vector<std::string> logDirs_;
  std::string metadataLogDir_;
  std::vector<std::string> unknownKeys_;
};

/// NAME://HOST:PORT, comma separated; the security protocols are filled in by the caller's map.
Result<std::vector<Listener>> parseListeners(std::string_view key, const std::vector<std::string>& entries);

/// "ID@HOST:PORT,…" (`withIds`) or "HOST:PORT,…".
Result<std::vector<QuorumAddress>> parseQuorumAddresses(std::string_view key, const std::vector<std::string>& entries,
                                                        bool withIds);

/// Where the lab's own clusters of `brokers` nodes differ from Kafka's defaults (never used with a configuration file):
/// shorter times, fewer threads, topics with copies on other brokers. What a node's properties start from before --set;
/// shown to the user as it is.
ConfigMap labProfile(int brokers);

}  // namespace tidemark::config
