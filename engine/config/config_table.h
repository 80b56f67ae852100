#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/config_value.h"

namespace tidemark::config {

enum class Importance : uint8_t { High, Medium, Low };

/// How a broker's key may change while it runs.
enum class UpdateMode : uint8_t { ReadOnly, PerBroker, ClusterWide };

/// A broker key that stands in for a topic's or group's key that is not set there: topic value = broker value × factor.
struct BrokerSynonym {
  std::string_view name;
  int64_t factor = 1;
};

/// What Apache Kafka 4.4 knows of one key. Views point into the program's constants.
struct ConfigDefinition {
  std::string_view name;
  ConfigType type = ConfigType::String;
  /// Nothing: null, or no default at all (`isRequired`).
  std::optional<std::string_view> defaultValue;
  bool isRequired = false;
  /// Kafka's text of what is valid: "[1,...]", "[compact, delete]", …; empty: anything of the type.
  std::string_view validator;
  Importance importance = Importance::Medium;
  bool isInternal = false;
  UpdateMode updateMode = UpdateMode::ClusterWide;
  /// For a broker key: the topic and group keys that override it, or empty.
  std::string_view topicSynonym;
  std::string_view groupSynonym;
  /// For a topic or group key: the broker keys behind it, the strongest first.
  std::vector<BrokerSynonym> brokerSynonyms;

  bool isSensitive() const noexcept { return type == ConfigType::Password; }
};

enum class ConfigLevel : uint8_t { Broker, Topic, Group, ClientMetrics, QuotaBroker, QuotaIp, QuotaUserClient, User };

/// The keys of one level, sorted by name. Immutable; any thread.
class ConfigTable {
 public:
  explicit ConfigTable(std::string_view tsv);
  const ConfigDefinition* find(std::string_view name) const noexcept;
  std::span<const ConfigDefinition> all() const noexcept { return definitions_; }

 private:
  std::vector<ConfigDefinition> definitions_;
};

/// Read once from the tables that are built in (tables/*.tsv).
const ConfigTable& configTable(ConfigLevel level);

/// `text` as a value of the key, checked; nullopt is Kafka's null (allowed where the default is null). Errors are
/// InvalidConfig with Kafka's words: "Invalid value 0 for configuration segment.ms: Value must be at least 1".
Result<ConfigValue> parseValue(const ConfigDefinition& definition, std::optional<std::string_view> text);

/// As above for a key of a level; an unknown key is an error that names it.
Result<ConfigValue> parseValue(ConfigLevel level, std::string_view key, std::optional<std::string_view> text);

/// Splits a LIST value: commas, surrounding blanks removed, an empty text is an empty list.
std::vector<std::string> splitList(std::string_view text);

/// Blanks at both ends removed.
std::string_view trim(std::string_view text) noexcept;

}  // namespace tidemark::config
