#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "network/channel_codec.h"
#include "platform/process.h"

namespace tidemark::broker {

/// Where the active controller listens; nothing during an election. Any thread.
using FindController = std::function<std::optional<std::pair<NodeId, platform::Endpoint>>()>;

/// A connection of a broker's own to the active controller, whoever that is: asks again when the controller moved,
/// could not be reached or was not one; Kafka's NodeToControllerChannelManager. One for each purpose (heartbeats,
/// AlterPartition, forwarded requests, producer ids), so that none waits for another.
///
/// Belongs to its serial executor: send() and wake() are called there, answers come there.
class ControllerChannel {
 public:
  struct Options {
    std::string clientId;
    /// One attempt.
    platform::Duration requestTimeout = std::chrono::seconds(30);
    /// All attempts together; a request gives up with RequestTimedOut.
    platform::Duration retryTimeout = std::chrono::seconds(60);
    platform::Duration retryBackoff = std::chrono::milliseconds(50);
  };

  ControllerChannel(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
                    Options options);

  /// `handler` gets the first answer that is not NotController.
  template <class Request>
  void send(Request request, std::move_only_function<void(Result<typename Request::Response>)> handler) {
    queue(std::make_unique<PendingOf<Request>>(std::move(request), std::move(handler)));
  }

  /// The controller may be another one now: what waits is tried at once, what the old one has not answered is sent
  /// again.
  void wake();
  /// Forgets everything.
  void close();

 private:
  struct Pending {
    Pending() = default;
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    virtual ~Pending() = default;
    /// For one attempt.
    virtual network::RawRequest request() const = 0;
    /// Keeps an answer, or why there is none; false if it comes from a node that is not the controller.
    virtual bool take(Result<network::RawResponse> answer) = 0;
    /// Tells what was taken.
    virtual void tell() = 0;

    platform::MonotonicTime deadline{};
  };

  template <class Request>
  struct PendingOf final : Pending {
    using Response = typename Request::Response;
    using Handler = std::move_only_function<void(Result<Response>)>;

    PendingOf(Request what, Handler told) : asked(std::move(what)), handler(std::move(told)) {}

    network::RawRequest request() const override { return network::rawRequest(Request(asked)); }
    bool take(Result<network::RawResponse> answer) override {
      received = network::decodeAnswer<Response>(std::move(answer));
      if constexpr (requires { received->message.errorCode; })
        return !received || received->message.errorCode != static_cast<int16_t>(ErrorCode::NotController);
      return true;
    }
    void tell() override {
      if (!received) return handler(std::unexpected(std::move(received).error()));
      // A copy owns what the frame held.
      handler(Response(received->message));
    }

    const Request asked;
    Handler handler;
    Result<network::Received<Response>> received;
  };

  void queue(std::shared_ptr<Pending> pending);
  void attempt(const std::shared_ptr<Pending>& pending);
  void pump();
  void retryLater();
  bool connectToController();

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  const FindController find_;
  const Options options_;
  std::deque<std::shared_ptr<Pending>> waiting_;
  /// Sent on channel_; sent again if that goes.
  std::list<std::shared_ptr<Pending>> inFlight_;
  std::optional<std::pair<NodeId, platform::Endpoint>> controller_;
  std::unique_ptr<network::Channel> channel_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  platform::Timer retry_;
};

}  // namespace tidemark::broker
