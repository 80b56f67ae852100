#include "purgatory/timing_wheel.h"

#include <algorithm>

#include "base/invariant.h"

namespace tidemark::purgatory {

TimingWheel::~TimingWheel() {
  for (const std::unique_ptr<Level>& level : levels_) {
    for (Bucket& bucket : *level) {
      while (bucket.first != nullptr) remove(*bucket.first);
    }
  }
}

bool TimingWheel::add(std::shared_ptr<TimerEntry> entry, int64_t deadlineTick, int64_t nowTick) {
  TIDEMARK_INVARIANT(entry->bucket_ == nullptr, std::string("an entry waits twice"));
  if (deadlineTick <= nowTick) return false;
  // Move on to now, unless a bucket is due first: with a hand that stands still all would land in far wheels.
  if (isQueueEmpty() || queue_.front().tick > nowTick) nowTick_ = std::max(nowTick_, nowTick);
  TimerEntry& placed = *entry;
  placed.self_ = std::move(entry);
  placed.deadlineTick_ = deadlineTick;
  place(placed);
  ++size_;
  return true;
}

void TimingWheel::place(TimerEntry& entry) {
  int64_t slotLength = 1;
  size_t level = 0;
  // The wheel of a level reaches from the slot that holds now to kSlots slots further.
  while (level + 1 < kMaxLevels && entry.deadlineTick_ / slotLength >= nowTick_ / slotLength + kSlots) {
    slotLength *= kSlots;
    ++level;
  }
  const int64_t number = std::min(entry.deadlineTick_ / slotLength, nowTick_ / slotLength + kSlots - 1);
  while (levels_.size() <= level) levels_.push_back(std::make_unique<Level>());
  const auto slot = static_cast<uint8_t>(number % kSlots);
  Bucket& bucket = (*levels_[level])[slot];
  const int64_t tick = number * slotLength;
  if (bucket.expirationTick != tick) {
    TIDEMARK_INVARIANT(bucket.expirationTick == -1,
                       std::string("a bucket is used for a second round before its first ended"));
    bucket.expirationTick = tick;
    bucket.earliestTick = entry.deadlineTick_;
    queue_.push_back({tick, static_cast<uint8_t>(level), slot});
    std::push_heap(queue_.begin(), queue_.end());
  }
  bucket.earliestTick = std::min(bucket.earliestTick, entry.deadlineTick_);
  append(bucket, entry);
}

void TimingWheel::append(Bucket& bucket, TimerEntry& entry) {
  entry.bucket_ = &bucket;
  entry.links_ = {bucket.last, nullptr};
  (bucket.last == nullptr ? bucket.first : bucket.last->links_.next) = &entry;
  bucket.last = &entry;
}

void TimingWheel::unlink(TimerEntry& entry) {
  Bucket& bucket = *entry.bucket_;
  (entry.links_.previous == nullptr ? bucket.first : entry.links_.previous->links_.next) = entry.links_.next;
  (entry.links_.next == nullptr ? bucket.last : entry.links_.next->links_.previous) = entry.links_.previous;
  entry.links_ = {};
  entry.bucket_ = nullptr;
}

bool TimingWheel::remove(TimerEntry& entry) {
  if (entry.bucket_ == nullptr) return false;
  unlink(entry);
  --size_;
  const std::shared_ptr<TimerEntry> last = std::move(entry.self_);
  return true;
}

void TimingWheel::pop() {
  bucketOf(queue_.front()).expirationTick = -1;
  std::pop_heap(queue_.begin(), queue_.end());
  queue_.pop_back();
}

bool TimingWheel::isQueueEmpty() {
  while (!queue_.empty() && bucketOf(queue_.front()).first == nullptr) pop();
  return queue_.empty();
}

std::optional<int64_t> TimingWheel::nextTick() {
  std::optional<int64_t> next;
  for (const Queued& queued : queue_) {
    const Bucket& bucket = bucketOf(queued);
    if (bucket.first != nullptr && (!next || bucket.earliestTick < *next)) next = bucket.earliestTick;
  }
  return next;
}

std::vector<std::shared_ptr<TimerEntry>> TimingWheel::advance(int64_t nowTick) {
  std::vector<std::shared_ptr<TimerEntry>> due;
  while (!isQueueEmpty() && queue_.front().tick <= nowTick) {
    nowTick_ = std::max(nowTick_, queue_.front().tick);
    Bucket& bucket = bucketOf(queue_.front());
    pop();
    TimerEntry* entry = bucket.first;
    bucket.first = bucket.last = nullptr;
    while (entry != nullptr) {
      TimerEntry* const following = entry->links_.next;
      entry->links_ = {};
      entry->bucket_ = nullptr;
      if (entry->deadlineTick_ <= nowTick_) {
        --size_;
        due.push_back(std::move(entry->self_));
      } else {
        place(*entry);
      }
      entry = following;
    }
  }
  nowTick_ = std::max(nowTick_, nowTick);
  return due;
}

}  // namespace tidemark::purgatory
