#include "raft/raft_log.h"

#include <algorithm>

namespace tidemark::raft {

FetchPosition validateFetchPosition(const LogView& log, Offset offset, LeaderEpoch lastFetchedEpoch) {
  using Kind = FetchPosition::Kind;
  const Offset start = log.startOffset();
  if (start == Offset(0) && offset == Offset(0) && lastFetchedEpoch == LeaderEpoch(0)) return {};
  if (const auto earliest = log.earliestSnapshotId()) {
    const bool atStart = offset == start && start != Offset(0);
    if (offset < start || (atStart && lastFetchedEpoch != earliest->epoch) || lastFetchedEpoch < earliest->epoch)
      return {Kind::Snapshot, *log.latestSnapshotId()};
  }
  const OffsetAndEpoch end = log.endOffsetForEpoch(lastFetchedEpoch);
  if (end.epoch != lastFetchedEpoch || end.offset < offset) return {Kind::Diverging, end};
  return {};
}

Offset truncationOffset(const LogView& log, OffsetAndEpoch diverging) {
  if (diverging.epoch == LeaderEpoch(0)) return std::min(diverging.offset, log.endOffset());
  const OffsetAndEpoch local = log.endOffsetForEpoch(diverging.epoch);
  return local.epoch == diverging.epoch ? std::min(local.offset, diverging.offset) : local.offset;
}

}  // namespace tidemark::raft
