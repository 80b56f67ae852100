#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "platform/clock.h"
#include "platform/executor.h"
#include "purgatory/timing_wheel.h"

namespace tidemark::purgatory {

/// A timing wheel of one-millisecond ticks, turned by a single timer that is armed for the nearest deadline only.
/// Nothing polls; with no entry waiting, nothing is armed (a timer that was armed for entries since removed runs out
/// once). One per broker serves all its purgatories. All calls from any thread; onTimeout() runs on `executor`.
class ExpirationTimer : public std::enable_shared_from_this<ExpirationTimer> {
 public:
  /// `clock` outlives it. The executor is serial: Kafka's expiration reaper.
  static std::shared_ptr<ExpirationTimer> create(std::shared_ptr<platform::Executor> executor,
                                                 const platform::Clock& clock);
  ~ExpirationTimer();

  /// Lets the entry time out `after` from now, never earlier, rounded up to a tick. At once (but on the executor) if
  /// that is zero or less. The entry must not be waiting.
  void add(std::shared_ptr<TimerEntry> entry, platform::Duration after) EXCLUDES(mutex_);
  /// False if it was not waiting: never added, timed out, or cancelled.
  bool cancel(TimerEntry& entry) EXCLUDES(mutex_);
  /// Entries that wait.
  size_t size() const EXCLUDES(mutex_);
  /// Whether a platform timer is armed; for tests and views.
  bool isArmed() const EXCLUDES(mutex_);
  const platform::Clock& clock() const noexcept { return clock_; }

 private:
  ExpirationTimer(std::shared_ptr<platform::Executor> executor, const platform::Clock& clock);
  void arm(int64_t tick) REQUIRES(mutex_);
  void turn() EXCLUDES(mutex_);

  const std::shared_ptr<platform::Executor> executor_;
  const platform::Clock& clock_;
  mutable Mutex mutex_;
  TimingWheel wheel_ GUARDED_BY(mutex_);
  platform::Timer timer_ GUARDED_BY(mutex_);
  /// Tick for which timer_ is armed.
  std::optional<int64_t> armedTick_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::purgatory
