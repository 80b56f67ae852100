#include "client/transactional_producer.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "client/client_codec.h"
#include "client/coordinator_lookup.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

namespace tidemark::client {
namespace {

/// The coordinator is elsewhere, or not ready: it is looked for again.
bool isOfCoordinator(ErrorCode code) {
  switch (code) {
    case ErrorCode::CoordinatorNotAvailable:
    case ErrorCode::NotCoordinator:
    case ErrorCode::NetworkException:
    case ErrorCode::RequestTimedOut:
      return true;
    default:
      return false;
  }
}

bool comesAgain(ErrorCode code) {
  return isOfCoordinator(code) || code == ErrorCode::CoordinatorLoadInProgress ||
         code == ErrorCode::ConcurrentTransactions || isRetriable(code);
}

}  // namespace

class TransactionalProducer::Core : public std::enable_shared_from_this<TransactionalProducer::Core> {
 public:
  Core(Client& client, TransactionalProducerOptions options)
      : client_(client), options_(std::move(options)), producer_(client, [&] {
          ProducerOptions inner = options_.producer;
          inner.transactionalId = options_.transactionalId;
          inner.idempotent = true;
          inner.acks = -1;
          return inner;
        }()) {}

  void begin(Done done);
  void send(ProducerRecord record, Producer::Handler handler);
  void sendOffsets(std::string group, Offsets offsets, Done done);
  void end(bool commit, Done done);
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }
  const Producer& producer() const noexcept { return producer_; }

 private:
  /// A coordinator: of transactions, or of a group.
  struct Coordinator {
    CoordinatorKind kind = CoordinatorKind::Transaction;
    std::string key;
    std::unique_ptr<network::Channel> channel;
  };

  /// Sends `request` until an answer comes that `errorOf` finds final; `use` gets it.
  template <class Request, class ErrorOf, class Use>
  void ask(Coordinator& coordinator, Request request, ErrorOf errorOf, Use use, Done done);
  void find(Coordinator& coordinator, platform::Task found, std::shared_ptr<Done> done, platform::MonotonicTime until);
  void again(platform::Task what, const Error& error, const std::shared_ptr<Done>& done, platform::MonotonicTime until);
  void sendEnd(bool commit, Done done);
  platform::MonotonicTime now() const { return client_.process().clock().monotonic(); }

  Client& client_;
  const TransactionalProducerOptions options_;
  Producer producer_;
  Coordinator transactions_{CoordinatorKind::Transaction, options_.transactionalId, nullptr};
  Coordinator group_{CoordinatorKind::Group, {}, nullptr};
  /// Of the first send that failed in this transaction.
  std::optional<Error> failed_;
  /// Something may have been added to the transaction.
  bool used_ = false;
  int attempts_ = 0;
  platform::Timer timer_;
  bool stopped_ = false;
};

void TransactionalProducer::Core::again(platform::Task what, const Error& error, const std::shared_ptr<Done>& done,
                                        platform::MonotonicTime until) {
  if (now() >= until) return (*done)(fail(ErrorCode::RequestTimedOut, fmt::format("gave up: {}", error.message)));
  timer_ = client_.executor().schedule(client_.backoff(++attempts_),
                                       [weak = weak_from_this(), what = std::move(what)]() mutable {
                                         const auto self = weak.lock();
                                         if (self && !self->stopped_) what();
                                       });
}

void TransactionalProducer::Core::find(Coordinator& coordinator, platform::Task found, std::shared_ptr<Done> done,
                                       platform::MonotonicTime until) {
  findCoordinator(client_, coordinator.kind, coordinator.key, options_.producer.requestTimeout,
                  [weak = weak_from_this(), &coordinator, found = std::move(found), done,
                   until](Result<CoordinatorPlace> place) mutable {
                    const auto self = weak.lock();
                    if (!self || self->stopped_) return;
                    if (place) {
                      self->client_.retire(std::move(coordinator.channel));
                      coordinator.channel = self->client_.newChannel(std::move(place->endpoint));
                      return found();
                    }
                    if (!comesAgain(place.error().code)) return (*done)(std::unexpected(place.error()));
                    platform::Task retry = [weak, &coordinator, found = std::move(found), done, until]() mutable {
                      const auto alive = weak.lock();
                      if (alive && !alive->stopped_) alive->find(coordinator, std::move(found), done, until);
                    };
                    self->again(std::move(retry), place.error(), done, until);
                  });
}

template <class Request, class ErrorOf, class Use>
void TransactionalProducer::Core::ask(Coordinator& coordinator, Request request, ErrorOf errorOf, Use use, Done done) {
  using Response = typename Request::Response;
  struct Call : std::enable_shared_from_this<Call> {
    Core* core;
    std::weak_ptr<Core> weak;
    Coordinator* coordinator;
    Request request;
    ErrorOf errorOf;
    Use use;
    std::shared_ptr<Done> done;
    platform::MonotonicTime until;

    Call(Core* inCore, Coordinator* at, Request what, ErrorOf error, Use how, Done told)
        : core(inCore),
          weak(inCore->weak_from_this()),
          coordinator(at),
          request(std::move(what)),
          errorOf(std::move(error)),
          use(std::move(how)),
          done(std::make_shared<Done>(std::move(told))),
          until(inCore->now() + inCore->options_.patience) {}

    void run() {
      if (!coordinator->channel)
        return core->find(*coordinator, [call = this->shared_from_this()] { call->run(); }, done, until);
      // By names: the newest versions want ids of topics that nobody may have asked for.
      coordinator->channel->send(Request(request), {.maxVersion = 5, .timeout = core->options_.producer.requestTimeout},
                                 [call = this->shared_from_this()](Result<network::Received<Response>> received) {
                                   const auto alive = call->weak.lock();
                                   if (alive && !alive->stopped_) call->answered(std::move(received));
                                 });
    }
    void answered(Result<network::Received<Response>> received) {
      const ErrorCode code = received ? errorOf(received->message) : received.error().code;
      if (code == ErrorCode::None) {
        core->attempts_ = 0;
        return use(received->message, *done);
      }
      if (isOfCoordinator(code)) core->client_.retire(std::move(coordinator->channel));
      const Error error{code, std::string(errorName(code))};
      if (!comesAgain(code)) return (*done)(std::unexpected(error));
      core->again([call = this->shared_from_this()] { call->run(); }, error, done, until);
    }
  };
  std::make_shared<Call>(this, &coordinator, std::move(request), std::move(errorOf), std::move(use), std::move(done))
      ->run();
}

void TransactionalProducer::Core::begin(Done done) {
  protocol::InitProducerIdRequest request;
  request.transactionalId = options_.transactionalId;
  request.transactionTimeoutMs = millis(options_.transactionTimeout);
  ask(
      transactions_, std::move(request),
      [](const auto& response) { return static_cast<ErrorCode>(response.errorCode); },
      [this](const protocol::InitProducerIdResponse& response, Done& told) {
        failed_.reset();
        used_ = false;
        producer_.adopt(ProducerId(response.producerId), ProducerEpoch(response.producerEpoch));
        told({});
      },
      std::move(done));
}

void TransactionalProducer::Core::send(ProducerRecord record, Producer::Handler handler) {
  used_ = true;
  producer_.send(std::move(record),
                 [weak = weak_from_this(), handler = std::move(handler)](Result<Delivered> delivered) mutable {
                   if (const auto self = weak.lock(); self && !delivered && !self->failed_)
                     self->failed_ = delivered.error();
                   if (handler) handler(std::move(delivered));
                 });
}

void TransactionalProducer::Core::sendOffsets(std::string group, Offsets offsets, Done done) {
  if (group_.key != group) {
    group_.key = group;
    client_.retire(std::move(group_.channel));
  }
  used_ = true;
  protocol::TxnOffsetCommitRequest request;
  request.transactionalId = options_.transactionalId;
  request.groupId = group;
  request.producerId = producer_.producerId().value();
  request.producerEpoch = producer_.producerEpoch().value();
  for (const auto& [where, offset] : offsets) {
    if (request.topics.empty() || request.topics.back().name != where.topic) {
      request.topics.emplace_back().name = where.topic;
      if (const auto* topic = client_.metadata().find(where.topic)) request.topics.back().topicId = topic->id;
    }
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partitionIndex = where.partition.value();
    partition.committedOffset = offset.value();
    partition.committedMetadata = "";
  }
  ask(
      group_, std::move(request),
      [](const protocol::TxnOffsetCommitResponse& response) {
        for (const auto& topic : response.topics)
          for (const auto& partition : topic.partitions)
            if (partition.errorCode != 0) return static_cast<ErrorCode>(partition.errorCode);
        return ErrorCode::None;
      },
      [](const protocol::TxnOffsetCommitResponse&, Done& told) { told({}); },
      [weak = weak_from_this(), done = std::move(done)](Result<void> result) mutable {
        if (const auto self = weak.lock(); self && !result && !self->failed_) self->failed_ = result.error();
        done(std::move(result));
      });
}

void TransactionalProducer::Core::end(bool commit, Done done) {
  if (!commit) {
    producer_.dropPending({ErrorCode::TransactionAbortable, "the transaction is aborted"});
    return sendEnd(false, std::move(done));
  }
  producer_.flush([weak = weak_from_this(), done = std::move(done)]() mutable {
    const auto self = weak.lock();
    if (!self || self->stopped_) return;
    if (self->failed_) return done(std::unexpected(*self->failed_));
    self->sendEnd(true, std::move(done));
  });
}

void TransactionalProducer::Core::sendEnd(bool commit, Done done) {
  if (!used_) {
    client_.executor().post([done = std::move(done)]() mutable { done({}); });
    return;
  }
  protocol::EndTxnRequest request;
  request.transactionalId = options_.transactionalId;
  request.producerId = producer_.producerId().value();
  request.producerEpoch = producer_.producerEpoch().value();
  request.committed = commit;
  ask(
      transactions_, std::move(request),
      [](const auto& response) { return static_cast<ErrorCode>(response.errorCode); },
      [this](const protocol::EndTxnResponse& response, Done& told) {
        failed_.reset();
        used_ = false;
        producer_.adopt(ProducerId(response.producerId), ProducerEpoch(response.producerEpoch));
        told({});
      },
      std::move(done));
}

TransactionalProducer::TransactionalProducer(Client& client, TransactionalProducerOptions options)
    : core_(std::make_shared<Core>(client, std::move(options))) {}

TransactionalProducer::~TransactionalProducer() {
  core_->stop();
}

void TransactionalProducer::begin(Done done) {
  core_->begin(std::move(done));
}

void TransactionalProducer::send(ProducerRecord record, Producer::Handler handler) {
  core_->send(std::move(record), std::move(handler));
}

void TransactionalProducer::sendOffsets(std::string group, Offsets offsets, Done done) {
  core_->sendOffsets(std::move(group), std::move(offsets), std::move(done));
}

void TransactionalProducer::end(bool commit, Done done) {
  core_->end(commit, std::move(done));
}

ProducerId TransactionalProducer::producerId() const noexcept {
  return core_->producer().producerId();
}

ProducerEpoch TransactionalProducer::producerEpoch() const noexcept {
  return core_->producer().producerEpoch();
}

}  // namespace tidemark::client
