#include "faults/faulty_clock.h"

#include <algorithm>

namespace tidemark::faults {
namespace {

platform::Duration scaled(platform::Duration duration, double rate) {
  return platform::Duration(static_cast<int64_t>(static_cast<double>(duration.count()) * rate));
}

ClockSettings right(const ClockSettings& now) {
  ClockSettings settings;
  settings.wallJumps = now.wallJumps;
  settings.monotonicJumps = now.monotonicJumps;
  return settings;
}

}  // namespace

FaultyClock::FaultyClock(platform::Clock& below, std::shared_ptr<const Site> site)
    : below_(below),
      site_(std::move(site)),
      atStart_(site_->clocks()),
      settings_(right(atStart_)),
      since_(below_.monotonic()),
      shown_(since_) {}

platform::MonotonicTime FaultyClock::monotonicAt(platform::MonotonicTime real) const {
  return shown_ + scaled(real - since_, settings_.monotonicRate);
}

void FaultyClock::update(platform::MonotonicTime real) const {
  const ClockSettings now = site_->clocks();
  if (now.version == settings_.version) return;
  shown_ = monotonicAt(real) + std::max(now.monotonicOffset - settings_.monotonicOffset, platform::Duration{}) +
           (now.monotonicJumps - settings_.monotonicJumps);
  since_ = real;
  settings_ = now;
}

platform::MonotonicTime FaultyClock::shownMonotonic(platform::MonotonicTime real) const {
  const Lock lock(mutex_);
  update(real);
  // Another thread may have looked at the clock below earlier and come here later.
  return monotonicAt(std::max(real, since_));
}

platform::WallTime FaultyClock::shownWall(platform::WallTime real) const {
  const platform::MonotonicTime now = below_.monotonic();
  const Lock lock(mutex_);
  update(now);
  const platform::Duration drift = scaled(std::max(now - since_, platform::Duration{}), settings_.wallRate - 1);
  return real + settings_.wallOffset + (settings_.wallJumps - atStart_.wallJumps) +
         std::chrono::floor<platform::milliseconds>(drift);
}

}  // namespace tidemark::faults
