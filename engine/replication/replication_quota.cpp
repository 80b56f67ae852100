#include "replication/replication_quota.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::replication {

void ReplicationRate::expire(platform::MonotonicTime now) {
  for (Sample& sample : samples_)
    if (sample.used && now - sample.begin >= kSampleTime * static_cast<int64_t>(kSamples)) sample = {};
}

void ReplicationRate::record(int64_t bytes, platform::MonotonicTime now) {
  expire(now);
  if (!samples_[current_].used || now - samples_[current_].begin >= kSampleTime) {
    current_ = (current_ + 1) % kSamples;
    samples_[current_] = {.begin = now, .bytes = 0, .used = true};
  }
  samples_[current_].bytes += bytes;
}

double ReplicationRate::bytesPerSecond(platform::MonotonicTime now) {
  expire(now);
  int64_t bytes = 0;
  platform::MonotonicTime oldest = now;
  for (const Sample& sample : samples_) {
    if (!sample.used) continue;
    bytes += sample.bytes;
    oldest = std::min(oldest, sample.begin);
  }
  // A burst counts as what it is in a whole sample at least.
  const platform::Duration over = std::max<platform::Duration>(now - oldest, kSampleTime);
  return static_cast<double>(bytes) / std::chrono::duration<double>(over).count();
}

void ReplicationQuota::record(int64_t bytes) {
  if (bytes <= 0) return;
  Lock lock(mutex_);
  rate_.record(bytes, clock_.monotonic());
}

bool ReplicationQuota::isExceeded() const {
  const int64_t limit = limit_.load(std::memory_order_relaxed);
  if (limit == kUnlimited) return false;
  Lock lock(mutex_);
  return rate_.bytesPerSecond(clock_.monotonic()) > static_cast<double>(limit);
}

bool isThrottled(const std::vector<std::string>& throttled, PartitionIndex partition, NodeId broker) {
  if (throttled.empty()) return false;
  const std::string wanted = fmt::format("{}:{}", partition, broker);
  return std::ranges::any_of(throttled, [&](const std::string& entry) { return entry == "*" || entry == wanted; });
}

}  // namespace tidemark::replication
