#include "sim/replica_logs.h"

#include <fmt/format.h>

#include "raft/types.h"

namespace tidemark::sim {

BatchKey keyOf(const records::BatchHeader& header) {
  BatchKey key{.last = header.lastOffset(), .epoch = header.leaderEpoch, .crc = header.crc};
  key.transactional = header.isTransactional();
  key.control = header.isControl();
  if (!header.hasProducerId()) return key;
  key.producer = header.producerId;
  key.producerEpoch = header.producerEpoch;
  if (header.isControl()) return key;
  key.firstSequence = header.baseSequence;
  key.lastSequence = header.lastSequence();
  return key;
}

const TopicPartition& metadataPartition() {
  static const TopicPartition kPartition{std::string(raft::kMetadataTopic), PartitionIndex(0)};
  return kPartition;
}

Offset endOf(const Batches& batches) {
  return batches.empty() ? Offset(0) : batches.rbegin()->second.last.next();
}

std::string describe(Offset base, const BatchKey& batch) {
  return fmt::format("offsets {} to {} of epoch {}, CRC {:08x}", base, batch.last, batch.epoch, batch.crc);
}

std::shared_ptr<const log::PartitionLog> ReplicaLogs::find(broker::Node& node, const TopicPartition& partition) {
  if (partition == metadataPartition()) return node.shared().metadataLog;
  return node.shared().logs->get(partition);
}

void ReplicaLogs::started(NodeId broker) {
  for (auto& [key, replica] : replicas_)
    if (key.first == broker) replica.fresh = false;
}

void ReplicaLogs::opened(NodeId broker, broker::Node& node) {
  load(replicas_[{broker, metadataPartition()}], *node.shared().metadataLog);
  for (auto& [key, replica] : replicas_)
    if (key.first == broker && !replica.fresh)
      if (const auto log = find(node, key.second)) load(replica, *log);
}

void ReplicaLogs::load(Replica& replica, const log::PartitionLog& log) {
  replica.batches.clear();
  replica.fresh = true;
  if (const auto found = log.batches(log.logStartOffset(), SIZE_MAX))
    for (const log::BatchInfo& batch : *found) replica.batches.emplace(batch.header.baseOffset, keyOf(batch.header));
}

void ReplicaLogs::on(const Seen& seen) {
  removed_.clear();
  if (seen.partition.partition.value() < 0 || seen.node == nullptr) return;
  Replica& replica = replicas_[{seen.broker, seen.partition}];
  if (!replica.fresh) {
    if (const auto log = find(*seen.node, seen.partition)) load(replica, *log);
    return;
  }
  if (const auto* appended = as<events::BatchAppended>(seen)) {
    const auto log = find(*seen.node, seen.partition);
    const auto found = log->batches(appended->baseOffset, 1);
    // Later in the same step it may have been cut off again.
    if (found && !found->empty() && found->front().header.baseOffset == appended->baseOffset)
      replica.batches.insert_or_assign(appended->baseOffset, keyOf(found->front().header));
  } else if (const auto* truncated = as<events::LogTruncated>(seen)) {
    for (auto batch = replica.batches.begin(); batch != replica.batches.end();) {
      auto next = std::next(batch);
      if (batch->second.last >= truncated->to) removed_.insert(replica.batches.extract(batch));
      batch = next;
    }
  } else if (const auto* cut = as<events::LogStartAdvanced>(seen)) {
    std::erase_if(replica.batches, [&](const auto& entry) { return entry.second.last < cut->to; });
  }
}

void ReplicaLogs::missed(NodeId broker, broker::Node& node) {
  for (auto& [key, replica] : replicas_) {
    if (key.first != broker || !replica.fresh) continue;
    if (const auto log = find(node, key.second)) load(replica, *log);
  }
}

const Batches& ReplicaLogs::of(NodeId broker, const TopicPartition& partition) const {
  static const Batches kNone;
  const auto found = replicas_.find({broker, partition});
  return found == replicas_.end() ? kNone : found->second.batches;
}

}  // namespace tidemark::sim
