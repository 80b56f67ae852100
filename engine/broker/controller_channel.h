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
    auto held = std::make_shared<Request>(std::move(request));
    auto answer =
        std::make_shared<std::move_only_function<void(Result<typename Request::Response>)>>(std::move(handler));
    queue({.attempt =
               [held, answer](network::Channel& channel, const Options& options, Settle settle) {
                 channel.send(Request(*held), {.timeout = options.requestTimeout},
                              [answer, settle = std::move(settle)](
                                  Result<network::Received<typename Request::Response>> received) mutable {
                                if (!received) {
                                  const bool unreachable = received.error().code == ErrorCode::NetworkException ||
                                                           received.error().code == ErrorCode::RequestTimedOut;
                                  settle(!unreachable);
                                  if (!unreachable) (*answer)(std::unexpected(std::move(received).error()));
                                  return;
                                }
                                if constexpr (requires { received->message.errorCode; })
                                  if (received->message.errorCode == static_cast<int16_t>(ErrorCode::NotController)) {
                                    settle(false);
                                    return;
                                  }
                                settle(true);
                                // A copy owns what the frame held.
                                (*answer)(typename Request::Response(received->message));
                              });
               },
           .giveUp = [answer](Error error) { (*answer)(std::unexpected(std::move(error))); },
           .deadline = {}});
  }

  /// The controller may be another one now: what waits is tried at once, what the old one has not answered is sent
  /// again.
  void wake();
  /// Forgets everything.
  void close();

 private:
  /// Told how an attempt went: true, the request has its answer; false, try again.
  using Settle = std::move_only_function<void(bool answered)>;
  struct Pending {
    std::function<void(network::Channel&, const Options&, Settle)> attempt;
    std::function<void(Error)> giveUp;
    platform::MonotonicTime deadline;
  };

  void queue(Pending pending);
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
