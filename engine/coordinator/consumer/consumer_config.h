#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/clock.h"

namespace tidemark::coordinator {

/// What is set for one group (`consumer.session.timeout.ms`, …) in place of the broker's value.
struct ConsumerGroupOverrides {
  std::optional<platform::milliseconds> sessionTimeout;
  std::optional<platform::milliseconds> heartbeatInterval;
  std::optional<platform::milliseconds> assignmentInterval;
};

/// Kafka's settings `group.consumer.*`, with their defaults.
struct ConsumerGroupConfig {
  /// How long a member may be silent, how often it is to be heard, and at least how long a target stands before the
  /// next is made: for groups without their own, and the bounds of those.
  platform::milliseconds sessionTimeout{45000};
  platform::milliseconds minSessionTimeout{45000};
  platform::milliseconds maxSessionTimeout{60000};
  platform::milliseconds heartbeatInterval{5000};
  platform::milliseconds minHeartbeatInterval{5000};
  platform::milliseconds maxHeartbeatInterval{15000};
  platform::milliseconds assignmentInterval{1000};
  platform::milliseconds minAssignmentInterval{0};
  platform::milliseconds maxAssignmentInterval{15000};
  int32_t maxSize = INT32_MAX;
  /// The first is the default.
  std::vector<std::string> assignors{"uniform", "range"};
  /// An expression is looked at anew that often, and after new topics no sooner than regexRefreshMin after the last
  /// time.
  platform::milliseconds regexRefreshInterval{600000};
  platform::milliseconds regexRefreshMin{10000};
  /// `group.consumer.migration.policy`
  bool upgrades = true;
  bool downgrades = true;
  /// What is set for a group. None: nothing is for any. Any thread.
  std::function<ConsumerGroupOverrides(std::string_view group)> overrides;

  struct Times {
    platform::milliseconds sessionTimeout;
    platform::milliseconds heartbeatInterval;
    platform::milliseconds assignmentInterval;
  };
  Times timesOf(std::string_view group) const {
    const ConsumerGroupOverrides own = overrides ? overrides(group) : ConsumerGroupOverrides();
    return {within(own.sessionTimeout, sessionTimeout, minSessionTimeout, maxSessionTimeout),
            within(own.heartbeatInterval, heartbeatInterval, minHeartbeatInterval, maxHeartbeatInterval),
            within(own.assignmentInterval, assignmentInterval, minAssignmentInterval, maxAssignmentInterval)};
  }

 private:
  static platform::milliseconds within(std::optional<platform::milliseconds> own, platform::milliseconds general,
                                       platform::milliseconds min, platform::milliseconds max) {
    if (!own) return general;
    return *own < min ? min : *own > max ? max : *own;
  }
};

}  // namespace tidemark::coordinator
