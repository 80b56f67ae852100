#include <algorithm>

#include "base/mutation.h"
#include "events/recorder.h"
#include "events/replication_events.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

// Where a log begins and ends, up to where it is committed and stable, and where its epochs begin.

namespace tidemark::log {

// --- offsets ---
Offset PartitionLog::logStartOffset() const {
  const Lock lock(mutex_);
  return logStart_;
}

Offset PartitionLog::logEndOffset() const {
  const Lock lock(mutex_);
  return logEnd_.offset;
}

LogOffsetMetadata PartitionLog::logEndOffsetMetadata() const {
  const Lock lock(mutex_);
  return logEnd_;
}

Offset PartitionLog::highWatermark() const {
  const Lock lock(mutex_);
  return highWatermark_.offset;
}

Offset PartitionLog::lastStableOffset() const {
  const Lock lock(mutex_);
  return lastStableMetadata().offset;
}

OffsetSnapshot PartitionLog::offsetSnapshot() const {
  const Lock lock(mutex_);
  return {logStart_, logEnd_, highWatermark_, lastStableMetadata()};
}

Offset PartitionLog::recoveryPoint() const {
  const Lock lock(mutex_);
  return recoveryPoint_;
}

LogOffsetMetadata PartitionLog::lastStableMetadata() const {
  auto unstable = producers_->firstUnstableOffset();
  if (!unstable || unstable->offset >= highWatermark_.offset || isMutated(Mutation::StableIgnoresOpen))
    return highWatermark_;
  // Records below the log start are gone, and with them the start of a transaction that spans it.
  if (unstable->offset < logStart_) return {.offset = logStart_};
  return *unstable;
}

LogOffsetMetadata PartitionLog::clamp(const LogOffsetMetadata& offset) const {
  if (offset.offset < logStart_) return {.offset = logStart_};
  if (offset.offset >= logEnd_.offset) return logEnd_;
  return offset;
}

void PartitionLog::setHighWatermark(const LogOffsetMetadata& offset, NodeId slowest) {
  const Offset from = highWatermark_.offset;
  highWatermark_ = offset;
  if (offset.offset == from) return;
  producers_->onHighWatermark(offset.offset);
  due_.checkpoint = due_.any = true;
  if (offset.offset >= stableWanted_ && lastStableMetadata().offset >= stableWanted_) {
    waitForStable();
    noteCleanable();
  }
  if (context_.recorder != nullptr && offset.offset > from)
    context_.recorder->emit(
        events::HighWatermarkAdvanced{.partition = tag_, .from = from, .to = offset.offset, .slowest = slowest});
}

Offset PartitionLog::updateHighWatermark(Offset offset) {
  return updateHighWatermark(LogOffsetMetadata{.offset = offset});
}

Offset PartitionLog::updateHighWatermark(const LogOffsetMetadata& offset) {
  Offset result;
  {
    const Lock lock(mutex_);
    setHighWatermark(clamp(offset), kNoNode);
    result = highWatermark_.offset;
  }
  afterChange();
  return result;
}

std::optional<Offset> PartitionLog::maybeUpdateHighWatermark(Offset offset) {
  {
    const Lock lock(mutex_);
    const LogOffsetMetadata target = clamp({.offset = offset});
    if (target.offset == highWatermark_.offset) return std::nullopt;
    if (target.offset < highWatermark_.offset && !isMutated(Mutation::HighWatermarkFalls)) return std::nullopt;
    setHighWatermark(target, kNoNode);
    offset = target.offset;
  }
  afterChange();
  return offset;
}

std::optional<LogOffsetMetadata> PartitionLog::maybeIncrementHighWatermark(const LogOffsetMetadata& offset,
                                                                           NodeId slowest) {
  std::optional<LogOffsetMetadata> before;
  {
    const Lock lock(mutex_);
    TIDEMARK_INVARIANT(offset.offset <= logEnd_.offset, fmt::format("{}: a high watermark of {} beyond the log end {}",
                                                                    directory_, offset.offset, logEnd_.offset));
    if (highWatermark_.offset < offset.offset ||
        (highWatermark_.offset == offset.offset && highWatermark_.onOlderSegment(offset))) {
      before = highWatermark_;
      setHighWatermark(offset, slowest);
    }
  }
  if (before) afterChange();
  return before;
}

// --- epochs ---
std::optional<LeaderEpoch> PartitionLog::latestEpoch() const {
  const Lock lock(mutex_);
  return epochs_.latestEpoch();
}

EpochEndOffset PartitionLog::endOffsetForEpoch(LeaderEpoch epoch) const {
  const Lock lock(mutex_);
  return epochs_.endOffsetFor(epoch, logEnd_.offset);
}

void PartitionLog::assignEpochStartOffset(LeaderEpoch epoch, Offset startOffset) {
  {
    const Lock lock(mutex_);
    assignEpoch(epoch, startOffset);
  }
  afterChange();
}

void PartitionLog::assignEpoch(LeaderEpoch epoch, Offset startOffset) {
  if (epochs_.assign(epoch, startOffset)) due_.epochs = due_.any = true;
}

std::vector<EpochEntry> PartitionLog::epochEntries() const {
  const Lock lock(mutex_);
  return epochs_.entries();
}

std::optional<LeaderEpoch> PartitionLog::epochForOffset(Offset offset) const {
  const Lock lock(mutex_);
  return epochs_.epochForOffset(offset);
}

}  // namespace tidemark::log
