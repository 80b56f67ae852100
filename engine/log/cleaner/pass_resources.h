#pragma once

#include <cstddef>

#include "log/cleaner/cleaner_throttle.h"
#include "log/cleaner/offset_map.h"
#include "log/log_context.h"
#include "platform/executor.h"

namespace tidemark::log {

/// What a pass uses besides its log.
struct PassResources {
  const LogContext& context;
  CleanerThrottle& throttle;
  /// Where it runs: the throttle holds this one back.
  platform::Executor& executor;
  /// What it may take of memory, in slots of an offset map, and how full the map may get.
  size_t maxSlots = 0;
  double loadFactor = 0.9;
  size_t ioBufferBytes = 0;
  OffsetMap::HashKey hashKey;
};

}  // namespace tidemark::log
