#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/transaction/transaction_metadata.h"

namespace tidemark::coordinator {

/// A transactional id as views show it.
struct TransactionSnapshot {
  std::string transactionalId;
  TransactionMetadata metadata;
  /// Of an ended one: those that have no marker yet.
  std::vector<TopicPartition> pendingMarkers;
  PartitionIndex coordinatorPartition;
  friend bool operator==(const TransactionSnapshot&, const TransactionSnapshot&) = default;
};

}  // namespace tidemark::coordinator
