#include "faults/faulty_network.h"

#include <utility>

#include <fmt/format.h>

#include "faults/faulty_connection.h"
#include "faults/faulty_executor.h"

namespace tidemark::faults {
namespace {

using ConnectHandler = platform::Network::ConnectHandler;

std::unexpected<Error> cannotConnect(const platform::Endpoint& to, std::string_view why) {
  return fail(ErrorCode::NetworkException, fmt::format("cannot connect to {}: {}", to, why));
}

class FaultyConnection final : public platform::Connection {
 public:
  explicit FaultyConnection(std::shared_ptr<FaultyStream> stream) : stream_(std::move(stream)) {}
  ~FaultyConnection() override { stream_->close(); }

  void read(MutableBytes into, ReadHandler handler) override { stream_->read(into, std::move(handler)); }
  void write(std::vector<platform::Piece> pieces, WriteHandler handler) override {
    stream_->write(std::move(pieces), std::move(handler));
  }
  void close() override { stream_->close(); }
  const platform::Endpoint& local() const noexcept override { return stream_->below().local(); }
  const platform::Endpoint& remote() const noexcept override { return stream_->below().remote(); }

 private:
  const std::shared_ptr<FaultyStream> stream_;
};

class FaultyAcceptor final : public platform::Acceptor {
 public:
  FaultyAcceptor(Links links, std::unique_ptr<platform::Acceptor> below)
      : links_(std::move(links)), below_(std::move(below)) {}

  void accept(platform::Executor& owner, AcceptHandler handler) override {
    const std::shared_ptr<platform::Executor>& executor = belowOf(owner);
    // Asked now: a node's listeners are told before clients come.
    const auto known = links_.book->listenerAt(below_->endpoint().port);
    const Port listener = known ? known->port : Port::Broker;
    below_->accept(*executor, [links = links_, weak = std::weak_ptr(executor), listener, handler = std::move(handler)](
                                  Result<std::unique_ptr<platform::Connection>> accepted) mutable {
      if (!accepted) return handler(std::move(accepted));
      auto stream = std::make_shared<FaultyStream>(std::move(links), std::move(weak), *std::move(accepted), listener);
      handler(std::make_unique<FaultyConnection>(std::move(stream)));
    });
  }
  const platform::Endpoint& endpoint() const noexcept override { return below_->endpoint(); }

 private:
  const Links links_;
  const std::unique_ptr<platform::Acceptor> below_;
};

/// Hands on a connection that was opened.
ConnectHandler opened(Links links, std::weak_ptr<platform::Executor> executor, std::optional<Passage> passage,
                      ConnectHandler handler) {
  return [links = std::move(links), executor = std::move(executor), passage = std::move(passage),
          handler = std::move(handler)](Result<std::unique_ptr<platform::Connection>> connection) mutable {
    if (!connection) return handler(std::move(connection));
    auto stream = std::make_shared<FaultyStream>(std::move(links), std::move(executor), *std::move(connection),
                                                 std::move(passage));
    handler(std::make_unique<FaultyConnection>(std::move(stream)));
  };
}

/// An attempt to connect over a link with a fault: both ways must be open. On the owner's executor.
class Dial final : public LinkWaiter, public std::enable_shared_from_this<Dial> {
 public:
  Dial(Links links, platform::Network& network, std::weak_ptr<platform::Executor> executor, Passage passage,
       platform::Endpoint to, ConnectHandler handler)
      : links_(std::move(links)),
        network_(network),
        executor_(std::move(executor)),
        passage_(std::move(passage)),
        to_(std::move(to)),
        ticket_(links_.book->newTicket()),
        handler_(std::move(handler)) {}
  ~Dial() override { links_.book->forget(ticket_); }

  void start(Duration timeout) {
    const auto executor = executor_.lock();
    if (!executor) return;
    deadline_ = links_.clock.monotonic() + timeout;
    // The timer holds the attempt while it waits.
    timeout_ = executor->schedule(timeout, [self = shared_from_this()] { self->finish("timed out"); });
    judge();
  }

  void linksChanged() override {
    if (const auto executor = executor_.lock())
      executor->post([weak = weak_from_this()] {
        if (const auto self = std::static_pointer_cast<Dial>(weak.lock()); self && self->handler_ && !self->delay_)
          self->judge();
      });
  }

 private:
  void judge() {
    const auto self = shared_from_this();
    Duration delay{};
    for (const bool toAcceptor : {true, false}) {
      passage_.toAcceptor = toAcceptor;
      const LinkVerdict verdict = links_.book->transfer(passage_, 0, ticket_, weak_from_this());
      if (verdict.held) return;
      if (verdict.reset) return finish("connection refused");
      delay += verdict.delay;
    }
    const auto executor = executor_.lock();
    if (!executor) return;
    if (delay == Duration{}) return connect();
    delay_ = executor->schedule(delay, [self] {
      if (self->handler_) self->connect();
    });
  }

  void connect() {
    const auto executor = executor_.lock();
    if (!executor) return;
    passage_.toAcceptor = true;
    auto handler = std::exchange(handler_, nullptr);
    const Duration left = std::max(deadline_ - links_.clock.monotonic(), Duration(1));
    network_.connect(*executor, to_, left, opened(links_, executor_, passage_, std::move(handler)));
    forgetTimers(executor);
  }

  void finish(std::string_view why) {
    if (!handler_) return;
    auto handler = std::exchange(handler_, nullptr);
    if (const auto executor = executor_.lock()) forgetTimers(executor);
    handler(cannotConnect(to_, why));
  }

  /// Later: we may be inside one of them.
  void forgetTimers(const std::shared_ptr<platform::Executor>& executor) {
    executor->post([timeout = std::move(timeout_), delay = std::move(delay_)] {});
  }

  const Links links_;
  platform::Network& network_;
  const std::weak_ptr<platform::Executor> executor_;
  Passage passage_;
  const platform::Endpoint to_;
  const uint64_t ticket_;
  ConnectHandler handler_;
  MonotonicTime deadline_{};
  platform::Timer timeout_;
  platform::Timer delay_;
};

}  // namespace

Result<std::unique_ptr<platform::Acceptor>> FaultyNetwork::listen(platform::Executor& owner,
                                                                  const platform::Endpoint& at,
                                                                  const platform::ListenOptions& options) {
  TIDEMARK_ASSIGN(auto acceptor, below_.network().listen(*belowOf(owner), at, options));
  return std::make_unique<FaultyAcceptor>(Links{.clock = below_.clock(), .book = book_, .site = site_},
                                          std::move(acceptor));
}

void FaultyNetwork::connect(platform::Executor& owner, const platform::Endpoint& to, platform::Duration timeout,
                            ConnectHandler handler) {
  const std::shared_ptr<platform::Executor>& executor = belowOf(owner);
  Links links{.clock = below_.clock(), .book = book_, .site = site_};
  const auto listener = book_->listenerAt(to.port);
  std::optional<Passage> passage;
  if (listener && listener->node != site_->node())
    passage = Passage{
        .opener = site_->node(), .client = {}, .acceptor = listener->node, .port = listener->port, .toAcceptor = true};
  if (!passage || !site_->any(kLinkFaults)) {
    below_.network().connect(*executor, to, timeout,
                             opened(std::move(links), executor, std::move(passage), std::move(handler)));
    return;
  }
  auto dial =
      std::make_shared<Dial>(std::move(links), below_.network(), executor, *std::move(passage), to, std::move(handler));
  executor->post([dial = std::move(dial), timeout] { dial->start(timeout); });
}

}  // namespace tidemark::faults
