#include "broker/transaction/transaction_verification.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "network/channel_codec.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"

namespace tidemark::broker {
namespace {

/// The first version that asks for several transactions and may only verify: brokers' own.
constexpr int16_t kFirstBatchedVersion = 4;

/// As the client is told. What passes becomes an error upon which all clients try again.
ErrorCode toldToClient(ErrorCode error, VerificationMode mode) {
  switch (error) {
    case ErrorCode::ProducerFenced:
      return ErrorCode::InvalidProducerEpoch;
    case ErrorCode::TransactionAbortable:
      return mode == VerificationMode::Verify ? ErrorCode::InvalidTxnState : error;
    case ErrorCode::ConcurrentTransactions:
      return mode == VerificationMode::Add ? error : ErrorCode::NotEnoughReplicas;
    case ErrorCode::NetworkException:
    case ErrorCode::RequestTimedOut:
    case ErrorCode::CoordinatorLoadInProgress:
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::NotCoordinator:
      return ErrorCode::NotEnoughReplicas;
    default:
      return error;
  }
}

}  // namespace

struct TransactionVerification::Asked {
  Question question;
  Done done;
  platform::MonotonicTime retryUntil;
  platform::Timer retry;
};

TransactionVerification::TransactionVerification(platform::Process& process,
                                                 std::shared_ptr<platform::Executor> executor,
                                                 coordinator::TransactionCoordinator& local, Setup setup)
    : process_(process), executor_(std::move(executor)), local_(local), setup_(std::move(setup)) {}

TransactionVerification::~TransactionVerification() = default;

void TransactionVerification::ask(Question question, Done done) {
  const auto asked = std::make_shared<Asked>();
  asked->question = std::move(question);
  asked->done = std::move(done);
  asked->retryUntil = process_.clock().monotonic() + setup_.retryMax;
  executor_->post([this, alive = std::weak_ptr(alive_), asked] {
    if (!alive.expired()) attempt(asked);
  });
}

void TransactionVerification::attempt(const AskedPtr& asked) {
  const Question& question = asked->question;
  const auto partition = local_.partitionFor(question.transactionalId);
  if (!partition) return refuse(asked, ErrorCode::CoordinatorNotAvailable);
  const metadata::ImagePtr image = setup_.image();
  const metadata::PartitionRegistration* registration = image->topics.partition("__transaction_state", *partition);
  const NodeId leader = registration != nullptr ? registration->leader : kNoNode;
  if (leader == setup_.self) {
    local_.addPartitions({.transactionalId = question.transactionalId,
                          .producer = question.producer,
                          .partitions = question.partitions,
                          .verifyOnly = question.mode != VerificationMode::Add,
                          .clientVersion = coordinator::kTransactionVersionWithEpochBump},
                         [this, alive = std::weak_ptr(alive_), asked](coordinator::PartitionErrors errors) {
                           if (!alive.expired()) answered(asked, std::move(errors));
                         });
    return;
  }
  const metadata::BrokerRegistration* broker = image->cluster.broker(leader);
  const metadata::Endpoint* endpoint =
      broker != nullptr && !broker->fenced ? broker->endpoint(setup_.listener) : nullptr;
  if (endpoint == nullptr) return refuse(asked, ErrorCode::CoordinatorNotAvailable);
  askAt(leader, {endpoint->host, endpoint->port}, asked);
}

void TransactionVerification::askAt(NodeId node, const platform::Endpoint& at, const AskedPtr& asked) {
  Link& link = links_[node];
  if (!link.channel || link.endpoint != at) {
    link.endpoint = at;
    network::ChannelOptions options;
    options.clientId = fmt::format("broker-{}-txn-verification", setup_.self);
    options.requestTimeout = setup_.requestTimeout;
    link.channel = std::make_unique<network::Channel>(process_, executor_, at, std::move(options));
  }
  const Question& question = asked->question;
  protocol::AddPartitionsToTxnRequest request;
  auto& transaction = request.transactions.emplace_back();
  transaction.transactionalId = question.transactionalId;
  transaction.producerId = question.producer.id.value();
  transaction.producerEpoch = question.producer.epoch.value();
  transaction.verifyOnly = question.mode != VerificationMode::Add;
  for (const TopicPartition& partition : question.partitions) {
    if (transaction.topics.empty() || transaction.topics.back().name != partition.topic)
      transaction.topics.push_back({.name = protocol::Text(partition.topic), .partitions = {}});
    transaction.topics.back().partitions.push_back(partition.partition.value());
  }
  link.channel->send(std::move(request), {},
                     [this, alive = std::weak_ptr(alive_),
                      asked](Result<network::Received<protocol::AddPartitionsToTxnResponse>> received) {
                       if (alive.expired()) return;
                       if (!received || received->version < kFirstBatchedVersion)
                         return refuse(asked, ErrorCode::NetworkException);
                       if (received->message.errorCode != 0)
                         return refuse(asked, static_cast<ErrorCode>(received->message.errorCode));
                       coordinator::PartitionErrors errors;
                       for (const auto& result : received->message.resultsByTransaction)
                         for (const auto& topic : result.topicResults)
                           for (const auto& answer : topic.resultsByPartition)
                             errors.emplace_back(
                                 TopicPartition{topic.name.str(), PartitionIndex(answer.partitionIndex)},
                                 static_cast<ErrorCode>(answer.partitionErrorCode));
                       answered(asked, std::move(errors));
                     });
}

void TransactionVerification::answered(const AskedPtr& asked, coordinator::PartitionErrors errors) {
  bool concurrent = false;
  for (const auto& [partition, error] : errors) concurrent = concurrent || error == ErrorCode::ConcurrentTransactions;
  // The markers of the producer's last transaction are on their way: it is not worth a round trip to the client.
  if (concurrent && asked->question.mode == VerificationMode::Add && process_.clock().monotonic() < asked->retryUntil) {
    asked->retry = executor_->schedule(setup_.retryBackoff, [this, alive = std::weak_ptr(alive_), asked] {
      if (!alive.expired()) attempt(asked);
    });
    return;
  }
  for (auto& [partition, error] : errors) error = toldToClient(error, asked->question.mode);
  asked->done(std::move(errors));
}

void TransactionVerification::refuse(const AskedPtr& asked, ErrorCode error) {
  coordinator::PartitionErrors errors;
  for (const TopicPartition& partition : asked->question.partitions)
    errors.emplace_back(partition, toldToClient(error, asked->question.mode));
  asked->done(std::move(errors));
}

void TransactionVerification::close() {
  executor_->post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) links_.clear();
  });
}

}  // namespace tidemark::broker
