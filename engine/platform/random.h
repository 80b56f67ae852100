#pragma once

#include <cstdint>

#include "base/uuid.h"

namespace tidemark::platform {

/// All randomness of a Process: ids, jitter, placement. Seeded in the simulator. Any thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;
  /// Uniform in [0, bound); `bound` > 0.
  uint64_t below(uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// Version 4, never one whose text starts with a dash (Kafka's rule: such an id looks like a command line flag).
  Uuid uuid();
};

}  // namespace tidemark::platform
