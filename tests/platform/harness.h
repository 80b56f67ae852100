#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "platform/process.h"
#include "platform/simulated/world.h"

namespace tidemark::platform {

enum class Kind : uint8_t { Native, Simulated };

/// Runs one test on either platform: makes processes, waits for what their tasks do.
class Harness {
 public:
  virtual ~Harness() = default;
  virtual std::shared_ptr<Process> createProcess(const std::string& name) = 0;
  /// A folder that exists and is empty.
  virtual std::string folder() = 0;
  /// Null on the native platform.
  virtual World* world() noexcept { return nullptr; }

  /// Changes what await() looks at; from any task.
  template <class Change>
  void update(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  /// Waits until the predicate holds, asked after every update; false after a generous time.
  [[nodiscard]] virtual bool await(std::function<bool()> predicate) = 0;
  /// Has the function run as a task and waits for its end.
  void run(Executor& executor, std::function<void()> function);
  /// Lets that much of the platform's time pass.
  virtual void pass(Duration duration) = 0;

 protected:
  std::mutex mutex_;
  std::condition_variable changed_;
};

std::unique_ptr<Harness> makeHarness(Kind kind);

}  // namespace tidemark::platform
