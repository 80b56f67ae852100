#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "client/client.h"
#include "network/channel_codec.h"
#include "protocol/fields.h"

/// The templates of client.h, apart from it since they need the codecs.
namespace tidemark::client {

/// A moment that does not come.
inline constexpr platform::MonotonicTime kNever = platform::MonotonicTime::max();

/// As most requests tell a time span.
inline int32_t millis(platform::Duration duration) {
  return static_cast<int32_t>(std::chrono::duration_cast<platform::milliseconds>(duration).count());
}

/// What an answer's code and words say; without words, the code's name for `what`.
inline Error errorOf(int16_t code, const std::optional<protocol::Text>& message, std::string_view what) {
  const auto error = static_cast<ErrorCode>(code);
  if (message && !message->empty()) return {error, message->str()};
  return {error, fmt::format("{}: {}", what, errorName(error))};
}

template <class Request, class Handler>
void Client::sendTo(NodeId node, Request request, network::SendOptions options, Handler handler) {
  sendRawTo(node, network::rawRequest(std::move(request)), options,
            network::rawHandler<typename Request::Response>(std::move(handler)));
}

template <class Request, class Handler>
void Client::sendToAny(Request request, network::SendOptions options, Handler handler) {
  channelToAny().send(std::move(request), options,
                      [alive = std::weak_ptr(alive_), handler = std::move(handler)](
                          Result<network::Received<typename Request::Response>> received) mutable {
                        const auto self = alive.lock();
                        if (!received && self) (*self)->anyFailed();
                        handler(std::move(received));
                      });
}

template <class Request, class Handler>
void Client::sendToLeader(const TopicPartition& which, Request request, network::SendOptions options, Handler handler) {
  sendRawToLeader(which, network::rawRequest(std::move(request)), options,
                  network::rawHandler<typename Request::Response>(std::move(handler)));
}

}  // namespace tidemark::client
