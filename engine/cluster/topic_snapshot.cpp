#include <algorithm>
#include <span>

#include "broker/auto_topics.h"
#include "cluster/cluster.h"
#include "cluster/failed_directories.h"
#include "cluster/fates.h"
#include "cluster/slot.h"

// What a snapshot tells of topics: as the metadata has them, and each copy as its broker has it.

namespace tidemark::cluster {

std::map<NodeId, FailedDirectories> Cluster::describeDirectories(observe::ClusterSnapshot& into) const {
  std::map<NodeId, FailedDirectories> all;
  for (observe::BrokerSnapshot& broker : into.brokers) {
    const Slot& slot = *slots_.at(broker.id);
    if (!slot.isOpen || !slot.place.isBroker) continue;
    const auto& failed = all.try_emplace(broker.id, *slot.node->shared().logs).first->second;
    broker.failedDirectories = failed.snapshots();
  }
  return all;
}

void Cluster::describeTopics(const metadata::Image& image, const std::map<NodeId, FailedDirectories>& failed,
                             observe::ClusterSnapshot& into) const {
  for (observe::BrokerSnapshot& broker : into.brokers) {
    const metadata::BrokerRegistration* registered = image.cluster.broker(broker.id);
    if (registered != nullptr && registered->fenced && broker.state == observe::BrokerState::Running)
      broker.state = observe::BrokerState::Fenced;
  }
  for (const auto& [name, topic] : image.topics.byName) {
    observe::TopicSnapshot& shown = into.topics.emplace_back();
    shown.id = topic->id;
    shown.name = name;
    shown.internal = broker::isInternalTopic(name);
    const config::ConfigMap& set = image.configs.topic(name);
    const auto policy = set.find("cleanup.policy");
    shown.compacted = policy != set.end() && policy->second.find("compact") != std::string::npos;
    const auto minIsr = set.find("min.insync.replicas");
    const auto clusterMin = settings_.find("min.insync.replicas");
    shown.minInSync = std::atoi((minIsr != set.end()             ? minIsr->second
                                 : clusterMin != settings_.end() ? clusterMin->second
                                                                 : "1")
                                    .c_str());
    for (const auto& [index, registration] : topic->partitions) {
      observe::PartitionSnapshot& partition = shown.partitions.emplace_back();
      partition.index = index;
      partition.leader = registration->leader;
      partition.leaderEpoch = registration->leaderEpoch;
      partition.partitionEpoch = registration->partitionEpoch;
      partition.replicas = registration->replicas;
      partition.isr = registration->isr;
      shown.replicationFactor = std::max(shown.replicationFactor, static_cast<int>(registration->replicas.size()));
      const TopicPartition key{name, index};
      const bool watched = watched_ && *watched_ == key;
      std::map<NodeId, replication::FollowerState> followers;
      for (NodeId node : registration->replicas) {
        observe::ReplicaSnapshot copy;
        copy.broker = node;
        if (const auto slot = slots_.find(node); slot != slots_.end()) {
          describeReplica(*slot->second, key, watched, copy);
          if (node == registration->leader && copy.online) {
            const auto leading = slot->second->node->broker()->replicas().find(key);
            if (leading) {
              followers = leading->view().followers;
              partition.lastStable = leading->log()->lastStableOffset();
              // Most logs have no transaction open: their producers are not even counted.
              if (partition.lastStable < leading->log()->highWatermark())
                partition.openTransactions = openTransactionsOf(*leading->log());
            }
          }
        }
        copy.leader = node == registration->leader;
        copy.inSync = registration->isInIsr(node);
        copy.eligible = std::ranges::find(registration->elr, node) != registration->elr.end();
        if (copy.leader) {
          partition.highWatermark = copy.highWatermark;
          partition.lastStable = copy.lastStable;
          partition.logStart = copy.logStart;
          partition.logEnd = copy.logEnd;
          ++std::ranges::find(into.brokers, node, &observe::BrokerSnapshot::id)->leaderCount;
        }
        if (const auto broker = std::ranges::find(into.brokers, node, &observe::BrokerSnapshot::id);
            broker != into.brokers.end()) {
          ++broker->replicaCount;
          if (const auto directories = failed.find(node); directories != failed.end())
            copy.offlineReason = directories->second.offlineReasonOf(key, registration->directoryOf(node));
        }
        partition.copies.push_back(std::move(copy));
      }
      std::ranges::sort(partition.copies, {}, &observe::ReplicaSnapshot::broker);
      for (observe::ReplicaSnapshot& copy : partition.copies) {
        const auto known = followers.find(copy.broker);
        if (known == followers.end()) continue;
        copy.sinceCaughtUp = into.at - known->second.lastCaughtUp;
        copy.fetchOffset = known->second.logEndOffset;
        if (known->second.lastFetch != platform::MonotonicTime{}) copy.sinceFetch = into.at - known->second.lastFetch;
      }
    }
  }
  std::ranges::stable_sort(into.topics, [](const auto& a, const auto& b) { return a.internal < b.internal; });
}

void Cluster::describeReplica(const Slot& slot, const TopicPartition& name, bool watched,
                              observe::ReplicaSnapshot& into) const {
  const auto partition = slot.isOpen && slot.place.isBroker ? slot.node->broker()->replicas().find(name) : nullptr;
  if (!partition) {
    // What was last seen of it, marked as old.
    if (const auto seen = slot.lastSeen.find(name); seen != slot.lastSeen.end()) into = seen->second;
    into.broker = slot.place.id;
    into.online = false;
    return;
  }
  const std::shared_ptr<const log::PartitionLog> held = partition->log();
  const log::PartitionLog& log = *held;
  // Of what follows only what is told of a watched partition's batches may wait for the disk.
  const log::LogLook look = log.look();
  const log::OffsetSnapshot& ends = look.ends;
  into.online = slot.state != observe::BrokerState::Paused;
  into.epoch = partition->leaderEpoch();
  into.logStart = ends.logStartOffset;
  into.logEnd = ends.logEndOffset.offset;
  into.highWatermark = ends.highWatermark.offset;
  into.lastStable = ends.lastStableOffset.offset;
  into.sizeInBytes = look.sizeInBytes;
  // Most logs of a cluster are empty: their files tell nothing.
  if (!watched && into.logEnd.value() <= 0) return;
  into.segmentCount = static_cast<int>(look.segments.size());
  const size_t older =
      watched ? 0 : look.segments.size() - std::min(look.segments.size(), observe::ReplicaSnapshot::kSegmentsKept);
  for (const log::LogLook::SegmentSize& segment : std::span(look.segments).subspan(older))
    into.segments.push_back({segment.baseOffset, segment.sizeInBytes});
  if (!watched) return;
  // The newest batches: from so far back that as many as are shown surely fit, at one record a batch; and if batches
  // hold more records, from so much further back.
  constexpr auto kMost = static_cast<int64_t>(observe::ReplicaSnapshot::kMaxBatches);
  const Offset from = std::max(into.logStart, into.logEnd - kMost);
  if (from < into.logEnd) {
    auto batches = log.batches(from, observe::ReplicaSnapshot::kMaxBatches);
    if (batches && !batches->empty() && from > into.logStart) {
      const int64_t count = static_cast<int64_t>(batches->size());
      const int64_t reach = kMost * 9 / 10 * ((into.logEnd - from) / count);
      if (count < kMost / 2)
        if (auto more =
                log.batches(std::max(into.logStart, into.logEnd - reach), observe::ReplicaSnapshot::kMaxBatches);
            more && !more->empty() && more->back().header.nextOffset() >= batches->back().header.nextOffset())
          batches = std::move(more);
    }
    if (batches) {
      for (const log::BatchInfo& batch : *batches)
        into.batches.push_back(
            {.baseOffset = batch.header.baseOffset,
             .lastOffset = batch.header.lastOffset(),
             .epoch = batch.header.leaderEpoch,
             .recordCount = batch.header.recordCount,
             .sizeInBytes = static_cast<int32_t>(batch.header.sizeInBytes()),
             .position = batch.position,
             .producer = batch.header.producerId,
             .baseSequence = batch.header.baseSequence,
             .codec = records::codecName(batch.header.codec()),
             .control = batch.header.isControl(),
             .transactional = batch.header.isTransactional(),
             .producerEpoch = batch.header.producerEpoch,
             .maxTimestamp = platform::WallTime(std::chrono::milliseconds(batch.header.maxTimestampMs))});
    }
  }
  if (into.batches.empty()) return;
  tellFates(log, into.batches);
  const std::vector<log::SegmentInfo> infos = log.segments();
  for (const observe::SegmentSnapshot& segment : into.segments) {
    const bool shown =
        &segment == &into.segments.back() || std::next(&segment)->baseOffset > into.batches.front().baseOffset;
    if (!shown) continue;
    const log::SegmentInfo* info = nullptr;
    for (const log::SegmentInfo& each : infos)
      if (each.baseOffset == segment.baseOffset) info = &each;
    if (info == nullptr) continue;
    const auto count = static_cast<size_t>(info->offsetIndexEntries);
    const size_t first =
        count > observe::ReplicaSnapshot::kMaxBatches ? count - observe::ReplicaSnapshot::kMaxBatches : 0;
    if (auto entries = log.offsetIndexEntries(segment.baseOffset, first, count - first))
      for (const log::OffsetIndexEntry& entry : *entries)
        if (entry.offset >= into.batches.front().baseOffset)
          into.indexEntries.push_back({entry.offset, entry.position});
  }
}

}  // namespace tidemark::cluster
