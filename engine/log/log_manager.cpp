#include "log/log_manager.h"

#include <algorithm>

#include "events/log_events.h"
#include "events/recorder.h"
#include "log/cleaner/log_cleaner.h"
#include "log/directories.h"
#include "log/file_names.h"
#include "log/log_directory.h"
#include "platform/random.h"

namespace tidemark::log {

// --- opening ---
Result<std::shared_ptr<LogManager>> LogManager::open(platform::Process& process,
                                                     std::shared_ptr<platform::Executor> background,
                                                     events::Recorder* recorder, LogManagerOptions options) {
  auto manager = std::make_shared<LogManager>(Private{}, process, std::move(background), recorder, std::move(options));
  manager->cleaner_ =
      std::make_shared<LogCleaner>(process, manager->context_, manager->options_.cleaner,
                                   [weak = manager->weak_from_this()](const std::shared_ptr<PartitionLog>& log) {
                                     if (const auto self = weak.lock()) self->onCleaned(*log);
                                   });
  TIDEMARK_TRY(manager->openDirectories());
  return manager;
}

LogManager::LogManager(Private, platform::Process& process, std::shared_ptr<platform::Executor> background,
                       events::Recorder* recorder, LogManagerOptions options)
    : process_(process),
      background_(std::move(background)),
      options_(std::move(options)),
      context_{.files = &process.files(),
               .clock = &process.clock(),
               .logger = &process.log(),
               .background = background_,
               .handles = std::make_shared<HandleCache>(options_.openSegments),
               .recorder = recorder} {
  for (const std::string& path : options_.directories) {
    auto directory = std::make_unique<Directory>();
    directory->path = path;
    while (directory->path.size() > 1 && directory->path.ends_with('/')) directory->path.pop_back();
    directories_.push_back(std::move(directory));
  }
}

LogManager::~LogManager() = default;

Result<void> LogManager::openDirectory(Directory& directory) {
  platform::FileSystem& files = *context_.files;
  TIDEMARK_TRY(makeDirectories(files, directory.path));
  TIDEMARK_ASSIGN(directory.lock, files.lock(directory.file(kLockFile)));
  TIDEMARK_ASSIGN(auto meta, readMetaProperties(files, directory.path));
  const Lock guard(directory.metaMutex);
  directory.meta = std::move(meta);
  return {};
}

Result<void> LogManager::openDirectories() {
  std::optional<Error> failure;
  std::vector<BrokerEpoch> epochs;
  wasClean_ = true;
  for (const auto& directory : directories_) {
    auto opened = openDirectory(*directory);
    if (!opened && opened.error().code == ErrorCode::InvalidConfig)
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("{} is in use by another broker: {}", directory->path, opened.error().message));
    if (!opened) {
      // Unreadable: the broker goes on with the others.
      context_.logger->error("log", "{} cannot be used: {}", directory->path, opened.error().message);
      directory->goOffline(opened.error().message);
      failure = std::move(opened).error();
      continue;
    }
    const auto marker = readTextFile(*context_.files, directory->file(kCleanShutdownFile));
    directory->clean = marker && marker->has_value();
    wasClean_ = wasClean_ && directory->clean;
    if (!directory->clean) continue;
    const auto epoch = decodeCleanShutdown(**marker);
    epochs.push_back(epoch.value_or(BrokerEpoch()));
  }
  const bool agreed = epochs.size() == directories_.size() && !epochs.empty() &&
                      std::ranges::all_of(epochs, [&](BrokerEpoch epoch) { return epoch == epochs.front(); });
  if (agreed) previousBrokerEpoch_ = epochs.front();
  const bool any = std::ranges::any_of(directories_, [](const auto& directory) { return !directory->offline.load(); });
  if (any) return {};
  return fail(ErrorCode::KafkaStorageError,
              failure ? failure->message : std::string("no log directory is configured (log.dirs)"));
}

std::vector<std::optional<MetaProperties>> LogManager::metaProperties() const {
  std::vector<std::optional<MetaProperties>> all;
  for (const auto& directory : directories_) {
    const Lock guard(directory->metaMutex);
    all.push_back(directory->meta);
  }
  return all;
}

Result<void> LogManager::format(const std::string& clusterId, NodeId nodeId) {
  for (const auto& directory : directories_) {
    if (directory->offline.load()) continue;
    MetaProperties meta{.clusterId = clusterId, .nodeId = nodeId};
    {
      const Lock guard(directory->metaMutex);
      if (directory->meta) {
        if (directory->meta->clusterId != clusterId || directory->meta->nodeId != nodeId)
          return fail(ErrorCode::InvalidConfig,
                      fmt::format("{} belongs to node {} of cluster {} already", directory->path,
                                  directory->meta->nodeId, directory->meta->clusterId));
        meta.directoryId = directory->meta->directoryId;
        if (!meta.directoryId.isZero()) continue;
      }
    }
    if (meta.directoryId.isZero()) meta.directoryId = process_.random().uuid();
    TIDEMARK_TRY(writeMetaProperties(*context_.files, directory->path, meta));
    const Lock guard(directory->metaMutex);
    directory->meta = meta;
  }
  return {};
}

std::vector<LogDirectoryInfo> LogManager::directories() const {
  std::vector<LogDirectoryInfo> infos;
  for (const auto& directory : directories_) {
    infos.push_back({directory->path, directory->id(), directory->offline.load(), directory->cordoned.load()});
    const Lock guard(directory->metaMutex);
    infos.back().failure = directory->failure;
  }
  return infos;
}

void LogManager::setCordoned(std::span<const std::string> paths) {
  for (const auto& directory : directories_)
    directory->cordoned.store(std::ranges::find(paths, directory->path) != paths.end());
}

Result<void> LogManager::setAside(Directory& directory, const std::string& folder, const TopicPartition& partition) {
  const std::string aside = directory.file(retiredFolderName(partition, process_.random().uuid(), kStrayFolderSuffix));
  context_.logger->warning("log", "{} belongs to no replica of this broker and is set aside as {}", folder, aside);
  return context_.files->rename(folder, aside);
}

Result<std::shared_ptr<PartitionLog>> LogManager::openLog(Directory& directory, PartitionLogOptions options) {
  const TopicPartition partition = options.partition;
  options.hooks = hooksFor(directory, partition);
  TIDEMARK_ASSIGN(auto log, PartitionLog::open(context_, std::move(options)));
  const Lock lock(mutex_);
  logs_[partition] = {log, &directory};
  return log;
}

LogHooks LogManager::hooksFor(Directory& directory, const TopicPartition& partition, bool future) {
  const auto weak = weak_from_this();
  Directory* const place = &directory;  // lives as long as the manager
  return {
      .onFailure =
          [weak, place](const Error& error) {
            if (const auto manager = weak.lock()) manager->takeOffline(*place, error);
          },
      .onRecoveryPointLowered =
          [weak, place, partition, future] {
            const auto manager = weak.lock();
            if (!manager) return;
            const auto log = future ? manager->future(partition) : manager->get(partition);
            if (!log) return;
            bool points = false;
            bool cleaned = false;
            {
              const Lock guard(place->checkpointMutex);
              const auto& written = place->written[kRecoveryPoints];
              points = written && checkpointed(*written, partition) > log->recoveryPoint();
              const auto& clean = place->written[kCleanerOffsets];
              cleaned = clean && checkpointed(*clean, partition) > log->cleanedTo().value_or(Offset(0));
            }
            if (points) manager->writeCheckpoint(*place, kRecoveryPoints);
            if (cleaned) manager->writeCheckpoint(*place, kCleanerOffsets);
          },
      .onCheckpointDue =
          [weak] {
            const auto manager = weak.lock();
            if (!manager || !manager->loaded_.load(std::memory_order_relaxed)) return;
            manager->arm(manager->highWatermarksArmed_, manager->highWatermarkTimer_,
                         manager->options_.highWatermarkInterval, &LogManager::onHighWatermarksDue);
            manager->arm(manager->recoveryPointsArmed_, manager->recoveryPointTimer_,
                         manager->options_.recoveryPointInterval, &LogManager::onRecoveryPointsDue);
          },
      .onCleanable =
          [weak, partition, future] {
            if (future) return;
            if (const auto manager = weak.lock()) manager->noteCleanable(partition);
          },
  };
}

void LogManager::takeOffline(Directory& directory, const Error& error) {
  if (!directory.goOffline(error.message)) return;
  context_.logger->error("log", "log directory {} goes offline until its broker is restarted: {}", directory.path,
                         error.message);
  if (context_.recorder != nullptr)
    context_.recorder->emit(events::LogDirectoryFailed{.directory = std::string_view(directory.path),
                                                       .reason = std::string_view(error.message)});
  for (const auto& log : logsIn(directory)) log->takeOffline();
  std::function<void(const Uuid&, const std::string&, const Error&)> handler;
  {
    const Lock lock(mutex_);
    handler = onDirectoryFailure_;
  }
  if (handler) handler(directory.id(), directory.path, error);
}

void LogManager::onDirectoryFailure(std::function<void(const Uuid&, const std::string&, const Error&)> handler) {
  const Lock lock(mutex_);
  onDirectoryFailure_ = std::move(handler);
}

// --- logs ---
std::shared_ptr<PartitionLog> LogManager::get(const TopicPartition& partition) const {
  const Lock lock(mutex_);
  const auto found = logs_.find(partition);
  return found == logs_.end() ? nullptr : found->second.log;
}

std::vector<std::shared_ptr<PartitionLog>> LogManager::all() const {
  std::vector<std::shared_ptr<PartitionLog>> logs;
  {
    const Lock lock(mutex_);
    for (const auto& [partition, entry] : logs_) logs.push_back(entry.log);
  }
  std::ranges::sort(logs, {}, [](const auto& log) -> const TopicPartition& { return log->partition(); });
  return logs;
}

std::vector<std::shared_ptr<PartitionLog>> LogManager::logsIn(const Directory& directory) const {
  std::vector<std::shared_ptr<PartitionLog>> logs;
  {
    const Lock lock(mutex_);
    for (const auto& [partition, entry] : logs_)
      if (entry.directory == &directory) logs.push_back(entry.log);
    for (const auto& [partition, entry] : futures_)
      if (entry.directory == &directory) logs.push_back(entry.log);
  }
  std::ranges::sort(logs, {}, [](const auto& log) -> const TopicPartition& { return log->partition(); });
  return logs;
}

LogManager::Directory* LogManager::directoryFor(const Uuid& id) {
  Directory* best = nullptr;
  std::pair<bool, size_t> fewest(true, SIZE_MAX);
  for (const auto& directory : directories_) {
    if (directory->offline.load()) continue;
    if (!id.isZero()) {
      if (directory->id() == id) return directory.get();
      continue;
    }
    const std::pair count(directory->cordoned.load(), logsIn(*directory).size());
    if (count >= fewest) continue;
    best = directory.get();
    fewest = count;
  }
  return best;
}

Result<std::shared_ptr<PartitionLog>> LogManager::getOrCreate(const TopicPartition& partition, const Uuid& topicId,
                                                              const LogConfig& config, const Uuid& directory) {
  const Lock change(changeMutex_);
  if (auto log = get(partition)) {
    if (!topicId.isZero()) TIDEMARK_TRY(log->assignTopicId(topicId));
    return log;
  }
  Uuid wanted = directory;
  {
    const Lock lock(mutex_);
    if (const auto preferred = preferred_.find(partition); preferred != preferred_.end()) wanted = preferred->second;
  }
  Directory* place = directoryFor(wanted);
  if (place == nullptr && !wanted.isZero()) {
    // It may be there, where nobody can look: another one in its place would be empty.
    const bool offline = std::ranges::any_of(directories_, [](const auto& one) { return one->offline.load(); });
    if (offline)
      return fail(ErrorCode::KafkaStorageError,
                  fmt::format("the log directory {} of {} is offline", wanted, partition));
    place = directoryFor({});
  }
  if (place == nullptr)
    return fail(ErrorCode::KafkaStorageError, fmt::format("no log directory is online for {}", partition));
  PartitionLogOptions options;
  options.partition = partition;
  options.topicId = topicId;
  options.directory = place->file(folderName(partition));
  options.config = config;
  forgetCheckpoints(*place, partition);
  auto log = openLog(*place, std::move(options));
  if (log) {
    const Lock lock(mutex_);
    preferred_.erase(partition);
  }
  if (!log && log.error().code == ErrorCode::KafkaStorageError) takeOffline(*place, log.error());
  return log;
}

Uuid LogManager::directoryOf(const TopicPartition& partition) const {
  const Directory* directory = nullptr;
  {
    const Lock lock(mutex_);
    const auto found = logs_.find(partition);
    if (found != logs_.end()) directory = found->second.directory;
  }
  return directory == nullptr ? Uuid() : directory->id();
}

Result<void> LogManager::remove(const TopicPartition& partition) {
  const Lock change(changeMutex_);
  Entry entry;
  Entry copy;
  {
    const Lock lock(mutex_);
    if (const auto found = futures_.find(partition); found != futures_.end()) {
      copy = std::move(found->second);
      futures_.erase(found);
    }
    if (const auto found = logs_.find(partition); found != logs_.end()) {
      entry = std::move(found->second);
      logs_.erase(found);
    }
  }
  if (copy.log) (void)retire(copy);
  return entry.log ? retire(entry) : Result<void>();
}

Result<void> LogManager::retire(const Entry& entry) {
  Directory& directory = *entry.directory;
  const TopicPartition& partition = entry.log->partition();
  entry.log->abandon();
  if (directory.offline.load()) return {};
  const std::string retired =
      directory.file(retiredFolderName(partition, process_.random().uuid(), kDeleteFolderSuffix));
  const auto renamed = context_.files->rename(entry.log->directory(), retired);
  if (!renamed) {
    takeOffline(directory, renamed.error());
    return renamed;
  }
  forgetCheckpoints(directory, partition);
  removeFolderLater(directory, retired);
  return {};
}

/// A new log of the same name must not find the offsets of one that is gone.
void LogManager::forgetCheckpoints(Directory& directory, const TopicPartition& partition) {
  for (size_t which = 0; which < kCheckpointFiles.size(); ++which) {
    bool named = false;
    {
      const Lock guard(directory.checkpointMutex);
      named = directory.written[which] && directory.written[which]->contains(partition);
    }
    if (named) writeCheckpoint(directory, which);
  }
}

void LogManager::removeFolderLater(Directory&, std::string path) {
  background_->post([weak = weak_from_this(), path = std::move(path)] {
    const auto manager = weak.lock();
    if (!manager) return;
    const auto removed = manager->context_.files->removeTree(path);
    if (!removed) manager->context_.logger->warning("log", "{} is left behind: {}", path, removed.error().message);
  });
}

void LogManager::updateConfig(const std::string& topic, const LogConfig& config) {
  for (const auto& log : all())
    if (log->partition().topic == topic) log->updateConfig(config);
  for (const auto& log : futures())
    if (log->partition().topic == topic) log->updateConfig(config);
}

// --- stop ---
Result<void> LogManager::shutdown(BrokerEpoch epoch) {
  const Lock change(changeMutex_);
  if (stopped_.exchange(true)) return {};
  cleaner_->stop();
  for (const auto& directory : directories_) {
    if (directory->offline.load()) continue;
    bool closed = directory->loaded.load();
    for (const auto& log : logsIn(*directory)) {
      const auto result = log->close();
      if (result) continue;
      context_.logger->error("log", "{} could not be closed: {}", log->directory(), result.error().message);
      closed = false;
    }
    for (size_t which = 0; which < kCheckpointFiles.size(); ++which) writeCheckpoint(*directory, which);
    if (closed && !directory->offline.load()) {
      const auto marked =
          context_.files->replaceFile(directory->file(kCleanShutdownFile), asBytes(encodeCleanShutdown(epoch)));
      if (!marked) takeOffline(*directory, marked.error());
    }
    directory->lock.reset();
    (void)context_.files->remove(directory->file(kLockFile));
  }
  const Lock lock(mutex_);
  logs_.clear();
  futures_.clear();
  return {};
}

}  // namespace tidemark::log
