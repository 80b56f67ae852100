#pragma once

#include <memory>

#include "platform/executor.h"
#include "platform/simulated/scheduler.h"

namespace tidemark::platform {

class SimulatedExecutor final : public Executor {
 public:
  explicit SimulatedExecutor(std::shared_ptr<ExecutorCore> core) noexcept : core_(std::move(core)) {}
  ~SimulatedExecutor() override;

  void post(Task task) override;
  Timer schedule(Duration after, Task task) override;
  bool isCurrent() const noexcept override;
  void stall(Duration duration) override;
  const std::string& name() const noexcept override { return core_->name; }

  const std::shared_ptr<ExecutorCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<ExecutorCore> core_;
};

/// The simulated executor behind an interface; a broken invariant if it is of another platform.
const std::shared_ptr<ExecutorCore>& coreOf(Executor& executor);

}  // namespace tidemark::platform
