#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "platform/executor.h"

namespace tidemark::faults {

/// Makes the task that runs take longer, whichever executor of a process it runs on: one stands for all of them.
class Staller {
 public:
  void add(std::weak_ptr<platform::Executor> executor) EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    std::erase_if(executors_, [](const auto& weak) { return weak.expired(); });
    executors_.push_back(std::move(executor));
  }

  /// Outside of any task it does nothing.
  void stall(platform::Duration duration) EXCLUDES(mutex_) {
    if (const std::shared_ptr<platform::Executor> executor = any()) executor->stall(duration);
  }

 private:
  std::shared_ptr<platform::Executor> any() EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    for (const auto& weak : executors_)
      if (auto executor = weak.lock()) return executor;
    return nullptr;
  }

  Mutex mutex_;
  std::vector<std::weak_ptr<platform::Executor>> executors_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::faults
