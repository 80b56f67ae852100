#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "log/cleaner/cleaner_throttle.h"
#include "log/cleaner/cleaner_types.h"
#include "log/cleaner/offset_map.h"
#include "log/log_context.h"
#include "platform/process.h"

namespace tidemark::log {

class PartitionLog;

/// Cleans the compacted logs of one broker, the dirtiest first; Kafka's LogCleaner and its manager. A log that changed
/// is looked at (noteCleanable), cleaned when it is due, and looked at again; nothing runs otherwise but one timer, for
/// logs that time alone will make due. A log whose records cannot be read is set aside until the broker starts again,
/// one whose disk failed the cleaning is tried again after the backoff.
///
/// Any thread. Up to `log.cleaner.threads` logs are cleaned side by side, each on an executor of its own that is made
/// when it is first needed. A log's own errors never leave it: its broker goes on.
class LogCleaner : public std::enable_shared_from_this<LogCleaner> {
 public:
  /// `onCleaned` is called after a pass that ended well, on its thread: the checkpoint is to be written.
  LogCleaner(platform::Process& process, LogContext context, CleanerConfig config,
             std::function<void(const std::shared_ptr<PartitionLog>&)> onCleaned);
  ~LogCleaner();

  void configure(const CleanerConfig& config);
  /// Something about a compacted log changed that may make it due.
  void noteCleanable(const std::shared_ptr<PartitionLog>& log);
  /// No pass begins any more. Those that run end when their logs are closed.
  void stop();

  /// Where each of `logs` that is compacted stands. May read a few bytes of their indexes.
  std::vector<CleanerStatus> status(std::span<const std::shared_ptr<PartitionLog>> logs) const;

 private:
  struct Entry {
    std::weak_ptr<PartitionLog> log;
    /// Not looked at since it changed.
    bool pending = false;
    bool running = false;
    CleanPlan plan;
    int64_t passes = 0;
    std::optional<CleanedPass> lastPass;
    /// Why it is set aside, and until when (Unix milliseconds).
    std::string reason;
    int64_t asideUntilMs = 0;
  };
  struct Worker {
    std::shared_ptr<platform::Executor> executor;
    bool busy = false;
  };

  /// Wakes a worker if there is work and one is free.
  void schedule() REQUIRES(mutex_);
  bool hasWork() const REQUIRES(mutex_);
  void work(size_t worker);
  void lookAtPending();
  /// The dirtiest log that is due; marks it as running.
  std::shared_ptr<PartitionLog> takeDirtiest(CleanPlan& plan);
  void clean(const std::shared_ptr<PartitionLog>& log, const CleanPlan& plan, platform::Executor& executor);
  void setAside(const std::shared_ptr<PartitionLog>& log, const Error& error);
  /// Of the first worker: the timer for what time makes due.
  void arm();
  void onTimer();

  platform::Process& process_;
  const LogContext context_;
  const std::function<void(const std::shared_ptr<PartitionLog>&)> onCleaned_;
  CleanerThrottle throttle_;

  mutable Mutex mutex_;
  CleanerConfig config_ GUARDED_BY(mutex_);
  std::optional<OffsetMap::HashKey> hashKey_ GUARDED_BY(mutex_);
  std::map<TopicPartition, Entry> entries_ GUARDED_BY(mutex_);
  std::vector<Worker> workers_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  /// Of the first worker.
  platform::Timer timer_;
};

}  // namespace tidemark::log
