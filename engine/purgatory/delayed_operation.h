#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "platform/clock.h"
#include "purgatory/expiration_timer.h"
#include "purgatory/timing_wheel.h"

namespace tidemark::purgatory {

/// What a purgatory and the operations in it count together.
struct PurgatoryCounts {
  /// Operations that were parked and are neither completed nor cancelled.
  std::atomic<int64_t> delayed{0};
  /// Estimate of the operations in watcher lists, completed ones included; put right by each purge.
  std::atomic<int64_t> listed{0};
  std::atomic<int64_t> completed{0};
  std::atomic<int64_t> expired{0};
};

/// A request that waits for something to happen, or for its time to run out (Kafka's DelayedOperation). It completes
/// exactly once, whoever comes first: an event after which canComplete() holds, its timeout, or forceComplete().
///
/// Lock rule: canComplete() runs under the operation's own lock and may take locks below it (a partition's); so whoever
/// reports an event (Purgatory::checkAndComplete) holds none of those. onComplete() and onExpiration() run with no lock
/// of the purgatory or the operation held.
class DelayedOperation : public TimerEntry, public std::enable_shared_from_this<DelayedOperation> {
 public:
  /// Times out `timeout` after it was parked.
  explicit DelayedOperation(platform::Duration timeout) : timeout_(timeout) {}

  /// Completes it now if it was not. True for the one caller that did. Any thread.
  bool forceComplete();
  bool isCompleted() const noexcept { return completed_.load(std::memory_order_acquire); }
  /// When it times out; the epoch before it was parked. Any thread.
  platform::MonotonicTime deadline() const noexcept { return deadline_.load(std::memory_order_acquire); }
  platform::Duration timeout() const noexcept { return timeout_; }

  /// What waits, for views ("Produce acks=-1 of client billing"). Any thread.
  virtual std::string describe() const = 0;

 protected:
  /// Whether what it waits for has happened. May note progress in members: calls come one at a time. After completion
  /// it may be called no more, but a call under way may still end.
  virtual bool canComplete() = 0;
  /// It did not complete at once and is parked now, this one counted. Called at most once, before any event or timeout
  /// may complete it.
  virtual void onParked() {}
  /// Sends the answer. Called exactly once.
  virtual void onComplete() = 0;
  /// Called after onComplete() if the timeout was what completed it.
  virtual void onExpiration() {}

  /// How many operations wait in its purgatory: with this one in onParked(), without it from onComplete() on.
  int32_t parkedCount() const noexcept;

 private:
  template <class, class>
  friend class Purgatory;

  /// Asks canComplete() under the lock, then completes outside of it.
  bool tryComplete() EXCLUDES(mutex_);
  void park(const std::shared_ptr<ExpirationTimer>& timer);
  /// Takes it off the timer without completing it.
  void stopWaiting();
  void onTimeout() final;

  const platform::Duration timeout_;
  std::atomic<bool> completed_{false};
  std::atomic<platform::MonotonicTime> deadline_{platform::MonotonicTime()};
  Mutex mutex_;
  /// Set before it is in any watcher list.
  std::shared_ptr<PurgatoryCounts> counts_;
  std::atomic<bool> counted_{false};
  Mutex timerMutex_;
  /// Weak, since the timer's wheel shares the operation.
  std::weak_ptr<ExpirationTimer> timer_ GUARDED_BY(timerMutex_);
};

}  // namespace tidemark::purgatory
