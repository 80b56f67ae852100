#include "network/processor.h"

#include <algorithm>

#include <fmt/format.h>

#include "network/server_connection.h"

namespace tidemark::network {

namespace {

/// Request buffers that a server keeps for the next ones.
constexpr size_t kKeptMemory = 4 << 20;

}  // namespace

ServerShared::ServerShared(platform::Process& itsProcess, ServerOptions itsOptions)
    : process(itsProcess),
      options(std::move(itsOptions)),
      memory(std::make_shared<FrameMemory>(options.queuedMaxBytes, kKeptMemory)),
      registry(options.maxConnectionsPerIp),
      anonymous(std::make_shared<const std::string>("User:ANONYMOUS")) {}

Processor::Processor(std::shared_ptr<ServerShared> shared, int index)
    : shared_(std::move(shared)),
      index_(index),
      executor_(shared_->process.createExecutor(
          {.name = fmt::format("{}network-{}", shared_->options.namePrefix, index), .threads = 1})) {}

void Processor::adopt(std::unique_ptr<platform::Connection> socket, const ListenerOptions& listener) {
  if (shared_->stopping.load()) return;  // Its destructor closes the socket.
  const uint64_t number = shared_->connectionNumbers.fetch_add(1);
  auto peer = std::make_shared<Peer>();
  peer->connectionId = fmt::format("{}-{}-{}-{}", socket->local(), socket->remote(), index_, number);
  peer->listener = listener.name;
  peer->securityProtocol = listener.securityProtocol;
  peer->address = socket->remote();
  peer->since = shared_->process.clock().monotonic();
  auto record = shared_->registry.add(peer, number);
  if (!record) {
    shared_->process.log().debug("network", "{} refused: its address has too many connections", peer->connectionId);
    return;
  }
  auto connection = std::make_shared<ServerConnection>(shared_from_this(), std::move(socket), std::move(record));
  connection->place = byActivity_.insert(byActivity_.end(), connection);
  connection->lastActive = peer->since;
  if (!idleTimerArmed_) armIdleTimer();
  if (auto* observer = shared_->options.observer) observer->connectionOpened(*peer);
  if (auto* recorder = shared_->options.recorder; recorder != nullptr && recorder->wants<events::ConnectionOpened>())
    recorder->emit(events::ConnectionOpened{.connection = static_cast<int64_t>(number),
                                            .address = std::string_view(fmt::format("{}", peer->address)),
                                            .listener = std::string_view(peer->listener)});
  connection->start();
}

void Processor::touch(ServerConnection& connection) {
  connection.lastActive = shared_->process.clock().monotonic();
  byActivity_.splice(byActivity_.end(), byActivity_, connection.place);
}

void Processor::remove(ServerConnection& connection) {
  const auto gone = std::move(*connection.place);
  byActivity_.erase(connection.place);
  shared_->registry.remove(connection.record());
  if (byActivity_.empty()) {
    idleTimer_.cancel();
    idleTimerArmed_ = false;
  }
  if (shared_->connectionClosed) shared_->connectionClosed();
  sent();
}

bool Processor::handle(RequestPtr& request) {
  if (!shared_->handler->isQuick(request->apiKey()) || !ownHandling_.allows()) return false;
  const platform::MonotonicTime begun = shared_->process.clock().monotonic();
  if (!shared_->queue->handleHere(request)) return false;
  ownHandling_.took(shared_->process.clock().monotonic() - begun);
  return true;
}

void Processor::runOwn(platform::Task task) {
  const platform::MonotonicTime begun = shared_->process.clock().monotonic();
  task();
  ownHandling_.took(shared_->process.clock().monotonic() - begun);
}

void HandlersThread::post(platform::Task task) {
  processor_.executor().post([processor = processor_.shared_from_this(), task = std::move(task)]() mutable {
    processor->runOwn(std::move(task));
  });
}

platform::Timer HandlersThread::schedule(platform::Duration after, platform::Task task) {
  return processor_.executor().schedule(after, std::move(task));
}

bool HandlersThread::isCurrent() const noexcept {
  return processor_.executor().isCurrent();
}

void HandlersThread::stall(platform::Duration duration) {
  processor_.executor().stall(duration);
}

const std::string& HandlersThread::name() const noexcept {
  return processor_.executor().name();
}

void Processor::closeAll() {
  while (!byActivity_.empty()) {
    const auto connection = byActivity_.front();
    connection->close("the server shuts down");
  }
}

void Processor::drain(platform::Task done) {
  drained_ = std::move(done);
  sent();
}

void Processor::sent() {
  if (drained_ && std::ranges::none_of(byActivity_, [](const auto& connection) { return connection->isSending(); }))
    std::exchange(drained_, {})();
}

void Processor::abandon() noexcept {
  for (const auto& connection : byActivity_) connection->abandon();
  byActivity_.clear();
  idleTimer_.cancel();
}

void Processor::armIdleTimer() {
  const auto deadline = byActivity_.front()->lastActive + shared_->options.connectionsMaxIdle;
  const auto after = std::max<platform::Duration>(deadline - shared_->process.clock().monotonic(), {});
  idleTimerArmed_ = true;
  idleTimer_ = executor_->schedule(after, [this] { closeIdle(); });
}

void Processor::closeIdle() {
  const auto latest = shared_->process.clock().monotonic() - shared_->options.connectionsMaxIdle;
  while (!byActivity_.empty() && byActivity_.front()->lastActive <= latest) {
    const auto connection = byActivity_.front();
    if (connection->isOurTurn()) {
      touch(*connection);
    } else {
      connection->close("it was idle for too long");
    }
  }
  if (!byActivity_.empty()) armIdleTimer();
}

}  // namespace tidemark::network
