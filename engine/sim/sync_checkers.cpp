#include "sim/sync_checkers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::sim {

// --- InSyncReplicas
// ---------------------------------------------------------------------------------------------------

bool InSyncReplicas::runs(NodeId broker, const metadata::Image& image) const {
  broker::Node* node = watch_.node(broker);
  const metadata::BrokerRegistration* registered = image.cluster.broker(broker);
  return node != nullptr && registered != nullptr && node->broker()->epoch() == registered->epoch;
}

void InSyncReplicas::on(const Seen& seen) {
  const auto* moved = as<events::HighWatermarkAdvanced>(seen);
  if (moved == nullptr || seen.node == nullptr || seen.partition == metadataPartition()) return;
  const auto partition = seen.node->broker()->replicas().find(seen.partition);
  if (!partition) return;
  const replication::PartitionView view = partition->view();
  if (!view.isLeader) return;
  const metadata::ImagePtr image = watch_.newestImage();
  const metadata::PartitionRegistration* known =
      image ? image->topics.partition(seen.partition.topic, seen.partition.partition) : nullptr;
  // One that does not know yet that its epoch is over has other members in mind.
  if (known == nullptr || known->leaderEpoch > view.leaderEpoch) return;
  const std::vector<NodeId>& isr = view.partitionEpoch >= known->partitionEpoch ? view.isr : known->isr;
  const Batches& leaders = logs_.of(seen.broker, seen.partition);
  for (NodeId member : isr) {
    if (member == seen.broker || !runs(member, *image)) continue;
    const Batches& held = logs_.of(member, seen.partition);
    for (auto batch = leaders.lower_bound(moved->from); batch != leaders.end() && batch->first < moved->to; ++batch) {
      const auto own = held.find(batch->first);
      if (own != held.end() && own->second == batch->second) continue;
      judge_.breach(
          "R3",
          fmt::format("leader {} of {} moves the high watermark from {} to {}, but {}, which is in the ISR {{{}}} "
                      "of partition epoch {}, lacks {}; its log ends at {}",
                      seen.broker, seen.partition, moved->from, moved->to, member, fmt::join(isr, ", "),
                      std::max(view.partitionEpoch, known->partitionEpoch), describe(batch->first, batch->second),
                      endOf(held)));
      return;
    }
  }
}

void InSyncReplicas::look() {
  const metadata::ImagePtr image = watch_.newestImage();
  if (!image || image->provenance.lastContainedOffset <= looked_ ||
      image->provenance.lastContainedOffset.next() < committed_.end(metadataPartition()))
    return;
  looked_ = image->provenance.lastContainedOffset;
  for (const auto& [name, topic] : image->topics.byName) {
    for (const auto& [index, partition] : topic->partitions) {
      const TopicPartition where{name, index};
      const auto [known, first] = known_.try_emplace(where, partition->partitionEpoch);
      if (!first && known->second == partition->partitionEpoch) continue;
      known->second = partition->partitionEpoch;
      // What a leader has that was elected uncleanly is asked when it begins to lead.
      if (partition->leaderRecoveryState == metadata::LeaderRecoveryState::Recovering) continue;
      for (NodeId member : partition->isr)
        if (runs(member, *image)) committed_.demandAll(member, where, "R3", "in the ISR");
      for (NodeId member : partition->elr)
        if (runs(member, *image)) committed_.demandAll(member, where, "R3", "in the ELR");
    }
  }
}

// --- ProducerSequences
// ------------------------------------------------------------------------------------------------

void ProducerSequences::committed(const TopicPartition& partition, Offset base, const BatchKey& batch) {
  if (batch.producer == kNoProducerId || batch.firstSequence < 0) return;
  std::optional<int32_t>& next = next_.try_emplace({partition, batch.producer, batch.producerEpoch}, 0).first->second;
  if (next && batch.firstSequence != *next)
    judge_.breach(
        batch.firstSequence < *next ? "T2" : "T1",
        fmt::format(
            "sequences {} to {} of producer {}, epoch {}, are committed at offset {} of {}, where {} comes next",
            batch.firstSequence, batch.lastSequence, batch.producer, batch.producerEpoch, base, partition, *next));
  next = batch.lastSequence + 1;
}

void ProducerSequences::lost(const TopicPartition& partition, const Batches& batches) {
  for (const auto& [base, batch] : batches)
    if (batch.producer != kNoProducerId) next_[{partition, batch.producer, batch.producerEpoch}].reset();
}

}  // namespace tidemark::sim
