#include <algorithm>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/cleaner/log_cleaner.h"
#include "log/file_names.h"
#include "log/log_directory.h"
#include "log/log_manager.h"

namespace tidemark::log {

std::shared_ptr<LogManager::Loading> LogManager::planLoading(LoadOptions options) {
  auto loading = std::make_shared<Loading>();
  loading->options = std::move(options);
  for (const auto& directory : directories_) {
    if (directory->offline.load()) continue;
    auto place = std::make_unique<LoadPlace>(*directory);
    if (const auto planned = planDirectory(*place, *loading); !planned) {
      std::erase_if(loading->doubles, [&](const auto& one) { return one.first == place.get(); });
      takeOffline(*directory, planned.error());
      continue;
    }
    {
      const Lock lock(place->mutex);
      place->left = place->jobs.size();
    }
    if (!place->jobs.empty() && !directory->clean)
      context_.logger->info("log", "{} was not stopped cleanly: {} logs are recovered", directory->path,
                            place->jobs.size());
    loading->places.push_back(std::move(place));
  }
  return loading;
}

Result<void> LogManager::planDirectory(LoadPlace& place, Loading& loading) {
  const LoadOptions& options = loading.options;
  Directory& directory = place.directory;
  platform::FileSystem& files = *context_.files;
  if (directory.clean) {
    // Gone before anything is changed, also after a power loss: whatever happens from here on is no clean stop.
    TIDEMARK_TRY(files.remove(directory.file(kCleanShutdownFile)));
    TIDEMARK_TRY(files.syncDirectory(directory.path));
  }
  for (size_t which = 0; which < place.offsets.size(); ++which) {
    const std::string path = directory.file(kCheckpointFiles[which]);
    TIDEMARK_ASSIGN(const auto text, readTextFile(files, path));
    if (!text) continue;
    auto decoded = decodeOffsetCheckpoint(*text);
    if (!decoded) {
      context_.logger->warning("log", "{} is not readable and is ignored: {}", path, decoded.error().message);
      place.readable[which] = false;
      continue;
    }
    const Lock guard(directory.checkpointMutex);
    directory.written[which] = *decoded;
    place.offsets[which] = std::move(*decoded);
  }
  TIDEMARK_ASSIGN(const auto entries, files.list(directory.path));
  for (const auto& entry : entries) {
    if (!entry.isDirectory) continue;
    const std::string folder = directory.file(entry.name);
    if (entry.name.ends_with(kDeleteFolderSuffix)) {
      removeFolderLater(directory, folder);
      continue;
    }
    const auto futureOf = partitionOfFutureFolder(entry.name);
    const auto partition = futureOf ? futureOf : partitionOfFolder(entry.name);
    if (!partition || partition->topic == kMetadataTopic) continue;
    std::optional<std::string> text;
    if (options.isOurs) {
      TIDEMARK_ASSIGN(text, readTextFile(files, fmt::format("{}/{}", folder, kPartitionMetadataFile)));
      const Uuid topicId = text ? decodePartitionMetadata(*text).value_or(Uuid()) : Uuid();
      if (!options.isOurs(*partition, topicId)) {
        TIDEMARK_TRY(setAside(directory, folder, *partition));
        loading.strays.insert(*partition);
        if (!directory.clean || futureOf || !options.isCountedOn || !options.isCountedOn(*partition)) continue;
        context_.logger->warning("log", "{} held what the cluster counts on, under the topic id {}", folder, topicId);
        const Lock guard(place.mutex);
        place.less = true;
        continue;
      }
    }
    LoadJob job;
    job.log.partition = *partition;
    job.log.directory = folder;
    job.log.partitionMetadata = std::move(text);
    job.future = futureOf.has_value();
    if (!(job.future ? loading.foundFutures : loading.found).insert(*partition).second) {
      if (!job.future)
        loading.doubles.emplace_back(&place, std::move(job));
      else
        context_.logger->error("log", "{} is a second copy of {} and is left alone", folder, *partition);
      continue;
    }
    place.jobs.push_back(std::move(job));
  }
  return {};
}

bool LogManager::loadNext(Loading& loading, LoadPlace& place, int thread) {
  LoadJob* job = nullptr;
  {
    const Lock lock(place.mutex);
    if (place.failure || place.next == place.jobs.size() || loading.stopped.load()) return false;
    job = &place.jobs[place.next++];
  }
  auto loaded = loadLogOf(loading, place, *job, thread);
  const Lock lock(place.mutex);
  --place.left;
  if (!loaded && !place.failure) place.failure = std::move(loaded).error();
  return true;
}

Result<void> LogManager::loadLogOf(Loading& loading, LoadPlace& place, LoadJob& job, int thread) {
  PartitionLogOptions& options = job.log;
  const TopicPartition partition = options.partition;
  const std::string folder = options.directory;
  options.config = loading.options.configOf ? loading.options.configOf(partition.topic) : options_.defaults;
  options.logStartOffset = checkpointed(place.offsets[kLogStarts], partition);
  options.logStartIsCheckpointed = true;
  options.recoveryPoint = checkpointed(place.offsets[kRecoveryPoints], partition);
  options.recoveryPointKnown = place.readable[kRecoveryPoints];
  options.cleanShutdown = place.directory.clean;
  const OffsetCheckpoint& highWatermarks = place.offsets[kHighWatermarks];
  options.highWatermark = checkpointed(highWatermarks, partition);
  const OffsetCheckpoint& cleaned = place.offsets[kCleanerOffsets];
  if (cleaned.contains(partition)) options.cleanedTo = checkpointed(cleaned, partition);
  if (context_.recorder != nullptr && !options.cleanShutdown)
    options.onRecoveryProgress = [this, &place, partition, thread](int32_t remainingSegments) {
      size_t left = 0;
      {
        const Lock lock(place.mutex);
        left = place.left;
      }
      context_.recorder->emit(
          events::RecoveryProgressed{.partition = context_.recorder->partition(partition.topic, partition.partition),
                                     .directory = std::string_view(place.directory.path),
                                     .thread = thread,
                                     .remainingLogs = static_cast<int32_t>(left),
                                     .remainingSegments = remainingSegments});
    };
  TIDEMARK_ASSIGN(const auto log, job.future ? openFuture(place.directory, std::move(options))
                                             : openLog(place.directory, std::move(options)));
  log->updateHighWatermark(checkpointed(highWatermarks, partition));
  const Offset promised =
      std::max(checkpointed(place.offsets[kRecoveryPoints], partition), checkpointed(highWatermarks, partition));
  const bool less = place.directory.clean && !job.future && log->logEndOffset() < promised;
  if (less)
    context_.logger->warning(
        "log", "{} ends at {}, but when it was stopped cleanly it held all below {}: files were lost or cut since",
        folder, log->logEndOffset(), promised);
  const bool lowered = log->recoveryPoint() < checkpointed(place.offsets[kRecoveryPoints], partition);
  if (!less && !lowered) return {};
  const Lock lock(place.mutex);
  place.lowered = place.lowered || lowered;
  place.less = place.less || less;
  return {};
}

bool LogManager::missesLogs(const Loading& loading, const LoadPlace& place) {
  if (!place.directory.clean) return false;
  bool misses = false;
  for (const size_t which : {kRecoveryPoints, kHighWatermarks})
    for (const auto& [partition, offset] : place.offsets[which]) {
      if (offset <= Offset(0) || partition.topic == kMetadataTopic) continue;
      if (loading.found.contains(partition) || loading.strays.contains(partition)) continue;
      if (loading.options.isOurs && !loading.options.isOurs(partition, Uuid())) continue;
      context_.logger->warning("log", "{} has no {} any more, which held records up to {} when it was stopped cleanly",
                               place.directory.path, partition, offset);
      misses = true;
    }
  return misses;
}

Result<void> LogManager::finishLoading(Loading& loading) {
  if (!loading.stopped.load()) settleDoubles(loading);
  for (const auto& place : loading.places) {
    std::optional<Error> failure;
    bool lowered = false;
    bool whole = false;
    bool less = missesLogs(loading, *place);
    {
      const Lock lock(place->mutex);
      less = less || place->less;
      failure = place->failure;
      lowered = place->lowered;
      whole = place->left == 0;
    }
    if (failure) {
      takeOffline(place->directory, *failure);
      continue;
    }
    if (less) hasLess_.store(true);
    // A log lost its end. Its checkpoint must not promise what is appended there from now on.
    if (lowered) writeCheckpoint(place->directory, kRecoveryPoints);
    place->directory.loaded.store(whole);
  }
  if (loading.stopped.load())
    return fail(ErrorCode::BrokerNotAvailable, "the broker was stopped while its logs were loaded");
  promoteFutures(loading);
  loaded_.store(true);
  for (const auto& log : all())
    if (log->config()->compact) cleaner_->noteCleanable(log);
  arm(retentionArmed_, retentionTimer_, options_.retentionInterval, &LogManager::onRetentionDue);
  const bool any = std::ranges::any_of(directories_, [](const auto& directory) { return !directory->offline.load(); });
  if (!any) return fail(ErrorCode::KafkaStorageError, "no log directory could be loaded");
  return {};
}

Result<void> LogManager::load(const LoadOptions& options) {
  const auto loading = planLoading(options);
  for (const auto& place : loading->places)
    while (loadNext(*loading, *place, 0)) {
    }
  return finishLoading(*loading);
}

void LogManager::startLoading(LoadOptions options, std::function<void(Result<void>)> done) {
  const auto loading = planLoading(std::move(options));
  loading->done = std::move(done);
  for (const auto& place : loading->places) {
    const size_t threads =
        std::min(static_cast<size_t>(std::max(1, loading->options.threadsPerDirectory)), place->jobs.size());
    for (size_t i = 0; i < threads; ++i)
      loading->workers.push_back(
          {.place = place.get(),
           .thread = static_cast<int>(i),
           .executor = process_.createExecutor({.name = fmt::format("log-recovery-{}-{}", place->directory.path, i)})});
  }
  {
    const Lock lock(mutex_);
    loading_ = loading;
  }
  // One more than there are, so that none of them finds itself the last before all have begun.
  loading->busy.store(loading->workers.size() + 1);
  for (size_t i = 0; i < loading->workers.size(); ++i) postLoading(loading, i);
  workerEnded(loading);
}

void LogManager::loadOn(const std::shared_ptr<Loading>& loading, size_t worker) {
  Loading::Worker& own = loading->workers[worker];
  if (!loadNext(*loading, *own.place, own.thread)) return workerEnded(loading);
  postLoading(loading, worker);
}

/// Each log is a task of its own: whoever stops or looks comes in between.
void LogManager::postLoading(const std::shared_ptr<Loading>& loading, size_t worker) {
  loading->workers[worker].executor->post([weak = weak_from_this(), keep = std::weak_ptr(loading), worker] {
    const auto self = weak.lock();
    const auto held = keep.lock();
    if (self && held) self->loadOn(held, worker);
  });
}

void LogManager::workerEnded(const std::shared_ptr<Loading>& loading) {
  if (loading->busy.fetch_sub(1) > 1) return;
  background_->post([weak = weak_from_this(), keep = std::weak_ptr(loading)] {
    const auto self = weak.lock();
    const auto held = keep.lock();
    if (!self || !held) return;
    auto finished = self->finishLoading(*held);
    {
      const Lock lock(self->mutex_);
      self->loading_ = nullptr;
    }
    held->done(std::move(finished));
  });
}

void LogManager::stopLoading() {
  const Lock lock(mutex_);
  if (loading_) loading_->stopped.store(true);
}

}  // namespace tidemark::log
