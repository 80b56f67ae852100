#include <algorithm>

#include "base/mutation.h"
#include "events/recorder.h"
#include "events/replication_events.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

// Where a log begins and ends, up to where it is committed and stable, and where its epochs begin.

namespace tidemark::log {

// --- what is published ---
void PartitionLog::publish() const {
  const OffsetSnapshot ends{logStart_, logEnd_, highWatermark_, lastStableMetadata()};
  const Lock lock(publishedMutex_);
  published_.ends = ends;
  published_.config = config_;
  published_.cleanedTo = cleanedTo_;
  published_.truncations = truncations_;
  // A log without a segment failed in the middle of a truncation and is offline.
  if (segments_->empty() || (published_.segments && published_.segmentsVersion == segments_->version())) return;
  published_.segments =
      std::make_shared<const std::vector<std::shared_ptr<Segment>>>(segments_->begin(), segments_->end());
  published_.segmentsVersion = segments_->version();
}

PartitionLog::Published PartitionLog::published() const {
  const Lock lock(publishedMutex_);
  return published_;
}

LogLook PartitionLog::look() const {
  const Published now = published();
  LogLook look{.ends = now.ends, .sizeInBytes = 0, .segments = {}};
  look.segments.reserve(now.segments->size());
  for (const auto& segment : *now.segments) {
    // The active one may have grown since.
    const LogOffsetMetadata& end = now.ends.logEndOffset;
    const auto size =
        segment->baseOffset() == end.segmentBaseOffset ? end.position : static_cast<int64_t>(segment->size());
    look.segments.push_back({segment->baseOffset(), size});
    look.sizeInBytes += size;
  }
  return look;
}

// --- offsets ---
Offset PartitionLog::logStartOffset() const {
  const Lock lock(publishedMutex_);
  return published_.ends.logStartOffset;
}

Offset PartitionLog::logEndOffset() const {
  const Lock lock(publishedMutex_);
  return published_.ends.logEndOffset.offset;
}

LogOffsetMetadata PartitionLog::logEndOffsetMetadata() const {
  const Lock lock(publishedMutex_);
  return published_.ends.logEndOffset;
}

Offset PartitionLog::highWatermark() const {
  const Lock lock(publishedMutex_);
  return published_.ends.highWatermark.offset;
}

Offset PartitionLog::lastStableOffset() const {
  const Lock lock(publishedMutex_);
  return published_.ends.lastStableOffset.offset;
}

OffsetSnapshot PartitionLog::offsetSnapshot() const {
  const Lock lock(publishedMutex_);
  return published_.ends;
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
    const Changing lock(*this);
    setHighWatermark(clamp(offset), kNoNode);
    result = highWatermark_.offset;
  }
  afterChange();
  return result;
}

std::optional<Offset> PartitionLog::maybeUpdateHighWatermark(Offset offset) {
  {
    const Changing lock(*this);
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
    const Changing lock(*this);
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
