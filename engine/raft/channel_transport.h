#pragma once

#include <map>
#include <memory>
#include <string>

#include "platform/process.h"
#include "raft/transport.h"

namespace tidemark::network {
class Channel;
}

namespace tidemark::raft {

/// The quorum's own connections, one a peer, over TCP: the product's RaftTransport. Made anywhere, used on the node's
/// executor.
class ChannelTransport final : public RaftTransport {
 public:
  /// `listener`: the controller listener's name, which answers name the leader's address on.
  ChannelTransport(platform::Process& process, std::shared_ptr<platform::Executor> executor, std::string clientId,
                   std::string listener);
  ~ChannelTransport() override;
  void send(NodeId id, const platform::Endpoint& endpoint, Request request, platform::Duration timeout,
            Handler handler) override;
  void close() override;

 private:
  struct Peer {
    platform::Endpoint endpoint;
    std::unique_ptr<network::Channel> channel;
  };
  network::Channel& channelTo(NodeId id, const platform::Endpoint& endpoint);

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const std::string clientId_;
  const std::string listener_;
  std::map<NodeId, Peer> peers_;
  bool closed_ = false;
};

}  // namespace tidemark::raft
