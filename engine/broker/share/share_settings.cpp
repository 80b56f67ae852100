#include <algorithm>
#include <cctype>
#include <charconv>

#include "broker/share/share_service.h"
#include "config/config_table.h"
#include "config/topic_config.h"
#include "metadata/features.h"

namespace tidemark::broker {
namespace {

constexpr int16_t kFirstShareVersionWithDeadLetters = 2;

/// A duration as ISO 8601 writes it, days to seconds ("P1DT2H", "PT0.5S"). Nothing if the text is none.
std::optional<platform::milliseconds> parseDuration(std::string_view text) {
  if (text.size() < 3 || std::toupper(static_cast<unsigned char>(text.front())) != 'P') return std::nullopt;
  text.remove_prefix(1);
  double seconds = 0;
  bool inTime = false;
  while (!text.empty()) {
    if (std::toupper(static_cast<unsigned char>(text.front())) == 'T') {
      inTime = true;
      text.remove_prefix(1);
      continue;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data() + text.size()) return std::nullopt;
    const auto unit = static_cast<char>(std::toupper(static_cast<unsigned char>(*end)));
    if (!inTime && unit == 'D') {
      seconds += number * 86400;
    } else if (inTime && unit == 'H') {
      seconds += number * 3600;
    } else if (inTime && unit == 'M') {
      seconds += number * 60;
    } else if (inTime && unit == 'S') {
      seconds += number;
    } else {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  }
  return platform::milliseconds(static_cast<int64_t>(seconds * 1000));
}

/// A group's settings: its own, bounded by the broker's, or the broker's.
class GroupValues {
 public:
  GroupValues(const metadata::Image& image, const config::BrokerConfig& config, std::string_view groupId)
      : own_(image.configs.of(config::ResourceType::Group, groupId)), config_(config) {}
  std::string text(std::string_view key) const {
    const config::ConfigDefinition* definition = config::configTable(config::ConfigLevel::Group).find(key);
    return config::effectiveGroupConfig(*definition, own_, config_.layers()).value.value_or("");
  }
  int64_t number(std::string_view key) const {
    const std::string value = text(key);
    int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
  }
  int64_t bounded(std::string_view key, const char* least, const char* most) const {
    const int64_t low = config_.getInt(least), high = config_.getInt(most);
    return low <= high ? std::clamp(number(key), low, high) : number(key);
  }

 private:
  const config::ConfigMap& own_;
  const config::BrokerConfig& config_;
};

}  // namespace

ShareGroupSettings shareGroupSettings(const metadata::Image& image, const config::BrokerConfig& config,
                                      std::string_view groupId) {
  const GroupValues values(image, config, groupId);
  ShareGroupSettings settings;
  settings.partition.lockDuration =
      platform::milliseconds(values.bounded("share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms",
                                            "group.share.max.record.lock.duration.ms"));
  settings.partition.deliveryCountLimit = static_cast<int16_t>(values.bounded(
      "share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"));
  settings.partition.maxRecordLocks = static_cast<int32_t>(
      values.bounded("share.partition.max.record.locks", "group.share.min.partition.max.record.locks",
                     "group.share.max.partition.max.record.locks"));
  settings.partition.deadLetters =
      image.features.level(metadata::kShareVersionFeature) >= kFirstShareVersionWithDeadLetters &&
      !values.text("errors.deadletterqueue.topic.name").empty();
  settings.readCommitted = values.text("share.isolation.level") == "read_committed";
  settings.renews = values.text("share.renew.acknowledge.enable") != "false";
  const std::string reset = values.text("share.auto.offset.reset");
  constexpr std::string_view kByDuration = "by_duration:";
  if (reset == "earliest") {
    settings.resetTimestamp = log::kEarliestTimestamp;
  } else if (reset.starts_with(kByDuration)) {
    settings.resetDuration = parseDuration(std::string_view(reset).substr(kByDuration.size()));
  }
  return settings;
}

coordinator::ShareMembershipSettings shareMembershipSettings(const metadata::Image& image,
                                                             const config::BrokerConfig& config,
                                                             std::string_view groupId) {
  const GroupValues values(image, config, groupId);
  return {.heartbeatInterval = platform::milliseconds(values.bounded("share.heartbeat.interval.ms",
                                                                     "group.share.min.heartbeat.interval.ms",
                                                                     "group.share.max.heartbeat.interval.ms")),
          .sessionTimeout = platform::milliseconds(values.bounded(
              "share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms")),
          .assignmentInterval = platform::milliseconds(values.bounded("share.assignment.interval.ms",
                                                                      "group.share.min.assignment.interval.ms",
                                                                      "group.share.max.assignment.interval.ms"))};
}

}  // namespace tidemark::broker
