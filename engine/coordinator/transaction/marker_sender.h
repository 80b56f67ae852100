#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace tidemark::coordinator {

/// The markers that an ended transaction needs: one in each partition that it touched.
struct MarkerOrder {
  /// Of the coordinator: where the transactional id belongs.
  PartitionIndex coordinatorPartition;
  /// Of that partition's leadership; partitions refuse an older coordinator.
  LeaderEpoch coordinatorEpoch;
  std::string transactionalId;
  ProducerId producerId;
  ProducerEpoch producerEpoch;
  bool commit = false;
  /// 2 and later: the epoch is above that of all that was written.
  int16_t transactionVersion = 0;
  std::vector<TopicPartition> partitions;
};

/// Brings markers to the leaders of partitions, for as long as that takes, and tells the coordinator of each that is
/// written or cannot matter any more (TransactionCoordinator::markersWritten). The broker implements it. Called on the
/// coordinator's executor; answers come there, never inside the call.
class MarkerSender {
 public:
  virtual ~MarkerSender() = default;
  virtual void send(MarkerOrder order) = 0;
  /// That partition of the coordinator is led by another now, who will send them again.
  virtual void forget(PartitionIndex coordinatorPartition) = 0;
};

}  // namespace tidemark::coordinator
