#pragma once

#include <memory>

#include "broker/controller_channel.h"
#include "network/request.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"

namespace tidemark::broker {

/// Carries requests of clients to the active controller and its answers back, as they are, in an Envelope (KIP-590)
/// over a connection of its own. Any thread.
class Forwarding {
 public:
  Forwarding(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
             NodeId self);
  ~Forwarding();

  void forward(network::RequestPtr request);
  /// The broker's own wish for topics, in nobody's name. `done` runs on the executor.
  void createTopics(protocol::CreateTopicsRequest request,
                    std::move_only_function<void(Result<protocol::CreateTopicsResponse>)> done);
  void wake();
  void close();

 private:
  const std::shared_ptr<platform::Executor> executor_;
  /// Of the executor.
  ControllerChannel channel_;
};

/// The 4 or 16 bytes of a numeric address; empty if it is none.
ByteVector addressBytes(const std::string& host);

}  // namespace tidemark::broker
