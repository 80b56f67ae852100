#pragma once

#include <optional>

#include "network/api_table.h"
#include "network/server.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"

namespace tidemark::network {

/// What to answer to ApiVersions in a version that is served. Pure.
protocol::ApiVersionsResponse answerApiVersions(const protocol::ApiVersionsRequest& request, int16_t version,
                                                const ApiTable& table, const FeatureInfo& features);

/// What to answer, in version 0, to one that is newer than what is served: an error and the range.
protocol::ApiVersionsResponse refuseApiVersions(const ApiTable& table);

/// Whether a client's software name or version is one that Kafka accepts (KIP-511).
bool isValidSoftwareName(std::string_view name) noexcept;

}  // namespace tidemark::network
