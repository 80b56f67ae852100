#pragma once

#include <memory>

#include "broker/coordinator_topic.h"
#include "broker/group_service.h"
#include "broker/producer_ids.h"
#include "broker/transaction/marker_channel.h"
#include "broker/transaction/marker_writer.h"
#include "broker/transaction/transaction_verification.h"
#include "config/broker_config.h"
#include "coordinator/transaction/transaction_coordinator.h"
#include "platform/process.h"

namespace tidemark::broker {

/// Transactions at one broker: the coordinator on its replicas of `__transaction_state`, the markers it sends and those
/// that others send here, and the question whether a partition is in a transaction.
class TransactionService final : private coordinator::ProducerIdSource {
 public:
  TransactionService(platform::Process& process, replication::ReplicaManager& replicas, GroupService& groups,
                     ProducerIds& producerIds, NodeId self, const config::BrokerConfig& config,
                     events::Recorder& recorder);
  ~TransactionService() override;

  coordinator::TransactionCoordinator& coordinator() noexcept { return coordinator_; }
  MarkerWriter& markerWriter() noexcept { return writer_; }
  TransactionVerification& verification() noexcept { return verification_; }

  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  void stop();

 private:
  void next(std::move_only_function<void(Result<ProducerId>)> answer) override { producerIds_.next(std::move(answer)); }

  const std::shared_ptr<platform::Executor> executor_;
  ProducerIds& producerIds_;
  CoordinatorTopic topic_;
  MarkerWriter writer_;
  MarkerChannel markers_;
  coordinator::TransactionCoordinator coordinator_;
  TransactionVerification verification_;
};

}  // namespace tidemark::broker
