#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "client/client.h"
#include "client/gathered.h"

namespace tidemark::client {

namespace detail {
class Calls;
}

struct ListedTransaction {
  std::string transactionalId;
  ProducerId producer;
  /// As Kafka names it: "Ongoing", "CompleteCommit", …
  std::string state;
  NodeId coordinator;
};

struct TransactionDescription {
  std::string transactionalId;
  std::string state;
  ProducerId producer;
  ProducerEpoch epoch;
  std::chrono::milliseconds timeout{};
  /// Milliseconds since 1970; −1: none is open.
  int64_t startedMs = -1;
  std::vector<TopicPartition> partitions;
};

/// What a partition's leader knows of a producer.
struct ProducerOnPartition {
  TopicPartition partition;
  ProducerId producer;
  ProducerEpoch epoch;
  int32_t lastSequence = -1;
  int64_t lastTimestampMs = -1;
  int32_t coordinatorEpoch = -1;
  /// Where its open transaction begins; none: it has none.
  Offset transactionStart;
};

/// Whether an open transaction on a partition is one that no coordinator will end (KIP-664): nobody knows its producer,
/// or whoever does holds the partition for no part of the transaction. `known`: what the coordinator of the producer's
/// transactional id tells; null: no coordinator knows the producer.
bool isHanging(const ProducerOnPartition& producer, const TransactionDescription* known) noexcept;

/// Looks at the transactions of a cluster of any brokers that speak Kafka's protocol, and aborts what hangs. As Admin.
class TransactionAdmin {
 public:
  template <class T>
  using Handler = std::move_only_function<void(Result<T>)>;
  using Done = std::move_only_function<void(Result<void>)>;

  explicit TransactionAdmin(Client& client, platform::Duration timeout = std::chrono::seconds(60));
  ~TransactionAdmin();
  TransactionAdmin(const TransactionAdmin&) = delete;
  TransactionAdmin& operator=(const TransactionAdmin&) = delete;

  struct Filter {
    std::vector<std::string> states;
    std::vector<ProducerId> producers;
    /// Open for longer than that; −1: all. Brokers before ListTransactions 1 do not filter by it.
    std::chrono::milliseconds longerThan{-1};
  };
  /// Of all coordinators, by transactional id.
  void listTransactions(const Filter& filter, Handler<Gathered<ListedTransaction>> handler);
  /// TransactionalIdNotFound.
  void describeTransaction(std::string transactionalId, Handler<TransactionDescription> handler);
  /// Asked of the partition's leader.
  void describeProducers(TopicPartition partition, Handler<std::vector<ProducerOnPartition>> handler);
  /// Fences whoever uses this transactional id by a newer epoch, which aborts what is open; gives the new epoch.
  void fenceProducer(std::string transactionalId, Handler<ProducerEpoch> handler);
  /// Writes an abort marker for this producer to the partition's leader, past its coordinator: for what hangs.
  void abort(ProducerOnPartition which, Done done);

 private:
  std::shared_ptr<detail::Calls> core_;
};

}  // namespace tidemark::client
