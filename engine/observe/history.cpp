#include "observe/history.h"

#include <algorithm>
#include <utility>

namespace tidemark::observe {

void History::append(ObservedEvent event) {
  event.number = ++last_;
  events_.push_back(std::move(event));
  if (events_.size() > capacity_) events_.pop_front();
}

EventBatch History::after(uint64_t since, size_t limit) const {
  EventBatch batch;
  batch.last = last_;
  if (since >= last_) return batch;
  const uint64_t wanted = last_ - since;
  const uint64_t given = std::min({wanted, static_cast<uint64_t>(events_.size()), static_cast<uint64_t>(limit)});
  batch.missed = wanted - given;
  batch.events.assign(events_.end() - static_cast<std::ptrdiff_t>(given), events_.end());
  return batch;
}

}  // namespace tidemark::observe
