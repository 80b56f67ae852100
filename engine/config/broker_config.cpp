#include "config/broker_config.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/invariant.h"

namespace tidemark::config {
namespace {

constexpr std::string_view kCordonedLogDirs = "cordoned.log.dirs";

std::unexpected<Error> refuse(std::string_view key, std::string_view value, std::string_view reason) {
  return fail(ErrorCode::InvalidConfig, fmt::format("Invalid value {} for configuration {}: {}", value, key, reason));
}

Result<void> require(bool condition, std::string_view key, std::string_view value, std::string_view reason) {
  if (condition) return {};
  return refuse(key, value, reason);
}

const ConfigDefinition& definitionOf(std::string_view key) {
  const ConfigDefinition* definition = configTable(ConfigLevel::Broker).find(key);
  TIDEMARK_INVARIANT(definition != nullptr, fmt::format("no broker key is called {}", key));
  return *definition;
}

/// Keys that a table knows, or that belong to one listener or to a plug-in.
bool isKnown(std::string_view key) {
  return configTable(ConfigLevel::Broker).find(key) || key.starts_with("listener.name.");
}

std::vector<std::string> names(const std::vector<Listener>& listeners) {
  std::vector<std::string> result;
  for (const Listener& listener : listeners) result.push_back(listener.name);
  return result;
}

bool containsName(const std::vector<Listener>& listeners, std::string_view name) {
  return std::ranges::find(listeners, name, &Listener::name) != listeners.end();
}

}  // namespace

Result<BrokerConfig> BrokerConfig::create(ConfigMap properties) {
  BrokerConfig config;
  for (const auto& [key, text] : properties) {
    if (const ConfigDefinition* definition = configTable(ConfigLevel::Broker).find(key)) {
      // A key with nothing behind it means null where null is allowed.
      const bool isNull = text.empty() && !definition->defaultValue && definition->type != ConfigType::String;
      TIDEMARK_TRY(parseValue(
          *definition, isNull && !definition->isRequired ? std::nullopt : std::optional<std::string_view>(text)));
    } else if (!isKnown(key)) {
      config.unknownKeys_.push_back(key);
    }
  }
  config.static_ = std::make_shared<const ConfigMap>(std::move(properties));
  config.perBroker_ = std::make_shared<const ConfigMap>();
  config.clusterDefault_ = config.perBroker_;
  TIDEMARK_TRY(config.readIdentity());
  TIDEMARK_TRY(config.readListeners());
  TIDEMARK_TRY(config.readQuorum());
  TIDEMARK_TRY(config.checkRules());
  return config;
}

BrokerConfig BrokerConfig::withDynamic(ConfigMap perBroker, ConfigMap clusterDefault) const {
  const auto keepValid = [](ConfigMap& map, bool forOneBroker) {
    std::erase_if(map, [&](const auto& entry) {
      const ConfigDefinition* definition = configTable(ConfigLevel::Broker).find(entry.first);
      if (!definition) return false;
      const bool allowed = definition->updateMode == UpdateMode::ClusterWide ||
                           (forOneBroker && definition->updateMode == UpdateMode::PerBroker);
      return !allowed || !parseValue(*definition, entry.second);
    });
  };
  keepValid(perBroker, true);
  keepValid(clusterDefault, false);
  BrokerConfig config = *this;
  config.perBroker_ = std::make_shared<const ConfigMap>(std::move(perBroker));
  config.clusterDefault_ = std::make_shared<const ConfigMap>(std::move(clusterDefault));
  return config;
}

EffectiveConfig BrokerConfig::effective(std::string_view key) const {
  return effectiveBrokerConfig(definitionOf(key), layers());
}

ConfigValue BrokerConfig::value(std::string_view key) const {
  const ConfigDefinition& definition = definitionOf(key);
  for (const ConfigMap* layer : {perBroker_.get(), clusterDefault_.get(), static_.get()}) {
    const auto at = layer->find(key);
    if (at == layer->end()) continue;
    if (Result<ConfigValue> parsed = parseValue(definition, at->second)) return std::move(*parsed);
  }
  if (!definition.defaultValue) return {};
  return parseValue(definition, *definition.defaultValue).value_or(ConfigValue());
}

bool BrokerConfig::getBool(std::string_view key) const {
  return std::get<bool>(value(key));
}

int64_t BrokerConfig::getLong(std::string_view key) const {
  const ConfigValue found = value(key);
  return std::holds_alternative<int64_t>(found) ? std::get<int64_t>(found) : 0;
}

int32_t BrokerConfig::getInt(std::string_view key) const {
  return static_cast<int32_t>(getLong(key));
}

double BrokerConfig::getDouble(std::string_view key) const {
  return std::get<double>(value(key));
}

std::string BrokerConfig::getString(std::string_view key) const {
  const ConfigValue found = value(key);
  return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : std::string();
}

std::vector<std::string> BrokerConfig::getList(std::string_view key) const {
  const ConfigValue found = value(key);
  return std::holds_alternative<std::monostate>(found) ? std::vector<std::string>()
                                                       : std::get<std::vector<std::string>>(found);
}

bool BrokerConfig::isNull(std::string_view key) const {
  return std::holds_alternative<std::monostate>(value(key));
}

std::optional<std::string> BrokerConfig::rack() const {
  if (isNull("broker.rack")) return std::nullopt;
  return getString("broker.rack");
}

std::vector<std::string> BrokerConfig::cordonedLogDirs() const {
  const std::vector<std::string> named = getList(kCordonedLogDirs);
  if (named == std::vector<std::string>{"*"}) return logDirs_;
  std::vector<std::string> cordoned;
  for (const std::string& directory : logDirs_)
    if (std::ranges::find(named, directory) != named.end()) cordoned.push_back(directory);
  return cordoned;
}

bool BrokerConfig::isControllerListener(std::string_view name) const noexcept {
  return std::ranges::find(controllerListenerNames_, name) != controllerListenerNames_.end();
}

SecurityProtocol BrokerConfig::protocolOf(std::string_view listenerName) const noexcept {
  const auto at = protocols_.find(listenerName);
  return at == protocols_.end() ? SecurityProtocol::Plaintext : at->second;
}

Result<void> BrokerConfig::readIdentity() {
  for (std::string_view key : {"process.roles", "controller.listener.names"}) {
    if (!static_->contains(key)) {
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("Missing required configuration \"{}\" which has no default value.", key));
    }
  }
  const bool hasNodeId = static_->contains("node.id");
  const bool hasBrokerId = static_->contains("broker.id");
  if (!hasNodeId && !hasBrokerId) {
    return fail(ErrorCode::InvalidConfig, "Missing required configuration \"node.id\" which has no default value.");
  }
  nodeId_ = NodeId(getInt(hasNodeId ? "node.id" : "broker.id"));
  if (hasNodeId && hasBrokerId && getInt("broker.id") != nodeId_.value()) {
    return refuse("broker.id", static_->find("broker.id")->second,
                  "You must set `node.id` to the same value as `broker.id`.");
  }
  if (nodeId_.value() < 0) return refuse("node.id", std::to_string(nodeId_.value()), "Value must be at least 0");
  for (const std::string& role : getList("process.roles")) {
    isBroker_ = isBroker_ || role == "broker";
    isController_ = isController_ || role == "controller";
  }
  if (!isBroker_ && !isController_)
    return refuse("process.roles", "", "At least one of broker and controller is needed");
  logDirs_ = getList("log.dirs");
  if (logDirs_.empty()) logDirs_ = getList("log.dir");
  if (logDirs_.empty())
    return refuse("log.dirs", "", "At least one log directory must be defined via log.dirs or log.dir.");
  metadataLogDir_ = isNull("metadata.log.dir") ? logDirs_.front() : getString("metadata.log.dir");
  return {};
}

Result<void> BrokerConfig::readListeners() {
  controllerListenerNames_ = getList("controller.listener.names");
  const std::string map = getString("listener.security.protocol.map");
  for (const std::string& entry : splitList(map)) {
    const size_t colon = entry.rfind(':');
    const auto protocol =
        parseSecurityProtocol(colon == std::string::npos ? "" : trim(std::string_view(entry).substr(colon + 1)));
    if (!protocol || colon == 0) {
      return refuse(
          "listener.security.protocol.map", entry,
          "Each entry should be in the form NAME:PROTOCOL with one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL");
    }
    protocols_.insert_or_assign(std::string(trim(std::string_view(entry).substr(0, colon))), *protocol);
  }
  TIDEMARK_ASSIGN(listeners_, parseListeners("listeners", getList("listeners")));
  const auto isSecure = [](std::string_view name) { return name == "SSL" || name.starts_with("SASL_"); };
  if (!static_->contains("listener.security.protocol.map") &&
      std::ranges::none_of(controllerListenerNames_, isSecure) &&
      std::ranges::none_of(listeners_, isSecure, &Listener::name)) {
    for (const std::string& name : controllerListenerNames_) protocols_.try_emplace(name, SecurityProtocol::Plaintext);
  }
  std::vector<Listener> advertised;
  if (isNull("advertised.listeners") || getList("advertised.listeners").empty()) {
    advertised = listeners_;
  } else {
    TIDEMARK_ASSIGN(advertised, parseListeners("advertised.listeners", getList("advertised.listeners")));
    for (const Listener& listener : listeners_) {
      if (isControllerListener(listener.name) && !containsName(advertised, listener.name))
        advertised.push_back(listener);
    }
  }
  for (std::vector<Listener>* list : {&listeners_, &advertised}) {
    for (Listener& listener : *list) {
      const auto at = protocols_.find(listener.name);
      if (at == protocols_.end()) {
        return refuse("listeners", listener.name,
                      fmt::format("No security protocol defined for listener {}", listener.name));
      }
      listener.protocol = at->second;
    }
  }
  for (const Listener& listener : advertised) {
    (isControllerListener(listener.name) ? controllerListeners_ : advertisedListeners_).push_back(listener);
  }
  const bool named = !isNull("inter.broker.listener.name");
  if (named && static_->contains("security.inter.broker.protocol")) {
    return refuse("inter.broker.listener.name", getString("inter.broker.listener.name"),
                  "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set.");
  }
  interBrokerListenerName_ = getString(named ? "inter.broker.listener.name" : "security.inter.broker.protocol");
  return {};
}

Result<void> BrokerConfig::readQuorum() {
  TIDEMARK_ASSIGN(quorumVoters_,
                  parseQuorumAddresses("controller.quorum.voters", getList("controller.quorum.voters"), true));
  TIDEMARK_ASSIGN(quorumBootstrapServers_, parseQuorumAddresses("controller.quorum.bootstrap.servers",
                                                                getList("controller.quorum.bootstrap.servers"), false));
  const std::string voters = fmt::format("{}", fmt::join(getList("controller.quorum.voters"), ","));
  if (quorumVoters_.empty() && quorumBootstrapServers_.empty()) {
    return refuse(
        "controller.quorum.voters", voters,
        "If using process.roles, either controller.quorum.bootstrap.servers must contain the set of bootstrap "
        "controllers or controller.quorum.voters must contain a parseable set of controllers.");
  }
  const bool isVoter = std::ranges::find(quorumVoters_, nodeId_, &QuorumAddress::id) != quorumVoters_.end();
  TIDEMARK_TRY(
      require(!isController_ || quorumVoters_.empty() || isVoter, "controller.quorum.voters", voters,
              fmt::format("If process.roles contains the 'controller' role, the node id {} must be included in "
                          "the set of voters",
                          nodeId_)));
  return require(
      isController_ || !isVoter, "controller.quorum.voters", voters,
      fmt::format("If process.roles contains just the 'broker' role, the node id {} must not be included in the "
                  "set of voters",
                  nodeId_));
}

Result<void> BrokerConfig::checkRules() const {
  const auto listed = [&](std::string_view key) { return fmt::format("{}", fmt::join(getList(key), ",")); };
  TIDEMARK_TRY(require(!controllerListenerNames_.empty(), "controller.listener.names", "",
                       "It must contain at least one value when running in KRaft mode"));
  for (const std::string& name : controllerListenerNames_) {
    TIDEMARK_TRY(require(protocols_.contains(name), "controller.listener.names", name,
                         "The name is not found in listener.security.protocol.map"));
    const bool listens = containsName(listeners_, name);
    TIDEMARK_TRY(
        require(!isController_ || listens, "controller.listener.names", name,
                "It must only contain values appearing in the 'listeners' configuration when running the KRaft "
                "controller role"));
    TIDEMARK_TRY(
        require(isController_ || !listens, "controller.listener.names", name,
                "It must not contain a value appearing in the 'listeners' configuration when running KRaft with "
                "just the broker role"));
  }
  for (const std::string_view codec :
       {"offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec"})
    TIDEMARK_TRY(require(getInt(codec) >= 0 && getInt(codec) <= 4, codec, std::to_string(getInt(codec)),
                         "It must be the number of a codec: 0 (none), 1 (gzip), 2 (snappy), 3 (lz4) or 4 (zstd)"));
  if (isBroker_) {
    const std::vector<std::string> cordoned = getList(kCordonedLogDirs);
    for (const std::string& directory : cordoned)
      TIDEMARK_TRY(require(
          std::ranges::find(logDirs_, directory) != logDirs_.end() || (directory == "*" && cordoned.size() == 1),
          kCordonedLogDirs, directory, "It must be one of the directories of log.dirs or log.dir, or a single *"));
    const std::string valid = fmt::format("{}", fmt::join(names(advertisedListeners_), ","));
    TIDEMARK_TRY(require(!advertisedListeners_.empty(), "listeners", listed("listeners"),
                         "There must be at least one broker advertised listener. Perhaps all listeners appear in "
                         "controller.listener.names?"));
    TIDEMARK_TRY(
        require(containsName(advertisedListeners_, interBrokerListenerName_), "inter.broker.listener.name",
                interBrokerListenerName_,
                fmt::format("It must be a listener name defined in advertised.listeners. The valid options based "
                            "on currently configured listeners are {}",
                            valid)));
    for (const Listener& listener : advertisedListeners_) {
      TIDEMARK_TRY(require(containsName(listeners_, listener.name), "advertised.listeners", listener.name,
                           "Listener names must be equal to or a subset of the ones defined in listeners"));
    }
  } else {
    TIDEMARK_TRY(require(advertisedListeners_.empty(), "listeners", listed("listeners"),
                         "It must only contain KRaft controller listeners from controller.listener.names when "
                         "process.roles=controller"));
  }
  for (const std::vector<Listener>* list : {&advertisedListeners_, &controllerListeners_}) {
    for (const Listener& listener : *list) {
      TIDEMARK_TRY(require(listener.host != "0.0.0.0", "advertised.listeners", listener.name,
                           "It cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address."));
    }
  }
  const auto text = [&](std::string_view key) { return effective(key).value.value_or("null"); };
  const auto notZero = [&](std::string_view key) {
    return require(isNull(key) || getLong(key) == -1 || getLong(key) >= 1, key, text(key),
                   "It must be unlimited (-1) or, greater than or equal to 1");
  };
  TIDEMARK_TRY(notZero("log.retention.ms"));
  TIDEMARK_TRY(notZero("log.retention.minutes"));
  TIDEMARK_TRY(notZero("log.retention.hours"));
  TIDEMARK_TRY(require(isNull("log.roll.ms") || getLong("log.roll.ms") >= 1, "log.roll.ms", text("log.roll.ms"),
                       "Value must be at least 1"));
  TIDEMARK_TRY(
      require(getLong("replica.fetch.wait.max.ms") <= getLong("replica.socket.timeout.ms"), "replica.socket.timeout.ms",
              text("replica.socket.timeout.ms"),
              "It should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket timeouts"));
  TIDEMARK_TRY(
      require(getLong("replica.fetch.wait.max.ms") <= getLong("replica.lag.time.max.ms"), "replica.fetch.wait.max.ms",
              text("replica.fetch.wait.max.ms"),
              "It should always be less than or equal to replica.lag.time.max.ms to prevent frequent changes in ISR"));
  for (const std::string_view key : {"socket.send.buffer.bytes", "socket.receive.buffer.bytes"}) {
    TIDEMARK_TRY(require(getLong(key) == -1 || getLong(key) >= 1, key, text(key),
                         "It must be -1, which leaves it to the operating system, or at least 1"));
  }
  TIDEMARK_TRY(require(getLong("connections.max.idle.ms") != 0, "connections.max.idle.ms", "0",
                       "It must be at least 1, or negative, which closes no connection for being idle"));
  TIDEMARK_TRY(require(getLong("queued.max.request.bytes") <= 0 ||
                           getLong("queued.max.request.bytes") >= getLong("socket.request.max.bytes"),
                       "queued.max.request.bytes", text("queued.max.request.bytes"),
                       "It must be larger or equal to socket.request.max.bytes"));
  for (const auto& [smaller, larger] :
       {std::pair{"group.min.session.timeout.ms", "group.max.session.timeout.ms"},
        std::pair{"group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
        std::pair{"group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"}}) {
    TIDEMARK_TRY(require(getLong(smaller) <= getLong(larger), larger, text(larger),
                         fmt::format("It must be greater than or equal to {}", smaller)));
  }
  return {};
}

}  // namespace tidemark::config
