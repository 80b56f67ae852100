#include "purgatory/delayed_operation.h"

#include <algorithm>

namespace tidemark::purgatory {

bool DelayedOperation::forceComplete() {
  if (completed_.exchange(true, std::memory_order_acq_rel)) return false;
  stopWaiting();
  if (counts_) counts_->completed.fetch_add(1, std::memory_order_relaxed);
  onComplete();
  return true;
}

int32_t DelayedOperation::parkedCount() const noexcept {
  if (!counts_) return 0;
  // Never below zero: others come and go meanwhile.
  return static_cast<int32_t>(std::max<int64_t>(0, counts_->delayed.load(std::memory_order_relaxed)));
}

bool DelayedOperation::tryComplete() {
  {
    const Lock lock(mutex_);
    if (isCompleted() || !canComplete()) return false;
  }
  return forceComplete();
}

void DelayedOperation::park(const std::shared_ptr<ExpirationTimer>& timer) {
  // forceComplete() sets completed_ first and looks for the timer afterwards, both under the same lock as here: either
  // it finds the timer, or the completion is seen here.
  const Lock lock(timerMutex_);
  if (isCompleted()) return;
  timer->add(shared_from_this(), timeout_);
  timer_ = timer;
}

void DelayedOperation::stopWaiting() {
  if (counted_.exchange(false, std::memory_order_acq_rel)) counts_->delayed.fetch_sub(1, std::memory_order_relaxed);
  const Lock lock(timerMutex_);
  if (const std::shared_ptr<ExpirationTimer> timer = timer_.lock()) timer->cancel(*this);
  timer_.reset();
}

void DelayedOperation::onTimeout() {
  if (!forceComplete()) return;
  if (counts_) counts_->expired.fetch_add(1, std::memory_order_relaxed);
  onExpiration();
}

}  // namespace tidemark::purgatory
