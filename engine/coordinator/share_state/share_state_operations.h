#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error_code.h"
#include "coordinator/request_info.h"
#include "coordinator/share_state/share_state.h"

namespace tidemark::coordinator {

// What is asked of the share coordinator, for one share-partition each; the requests of the protocol carry many of
// them.

struct ShareStateAnswer {
  ErrorCode error = ErrorCode::None;
  std::string message;
};

struct ShareStateInitialization {
  ShareKey key;
  int32_t stateEpoch = 0;
  Offset startOffset = kUndecidedStart;
};

struct ShareStateReading {
  ShareKey key;
  /// Of the partition's leader, which fences those before it; −1: of somebody else.
  LeaderEpoch leaderEpoch;
};

struct ShareStateRead : ShareStateAnswer {
  int32_t stateEpoch = 0;
  Offset startOffset = kUndecidedStart;
  std::vector<StateBatch> batches;
};

struct ShareStateWrite {
  ShareKey key;
  int32_t stateEpoch = 0;
  LeaderEpoch leaderEpoch;
  /// −1: as it is.
  Offset startOffset = kUndecidedStart;
  int32_t deliveryCompleteCount = kUnknownDeliveryCount;
  /// Those that changed.
  std::vector<StateBatch> batches;
};

struct ShareStateSummary : ShareStateAnswer {
  int32_t stateEpoch = 0;
  LeaderEpoch leaderEpoch{0};
  /// −1: never initialized, or undecided.
  Offset startOffset = kUndecidedStart;
  int32_t deliveryCompleteCount = kUnknownDeliveryCount;
};

/// Where the state of share-partitions is kept; Kafka's Persister. Each call is answered once, on the executor of
/// whoever made the persister, never inside the call. Calls for one share-partition may overtake each other: wait for
/// the answer.
class ShareStatePersister {
 public:
  virtual ~ShareStatePersister() = default;
  virtual void initialize(ShareStateInitialization what, Reply<ShareStateAnswer> reply) = 0;
  virtual void read(ShareStateReading what, Reply<ShareStateRead> reply) = 0;
  virtual void write(ShareStateWrite what, Reply<ShareStateAnswer> reply) = 0;
  virtual void remove(ShareKey key, Reply<ShareStateAnswer> reply) = 0;
  virtual void summarize(ShareStateReading what, Reply<ShareStateSummary> reply) = 0;
};

}  // namespace tidemark::coordinator
