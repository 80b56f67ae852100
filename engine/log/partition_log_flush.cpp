#include <algorithm>
#include <chrono>

#include "log/checkpoints.h"
#include "log/partition_log.h"
#include "log/producer_state.h"
#include "log/segment.h"

// How what was appended gets onto the disk: at once, together with others, by time, or in the background.

namespace tidemark::log {

Result<void> PartitionLog::writeEpochs() {
  std::string text;
  {
    const Lock lock(mutex_);
    if (!epochs_.dirty()) return {};
    text = epochs_.encode();
    epochs_.markClean();
  }
  return context_.files->replaceFile(fmt::format("{}/{}", directory_, kEpochFile), asBytes(text));
}

Result<void> PartitionLog::syncSegments(Offset upTo, bool indexes) {
  std::vector<std::shared_ptr<Segment>> segments;
  bool names = false;
  {
    const Lock lock(mutex_);
    for (const auto& segment : *segments_)
      if (segment->baseOffset() < upTo || segment == segments_->active()) segments.push_back(segment);
    if (upTo < logEnd_.offset) segments.pop_back();
    names = std::exchange(namesDirty_, false);
  }
  for (const auto& segment : segments) TIDEMARK_TRY(segment->sync(indexes));
  if (names) TIDEMARK_TRY(context_.files->syncDirectory(directory_));
  return {};
}

Result<void> PartitionLog::flushLocked(std::optional<Offset> upTo) {
  Offset target;
  uint64_t removals = 0;
  {
    const Lock lock(mutex_);
    target = std::min(upTo.value_or(logEnd_.offset), logEnd_.offset);
    removals = removals_;
    recordsSinceFlush_ = 0;
  }
  // The epochs first: behind the recovery point nobody would look for them in the batches.
  TIDEMARK_TRY(writeEpochs());
  TIDEMARK_TRY(syncSegments(target, true));
  const Lock lock(mutex_);
  if (removals == removals_ && target > recoveryPoint_) {
    recoveryPoint_ = target;
    due_.checkpoint = due_.any = true;
  }
  return {};
}

Result<void> PartitionLog::synced(const std::function<Result<void>()>& work) {
  const auto result = [&]() -> Result<void> {
    const Lock syncLock(syncMutex_);
    {
      const Lock lock(mutex_);
      TIDEMARK_TRY(checkUsable());
    }
    return work();
  }();
  // Hooks may call the log again: not under its locks.
  afterChange();
  return result;
}

Result<void> PartitionLog::sync() {
  return synced([this]() REQUIRES(syncMutex_) { return failIfSo(syncSegments(logEndOffset(), false)); });
}

Result<void> PartitionLog::flush(std::optional<Offset> upTo) {
  return synced([this, upTo]() REQUIRES(syncMutex_) { return failIfSo(flushLocked(upTo)); });
}

Result<void> PartitionLog::flushReaching(Offset target) {
  const auto own = std::make_shared<JointFlush>();
  std::shared_ptr<JointFlush> joined;
  const auto led = [&]() -> Result<void> {
    // Taken before anybody can join, until the flush has ended.
    const WriterLock leading(own->running);
    {
      const Lock lock(mutex_);
      if (recoveryPoint_ >= target) return {};
      joined = nextFlush_;
      if (joined) {
        joined->target = std::max(joined->target, target);
        return {};
      }
      own->target = target;
      nextFlush_ = own;
    }
    const Lock syncLock(syncMutex_);
    {
      const Lock lock(mutex_);
      nextFlush_ = nullptr;
      // The flush before may have reached our record, and not those of all who joined since.
      if (recoveryPoint_ >= own->target) return {};
      TIDEMARK_TRY(checkUsable());
    }
    return failIfSo(flushLocked(std::nullopt));
  }();
  if (!joined) {
    afterChange();
    return led;
  }
  // All wake at once: were it the sync lock that they waited for, each would find the next sync begun before its turn.
  {
    const ReaderLock ended(joined->running);
  }
  const Lock lock(mutex_);
  return recoveryPoint_ >= target ? Result<void>() : checkUsable();
}

void PartitionLog::armFlushTimer() {
  if (config_->flushMs == INT64_MAX) return;
  flushTimer_ = ++flushTimers_;
  due_.flushAfterMs = config_->flushMs;
  due_.any = true;
}

void PartitionLog::flushLater(int64_t afterMs) {
  if (!context_.background) return;
  uint64_t number = 0;
  {
    const Lock lock(mutex_);
    number = flushTimer_;
  }
  // The task holds its own timer: nobody else has to.
  auto timer = std::make_shared<platform::Timer>();
  context_.background->post([background = context_.background, timer, afterMs, number, self = weak_from_this()] {
    *timer = background->schedule(std::chrono::milliseconds(std::min<int64_t>(afterMs, int64_t{1} << 40)),
                                  [timer, number, self] {
                                    const auto log = self.lock();
                                    if (!log) return;
                                    {
                                      const Lock lock(log->mutex_);
                                      if (log->flushTimer_ != number) return;
                                      log->flushTimer_ = 0;
                                      if (log->recoveryPoint_ >= log->logEnd_.offset) return;
                                    }
                                    (void)log->flush();
                                  });
  });
}

Result<void> PartitionLog::catchUp(bool epochs, std::optional<Offset> flushBelow) {
  return synced([&]() REQUIRES(syncMutex_) -> Result<void> {
    if (epochs) TIDEMARK_TRY(failIfSo(writeEpochs()));
    return flushBelow ? failIfSo(flushLocked(*flushBelow)) : Result<void>();
  });
}

}  // namespace tidemark::log
