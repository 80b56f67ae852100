#include "client/transactional_producer.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "client/client_codec.h"
#include "client/coordinator_calls.h"
#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_offsets_to_txn_response.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

namespace tidemark::client {
namespace {

constexpr std::string_view kFeature = "transaction.version";
/// From it on (KIP-890) a produce adds its partition, a commit of offsets that of the group, and each end raises the
/// epoch.
constexpr int16_t kVersionWithEpochs = 2;

/// The newest of a request that says nothing of what comes with that version.
constexpr int16_t kOldProduce = 11;
constexpr int16_t kOldTxnOffsetCommit = 4;
constexpr int16_t kOldEndTxn = 4;
/// By names: the newest version wants ids of topics that nobody may have asked for.
constexpr int16_t kTxnOffsetCommit = 5;
constexpr int16_t kEndTxn = 5;
constexpr int16_t kInitProducerId = 5;
/// From 4 on it is what brokers ask each other.
constexpr int16_t kAddPartitionsToTxn = 3;
constexpr int16_t kAddOffsetsToTxn = 4;

ErrorCode codeOf(const auto& response) {
  return static_cast<ErrorCode>(response.errorCode);
}

/// The first that says more than that another partition has one.
ErrorCode errorOfAdding(const protocol::AddPartitionsToTxnResponse& response) {
  ErrorCode first = ErrorCode::None;
  for (const auto& topic : response.resultsByTopicV3AndBelow) {
    for (const auto& partition : topic.resultsByPartition) {
      const auto error = static_cast<ErrorCode>(partition.partitionErrorCode);
      if (first == ErrorCode::None || first == ErrorCode::OperationNotAttempted) first = error;
    }
  }
  return first;
}

ErrorCode errorOfOffsets(const protocol::TxnOffsetCommitResponse& response) {
  for (const auto& topic : response.topics)
    for (const auto& partition : topic.partitions)
      if (partition.errorCode != 0) return static_cast<ErrorCode>(partition.errorCode);
  return ErrorCode::None;
}

}  // namespace

class TransactionalProducer::Core : public Running {
 public:
  Core(Client& client, TransactionalProducerOptions options)
      : Running(client),
        options_(std::move(options)),
        producer_(client,
                  [&] {
                    ProducerOptions inner = options_.producer;
                    inner.transactionalId = options_.transactionalId;
                    inner.idempotent = true;
                    inner.acks = -1;
                    return inner;
                  }()),
        transactions_(calls(CoordinatorKind::Transaction, options_.transactionalId)) {}

  /// `goesOn`: it has the id already, and takes the next epoch (KIP-360).
  void begin(bool goesOn, Done done);
  void send(ProducerRecord record, Producer::Handler handler);
  void sendOffsets(const std::string& group, Offsets offsets, Done done);
  void end(bool commit, Done done);
  void stop() override {
    Running::stop();
    transactions_->stop();
    if (group_) group_->stop();
  }
  const Producer& producer() const noexcept { return producer_; }
  int16_t version() const noexcept { return version_.value_or(0); }

 private:
  /// Below version 2: whether the coordinator knows the transaction.
  enum class Open : uint8_t { No, Maybe, Yes };

  std::shared_ptr<CoordinatorCalls> calls(CoordinatorKind kind, std::string key) {
    return std::make_shared<CoordinatorCalls>(
        client_, CoordinatorCalls::Setup{.kind = kind,
                                         .key = std::move(key),
                                         .requestTimeout = options_.producer.requestTimeout,
                                         .patience = options_.patience});
  }
  template <class Request>
  void sign(Request& request) const {
    request.transactionalId = options_.transactionalId;
    request.producerId = producer_.producerId().value();
    request.producerEpoch = producer_.producerEpoch().value();
  }

  bool raisesEpochs() const noexcept { return version() >= kVersionWithEpochs; }
  /// Between two transactions: works by the level that the cluster has now.
  void restart();
  void failed(const Error& error) {
    if (!failed_) failed_ = error;
  }

  // Below version 2.
  bool mayGo(const TopicPartition& where);
  void addSoon();
  void addWanted();
  void addOffsets(protocol::TxnOffsetCommitRequest commit, Done done);

  void commitOffsets(protocol::TxnOffsetCommitRequest request, Done done);
  void sendEnd(bool commit, Done done);
  void ended(const protocol::EndTxnResponse& response, Done done);

  const TransactionalProducerOptions options_;
  Producer producer_;
  const std::shared_ptr<CoordinatorCalls> transactions_;
  std::shared_ptr<CoordinatorCalls> group_;
  /// transaction.version; nothing before the first begin().
  std::optional<int16_t> version_;
  /// Of the first call or send that failed in this transaction.
  std::optional<Error> failed_;
  /// Something may have been added to the transaction.
  bool used_ = false;
  Open open_ = Open::No;
  std::set<TopicPartition> added_;
  /// Batches wait for these to be added.
  std::set<TopicPartition> wanted_;
  bool adding_ = false;
};

void TransactionalProducer::Core::restart() {
  failed_.reset();
  used_ = false;
  open_ = Open::No;
  added_.clear();
  wanted_.clear();
  const int16_t version = client_.features().level(kFeature);
  if (version_ == version) return;
  version_ = version;
  if (raisesEpochs()) return producer_.limit({}, INT16_MAX);
  producer_.limit([this](const TopicPartition& where) { return mayGo(where); }, kOldProduce);
}

void TransactionalProducer::Core::begin(bool goesOn, Done done) {
  protocol::InitProducerIdRequest request;
  request.transactionalId = options_.transactionalId;
  request.transactionTimeoutMs = millis(options_.transactionTimeout);
  if (goesOn) {
    request.producerId = producer_.producerId().value();
    request.producerEpoch = producer_.producerEpoch().value();
  }
  transactions_->ask(
      std::move(request), kInitProducerId, [](const auto& response) { return codeOf(response); },
      [this, done = std::move(done)](Result<protocol::InitProducerIdResponse> response) mutable {
        if (!response) return done(std::unexpected(std::move(response).error()));
        restart();
        producer_.adopt(ProducerId(response->producerId), ProducerEpoch(response->producerEpoch));
        done({});
      });
}

void TransactionalProducer::Core::send(ProducerRecord record, Producer::Handler handler) {
  used_ = true;
  producer_.send(std::move(record),
                 [this, weak = weak_from_this(), handler = std::move(handler)](Result<Delivered> delivered) mutable {
                   if (const auto self = weak.lock(); self && !delivered) failed(delivered.error());
                   if (handler) handler(std::move(delivered));
                 });
}

// --- Adding to the transaction, below version 2 ----------------------------------------------------------------------

bool TransactionalProducer::Core::mayGo(const TopicPartition& where) {
  if (added_.contains(where)) return true;
  wanted_.insert(where);
  addSoon();
  return false;
}

/// Those of one moment go together.
void TransactionalProducer::Core::addSoon() {
  if (std::exchange(adding_, true)) return;
  client_.executor().post(whileRunning([this] { addWanted(); }));
}

void TransactionalProducer::Core::addWanted() {
  // Its transaction may have been given up meanwhile.
  adding_ = !wanted_.empty();
  if (!adding_) return;
  open_ = std::max(open_, Open::Maybe);
  protocol::AddPartitionsToTxnRequest request;
  request.v3AndBelowTransactionalId = options_.transactionalId;
  request.v3AndBelowProducerId = producer_.producerId().value();
  request.v3AndBelowProducerEpoch = producer_.producerEpoch().value();
  for (const TopicPartition& each : wanted_) {
    auto& topics = request.v3AndBelowTopics;
    if (topics.empty() || topics.back().name != each.topic)
      topics.push_back({.name = protocol::Text(each.topic), .partitions = {}});
    topics.back().partitions.push_back(each.partition.value());
  }
  transactions_->ask(std::move(request), kAddPartitionsToTxn, errorOfAdding,
                     [this, asked = wanted_](const Result<protocol::AddPartitionsToTxnResponse>& response) {
                       adding_ = false;
                       if (!response) {
                         failed(response.error());
                         wanted_.clear();
                         return producer_.dropPending(response.error());
                       }
                       open_ = Open::Yes;
                       added_.insert(asked.begin(), asked.end());
                       std::erase_if(wanted_, [&](const TopicPartition& each) { return asked.contains(each); });
                       producer_.wake();
                       if (!wanted_.empty()) addSoon();
                     });
}

void TransactionalProducer::Core::addOffsets(protocol::TxnOffsetCommitRequest commit, Done done) {
  open_ = std::max(open_, Open::Maybe);
  protocol::AddOffsetsToTxnRequest request;
  sign(request);
  request.groupId = group_->key();
  transactions_->ask(
      std::move(request), kAddOffsetsToTxn, [](const auto& response) { return codeOf(response); },
      [this, commit = std::move(commit),
       done = std::move(done)](const Result<protocol::AddOffsetsToTxnResponse>& response) mutable {
        if (!response) {
          failed(response.error());
          return done(std::unexpected(response.error()));
        }
        open_ = Open::Yes;
        commitOffsets(std::move(commit), std::move(done));
      });
}

// --- Offsets ---------------------------------------------------------------------------------------------------------

void TransactionalProducer::Core::sendOffsets(const std::string& group, Offsets offsets, Done done) {
  if (!group_ || group_->key() != group) {
    if (group_) group_->stop();
    group_ = calls(CoordinatorKind::Group, group);
  }
  used_ = true;
  protocol::TxnOffsetCommitRequest request;
  sign(request);
  request.groupId = group;
  for (const auto& [where, position] : offsets) {
    if (request.topics.empty() || request.topics.back().name != where.topic) {
      request.topics.emplace_back().name = where.topic;
      if (const auto* topic = client_.metadata().find(where.topic)) request.topics.back().topicId = topic->id;
    }
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partitionIndex = where.partition.value();
    partition.committedOffset = position.offset.value();
    partition.committedLeaderEpoch = position.leaderEpoch.value();
    partition.committedMetadata = "";
  }
  if (raisesEpochs()) return commitOffsets(std::move(request), std::move(done));
  addOffsets(std::move(request), std::move(done));
}

void TransactionalProducer::Core::commitOffsets(protocol::TxnOffsetCommitRequest request, Done done) {
  group_->ask(std::move(request), raisesEpochs() ? kTxnOffsetCommit : kOldTxnOffsetCommit, errorOfOffsets,
              [this, done = std::move(done)](const Result<protocol::TxnOffsetCommitResponse>& response) mutable {
                if (response) return done({});
                failed(response.error());
                done(std::unexpected(response.error()));
              });
}

// --- The end ---------------------------------------------------------------------------------------------------------

void TransactionalProducer::Core::end(bool commit, Done done) {
  if (!commit) {
    wanted_.clear();
    producer_.dropPending({ErrorCode::TransactionAbortable, "the transaction is aborted"});
    return sendEnd(false, std::move(done));
  }
  producer_.flush(whileRunning([this, done = std::move(done)]() mutable {
    if (failed_) return done(std::unexpected(*failed_));
    sendEnd(true, std::move(done));
  }));
}

void TransactionalProducer::Core::sendEnd(bool commit, Done done) {
  if (!used_) {
    client_.executor().post([done = std::move(done)]() mutable { done({}); });
    return;
  }
  if (!raisesEpochs() && open_ == Open::No) {
    client_.executor().post(whileRunning([this, done = std::move(done)]() mutable { ended({}, std::move(done)); }));
    return;
  }
  protocol::EndTxnRequest request;
  sign(request);
  request.committed = commit;
  transactions_->ask(
      std::move(request), raisesEpochs() ? kEndTxn : kOldEndTxn,
      [this, commit](const protocol::EndTxnResponse& response) {
        const ErrorCode code = codeOf(response);
        // Nothing was added, as far as the coordinator knows: there is nothing to abort.
        const bool isNothing = !commit && !raisesEpochs() && open_ != Open::Yes;
        return isNothing && code == ErrorCode::InvalidTxnState ? ErrorCode::None : code;
      },
      [this, done = std::move(done)](const Result<protocol::EndTxnResponse>& response) mutable {
        if (!response) return done(std::unexpected(response.error()));
        ended(*response, std::move(done));
      });
}

void TransactionalProducer::Core::ended(const protocol::EndTxnResponse& response, Done done) {
  if (raisesEpochs()) {
    producer_.adopt(ProducerId(response.producerId), ProducerEpoch(response.producerEpoch));
  } else if (failed_) {
    // What nobody has answered may still come, and would belong to the next transaction: Kafka's client waits for what
    // is on its way, and takes the next epoch after an error as well.
    return begin(true, std::move(done));
  }
  restart();
  done({});
}

TransactionalProducer::TransactionalProducer(Client& client, TransactionalProducerOptions options)
    : core_(std::make_shared<Core>(client, std::move(options))) {}

TransactionalProducer::~TransactionalProducer() {
  core_->stop();
}

void TransactionalProducer::begin(Done done) {
  core_->begin(false, std::move(done));
}

void TransactionalProducer::send(ProducerRecord record, Producer::Handler handler) {
  core_->send(std::move(record), std::move(handler));
}

void TransactionalProducer::sendOffsets(const std::string& group, Offsets offsets, Done done) {
  core_->sendOffsets(group, std::move(offsets), std::move(done));
}

void TransactionalProducer::end(bool commit, Done done) {
  core_->end(commit, std::move(done));
}

int16_t TransactionalProducer::transactionVersion() const noexcept {
  return core_->version();
}

ProducerId TransactionalProducer::producerId() const noexcept {
  return core_->producer().producerId();
}

ProducerEpoch TransactionalProducer::producerEpoch() const noexcept {
  return core_->producer().producerEpoch();
}

}  // namespace tidemark::client
