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
};

/// What the broker knows from the cluster's metadata when it loads its logs.
struct LoadOptions {
  /// The settings of a topic; null: the defaults.
  std::function<LogConfig(const std::string& topic)> configOf;
  /// Whether this broker still has a replica of the partition (by the id in partition.metadata, zero if none); null:
  /// all stay. What nobody owns is set aside as `TOPIC-PARTITION.…-stray`.
  std::function<bool(const TopicPartition& partition, const Uuid& topicId)> isOurs;
};

/// One log directory as others see it.
struct LogDirectoryInfo {
  std::string path;
  Uuid id;
  bool offline = false;
};

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
  /// The broker epoch of the last clean stop, if all directories agree on one; else −1. For the registration.
  BrokerEpoch previousBrokerEpoch() const noexcept { return previousBrokerEpoch_; }
  /// The last stop was clean in every directory.
  bool wasCleanShutdown() const noexcept { return wasClean_; }

  /// Opens every log: nothing is scanned after a clean stop (the marker is removed first). Finishes interrupted
  /// deletions. Blocks; once. A log that cannot be opened takes its directory offline, the others go on.
  Result<void> load(const LoadOptions& options);

  /// Null if there is none.
  std::shared_ptr<PartitionLog> get(const TopicPartition& partition) const;
  std::vector<std::shared_ptr<PartitionLog>> all() const;
  /// The log, made if missing, in `directory` (an id; zero: the online one with the fewest logs). InconsistentTopicId
  /// if there is one of another topic of the same name.
  Result<std::shared_ptr<PartitionLog>> getOrCreate(const TopicPartition& partition, const Uuid& topicId,
                                                    const LogConfig& config, const Uuid& directory = {});
  /// The directory of a log; zero if there is none.
  Uuid directoryOf(const TopicPartition& partition) const;
  /// Renames the folder to `….<hex>-delete` and removes it in the background.
  Result<void> remove(const TopicPartition& partition);
  /// Every log of the topic takes the new settings.
  void updateConfig(const std::string& topic, const LogConfig& config);
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

 public:
  LogManager(Private, platform::Process& process, std::shared_ptr<platform::Executor> background,
             events::Recorder* recorder, LogManagerOptions options);

 private:
  Result<void> openDirectories();
  Result<void> openDirectory(Directory& directory);
  Result<void> loadDirectory(Directory& directory, const LoadOptions& options);
  Result<void> setAside(Directory& directory, const std::string& folder, const TopicPartition& partition);
  Result<std::shared_ptr<PartitionLog>> openLog(Directory& directory, PartitionLogOptions options);
  LogHooks hooksFor(Directory& directory, const TopicPartition& partition);
  void takeOffline(Directory& directory, const Error& error);
  Directory* directoryFor(const Uuid& id);
  /// Gathers one offset of each log and replaces the file if its text changed.
  void writeCheckpoint(Directory& directory, size_t which);
  std::vector<std::shared_ptr<PartitionLog>> logsIn(const Directory& directory) const;
  void removeFolderLater(Directory& directory, std::string path);
  void arm(std::atomic<bool>& armed, platform::Timer& timer, platform::Duration after, void (LogManager::*due)());
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
  std::atomic<bool> loaded_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> highWatermarksArmed_{false};
  std::atomic<bool> recoveryPointsArmed_{false};
  std::atomic<bool> retentionArmed_{false};

  /// Held while a log is made or removed; taken before mutex_.
  Mutex changeMutex_;
  mutable Mutex mutex_;
  std::unordered_map<TopicPartition, Entry> logs_ GUARDED_BY(mutex_);
  std::function<void(const Uuid&, const std::string&, const Error&)> onDirectoryFailure_ GUARDED_BY(mutex_);
  // Of the background executor.
  platform::Timer highWatermarkTimer_;
  platform::Timer recoveryPointTimer_;
  platform::Timer retentionTimer_;
};

}  // namespace tidemark::log
