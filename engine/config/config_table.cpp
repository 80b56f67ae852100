#include "config/config_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/invariant.h"

namespace tidemark::config {
namespace {

#include "config_tables.inc"

constexpr std::string_view kBlanks = " \t\r\n\f";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

ConfigType parseType(std::string_view name) {
  static constexpr std::array kNames = {std::pair{std::string_view("BOOLEAN"), ConfigType::Boolean},
                                        std::pair{std::string_view("STRING"), ConfigType::String},
                                        std::pair{std::string_view("INT"), ConfigType::Int},
                                        std::pair{std::string_view("SHORT"), ConfigType::Short},
                                        std::pair{std::string_view("LONG"), ConfigType::Long},
                                        std::pair{std::string_view("DOUBLE"), ConfigType::Double},
                                        std::pair{std::string_view("LIST"), ConfigType::List},
                                        std::pair{std::string_view("CLASS"), ConfigType::Class},
                                        std::pair{std::string_view("PASSWORD"), ConfigType::Password}};
  for (const auto& [text, type] : kNames) {
    if (text == name) return type;
  }
  invariantBroken(__FILE__, __LINE__, "known type", std::string(name));
}

std::vector<BrokerSynonym> parseSynonyms(std::string_view text) {
  std::vector<BrokerSynonym> synonyms;
  if (text.empty()) return synonyms;
  for (std::string_view part : split(text, ',')) {
    BrokerSynonym synonym{part, 1};
    if (const size_t at = part.find(" x"); at != std::string_view::npos) {
      synonym.name = part.substr(0, at);
      const std::string_view factor = part.substr(at + 2);
      std::from_chars(factor.data(), factor.data() + factor.size(), synonym.factor);
    }
    synonyms.push_back(synonym);
  }
  return synonyms;
}

ConfigDefinition parseRow(const std::vector<std::string_view>& columns, const std::vector<std::string_view>& fields) {
  TIDEMARK_INVARIANT(columns.size() == fields.size(), fmt::format("a row of the table has {} fields", fields.size()));
  ConfigDefinition row;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string_view column = columns[i];
    const std::string_view field = fields[i];
    if (column == "name") row.name = field;
    if (column == "type") row.type = parseType(field);
    if (column == "default") {
      row.isRequired = field == "<required>";
      if (field == "<empty>") {
        row.defaultValue = "";
      } else if (field != "<null>" && field != "<required>") {
        row.defaultValue = field;
      }
    }
    if (column == "valid") row.validator = field;
    if (column == "importance") {
      row.importance = field == "HIGH" ? Importance::High : field == "LOW" ? Importance::Low : Importance::Medium;
    }
    if (column == "visibility") row.isInternal = field == "internal";
    if (column == "updateMode") {
      row.updateMode = field == "read-only"    ? UpdateMode::ReadOnly
                       : field == "per-broker" ? UpdateMode::PerBroker
                                               : UpdateMode::ClusterWide;
    }
    if (column == "topicSynonym") row.topicSynonym = field;
    if (column == "groupSynonym") row.groupSynonym = field;
    if (column == "brokerSynonyms" || column == "brokerSynonym") row.brokerSynonyms = parseSynonyms(field);
  }
  return row;
}

std::unexpected<Error> invalid(std::string_view key, std::string_view value, std::string_view reason) {
  return fail(ErrorCode::InvalidConfig, fmt::format("Invalid value {} for configuration {}: {}", value, key, reason));
}

template <class Number>
std::optional<Number> toNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<int64_t> toInteger(std::string_view text, ConfigType type) {
  const std::optional<int64_t> value = toNumber<int64_t>(text);
  if (!value) return std::nullopt;
  if (type == ConfigType::Int && *value != static_cast<int32_t>(*value)) return std::nullopt;
  if (type == ConfigType::Short && *value != static_cast<int16_t>(*value)) return std::nullopt;
  return value;
}

/// `text` read as the type, nothing else checked.
Result<ConfigValue> convert(const ConfigDefinition& key, std::string_view text) {
  const std::string_view trimmed = trim(text);
  switch (key.type) {
    case ConfigType::Boolean:
      if (equalsIgnoringCase(trimmed, "true")) return ConfigValue(true);
      if (equalsIgnoringCase(trimmed, "false")) return ConfigValue(false);
      return invalid(key.name, text, "Expected value to be either true or false");
    case ConfigType::Int:
    case ConfigType::Short:
    case ConfigType::Long:
      if (const std::optional<int64_t> value = toInteger(trimmed, key.type)) return ConfigValue(*value);
      return invalid(key.name, text, fmt::format("Not a number of type {}", typeName(key.type)));
    case ConfigType::Double:
      if (const std::optional<double> value = toNumber<double>(trimmed)) return ConfigValue(*value);
      return invalid(key.name, text, "Not a number of type DOUBLE");
    case ConfigType::List:
      return ConfigValue(splitList(text));
    case ConfigType::Password:
      return ConfigValue(std::string(text));
    case ConfigType::String:
    case ConfigType::Class:
      return ConfigValue(std::string(trimmed));
  }
  return ConfigValue();
}

bool isThrottledReplica(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto digits = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  return digits(text.substr(0, colon)) && digits(text.substr(colon + 1));
}

/// "[min,...]" and "[min,...,max]".
Result<void> checkRange(const ConfigDefinition& key, std::string_view text, std::string_view range, double value) {
  const std::string_view inner = range.substr(1, range.size() - 2);
  const size_t dots = inner.find(",...");
  const std::string_view min = inner.substr(0, dots);
  const std::string_view max = dots + 5 <= inner.size() ? inner.substr(dots + 5) : std::string_view();
  if (value < *toNumber<double>(min)) return invalid(key.name, text, fmt::format("Value must be at least {}", min));
  if (!max.empty() && value > *toNumber<double>(max)) {
    return invalid(key.name, text, fmt::format("Value must be no more than {}", max));
  }
  return {};
}

/// "[a, b, c]", of a text or of each element of a list.
Result<void> checkChoice(const ConfigDefinition& key, std::string_view text, std::string_view choices, bool ignoreCase,
                         const ConfigValue& value) {
  const std::vector<std::string> allowed = splitList(choices.substr(1, choices.size() - 2));
  const auto isAllowed = [&](std::string_view candidate) {
    return std::ranges::any_of(allowed, [&](const std::string& one) {
      if (const size_t colon = one.find(":P"); colon != std::string::npos) {
        return candidate.starts_with(std::string_view(one).substr(0, colon + 2));
      }
      return ignoreCase ? equalsIgnoringCase(one, candidate) : one == candidate;
    });
  };
  const auto refuse = [&](std::string_view candidate) {
    return invalid(
        key.name, candidate,
        fmt::format("String must be one of{}: {}", ignoreCase ? " (case insensitive)" : "", fmt::join(allowed, ", ")));
  };
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& element : *list) {
      if (!isAllowed(element)) return refuse(element);
      if (std::ranges::count(*list, element) > 1) {
        return fail(ErrorCode::InvalidConfig,
                    fmt::format("Configuration '{}' values must not be duplicated.", key.name));
      }
    }
    return {};
  }
  if (const auto* string = std::get_if<std::string>(&value); string && !isAllowed(*string)) return refuse(text);
  return {};
}

Result<void> check(const ConfigDefinition& key, std::string_view text, const ConfigValue& value) {
  std::string_view rule = key.validator;
  if (rule.empty() || rule == "<custom>" || rule == "non-null string" || rule == "non-empty list") return {};
  if (rule == "non-empty string") {
    if (const auto* string = std::get_if<std::string>(&value); string && string->empty()) {
      return invalid(key.name, text, "String must be non-empty");
    }
    return {};
  }
  if (rule.starts_with("[partitionId]")) {
    const auto& list = std::get<std::vector<std::string>>(value);
    if ((list.size() == 1 && list.front() == "*") || std::ranges::all_of(list, isThrottledReplica)) return {};
    return invalid(key.name, text,
                   "Must be the literal '*' or a list of replicas in the following format: "
                   "[partitionId]:[brokerId],[partitionId]:[brokerId],...");
  }
  constexpr std::string_view kOr = " or -1";
  constexpr std::string_view kIgnoringCase = "(case insensitive) ";
  const std::optional<double> number = std::holds_alternative<int64_t>(value)
                                           ? std::optional<double>(static_cast<double>(std::get<int64_t>(value)))
                                       : std::holds_alternative<double>(value) ? std::optional(std::get<double>(value))
                                                                               : std::nullopt;
  if (rule.ends_with(kOr)) {
    if (number == -1) return {};
    rule.remove_suffix(kOr.size());
    if (checkRange(key, text, rule, *number)) return {};
    return invalid(key.name, text, fmt::format("Value must be in {} or equal to -1", rule));
  }
  if (number) return checkRange(key, text, rule, *number);
  const bool ignoreCase = rule.starts_with(kIgnoringCase);
  if (ignoreCase) rule.remove_prefix(kIgnoringCase.size());
  return checkChoice(key, text, rule, ignoreCase, value);
}

/// What Kafka lets pass, and what no broker, ours or Kafka's, runs with: times that are none, more threads than a
/// machine has.
struct RunnableRange {
  std::string_view key;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};
constexpr int64_t kMostThreads = 1000;
constexpr std::array kRunnable = {
    RunnableRange{.key = "background.threads", .least = 1, .most = kMostThreads},
    RunnableRange{.key = "log.cleaner.threads", .most = kMostThreads},
    RunnableRange{.key = "num.io.threads", .least = 1, .most = kMostThreads},
    RunnableRange{.key = "num.network.threads", .least = 1, .most = kMostThreads},
    RunnableRange{.key = "num.recovery.threads.per.data.dir", .least = 1, .most = kMostThreads},
    RunnableRange{.key = "num.replica.alter.log.dirs.threads", .least = 1, .most = kMostThreads},
    RunnableRange{.key = "num.replica.fetchers", .least = 1, .most = kMostThreads},
    RunnableRange{.key = "broker.heartbeat.interval.ms", .least = 1},
    RunnableRange{.key = "broker.session.timeout.ms", .least = 1},
    RunnableRange{.key = "controller.quorum.election.timeout.ms", .least = 1},
    RunnableRange{.key = "controller.quorum.fetch.timeout.ms", .least = 1},
    RunnableRange{.key = "controller.quorum.request.timeout.ms", .least = 1},
    RunnableRange{.key = "default.replication.factor", .least = 1},
    RunnableRange{.key = "group.initial.rebalance.delay.ms"},
    RunnableRange{.key = "group.max.session.timeout.ms", .least = 1},
    RunnableRange{.key = "group.min.session.timeout.ms", .least = 1},
    RunnableRange{.key = "metadata.log.segment.ms", .least = 1},
    RunnableRange{.key = "offset.metadata.max.bytes"},
    RunnableRange{.key = "replica.fetch.min.bytes"},
    RunnableRange{.key = "replica.fetch.wait.max.ms"},
    RunnableRange{.key = "replica.high.watermark.checkpoint.interval.ms", .least = 1},
    RunnableRange{.key = "replica.lag.time.max.ms", .least = 1},
    RunnableRange{.key = "replica.socket.timeout.ms", .least = 1},
    RunnableRange{.key = "request.timeout.ms", .least = 1},
};

Result<void> checkRunnable(const ConfigDefinition& key, std::string_view text, const ConfigValue& value) {
  const auto* number = std::get_if<int64_t>(&value);
  const auto bounds = std::ranges::find(kRunnable, key.name, &RunnableRange::key);
  if (number == nullptr || bounds == kRunnable.end()) return {};
  if (*number < bounds->least) return invalid(key.name, text, fmt::format("Value must be at least {}", bounds->least));
  if (*number > bounds->most)
    return invalid(key.name, text, fmt::format("Value must be no more than {}", bounds->most));
  return {};
}

std::string_view tableText(ConfigLevel level) {
  switch (level) {
    case ConfigLevel::Broker:
      return k_broker;
    case ConfigLevel::Topic:
      return k_topic;
    case ConfigLevel::Group:
      return k_group;
    case ConfigLevel::ClientMetrics:
      return k_client_metrics;
    case ConfigLevel::QuotaBroker:
      return k_quota_broker;
    case ConfigLevel::QuotaIp:
      return k_quota_ip;
    case ConfigLevel::QuotaUserClient:
      return k_quota_user_client;
    case ConfigLevel::User:
      return k_user;
  }
  return {};
}

}  // namespace

std::string_view typeName(ConfigType type) noexcept {
  switch (type) {
    case ConfigType::Boolean:
      return "BOOLEAN";
    case ConfigType::String:
      return "STRING";
    case ConfigType::Int:
      return "INT";
    case ConfigType::Short:
      return "SHORT";
    case ConfigType::Long:
      return "LONG";
    case ConfigType::Double:
      return "DOUBLE";
    case ConfigType::List:
      return "LIST";
    case ConfigType::Class:
      return "CLASS";
    case ConfigType::Password:
      return "PASSWORD";
  }
  return "UNKNOWN";
}

std::string_view trim(std::string_view text) noexcept {
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> parts;
  if (trim(text).empty()) return parts;
  for (std::string_view part : split(text, ',')) parts.emplace_back(trim(part));
  return parts;
}

ConfigTable::ConfigTable(std::string_view tsv) {
  std::vector<std::string_view> lines = split(tsv, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  TIDEMARK_INVARIANT(!lines.empty(), std::string("a table of keys is empty"));
  const std::vector<std::string_view> columns = split(lines.front(), '\t');
  definitions_.reserve(lines.size() - 1);
  for (size_t i = 1; i < lines.size(); ++i) definitions_.push_back(parseRow(columns, split(lines[i], '\t')));
  std::ranges::sort(definitions_, {}, &ConfigDefinition::name);
}

const ConfigDefinition* ConfigTable::find(std::string_view name) const noexcept {
  const auto at = std::ranges::lower_bound(definitions_, name, {}, &ConfigDefinition::name);
  return at != definitions_.end() && at->name == name ? &*at : nullptr;
}

const ConfigTable& configTable(ConfigLevel level) {
  static const std::array kTables = {
      ConfigTable(tableText(ConfigLevel::Broker)),          ConfigTable(tableText(ConfigLevel::Topic)),
      ConfigTable(tableText(ConfigLevel::Group)),           ConfigTable(tableText(ConfigLevel::ClientMetrics)),
      ConfigTable(tableText(ConfigLevel::QuotaBroker)),     ConfigTable(tableText(ConfigLevel::QuotaIp)),
      ConfigTable(tableText(ConfigLevel::QuotaUserClient)), ConfigTable(tableText(ConfigLevel::User))};
  return kTables[static_cast<size_t>(level)];
}

Result<ConfigValue> parseValue(const ConfigDefinition& definition, std::optional<std::string_view> text) {
  if (!text) {
    if (!definition.defaultValue && !definition.isRequired) return ConfigValue();
    return invalid(definition.name, "null", "Value must be non-null");
  }
  TIDEMARK_ASSIGN(ConfigValue value, convert(definition, *text));
  TIDEMARK_TRY(check(definition, *text, value));
  TIDEMARK_TRY(checkRunnable(definition, *text, value));
  return value;
}

Result<ConfigValue> parseValue(ConfigLevel level, std::string_view key, std::optional<std::string_view> text) {
  const ConfigDefinition* definition = configTable(level).find(key);
  if (!definition) return fail(ErrorCode::InvalidConfig, fmt::format("Unknown configuration \"{}\"", key));
  return parseValue(*definition, text);
}

}  // namespace tidemark::config
