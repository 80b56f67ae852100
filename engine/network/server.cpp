#include "network/server.h"

#include <fmt/format.h>

#include "base/invariant.h"
#include "network/processor.h"

namespace tidemark::network {

namespace {

/// After a failed accept (most likely out of descriptors).
constexpr platform::Duration kAcceptBackoff = std::chrono::milliseconds(100);

}  // namespace

class Server::Core : public std::enable_shared_from_this<Server::Core> {
 public:
  Core(platform::Process& process, ServerOptions options, RequestHandler& handler)
      : shared_(std::make_shared<ServerShared>(process, std::move(options))),
        acceptors_(process.createExecutor({.name = shared_->options.namePrefix + "acceptor", .threads = 1})) {
    const ServerOptions& settings = shared_->options;
    TIDEMARK_INVARIANT(settings.numProcessors > 0 && settings.numHandlers > 0 && settings.queuedMaxRequests > 0,
                       std::string("a server needs processors, handlers and a queue"));
    auto pool =
        process.createExecutor({.name = settings.namePrefix + "request-handler", .threads = settings.numHandlers});
    shared_->handler = &handler;
    shared_->queue = std::make_shared<RequestQueue>(std::move(pool), handler, settings.observer,
                                                    static_cast<size_t>(settings.queuedMaxRequests));
    for (int i = 0; i < settings.numProcessors; ++i) processors_.push_back(std::make_shared<Processor>(shared_, i));
  }

  Result<void> listen() {
    shared_->connectionClosed = [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->listenersAtLimit_.load() > 0) self->resumeAccepting();
    };
    for (const ListenerOptions& options : shared_->options.listeners) {
      TIDEMARK_ASSIGN(auto acceptor,
                      shared_->process.network().listen(*acceptors_, options.endpoint, shared_->options.sockets));
      endpoints_.emplace_back(options.name, acceptor->endpoint());
      listeners_.push_back({.options = &options, .acceptor = std::move(acceptor)});
    }
    return {};
  }

  void open() {
    acceptors_->post([self = shared_from_this()] {
      for (auto& listener : self->listeners_) self->acceptNext(listener);
    });
  }

  void shutdown(platform::Task done) {
    shared_->stopping.store(true);
    auto remaining = std::make_shared<std::atomic<size_t>>(processors_.size() + 2);
    auto finish = std::make_shared<platform::Task>(std::move(done));
    auto part = [remaining, finish] {
      if (remaining->fetch_sub(1) == 1) (*finish)();
    };
    acceptors_->post([self = shared_from_this(), part] {
      self->listeners_.clear();
      part();
    });
    for (const auto& processor : processors_) {
      processor->executor().post([processor, part] {
        processor->closeAll();
        part();
      });
    }
    shared_->queue->stop(part);
  }

  void drain(platform::Task done) {
    shared_->queue->stop([self = shared_from_this(), done = std::move(done)]() mutable {
      auto remaining = std::make_shared<std::atomic<size_t>>(self->processors_.size());
      auto finish = std::make_shared<platform::Task>(std::move(done));
      // Behind the answers that handlers of other threads have posted there.
      for (const auto& processor : self->processors_)
        processor->executor().post([processor, remaining, finish] {
          processor->drain([remaining, finish] {
            if (remaining->fetch_sub(1) == 1) (*finish)();
          });
        });
    });
  }

  void abandon() noexcept {
    listeners_.clear();
    shared_->queue->stop([] {});
    for (const auto& processor : processors_) processor->abandon();
  }

  ServerShared& shared() noexcept { return *shared_; }
  const std::vector<std::pair<std::string, platform::Endpoint>>& endpoints() const noexcept { return endpoints_; }

 private:
  struct Listener {
    const ListenerOptions* options;
    std::unique_ptr<platform::Acceptor> acceptor;
    size_t nextProcessor = 0;
    bool atLimit = false;
    platform::Timer retry;
  };

  // On the acceptors' executor.

  void acceptNext(Listener& listener) {
    if (shared_->stopping.load()) return;
    // Announce first, look second: whoever closes a connection in between sees the announcement.
    if (!listener.atLimit) listenersAtLimit_.fetch_add(1);
    listener.atLimit = shared_->registry.count() >= shared_->options.maxConnections;
    if (listener.atLimit) return;
    listenersAtLimit_.fetch_sub(1);

    const auto& processor = processors_[listener.nextProcessor++ % processors_.size()];
    listener.acceptor->accept(processor->executor(),
                              [self = shared_from_this(), &listener, options = listener.options,
                               processor](Result<std::unique_ptr<platform::Connection>> accepted) {
                                // On the processor's executor: `listener` is only passed on.
                                const bool ok = accepted.has_value();
                                if (ok) processor->adopt(std::move(*accepted), *options);
                                self->acceptors_->post([self, &listener, ok] { self->goOn(listener, ok); });
                              });
  }

  void goOn(Listener& listener, bool ok) {
    if (shared_->stopping.load()) return;
    if (ok) return acceptNext(listener);
    listener.retry = acceptors_->schedule(kAcceptBackoff, [this, &listener] { acceptNext(listener); });
  }

  void resumeAccepting() {
    acceptors_->post([self = shared_from_this()] {
      for (auto& listener : self->listeners_) {
        if (listener.atLimit) self->acceptNext(listener);
      }
    });
  }

  const std::shared_ptr<ServerShared> shared_;
  const std::shared_ptr<platform::Executor> acceptors_;
  std::vector<std::shared_ptr<Processor>> processors_;
  /// Filled by listen(), then of the acceptors' executor.
  std::vector<Listener> listeners_;
  std::vector<std::pair<std::string, platform::Endpoint>> endpoints_;
  std::atomic<int> listenersAtLimit_ = 0;
};

Server::Server(platform::Process& process, ServerOptions options, RequestHandler& handler)
    : core_(std::make_shared<Core>(process, std::move(options), handler)) {}

Server::~Server() {
  core_->abandon();
}

Result<void> Server::listen() {
  return core_->listen();
}

void Server::open() {
  core_->open();
}

Result<void> Server::start() {
  TIDEMARK_TRY(listen());
  open();
  return {};
}

std::vector<std::pair<std::string, platform::Endpoint>> Server::endpoints() const {
  return core_->endpoints();
}

platform::Endpoint Server::endpoint(std::string_view listener) const {
  for (const auto& [name, endpoint] : core_->endpoints()) {
    if (name == listener) return endpoint;
  }
  return {};
}

void Server::shutdown(platform::Task done) {
  core_->shutdown(std::move(done));
}

void Server::drain(platform::Task done) {
  core_->drain(std::move(done));
}

std::vector<ConnectionInfo> Server::connections() const {
  return core_->shared().registry.list();
}

bool Server::isConnected(std::string_view connectionId) const {
  return core_->shared().registry.has(connectionId);
}

ServerLoad Server::load() const {
  ServerShared& shared = core_->shared();
  const RequestQueue::Load queue = shared.queue->load();
  return {.connections = shared.registry.count(),
          .queued = static_cast<int>(queue.queued),
          .waiting = static_cast<int>(queue.waiting),
          .bytesInFlight = shared.memory->budget.used()};
}

}  // namespace tidemark::network
