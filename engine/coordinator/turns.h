#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/invariant.h"
#include "base/mutex.h"
#include "platform/executor.h"

namespace tidemark::coordinator {

/// A serial executor whose tasks run one at a time, but not all on one thread: run() runs its task on the thread that
/// calls, after the task that another thread runs. A heartbeat then costs a look at a map instead of two changes of
/// threads, and its answer goes out with those of its neighbours. What such a task posts starts on the same thread,
/// when that has handled what is ready: work put off by post() gathers more of its kind meanwhile, and is done where
/// its answers go. All else starts on `thread`.
///
/// A task is short: whoever calls run() waits for the one that runs. What one thread posts runs in its order.
class Turns final : public platform::Executor, public std::enable_shared_from_this<Turns> {
 public:
  /// `thread`: a serial executor that nobody else uses.
  explicit Turns(std::shared_ptr<platform::Executor> thread) : thread_(std::move(thread)) {}

  void post(platform::Task task) override;
  /// Any thread, but not from within another task of these, which post()s. Runs `task()` before it returns. `caller`:
  /// the calling thread, for what the task posts; null: `thread` has it.
  template <class Task>
  void run(Task&& task, platform::Executor* caller = nullptr) EXCLUDES(turn_) {
    TIDEMARK_INVARIANT(!isCurrent(), std::string("a task waits for its own end"));
    const Lock taken(turn_);
    if (std::exchange(inTask_, true)) return;
    const Mark mark{std::exchange(ofThread_, {this, caller})};
    std::forward<Task>(task)();
    inTask_ = false;
  }
  [[nodiscard]] platform::Timer schedule(platform::Duration after, platform::Task task) override;
  bool isCurrent() const noexcept override;
  void stall(platform::Duration duration) override { thread_->stall(duration); }
  const std::string& name() const noexcept override { return thread_->name(); }

 private:
  /// Whose task a thread runs, and where that posts.
  struct Turn {
    const Turns* of = nullptr;
    platform::Executor* caller = nullptr;
  };
  static thread_local Turn ofThread_;
  struct Mark {
    Turn before;
    ~Mark() { ofThread_ = before; }
  };

  const std::shared_ptr<platform::Executor> thread_;
  /// Held while a task runs; the first in the lock order.
  Mutex turn_;
  /// Still set when the turn is free: a broken invariant came out of a task. Nothing runs any more.
  bool inTask_ GUARDED_BY(turn_) = false;
};

}  // namespace tidemark::coordinator
