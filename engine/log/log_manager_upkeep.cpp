#include <algorithm>

#include "log/checkpoints.h"
#include "log/cleaner/log_cleaner.h"
#include "log/file_names.h"
#include "log/log_directory.h"
#include "log/log_manager.h"

// What a log manager does now and then: checkpoints, cleaning, retention.

namespace tidemark::log {

// --- checkpoints ---
void LogManager::writeCheckpoint(Directory& directory, size_t which) {
  if (directory.offline.load()) return;
  std::optional<Error> failure;
  {
    const Lock guard(directory.checkpointMutex);
    std::optional<OffsetCheckpoint>& written = directory.written[which];
    OffsetCheckpoint offsets;
    if (!directory.loaded.load()) {
      // Of the logs that were not opened yet the file is all that is known.
      if (!written) return;
      offsets = *written;
    }
    for (const auto& log : logsIn(directory)) {
      if (log->offline()) continue;
      switch (which) {
        case kRecoveryPoints:
          offsets[log->partition()] = log->recoveryPoint();
          break;
        case kLogStarts: {
          const Offset start = log->logStartOffset();
          if (start > log->firstSegmentBase()) offsets[log->partition()] = start;
          break;
        }
        case kCleanerOffsets:
          if (const auto cleaned = log->cleanedTo()) offsets[log->partition()] = *cleaned;
          break;
        default:
          offsets[log->partition()] = log->highWatermark();
      }
    }
    if (written && *written == offsets) return;
    if (which == kCleanerOffsets && !written && offsets.empty()) return;
    auto replaced =
        context_.files->replaceFile(directory.file(kCheckpointFiles[which]), asBytes(encodeOffsetCheckpoint(offsets)));
    if (replaced)
      written = std::move(offsets);
    else
      failure = std::move(replaced).error();
  }
  if (failure) takeOffline(directory, *failure);
}

void LogManager::checkpoint() {
  for (const auto& directory : directories_)
    for (size_t which = 0; which < kCheckpointFiles.size(); ++which) writeCheckpoint(*directory, which);
}

// --- cleaning ---
void LogManager::noteCleanable(const TopicPartition& partition) {
  if (!loaded_.load(std::memory_order_relaxed) || stopped_.load()) return;
  if (const auto log = get(partition)) cleaner_->noteCleanable(log);
}

void LogManager::onCleaned(const PartitionLog& log) {
  Directory* directory = nullptr;
  {
    const Lock lock(mutex_);
    const auto found = logs_.find(log.partition());
    if (found != logs_.end() && found->second.log.get() == &log) directory = found->second.directory;
  }
  if (directory != nullptr) writeCheckpoint(*directory, kCleanerOffsets);
}

void LogManager::configureCleaner(const CleanerConfig& config) {
  cleaner_->configure(config);
}

std::vector<CleanerStatus> LogManager::cleanerStatus() const {
  return cleaner_->status(all());
}

void LogManager::cleanup() {
  std::vector<std::shared_ptr<PartitionLog>> logs = all();
  std::ranges::move(futures(), std::back_inserter(logs));
  for (const auto& log : logs) {
    if (log->offline()) continue;
    const auto removed = log->deleteOldSegments();
    if (removed && *removed > 0)
      context_.logger->info("log", "{}: {} segments are past their retention", log->partition(), *removed);
    log->expireProducers();
  }
}

void LogManager::arm(std::atomic<bool>& armed, platform::Timer& timer, platform::Duration after,
                     void (LogManager::*due)()) {
  if (armed.load(std::memory_order_relaxed) || armed.exchange(true) || stopped_.load()) return;
  background_->post([weak = weak_from_this(), place = &timer, after, due] {
    const auto manager = weak.lock();
    if (!manager || manager->stopped_.load()) return;
    *place = manager->background_->schedule(after, [weak, due] {
      const auto self = weak.lock();
      if (self && !self->stopped_.load()) ((*self).*due)();
    });
  });
}

void LogManager::onHighWatermarksDue() {
  highWatermarksArmed_.store(false);
  for (const auto& directory : directories_) writeCheckpoint(*directory, kHighWatermarks);
}

void LogManager::onRecoveryPointsDue() {
  recoveryPointsArmed_.store(false);
  for (const auto& directory : directories_) {
    writeCheckpoint(*directory, kRecoveryPoints);
    writeCheckpoint(*directory, kLogStarts);
  }
}

void LogManager::onRetentionDue() {
  retentionArmed_.store(false);
  cleanup();
  arm(retentionArmed_, retentionTimer_, options_.retentionInterval, &LogManager::onRetentionDue);
}

}  // namespace tidemark::log
