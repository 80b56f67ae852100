#include "coordinator/share_state/share_state_records.h"

#include "coordinator/record_encoding.h"
#include "protocol/generated/share_snapshot_key.h"
#include "protocol/generated/share_snapshot_value.h"
#include "protocol/generated/share_update_key.h"
#include "protocol/generated/share_update_value.h"

namespace tidemark::coordinator {
namespace {

constexpr int16_t kShareStateVersion = 0;

template <class Key>
ByteVector shareStateKey(const ShareKey& of) {
  Key key;
  key.groupId = protocol::Text::borrowed(of.groupId);
  key.topicId = of.topicId;
  key.partition = of.partition.value();
  return encodedKey(key);
}

template <class Value>
void addBatches(Value& value, std::span<const StateBatch> batches) {
  value.stateBatches.reserve(batches.size());
  for (const StateBatch& batch : batches)
    value.stateBatches.push_back({.firstOffset = batch.first.value(),
                                  .lastOffset = batch.last.value(),
                                  .deliveryState = static_cast<int8_t>(batch.state),
                                  .deliveryCount = batch.deliveryCount});
}

}  // namespace

CoordinatorRecord shareSnapshotRecord(const ShareKey& key, const ShareState& state) {
  protocol::ShareSnapshotValue value;
  value.snapshotEpoch = state.snapshotEpoch;
  value.stateEpoch = state.stateEpoch;
  value.leaderEpoch = state.leaderEpoch.value();
  value.startOffset = state.startOffset.value();
  value.deliveryCompleteCount = state.deliveryCompleteCount;
  value.createTimestamp = state.createTimestampMs;
  value.writeTimestamp = state.writeTimestampMs;
  addBatches(value, state.batches);
  return {shareStateKey<protocol::ShareSnapshotKey>(key), encodedValue(value, kShareStateVersion)};
}

CoordinatorRecord shareUpdateRecord(const ShareKey& key, int32_t snapshotEpoch, LeaderEpoch leaderEpoch,
                                    Offset startOffset, int32_t deliveryCompleteCount,
                                    std::span<const StateBatch> batches) {
  protocol::ShareUpdateValue value;
  value.snapshotEpoch = snapshotEpoch;
  value.leaderEpoch = leaderEpoch.value();
  value.startOffset = startOffset.value();
  value.deliveryCompleteCount = deliveryCompleteCount;
  addBatches(value, batches);
  return {shareStateKey<protocol::ShareUpdateKey>(key), encodedValue(value, kShareStateVersion)};
}

CoordinatorRecord shareStateTombstone(const ShareKey& key) {
  return {shareStateKey<protocol::ShareSnapshotKey>(key), std::nullopt};
}

}  // namespace tidemark::coordinator
