#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "coordinator/coordinator_log.h"
#include "coordinator/request_info.h"
#include "coordinator/transaction/marker_sender.h"
#include "coordinator/transaction/transaction_config.h"
#include "coordinator/transaction/transaction_requests.h"
#include "coordinator/transaction/transaction_snapshot.h"
#include "platform/executor.h"
#include "platform/logger.h"
#include "protocol/generated/forward.h"

namespace tidemark::coordinator {

/// Gives out producer ids that nobody had. The broker implements it. Any thread; answers on any thread, never inside
/// the call. An error is told to the client as it is.
class ProducerIdSource {
 public:
  virtual ~ProducerIdSource() = default;
  virtual void next(std::move_only_function<void(Result<ProducerId>)> answer) = 0;
};

/// The transaction coordinator of one broker: producer ids and epochs, open transactions and their ends, for the
/// transactional ids whose partition of `__transaction_state` it leads. Everything runs on one serial executor; all
/// calls from any thread, but for markersWritten().
///
/// Error codes are Kafka's: NOT_COORDINATOR for a partition that is not led here, COORDINATOR_LOAD_IN_PROGRESS while it
/// is read, PRODUCER_FENCED as the newest versions say it (older ones are the broker's to translate). Authorization,
/// and whether topics exist, is the broker's to ask before.
class TransactionCoordinator {
 public:
  struct Dependencies {
    /// Serial.
    std::shared_ptr<platform::Executor> executor;
    const platform::Clock* clock = nullptr;
    platform::Logger* log = nullptr;
    CoordinatorLog* partitions = nullptr;
    ProducerIdSource* producerIds = nullptr;
    MarkerSender* markers = nullptr;
  };

  TransactionCoordinator(Dependencies dependencies, TransactionConfig config);
  ~TransactionCoordinator();

  /// Partitions of `__transaction_state`, once it exists; until then every request gets COORDINATOR_NOT_AVAILABLE.
  void setPartitionCount(int32_t partitions);
  /// Nothing while the count is unknown.
  std::optional<PartitionIndex> partitionFor(std::string_view transactionalId) const;

  void onBecomeLeader(PartitionIndex partition, LeaderEpoch epoch);
  void onResign(PartitionIndex partition);
  void onHighWatermark(PartitionIndex partition, Offset highWatermark);
  /// Clean stop: as if it resigned from all partitions.
  void stop();

  void beginProducer(BeginProducer request, Reply<ProducerAnswer> reply);
  /// Adds them, all or none, or says which of them are in the transaction.
  void addPartitions(AddPartitions request, Reply<PartitionErrors> reply);
  void end(EndTransaction request, Reply<ProducerAnswer> reply);
  /// On the executor: the sender has brought these markers to where they belong.
  void markersWritten(const MarkerOrder& order, const std::vector<TopicPartition>& partitions);

  void describe(const protocol::DescribeTransactionsRequest& request,
                Reply<protocol::DescribeTransactionsResponse> reply);
  void list(const protocol::ListTransactionsRequest& request, Reply<protocol::ListTransactionsResponse> reply);
  /// All ids of the partitions that are led here, by id.
  void snapshot(Reply<std::vector<TransactionSnapshot>> reply);
  /// The same at once, for where nothing else runs, as between two steps of the simulator: sets nothing going.
  std::vector<TransactionSnapshot> snapshotNow() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::coordinator
