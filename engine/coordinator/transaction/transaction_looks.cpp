#include "coordinator/transaction/transaction_shard.h"

// What others are told of transactional ids: as of the high watermark.

namespace tidemark::coordinator {

protocol::DescribeTransactionsResponse::TransactionState TransactionShard::describe(std::string_view id) const {
  protocol::DescribeTransactionsResponse::TransactionState described;
  described.transactionalId = id;
  const Entry* entry = find(id);
  if (entry == nullptr || !entry->committed) {
    described.errorCode = static_cast<int16_t>(ErrorCode::TransactionalIdNotFound);
    return described;
  }
  const TransactionMetadata& metadata = *entry->committed;
  described.producerId = metadata.producerId.value();
  described.producerEpoch = metadata.producerEpoch.value();
  described.transactionState = events::nameOf(metadata.state);
  described.transactionTimeoutMs = static_cast<int32_t>(metadata.timeout.count());
  described.transactionStartTimeMs = metadata.startMs;
  // Of an ended one: those that still wait for their marker.
  const std::set<TopicPartition>& partitions =
      entry->sentMarkers && entry->committed == entry->latest ? entry->pendingMarkers : metadata.partitions;
  for (const TopicPartition& partition : partitions) {
    if (described.topics.empty() || described.topics.back().topic != partition.topic)
      described.topics.push_back({.topic = partition.topic, .partitions = {}});
    described.topics.back().partitions.push_back(partition.partition.value());
  }
  return described;
}

void TransactionShard::list(const Filter& filter,
                            std::vector<protocol::ListTransactionsResponse::TransactionState>& into) const {
  const int64_t nowMs = clock_.wallMs();
  for (const auto& [id, entry] : entries_) {
    if (!entry.committed) continue;
    const TransactionMetadata& metadata = *entry.committed;
    if (filter.byState && !filter.states.contains(metadata.state)) continue;
    if (!filter.producerIds.empty() && !filter.producerIds.contains(metadata.producerId.value())) continue;
    if (filter.longerThanMs >= 0 && nowMs - metadata.startMs <= filter.longerThanMs) continue;
    if (filter.id && !filter.id(id)) continue;
    auto& one = into.emplace_back();
    one.transactionalId = id;
    one.producerId = metadata.producerId.value();
    one.transactionState = events::nameOf(metadata.state);
  }
}

void TransactionShard::snapshot(std::vector<TransactionSnapshot>& into) const {
  for (const auto& [id, entry] : entries_) {
    if (!entry.latest) continue;
    into.push_back({.transactionalId = id,
                    .metadata = *entry.latest,
                    .pendingMarkers = {entry.pendingMarkers.begin(), entry.pendingMarkers.end()},
                    .coordinatorPartition = partition_});
  }
}

}  // namespace tidemark::coordinator
