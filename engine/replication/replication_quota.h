#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "platform/clock.h"

// What copying replicas may cost (KIP-73): leader.replication.throttled.rate and follower.replication.throttled.rate,
// for the partitions that the topic names in ….replication.throttled.replicas.

namespace tidemark::replication {

/// Bytes per second over the last seconds: Kafka's SimpleRate with replication.quota.window.num samples of
/// replication.quota.window.size.seconds each.
class ReplicationRate {
 public:
  void record(int64_t bytes, platform::MonotonicTime now);
  double bytesPerSecond(platform::MonotonicTime now);

 private:
  static constexpr size_t kSamples = 11;
  static constexpr platform::Duration kSampleTime = std::chrono::seconds(1);
  struct Sample {
    platform::MonotonicTime begin{};
    int64_t bytes = 0;
    bool used = false;
  };
  void expire(platform::MonotonicTime now);

  std::array<Sample, kSamples> samples_;
  size_t current_ = 0;
};

/// One direction's quota. Any thread.
class ReplicationQuota {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  explicit ReplicationQuota(platform::Clock& clock) : clock_(clock) {}

  void setLimit(int64_t bytesPerSecond) { limit_.store(bytesPerSecond, std::memory_order_relaxed); }
  /// Bytes of a partition that is throttled were copied.
  void record(int64_t bytes) EXCLUDES(mutex_);
  /// Whether throttled partitions wait.
  bool isExceeded() const EXCLUDES(mutex_);

 private:
  platform::Clock& clock_;
  std::atomic<int64_t> limit_{kUnlimited};
  mutable Mutex mutex_;
  mutable ReplicationRate rate_ GUARDED_BY(mutex_);
};

/// Whether the replica at `broker` is among `throttled`: "*", or PARTITION:BROKER, … as the topic's configuration says.
bool isThrottled(const std::vector<std::string>& throttled, PartitionIndex partition, NodeId broker);

}  // namespace tidemark::replication
