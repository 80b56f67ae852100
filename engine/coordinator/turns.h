#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "platform/executor.h"

namespace tidemark::coordinator {

/// A serial executor whose tasks run one at a time, but not all on one thread: runOrPost() runs its task on the thread
/// that calls if no other task is running. A heartbeat then costs a look at a map instead of two changes of threads.
/// What is posted starts on `thread`, so that work put off by post() gathers more of its kind meanwhile.
///
/// Posted tasks run in their order, and so do those given to runOrPost() by one thread; the latter may overtake the
/// former.
class Turns final : public platform::Executor, public std::enable_shared_from_this<Turns> {
 public:
  /// `thread`: a serial executor that nobody else uses.
  explicit Turns(std::shared_ptr<platform::Executor> thread) : thread_(std::move(thread)) {}

  void post(platform::Task task) override;
  /// Any thread. Runs the task now and here, or, if another is running, after that.
  void runOrPost(platform::Task task);
  [[nodiscard]] platform::Timer schedule(platform::Duration after, platform::Task task) override;
  bool isCurrent() const noexcept override;
  void stall(platform::Duration duration) override { thread_->stall(duration); }
  const std::string& name() const noexcept override { return thread_->name(); }

 private:
  /// With `busy_` taken: runs what waits, then gives it back; after some leaves the rest to `thread_`.
  void runWaiting() EXCLUDES(mutex_);
  void runNow(platform::Task task);

  const std::shared_ptr<platform::Executor> thread_;
  Mutex mutex_;
  /// A task is running, or runWaiting() is on its way.
  bool busy_ GUARDED_BY(mutex_) = false;
  std::deque<platform::Task> waiting_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::coordinator
