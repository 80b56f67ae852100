#include "raft/channel_transport.h"

#include "network/channel_codec.h"
#include "protocol/generated/begin_quorum_epoch_request.h"
#include "protocol/generated/begin_quorum_epoch_response.h"
#include "protocol/generated/end_quorum_epoch_request.h"
#include "protocol/generated/end_quorum_epoch_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/fetch_snapshot_request.h"
#include "protocol/generated/fetch_snapshot_response.h"
#include "protocol/generated/vote_request.h"
#include "protocol/generated/vote_response.h"
#include "raft/wire.h"

namespace tidemark::raft {
namespace {

/// A raft fetch needs the last fetched epoch and the directory; a peer that knows only older versions is no peer.
constexpr int16_t kFirstVoteWithPreVote = 2;

}  // namespace

ChannelTransport::ChannelTransport(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                                   std::string clientId, std::string listener)
    : process_(process),
      executor_(std::move(executor)),
      clientId_(std::move(clientId)),
      listener_(std::move(listener)) {}

ChannelTransport::~ChannelTransport() = default;

network::Channel& ChannelTransport::channelTo(NodeId id, const platform::Endpoint& endpoint) {
  Peer& peer = peers_[id];
  if (!peer.channel || peer.endpoint != endpoint) {
    network::ChannelOptions options;
    options.clientId = clientId_;
    // The state machine backs off by itself, and an election must not wait for a socket.
    options.reconnectBackoff = std::chrono::milliseconds(1);
    options.reconnectBackoffMax = std::chrono::milliseconds(1);
    peer.endpoint = endpoint;
    peer.channel = std::make_unique<network::Channel>(process_, executor_, endpoint, options);
  }
  return *peer.channel;
}

void ChannelTransport::send(NodeId id, const platform::Endpoint& endpoint, Request request, platform::Duration timeout,
                            Handler handler) {
  if (closed_) return;
  network::Channel& channel = channelTo(id, endpoint);
  std::visit(
      [&](auto& message) {
        auto wire = toWire(message);
        using WireResponse = typename decltype(wire)::Response;
        bool preVote = [&] {
          if constexpr (std::is_same_v<std::decay_t<decltype(message)>, VoteRequest>) return message.preVote;
          return false;
        }();
        channel.send(std::move(wire), {.timeout = timeout},
                     [listener = listener_, preVote,
                      handler = std::move(handler)](Result<network::Received<WireResponse>> received) mutable {
                       if (!received) return handler(std::unexpected(std::move(received).error()));
                       // A version without pre-votes would have asked for a real vote; writing it is refused before
                       // that, this only makes sure.
                       if (preVote && received->version < kFirstVoteWithPreVote)
                         return handler(fail(ErrorCode::UnsupportedVersion, "the peer knows no pre-votes"));
                       auto answer = fromWire(received->message, listener);
                       if (!answer) return handler(std::unexpected(std::move(answer).error()));
                       handler(Response(std::move(*answer)));
                     });
      },
      request);
}

void ChannelTransport::close() {
  closed_ = true;
  for (auto& [id, peer] : peers_)
    if (peer.channel) peer.channel->close();
}

}  // namespace tidemark::raft
