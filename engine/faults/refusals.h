#pragma once

#include <string_view>

#include "base/error_code.h"
#include "network/request.h"

namespace tidemark::faults {

/// Whether requests of the API (Kafka's name of it) can be answered with an error in their own words.
bool canRefuse(std::string_view api) noexcept;

/// Answers the request with the error, for each of what it asks for where the API says it so. A produce that wants no
/// answer ends with its connection, as with Kafka.
void refuse(network::RequestPtr request, ErrorCode error);

}  // namespace tidemark::faults
