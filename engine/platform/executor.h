#pragma once

#include <functional>
#include <memory>
#include <string>

#include "platform/clock.h"

namespace tidemark::platform {

/// Runs once.
using Task = std::move_only_function<void()>;

/// A task that will run later unless the handle is cancelled or destroyed first. Belongs to the thread of a serial
/// executor: cancelling there is certain, from elsewhere (or on a pool) the task may be running already.
class Timer {
 public:
  struct State {
    virtual ~State() = default;
    virtual void cancel() noexcept = 0;
  };

  Timer() = default;
  explicit Timer(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  Timer(Timer&&) noexcept = default;
  Timer& operator=(Timer&& other) noexcept {
    cancel();
    state_ = std::move(other.state_);
    return *this;
  }
  ~Timer() { cancel(); }
  void cancel() noexcept {
    if (state_) state_->cancel();
    state_.reset();
  }
  /// Whether a task was scheduled through this handle and not cancelled; stays true after it ran.
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  std::shared_ptr<State> state_;
};

/// Where tasks of one role run: one thread (serial, in order of post) or a pool (any order, side by side). A role is
/// written as tasks, never as a loop that blocks. Once the Process is dead nothing runs and post() forgets its task.
/// A task that lets InvariantBroken out kills the Process.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Any thread. Never runs the task inside the call.
  virtual void post(Task task) = 0;

  /// Runs `task` once, `after` from now on the monotonic clock, unless the handle is dropped.
  [[nodiscard]] virtual Timer schedule(Duration after, Task task) = 0;

  /// Whether the caller runs on this executor.
  virtual bool isCurrent() const noexcept = 0;

  /// The only sleep: the current task takes `duration` longer. Ended early by kill.
  virtual void stall(Duration duration) = 0;

  virtual const std::string& name() const noexcept = 0;
};

}  // namespace tidemark::platform
