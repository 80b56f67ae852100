#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "base/mutex.h"
#include "platform/clock.h"

namespace tidemark::faults {

/// What a broker's seam has to ask about, as bits of its Site.
enum SiteFlag : uint32_t { kLinkFaults = 1, kDiskFaults = 2, kSlowFaults = 4, kClockFaults = 8, kRequestFaults = 16 };

/// How a broker's clocks go wrong now.
struct ClockSettings {
  platform::milliseconds wallOffset{};
  platform::Duration monotonicOffset{};
  /// All jumps so far; only grows in number, so that a broker that starts anew passes over those before it.
  platform::milliseconds wallJumps{};
  platform::Duration monotonicJumps{};
  double wallRate = 1;
  double monotonicRate = 1;
  /// Another one after each change.
  uint64_t version = 0;
};

/// The seam of one broker, over all its lives: the one thing its calls look at while nothing is broken there. Written
/// by the FaultBook, read on any thread.
class Site {
 public:
  explicit Site(NodeId node) noexcept : node_(node) {}

  NodeId node() const noexcept { return node_; }
  bool any(uint32_t flags) const noexcept { return (flags_.load(std::memory_order_relaxed) & flags) != 0; }

  ClockSettings clocks() const EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    return clocks_;
  }

 private:
  friend class FaultBook;
  void setFlags(uint32_t flags) noexcept { flags_.store(flags, std::memory_order_relaxed); }
  void setClocks(const ClockSettings& clocks) EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    clocks_ = clocks;
  }

  const NodeId node_;
  std::atomic<uint32_t> flags_{0};
  mutable Mutex mutex_;
  ClockSettings clocks_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::faults
