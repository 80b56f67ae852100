#include "coordinator/share_state/share_state_shard.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/share_state/share_state_records.h"
#include "protocol/framing.h"
#include "protocol/generated/share_snapshot_key.h"
#include "protocol/generated/share_snapshot_value.h"
#include "protocol/generated/share_update_key.h"
#include "protocol/generated/share_update_value.h"

namespace tidemark::coordinator {
namespace {

const TimerKey kColdTimer{TimerKey::Kind::Expiry, "cold", ""};
const TimerKey kPruneTimer{TimerKey::Kind::Expiry, "prune", ""};

template <class Key>
ShareKey shareKeyOf(const Key& key) {
  return {key.groupId.str(), key.topicId, PartitionIndex(key.partition)};
}

template <class Value>
std::vector<StateBatch> batchesOf(const Value& value) {
  std::vector<StateBatch> batches;
  batches.reserve(value.stateBatches.size());
  for (const auto& one : value.stateBatches)
    batches.push_back({Offset(one.firstOffset), Offset(one.lastOffset), static_cast<DeliveryState>(one.deliveryState),
                       one.deliveryCount});
  return batches;
}

/// The answer leaves once all that it may give away is committed.
template <class Answer>
Effects answerShare(std::vector<CoordinatorRecord> records, Answer answer, Reply<Answer> reply) {
  return answerWhenCommitted(std::move(records),
                             [answer = std::move(answer), reply = std::move(reply)](ErrorCode code) mutable {
                               if (code != ErrorCode::None) {
                                 answer = {};
                                 answer.error = clientErrorOfWrite(code);
                                 answer.message = std::string(errorName(code));
                               }
                               reply(std::move(answer));
                             });
}

template <class Answer>
Effects refuseShare(const ShareStateAnswer& why, Reply<Answer> reply) {
  Effects out;
  out.replies.emplace_back([why, reply = std::move(reply)]() mutable {
    Answer answer;
    answer.error = why.error;
    answer.message = why.message;
    reply(std::move(answer));
  });
  return out;
}

ShareStateAnswer fencedLeader(LeaderEpoch asked, LeaderEpoch known) {
  return {ErrorCode::FencedLeaderEpoch, fmt::format("leader epoch {} is older than {}", asked, known)};
}

ShareStateAnswer fencedState(int32_t asked, int32_t known) {
  return {ErrorCode::FencedStateEpoch, fmt::format("state epoch {} is older than {}", asked, known)};
}

ShareStateAnswer notInitialized(const ShareKey& key) {
  return {ErrorCode::InvalidRequest, fmt::format("the share-partition {} was not initialized", key.text())};
}

}  // namespace

// ---- the log

Result<void> ShareStateShard::replay(Offset offset, ProducerId, ByteView key, std::optional<ByteView> value) {
  end_ = offset.next();
  TIDEMARK_ASSIGN(const protocol::FramedRecord framed, protocol::decodeCoordinatorKey(key));
  if (framed.type == protocol::ShareSnapshotKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::ShareSnapshotKey>(framed.body, framed.version));
    if (!value) {
      states_.erase(shareKeyOf(decoded));
      return {};
    }
    TIDEMARK_ASSIGN(const auto snapshot, protocol::decodeVersionedAs<protocol::ShareSnapshotValue>(*value));
    Kept& kept = states_[shareKeyOf(decoded)];
    kept.state = {.snapshotEpoch = snapshot.snapshotEpoch,
                  .stateEpoch = snapshot.stateEpoch,
                  .leaderEpoch = LeaderEpoch(snapshot.leaderEpoch),
                  .startOffset = Offset(snapshot.startOffset),
                  .deliveryCompleteCount = snapshot.deliveryCompleteCount,
                  .createTimestampMs = snapshot.createTimestamp,
                  .writeTimestampMs = snapshot.writeTimestamp,
                  .batches = batchesOf(snapshot)};
    kept.snapshotAt = offset;
    kept.updates = 0;
    return {};
  }
  if (framed.type == protocol::ShareUpdateKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::ShareUpdateKey>(framed.body, framed.version));
    if (!value) return {};
    TIDEMARK_ASSIGN(const auto update, protocol::decodeVersionedAs<protocol::ShareUpdateValue>(*value));
    const auto found = states_.find(shareKeyOf(decoded));
    // Without its snapshot, which was cut off or removed, an update says nothing.
    if (found == states_.end() || found->second.state.snapshotEpoch > update.snapshotEpoch) return {};
    ShareState& state = found->second.state;
    state.leaderEpoch = std::max(state.leaderEpoch, LeaderEpoch(update.leaderEpoch));
    if (update.startOffset >= 0) state.startOffset = Offset(update.startOffset);
    state.deliveryCompleteCount = update.deliveryCompleteCount;
    state.batches = combineBatches(state.batches, batchesOf(update), state.startOffset);
    ++found->second.updates;
  }
  return {};
}

const ShareState* ShareStateShard::find(const ShareKey& key) const {
  const auto found = states_.find(key);
  return found == states_.end() ? nullptr : &found->second.state;
}

// ---- requests

ShareStateAnswer ShareStateShard::check(const ShareKey& key) const {
  if (key.groupId.empty() || key.topicId.isZero() || key.partition.value() < 0)
    return {ErrorCode::InvalidRequest, fmt::format("{} names no share-partition", key.text())};
  if (!dependencies_.exists(key.topicId, key.partition))
    return {ErrorCode::UnknownTopicOrPartition,
            fmt::format("there is no partition {} of the topic {}", key.partition, key.topicId)};
  return {};
}

Effects ShareStateShard::initialize(const ShareStateInitialization& what, Reply<ShareStateAnswer> reply) const {
  if (const ShareStateAnswer wrong = check(what.key); wrong.error != ErrorCode::None)
    return refuseShare(wrong, std::move(reply));
  const ShareState* known = find(what.key);
  if (known != nullptr && what.stateEpoch >= 0 && what.stateEpoch < known->stateEpoch)
    return refuseShare(fencedState(what.stateEpoch, known->stateEpoch), std::move(reply));
  const int64_t now = dependencies_.clock->wallMs();
  ShareState fresh{.snapshotEpoch = known != nullptr ? known->snapshotEpoch + 1 : 0,
                   .stateEpoch = what.stateEpoch,
                   .leaderEpoch = known != nullptr ? known->leaderEpoch : LeaderEpoch(0),
                   .startOffset = what.startOffset,
                   .createTimestampMs = now,
                   .writeTimestampMs = now,
                   .batches = {}};
  return answerShare({shareSnapshotRecord(what.key, fresh)}, ShareStateAnswer(), std::move(reply));
}

Effects ShareStateShard::read(const ShareStateReading& what, Reply<ShareStateRead> reply) const {
  if (const ShareStateAnswer wrong = check(what.key); wrong.error != ErrorCode::None)
    return refuseShare(wrong, std::move(reply));
  const ShareState* known = find(what.key);
  if (known == nullptr) return refuseShare(notInitialized(what.key), std::move(reply));
  if (what.leaderEpoch.value() >= 0 && what.leaderEpoch < known->leaderEpoch)
    return refuseShare(fencedLeader(what.leaderEpoch, known->leaderEpoch), std::move(reply));
  std::vector<CoordinatorRecord> records;
  if (what.leaderEpoch > known->leaderEpoch)
    records.push_back(shareUpdateRecord(what.key, known->snapshotEpoch, what.leaderEpoch, known->startOffset,
                                        known->deliveryCompleteCount, {}));
  ShareStateRead answer;
  answer.stateEpoch = known->stateEpoch;
  answer.startOffset = known->startOffset;
  answer.batches = known->batches;
  return answerShare(std::move(records), std::move(answer), std::move(reply));
}

Effects ShareStateShard::write(const ShareStateWrite& what, Reply<ShareStateAnswer> reply) const {
  if (const ShareStateAnswer wrong = check(what.key); wrong.error != ErrorCode::None)
    return refuseShare(wrong, std::move(reply));
  const auto found = states_.find(what.key);
  if (found == states_.end()) return refuseShare(notInitialized(what.key), std::move(reply));
  const ShareState& known = found->second.state;
  if (what.leaderEpoch.value() >= 0 && what.leaderEpoch < known.leaderEpoch)
    return refuseShare(fencedLeader(what.leaderEpoch, known.leaderEpoch), std::move(reply));
  if (what.stateEpoch >= 0 && what.stateEpoch < known.stateEpoch)
    return refuseShare(fencedState(what.stateEpoch, known.stateEpoch), std::move(reply));
  const LeaderEpoch leaderEpoch = std::max(known.leaderEpoch, what.leaderEpoch);
  const Offset start = what.startOffset.value() >= 0 ? what.startOffset : known.startOffset;
  const bool newEpoch = what.stateEpoch > known.stateEpoch;
  if (!newEpoch && found->second.updates < config_.updatesPerSnapshot)
    return answerShare({shareUpdateRecord(what.key, known.snapshotEpoch, leaderEpoch, what.startOffset,
                                          what.deliveryCompleteCount, combineBatches({}, what.batches, start))},
                       ShareStateAnswer(), std::move(reply));
  // An update cannot say a new epoch, and enough of them are made one.
  ShareState whole = known;
  ++whole.snapshotEpoch;
  whole.stateEpoch = std::max(known.stateEpoch, what.stateEpoch);
  whole.leaderEpoch = leaderEpoch;
  whole.startOffset = start;
  whole.deliveryCompleteCount = what.deliveryCompleteCount;
  whole.writeTimestampMs = dependencies_.clock->wallMs();
  whole.batches = combineBatches(newEpoch ? std::vector<StateBatch>() : known.batches, what.batches, start);
  return answerShare({shareSnapshotRecord(what.key, whole)}, ShareStateAnswer(), std::move(reply));
}

Effects ShareStateShard::remove(const ShareKey& key, Reply<ShareStateAnswer> reply) const {
  // Of a topic that is gone as well.
  std::vector<CoordinatorRecord> records;
  if (find(key) != nullptr) records.push_back(shareStateTombstone(key));
  return answerShare(std::move(records), ShareStateAnswer(), std::move(reply));
}

Effects ShareStateShard::summarize(const ShareStateReading& what, Reply<ShareStateSummary> reply) const {
  if (const ShareStateAnswer wrong = check(what.key); wrong.error != ErrorCode::None)
    return refuseShare(wrong, std::move(reply));
  ShareStateSummary answer;
  if (const ShareState* known = find(what.key)) {
    answer.stateEpoch = known->stateEpoch;
    answer.leaderEpoch = known->leaderEpoch;
    answer.startOffset = known->startOffset;
    answer.deliveryCompleteCount = known->deliveryCompleteCount;
  }
  return answerShare({}, std::move(answer), std::move(reply));
}

Effects ShareStateShard::onTopicsDeleted(const std::set<Uuid>& topics) const {
  Effects out;
  out.atomic = false;
  for (const auto& [key, kept] : states_)
    if (topics.contains(key.topicId)) out.records.push_back(shareStateTombstone(key));
  return out;
}

// ---- keeping the log short

Effects ShareStateShard::onLoaded() {
  Effects out;
  out.arm(kColdTimer, config_.coldSnapshotInterval);
  out.arm(kPruneTimer, config_.pruneInterval);
  return out;
}

Effects ShareStateShard::onTimeout(const TimerKey& key) {
  if (key == kColdTimer) {
    Effects out = snapshotCold();
    out.arm(kColdTimer, config_.coldSnapshotInterval);
    return out;
  }
  Effects out;
  prune();
  out.arm(kPruneTimer, config_.pruneInterval);
  return out;
}

Offset ShareStateShard::oldestSnapshot() const {
  Offset oldest = end_;
  for (const auto& [key, kept] : states_) oldest = std::min(oldest, kept.snapshotAt);
  return oldest;
}

Effects ShareStateShard::snapshotCold() const {
  Effects out;
  out.atomic = false;
  // If the log holds little else than snapshots, more of them free nothing.
  if (end_ - oldestSnapshot() <= static_cast<int64_t>(states_.size())) return out;
  const int64_t now = dependencies_.clock->wallMs();
  for (const auto& [key, kept] : states_) {
    if (now - kept.state.writeTimestampMs < config_.coldSnapshotInterval.count()) continue;
    ShareState again = kept.state;
    ++again.snapshotEpoch;
    again.writeTimestampMs = now;
    out.records.push_back(shareSnapshotRecord(key, again));
  }
  return out;
}

void ShareStateShard::prune() {
  const Offset upTo = std::min(oldestSnapshot(), highWatermark_);
  if (upTo <= prunedTo_) return;
  prunedTo_ = upTo;
  dependencies_.prune(upTo);
}

}  // namespace tidemark::coordinator
