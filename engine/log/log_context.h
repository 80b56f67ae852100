#pragma once

#include <functional>
#include <memory>

#include "log/handle_cache.h"
#include "platform/clock.h"
#include "platform/executor.h"
#include "platform/file_system.h"
#include "platform/logger.h"

namespace tidemark::events {
class Recorder;
}

namespace tidemark::log {

/// What a log uses of its broker. The pointers outlive the log.
struct LogContext {
  platform::FileSystem* files = nullptr;
  platform::Clock* clock = nullptr;
  platform::Logger* logger = nullptr;
  /// Where slow file calls (flush after a roll, removal of files) run; null: at once, in the calling task.
  std::shared_ptr<platform::Executor> background;
  /// Shared by all logs of a broker.
  std::shared_ptr<HandleCache> handles;
  /// Null: nobody looks.
  events::Recorder* recorder = nullptr;
  /// Files are opened for reading and never changed: indexes that are missing or wrong count as empty. Only for
  /// PartitionLog::openForReading().
  bool readOnly = false;
};

}  // namespace tidemark::log
