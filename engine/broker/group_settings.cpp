#include "broker/group_settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

namespace tidemark::broker {
namespace {

std::optional<int64_t> numberIn(const config::ConfigMap& group, std::string_view key) {
  const auto found = group.find(key);
  if (found == group.end()) return std::nullopt;
  int64_t value = 0;
  const char* end = found->second.data() + found->second.size();
  if (std::from_chars(found->second.data(), end, value).ec != std::errc()) return std::nullopt;
  return value;
}

std::vector<std::string> listIn(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (!one.empty()) list.emplace_back(one);
  }
  return list;
}

}  // namespace

coordinator::StreamsGroupConfig streamsGroupConfig(const config::BrokerConfig& broker, const config::ConfigMap& group) {
  const auto bounded = [&](std::string_view key, std::string_view ofBroker, int64_t least, int64_t most) {
    const std::optional<int64_t> own = numberIn(group, key);
    return own ? std::clamp(*own, least, std::max(least, most)) : broker.getLong(ofBroker);
  };
  const auto bound = [&](std::string_view key) { return broker.getLong(key); };
  using std::chrono::milliseconds;
  coordinator::StreamsGroupConfig config;
  config.sessionTimeout = milliseconds(bounded("streams.session.timeout.ms", "group.streams.session.timeout.ms",
                                               bound("group.streams.min.session.timeout.ms"),
                                               bound("group.streams.max.session.timeout.ms")));
  config.heartbeatInterval = milliseconds(
      bounded("streams.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms",
              bound("group.streams.min.heartbeat.interval.ms"), bound("group.streams.max.heartbeat.interval.ms")));
  config.initialRebalanceDelay = milliseconds(
      bounded("streams.initial.rebalance.delay.ms", "group.streams.initial.rebalance.delay.ms", 0, INT32_MAX));
  config.assignmentInterval = milliseconds(
      bounded("streams.assignment.interval.ms", "group.streams.assignment.interval.ms",
              bound("group.streams.min.assignment.interval.ms"), bound("group.streams.max.assignment.interval.ms")));
  config.taskOffsetInterval =
      milliseconds(bounded("streams.task.offset.interval.ms", "group.streams.task.offset.interval.ms",
                           bound("group.streams.min.task.offset.interval.ms"), INT32_MAX));
  config.acceptableRecoveryLag =
      bounded("streams.acceptable.recovery.lag", "group.streams.acceptable.recovery.lag", 0, INT64_MAX);
  config.numStandbyReplicas =
      static_cast<int32_t>(bounded("streams.num.standby.replicas", "group.streams.num.standby.replicas", 0,
                                   bound("group.streams.max.standby.replicas")));
  const auto tags = group.find("streams.rack.aware.assignment.tags");
  config.rackAwareAssignmentTags =
      tags != group.end() ? listIn(tags->second) : broker.getList("group.streams.rack.aware.assignment.tags");
  config.maxSize = static_cast<int32_t>(bound("group.streams.max.size"));
  return config;
}

coordinator::ConsumerGroupConfig consumerGroupConfig(const config::BrokerConfig& broker) {
  coordinator::ConsumerGroupConfig config;
  config.sessionTimeout = broker.getMs("group.consumer.session.timeout.ms");
  config.minSessionTimeout = broker.getMs("group.consumer.min.session.timeout.ms");
  config.maxSessionTimeout = broker.getMs("group.consumer.max.session.timeout.ms");
  config.heartbeatInterval = broker.getMs("group.consumer.heartbeat.interval.ms");
  config.minHeartbeatInterval = broker.getMs("group.consumer.min.heartbeat.interval.ms");
  config.maxHeartbeatInterval = broker.getMs("group.consumer.max.heartbeat.interval.ms");
  config.assignmentInterval = broker.getMs("group.consumer.assignment.interval.ms");
  config.minAssignmentInterval = broker.getMs("group.consumer.min.assignment.interval.ms");
  config.maxAssignmentInterval = broker.getMs("group.consumer.max.assignment.interval.ms");
  config.maxSize = broker.getInt("group.consumer.max.size");
  config.regexRefreshInterval = broker.getMs("group.consumer.regex.refresh.interval.ms");
  if (std::vector<std::string> assignors = broker.getList("group.consumer.assignors"); !assignors.empty()) {
    config.assignors = std::move(assignors);
  }
  std::string policy = broker.getString("group.consumer.migration.policy");
  std::transform(policy.begin(), policy.end(), policy.begin(), [](unsigned char c) { return std::tolower(c); });
  config.upgrades = policy == "bidirectional" || policy == "upgrade";
  config.downgrades = policy == "bidirectional" || policy == "downgrade";
  return config;
}

coordinator::ConsumerGroupOverrides consumerGroupOverrides(const config::ConfigMap& group) {
  const auto time = [&](std::string_view key) -> std::optional<std::chrono::milliseconds> {
    const std::optional<int64_t> value = numberIn(group, key);
    return value ? std::optional(std::chrono::milliseconds(*value)) : std::nullopt;
  };
  return {.sessionTimeout = time("consumer.session.timeout.ms"),
          .heartbeatInterval = time("consumer.heartbeat.interval.ms"),
          .assignmentInterval = time("consumer.assignment.interval.ms")};
}

}  // namespace tidemark::broker
