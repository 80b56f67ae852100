#include "log/partition_log.h"

#include <algorithm>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/checkpoints.h"
#include "log/file_names.h"
#include "log/log_loader.h"
#include "log/producer_state.h"
#include "log/segment.h"

namespace tidemark::log {

records::ProduceOptions LogConfig::produceOptions() const noexcept {
  records::ProduceOptions options;
  options.maxMessageBytes = maxMessageBytes;
  options.compression = compression;
  options.timestampType = timestampType;
  options.timestampBeforeMaxMs = timestampBeforeMaxMs;
  options.timestampAfterMaxMs = timestampAfterMaxMs;
  options.compacted = compact;
  options.decompressedLimit = std::min<size_t>(static_cast<size_t>(std::max<int64_t>(0, maxDecompressedMessageBytes)),
                                               records::kDefaultDecompressedLimit);
  return options;
}

// --- open and close ---
Result<std::shared_ptr<PartitionLog>> PartitionLog::open(LogContext context, PartitionLogOptions options) {
  events::PartitionTag tag;
  if (context.recorder != nullptr)
    tag = context.recorder->partition(options.partition.topic, options.partition.partition);
  TIDEMARK_ASSIGN(auto loaded, loadLog(context, options, tag));
  auto log = std::make_shared<PartitionLog>(Private{}, std::move(context), std::move(options), tag, std::move(loaded));
  log->afterChange();
  return log;
}

Result<std::shared_ptr<const PartitionLog>> PartitionLog::openForReading(LogContext context,
                                                                         PartitionLogOptions options) {
  context.readOnly = true;
  context.recorder = nullptr;
  TIDEMARK_ASSIGN(auto loaded, loadLogForReading(context, options));
  return std::make_shared<const PartitionLog>(Private{}, std::move(context), std::move(options), events::PartitionTag{},
                                              std::move(loaded));
}

PartitionLog::PartitionLog(Private, LogContext context, PartitionLogOptions options, events::PartitionTag tag,
                           LoadedLog loaded)
    : context_(std::move(context)),
      partition_(std::move(options.partition)),
      directory_(std::move(options.directory)),
      hooks_(std::move(options.hooks)),
      tag_(tag),
      topicId_(loaded.topicId),
      config_(std::make_shared<const LogConfig>(options.config)),
      segments_(std::move(loaded.segments)),
      epochs_(std::move(loaded.epochs)),
      producers_(std::move(loaded.producers)),
      logStart_(loaded.logStart),
      recoveryPoint_(loaded.recoveryPoint),
      namesDirty_(true),
      cleanedTo_(options.cleanedTo) {
  const Changing lock(*this);
  const Segment& active = *segments_->active();
  logEnd_ = {loaded.nextOffset, active.baseOffset(), static_cast<int64_t>(active.size())};
  highWatermark_ = clamp({.offset = logStart_});
  if (cleanedTo_ && *cleanedTo_ > logEnd_.offset) cleanedTo_ = std::nullopt;
  waitForStable();
  if (epochs_.dirty()) due_.epochs = due_.any = true;
  if (context_.recorder != nullptr && loaded.segmentsScanned > 0)
    context_.recorder->emit(events::LogRecovered{.partition = tag_,
                                                 .logEnd = loaded.nextOffset,
                                                 .segmentsScanned = loaded.segmentsScanned,
                                                 .removedBytes = loaded.removedBytes});
}

PartitionLog::~PartitionLog() = default;

Result<void> PartitionLog::close() {
  endCleaning();
  std::vector<std::string> retired;
  const auto closed = synced([&]() REQUIRES(syncMutex_) -> Result<void> {
    TIDEMARK_TRY(failIfSo(closeFiles()));
    const Lock lock(mutex_);
    closed_ = true;
    retired = std::move(retired_);
    return {};
  });
  removeNow(retired);
  return closed;
}

Result<void> PartitionLog::closeFiles() {
  std::optional<std::string> snapshot;
  Offset end;
  {
    const Lock lock(mutex_);
    TIDEMARK_TRY(segments_->active()->addLastTimeEntry());
    producers_->advanceTo(logEnd_.offset);
    TIDEMARK_ASSIGN(snapshot, producers_->takeSnapshot());
    end = logEnd_.offset;
    // It may have been there: from a roll or a truncation, which sync none.
    const std::vector<Offset>& snapshots = producers_->snapshots();
    if (!snapshot && !snapshots.empty() && snapshots.back() == end)
      snapshot = offsetFilePath(directory_, end, kSnapshotSuffix);
    if (snapshot) namesDirty_ = true;
  }
  if (snapshot) {
    TIDEMARK_ASSIGN(const auto file, context_.files->open(*snapshot, platform::OpenMode::ReadWrite));
    TIDEMARK_TRY(file->sync());
  }
  return flushLocked(end);
}

void PartitionLog::abandon() {
  endCleaning();
  const Lock syncLock(syncMutex_);
  const Lock lock(mutex_);
  closed_ = true;
  due_ = {};
}

void PartitionLog::takeOffline() {
  const Lock lock(mutex_);
  offline_.store(true, std::memory_order_release);
}

Result<void> PartitionLog::checkUsable() const {
  if (offline()) return fail(ErrorCode::KafkaStorageError, directory_ + " is offline after a failed write or sync");
  if (closed_) return fail(ErrorCode::KafkaStorageError, directory_ + " is closed");
  return {};
}

Error PartitionLog::goOffline(Error error) {
  if (!offline()) {
    offline_.store(true, std::memory_order_release);
    context_.logger->error("log", "{} goes offline: {}", directory_, error.message);
    due_.failure = error;
    due_.any = true;
  }
  return Error{ErrorCode::KafkaStorageError, std::move(error.message)};
}

Result<void> PartitionLog::failIfSo(Result<void> result) {
  if (result) return {};
  const Lock lock(mutex_);
  return fail(goOffline(std::move(result).error()));
}

void PartitionLog::afterChange() {
  Due due;
  {
    const Lock lock(mutex_);
    if (!due_.any) [[likely]]
      return;
    due = std::move(due_);
    due_ = {};
  }
  if (due.failure) {
    if (hooks_.onFailure) hooks_.onFailure(*due.failure);
    return;
  }
  if (due.recoveryPointLowered && hooks_.onRecoveryPointLowered) hooks_.onRecoveryPointLowered();
  if (due.checkpoint && hooks_.onCheckpointDue) hooks_.onCheckpointDue();
  if (due.cleanable && hooks_.onCleanable) hooks_.onCleanable();
  if (!due.filesToRemove.empty()) removeLater(std::move(due.filesToRemove));
  if (due.flushAfterMs) flushLater(*due.flushAfterMs);
  if (!due.epochs && !due.flushBelow) return;
  auto work = [self = weak_from_this(), epochs = due.epochs, below = due.flushBelow] {
    if (const auto log = self.lock()) (void)log->catchUp(epochs, below);
  };
  if (context_.background)
    context_.background->post(std::move(work));
  else
    work();
}

void PartitionLog::removeLater(std::vector<std::string> names) {
  platform::Duration delay{};
  {
    const Lock lock(mutex_);
    retired_.insert(retired_.end(), names.begin(), names.end());
    delay = std::chrono::milliseconds(std::max<int64_t>(0, config_->fileDeleteDelayMs));
  }
  auto work = [self = weak_from_this(), names = std::move(names)] {
    if (const auto log = self.lock()) log->removeNow(names);
  };
  if (!context_.background) return work();
  if (delay == platform::Duration()) return context_.background->post(std::move(work));
  // The task holds its own timer: nobody else has to.
  auto timer = std::make_shared<platform::Timer>();
  context_.background->post([background = context_.background, timer, delay, work = std::move(work)]() mutable {
    *timer = background->schedule(delay, [timer, work = std::move(work)] { work(); });
  });
}

void PartitionLog::removeNow(const std::vector<std::string>& names) {
  {
    const Lock lock(mutex_);
    std::erase_if(retired_, [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
  }
  for (const std::string& name : names) {
    if (!context_.files->exists(name)) continue;
    const auto removed = context_.files->remove(name);
    if (!removed) context_.logger->warning("log", "{} is left behind: {}", name, removed.error().message);
  }
}

// --- settings ---
Uuid PartitionLog::topicId() const {
  const Lock lock(mutex_);
  return topicId_;
}

Result<void> PartitionLog::assignTopicId(const Uuid& id) {
  {
    const Lock lock(mutex_);
    if (topicId_ == id) return {};
    if (!topicId_.isZero())
      return fail(ErrorCode::InconsistentTopicId, fmt::format("{} has topic id {}, not {}", directory_, topicId_, id));
    topicId_ = id;
  }
  const auto written = failIfSo(context_.files->replaceFile(fmt::format("{}/{}", directory_, kPartitionMetadataFile),
                                                            asBytes(encodePartitionMetadata(id))));
  afterChange();
  return written;
}

std::shared_ptr<const LogConfig> PartitionLog::config() const {
  const Lock lock(publishedMutex_);
  return published_.config;
}

void PartitionLog::updateConfig(const LogConfig& config) {
  auto next = std::make_shared<const LogConfig>(config);
  {
    const Changing lock(*this);
    const bool flushesOtherwise = config_->flushMs != next->flushMs;
    config_ = std::move(next);
    if (flushesOtherwise) {
      // Whatever waits for a flush waits by the new setting from now on.
      flushTimer_ = 0;
      if (recoveryPoint_ < logEnd_.offset) armFlushTimer();
    }
    noteCleanable();
  }
  afterChange();
}

}  // namespace tidemark::log
