#pragma once

#include <memory>

#include "base/mutex.h"
#include "faults/site.h"
#include "platform/clock.h"

namespace tidemark::faults {

/// A clock that goes wrong as its Site says. The monotonic one never goes back: what it gained stays when the fault is
/// healed. The wall clock is right again then, but for its jumps, which last as long as the process.
class FaultyClock final : public platform::Clock {
 public:
  FaultyClock(platform::Clock& below, std::shared_ptr<const Site> site);

  platform::MonotonicTime monotonic() const override {
    const platform::MonotonicTime real = below_.monotonic();
    if (!site_->any(kClockFaults)) [[likely]]
      return real;
    return shownMonotonic(real);
  }
  platform::WallTime wall() const override {
    const platform::WallTime real = below_.wall();
    if (!site_->any(kClockFaults)) [[likely]]
      return real;
    return shownWall(real);
  }

 private:
  platform::MonotonicTime shownMonotonic(platform::MonotonicTime real) const EXCLUDES(mutex_);
  platform::WallTime shownWall(platform::WallTime real) const EXCLUDES(mutex_);
  void update(platform::MonotonicTime real) const REQUIRES(mutex_);
  platform::MonotonicTime monotonicAt(platform::MonotonicTime real) const REQUIRES(mutex_);

  platform::Clock& below_;
  const std::shared_ptr<const Site> site_;
  const ClockSettings atStart_;
  mutable Mutex mutex_;
  /// In force since `since_`, when the monotonic clock showed `shown_`.
  mutable ClockSettings settings_ GUARDED_BY(mutex_);
  mutable platform::MonotonicTime since_ GUARDED_BY(mutex_);
  mutable platform::MonotonicTime shown_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::faults
