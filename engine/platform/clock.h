#pragma once

#include <chrono>
#include <cstdint>

namespace tidemark::platform {

using Duration = std::chrono::nanoseconds;
using std::chrono::milliseconds;

/// The clock of all durations, timeouts and lags: only rises, starts anywhere, slow motion changes its rate.
struct MonotonicClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;
};
using MonotonicTime = MonotonicClock::time_point;

/// The clock of record timestamps, retention and expiry: Unix time in milliseconds, may jump.
struct WallClock {
  using duration = milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WallClock>;
  static constexpr bool is_steady = false;
};
using WallTime = WallClock::time_point;

/// The two clocks of one Process. Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonotonicTime monotonic() const = 0;
  virtual WallTime wall() const = 0;
  int64_t wallMs() const { return wall().time_since_epoch().count(); }
};

}  // namespace tidemark::platform
