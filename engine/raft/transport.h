#pragma once

#include <functional>

#include "base/result.h"
#include "platform/clock.h"
#include "platform/network.h"
#include "raft/messages.h"

namespace tidemark::raft {

/// How a RaftNode reaches other nodes: connections of its own, one a peer. Used on the node's executor.
class RaftTransport {
 public:
  using Handler = std::move_only_function<void(Result<Response>)>;

  virtual ~RaftTransport() = default;
  /// Sends to the node at `endpoint`; `id` is −1 for a bootstrap server whose id is not known. The handler runs on the
  /// node's executor, later, once, at the latest after `timeout`; never after close(). UnsupportedVersion if the peer
  /// cannot be asked this (a pre-vote of a peer before 4.0).
  virtual void send(NodeId id, const platform::Endpoint& endpoint, Request request, platform::Duration timeout,
                    Handler handler) = 0;
  /// Closes all connections and forgets outstanding handlers.
  virtual void close() = 0;
};

}  // namespace tidemark::raft
