#include "transaction_load.h"

#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/batch_builder.h"

namespace tidemark::bench {

using namespace protocol;

namespace {

constexpr int16_t kInitVersion = 5, kProduceVersion = 12, kEndVersion = 5;
constexpr int32_t kTimeoutMs = 60'000;
/// Before what had to wait is sent again.
constexpr std::chrono::milliseconds kRetryAfter{2};

}  // namespace

TransactionLoad::TransactionLoad(Links& links, std::string prefix, std::string topic, int32_t partitions,
                                 size_t producers)
    : links_(links), topic_(std::move(topic)), partitions_(partitions) {
  for (size_t i = 0; i < producers; ++i) {
    producers_.emplace_back().transactionalId = fmt::format("{}-{:05}", prefix, i);
  }
}

void TransactionLoad::init(size_t producer) {
  InitProducerIdRequest request;
  request.transactionalId = Text(producers_[producer].transactionalId);
  request.transactionTimeoutMs = kTimeoutMs;
  links_.ask(producer, request, kInitVersion, [this, producer](const InitProducerIdResponse& response) {
    if (mayBeSentAgain(response.errorCode)) return links_.later(kRetryAfter, [this, producer] { init(producer); });
    expect(response.errorCode, "InitProducerId");
    producers_[producer].id = response.producerId;
    producers_[producer].epoch = response.producerEpoch;
  });
}

void TransactionLoad::begin() {
  findCoordinator(links_, CoordinatorOf::Transaction, producers_.front().transactionalId);
  for (size_t i = 0; i < producers_.size(); ++i) init(i);
  links_.run();
}

void TransactionLoad::produce(size_t producer, size_t times) {
  if (times == 0) return;
  static const ByteVector kValue(100, 0x5a);
  const Producer& who = producers_[producer];
  records::BatchOptions options;
  options.producerId = ProducerId(who.id);
  options.producerEpoch = ProducerEpoch(who.epoch);
  options.baseSequence = 0;
  options.transactional = true;
  records::BatchBuilder batch(options);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  batch.append(std::chrono::floor<std::chrono::milliseconds>(now).count(), std::nullopt, ByteView(kValue));
  ProduceRequest request;
  request.transactionalId = Text::borrowed(who.transactionalId);
  request.acks = -1;
  request.timeoutMs = kTimeoutMs;
  auto& topic = request.topicData.emplace_back();
  topic.name = Text::borrowed(topic_);
  auto& partition = topic.partitionData.emplace_back();
  partition.index = static_cast<int32_t>(producer) % partitions_;
  partition.records = Records(batch.build());
  links_.ask(producer, request, kProduceVersion, [this, producer, times](const ProduceResponse& response) {
    const int16_t error = response.responses.at(0).partitionResponses.at(0).errorCode;
    if (mayBeSentAgain(error)) {
      return links_.later(kRetryAfter, [this, producer, times] { produce(producer, times); });
    }
    expect(error, "Produce");
    end(producer, times);
  });
}

void TransactionLoad::end(size_t producer, size_t times) {
  const Producer& who = producers_[producer];
  EndTxnRequest request;
  request.transactionalId = Text::borrowed(who.transactionalId);
  request.producerId = who.id;
  request.producerEpoch = who.epoch;
  request.committed = true;
  links_.ask(producer, request, kEndVersion, [this, producer, times](const EndTxnResponse& response) {
    if (mayBeSentAgain(response.errorCode)) {
      return links_.later(kRetryAfter, [this, producer, times] { end(producer, times); });
    }
    expect(response.errorCode, "EndTxn");
    producers_[producer].id = response.producerId;
    producers_[producer].epoch = response.producerEpoch;
    produce(producer, times - 1);
  });
}

void TransactionLoad::commit(size_t times) {
  for (size_t i = 0; i < producers_.size(); ++i) produce(i, times);
  links_.run();
}

}  // namespace tidemark::bench
