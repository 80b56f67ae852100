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

}  // namespace tidemark::coordinator
