#include "raft/partition_raft_log.h"

#include <fmt/format.h>

#include "log/partition_log.h"
#include "raft/types.h"
#include "records/batch.h"

namespace tidemark::raft {

PartitionRaftLog::PartitionRaftLog(std::shared_ptr<log::PartitionLog> log, std::unique_ptr<SnapshotFiles> snapshots)
    : log_(std::move(log)), snapshots_(std::move(snapshots)) {}
PartitionRaftLog::~PartitionRaftLog() = default;

Result<std::unique_ptr<PartitionRaftLog>> PartitionRaftLog::open(PartitionRaftLogOptions options) {
  const std::string directory = fmt::format("{}/{}-0", options.logDirectory, kMetadataTopic);
  TIDEMARK_ASSIGN(auto snapshots, SnapshotFiles::open(*options.context.files, directory));
  log::PartitionLogOptions logOptions;
  logOptions.partition = {std::string(kMetadataTopic), PartitionIndex(0)};
  logOptions.topicId = kMetadataTopicId;
  logOptions.directory = directory;
  logOptions.config.segmentBytes = options.segmentBytes;
  logOptions.config.segmentMs = options.segmentMs;
  // What is too old or too much goes with snapshots, never by itself.
  logOptions.config.remove = false;
  logOptions.config.retentionMs = -1;
  logOptions.config.maxMessageBytes = static_cast<int32_t>(kMaxBatchBytes);
  logOptions.contiguous = true;
  logOptions.hooks.onFailure = std::move(options.onFailure);
  TIDEMARK_ASSIGN(auto log, log::PartitionLog::open(options.context, std::move(logOptions)));
  std::unique_ptr<PartitionRaftLog> result(new PartitionRaftLog(std::move(log), std::move(snapshots)));
  TIDEMARK_TRY(result->truncateToLatestSnapshot());
  if (const auto earliest = result->earliestSnapshotId();
      earliest && earliest->offset > result->startOffset() && earliest->offset <= result->endOffset()) {
    result->log_->updateHighWatermark(earliest->offset);
    TIDEMARK_TRY(result->log_->maybeIncrementLogStartOffset(earliest->offset));
  }
  TIDEMARK_TRY(result->sync());
  return result;
}

Offset PartitionRaftLog::startOffset() const {
  return log_->logStartOffset();
}

Offset PartitionRaftLog::endOffset() const {
  return log_->logEndOffset();
}

LeaderEpoch PartitionRaftLog::lastEpoch() const {
  if (const auto latest = log_->latestEpoch()) return *latest;
  const auto snapshot = latestSnapshotId();
  return snapshot && snapshot->offset == endOffset() ? snapshot->epoch : LeaderEpoch(0);
}

OffsetAndEpoch PartitionRaftLog::endOffsetForEpoch(LeaderEpoch epoch) const {
  const log::EpochEndOffset end = log_->endOffsetForEpoch(epoch);
  if (end.endOffset == kNoOffset) return {endOffset(), lastEpoch()};
  // An epoch that only the snapshot knows, which the log starts at, ends there.
  if (const auto earliest = earliestSnapshotId();
      earliest && earliest->offset == end.endOffset && earliest->epoch == epoch)
    return *earliest;
  return {end.endOffset, end.epoch};
}

Result<Offset> PartitionRaftLog::appendAsLeader(MutableBytes batches, LeaderEpoch epoch) {
  const Offset first = endOffset();
  Offset next = first;
  for (size_t at = 0; at < batches.size();) {
    const MutableBytes batch = batches.subspan(at);
    const auto header = records::BatchHeader::read(batch.data());
    records::stamp(batch, next, epoch);
    next = next + header.lastOffsetDelta + 1;
    at += header.sizeInBytes();
  }
  TIDEMARK_TRY(log_->appendAsFollower(batches, epoch, false));
  return first;
}

Result<void> PartitionRaftLog::appendAsFollower(ByteView batches) {
  TIDEMARK_TRY(log_->appendAsFollower(batches));
  return {};
}

Result<void> PartitionRaftLog::sync() {
  const Offset end = endOffset();
  TIDEMARK_TRY(log_->sync());
  syncedEnd_ = end;
  return {};
}

Result<void> PartitionRaftLog::beginEpoch(LeaderEpoch epoch) {
  log_->assignEpochStartOffset(epoch, endOffset());
  return {};
}

Result<void> PartitionRaftLog::truncateTo(Offset offset) {
  TIDEMARK_TRY(log_->truncateTo(offset));
  syncedEnd_ = std::min(syncedEnd_, offset);
  return {};
}

Result<bool> PartitionRaftLog::truncateToLatestSnapshot() {
  const auto latest = latestSnapshotId();
  if (!latest) return false;
  const LeaderEpoch last = log_->latestEpoch().value_or(LeaderEpoch(0));
  const bool above = latest->epoch > last || (latest->epoch == last && latest->offset > endOffset());
  if (!above) return false;
  TIDEMARK_TRY(log_->truncateFullyAndStartAt(latest->offset, latest->offset));
  log_->updateHighWatermark(latest->offset);
  syncedEnd_ = latest->offset;
  TIDEMARK_TRY(snapshots_->removeBelow(latest->offset));
  return true;
}

Result<SharedBytes> PartitionRaftLog::read(Offset from, Offset below, size_t maxBytes) const {
  TIDEMARK_ASSIGN(ByteVector bytes, log_->readBytesBelow(from, maxBytes, below));
  return SharedBytes(std::move(bytes));
}

void PartitionRaftLog::updateHighWatermark(Offset offset) {
  log_->updateHighWatermark(offset);
}

Result<std::unique_ptr<RawSnapshotWriter>> PartitionRaftLog::createSnapshot(OffsetAndEpoch id) {
  return snapshots_->create(id);
}

Result<std::shared_ptr<const RawSnapshot>> PartitionRaftLog::openSnapshot(OffsetAndEpoch id) const {
  return snapshots_->read(id);
}

Result<void> PartitionRaftLog::deleteBefore(OffsetAndEpoch id) {
  TIDEMARK_TRY(log_->maybeIncrementLogStartOffset(id.offset));
  TIDEMARK_TRY(log_->deleteSegmentsBelow(id.offset));
  return snapshots_->removeBelow(id.offset);
}

uint64_t PartitionRaftLog::sizeInBytes() const {
  return static_cast<uint64_t>(log_->sizeInBytes());
}

Result<void> PartitionRaftLog::close() {
  TIDEMARK_TRY(sync());
  return log_->close();
}

}  // namespace tidemark::raft
