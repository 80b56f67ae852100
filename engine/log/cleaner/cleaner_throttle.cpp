#include "log/cleaner/cleaner_throttle.h"

#include <algorithm>

namespace tidemark::log {
namespace {

using platform::Duration;

constexpr double kUnlimited = 9.2e18;
/// A stop or a truncation waits no longer than this for a cleaning that is held back.
constexpr Duration kStep = std::chrono::milliseconds(100);
constexpr Duration kLongest = std::chrono::hours(24);

}  // namespace

void CleanerThrottle::setLimit(double bytesPerSecond) {
  const Lock lock(mutex_);
  bytesPerSecond_ = bytesPerSecond > 0 && bytesPerSecond < kUnlimited ? bytesPerSecond : 0;
  paidUpTo_ = clock_.monotonic();
}

Duration CleanerThrottle::moved(size_t bytes, platform::Executor& executor, const std::function<bool()>& goOn) {
  platform::MonotonicTime until;
  {
    const Lock lock(mutex_);
    if (bytesPerSecond_ <= 0) return {};
    const double nanoseconds = static_cast<double>(bytes) / bytesPerSecond_ * 1e9;
    const Duration price = std::min(kLongest, Duration(static_cast<int64_t>(std::min(nanoseconds, 8.64e13))));
    paidUpTo_ = std::max(paidUpTo_, clock_.monotonic()) + price;
    until = paidUpTo_;
  }
  Duration waited{};
  for (auto now = clock_.monotonic(); now < until && goOn(); now = clock_.monotonic()) {
    const Duration step = std::min(kStep, until - now);
    executor.stall(step);
    waited += step;
  }
  return waited;
}

}  // namespace tidemark::log
