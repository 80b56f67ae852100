#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/invariant.h"
#include "events/event.h"

namespace tidemark::events {

/// Bounded queue of events from one thread to one thread. Neither side ever waits.
class Ring {
 public:
  explicit Ring(uint32_t capacity) : slots_(new Event[capacity]), mask_(capacity - 1) {
    TIDEMARK_INVARIANT(std::has_single_bit(capacity), std::string("the capacity of a ring is a power of two"));
  }

  /// The writer. False: full, the event is counted as lost.
  bool push(const Event& event) noexcept {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    slots_[head & mask_] = event;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  /// The reader: appends all that is there.
  void drain(std::vector<Event>& into) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t head = head_.load(std::memory_order_acquire);
    for (; tail != head; ++tail) into.push_back(slots_[tail & mask_]);
    tail_.store(tail, std::memory_order_release);
  }

  /// Events refused since the last call.
  uint64_t takeLost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  std::unique_ptr<Event[]> slots_;
  const uint64_t mask_;
  /// Written by the writer, only rises.
  alignas(64) std::atomic<uint64_t> head_{0};
  std::atomic<uint64_t> lost_{0};
  /// Written by the reader, only rises.
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace tidemark::events
