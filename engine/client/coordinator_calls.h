#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "client/client.h"
#include "client/client_codec.h"
#include "client/coordinator_lookup.h"
#include "client/running.h"

namespace tidemark::client {

/// Asks one coordinator, of transactions or of a group, one thing after the other. It is looked for when there is need,
/// and again when it has moved; each request is repeated until its answer is final. Of its client's executor.
class CoordinatorCalls : public Running {
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
  CoordinatorCalls(Client& client, Setup setup) : Running(client), setup_(std::move(setup)) {}

  const std::string& key() const noexcept { return setup_.key; }

  /// `errorOf` says which error an answer means. `handler`: void(Result<Response>), unless stop() comes first.
  template <class Request, class ErrorOf, class Handler>
  void ask(Request request, int16_t newestVersion, ErrorOf errorOf, Handler handler) {
    enqueue(std::make_unique<CallOf<Request, ErrorOf, Handler>>(std::move(request), newestVersion, std::move(errorOf),
                                                                std::move(handler)));
  }
  /// Forgets what was asked.
  void stop() override;

 private:
  struct Call {
    explicit Call(int16_t newest) : newestVersion(newest) {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    virtual ~Call() = default;
    virtual network::RawRequest request() const = 0;
    /// Keeps an answer, and says the error that it, or that there is none, stands for.
    virtual ErrorCode take(Result<network::RawResponse> answer) = 0;
    /// Tells what was taken.
    virtual void tell() = 0;
    virtual void fail(Error error) = 0;

    const int16_t newestVersion;
    platform::MonotonicTime until{};
    int attempts = 0;
  };

  template <class Request, class ErrorOf, class Handler>
  struct CallOf final : Call {
    using Response = typename Request::Response;

    CallOf(Request what, int16_t newest, ErrorOf error, Handler told)
        : Call(newest), asked(std::move(what)), errorOf(std::move(error)), handler(std::move(told)) {}

    network::RawRequest request() const override { return network::rawRequest(Request(asked)); }
    ErrorCode take(Result<network::RawResponse> answer) override {
      received = network::decodeAnswer<Response>(std::move(answer));
      return received ? errorOf(received->message) : received.error().code;
    }
    void tell() override { handler(Result<Response>(std::move(received->message))); }
    void fail(Error error) override { handler(Result<Response>(std::unexpected(std::move(error)))); }

    const Request asked;
    ErrorOf errorOf;
    Handler handler;
    Result<network::Received<Response>> received;
  };

  void enqueue(std::shared_ptr<Call> call);
  void next();
  void run();
  void send(std::shared_ptr<Call> call);
  void find();
  /// The call at the front failed: it is repeated, or told.
  void failed(const Error& error);
  std::shared_ptr<Call> takeFront();
  platform::MonotonicTime now() const { return client_.process().clock().monotonic(); }

  const Setup setup_;
  std::unique_ptr<network::Channel> channel_;
  std::deque<std::shared_ptr<Call>> queue_;
  /// The call at the front is on its way.
  bool busy_ = false;
  platform::Timer timer_;
};

}  // namespace tidemark::client
