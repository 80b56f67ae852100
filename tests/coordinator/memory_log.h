#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/coordinator_log.h"
#include "records/batch.h"
#include "records/record.h"

namespace tidemark::coordinator {

/// The partitions of a coordinator's topic in memory, shared by all coordinators of a test. What is appended is
/// committed at once, or when the test says so.
class MemoryLog : public CoordinatorLog {
 public:
  using Listener = std::function<void(PartitionIndex, Offset)>;

  size_t maxBatchSize(PartitionIndex) const override { return batchLimit; }

  Result<Offset> append(PartitionIndex index, LeaderEpoch epoch, ByteVector batch) override {
    Partition& partition = partitions_[index];
    if (failWith) return fail(*failWith, "the test says so");
    if (epoch < partition.epoch) return fail(ErrorCode::NotLeaderOrFollower, "an epoch that has passed");
    const auto header = records::BatchHeader::read(batch.data());
    records::stamp(batch, partition.end, epoch);
    partition.batches.push_back({partition.end, std::move(batch)});
    partition.end = partition.end + header.lastOffsetDelta + 1;
    ++appends;
    if (commitsAtOnce) commit(index, partition.end);
    return partition.end;
  }

  Result<LogRange> range(PartitionIndex index) const override {
    if (failReads) return fail(ErrorCode::KafkaStorageError, "the test says so");
    const auto found = partitions_.find(index);
    if (found == partitions_.end()) return LogRange{Offset(0), Offset(0), Offset(0)};
    return LogRange{Offset(0), found->second.end, found->second.highWatermark};
  }

  Result<SharedBytes> read(PartitionIndex index, Offset from, size_t maxBytes) const override {
    ByteVector bytes;
    for (const Batch& batch : partitions_.at(index).batches) {
      if (records::BatchHeader::read(batch.bytes.data()).nextOffset() <= from) continue;
      if (!bytes.empty() && bytes.size() + batch.bytes.size() > maxBytes) break;
      bytes.insert(bytes.end(), batch.bytes.begin(), batch.bytes.end());
    }
    largestRead = std::max(largestRead, bytes.size());
    return SharedBytes(std::move(bytes));
  }

  /// The high watermark moves, to the end if nothing else is said.
  void commit(PartitionIndex index, std::optional<Offset> upTo = std::nullopt) {
    Partition& partition = partitions_[index];
    partition.highWatermark = upTo.value_or(partition.end);
    if (listener) listener(index, partition.highWatermark);
  }

  /// A new leader: what was not committed is cut off if the test wants that, older epochs are fenced.
  void elect(PartitionIndex index, LeaderEpoch epoch, bool loseUncommitted) {
    Partition& partition = partitions_[index];
    partition.epoch = epoch;
    if (!loseUncommitted) return;
    std::erase_if(partition.batches, [&](const Batch& batch) { return batch.base >= partition.highWatermark; });
    partition.end = partition.highWatermark;
  }

  /// Bytes of a real log.
  void load(PartitionIndex index, const ByteVector& bytes) {
    Partition& partition = partitions_[index];
    records::BatchCursor cursor(bytes, records::BatchCursor::Check::Checksum);
    while (cursor.next() == records::Step::Next) {
      const records::BatchView& batch = cursor.batch();
      partition.batches.push_back({batch.header.baseOffset, {batch.bytes.begin(), batch.bytes.end()}});
      partition.end = batch.header.nextOffset();
    }
    partition.highWatermark = partition.end;
  }

  /// Every record of the partition, in order.
  std::vector<CoordinatorRecord> records(PartitionIndex index) const {
    std::vector<CoordinatorRecord> all;
    const auto found = partitions_.find(index);
    if (found == partitions_.end()) return all;
    for (const Batch& batch : found->second.batches) {
      const records::BatchView view{records::BatchHeader::read(batch.bytes.data()), batch.bytes};
      (void)records::forEachRecord(view, [&](const records::RecordView& record) {
        CoordinatorRecord& one = all.emplace_back();
        one.key.assign(record.key->begin(), record.key->end());
        if (record.value) one.value.emplace(record.value->begin(), record.value->end());
      });
    }
    return all;
  }

  bool commitsAtOnce = true;
  std::optional<ErrorCode> failWith;
  bool failReads = false;
  size_t batchLimit = 1048588;
  /// Bytes that one read() brought.
  mutable size_t largestRead = 0;
  size_t appends = 0;
  Listener listener;

 private:
  struct Batch {
    Offset base;
    ByteVector bytes;
  };
  struct Partition {
    std::vector<Batch> batches;
    Offset end{0};
    Offset highWatermark{0};
    LeaderEpoch epoch;
  };
  std::map<PartitionIndex, Partition> partitions_;
};

}  // namespace tidemark::coordinator
