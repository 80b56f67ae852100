#include "config/group_config.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/invariant.h"

namespace tidemark::config {
namespace {

/// Keys of a broker that bound a group's; empty: there is none.
struct Bound {
  std::string_view key;
  std::string_view least;
  std::string_view most;
};
constexpr std::array kBounds = {
    Bound{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms",
          "group.consumer.max.heartbeat.interval.ms"},
    Bound{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms",
          "group.consumer.max.session.timeout.ms"},
    Bound{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms",
          "group.consumer.max.assignment.interval.ms"},
    Bound{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms",
          "group.share.max.heartbeat.interval.ms"},
    Bound{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
    Bound{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms",
          "group.share.max.record.lock.duration.ms"},
    Bound{"share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"},
    Bound{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks",
          "group.share.max.partition.max.record.locks"},
    Bound{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms",
          "group.share.max.assignment.interval.ms"},
    Bound{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms",
          "group.streams.max.heartbeat.interval.ms"},
    Bound{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"},
    Bound{"streams.num.standby.replicas", "", "group.streams.max.standby.replicas"},
    Bound{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms",
          "group.streams.max.assignment.interval.ms"},
    Bound{"streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms", ""},
    Bound{"streams.num.warmup.replicas", "", "group.streams.max.warmup.replicas"},
};

/// What is in force on the broker.
ConfigValue brokerValue(std::string_view name, const BrokerLayers& broker) {
  const ConfigDefinition* key = configTable(ConfigLevel::Broker).find(name);
  TIDEMARK_INVARIANT(key != nullptr, fmt::format("there is no broker key {}", name));
  auto value = parseValue(*key, effectiveBrokerConfig(*key, broker).value);
  return value ? std::move(*value) : ConfigValue();
}

int64_t brokerNumber(std::string_view name, const BrokerLayers& broker) {
  const ConfigValue value = brokerValue(name, broker);
  const auto* number = std::get_if<int64_t>(&value);
  return number != nullptr ? *number : 0;
}

Result<void> checkBound(const Bound& bound, int64_t value, const BrokerLayers& broker) {
  const auto refuse = [&](std::string_view rule) {
    return fail(ErrorCode::InvalidConfig, fmt::format("{} must be {}", bound.key, rule));
  };
  if (bound.least.empty()) {
    const int64_t most = brokerNumber(bound.most, broker);
    if (value > most) return refuse(fmt::format("less than or equal to {}", most));
    return {};
  }
  const int64_t least = brokerNumber(bound.least, broker);
  if (bound.most.empty()) {
    if (value < least) return refuse(fmt::format("greater than or equal to {}", least));
    return {};
  }
  const int64_t most = brokerNumber(bound.most, broker);
  if (value < least || value > most) return refuse(fmt::format("in the range {} to {} inclusive.", least, most));
  return {};
}

Result<void> checkTags(const ConfigMap& group) {
  const auto tags = group.find("streams.rack.aware.assignment.tags");
  if (tags == group.end()) return {};
  std::vector<std::string> list = splitList(tags->second);
  std::ranges::sort(list);
  if (std::ranges::adjacent_find(list) != list.end())
    return fail(ErrorCode::InvalidConfig, fmt::format("{} must not contain duplicate tag keys.", tags->first));
  return {};
}

/// A session must outlast a heartbeat, whichever of the two the group sets.
Result<void> checkSession(std::string_view kind, const std::map<std::string_view, ConfigValue>& values,
                          const BrokerLayers& broker) {
  const std::string session = fmt::format("{}.session.timeout.ms", kind);
  const std::string heartbeat = fmt::format("{}.heartbeat.interval.ms", kind);
  if (!values.contains(session) && !values.contains(heartbeat)) return {};
  const auto inForce = [&](const std::string& key) {
    const auto own = values.find(key);
    return own != values.end() ? std::get<int64_t>(own->second) : brokerNumber("group." + key, broker);
  };
  if (inForce(session) <= inForce(heartbeat))
    return fail(ErrorCode::InvalidConfig, fmt::format("{} must be greater than {}", session, heartbeat));
  return {};
}

}  // namespace

Result<void> validateGroupConfig(const ConfigMap& group, const BrokerLayers& broker) {
  const ConfigTable& table = configTable(ConfigLevel::Group);
  for (const auto& [name, text] : group)
    if (table.find(name) == nullptr)
      return fail(ErrorCode::InvalidConfig, fmt::format("Unknown group config name: {}", name));
  TIDEMARK_TRY(checkTags(group));
  std::map<std::string_view, ConfigValue> values;
  for (const auto& [name, text] : group) {
    TIDEMARK_ASSIGN(ConfigValue value, parseValue(*table.find(name), text));
    values.emplace(name, std::move(value));
  }
  for (const Bound& bound : kBounds)
    if (const auto own = values.find(bound.key); own != values.end())
      TIDEMARK_TRY(checkBound(bound, std::get<int64_t>(own->second), broker));
  if (const auto own = values.find("streams.assignor.name"); own != values.end()) {
    const auto* name = std::get_if<std::string>(&own->second);
    const ConfigValue known = brokerValue("group.streams.assignors", broker);
    const auto* names = std::get_if<std::vector<std::string>>(&known);
    if (name == nullptr || names == nullptr || std::ranges::find(*names, *name) == names->end())
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("streams.assignor.name '{}' is not a registered task assignor. Registered assignors are: "
                              "[{}].",
                              name != nullptr ? *name : "null",
                              fmt::join(names != nullptr ? *names : std::vector<std::string>(), ", ")));
  }
  for (const std::string_view kind : {"consumer", "share", "streams"}) TIDEMARK_TRY(checkSession(kind, values, broker));
  if (const auto topic = group.find("errors.deadletterqueue.topic.name");
      topic != group.end() && topic->second.starts_with("__"))
    return fail(ErrorCode::InvalidConfig, fmt::format("{}: DLQ topic name must not start with '__'", topic->first));
  return {};
}

}  // namespace tidemark::config
