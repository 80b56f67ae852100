#pragma once

#include <memory>

#include "faults/fault_book.h"
#include "platform/executor.h"

namespace tidemark::faults {

/// An executor whose tasks take longer while its broker is slow, and whose timers follow its broker's clock.
class FaultyExecutor final : public platform::Executor {
 public:
  FaultyExecutor(std::shared_ptr<platform::Executor> below, std::shared_ptr<FaultBook> book,
                 std::shared_ptr<const Site> site)
      : below_(std::move(below)), book_(std::move(book)), site_(std::move(site)) {}

  void post(platform::Task task) override {
    if (site_->any(kSlowFaults)) [[unlikely]]
      return postSlow(std::move(task));
    below_->post(std::move(task));
  }
  platform::Timer schedule(platform::Duration after, platform::Task task) override {
    if (site_->any(kClockFaults | kSlowFaults)) [[unlikely]]
      return scheduleWrong(after, std::move(task));
    return below_->schedule(after, std::move(task));
  }
  bool isCurrent() const noexcept override { return below_->isCurrent(); }
  void stall(platform::Duration duration) override { below_->stall(duration); }
  const std::string& name() const noexcept override { return below_->name(); }

  const std::shared_ptr<platform::Executor>& below() const noexcept { return below_; }

 private:
  void postSlow(platform::Task task);
  platform::Timer scheduleWrong(platform::Duration after, platform::Task task);
  platform::Task slow(platform::Task task);

  const std::shared_ptr<platform::Executor> below_;
  const std::shared_ptr<FaultBook> book_;
  const std::shared_ptr<const Site> site_;
};

/// What the platform below knows that executor as; a broken invariant if it is of no FaultyProcess.
const std::shared_ptr<platform::Executor>& belowOf(platform::Executor& executor);

}  // namespace tidemark::faults
