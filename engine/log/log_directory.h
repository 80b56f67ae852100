#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/mutex.h"
#include "log/checkpoints.h"
#include "log/log_manager.h"
#include "platform/executor.h"
#include "platform/file_system.h"

// A log directory as LogManager keeps it, and what it knows while logs are loaded. Only for its own sources.

namespace tidemark::log {

inline constexpr std::string_view kMetadataTopic = "__cluster_metadata";
inline constexpr size_t kRecoveryPoints = 0;
inline constexpr size_t kLogStarts = 1;
inline constexpr size_t kHighWatermarks = 2;
inline constexpr size_t kCleanerOffsets = 3;
inline constexpr std::array<std::string_view, 4> kCheckpointFiles = {kRecoveryPointFile, kLogStartFile,
                                                                     kHighWatermarkFile, kCleanerOffsetFile};

inline Offset checkpointed(const OffsetCheckpoint& checkpoint, const TopicPartition& partition) {
  const auto found = checkpoint.find(partition);
  return found == checkpoint.end() ? Offset(0) : std::max(Offset(0), found->second);
}

struct LogManager::Directory {
  std::string path;
  std::unique_ptr<platform::FileLock> lock;
  /// There was a marker when it was opened.
  bool clean = false;
  std::atomic<bool> offline{false};
  std::atomic<bool> loaded{false};
  /// No new log is placed here.
  std::atomic<bool> cordoned{false};

  mutable Mutex metaMutex;
  std::optional<MetaProperties> meta GUARDED_BY(metaMutex);
  /// Why it is offline; set just before it is.
  std::string failure GUARDED_BY(metaMutex);

  /// Held while a checkpoint is gathered and written, so that an older one never replaces a newer one.
  Mutex checkpointMutex;
  std::array<std::optional<OffsetCheckpoint>, kCheckpointFiles.size()> written GUARDED_BY(checkpointMutex);

  std::string file(std::string_view name) const { return fmt::format("{}/{}", path, name); }
  Uuid id() const {
    const Lock guard(metaMutex);
    return meta ? meta->directoryId : Uuid();
  }
  /// False if it was offline before: the first failure counts.
  bool goOffline(const std::string& why) {
    const Lock guard(metaMutex);
    if (offline.load()) return false;
    failure = why;
    offline.store(true);
    return true;
  }
};

struct LogManager::LoadJob {
  PartitionLogOptions log;
  /// A copy that was to take the log's place.
  bool future = false;
};

/// What is to be loaded of one directory. Jobs are the loading threads' own, each once it was taken.
struct LogManager::LoadPlace {
  explicit LoadPlace(Directory& of) : directory(of) {}

  Directory& directory;
  std::vector<LoadJob> jobs;
  std::array<OffsetCheckpoint, kCheckpointFiles.size()> offsets;
  std::array<bool, kCheckpointFiles.size()> readable = {true, true, true, true};
  Mutex mutex;
  size_t next GUARDED_BY(mutex) = 0;
  size_t left GUARDED_BY(mutex) = 0;
  std::optional<Error> failure GUARDED_BY(mutex);
  /// A log lost its end.
  bool lowered GUARDED_BY(mutex) = false;
  /// A log ends before what the checkpoints of a clean stop say of it.
  bool less GUARDED_BY(mutex) = false;
};

struct LogManager::Loading {
  LoadOptions options;
  std::vector<std::unique_ptr<LoadPlace>> places;
  /// Of partitions that another directory has a log of as well: loaded last.
  std::vector<std::pair<LoadPlace*, LoadJob>> doubles;
  std::set<TopicPartition> found;
  std::set<TopicPartition> foundFutures;
  std::set<TopicPartition> strays;
  std::atomic<bool> stopped{false};
  // Of startLoading().
  struct Worker {
    LoadPlace* place = nullptr;
    int thread = 0;
    std::shared_ptr<platform::Executor> executor;
  };
  std::vector<Worker> workers;
  std::atomic<size_t> busy{0};
  std::function<void(Result<void>)> done;
};

}  // namespace tidemark::log
