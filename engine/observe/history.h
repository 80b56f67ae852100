#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/ids.h"
#include "events/event.h"

namespace tidemark::observe {

/// An event that can be read without its recorder.
struct ObservedEvent {
  /// Its place in the history of the whole cluster: rises by one, starts at 1.
  uint64_t number = 0;
  events::Event event;
  /// Empty if the event is about no topic.
  std::string topic;
  /// -1 if it is about no partition.
  PartitionIndex partition;
};

/// What a reader of the history gets.
struct EventBatch {
  std::vector<ObservedEvent> events;
  /// To be asked for next: the number of the newest event there is.
  uint64_t last = 0;
  /// How many events between those asked for and the first one here are gone: the history is bounded.
  uint64_t missed = 0;
  /// Events that never reached the history because a ring was full; since the beginning, only grows.
  uint64_t lost = 0;
};

/// The newest events in one order, a bounded number of them. Not thread-safe: its owner locks.
class History {
 public:
  explicit History(size_t capacity = 50'000) : capacity_(capacity) {}

  /// Gives the event its number and forgets the oldest one if need be.
  void append(ObservedEvent event);

  /// Events numbered above `since`, oldest first, at most `limit` of them: the newest ones if there are more, the
  /// others count as missed.
  EventBatch after(uint64_t since, size_t limit = SIZE_MAX) const;

  uint64_t last() const noexcept { return last_; }
  size_t size() const noexcept { return events_.size(); }

 private:
  const size_t capacity_;
  uint64_t last_ = 0;
  std::deque<ObservedEvent> events_;
};

}  // namespace tidemark::observe
