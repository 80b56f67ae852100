#include "platform/simulated/core.h"
#include "platform/simulated/executor.h"

namespace tidemark::platform {

namespace {

class SimulatedConnection final : public Connection {
 public:
  explicit SimulatedConnection(std::shared_ptr<SimulatedSocket> socket) noexcept : socket_(std::move(socket)) {}
  ~SimulatedConnection() override { network().close(*socket_, false); }

  void read(MutableBytes into, ReadHandler handler) override {
    expectOwner();
    network().read(*socket_, into, std::move(handler));
  }
  void write(std::vector<Piece> pieces, WriteHandler handler) override {
    expectOwner();
    network().write(*socket_, std::move(pieces), std::move(handler));
  }
  void close() override { network().close(*socket_, false); }
  const Endpoint& local() const noexcept override { return socket_->local; }
  const Endpoint& remote() const noexcept override { return socket_->remote; }

 private:
  NetworkCore& network() const noexcept { return socket_->process->world->network; }
  void expectOwner() const {
    const auto* current = socket_->process->scheduler().current();
    TIDEMARK_INVARIANT(!current || current == socket_->owner.get(),
                       fmt::format("a connection of {} is used on {}", socket_->owner->name, current->name));
  }

  std::shared_ptr<SimulatedSocket> socket_;
};

class SimulatedAcceptor final : public Acceptor {
 public:
  explicit SimulatedAcceptor(std::shared_ptr<SimulatedListener> listener) noexcept : listener_(std::move(listener)) {}
  ~SimulatedAcceptor() override { listener_->process->world->network.close(*listener_, false); }

  void accept(Executor& owner, AcceptHandler handler) override {
    listener_->process->world->network.accept(listener_, coreOf(owner), std::move(handler));
  }
  const Endpoint& endpoint() const noexcept override { return listener_->endpoint; }

 private:
  std::shared_ptr<SimulatedListener> listener_;
};

class SimulatedSockets final : public Network {
 public:
  explicit SimulatedSockets(ProcessCore& process) noexcept : process_(process) {}

  Result<std::unique_ptr<Acceptor>> listen(Executor& owner, const Endpoint& at,
                                           const ListenOptions& /*options*/) override {
    TIDEMARK_ASSIGN(auto listener, process_.world->network.listen(process_, coreOf(owner), at));
    return std::make_unique<SimulatedAcceptor>(std::move(listener));
  }
  void connect(Executor& owner, const Endpoint& to, Duration timeout, ConnectHandler handler) override {
    process_.world->network.connect(process_, coreOf(owner), to, timeout, std::move(handler));
  }

 private:
  ProcessCore& process_;
};

}  // namespace

std::unique_ptr<Network> makeSimulatedSockets(ProcessCore& process) {
  return std::make_unique<SimulatedSockets>(process);
}

void NetworkCore::offer(const std::shared_ptr<SimulatedListener>& listener) {
  if (!listener->handler || listener->backlog.empty() || listener->closed) return;
  auto socket = std::move(listener->backlog.front());
  listener->backlog.pop_front();
  auto owner = std::move(listener->handlerOwner);
  socket->owner = owner;
  // Made now: should the task be dropped, the connection closes with it.
  auto connection = std::make_unique<SimulatedConnection>(std::move(socket));
  auto handler = std::move(listener->handler);
  listener->handler = nullptr;
  world_.scheduler.enqueue(
      owner,
      [connection = std::move(connection), handler = std::move(handler)]() mutable { handler(std::move(connection)); },
      world_.scheduler.now());
}

void NetworkCore::finishDial(std::shared_ptr<SimulatedDial> dial, Result<void> result) {
  if (dial->done) return;
  dial->done = true;
  dials_.erase(dial->id);
  auto socket = std::move(dial->socket);
  dial->socket = nullptr;
  if (socket) socket->dial = nullptr;
  auto handler = std::move(dial->handler);
  dial->handler = nullptr;
  Task task;
  if (result) {
    task = [connection = std::make_unique<SimulatedConnection>(std::move(socket)),
            handler = std::move(handler)]() mutable { handler(std::move(connection)); };
  } else {
    if (socket) close(*socket, false);
    task = [error = std::move(result).error(), handler = std::move(handler)]() mutable { handler(fail(error)); };
  }
  world_.scheduler.enqueue(dial->owner, std::move(task), world_.scheduler.now());
}

}  // namespace tidemark::platform
