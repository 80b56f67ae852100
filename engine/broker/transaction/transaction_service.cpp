#include "broker/transaction/transaction_service.h"

#include "metadata/features.h"

namespace tidemark::broker {
namespace {

coordinator::TransactionConfig settings(const config::BrokerConfig& config, const replication::ReplicaManager& replicas,
                                        events::Recorder& recorder) {
  coordinator::TransactionConfig transactions;
  transactions.maxTimeout = config.getMs("transaction.max.timeout.ms");
  transactions.idExpiration = config.getMs("transactional.id.expiration.ms");
  transactions.expiryInterval = config.getMs("transaction.remove.expired.transaction.cleanup.interval.ms");
  transactions.abortInterval = config.getMs("transaction.abort.timed.out.transaction.cleanup.interval.ms");
  transactions.commitTimeout = config.getMs("request.timeout.ms");
  transactions.loadBufferSize = static_cast<size_t>(config.getInt("transaction.state.log.load.buffer.size"));
  transactions.transactionVersion = [&replicas] {
    return replicas.image()->features.level(metadata::kTransactionVersionFeature);
  };
  transactions.recorder = &recorder;
  return transactions;
}

}  // namespace

TransactionService::TransactionService(platform::Process& process, replication::ReplicaManager& replicas,
                                       GroupService& groups, ProducerIds& producerIds, NodeId self,
                                       const config::BrokerConfig& config, events::Recorder& recorder)
    : executor_(process.createExecutor({.name = "transaction-coordinator", .threads = 1})),
      producerIds_(producerIds),
      topic_(replicas, "__transaction_state",
             {.onPartitionCount = [this](int32_t count) { coordinator_.setPartitionCount(count); },
              .onBecomeLeader = [this](PartitionIndex partition,
                                       LeaderEpoch epoch) { coordinator_.onBecomeLeader(partition, epoch); },
              .onResign = [this](PartitionIndex partition) { coordinator_.onResign(partition); },
              .onHighWatermark =
                  [this](PartitionIndex partition, Offset highWatermark) {
                    coordinator_.onHighWatermark(partition, highWatermark);
                  }}),
      writer_(process, replicas, groups, config.getMs("request.timeout.ms")),
      markers_(process, executor_, writer_,
               {.self = self,
                .listener = config.interBrokerListenerName(),
                .requestTimeout = config.getMs("request.timeout.ms"),
                .image = [&replicas] { return replicas.image(); },
                .written =
                    [this](const coordinator::MarkerOrder& order, const std::vector<TopicPartition>& partitions) {
                      coordinator_.markersWritten(order, partitions);
                    }}),
      coordinator_({.executor = executor_,
                    .clock = &process.clock(),
                    .log = &process.log(),
                    .partitions = &topic_,
                    .producerIds = this,
                    .markers = &markers_},
                   settings(config, replicas, recorder)),
      verification_(process, executor_, coordinator_,
                    {.self = self,
                     .listener = config.interBrokerListenerName(),
                     .requestTimeout = config.getMs("request.timeout.ms"),
                     .retryBackoff = config.getMs("add.partitions.to.txn.retry.backoff.ms"),
                     .retryMax = config.getMs("add.partitions.to.txn.retry.backoff.max.ms"),
                     .image = [&replicas] { return replicas.image(); }}) {}

TransactionService::~TransactionService() = default;

void TransactionService::apply(const replication::MetadataChange& change, NodeId self) {
  topic_.apply(change, self);
  if (!change.partitions.empty() || !change.brokers.empty()) markers_.wake();
}

void TransactionService::stop() {
  coordinator_.stop();
  markers_.close();
  verification_.close();
}

}  // namespace tidemark::broker
