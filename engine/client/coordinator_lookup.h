#pragma once

#include <functional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"

namespace tidemark::client {

/// Kafka's FindCoordinatorRequest.CoordinatorType.
enum class CoordinatorKind : int8_t { Group = 0, Transaction = 1 };

/// Where a coordinator is, as a broker tells it.
struct CoordinatorPlace {
  NodeId node;
  platform::Endpoint endpoint;
};

/// Asks any broker, once, which one coordinates `key`: a group or a transactional id. `found` is told on the client's
/// executor, even if that is gone by then; an answer that does not name the key is CoordinatorNotAvailable. `timeout`
/// 0: the channel's.
void findCoordinator(Client& client, CoordinatorKind kind, std::string key, platform::Duration timeout,
                     std::move_only_function<void(Result<CoordinatorPlace>)> found);

}  // namespace tidemark::client
