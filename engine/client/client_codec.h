#pragma once

#include <utility>

#include "client/client.h"
#include "network/channel_codec.h"

/// The templates of client.h, apart from it since they need the codecs.
namespace tidemark::client {

/// A moment that does not come.
inline constexpr platform::MonotonicTime kNever = platform::MonotonicTime::max();

/// As most requests tell a time span.
inline int32_t millis(platform::Duration duration) {
  return static_cast<int32_t>(std::chrono::duration_cast<platform::milliseconds>(duration).count());
}

template <class Request, class Handler>
void Client::sendTo(NodeId node, Request request, network::SendOptions options, Handler handler) {
  if (network::Channel* channel = channelTo(node)) {
    return channel->send(std::move(request), options, std::move(handler));
  }
  executor_->post([alive = std::weak_ptr(alive_), node, handler = std::move(handler)]() mutable {
    if (alive.expired()) return;
    handler(Result<network::Received<typename Request::Response>>(
        fail(ErrorCode::BrokerNotAvailable, fmt::format("the metadata knows no broker {}", node))));
  });
}

template <class Request, class Handler>
void Client::sendToAny(Request request, network::SendOptions options, Handler handler) {
  using Response = typename Request::Response;
  channelToAny().send(std::move(request), options,
                      [alive = std::weak_ptr(alive_),
                       handler = std::move(handler)](Result<network::Received<Response>> received) mutable {
                        const auto self = alive.lock();
                        if (!received && self) (*self)->anyFailed();
                        handler(std::move(received));
                      });
}

template <class Request, class Handler>
void Client::sendToLeader(const TopicPartition& which, Request request, network::SendOptions options, Handler handler) {
  if (const auto leader = metadata_.leaderOf(which)) {
    return sendTo(*leader, std::move(request), options, std::move(handler));
  }
  executor_->post([alive = std::weak_ptr(alive_), what = fmt::format("{} has no leader", which),
                   handler = std::move(handler)]() mutable {
    if (alive.expired()) return;
    handler(
        Result<network::Received<typename Request::Response>>(fail(ErrorCode::LeaderNotAvailable, std::move(what))));
  });
}

}  // namespace tidemark::client
