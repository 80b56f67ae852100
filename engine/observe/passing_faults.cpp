#include "observe/passing_faults.h"

#include <algorithm>

namespace tidemark::observe {
namespace {

template <class Faults>
bool knows(const Faults& faults, int id) {
  return std::ranges::find(faults, id, [](const auto& one) { return one.id; }) != faults.end();
}

}  // namespace

void PassingFaults::set(ClusterSnapshot& cluster) const {
  // Ages and what is left are as at the base, where some of them are still to come: they pass with the others.
  for (const FaultSnapshot& each : next_.faults) {
    if (setAt(each) > end_ || knows(base_.faults, each.id)) continue;
    FaultSnapshot fault = each;
    fault.since = base_.at - setAt(each);
    fault.fired = 0;
    fault.held = 0;
    if (!each.waits) {
      fault.waits = true;
      fault.broker = kNoNode;
      fault.links.clear();
      fault.left.reset();
    } else if (fault.left) {
      *fault.left += next_.at - base_.at;
    }
    cluster.faults.push_back(std::move(fault));
  }
  for (const FaultOverSnapshot& each : next_.faultsOver)
    if (each.setAt <= end_ && !knows(base_.faults, each.id) && !knows(base_.faultsOver, each.id))
      cluster.faults.push_back({.id = each.id,
                                .fault = each.fault,
                                .broker = {},
                                .links = {},
                                .waits = true,
                                .since = base_.at - each.setAt,
                                .left = {},
                                .fired = 0,
                                .held = 0,
                                .unmatched = each.unmatched});
  std::ranges::sort(cluster.faults, {}, &FaultSnapshot::id);
}

void PassingFaults::settle(ClusterSnapshot& cluster) const {
  for (const FaultOverSnapshot& each : next_.faultsOver) {
    if (each.endedAt > end_ || knows(cluster.faultsOver, each.id)) continue;
    std::erase_if(cluster.faults, [&each](const FaultSnapshot& one) { return one.id == each.id; });
    cluster.faultsOver.push_back(each);
  }
  for (FaultSnapshot& fault : cluster.faults) {
    const auto later = std::ranges::find(next_.faults, fault.id, &FaultSnapshot::id);
    if (fault.waits || later == next_.faults.end()) continue;
    fault.broker = later->broker;
    fault.links = later->links;
  }
}

}  // namespace tidemark::observe
