#include <algorithm>

#include "log/file_names.h"
#include "log/log_directory.h"
#include "log/log_manager.h"
#include "platform/random.h"

// Moving a log to another directory of the broker (KIP-113): a copy grows in a folder of its own,
// TOPIC-PARTITION.…-future, until it ends where the log does, and then takes its place.
//
// What a crash leaves: the copy (whoever has the replica goes on with it, or, if the log is not there any more and the
// metadata says that it lies where the copy does, the copy is the log); after the copy got its name, two logs (the
// longer stays, of equals that where the metadata says); after that, the old folder under a name that is removed.

namespace tidemark::log {

Result<Uuid> LogManager::directoryForMove(const std::string& path) const {
  for (const auto& directory : directories_) {
    if (directory->path != path) continue;
    if (directory->offline.load())
      return fail(ErrorCode::KafkaStorageError, fmt::format("the log directory {} is offline", path));
    if (directory->cordoned.load())
      return fail(ErrorCode::InvalidReplicaAssignment, fmt::format("the log directory {} is cordoned", path));
    return directory->id();
  }
  return fail(ErrorCode::LogDirNotFound, fmt::format("{} is none of the broker's log directories", path));
}

std::string LogManager::pathOf(const Uuid& id) const {
  for (const auto& directory : directories_)
    if (directory->id() == id) return directory->path;
  return {};
}

void LogManager::preferDirectory(const TopicPartition& partition, const Uuid& directory) {
  const Lock lock(mutex_);
  preferred_[partition] = directory;
}

std::shared_ptr<PartitionLog> LogManager::future(const TopicPartition& partition) const {
  const Lock lock(mutex_);
  const auto found = futures_.find(partition);
  return found == futures_.end() ? nullptr : found->second.log;
}

std::vector<std::shared_ptr<PartitionLog>> LogManager::futures() const {
  std::vector<std::shared_ptr<PartitionLog>> logs;
  {
    const Lock lock(mutex_);
    for (const auto& [partition, entry] : futures_) logs.push_back(entry.log);
  }
  std::ranges::sort(logs, {}, [](const auto& log) -> const TopicPartition& { return log->partition(); });
  return logs;
}

Uuid LogManager::futureDirectoryOf(const TopicPartition& partition) const {
  const Directory* directory = nullptr;
  {
    const Lock lock(mutex_);
    const auto found = futures_.find(partition);
    if (found != futures_.end()) directory = found->second.directory;
  }
  return directory == nullptr ? Uuid() : directory->id();
}

Result<std::shared_ptr<PartitionLog>> LogManager::openFuture(Directory& directory, PartitionLogOptions options) {
  const TopicPartition partition = options.partition;
  options.hooks = hooksFor(directory, partition, true);
  // What happens to a copy happens to no replica: nobody is told.
  LogContext context = context_;
  context.recorder = nullptr;
  TIDEMARK_ASSIGN(auto log, PartitionLog::open(std::move(context), std::move(options)));
  const Lock lock(mutex_);
  futures_[partition] = {log, &directory};
  return log;
}

Result<std::shared_ptr<PartitionLog>> LogManager::createFuture(const TopicPartition& partition, const Uuid& directory) {
  const Lock change(changeMutex_);
  const std::shared_ptr<PartitionLog> current = get(partition);
  if (!current) return fail(ErrorCode::ReplicaNotAvailable, fmt::format("there is no log of {}", partition));
  TIDEMARK_INVARIANT(!future(partition), fmt::format("{} has a copy already", partition));
  for (const auto& one : directories_)
    if (one->offline.load())
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("no copy of {} is made while the log directory {} is offline", partition, one->path));
  Directory* const place = directoryFor(directory);
  if (place == nullptr || directory.isZero())
    return fail(ErrorCode::KafkaStorageError,
                fmt::format("no directory {} is online for a copy of {}", directory, partition));
  PartitionLogOptions options;
  options.partition = partition;
  options.topicId = current->topicId();
  TIDEMARK_ASSIGN(const std::string folder, futureFolderName(partition, process_.random().uuid()));
  options.directory = place->file(folder);
  options.config = *current->config();
  forgetCheckpoints(*place, partition);
  current->pauseCleaning();
  auto log = openFuture(*place, std::move(options));
  if (!log) {
    current->resumeCleaning();
    if (log.error().code == ErrorCode::KafkaStorageError) takeOffline(*place, log.error());
    return log;
  }
  const Lock lock(mutex_);
  preferred_.erase(partition);
  return log;
}

Result<void> LogManager::removeFuture(const TopicPartition& partition) {
  const Lock change(changeMutex_);
  Entry entry;
  {
    const Lock lock(mutex_);
    const auto found = futures_.find(partition);
    if (found == futures_.end()) return {};
    entry = std::move(found->second);
    futures_.erase(found);
  }
  const auto retired = retire(entry);
  if (const auto current = get(partition)) current->resumeCleaning();
  return retired;
}

Result<void> LogManager::prepareFuture(const TopicPartition& partition) {
  Entry entry;
  {
    const Lock lock(mutex_);
    const auto found = futures_.find(partition);
    if (found == futures_.end())
      return fail(ErrorCode::ReplicaNotAvailable, fmt::format("there is no copy of {}", partition));
    entry = found->second;
  }
  TIDEMARK_TRY(entry.log->flush());
  for (size_t which = 0; which < kCheckpointFiles.size(); ++which) writeCheckpoint(*entry.directory, which);
  return {};
}

Result<std::shared_ptr<PartitionLog>> LogManager::replaceWithFuture(const TopicPartition& partition) {
  const Lock change(changeMutex_);
  if (stopped_.load()) return fail(ErrorCode::KafkaStorageError, "the logs are closed");
  Entry source;
  Entry copy;
  {
    const Lock lock(mutex_);
    const auto found = logs_.find(partition);
    const auto future = futures_.find(partition);
    if (found == logs_.end() || future == futures_.end())
      return fail(ErrorCode::ReplicaNotAvailable, fmt::format("there is no copy of {}", partition));
    source = found->second;
    copy = future->second;
  }
  if (source.log->offline())
    return fail(ErrorCode::KafkaStorageError, fmt::format("{} is offline", source.log->directory()));
  TIDEMARK_ASSIGN(auto log, takePlace(partition, source.log, copy));
  // Its own directory's trouble, if this fails: what counts is in its place.
  if (retire(source) && !source.directory->offline.load()) {
    const auto synced = context_.files->syncDirectory(source.directory->path);
    if (!synced) takeOffline(*source.directory, synced.error());
  }
  return log;
}

Result<std::shared_ptr<PartitionLog>> LogManager::takePlace(const TopicPartition& partition,
                                                            const std::shared_ptr<PartitionLog>& source,
                                                            const Entry& copy) {
  Directory& directory = *copy.directory;
  const auto failed = [&](Error error) {
    takeOffline(directory, error);
    return fail(ErrorCode::KafkaStorageError, std::move(error.message));
  };
  PartitionLogOptions options;
  options.partition = partition;
  options.topicId = copy.log->topicId();
  options.directory = directory.file(folderName(partition));
  options.config = *copy.log->config();
  options.logStartOffset = std::max(copy.log->logStartOffset(), source ? source->logStartOffset() : Offset(0));
  options.recoveryPoint = copy.log->logEndOffset();
  options.cleanShutdown = true;
  options.highWatermark = source ? source->highWatermark() : copy.log->highWatermark();
  if (source) options.cleanedTo = source->cleanedTo();
  options.hooks = hooksFor(directory, partition);
  const Offset highWatermark = *options.highWatermark;
  // All of it is on disk before it has the name, and the name before the old log goes.
  if (auto closed = copy.log->close(); !closed) return failed(std::move(closed).error());
  if (auto renamed = context_.files->rename(copy.log->directory(), options.directory); !renamed)
    return failed(std::move(renamed).error());
  if (auto synced = context_.files->syncDirectory(directory.path); !synced) return failed(std::move(synced).error());
  auto opened = PartitionLog::open(context_, std::move(options));
  if (!opened) return failed(std::move(opened).error());
  std::shared_ptr<PartitionLog> log = std::move(opened).value();
  log->updateHighWatermark(highWatermark);
  // A leader's epoch begins at its log end, without a batch yet.
  if (source)
    for (const EpochEntry& entry : source->epochEntries())
      if (entry.epoch > log->latestEpoch().value_or(kNoLeaderEpoch))
        log->assignEpochStartOffset(entry.epoch, entry.startOffset);
  const Lock lock(mutex_);
  logs_[partition] = {log, &directory};
  futures_.erase(partition);
  return log;
}

// --- what a crash left ---
void LogManager::promoteFutures(Loading& loading) {
  for (const auto& copy : futures()) {
    const TopicPartition& partition = copy->partition();
    if (const auto current = get(partition)) {
      // Whoever has the replica goes on with the copy.
      current->pauseCleaning();
      continue;
    }
    if (!loading.options.directoryOf) continue;
    Entry entry;
    {
      const Lock lock(mutex_);
      entry = futures_.at(partition);
    }
    if (loading.options.directoryOf(partition, copy->topicId()) != entry.directory->id()) continue;
    const auto promoted = takePlace(partition, nullptr, entry);
    if (promoted)
      context_.logger->warning("log", "{}: its log was about to be moved and is gone, the copy in {} takes its place",
                               partition, entry.directory->path);
    else
      context_.logger->error("log", "{}: the copy cannot take its place: {}", partition, promoted.error().message);
  }
}

void LogManager::settleDoubles(Loading& loading) {
  for (auto& [place, job] : loading.doubles) {
    const TopicPartition partition = job.log.partition;
    Entry first;
    {
      const Lock lock(mutex_);
      if (const auto found = logs_.find(partition); found != logs_.end()) first = found->second;
    }
    if (!loading.options.directoryOf && first.log) {
      context_.logger->error("log", "{} is a second log of {} and is left alone", job.log.directory, partition);
      continue;
    }
    if (place->directory.offline.load()) continue;
    if (auto loaded = loadLogOf(loading, *place, job, 0); !loaded) {
      takeOffline(place->directory, loaded.error());
      if (first.log) {
        const Lock lock(mutex_);
        logs_[partition] = first;
      }
      continue;
    }
    if (!first.log || first.log->offline()) continue;
    const Entry second{get(partition), &place->directory};
    // Whoever took the other's place has all that one had. What came later is only in one that is in use.
    const auto extent = [](const PartitionLog& log) {
      return std::pair(log.latestEpoch().value_or(kNoLeaderEpoch), log.logEndOffset());
    };
    const bool secondStays =
        extent(*first.log) != extent(*second.log)
            ? extent(*second.log) > extent(*first.log)
            : loading.options.directoryOf(partition, second.log->topicId()) == second.directory->id();
    const Entry& stays = secondStays ? second : first;
    const Entry& goes = secondStays ? first : second;
    {
      const Lock lock(mutex_);
      logs_[partition] = stays;
    }
    context_.logger->warning("log", "{} was being moved when the broker stopped: {} stays, {} goes", partition,
                             stays.log->directory(), goes.log->directory());
    (void)retire(goes);
  }
}

}  // namespace tidemark::log
