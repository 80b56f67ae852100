#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "client/producer.h"

namespace tidemark::client {

/// A record without a result yet: who waits for it, and before which flush it came.
struct PendingRecord {
  Producer::Handler handler;
  uint64_t generation = 0;
};

/// Counts a producer's records without a result, and knows which flushes wait for them. Of the producer's executor.
class PendingRecords {
 public:
  size_t count() const noexcept { return count_; }

  PendingRecord add(Producer::Handler handler) {
    ++count_;
    ++perGeneration_[generation_];
    return {std::move(handler), generation_};
  }
  /// It has its result.
  void remove(const PendingRecord& record) {
    --count_;
    if (--perGeneration_[record.generation] == 0) perGeneration_.erase(record.generation);
  }

  /// `done` waits for all that was added before. There must be some.
  void addFlush(platform::Task done) { flushes_.emplace_back(generation_++, std::move(done)); }
  /// The oldest flush, if it waits for nothing any more. It is the caller's to be told.
  std::optional<platform::Task> takeFlush() {
    if (flushes_.empty()) return std::nullopt;
    if (!perGeneration_.empty() && perGeneration_.begin()->first <= flushes_.front().first) return std::nullopt;
    platform::Task done = std::move(flushes_.front().second);
    flushes_.pop_front();
    return done;
  }

 private:
  size_t count_ = 0;
  /// How many flushes there were.
  uint64_t generation_ = 0;
  std::map<uint64_t, size_t> perGeneration_;
  std::deque<std::pair<uint64_t, platform::Task>> flushes_;
};

}  // namespace tidemark::client
