#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark::config {

/// Keys and their values as text, sorted: what a properties file, a command line or a ConfigRecord holds.
using ConfigMap = std::map<std::string, std::string, std::less<>>;

/// Types of values; the numbers are those of DescribeConfigs (ConfigType).
enum class ConfigType : int8_t {
  Boolean = 1,
  String = 2,
  Int = 3,
  Short = 4,
  Long = 5,
  Double = 6,
  List = 7,
  Class = 8,
  Password = 9,
};

/// A value of its type: monostate is Kafka's null; Int, Short and Long are int64_t; String, Class and Password
/// std::string.
using ConfigValue = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>>;

/// Where a value comes from; the numbers are those of DescribeConfigs (ConfigSource).
enum class ConfigSource : int8_t {
  Unknown = 0,
  TopicConfig = 1,
  DynamicBrokerConfig = 2,
  DynamicDefaultBrokerConfig = 3,
  StaticBrokerConfig = 4,
  DefaultConfig = 5,
  DynamicBrokerLoggerConfig = 6,
  ClientMetricsConfig = 7,
  GroupConfig = 8,
};

/// What a ConfigRecord and the config APIs name (ConfigResource.Type of Kafka).
enum class ResourceType : int8_t {
  Unknown = 0,
  Topic = 2,
  Broker = 4,
  BrokerLogger = 8,
  ClientMetrics = 16,
  Group = 32,
};

std::string_view typeName(ConfigType type) noexcept;

}  // namespace tidemark::config
