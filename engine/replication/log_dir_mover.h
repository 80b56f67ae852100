#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/uuid.h"
#include "events/recorder.h"
#include "log/log_manager.h"
#include "platform/process.h"
#include "replication/partition.h"

namespace tidemark::replication {

struct LogDirMoverOptions {
  /// `num.replica.alter.log.dirs.threads`
  int threads = 1;
  /// Copied in one step; also what may be left for the moment of the swap.
  size_t stepBytes = 1 << 20;
  /// After a step failed.
  platform::Duration backoff = std::chrono::seconds(1);
  /// Asks the controller to take the replica's directory down; `accepted` once it has.
  std::function<void(const TopicIdPartition& partition, const Uuid& directory, std::function<void()> accepted)> assign;
  /// The replica has another log; no lock held.
  std::function<void(Partition& partition)> moved;
};

/// Copies replicas to other log directories of their broker and swaps them in (KIP-113, KIP-858); Kafka's
/// ReplicaAlterLogDirsManager and its threads. A copy that has caught up is first announced to the controller; once
/// that has accepted it, it takes the log's place as soon as it ends where the log does. A thread copies one replica at
/// a time, by name.
///
/// Any thread. Nothing polls: a copy that has caught up waits for appended().
class LogDirMover {
 public:
  LogDirMover(platform::Process& process, std::shared_ptr<log::LogManager> logs, events::Recorder& recorder,
              LogDirMoverOptions options);
  ~LogDirMover();

  /// Goes on with the partition's future(). `accepted`: the metadata names the copy's directory already.
  void add(const std::shared_ptr<Partition>& partition, bool accepted);
  /// Copies no more. The controller is told that the replica stays where it was.
  /// Taking the future away is the caller's.
  void remove(const Partition& partition, const std::string& reason);
  /// The log of a partition that is being moved grew.
  void appended(const Partition& partition);
  /// `replica.alter.log.dirs.io.max.bytes.per.second`, for all moves together.
  void setLimit(int64_t bytesPerSecond);
  void stop();

 private:
  class Lane;
  Lane& laneOf(const TopicPartition& partition);
  /// How long to wait before the next step, after `bytes` more.
  platform::Duration charge(int64_t bytes);

  platform::Process& process_;
  const std::shared_ptr<log::LogManager> logs_;
  events::Recorder& recorder_;
  const LogDirMoverOptions options_;

  Mutex mutex_;
  std::vector<std::shared_ptr<Lane>> lanes_ GUARDED_BY(mutex_);
  int64_t bytesPerSecond_ GUARDED_BY(mutex_) = INT64_MAX;
  /// When what was copied until now would have been copied at the limit.
  platform::MonotonicTime paidUpTo_ GUARDED_BY(mutex_){};
};

}  // namespace tidemark::replication
