#include "coordinator/turns.h"

#include <utility>

namespace tidemark::coordinator {
namespace {

/// Whose task the thread runs, and where that posts.
struct Turn {
  const Turns* of = nullptr;
  platform::Executor* caller = nullptr;
};
thread_local Turn turnOfThread;

}  // namespace

bool Turns::isCurrent() const noexcept {
  return turnOfThread.of == this;
}

void Turns::post(platform::Task task) {
  platform::Executor* const caller = isCurrent() ? turnOfThread.caller : nullptr;
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

void Turns::run(platform::Task task, platform::Executor* caller) {
  if (isCurrent()) return post(std::move(task));
  struct Mark {
    Turn before;
    ~Mark() { turnOfThread = before; }
  };
  const Lock taken(turn_);
  if (std::exchange(inTask_, true)) return;
  const Mark mark{std::exchange(turnOfThread, {this, caller})};
  // It is gone before the next one starts.
  platform::Task mine = std::move(task);
  mine();
  inTask_ = false;
}

}  // namespace tidemark::coordinator
