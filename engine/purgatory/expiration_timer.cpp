#include "purgatory/expiration_timer.h"

#include <chrono>

#include "base/mutation.h"

namespace tidemark::purgatory {
namespace {

using platform::Duration;
using platform::milliseconds;
using platform::MonotonicTime;

int64_t tickAt(MonotonicTime time) {
  return std::chrono::floor<milliseconds>(time.time_since_epoch()).count();
}
int64_t tickNotBefore(MonotonicTime time) {
  return std::chrono::ceil<milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

std::shared_ptr<ExpirationTimer> ExpirationTimer::create(std::shared_ptr<platform::Executor> executor,
                                                         const platform::Clock& clock) {
  return std::shared_ptr<ExpirationTimer>(new ExpirationTimer(std::move(executor), clock));
}

ExpirationTimer::ExpirationTimer(std::shared_ptr<platform::Executor> executor, const platform::Clock& clock)
    : executor_(std::move(executor)), clock_(clock), wheel_(tickAt(clock.monotonic())) {}

ExpirationTimer::~ExpirationTimer() = default;

void ExpirationTimer::add(std::shared_ptr<TimerEntry> entry, Duration after) {
  const MonotonicTime now = clock_.monotonic();
  // A wait of centuries must not overflow.
  constexpr Duration kLongest = std::chrono::hours(24 * 365 * 100);
  const int64_t deadline =
      tickNotBefore(now + (isMutated(Mutation::ParkedForever) ? kLongest : std::min(after, kLongest)));
  {
    const Lock lock(mutex_);
    if (wheel_.add(entry, deadline, tickAt(now))) {
      arm(deadline);
      return;
    }
  }
  executor_->post([entry = std::move(entry)] { entry->onTimeout(); });
}

bool ExpirationTimer::cancel(TimerEntry& entry) {
  const Lock lock(mutex_);
  return wheel_.remove(entry);
}

size_t ExpirationTimer::size() const {
  const Lock lock(mutex_);
  return wheel_.size();
}

bool ExpirationTimer::isArmed() const {
  const Lock lock(mutex_);
  return armedTick_.has_value();
}

void ExpirationTimer::arm(int64_t tick) {
  if (armedTick_ && *armedTick_ <= tick) return;
  armedTick_ = tick;
  const Duration after = MonotonicTime(milliseconds(tick)) - clock_.monotonic();
  timer_ = executor_->schedule(std::max(after, Duration::zero()), [weak = weak_from_this()] {
    if (const std::shared_ptr<ExpirationTimer> self = weak.lock()) self->turn();
  });
}

void ExpirationTimer::turn() {
  std::vector<std::shared_ptr<TimerEntry>> due;
  {
    const Lock lock(mutex_);
    armedTick_.reset();
    due = wheel_.advance(tickAt(clock_.monotonic()));
    if (const std::optional<int64_t> next = wheel_.nextTick()) arm(*next);
  }
  for (const std::shared_ptr<TimerEntry>& entry : due) entry->onTimeout();
}

}  // namespace tidemark::purgatory
