#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "platform/clock.h"
#include "platform/executor.h"

namespace tidemark {

/// A clock that the test turns.
class ManualClock : public platform::Clock {
 public:
  platform::MonotonicTime monotonic() const override { return now_; }
  platform::WallTime wall() const override {
    return platform::WallTime(std::chrono::duration_cast<platform::milliseconds>(now_.time_since_epoch()) + ahead_);
  }
  void set(platform::MonotonicTime now) { now_ = now; }
  /// The wall clock alone.
  void jump(platform::milliseconds by) { ahead_ += by; }

 private:
  platform::MonotonicTime now_{std::chrono::seconds(1000)};
  platform::milliseconds ahead_{};
};

/// A serial executor that runs when the test says so, on the test's thread.
class ManualExecutor : public platform::Executor {
 public:
  explicit ManualExecutor(ManualClock& clock) : clock_(clock) {}

  void post(platform::Task task) override { posted_.push_back(std::move(task)); }

  platform::Timer schedule(platform::Duration after, platform::Task task) override {
    ++scheduled_;
    auto armed = std::make_shared<Armed>();
    armed->task = std::move(task);
    timers_.emplace(std::pair(clock_.monotonic() + after, ++lastNumber_), armed);
    return platform::Timer(armed);
  }

  bool isCurrent() const noexcept override { return running_; }
  void stall(platform::Duration duration) override { clock_.set(clock_.monotonic() + duration); }
  const std::string& name() const noexcept override { return name_; }

  /// Runs what was posted until nothing is left.
  void drain() {
    while (!posted_.empty()) {
      platform::Task task = std::move(posted_.front());
      posted_.pop_front();
      run(task);
    }
  }

  /// Lets time pass, running timers at their times.
  void advance(platform::Duration duration) {
    const platform::MonotonicTime end = clock_.monotonic() + duration;
    drain();
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      const auto node = timers_.extract(timers_.begin());
      clock_.set(std::max(clock_.monotonic(), node.key().first));
      if (!node.mapped()->cancelled) run(node.mapped()->task);
      drain();
    }
    clock_.set(end);
  }

  /// Timers armed and not cancelled.
  size_t armed() const {
    size_t count = 0;
    for (const auto& [at, timer] : timers_) count += !timer->cancelled;
    return count;
  }
  /// Calls of schedule() so far.
  size_t scheduled() const { return scheduled_; }

 private:
  struct Armed : platform::Timer::State {
    void cancel() noexcept override { cancelled = true; }
    platform::Task task;
    bool cancelled = false;
  };

  void run(platform::Task& task) {
    running_ = true;
    task();
    running_ = false;
  }

  ManualClock& clock_;
  std::deque<platform::Task> posted_;
  std::map<std::pair<platform::MonotonicTime, uint64_t>, std::shared_ptr<Armed>> timers_;
  uint64_t lastNumber_ = 0;
  size_t scheduled_ = 0;
  bool running_ = false;
  std::string name_ = "manual";
};

}  // namespace tidemark
