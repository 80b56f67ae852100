#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "coordinator/transaction/transaction_coordinator.h"
#include "metadata/image.h"
#include "network/channel.h"
#include "platform/process.h"

namespace tidemark::broker {

/// What a produce or a commit of offsets may do for its transaction, by the version of its request.
enum class VerificationMode : uint8_t {
  /// Asks; errors are told in words that old clients know.
  Verify,
  /// Asks; TRANSACTION_ABORTABLE is known.
  VerifyAbortable,
  /// Adds (transaction.version 2): the client never says AddPartitionsToTxn itself.
  Add,
};

/// Asks transaction coordinators, here or at other brokers, whether partitions are in a transaction before its records
/// are appended (KIP-890); Kafka's AddPartitionsToTxnManager. Any thread.
class TransactionVerification {
 public:
  struct Setup {
    NodeId self;
    std::string listener;
    platform::Duration requestTimeout;
    /// add.partitions.to.txn.retry.backoff.ms and ….max.ms: while an earlier transaction still ends.
    platform::Duration retryBackoff;
    platform::Duration retryMax;
    std::function<metadata::ImagePtr()> image;
  };
  struct Question {
    std::string transactionalId;
    coordinator::ProducerIdAndEpoch producer;
    std::set<TopicPartition> partitions;
    VerificationMode mode = VerificationMode::Verify;
  };
  using Done = std::move_only_function<void(coordinator::PartitionErrors)>;

  TransactionVerification(platform::Process& process, std::shared_ptr<platform::Executor> executor,
                          coordinator::TransactionCoordinator& local, Setup setup);
  ~TransactionVerification();

  /// `done` gets an error for each partition, as the client shall be told it, on the executor.
  void ask(Question question, Done done);
  void close();

 private:
  struct Asked;
  using AskedPtr = std::shared_ptr<Asked>;
  struct Link {
    platform::Endpoint endpoint;
    std::unique_ptr<network::Channel> channel;
  };

  void attempt(const AskedPtr& asked);
  void askAt(NodeId node, const platform::Endpoint& at, const AskedPtr& asked);
  void answered(const AskedPtr& asked, coordinator::PartitionErrors errors);
  void refuse(const AskedPtr& asked, ErrorCode error);

  platform::Process& process_;
  const std::shared_ptr<platform::Executor> executor_;
  coordinator::TransactionCoordinator& local_;
  const Setup setup_;
  // Of the executor.
  std::map<NodeId, Link> links_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tidemark::broker
