#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "metadata/image.h"
#include "network/channel_codec.h"
#include "platform/process.h"

namespace tidemark::broker {

/// Connections of a broker's own to other brokers, one to each, made when first needed. Belongs to its serial executor:
/// all calls there, answers come there.
class BrokerChannels {
 public:
  BrokerChannels(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                 std::function<metadata::ImagePtr()> image, std::string listener, std::string clientId)
      : process_(process),
        executor_(std::move(executor)),
        image_(std::move(image)),
        listener_(std::move(listener)),
        clientId_(std::move(clientId)) {}

  /// The answer owns what it holds. Errors: BrokerNotAvailable (the metadata does not know where it is),
  /// NetworkException, RequestTimedOut; never inside the call.
  template <class Request>
  void send(NodeId node, Request request, std::move_only_function<void(Result<typename Request::Response>)> done) {
    using Response = typename Request::Response;
    sendRaw(
        node, network::rawRequest(std::move(request)),
        network::rawHandler<Response>([done = std::move(done)](Result<network::Received<Response>> received) mutable {
          if (!received) return done(std::unexpected(std::move(received).error()));
          done(Response(received->message));
        }));
  }
  /// Forgets what is under way.
  void close() { channels_.clear(); }

 private:
  void sendRaw(NodeId node, network::RawRequest request, network::RawHandler handler) {
    if (network::Channel* channel = to(node))
      return channel->sendRaw(std::move(request), {.timeout = std::chrono::seconds(10)}, std::move(handler));
    executor_->post([node, handler = std::move(handler)]() mutable {
      handler(fail(ErrorCode::BrokerNotAvailable, fmt::format("broker {} is not there", node)));
    });
  }
  network::Channel* to(NodeId node) {
    const metadata::ImagePtr image = image_();
    const metadata::BrokerRegistration* broker = image->cluster.broker(node);
    const metadata::Endpoint* known = broker != nullptr ? broker->endpoint(listener_) : nullptr;
    if (known == nullptr) return nullptr;
    const platform::Endpoint endpoint{known->host, static_cast<uint16_t>(known->port)};
    std::unique_ptr<network::Channel>& channel = channels_[node];
    if (!channel || channel->endpoint() != endpoint)
      channel = std::make_unique<network::Channel>(process_, executor_, endpoint,
                                                   network::ChannelOptions{.clientId = clientId_});
    return channel.get();
  }

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const std::function<metadata::ImagePtr()> image_;
  const std::string listener_;
  const std::string clientId_;
  std::map<NodeId, std::unique_ptr<network::Channel>> channels_;
};

}  // namespace tidemark::broker
