#include <algorithm>

#include "cluster/cluster.h"
#include "cluster/slot.h"

// What a snapshot tells of the cleaners.

namespace tidemark::cluster {
namespace {

std::optional<platform::WallTime> cleanerTime(std::optional<int64_t> milliseconds) {
  if (!milliseconds) return std::nullopt;
  return platform::WallTime(platform::milliseconds(*milliseconds));
}

observe::CleanerSnapshot cleanerShown(NodeId broker, const log::CleanerStatus& status) {
  observe::CleanerSnapshot cleaner;
  cleaner.broker = broker;
  cleaner.partition = status.partition;
  cleaner.logStart = status.logStart;
  cleaner.firstDirty = status.plan.firstDirty;
  cleaner.firstUncleanable = status.plan.firstUncleanable;
  cleaner.logEnd = status.logEnd;
  cleaner.cleanBytes = status.plan.cleanBytes;
  cleaner.dirtyBytes = status.plan.cleanableBytes;
  cleaner.uncleanableBytes = status.plan.uncleanableBytes;
  cleaner.dirtyRatio = status.plan.dirtyRatio();
  cleaner.minDirtyRatio = status.minDirtyRatio;
  cleaner.overdue = status.plan.overdue;
  cleaner.running = status.running;
  cleaner.passes = status.passes;
  cleaner.lastPass = status.lastPass;
  cleaner.deleteRetention =
      std::chrono::milliseconds(std::min<int64_t>(status.deleteRetentionMs, INT64_MAX / 1'000'000));
  cleaner.lookAgainAt = cleanerTime(status.plan.lookAgainAtMs);
  cleaner.uncleanableReason = status.uncleanableReason;
  return cleaner;
}

}  // namespace

void Cluster::describeCleaners(observe::ClusterSnapshot& into) const {
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || slot->node->broker() == nullptr) continue;
    const log::LogManager& logs = *slot->node->shared().logs;
    for (const log::CleanerStatus& status : logs.cleanerStatus()) into.cleaners.push_back(cleanerShown(id, status));
  }
}

}  // namespace tidemark::cluster
