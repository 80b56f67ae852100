#include <algorithm>

#include <fmt/format.h>

#include "replication/log_start.h"
#include "replication/partition.h"

// A replica that is copied to another directory of its broker: what Kafka's ReplicaAlterLogDirsThread does, without a
// protocol between the two logs, since both are here.

namespace tidemark::replication {
namespace {

/// Where the copy has to be cut, by the rule that followers go by (KIP-101): at the end of the last epoch both know.
/// Nothing: it is a part of the log as far as it goes.
std::optional<Offset> divergence(const log::PartitionLog& log, const log::PartitionLog& future) {
  const std::optional<LeaderEpoch> epoch = future.latestEpoch();
  if (!epoch) return std::nullopt;
  const Offset end = future.logEndOffset();
  const log::EpochEndOffset here = log.endOffsetForEpoch(*epoch);
  if (here.endOffset != kNoOffset && here.epoch == *epoch && here.endOffset >= end) return std::nullopt;
  // The log knows no epoch as late as the copy's last one, or ended it earlier.
  LeaderEpoch common = here.epoch;
  Offset cut = end;
  if (here.endOffset == kNoOffset) {
    const std::optional<LeaderEpoch> latest = log.latestEpoch();
    if (!latest) return log.logStartOffset();
    common = *latest;
    cut = std::min(cut, log.logEndOffset());
  } else {
    cut = std::min(cut, here.endOffset);
  }
  const log::EpochEndOffset own = future.endOffsetForEpoch(common);
  if (own.endOffset != kNoOffset) cut = std::min(cut, own.endOffset);
  return cut;
}

Result<void> align(const log::PartitionLog& log, log::PartitionLog& future) {
  // Each cut leaves at least one epoch less.
  for (size_t left = future.epochEntries().size() + 1; left > 0; --left) {
    const std::optional<Offset> cut = divergence(log, future);
    if (!cut) break;
    if (*cut <= future.logStartOffset()) {
      TIDEMARK_TRY(future.truncateFullyAndStartAt(std::max(*cut, log.logStartOffset())));
      break;
    }
    TIDEMARK_TRY(future.truncateTo(*cut));
  }
  if (future.logEndOffset() > log.logEndOffset()) TIDEMARK_TRY(future.truncateTo(log.logEndOffset()));
  if (future.logEndOffset() < log.logStartOffset()) TIDEMARK_TRY(future.truncateFullyAndStartAt(log.logStartOffset()));
  return {};
}

}  // namespace

std::shared_ptr<log::PartitionLog> Partition::future() const {
  Lock lock(logMutex_);
  return future_;
}

void Partition::setFuture(std::shared_ptr<log::PartitionLog> future) {
  WriterLock leadership(leadership_);
  moving_.store(future != nullptr, std::memory_order_relaxed);
  Lock lock(logMutex_);
  future_ = std::move(future);
}

Result<Partition::CopyStep> Partition::copyToFuture(size_t maxBytes) {
  ReaderLock leadership(leadership_);
  return copyLocked(maxBytes);
}

Result<Partition::CopyStep> Partition::copyLocked(size_t maxBytes) {
  const std::shared_ptr<log::PartitionLog> log = this->log();
  const std::shared_ptr<log::PartitionLog> future = this->future();
  if (!future) return fail(ErrorCode::ReplicaNotAvailable, fmt::format("{} is not being moved", name_));
  TIDEMARK_TRY(align(*log, *future));
  CopyStep step;
  const Offset from = future->logEndOffset();
  if (from < log->logEndOffset()) {
    TIDEMARK_ASSIGN(const ByteVector bytes, log->readBytes(from, maxBytes, log::FetchIsolation::LogEnd));
    if (beginsInside(*future, bytes)) TIDEMARK_TRY(beginAtBatch(*future, bytes));
    TIDEMARK_TRY(future->appendAsFollower(bytes));
    step.bytes = static_cast<int64_t>(bytes.size());
  }
  const log::OffsetSnapshot ends = log->offsetSnapshot();
  future->updateHighWatermark(ends.highWatermark.offset);
  if (ends.logStartOffset <= future->highWatermark())
    TIDEMARK_TRY(future->maybeIncrementLogStartOffset(ends.logStartOffset));
  step.caughtUp = future->logEndOffset() == ends.logEndOffset.offset;
  return step;
}

Result<bool> Partition::replaceWithFuture(size_t maxBytes,
                                          const std::function<Result<std::shared_ptr<log::PartitionLog>>()>& replace) {
  WriterLock leadership(leadership_);
  TIDEMARK_ASSIGN(const CopyStep step, copyLocked(maxBytes));
  if (!step.caughtUp) return false;
  TIDEMARK_ASSIGN(std::shared_ptr<log::PartitionLog> replaced, replace());
  moving_.store(false, std::memory_order_relaxed);
  Lock lock(logMutex_);
  log_ = std::move(replaced);
  future_ = nullptr;
  return true;
}

}  // namespace tidemark::replication
