#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "platform/native/descriptor.h"
#include "platform/native/native.h"

namespace tidemark::platform::native {

class ExecutorCore;

/// What the parts of a native process share: whether it runs, and how it ends.
///
/// The end: die() marks it dead, shuts its sockets and lets go of its files; a thread of its own, the undertaker, then
/// waits for the tasks that still run, closes and destroys what is left and calls the death handler.
class ProcessCore : public std::enable_shared_from_this<ProcessCore> {
 public:
  using DeathHandler = std::move_only_function<void(const std::string&)>;

  explicit ProcessCore(NativeOptions options);
  ~ProcessCore();
  ProcessCore(const ProcessCore&) = delete;
  ProcessCore& operator=(const ProcessCore&) = delete;

  Process::State state() const noexcept { return state_.load(std::memory_order_acquire); }
  bool dead() const noexcept { return state() == Process::State::Dead; }

  /// Before each task: waits while the process is paused. False: it is dead, the task must not run.
  bool mayRun() {
    const auto now = state();
    return now == Process::State::Running || (now == Process::State::Paused && waitWhilePaused());
  }
  /// Sleeps; woken by death.
  void stall(Duration duration) EXCLUDES(mutex_);
  void setPaused(bool paused) EXCLUDES(mutex_);
  void die(const std::string& reason) EXCLUDES(mutex_);
  void awaitStopped() EXCLUDES(mutex_);
  void onDeath(DeathHandler handler) EXCLUDES(mutex_);
  /// The last handle of the process has gone: dies if it has not, without telling the handler, and waits for its
  /// threads.
  void abandon() EXCLUDES(mutex_);

  /// False: dead.
  bool add(const std::shared_ptr<ExecutorCore>& executor) EXCLUDES(mutex_);
  /// Keeps an executor whose threads could not be joined where its handle was dropped.
  void keepUntilDeath(std::shared_ptr<ExecutorCore> executor) EXCLUDES(mutex_);

  const NativeOptions& options() const noexcept { return options_; }
  const std::shared_ptr<DescriptorTable>& descriptors() const noexcept { return descriptors_; }
  void log(Logger::Level level, std::string_view component, std::string_view text) const;

 private:
  bool waitWhilePaused() EXCLUDES(mutex_);
  void bury() EXCLUDES(mutex_);

  const NativeOptions options_;
  const std::shared_ptr<DescriptorTable> descriptors_ = std::make_shared<DescriptorTable>();
  std::atomic<Process::State> state_ = Process::State::Running;

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::string reason_ GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<ExecutorCore>> executors_ GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<ExecutorCore>> kept_ GUARDED_BY(mutex_);
  DeathHandler deathHandler_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool handlerTaken_ GUARDED_BY(mutex_) = false;
  bool abandoned_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

std::unique_ptr<FileSystem> makeFiles(std::shared_ptr<ProcessCore> core);
std::unique_ptr<Network> makeNetwork(std::shared_ptr<ProcessCore> core);

}  // namespace tidemark::platform::native
