#pragma once

#include <atomic>
#include <optional>
#include <unordered_map>

#include "base/bytes.h"
#include "base/error_code.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "platform/clock.h"
#include "records/batch.h"

namespace tidemark::replication {

/// Batches of idempotent producers that were refused for now: the broker did not lead, or too few replicas were in
/// sync. Their clients send them again, but have sent more behind them already. Such a later batch meets a broker that
/// may append again, and lacks the one before it. OUT_OF_ORDER_SEQUENCE_NUMBER, which Kafka answers, makes librdkafka
/// begin a new epoch and send under it all that it has no answer for, what lies in logs included: duplicates. And of a
/// producer that nobody knows yet Kafka takes the later batch, so that the first one can never come. Here a later batch
/// is refused as the earlier one was, and both come again, in order.
///
/// Any thread.
class RefusedBatches {
 public:
  explicit RefusedBatches(platform::Clock& clock) : clock_(clock) {}

  /// Why an earlier batch of the producer of `batch` was refused, unless one of its batches was appended since.
  std::optional<ErrorCode> before(const TopicPartition& partition, ByteView batch) const;
  /// Notes `batch` if it has a producer and its client will send it again after such an error.
  void refused(const TopicPartition& partition, ByteView batch, ErrorCode why);
  void appended(const TopicPartition& partition, ByteView batch);

  size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  struct Refused {
    ProducerEpoch epoch;
    int32_t firstSequence = 0;
    ErrorCode why = ErrorCode::None;
    platform::MonotonicTime at;
  };
  using Producers = std::unordered_map<ProducerId, Refused>;

  bool isOld(const Refused& refused) const;
  void forgetOld() REQUIRES(mutex_);

  platform::Clock& clock_;
  /// Nothing else is looked at while it is 0, which is nearly always.
  std::atomic<size_t> count_{0};
  mutable Mutex mutex_;
  std::unordered_map<TopicPartition, Producers> partitions_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::replication
