#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "base/mutex.h"
#include "platform/executor.h"
#include "platform/native/process_core.h"

namespace tidemark::platform::native {

namespace asio = boost::asio;

/// A socket that is open on some executor; known there so that the end of the process reaches it.
class OpenSocket : public std::enable_shared_from_this<OpenSocket> {
 public:
  virtual ~OpenSocket() = default;
  virtual int descriptor() noexcept = 0;
  /// Closes it and forgets its handlers. Called when no thread runs on the executor any more.
  virtual void abandon() = 0;
};

/// io_context lets its users destroy what is queued only in its own destructor; this one lets us choose when.
class Context : public asio::io_context {
 public:
  using asio::execution_context::shutdown;
  using asio::io_context::io_context;
};

/// An executor's io_context and threads. Shared by its handle, its sockets and its timers, so that these may be
/// destroyed in any order and after the process has ended.
class ExecutorCore : public std::enable_shared_from_this<ExecutorCore> {
 public:
  ExecutorCore(std::shared_ptr<ProcessCore> process, ExecutorOptions options);
  ~ExecutorCore();
  ExecutorCore(const ExecutorCore&) = delete;
  ExecutorCore& operator=(const ExecutorCore&) = delete;

  void start();
  /// No further task starts; sockets are shut in both directions. Any thread.
  void stop();
  /// After stop(): waits for the threads.
  void join() EXCLUDES(joinMutex_);
  /// After join(): closes what is open and destroys what is queued.
  void finish();
  /// The handle has gone.
  void retire();

  /// Runs a completion or a task as the process's state allows, and then what it left to follow. On a thread of this
  /// executor.
  template <class Body>
  void run(Body&& body) {
    runOne(body);
    if (!following_.empty()) runFollowing();
  }
  /// From within run() of a serial executor: `completion` runs when the present task has returned. What the system has
  /// done at once needs no turn of the io_context, which asks the kernel for events each time.
  void follow(Task completion);

  bool isCurrent() const noexcept;
  bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
  bool isSerial() const noexcept { return options_.threads == 1; }
  const std::string& name() const noexcept { return options_.name; }
  ProcessCore& process() const noexcept { return *process_; }
  Context& context() noexcept { return context_; }
  const std::shared_ptr<ProcessCore>& sharedProcess() const noexcept { return process_; }

  using SocketPlace = std::list<std::weak_ptr<OpenSocket>>::iterator;
  /// False: stopped, close it.
  bool add(const std::shared_ptr<OpenSocket>& socket, SocketPlace& place) EXCLUDES(socketsMutex_);
  void remove(SocketPlace place) EXCLUDES(socketsMutex_);

 private:
  template <class Body>
  void runOne(Body&& body) {
    if (stopped() || !process_->mayRun()) return;
    try {
      body();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  void runFollowing();
  /// A task let an exception out.
  void fail(const std::string& what);

  const std::shared_ptr<ProcessCore> process_;
  const ExecutorOptions options_;
  Context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> finished_ = false;
  /// The serial thread's own; empty between its tasks.
  std::deque<Task> following_;

  Mutex joinMutex_;
  std::vector<std::thread> threads_ GUARDED_BY(joinMutex_);

  Mutex socketsMutex_;
  std::list<std::weak_ptr<OpenSocket>> sockets_ GUARDED_BY(socketsMutex_);
  bool closedForSockets_ GUARDED_BY(socketsMutex_) = false;
};

class NativeExecutor final : public Executor {
 public:
  explicit NativeExecutor(std::shared_ptr<ExecutorCore> core) noexcept : core_(std::move(core)) {}
  ~NativeExecutor() override { core_->retire(); }

  void post(Task task) override;
  Timer schedule(Duration after, Task task) override;
  bool isCurrent() const noexcept override { return core_->isCurrent(); }
  void stall(Duration duration) override { core_->process().stall(duration); }
  const std::string& name() const noexcept override { return core_->name(); }

  const std::shared_ptr<ExecutorCore>& core() const noexcept { return core_; }

 private:
  const std::shared_ptr<ExecutorCore> core_;
};

/// The native executor behind an interface; a broken invariant if it is of another platform, or a pool.
const std::shared_ptr<ExecutorCore>& serialCore(Executor& executor);

/// The process whose task the calling thread runs, or null.
const ProcessCore* currentProcess() noexcept;

}  // namespace tidemark::platform::native
