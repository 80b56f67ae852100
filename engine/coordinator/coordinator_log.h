#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace tidemark::coordinator {

/// What a coordinator writes: a key and a value, null for a tombstone, both encoded.
struct CoordinatorRecord {
  ByteVector key;
  std::optional<ByteVector> value;
  friend bool operator==(const CoordinatorRecord&, const CoordinatorRecord&) = default;
};

/// Where a partition of a coordinator's topic starts and ends now.
struct LogRange {
  Offset start;
  Offset end;
  Offset highWatermark;
};

/// The partitions of one internal topic (`__consumer_offsets`, …) as a coordinator sees them; the broker implements it
/// over its replicas. Called on the coordinator's executor only, with none of its locks held. No call waits for
/// replicas.
class CoordinatorLog {
 public:
  virtual ~CoordinatorLog() = default;

  /// Largest batch that append() takes (`max.message.bytes` of the topic).
  virtual size_t maxBatchSize(PartitionIndex partition) const = 0;

  /// Appends one batch as leader in `epoch` and returns the offset after its last record. It is committed once the high
  /// watermark reaches that, which the broker tells by CoordinatorRuntime::onHighWatermark (it may do so inside this
  /// call). Errors: NotLeaderOrFollower (also if the epoch has passed), NotEnoughReplicas, MessageTooLarge,
  /// KafkaStorageError: nothing was written.
  virtual Result<Offset> append(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch) = 0;

  /// The same for a batch of a producer's transaction. `verification`: as in TransactionalWriter; InvalidTxnState if it
  /// is there and the transaction has ended meanwhile. `transactionVersion`: of a marker's coordinator.
  struct TransactionTerms {
    std::optional<uint64_t> verification;
    int16_t transactionVersion = 0;
  };
  virtual Result<Offset> appendTransactional(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch,
                                             const TransactionTerms& /*terms*/) {
    return append(partition, epoch, std::move(batch));
  }

  virtual Result<LogRange> range(PartitionIndex partition) const = 0;

  /// Whole batches from the one that holds `from` (or the next one after a hole), up to `maxBytes` but at least one.
  /// Empty only at the log's end.
  virtual Result<SharedBytes> read(PartitionIndex partition, Offset from, size_t maxBytes) const = 0;
};

}  // namespace tidemark::coordinator
