#include "coordinator/turns.h"

namespace tidemark::coordinator {

thread_local Turns::Turn Turns::ofThread_;

bool Turns::isCurrent() const noexcept {
  return ofThread_.of == this;
}

void Turns::post(platform::Task task) {
  platform::Executor* const caller = isCurrent() ? ofThread_.caller : nullptr;
  platform::Executor& where = caller != nullptr ? *caller : *thread_;
  where.post([weak = weak_from_this(), task = std::move(task), caller]() mutable {
    if (const auto self = weak.lock()) self->run(std::move(task), caller);
  });
}

platform::Timer Turns::schedule(platform::Duration after, platform::Task task) {
  return thread_->schedule(after, [weak = weak_from_this(), task = std::move(task)]() mutable {
    if (const auto self = weak.lock()) self->run(std::move(task));
  });
}

}  // namespace tidemark::coordinator
