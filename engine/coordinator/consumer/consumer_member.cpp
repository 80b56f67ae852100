#include "coordinator/consumer/consumer_member.h"

#include <utility>

#include "base/mutation.h"

namespace tidemark::coordinator {
namespace {

/// Whether the member may still own some of them.
bool ownsAny(const std::optional<PartitionsByTopic>& owned, const EpochsByTopic& partitions) {
  if (!owned) return true;
  for (const auto& [topic, epochs] : partitions) {
    for (const auto& [partition, epoch] : epochs) {
      if (contains(*owned, topic, partition)) return true;
    }
  }
  return false;
}

MemberProgress step(const MemberProgress& now, int32_t epoch, const Reconciliation& to) {
  MemberProgress next;
  for (const auto& [topic, epochs] : now.assigned) {
    for (const auto& [partition, since] : epochs) {
      (contains(to.target, topic, partition) ? next.assigned : next.revoking)[topic][partition] = since;
    }
  }
  const auto become = [&](MemberState state, int32_t memberEpoch) {
    next.state = state;
    next.epoch = memberEpoch;
    next.previousEpoch = now.epoch == memberEpoch ? now.previousEpoch : now.epoch;
    return std::move(next);
  };
  if (!next.revoking.empty() && ownsAny(to.owned, next.revoking)) {
    return become(MemberState::UnrevokedPartitions, epoch);
  }
  next.revoking.clear();
  bool othersHoldSome = false;
  for (const auto& [topic, partitions] : to.target) {
    for (const int32_t partition : partitions) {
      const auto has = next.assigned.find(topic);
      if (has != next.assigned.end() && has->second.contains(partition)) continue;
      if (to.isOwned(topic, partition) && !isMutated(Mutation::GivenBeforeReleased)) {
        othersHoldSome = true;
      } else {
        next.assigned[topic][partition] = to.targetEpoch;
      }
    }
  }
  return become(othersHoldSome ? MemberState::UnreleasedPartitions : MemberState::Stable, to.targetEpoch);
}

}  // namespace

PartitionsByTopic partitionsOf(const EpochsByTopic& epochs) {
  PartitionsByTopic partitions;
  for (const auto& [topic, indexes] : epochs) {
    for (const auto& [partition, epoch] : indexes) partitions[topic].insert(partition);
  }
  return partitions;
}

Result<MemberProgress> reconcile(const MemberProgress& now, const Reconciliation& to) {
  switch (now.state) {
    case MemberState::Stable:
      if (now.epoch == to.targetEpoch) return now;
      return step(now, now.epoch, to);
    case MemberState::UnrevokedPartitions:
      if (ownsAny(to.owned, now.revoking)) return now;
      // What it was asked for is done: the next step starts from its next epoch.
      return step(now, now.epoch + 1, to);
    case MemberState::UnreleasedPartitions:
      return step(now, now.epoch, to);
    case MemberState::Unknown:
      break;
  }
  if (!to.owned || !to.owned->empty()) {
    return fail(ErrorCode::FencedMemberEpoch, "The member is in a state that is not known here; it must rejoin.");
  }
  return step(now, to.targetEpoch, to);
}

}  // namespace tidemark::coordinator
