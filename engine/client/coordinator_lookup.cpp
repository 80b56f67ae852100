#include "client/coordinator_lookup.h"

#include <utility>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"

namespace tidemark::client {
namespace {

/// The first version that takes a list of keys.
constexpr int16_t kVersion = 4;

Result<CoordinatorPlace> placeIn(const protocol::FindCoordinatorResponse& response, std::string_view key) {
  if (response.coordinators.size() != 1)
    return fail(ErrorCode::CoordinatorNotAvailable, fmt::format("the answer does not name the coordinator of {}", key));
  const auto& found = response.coordinators[0];
  if (found.errorCode != 0)
    return std::unexpected(errorOf(found.errorCode, found.errorMessage, fmt::format("the coordinator of {}", key)));
  return CoordinatorPlace{NodeId(found.nodeId), {found.host.str(), static_cast<uint16_t>(found.port)}};
}

}  // namespace

void findCoordinator(Client& client, CoordinatorKind kind, std::string key, platform::Duration timeout,
                     std::move_only_function<void(Result<CoordinatorPlace>)> found) {
  protocol::FindCoordinatorRequest request;
  request.keyType = static_cast<int8_t>(kind);
  request.coordinatorKeys.emplace_back(key);
  client.sendToAny(std::move(request), {.version = kVersion, .timeout = timeout},
                   [key = std::move(key), found = std::move(found)](
                       Result<network::Received<protocol::FindCoordinatorResponse>> received) mutable {
                     if (!received) return found(std::unexpected(std::move(received).error()));
                     found(placeIn(received->message, key));
                   });
}

}  // namespace tidemark::client
