#pragma once

#include "network/channel.h"
#include "protocol/generated/api_versions_response.h"

// What the other side of a connection serves, and the versions that both know. Pure.

namespace tidemark::network {

/// What a peer says it serves, as far as it makes sense.
ApiTable tableOf(const protocol::ApiVersionsResponse& response);
FinalizedFeatures featuresOf(const protocol::ApiVersionsResponse& response);

/// The newest version of `ours` that the options allow and the peer serves; null: it was not asked what that is.
/// UnsupportedVersion, which names the peer by its endpoint.
Result<int16_t> versionFor(const ApiRange& ours, const SendOptions& options, const ApiTable* theirs,
                           const platform::Endpoint& peer);

}  // namespace tidemark::network
