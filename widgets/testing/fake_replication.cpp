#include <algorithm>

#include "testing/fake_partition.h"

// Records are written, followers fetch them, the ISR and the high watermark follow.

namespace tidemark::widgets::fake {

using namespace std::chrono_literals;
using observe::BatchSnapshot;
using observe::ReplicaSnapshot;

namespace {

constexpr auto kLagLimit = std::chrono::seconds(3);
constexpr int64_t kSegmentBytes = 24'000;

}  // namespace

void FakeCluster::write(Partition& partition) {
  const int count = static_cast<int>(partition.due);
  partition.due -= count;
  Partition::Copy& leader = *partition.copy(partition.shown.leader);
  BatchSnapshot batch;
  batch.baseOffset = leader.shown.logEnd;
  batch.lastOffset = batch.baseOffset + (count - 1);
  batch.epoch = partition.shown.leaderEpoch;
  batch.recordCount = count;
  batch.sizeInBytes = 61 + count * 210;
  batch.position = leader.shown.segments.back().sizeInBytes;
  if (batch.position + batch.sizeInBytes > kSegmentBytes) {
    emit(partition.shown.leader,
         events::SegmentRolled{{}, batch.baseOffset, leader.shown.segments.back().baseOffset, batch.position},
         partition.topic, partition.shown.index);
    leader.shown.segments.push_back({batch.baseOffset, 0});
    batch.position = 0;
  }
  leader.shown.batches.push_back(batch);
  if (leader.shown.batches.size() > ReplicaSnapshot::kMaxBatches)
    leader.shown.batches.erase(leader.shown.batches.begin());
  leader.shown.segments.back().sizeInBytes += batch.sizeInBytes;
  leader.sinceIndexEntry += batch.sizeInBytes;
  if (leader.sinceIndexEntry > 2'500) {
    leader.shown.indexEntries.push_back({batch.lastOffset, batch.position});
    leader.sinceIndexEntry = 0;
  }
  leader.shown.logEnd = batch.lastOffset.next();
  if (Broker* broker = find(partition.shown.leader)) broker->shown.producedBytes += batch.sizeInBytes;
  emit(partition.shown.leader,
       events::BatchAppended{.baseOffset = batch.baseOffset,
                             .lastOffset = batch.lastOffset,
                             .epoch = batch.epoch,
                             .recordCount = count,
                             .sizeInBytes = batch.sizeInBytes,
                             .position = batch.position,
                             .asLeader = true},
       partition.topic, partition.shown.index);
  if (partition.shown.isr.size() > 1) {
    observe::ParkedSnapshot parked;
    parked.broker = partition.shown.leader;
    parked.client = "producer-1";
    parked.correlation = ++partition.correlation;
    parked.partition = {partition.topic, partition.shown.index};
    parked.needs = leader.shown.logEnd;
    parked.timeout = 30s;
    partition.parked.push_back(parked);
    partition.parkedAt.push_back(m_now);
  }
  changed();
}

void FakeCluster::follow(Partition& partition) {
  Partition::Copy& leader = *partition.copy(partition.shown.leader);
  leader.caughtUp = m_now;
  for (Partition::Copy& copy : partition.copies) {
    const NodeId id = copy.shown.broker;
    if (id == partition.shown.leader) continue;
    const Broker* broker = find(id);
    if (broker != nullptr && broker->runs() && m_now - copy.fetched >= 70ms + 30ms * id.value()) {
      copy.fetched = m_now;
      if (copy.shown.logEnd < leader.shown.logEnd) {
        copy.shown.fetchOffset = copy.shown.logEnd;
        copy.shown.batches = leader.shown.batches;
        copy.shown.segments = leader.shown.segments;
        copy.shown.indexEntries = leader.shown.indexEntries;
        copy.shown.logEnd = leader.shown.logEnd;
        changed();
      } else if (copy.shown.fetchOffset != copy.shown.logEnd) {
        copy.shown.fetchOffset = copy.shown.logEnd;
        changed();
      }
      copy.caughtUp = m_now;
      if (!partition.inIsr(id)) {
        const std::vector<NodeId> before = partition.shown.isr;
        partition.shown.isr.push_back(id);
        std::ranges::sort(partition.shown.isr);
        partition.shown.partitionEpoch = PartitionEpoch(partition.shown.partitionEpoch.value() + 1);
        emit(partition.shown.leader,
             events::IsrExpanded{{},
                                 events::NodeList(before),
                                 events::NodeList(partition.shown.isr),
                                 id,
                                 partition.shown.partitionEpoch},
             partition.topic, partition.shown.index);
      }
    }
    if (partition.inIsr(id) && m_now - copy.caughtUp > kLagLimit && copy.shown.logEnd < leader.shown.logEnd) {
      const std::vector<NodeId> before = partition.shown.isr;
      std::erase(partition.shown.isr, id);
      partition.shown.partitionEpoch = PartitionEpoch(partition.shown.partitionEpoch.value() + 1);
      emit(partition.shown.leader,
           events::IsrShrunk{{},
                             events::NodeList(before),
                             events::NodeList(partition.shown.isr),
                             id,
                             partition.shown.partitionEpoch,
                             m_now - copy.caughtUp},
           partition.topic, partition.shown.index);
    }
  }
}

void FakeCluster::moveHighWatermark(Partition& partition) {
  Offset lowest = partition.copy(partition.shown.leader)->shown.logEnd;
  NodeId slowest = kNoNode;
  for (const Partition::Copy& copy : partition.copies)
    if (partition.inIsr(copy.shown.broker) && copy.shown.fetchOffset < lowest &&
        copy.shown.broker != partition.shown.leader) {
      lowest = std::max(copy.shown.fetchOffset, Offset(0));
      slowest = copy.shown.broker;
    }
  const Offset from = partition.shown.highWatermark;
  if (lowest <= from) return;
  partition.shown.highWatermark = partition.shown.lastStable = lowest;
  for (Partition::Copy& copy : partition.copies)
    if (const Broker* broker = find(copy.shown.broker); broker != nullptr && broker->runs())
      copy.shown.highWatermark = lowest;
  emit(partition.shown.leader, events::HighWatermarkAdvanced{{}, from, lowest, slowest}, partition.topic,
       partition.shown.index);
  while (!partition.parked.empty() && partition.parked.front().needs <= lowest) {
    partition.parked.pop_front();
    partition.parkedAt.pop_front();
  }
  changed();
}

}  // namespace tidemark::widgets::fake
