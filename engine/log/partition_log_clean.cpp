#include <algorithm>

#include "log/file_names.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

// What a log does for the cleaner (cleaner/): a view to work from, and the swap of segments for their cleaned ones.

namespace tidemark::log {

CleanView PartitionLog::cleanView(bool withProducers) const {
  const auto viewOf = [](const Published& now) {
    return CleanView{.segments = *now.segments,
                     .logStart = now.ends.logStartOffset,
                     .logEnd = now.ends.logEndOffset.offset,
                     .lastStable = now.ends.lastStableOffset.offset,
                     .cleanedTo = now.cleanedTo,
                     .config = now.config,
                     .truncations = now.truncations,
                     .lastRecords = {}};
  };
  if (!withProducers) return viewOf(published());
  // What the producers did last is true of the log as it is: no change comes between.
  const Lock lock(mutex_);
  CleanView view = viewOf(published());
  view.lastRecords = producers_->lastRecords();
  return view;
}

std::optional<Offset> PartitionLog::cleanedTo() const {
  const Lock lock(publishedMutex_);
  return published_.cleanedTo;
}

void PartitionLog::setCleanedTo(Offset offset, uint64_t truncations) {
  const Changing lock(*this);
  if (truncations == truncations_) cleanedTo_ = offset;
}

bool PartitionLog::mayClean(uint64_t truncations) const {
  if (offline() || cleaningCancelled_.load(std::memory_order_acquire) ||
      cleaningPaused_.load(std::memory_order_acquire))
    return false;
  const Lock lock(mutex_);
  return !closed_ && truncations == truncations_;
}

Result<void> PartitionLog::cleaning(const std::function<Result<void>()>& work) {
  const Lock lock(cleanMutex_);
  return work();
}

void PartitionLog::endCleaning() {
  cleaningCancelled_.store(true, std::memory_order_release);
  // Whoever cleans looks at the flag between two reads and holds this for as long as it works.
  const Lock lock(cleanMutex_);
}

void PartitionLog::pauseCleaning() {
  cleaningPaused_.store(true, std::memory_order_release);
  const Lock lock(cleanMutex_);
}

void PartitionLog::resumeCleaning() {
  cleaningPaused_.store(false, std::memory_order_release);
  {
    const Lock lock(mutex_);
    noteCleanable();
  }
  afterChange();
}

Result<std::shared_ptr<Segment>> PartitionLog::newCleanedSegment(Offset base) const {
  return Segment::create(context_, tag_, directory_, base, *config(), kCleanedSuffix);
}

Result<bool> PartitionLog::replaceSegments(std::span<const std::shared_ptr<Segment>> old,
                                           const std::shared_ptr<Segment>& cleaned, uint64_t truncations) {
  const auto result = [&]() -> Result<bool> {
    const Lock syncLock(syncMutex_);
    size_t first = 0;
    {
      const Lock lock(mutex_);
      TIDEMARK_TRY(checkUsable());
      first = segments_->floorIndex(old.front()->baseOffset());
      bool there = truncations == truncations_ && first + old.size() < segments_->size();
      for (size_t i = 0; there && i < old.size(); ++i) there = segments_->at(first + i) == old[i];
      if (!there) return false;
    }
    // Truncation and retention wait for the sync lock: the list stays as it is from here on, but at its end. A start
    // that finds all files as `.swap` completes the swap; one that finds a `.cleaned` among them throws them away.
    TIDEMARK_TRY(cleaned->renameTo(kSwapSuffix));
    TIDEMARK_TRY(context_.files->syncDirectory(directory_));
    {
      const Changing lock(*this);
      const auto swapped = swapLocked(first, old, cleaned);
      // What is on the disk now is between two states; the next start finishes it.
      if (!swapped) return fail(goOffline(swapped.error()));
    }
    const auto synced = context_.files->syncDirectory(directory_);
    if (!synced) TIDEMARK_TRY(failIfSo(synced));
    return true;
  }();
  afterChange();
  return result;
}

Result<void> PartitionLog::swapLocked(size_t first, std::span<const std::shared_ptr<Segment>> old,
                                      const std::shared_ptr<Segment>& cleaned) {
  ++removals_;
  // Ascending, and under the lock: a start that finds the `.swap` removes what is left of them.
  for (const auto& segment : old) {
    TIDEMARK_ASSIGN(auto names, segment->retire());
    for (std::string& name : names) due_.filesToRemove.push_back(std::move(name));
    if (segment->baseOffset() != cleaned->baseOffset()) TIDEMARK_TRY(producers_->removeSnapshot(segment->baseOffset()));
  }
  TIDEMARK_TRY(cleaned->renameTo({}));
  segments_->replace(first, old.size(), cleaned);
  // A place in what is gone is no place any more.
  for (const auto& segment : old)
    if (highWatermark_.segmentBaseOffset == segment->baseOffset()) highWatermark_ = {.offset = highWatermark_.offset};
  due_.any = true;
  return {};
}

void PartitionLog::noteCleanable() {
  if (!config_->compact) return;
  due_.cleanable = due_.any = true;
}

void PartitionLog::waitForStable() {
  // The end of the first closed segment that is not all stable yet: once it is, there is more to clean.
  stableWanted_ = Offset(INT64_MAX);
  const Offset stable = lastStableMetadata().offset;
  for (size_t i = segments_->size(); i-- > 1;) {
    if (segments_->at(i)->baseOffset() <= stable) break;
    stableWanted_ = segments_->at(i)->baseOffset();
  }
}

}  // namespace tidemark::log
