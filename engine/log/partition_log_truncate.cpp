#include <algorithm>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

namespace tidemark::log {

// --- truncation ---
Result<bool> PartitionLog::truncateTo(Offset offset) {
  TIDEMARK_INVARIANT(offset.value() >= 0, directory_ + ": truncation to a negative offset");
  bool moved = false;
  const auto result = [&]() -> Result<void> {
    const Lock syncLock(syncMutex_);
    Offset end;
    {
      const Changing lock(*this);
      TIDEMARK_TRY(checkUsable());
      end = logEnd_.offset;
      if (offset >= end) {
        // A leader that never appended may have left its epoch at the log end.
        epochs_.truncateFromEnd(end);
        if (epochs_.dirty()) due_.epochs = due_.any = true;
        return {};
      }
      const auto truncated =
          offset < segments_->first()->baseOffset() ? truncateFully(offset, std::nullopt) : truncatePart(offset);
      if (!truncated) return fail(goOffline(truncated.error()));
      if (context_.recorder != nullptr)
        context_.recorder->emit(events::LogTruncated{.partition = tag_, .from = end, .to = offset});
    }
    moved = true;
    // What was cut off must not come back at a power loss, beside what is appended in its place.
    return failIfSo(syncSegments(offset, true));
  }();
  afterChange();
  if (!result) return fail(result.error());
  return moved;
}

Result<void> PartitionLog::truncateFullyAndStartAt(Offset offset, std::optional<Offset> logStartOffset) {
  const auto result = [&]() -> Result<void> {
    const Lock syncLock(syncMutex_);
    {
      const Changing lock(*this);
      TIDEMARK_TRY(checkUsable());
      const Offset end = logEnd_.offset;
      const auto truncated = truncateFully(offset, logStartOffset);
      if (!truncated) return fail(goOffline(truncated.error()));
      if (context_.recorder != nullptr)
        context_.recorder->emit(events::LogTruncated{.partition = tag_, .from = end, .to = offset});
    }
    return failIfSo(syncSegments(offset, true));
  }();
  afterChange();
  return result;
}

Result<void> PartitionLog::truncatePart(Offset offset) {
  ++removals_;
  ++truncations_;
  // From the last, and on disk before the rest is cut: what is left after a crash is always a front part of the log.
  const size_t before = segments_->size();
  while (segments_->active()->baseOffset() > offset) {
    const std::shared_ptr<Segment> last = segments_->active();
    segments_->removeLast();
    TIDEMARK_TRY(retire(*last));
  }
  if (segments_->size() < before) TIDEMARK_TRY(context_.files->syncDirectory(directory_));
  TIDEMARK_ASSIGN(offset, segments_->active()->truncateTo(offset));
  ++removals_;
  namesDirty_ = true;
  epochs_.truncateFromEnd(offset);
  if (epochs_.dirty()) due_.epochs = due_.any = true;
  setLogEnd(offset);
  logStart_ = std::min(logStart_, offset);
  lowerCleanedTo(offset);
  return rebuildProducers();
}

/// What is appended in place of what was cut is dirty: the checkpoint must not say otherwise.
void PartitionLog::lowerCleanedTo(Offset offset) {
  waitForStable();
  if (!cleanedTo_ || *cleanedTo_ <= offset) return;
  cleanedTo_ = offset;
  due_.recoveryPointLowered = due_.any = true;
}

Result<void> PartitionLog::truncateFully(Offset offset, std::optional<Offset> logStartOffset) {
  ++removals_;
  ++truncations_;
  while (!segments_->empty()) {
    const std::shared_ptr<Segment> last = segments_->active();
    segments_->removeLast();
    TIDEMARK_TRY(retire(*last));
  }
  TIDEMARK_TRY(context_.files->syncDirectory(directory_));
  TIDEMARK_ASSIGN(auto segment, Segment::create(context_, tag_, directory_, offset, *config_));
  segments_->add(std::move(segment));
  namesDirty_ = true;
  epochs_.clear();
  if (epochs_.dirty()) due_.epochs = due_.any = true;
  logStart_ = logStartOffset.value_or(offset);
  TIDEMARK_TRY(producers_->resetTo(offset));
  logEnd_ = {offset, offset, 0};
  setHighWatermark(clamp({.offset = offset}), kNoNode);
  recoveryPoint_ = offset;
  due_.recoveryPointLowered = due_.checkpoint = due_.any = true;
  lowerCleanedTo(logStart_);
  return {};
}

Result<void> PartitionLog::retire(Segment& segment) {
  TIDEMARK_ASSIGN(auto names, segment.retire());
  for (std::string& name : names) due_.filesToRemove.push_back(std::move(name));
  namesDirty_ = due_.any = true;
  if (context_.recorder != nullptr)
    context_.recorder->emit(events::SegmentDeleted{
        .partition = tag_, .baseOffset = segment.baseOffset(), .sizeInBytes = static_cast<int64_t>(segment.size())});
  return {};
}

// --- log start and retention ---
void PartitionLog::setLogStart(Offset offset) {
  if (context_.recorder != nullptr)
    context_.recorder->emit(events::LogStartAdvanced{.partition = tag_, .from = logStart_, .to = offset});
  logStart_ = offset;
  if (highWatermark_.offset < offset) setHighWatermark(clamp({.offset = offset}), kNoNode);
  recoveryPoint_ = std::max(recoveryPoint_, offset);
  epochs_.truncateFromStart(offset);
  if (epochs_.dirty()) due_.epochs = true;
  producers_->onLogStart(offset);
  due_.checkpoint = due_.any = true;
}

bool PartitionLog::raiseLogStart(Offset offset) {
  if (offset <= logStart_) return false;
  setLogStart(offset);
  return true;
}

Result<bool> PartitionLog::maybeIncrementLogStartOffset(Offset offset) {
  bool moved = false;
  {
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    if (offset > highWatermark_.offset)
      return fail(ErrorCode::OffsetOutOfRange, fmt::format("{}: a log start of {} is above the high watermark {}",
                                                           directory_, offset, highWatermark_.offset));
    moved = raiseLogStart(offset);
  }
  afterChange();
  return moved;
}

Result<Offset> PartitionLog::deleteRecords(Offset offset) {
  Offset start;
  {
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    const Offset target = offset.value() == -1 ? highWatermark_.offset : offset;
    if (target.value() < 0 || target > highWatermark_.offset)
      return fail(ErrorCode::OffsetOutOfRange,
                  fmt::format("{}: records cannot be deleted up to {}, the high watermark is {}", directory_, target,
                              highWatermark_.offset));
    raiseLogStart(target);
    start = logStart_;
  }
  afterChange();
  return start;
}

Result<size_t> PartitionLog::countDeletable() {
  const int64_t nowMs = context_.clock->wallMs();
  int64_t excess = -1;
  if (config_->remove && config_->retentionBytes >= 0) {
    excess = -config_->retentionBytes;
    for (const auto& segment : *segments_) excess += static_cast<int64_t>(segment->size());
  }
  size_t count = 0;
  for (; count < segments_->size(); ++count) {
    const Segment& segment = *segments_->at(count);
    const bool last = count + 1 == segments_->size();
    const Offset end = last ? logEnd_.offset : segments_->at(count + 1)->baseOffset();
    if (end > highWatermark_.offset || (last && segment.size() == 0)) break;
    const auto size = static_cast<int64_t>(segment.size());
    const bool belowStart = !last && end <= logStart_;
    const bool tooMuch = excess >= 0 && excess - size >= 0;
    bool tooOld = false;
    if (config_->remove && config_->retentionMs >= 0 && !belowStart && !tooMuch) {
      TIDEMARK_ASSIGN(const int64_t timestamp, segment.maxTimestampMs());
      tooOld = nowMs - (timestamp >= 0 ? timestamp : segment.createdMs()) > config_->retentionMs;
    }
    if (!belowStart && !tooMuch && !tooOld) break;
    if (excess >= 0) excess -= size;
  }
  return count;
}

Result<int> PartitionLog::removeFirstSegments(size_t count) {
  if (count == 0) return 0;
  // There is always one segment to append to.
  if (count == segments_->size()) TIDEMARK_TRY(rollTo(logEnd_.offset));
  raiseLogStart(segments_->at(count)->baseOffset());
  ++removals_;
  for (size_t i = 0; i < count; ++i) {
    const std::shared_ptr<Segment> first = segments_->first();
    segments_->removeFirst(1);
    TIDEMARK_TRY(retire(*first));
    TIDEMARK_TRY(producers_->removeSnapshot(first->baseOffset()));
  }
  return static_cast<int>(count);
}

Result<int> PartitionLog::deleteOldSegments() {
  const auto result = [&]() -> Result<int> {
    const Lock syncLock(syncMutex_);
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    TIDEMARK_ASSIGN(const size_t count, countDeletable());
    auto removed = removeFirstSegments(count);
    if (!removed) return fail(goOffline(removed.error()));
    return removed;
  }();
  afterChange();
  return result;
}

Result<int> PartitionLog::deleteSegmentsBelow(Offset offset) {
  const auto result = [&]() -> Result<int> {
    const Lock syncLock(syncMutex_);
    const Changing lock(*this);
    TIDEMARK_TRY(checkUsable());
    raiseLogStart(std::min(offset, highWatermark_.offset));
    size_t count = 0;
    while (count + 1 < segments_->size() && segments_->at(count + 1)->baseOffset() <= logStart_) ++count;
    auto removed = removeFirstSegments(count);
    if (!removed) return fail(goOffline(removed.error()));
    return removed;
  }();
  afterChange();
  return result;
}

}  // namespace tidemark::log
