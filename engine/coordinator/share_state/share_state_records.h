#pragma once

#include <span>

#include "coordinator/coordinator_log.h"
#include "coordinator/share_state/share_state.h"

namespace tidemark::coordinator {

// Records of `__share_group_state` as Kafka 4.4 writes them: a snapshot is the whole state, an update what changed
// since.

CoordinatorRecord shareSnapshotRecord(const ShareKey& key, const ShareState& state);
/// `batches`: those that changed. A start offset of −1 leaves it as it is.
CoordinatorRecord shareUpdateRecord(const ShareKey& key, int32_t snapshotEpoch, LeaderEpoch leaderEpoch,
                                    Offset startOffset, int32_t deliveryCompleteCount,
                                    std::span<const StateBatch> batches);
CoordinatorRecord shareStateTombstone(const ShareKey& key);

}  // namespace tidemark::coordinator
