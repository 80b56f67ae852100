#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/uuid.h"
#include "coordinator/coordinator_log.h"

namespace tidemark::coordinator {

/// A committed offset as OffsetCommitValue holds it.
struct CommittedOffset {
  Offset offset;
  /// Of the record before it; −1 unknown.
  LeaderEpoch leaderEpoch;
  std::string metadata;
  int64_t commitTimestampMs = 0;
  /// Only of clients that named a retention (OffsetCommit 2 to 4).
  std::optional<int64_t> expireTimestampMs;
  /// Of the topic when it was committed; zero in old records.
  Uuid topicId;
  /// Where its record lies.
  Offset recordOffset;
};

// Records of `__consumer_offsets` in the versions that Kafka 4.4 writes: OffsetCommitValue 4, 1 if it has an expiry.
CoordinatorRecord offsetCommitRecord(std::string_view groupId, std::string_view topic, int32_t partition,
                                     const CommittedOffset& committed);
CoordinatorRecord offsetTombstone(std::string_view groupId, std::string_view topic, int32_t partition);

}  // namespace tidemark::coordinator
