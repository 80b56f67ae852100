#include "models/log_breaks.h"

#include <algorithm>

namespace tidemark::widgets {

using observe::BatchSnapshot;

Offset highestSeen(const TimelinePartition& past, platform::WallTime by) {
  Offset highest = kNoOffset;
  for (const TimelineSeries::Point& point : past.highWatermark.points())
    if (point.at <= by) highest = std::max(highest, Offset(point.value));
  return highest;
}

std::vector<LogBreak> breaksOf(const TimelinePartition& past, platform::WallTime by) {
  using What = LogBreak::What;
  std::vector<LogBreak> breaks;
  for (const observe::ObservedEvent& event : past.events) {
    if (event.event.wall > by) continue;
    LogBreak one{
        .broker = event.event.broker, .epoch = {}, .from = {}, .to = {}, .at = event.event.wall, .event = event.number};
    if (const auto* began = std::get_if<events::BecameLeader>(&event.event.payload)) {
      one.what = What::EpochBegan;
      one.epoch = began->epoch;
      one.from = one.to = began->epochStart;
    } else if (const auto* cut = std::get_if<events::LogTruncated>(&event.event.payload)) {
      if (cut->to >= cut->from) continue;
      one.what = What::Truncated;
      one.from = cut->to;
      one.to = cut->from;
    } else if (const auto* lost = std::get_if<events::RecordsLost>(&event.event.payload)) {
      one.what = What::Lost;
      one.broker = lost->leader;
      one.epoch = lost->epoch;
      one.from = lost->from;
      // The new leader cannot know what others were promised; whoever watched does.
      one.to =
          std::max({lost->from, lost->to, lost->to == kNoOffset ? highestSeen(past, event.event.wall) : kNoOffset});
      const auto known = std::ranges::find_if(
          breaks, [&one](const LogBreak& other) { return other.what == What::Lost && other.epoch == one.epoch; });
      if (known != breaks.end()) {
        known->from = std::min(known->from, one.from);
        known->to = std::max(known->to, one.to);
        continue;
      }
    } else {
      continue;
    }
    breaks.push_back(one);
  }
  return breaks;
}

std::optional<Offset> partsFrom(const observe::PartitionSnapshot& partition, const observe::ReplicaSnapshot& copy) {
  const observe::ReplicaSnapshot* leader = observe::findReplica(partition, partition.leader);
  if (leader == nullptr || leader->broker == copy.broker || copy.batches.empty()) return std::nullopt;
  std::optional<Offset> from;
  for (auto batch = copy.batches.rbegin(); batch != copy.batches.rend(); ++batch) {
    if (batch->epoch >= partition.leaderEpoch) break;
    // Epochs only rise along a log.
    const auto after = std::ranges::upper_bound(leader->batches, batch->baseOffset, {}, &BatchSnapshot::baseOffset);
    const bool newer = after != leader->batches.begin() && std::prev(after)->epoch > batch->epoch;
    const bool beyond = leader->logEnd != kNoOffset && batch->baseOffset >= leader->logEnd;
    if (!newer && !beyond) break;
    from = batch->baseOffset;
  }
  return from;
}

}  // namespace tidemark::widgets
