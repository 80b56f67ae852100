#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "network/channel.h"
#include "platform/clock.h"

namespace tidemark::network {

/// A request that a channel was given and has not given back.
struct PendingRequest {
  RawRequest request;
  SendOptions options;
  RawHandler handler;
  platform::MonotonicTime deadline;
  int16_t version = -1;
  int32_t correlationId = -1;
  /// Of its last byte, counted over the life of the connection.
  uint64_t writtenAt = 0;
};

/// All of a channel, each in the order of send(). Of the channel's executor.
struct PendingRequests {
  std::deque<PendingRequest> waiting;     ///< for the connection
  std::deque<PendingRequest> sent;        ///< and to be answered, in this order
  std::deque<PendingRequest> unanswered;  ///< to be written, then done

  size_t size() const noexcept { return waiting.size() + sent.size() + unanswered.size(); }
  std::deque<PendingRequest> takeAll();

  struct Expired {
    std::deque<PendingRequest> requests;
    /// The connection has some of them.
    bool onConnection = false;
    /// The deadline of those that are left.
    std::optional<platform::MonotonicTime> next;
  };
  Expired takeExpired(platform::MonotonicTime now);
};

}  // namespace tidemark::network
