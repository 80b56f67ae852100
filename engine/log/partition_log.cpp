#include "log/partition_log.h"

#include <algorithm>

#include "base/mutation.h"
#include "events/log_events.h"
#include "events/recorder.h"
#include "events/replication_events.h"
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
  const Lock lock(mutex_);
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

// --- flush ---
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

void PartitionLog::flushLater(int64_t afterMs) {
  if (!context_.background) return;
  // The task holds its own timer: nobody else has to.
  auto timer = std::make_shared<platform::Timer>();
  context_.background->post([background = context_.background, timer, afterMs, self = weak_from_this()] {
    *timer =
        background->schedule(std::chrono::milliseconds(std::min<int64_t>(afterMs, int64_t{1} << 40)), [timer, self] {
          const auto log = self.lock();
          if (!log) return;
          {
            const Lock lock(log->mutex_);
            log->flushTimerArmed_ = false;
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
  if (!unstable || unstable->offset >= highWatermark_.offset) return highWatermark_;
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
  const Lock lock(mutex_);
  return config_;
}

void PartitionLog::updateConfig(const LogConfig& config) {
  auto next = std::make_shared<const LogConfig>(config);
  {
    const Lock lock(mutex_);
    config_ = std::move(next);
    noteCleanable();
  }
  afterChange();
}

void PartitionLog::expireProducers() {
  const Lock lock(mutex_);
  producers_->expire(context_.clock->wallMs(), config_->producerIdExpirationMs);
}

}  // namespace tidemark::log
