#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/clock.h"

namespace tidemark::coordinator {

/// What is in force for one streams group: its own `streams.*` over the broker's `group.streams.*`, under those names
/// and with Kafka's defaults.
struct StreamsGroupConfig {
  platform::milliseconds sessionTimeout{45000};
  platform::milliseconds heartbeatInterval{5000};
  /// How long a group that was empty waits for more members before it is assigned. Zero: not at all.
  platform::milliseconds initialRebalanceDelay{3000};
  /// Least time between two assignments.
  platform::milliseconds assignmentInterval{1000};
  /// How often members tell how far their state is restored, and up to which lag it counts as restored (records).
  platform::milliseconds taskOffsetInterval{60000};
  int64_t acceptableRecoveryLag = 10000;
  int32_t numStandbyReplicas = 0;
  /// Client tags that standby replicas are to be spread over; members that lack one are told.
  std::vector<std::string> rackAwareAssignmentTags;
  /// `group.streams.max.size`
  int32_t maxSize = INT32_MAX;
};

using StreamsConfigOf = std::function<StreamsGroupConfig(std::string_view groupId)>;

}  // namespace tidemark::coordinator
