#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "base/uuid.h"
#include "network/request.h"

namespace tidemark::faults {

/// The name of a topic by its id; empty if nobody knows.
using TopicName = std::function<std::string(const Uuid&)>;

/// The topics and partitions (−1: all of it) that a request names. Nothing for other APIs, for what does not decode,
/// and for a fetch that goes on with its session.
std::vector<TopicPartition> namedIn(const network::Request& request, const TopicName& topicName);

/// Whether requests of the API (Kafka's name of it) can be answered with an error in their own words.
bool canRefuse(std::string_view api) noexcept;

/// Answers the request with the error, for each of what it asks for where the API says it so. A produce that wants no
/// answer ends with its connection, as with Kafka.
void refuse(network::RequestPtr request, ErrorCode error);

}  // namespace tidemark::faults
