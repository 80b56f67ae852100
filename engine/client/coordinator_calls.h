#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "client/client.h"
#include "client/client_codec.h"
#include "client/coordinator_lookup.h"

namespace tidemark::client {

/// Asks one coordinator, of transactions or of a group, one thing after the other. It is looked for when there is need,
/// and again when it has moved; each request is repeated until its answer is final. Of its client's executor.
class CoordinatorCalls : public std::enable_shared_from_this<CoordinatorCalls> {
 public:
  struct Setup {
    CoordinatorKind kind;
    /// A transactional id or a group.
    std::string key;
    /// Of one attempt.
    platform::Duration requestTimeout;
    /// Of a call, repetitions and the calls before it included.
    platform::Duration patience;
  };
  CoordinatorCalls(Client& client, Setup setup) : client_(client), setup_(std::move(setup)) {}

  const std::string& key() const noexcept { return setup_.key; }

  /// `errorOf` says which error an answer means. `handler`: void(Result<Response>), unless stop() comes first.
  template <class Request, class ErrorOf, class Handler>
  void ask(Request request, int16_t newestVersion, ErrorOf errorOf, Handler handler) {
    auto call = std::make_shared<CallOf<Request, ErrorOf, Handler>>(std::move(request), newestVersion,
                                                                    std::move(errorOf), std::move(handler));
    call->until = now() + setup_.patience;
    queue_.push_back(std::move(call));
    next();
  }
  /// Forgets what was asked.
  void stop();

 private:
  struct Call {
    virtual ~Call() = default;
    virtual void send(CoordinatorCalls& calls) = 0;
    virtual void fail(Error error) = 0;

    platform::MonotonicTime until{};
    int attempts = 0;
  };

  template <class Request, class ErrorOf, class Handler>
  struct CallOf final : Call, std::enable_shared_from_this<CallOf<Request, ErrorOf, Handler>> {
    using Response = typename Request::Response;

    CallOf(Request asked, int16_t newest, ErrorOf error, Handler told)
        : request(std::move(asked)), newestVersion(newest), errorOf(std::move(error)), handler(std::move(told)) {}

    void send(CoordinatorCalls& calls) override {
      calls.channel_->send(Request(request), {.maxVersion = newestVersion, .timeout = calls.setup_.requestTimeout},
                           [call = this->shared_from_this(),
                            weak = calls.weak_from_this()](Result<network::Received<Response>> received) {
                             const auto self = weak.lock();
                             if (!self || self->stopped_) return;
                             const ErrorCode code = received ? call->errorOf(received->message) : received.error().code;
                             if (code != ErrorCode::None) return self->failed({code, std::string(errorName(code))});
                             self->takeFront();
                             call->handler(Result<Response>(std::move(received->message)));
                             self->next();
                           });
    }
    void fail(Error error) override { handler(Result<Response>(std::unexpected(std::move(error)))); }

    Request request;
    int16_t newestVersion;
    ErrorOf errorOf;
    Handler handler;
  };

  void next();
  void run();
  void find();
  /// The call at the front failed: it is repeated, or told.
  void failed(const Error& error);
  std::shared_ptr<Call> takeFront();
  platform::MonotonicTime now() const { return client_.process().clock().monotonic(); }

  Client& client_;
  const Setup setup_;
  std::unique_ptr<network::Channel> channel_;
  std::deque<std::shared_ptr<Call>> queue_;
  /// The call at the front is on its way.
  bool busy_ = false;
  bool stopped_ = false;
  platform::Timer timer_;
};

}  // namespace tidemark::client
