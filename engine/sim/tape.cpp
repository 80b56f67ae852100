#include "sim/tape.h"

#include <algorithm>

namespace tidemark::sim {

void Tape::takeFaults() {
  for (const events::Event& event : faults_.take())
    writer_.add(observe::ObservedEvent{.number = 0, .event = event, .topic = {}, .partition = {}});
}

void Tape::on(const Seen& seen) {
  takeFaults();
  writer_.add(observe::ObservedEvent{
      .number = 0, .event = seen.event, .topic = seen.partition.topic, .partition = seen.partition.partition});
  const auto* batch = std::get_if<events::BatchAppended>(&seen.event.payload);
  if (batch == nullptr || !batch->asLeader) return;
  std::deque<Appended>& appended = appended_[seen.partition];
  // Another leader than before may begin where its predecessor did not.
  while (!appended.empty() && appended.back().last >= batch->baseOffset) appended.pop_back();
  appended.push_back({batch->lastOffset, seen.event.wall});
  if (appended.size() > kAppendedKept) appended.pop_front();
}

void Tape::addAges(observe::ClusterSnapshot& cluster) const {
  for (observe::GroupSnapshot& group : cluster.groups)
    for (observe::GroupPartitionSnapshot& one : group.partitions) {
      if (one.lag().value_or(0) == 0) continue;
      const auto known = appended_.find(one.partition);
      if (known == appended_.end()) continue;
      const auto first = std::ranges::lower_bound(known->second, *one.committed, {}, &Appended::last);
      if (first != known->second.end()) one.firstPending = first->at;
    }
}

void Tape::look(platform::MonotonicTime now) {
  faults_.look();
  takeFaults();
  // What the lab does itself, no broker tells.
  const observe::EventBatch batch = cluster_.drainEvents(told_, SIZE_MAX);
  told_ = batch.last;
  for (const observe::ObservedEvent& event : batch.events) writer_.add(event);
  if (!writer_.wantsSnapshot(now)) return;
  observe::ClusterSnapshot cluster = *cluster_.describeNow();
  addAges(cluster);
  faults_.describe(cluster);
  writer_.add(cluster);
}

}  // namespace tidemark::sim
