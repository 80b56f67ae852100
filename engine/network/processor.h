#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "network/frame_memory.h"
#include "network/registry.h"
#include "network/request_queue.h"
#include "network/server.h"
#include "platform/process.h"

namespace tidemark::network {

class ServerConnection;

/// What the acceptors, processors and connections of one server share.
struct ServerShared {
  ServerShared(platform::Process& itsProcess, ServerOptions itsOptions);

  platform::Process& process;
  const ServerOptions options;
  const std::shared_ptr<FrameMemory> memory;
  RequestHandler* handler = nullptr;
  std::shared_ptr<RequestQueue> queue;
  Registry registry;
  const std::shared_ptr<const std::string> anonymous;
  std::atomic<uint64_t> connectionNumbers = 0;
  std::atomic<bool> stopping = false;
  /// Called after each connection that closes; set before the first one opens.
  std::function<void()> connectionClosed;
};

/// When a processor handles a quick request itself instead of handing it to the pool: as long as that is quick indeed.
/// One that was not (a disk that is slow, records that are recompressed) kept other connections waiting, so the next
/// ones go to the pool. Pure; one thread.
class OwnHandling {
 public:
  /// Asked once for each request.
  bool allows() noexcept {
    if (abstain_ == 0) return true;
    --abstain_;
    return false;
  }
  void took(platform::Duration time) noexcept {
    if (time > kQuick) abstain_ = kAbstain;
  }

  static constexpr platform::Duration kQuick = std::chrono::milliseconds(5);
  static constexpr int kAbstain = 64;

 private:
  int abstain_ = 0;
};

class Processor;

/// A processor's executor as handlers have it: the tasks they post there are handling of its own.
class HandlersThread final : public platform::Executor {
 public:
  explicit HandlersThread(Processor& processor) noexcept : processor_(processor) {}

  void post(platform::Task task) override;
  [[nodiscard]] platform::Timer schedule(platform::Duration after, platform::Task task) override;
  bool isCurrent() const noexcept override;
  void stall(platform::Duration duration) override;
  const std::string& name() const noexcept override;

 private:
  Processor& processor_;
};

/// One network thread and the connections it owns. Everything here happens on its executor.
class Processor : public std::enable_shared_from_this<Processor> {
 public:
  using Connections = std::list<std::shared_ptr<ServerConnection>>;

  Processor(std::shared_ptr<ServerShared> shared, int index);

  platform::Executor& executor() noexcept { return *executor_; }
  /// As Request::thread().
  platform::Executor* handlersThread() noexcept { return executor_->isCurrent() ? &handlersThread_ : nullptr; }
  ServerShared& shared() noexcept { return *shared_; }

  /// Takes over a connection that `listener` accepted.
  void adopt(std::unique_ptr<platform::Connection> socket, const ListenerOptions& listener);
  /// Something happened on it: its idle time begins anew.
  void touch(ServerConnection& connection);
  /// It has closed.
  void remove(ServerConnection& connection);
  /// Handles the request itself if that is best, or leaves it as it is.
  bool handle(RequestPtr& request);
  /// Runs what a handler left for later. On the executor.
  void runOwn(platform::Task task);
  void closeAll();
  /// Calls `done` once no answer is on its way to a peer.
  void drain(platform::Task done);
  /// An answer was sent, or its connection is gone.
  void sent();
  /// The Process is dead: lets go of everything, from any thread.
  void abandon() noexcept;

 private:
  void armIdleTimer();
  void closeIdle();

  const std::shared_ptr<ServerShared> shared_;
  const int index_;
  const std::shared_ptr<platform::Executor> executor_;
  /// The one that was quiet for longest comes first.
  Connections byActivity_;
  /// One timer for all of them, at the first deadline or before it; none without connections.
  platform::Timer idleTimer_;
  bool idleTimerArmed_ = false;
  OwnHandling ownHandling_;
  HandlersThread handlersThread_{*this};
  platform::Task drained_;
};

}  // namespace tidemark::network
