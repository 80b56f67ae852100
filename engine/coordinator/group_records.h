#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/uuid.h"
#include "coordinator/classic_group.h"
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

/// Member id → assignment.
using Assignments = std::map<std::string, ByteVector, std::less<>>;

// Records of `__consumer_offsets` in the versions that Kafka 4.4 writes: GroupMetadataValue 3, OffsetCommitValue 4 (1
// if it has an expiry). A member without an assignment gets an empty one.
CoordinatorRecord groupMetadataRecord(const ClassicGroup& group, const Assignments& assignments);
/// Of a group that is new: no protocol type, generation 0, no members.
CoordinatorRecord emptyGroupMetadataRecord(const ClassicGroup& group);
CoordinatorRecord groupTombstone(std::string_view groupId);
CoordinatorRecord offsetCommitRecord(std::string_view groupId, std::string_view topic, int32_t partition,
                                     const CommittedOffset& committed);
CoordinatorRecord offsetTombstone(std::string_view groupId, std::string_view topic, int32_t partition);

}  // namespace tidemark::coordinator
