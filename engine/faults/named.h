#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/uuid.h"
#include "protocol/api.h"

namespace tidemark::faults {

/// The name of a topic by its id; empty if nobody knows.
using TopicName = std::function<std::string(const Uuid&)>;

/// The topics and partitions (−1: all of it) that a request (its body) names, wherever in its message and whether by
/// name or by id. Nothing for one that asks for all there are, for what does not decode, and for a fetch that goes on
/// with its session; what a fetch forgets is not what it asks for.
std::vector<TopicPartition> namedIn(protocol::ApiKey api, int16_t version, ByteView body, const TopicName& topicName);

/// Whether requests of the API (Kafka's name of it) can name a topic, and whether a partition of it.
bool namesTopics(std::string_view api) noexcept;
bool namesPartitions(std::string_view api) noexcept;

}  // namespace tidemark::faults
