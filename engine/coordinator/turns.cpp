#include "coordinator/turns.h"

#include <utility>

namespace tidemark::coordinator {
namespace {

/// Whose task the thread runs.
thread_local const Turns* turnsOfThread = nullptr;

/// Tasks of others that a thread runs in a row before it goes back to its own.
constexpr int kMostForOthers = 16;

}  // namespace

bool Turns::isCurrent() const noexcept {
  return turnsOfThread == this;
}

void Turns::post(platform::Task task) {
  thread_->post([weak = weak_from_this(), task = std::move(task)]() mutable {
    if (const auto self = weak.lock()) self->runOrPost(std::move(task));
  });
}

platform::Timer Turns::schedule(platform::Duration after, platform::Task task) {
  return thread_->schedule(after, [weak = weak_from_this(), task = std::move(task)]() mutable {
    if (const auto self = weak.lock()) self->runOrPost(std::move(task));
  });
}

void Turns::runOrPost(platform::Task task) {
  {
    Lock lock(mutex_);
    if (busy_) {
      waiting_.push_back(std::move(task));
      return;
    }
    busy_ = true;
  }
  runNow(std::move(task));
  runWaiting();
}

void Turns::runNow(platform::Task task) {
  struct Mark {
    const Turns* before;
    ~Mark() { turnsOfThread = before; }
  };
  // A broken invariant comes out of it and leaves the turn taken: nothing runs any more.
  const Mark mark{std::exchange(turnsOfThread, this)};
  platform::Task mine = std::move(task);
  mine();
}

void Turns::runWaiting() {
  for (int i = 0; i < kMostForOthers; ++i) {
    platform::Task next;
    {
      Lock lock(mutex_);
      if (waiting_.empty()) {
        busy_ = false;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    runNow(std::move(next));
  }
  thread_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->runWaiting();
  });
}

}  // namespace tidemark::coordinator
