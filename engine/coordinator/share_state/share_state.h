#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"

namespace tidemark::coordinator {

/// A share-partition: what one share group has done with one partition of a topic.
struct ShareKey {
  std::string groupId;
  Uuid topicId;
  PartitionIndex partition;
  friend auto operator<=>(const ShareKey&, const ShareKey&) = default;
  friend bool operator==(const ShareKey&, const ShareKey&) = default;

  /// "group:topicId:partition", what FindCoordinator is asked with and what is hashed to a partition of the state
  /// topic.
  std::string text() const;
  /// Nothing if `text` is none; a group's id may hold colons itself.
  static std::optional<ShareKey> parse(std::string_view text);
};

/// How far the delivery of a record has come, with the numbers that are on disk and on the wire.
enum class DeliveryState : int8_t {
  Available = 0,     ///< to be delivered (again)
  Acquired = 1,      ///< locked by a consumer; never stored
  Acknowledged = 2,  ///< done
  Archiving = 3,     ///< given up, and on its way to the dead letter queue
  Archived = 4,      ///< given up
};

/// No more deliveries.
constexpr bool isFinal(DeliveryState state) noexcept {
  return state == DeliveryState::Acknowledged || state == DeliveryState::Archived;
}

/// Offsets with the same delivery state and count; both ends are inside.
struct StateBatch {
  Offset first;
  Offset last;
  DeliveryState state = DeliveryState::Available;
  int16_t deliveryCount = 0;
  friend bool operator==(const StateBatch&, const StateBatch&) = default;
};

/// One list without overlaps, in order: where two batches speak of an offset the one with the higher delivery count
/// holds, with equal counts the one with the higher state; what lies below `start` (if that is not −1) is left out,
/// neighbours that say the same are made one.
std::vector<StateBatch> combineBatches(std::span<const StateBatch> older, std::span<const StateBatch> newer,
                                       Offset start);

/// The start offset of a share-partition whose group has not fetched yet: `share.auto.offset.reset` decides then.
inline constexpr Offset kUndecidedStart{-1};
/// deliveryCompleteCount of who does not say.
inline constexpr int32_t kUnknownDeliveryCount = -1;

/// What the share coordinator keeps of a share-partition.
struct ShareState {
  /// Raised with each snapshot; updates name the one they follow.
  int32_t snapshotEpoch = 0;
  /// Raised by the group coordinator each time it sets the state anew; older writes are fenced.
  int32_t stateEpoch = 0;
  /// Of the partition's leader that read or wrote last; older ones are fenced.
  LeaderEpoch leaderEpoch{0};
  Offset startOffset = kUndecidedStart;
  /// Offsets from the start on whose delivery is over.
  int32_t deliveryCompleteCount = kUnknownDeliveryCount;
  int64_t createTimestampMs = 0;
  int64_t writeTimestampMs = 0;
  std::vector<StateBatch> batches;
  friend bool operator==(const ShareState&, const ShareState&) = default;
};

}  // namespace tidemark::coordinator
