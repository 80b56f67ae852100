#include <algorithm>

#include "cluster/cluster.h"
#include "cluster/slot.h"

// What share groups have in flight: the leaders of the partitions know it, and are asked together with the
// coordinators.

namespace tidemark::cluster {
namespace {

std::string deliveryStateName(broker::DeliveryState state) {
  switch (state) {
    case broker::DeliveryState::Available:
      return "Available";
    case broker::DeliveryState::Acquired:
      return "Acquired";
    case broker::DeliveryState::Acknowledged:
      return "Acknowledged";
    case broker::DeliveryState::Archiving:
    case broker::DeliveryState::Archived:
      break;
  }
  return "Archived";
}

observe::SharePartitionSnapshot sharedShown(NodeId broker, const broker::SharePartitionView& view,
                                            platform::MonotonicTime now) {
  observe::SharePartitionSnapshot shown{.partition = view.partition,
                                        .broker = broker,
                                        .start = view.startOffset,
                                        .end = view.endOffset,
                                        .inFlight = 0,
                                        .batches = {}};
  for (const broker::SharePartition::Stretch& stretch : view.stretches) {
    const bool acquired = stretch.state == broker::DeliveryState::Acquired;
    if (acquired) shown.inFlight += static_cast<int>(stretch.last - stretch.first + 1);
    shown.batches.push_back(
        {.first = stretch.first,
         .last = stretch.last,
         .state = deliveryStateName(stretch.state),
         .deliveryCount = stretch.deliveryCount,
         .member = stretch.member,
         .lockLeft = acquired ? std::max(stretch.lockedUntil - now, platform::Duration(0)) : platform::Duration(0)});
  }
  return shown;
}

using Shared = std::vector<std::pair<std::string, observe::SharePartitionSnapshot>>;

Shared sharedOf(NodeId broker, const std::vector<broker::SharePartitionView>& views, platform::MonotonicTime now) {
  Shared shared;
  for (const broker::SharePartitionView& view : views)
    if (view.isActive) shared.emplace_back(view.groupId, sharedShown(broker, view, now));
  return shared;
}

}  // namespace

void Cluster::takeSharesNow(Slot& slot, platform::MonotonicTime now) {
  slot.shared = sharedOf(slot.place.id, slot.node->broker()->shares().snapshotNow(), now);
}

void Cluster::askShares(Slot& slot) {
  slot.node->broker()->shares().snapshot(
      [this, id = slot.place.id, incarnation = slot.incarnation](std::vector<broker::SharePartitionView> views) {
        run([this, id, incarnation, views = std::move(views)] {
          const auto found = slots_.find(id);
          if (found == slots_.end() || found->second->incarnation != incarnation) return;
          Shared shared = sharedOf(id, views, lab_->clock().monotonic());
          if (shared == found->second->shared) return;
          found->second->shared = std::move(shared);
          changed();
        });
      });
}

void Cluster::describeShares(observe::ClusterSnapshot& into) const {
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen) continue;
    for (const auto& [groupId, partition] : slot->shared) {
      const auto group = std::ranges::find(into.groups, groupId, &observe::GroupSnapshot::id);
      if (group == into.groups.end()) continue;
      group->shared.push_back(partition);
      // Where a share group starts is what it has committed.
      auto one = std::ranges::find(group->partitions, partition.partition, &observe::GroupPartitionSnapshot::partition);
      if (one == group->partitions.end())
        one = group->partitions.insert(one, observe::GroupPartitionSnapshot{.partition = partition.partition});
      one->committed = partition.start;
    }
  }
}

}  // namespace tidemark::cluster
