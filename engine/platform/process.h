#pragma once

#include <functional>
#include <memory>
#include <string>

#include "platform/clock.h"
#include "platform/executor.h"
#include "platform/file_system.h"
#include "platform/logger.h"
#include "platform/network.h"
#include "platform/random.h"

namespace tidemark::platform {

struct ExecutorOptions {
  /// Kafka's word for the role: "network-0", "request-handler", "raft", … Names the thread.
  std::string name;
  /// 1: serial.
  int threads = 1;
};

/// What one broker (or controller, or test client) sees of the world. Brokers of one program share nothing else.
///
/// kill() is SIGKILL: from then on every call fails or does nothing, queued tasks and timers are dropped, sockets and
/// files close without flush. Whatever was built on the Process is destroyed by its owner after awaitStopped(); no
/// destructor does I/O. pause() is SIGSTOP: no task is handed out, sockets stay open; resume() is SIGCONT.
class Process {
 public:
  enum class State : uint8_t { Running, Paused, Dead };

  virtual ~Process() = default;

  virtual Clock& clock() noexcept = 0;
  virtual Random& random() noexcept = 0;
  virtual FileSystem& files() noexcept = 0;
  virtual Network& network() noexcept = 0;
  virtual Logger& log() noexcept = 0;

  /// The executor lives until the holder drops it: its threads stop then (the call waits for the task that runs, unless
  /// that is the caller) and tasks still queued are dropped. Its threads stop as well when the Process dies.
  virtual std::shared_ptr<Executor> createExecutor(ExecutorOptions options) = 0;

  virtual State state() const noexcept = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// `reason` is told to the death handler. Any thread, also from inside a task. A second call does nothing.
  virtual void kill(const std::string& reason) = 0;
  /// Returns once no task of this Process runs any more, its sockets are closed and what was queued is destroyed. Waits
  /// for kill(): not before it, and not from inside a task of this Process. The death handler may still be running.
  virtual void awaitStopped() = 0;
  /// Called once, on a thread of its own, when the Process died of a broken invariant or by kill(), after its tasks
  /// have ended; at once if it is dead already. Destroying the Process object waits for a handler that runs and forgets
  /// one that does not: do not destroy it while holding a lock that the handler takes.
  virtual void onDeath(std::move_only_function<void(const std::string& reason)> handler) = 0;
};

}  // namespace tidemark::platform
