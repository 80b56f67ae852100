#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"

namespace tidemark::coordinator {

/// The protocol type of consumers' groups; its metadata and assignments the coordinator can read, those of others not.
inline constexpr std::string_view kConsumerProtocol = "consumer";

/// Topics of an encoded ConsumerProtocolSubscription. Only the part that all versions share is read. Nothing if it
/// cannot be read.
std::optional<std::vector<std::string>> subscribedTopicsOf(ByteView subscription);

/// Partitions of an encoded ConsumerProtocolAssignment, likewise. Nothing also for no bytes.
std::optional<std::vector<TopicPartition>> assignedPartitionsOf(ByteView assignment);

/// What a consumer asks for, all versions.
struct Subscription {
  std::vector<std::string> topics;
  /// What it still has; versions 1 and later.
  std::vector<TopicPartition> owned;
  std::optional<std::string> rackId;
};
/// Nothing if it cannot be read. A later version than is known is read as far as that goes.
std::optional<Subscription> subscriptionOf(ByteView subscription);
/// The version of an encoded subscription, or the latest that is known.
int16_t protocolVersionOf(ByteView subscription);
/// A ConsumerProtocolAssignment without user data.
ByteVector encodedAssignment(const std::vector<TopicPartition>& partitions, int16_t version = 0);

}  // namespace tidemark::coordinator
