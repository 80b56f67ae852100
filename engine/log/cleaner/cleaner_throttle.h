#pragma once

#include <cstdint>
#include <functional>

#include "base/mutex.h"
#include "platform/clock.h"
#include "platform/executor.h"

namespace tidemark::log {

/// Keeps all cleaning together below `log.cleaner.io.max.bytes.per.second`, read and written. Any thread.
class CleanerThrottle {
 public:
  explicit CleanerThrottle(const platform::Clock& clock) : clock_(clock) {}

  /// At or above 2⁶³, or not above 0: no limit.
  void setLimit(double bytesPerSecond);

  /// `bytes` were moved: holds the current task of `executor` back for as long as the limit asks, in short steps while
  /// `goOn` says so. Returns how long.
  platform::Duration moved(size_t bytes, platform::Executor& executor, const std::function<bool()>& goOn);

 private:
  const platform::Clock& clock_;
  Mutex mutex_;
  double bytesPerSecond_ GUARDED_BY(mutex_) = 0;
  /// When what was moved until now would have been moved at the limit.
  platform::MonotonicTime paidUpTo_ GUARDED_BY(mutex_){};
};

}  // namespace tidemark::log
