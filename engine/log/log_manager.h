#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/uuid.h"
#include "log/checkpoints.h"
#include "log/cleaner/cleaner_types.h"
#include "log/log_config.h"
#include "log/log_context.h"
#include "log/partition_log.h"
#include "platform/process.h"

namespace tidemark::log {

struct LogManagerOptions {
  /// `log.dirs`; made if missing.
  std::vector<std::string> directories;
  /// The broker's defaults, for topics nobody said anything else about.
  LogConfig defaults;
  /// `replica.high.watermark.checkpoint.interval.ms`
  platform::Duration highWatermarkInterval = std::chrono::seconds(5);
  /// `log.flush.offset.checkpoint.interval.ms`, for recovery points and log starts.
  platform::Duration recoveryPointInterval = std::chrono::seconds(60);
  /// `log.retention.check.interval.ms`
  platform::Duration retentionInterval = std::chrono::minutes(5);
  /// Closed segments whose files stay open.
  size_t openSegments = 256;
  CleanerConfig cleaner;
};

/// What the broker knows from the cluster's metadata when it loads its logs.
struct LoadOptions {
  /// The settings of a topic; null: the defaults.
  std::function<LogConfig(const std::string& topic)> configOf;
  /// Whether this broker still has a replica of the partition (by the id in partition.metadata, zero if none); null:
  /// all stay. What nobody owns is set aside as `TOPIC-PARTITION.…-stray`.
  std::function<bool(const TopicPartition& partition, const Uuid& topicId)> isOurs;
  /// Whether the metadata counts on what this broker holds of the partition of that name (ISR, ELR): a folder of the
  /// name that is set aside then was its copy, with another id in it than at its clean stop. Null: no.
  std::function<bool(const TopicPartition& partition)> isCountedOn;
  /// The directory that the metadata says the replica is in; zero: it does not say. Null: nobody knows, so that of two
  /// logs of a partition the first is taken and the other left alone.
  std::function<Uuid(const TopicPartition& partition, const Uuid& topicId)> directoryOf;
  /// `num.recovery.threads.per.data.dir`: so many logs of a directory are loaded side by side (startLoading() only).
  int threadsPerDirectory = 1;
};

/// One log directory as others see it.
struct LogDirectoryInfo {
  std::string path;
  Uuid id;
  bool offline = false;
  bool cordoned = false;
  /// Why it is offline.
  std::string failure = {};
};

class LogCleaner;

/// All logs of one broker in one or several directories: loading, creating, removing, checkpoints, retention; Kafka's
/// LogManager. The quorum's `__cluster_metadata-0` is not one of them. Any thread, unless said otherwise. Its lock may
/// be held while a log's is taken, never the other way round.
///
/// Timers run only while something is due: a checkpoint after an offset moved, retention after something was written.
class LogManager : public std::enable_shared_from_this<LogManager> {
 public:
  /// Locks the directories (`.lock`) and reads whose they are. No log is opened. KafkaStorageError if none can be used
  /// or one is in use by somebody else. `background` runs slow file calls and is serial.
  static Result<std::shared_ptr<LogManager>> open(platform::Process& process,
                                                  std::shared_ptr<platform::Executor> background,
                                                  events::Recorder* recorder, LogManagerOptions options);
  ~LogManager();

  /// `meta.properties` of each directory that has one, in the order of the directories.
  std::vector<std::optional<MetaProperties>> metaProperties() const;
  /// Makes a directory ours: writes its `meta.properties` (a fresh directory id if that is zero).
  Result<void> format(const std::string& clusterId, NodeId nodeId);
  std::vector<LogDirectoryInfo> directories() const;
  /// These and no others are cordoned (KIP-1066): new logs and copies that are to take a log's place go elsewhere; what
  /// is there stays and is served. Only where all are cordoned does a log still come here that the controller had given
  /// to this broker before it knew.
  void setCordoned(std::span<const std::string> paths);
  /// The broker epoch of the last clean stop, if all directories agree on one; else −1. For the registration.
  BrokerEpoch previousBrokerEpoch() const noexcept { return previousBrokerEpoch_; }
  /// The last stop was clean in every directory.
  bool wasCleanShutdown() const noexcept { return wasClean_; }

  /// After loading: a directory that was stopped cleanly holds less than its checkpoints say, so files of it were lost
  /// or cut since. The broker must not count as one that still has what it had acknowledged. Any thread.
  bool hasLess() const noexcept { return hasLess_.load(); }

  /// Opens every log: nothing is scanned after a clean stop (the marker is removed first). Finishes interrupted
  /// deletions. Blocks; once. A log that cannot be opened takes its directory offline, the others go on.
  Result<void> load(const LoadOptions& options);
  /// The same on threads of its own, for all directories at once; `done` runs on the background executor. Nothing else
  /// but stopLoading() may be called until then.
  void startLoading(LoadOptions options, std::function<void(Result<void>)> done);
  /// No further log is begun; `done` is told so soon.
  void stopLoading();

  /// Null if there is none.
  std::shared_ptr<PartitionLog> get(const TopicPartition& partition) const;
  std::vector<std::shared_ptr<PartitionLog>> all() const;
  /// The log, made if missing, in the directory it was preferred to be in, else in `directory` (an id; zero: the online
  /// one with the fewest logs). InconsistentTopicId if there is one of another topic of the same name;
  /// KafkaStorageError if `directory` is offline.
  Result<std::shared_ptr<PartitionLog>> getOrCreate(const TopicPartition& partition, const Uuid& topicId,
                                                    const LogConfig& config, const Uuid& directory = {});
  /// The directory of a log; zero if there is none.
  Uuid directoryOf(const TopicPartition& partition) const;
  /// Renames the folder to `….<hex>-delete` and removes it in the background, also that of a copy.
  Result<void> remove(const TopicPartition& partition);

  // --- moving a log to another directory (KIP-113) ---
  /// The id of a directory that logs may be moved to, by its path as configured. LogDirNotFound; KafkaStorageError if
  /// it is offline; InvalidReplicaAssignment if it is cordoned.
  Result<Uuid> directoryForMove(const std::string& path) const;
  std::string pathOf(const Uuid& directory) const;
  /// Where a log is to be made that is not there yet; forgotten once it was made.
  void preferDirectory(const TopicPartition& partition, const Uuid& directory);
  /// The copy that will take the log's place, in `TOPIC-PARTITION.…-future` of another directory; null if there is
  /// none.
  std::shared_ptr<PartitionLog> future(const TopicPartition& partition) const;
  std::vector<std::shared_ptr<PartitionLog>> futures() const;
  Uuid futureDirectoryOf(const TopicPartition& partition) const;
  /// An empty copy of the log that is there, which is not cleaned any more. KafkaStorageError while any directory is
  /// offline: it may hold another copy.
  Result<std::shared_ptr<PartitionLog>> createFuture(const TopicPartition& partition, const Uuid& directory);
  /// Gives the copy up: its folder goes, the log is cleaned again.
  Result<void> removeFuture(const TopicPartition& partition);
  /// Has all of the copy on disk, and its offsets in the checkpoints of its directory. Blocks.
  Result<void> prepareFuture(const TopicPartition& partition);
  /// The copy, which ends where the log does, takes its place: it is closed, gets the folder's name and is opened
  /// again; the old folder goes. Nobody may append to either meanwhile. On failure the log stays what it is, and the
  /// copy's directory is offline.
  Result<std::shared_ptr<PartitionLog>> replaceWithFuture(const TopicPartition& partition);
  /// Every log of the topic takes the new settings.
  void updateConfig(const std::string& topic, const LogConfig& config);
  /// The broker's settings of the cleaner changed.
  void configureCleaner(const CleanerConfig& config);
  /// Where each compacted log stands, by name.
  std::vector<CleanerStatus> cleanerStatus() const;
  /// What new logs take when nobody says else, and getOrCreate's caller falls back to.
  const LogConfig& defaults() const noexcept { return options_.defaults; }

  /// Called (once a directory) when it went offline, with its id and the reason; any thread, no lock held.
  void onDirectoryFailure(
      std::function<void(const Uuid& directory, const std::string& path, const Error& error)> handler);

  /// Writes what changed of recovery points, log starts and high watermarks. Blocks.
  void checkpoint();
  /// Retention by time, size and log start, and expiry of producers, for all logs. Blocks.
  void cleanup();

  /// Closes every log, writes the checkpoints and, last, the clean shutdown marker with `epoch` in each directory that
  /// is online and was loaded. Blocks. Nothing works afterwards.
  Result<void> shutdown(BrokerEpoch epoch);

  /// What logs outside the manager's care (the quorum's) are opened with.
  LogContext context() const { return context_; }

 private:
  struct Directory;
  struct Entry {
    std::shared_ptr<PartitionLog> log;
    Directory* directory = nullptr;
  };
  struct Private {};
  struct LoadJob;
  struct LoadPlace;
  struct Loading;

 public:
  LogManager(Private, platform::Process& process, std::shared_ptr<platform::Executor> background,
             events::Recorder* recorder, LogManagerOptions options);

 private:
  Result<void> openDirectories();
  Result<void> openDirectory(Directory& directory);
  /// Finds what is to be loaded; touches no log yet.
  std::shared_ptr<Loading> planLoading(LoadOptions options);
  Result<void> planDirectory(LoadPlace& place, Loading& loading);
  /// Loads the next log of the directory, if there is one left.
  bool loadNext(Loading& loading, LoadPlace& place, int thread);
  Result<void> loadLogOf(Loading& loading, LoadPlace& place, LoadJob& job, int thread);
  void postLoading(const std::shared_ptr<Loading>& loading, size_t worker);
  void loadOn(const std::shared_ptr<Loading>& loading, size_t worker);
  void workerEnded(const std::shared_ptr<Loading>& loading);
  Result<void> finishLoading(Loading& loading);
  /// Logs of a clean stop that are not there any more.
  bool missesLogs(const Loading& loading, const LoadPlace& place);
  Result<void> setAside(Directory& directory, const std::string& folder, const TopicPartition& partition);
  Result<std::shared_ptr<PartitionLog>> openLog(Directory& directory, PartitionLogOptions options);
  LogHooks hooksFor(Directory& directory, const TopicPartition& partition, bool future = false);
  Result<std::shared_ptr<PartitionLog>> openFuture(Directory& directory, PartitionLogOptions options);
  Result<std::shared_ptr<PartitionLog>> takePlace(const TopicPartition& partition,
                                                  const std::shared_ptr<PartitionLog>& source, const Entry& future);
  /// Renames the folder to `…-delete`, forgets the log's offsets and has it removed.
  Result<void> retire(const Entry& entry);
  void forgetCheckpoints(Directory& directory, const TopicPartition& partition);
  void settleDoubles(Loading& loading);
  void promoteFutures(Loading& loading);
  void takeOffline(Directory& directory, const Error& error);
  Directory* directoryFor(const Uuid& id);
  /// Gathers one offset of each log and replaces the file if its text changed.
  void writeCheckpoint(Directory& directory, size_t which);
  std::vector<std::shared_ptr<PartitionLog>> logsIn(const Directory& directory) const;
  void removeFolderLater(Directory& directory, std::string path);
  void arm(std::atomic<bool>& armed, platform::Timer& timer, platform::Duration after, void (LogManager::*due)());
  /// Tells the cleaner that a log may have something to clean.
  void noteCleanable(const TopicPartition& partition);
  void onCleaned(const PartitionLog& log);
  void onHighWatermarksDue();
  void onRecoveryPointsDue();
  void onRetentionDue();

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> background_;
  const LogManagerOptions options_;
  const LogContext context_;
  /// Made by open(), never changed in number.
  std::vector<std::unique_ptr<Directory>> directories_;
  BrokerEpoch previousBrokerEpoch_;
  bool wasClean_ = false;
  std::atomic<bool> hasLess_{false};
  std::atomic<bool> loaded_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> highWatermarksArmed_{false};
  std::atomic<bool> recoveryPointsArmed_{false};
  std::atomic<bool> retentionArmed_{false};
  /// Made by open().
  std::shared_ptr<LogCleaner> cleaner_;

  /// Held while a log is made or removed; taken before mutex_.
  Mutex changeMutex_;
  mutable Mutex mutex_;
  std::unordered_map<TopicPartition, Entry> logs_ GUARDED_BY(mutex_);
  /// Copies that will take the place of what is in logs_.
  std::unordered_map<TopicPartition, Entry> futures_ GUARDED_BY(mutex_);
  std::unordered_map<TopicPartition, Uuid> preferred_ GUARDED_BY(mutex_);
  std::function<void(const Uuid&, const std::string&, const Error&)> onDirectoryFailure_ GUARDED_BY(mutex_);
  /// While logs are loaded on threads.
  std::shared_ptr<Loading> loading_ GUARDED_BY(mutex_);
  // Of the background executor.
  platform::Timer highWatermarkTimer_;
  platform::Timer recoveryPointTimer_;
  platform::Timer retentionTimer_;
};

}  // namespace tidemark::log
