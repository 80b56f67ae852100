#pragma once

#include <functional>
#include <memory>
#include <string>

#include "log/log_config.h"
#include "log/log_context.h"
#include "raft/raft_log.h"
#include "raft/snapshot_files.h"

namespace tidemark::log {
class PartitionLog;
}

namespace tidemark::raft {

struct PartitionRaftLogOptions {
  log::LogContext context;
  /// metadata.log.dir, or the first of log.dirs.
  std::string logDirectory;
  /// metadata.log.segment.bytes
  int32_t segmentBytes = 1 << 30;
  /// metadata.log.segment.ms
  int64_t segmentMs = 604'800'000;
  /// A write or a sync failed, also one that nobody waits for: the log is of no use any more. Called once, on the
  /// thread that met it; may be empty.
  std::function<void(const Error&)> onFailure = {};
};

/// `__cluster_metadata-0` on disk: a partition log, recovered at every start, with its snapshots beside it (Kafka's
/// KafkaMetadataLog).
class PartitionRaftLog final : public RaftLog {
 public:
  /// Opens or makes it. Everything in it is on disk when this returns. A log that ends below the latest snapshot (the
  /// node died between fetching it and cutting the log) starts at that snapshot.
  static Result<std::unique_ptr<PartitionRaftLog>> open(PartitionRaftLogOptions options);
  ~PartitionRaftLog() override;

  /// For looks inside.
  const std::shared_ptr<log::PartitionLog>& log() const noexcept { return log_; }

  Offset startOffset() const override;
  Offset endOffset() const override;
  LeaderEpoch lastEpoch() const override;
  Offset syncedEndOffset() const override { return syncedEnd_; }
  OffsetAndEpoch endOffsetForEpoch(LeaderEpoch epoch) const override;
  std::optional<OffsetAndEpoch> earliestSnapshotId() const override { return snapshots_->earliest(); }
  std::optional<OffsetAndEpoch> latestSnapshotId() const override { return snapshots_->latest(); }

  Result<Offset> appendAsLeader(MutableBytes batches, LeaderEpoch epoch) override;
  Result<void> appendAsFollower(ByteView batches) override;
  Result<void> sync() override;
  Result<void> beginEpoch(LeaderEpoch epoch) override;
  Result<void> truncateTo(Offset offset) override;
  Result<bool> truncateToLatestSnapshot() override;
  Result<SharedBytes> read(Offset from, Offset below, size_t maxBytes) const override;
  void updateHighWatermark(Offset offset) override;
  Result<std::unique_ptr<RawSnapshotWriter>> createSnapshot(OffsetAndEpoch id) override;
  Result<std::shared_ptr<const RawSnapshot>> openSnapshot(OffsetAndEpoch id) const override;
  Result<void> deleteBefore(OffsetAndEpoch id) override;
  std::vector<OffsetAndEpoch> snapshotIds() const override { return snapshots_->all(); }
  uint64_t sizeInBytes() const override;
  Result<void> close() override;

 private:
  PartitionRaftLog(std::shared_ptr<log::PartitionLog> log, std::unique_ptr<SnapshotFiles> snapshots);

  const std::shared_ptr<log::PartitionLog> log_;
  const std::unique_ptr<SnapshotFiles> snapshots_;
  Offset syncedEnd_{0};
};

}  // namespace tidemark::raft
