#include <algorithm>

#include <fmt/format.h>

#include "base/mutation.h"
#include "broker/leader_hint.h"
#include "broker/requests.h"
#include "broker/traffic.h"
#include "broker/transaction/transaction_service.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/batch.h"

// Produce 3–13 (shown from 0, see network/api_versions.h). Version 13 names topics by id.

namespace tidemark::broker {
namespace {

using protocol::ProduceRequest;
using protocol::ProduceResponse;

constexpr int16_t kProduceWithTopicIds = 13;
constexpr int16_t kProduceWithLeaderHint = 10;
constexpr int16_t kProduceWithAbortable = 11;
constexpr int16_t kProduceThatAddsPartitions = 12;

/// A partition of the request in the order of its answer.
struct Asked {
  std::string topic;
  Uuid topicId;
  PartitionIndex partition;
  Error refused{ErrorCode::None, {}};
  int64_t bytes = 0;
};

/// The records lie in the log, acknowledged by enough replicas or not.
bool isAppended(ErrorCode error) noexcept {
  return error == ErrorCode::None || error == ErrorCode::RequestTimedOut ||
         error == ErrorCode::NotEnoughReplicasAfterAppend;
}

/// What a refused produce would have brought is no traffic.
int64_t appendedBytes(const std::vector<Asked>& asked,
                      const std::vector<replication::ProduceResult>& results) noexcept {
  int64_t bytes = 0;
  size_t next = 0;
  for (const Asked& each : asked) {
    if (each.refused.code != ErrorCode::None) continue;
    if (isAppended(results[next++].error)) bytes += each.bytes;
  }
  return bytes;
}

bool isTransactional(ByteView batch) noexcept {
  return batch.size() >= records::kBatchHeaderSize &&
         (readBigEndian<int16_t>(batch.data() + records::kAttributesAt) & records::kTransactionalBit) != 0;
}

ProduceResponse answer(const BrokerContext& broker, const network::Request& request, const std::vector<Asked>& asked,
                       std::vector<replication::ProduceResult> results) {
  ProduceResponse response;
  size_t next = 0;
  for (const Asked& each : asked) {
    if (response.responses.empty() || response.responses.back().topicId != each.topicId ||
        response.responses.back().name != each.topic)
      response.responses.push_back(
          {.name = protocol::Text(each.topic), .topicId = each.topicId, .partitionResponses = {}});
    auto& partition = response.responses.back().partitionResponses.emplace_back();
    partition.index = each.partition.value();
    if (each.refused.code != ErrorCode::None) {
      partition.errorCode = static_cast<int16_t>(each.refused.code);
      partition.baseOffset = -1;
      if (!each.refused.message.empty()) partition.errorMessage = protocol::Text(each.refused.message);
      continue;
    }
    replication::ProduceResult& result = results[next++];
    partition.errorCode = static_cast<int16_t>(result.error);
    partition.baseOffset = result.error == ErrorCode::None ? result.baseOffset.value() : -1;
    partition.logAppendTimeMs = result.logAppendTimeMs;
    partition.logStartOffset = result.logStartOffset.value();
    if (!result.message.empty()) partition.errorMessage = protocol::Text(result.message);
    for (const records::RecordError& error : result.recordErrors)
      partition.recordErrors.push_back(
          {.batchIndex = error.batchIndex, .batchIndexErrorMessage = protocol::Text(error.message)});
    if (result.error == ErrorCode::NotLeaderOrFollower && request.apiVersion() >= kProduceWithLeaderHint) {
      const metadata::ImagePtr image = broker.image();
      addLeaderHint(*image, image->topics.partition(result.partition.topic, result.partition.partition),
                    request.context().listener(), partition, response);
    }
  }
  return response;
}

/// A produce on its way to the logs.
struct Produce {
  network::RequestPtr request;
  /// Holds the records until they are appended.
  network::FramePtr frame;
  std::string transactionalId;
  int16_t acks = 0;
  std::chrono::milliseconds timeout{};
  std::vector<Asked> asked;
  std::vector<replication::ProduceItem> items;
  /// For each item, its place in `asked`.
  std::vector<size_t> places;
};

void append(BrokerContext& broker, Produce produce) {
  const replication::RequestLabel label{.client = produce.request->context().clientId(),
                                        .correlation = produce.request->context().correlationId};
  const int16_t acks = produce.acks;
  const int16_t version = produce.request->apiVersion();
  const bool acksValid = acks == 0 || acks == 1 || acks == -1;
  broker.replicas.append(acksValid ? acks : int16_t{1}, produce.timeout, produce.items,
                         {.origin = records::Origin::Client, .apiVersion = version}, label,
                         [&broker, answered = std::move(produce.request), asked = std::move(produce.asked),
                          acks](std::vector<replication::ProduceResult> results) mutable {
                           broker.traffic.produced(appendedBytes(asked, results));
                           if (acks == 0) {
                             bool failed = false;
                             for (const Asked& each : asked) failed = failed || each.refused.code != ErrorCode::None;
                             for (const auto& result : results) failed = failed || result.error != ErrorCode::None;
                             // There is no answer to put an error into: closing makes the client look for the leader
                             // again.
                             if (failed) {
                               answered->close("a produce with acks=0 failed");
                             } else {
                               answered->noResponse();
                             }
                             return;
                           }
                           answered->respond(answer(broker, *answered, asked, std::move(results)));
                         });
}

VerificationMode verificationMode(int16_t version) {
  return version >= kProduceThatAddsPartitions ? VerificationMode::Add
         : version >= kProduceWithAbortable    ? VerificationMode::VerifyAbortable
                                               : VerificationMode::Verify;
}

/// The question for the coordinator: those partitions of the transaction in which it is not open yet.
TransactionVerification::Question questionOf(BrokerContext& broker, Produce& produce) {
  TransactionVerification::Question question{.transactionalId = produce.transactionalId,
                                             .producer = {},
                                             .partitions = {},
                                             .mode = verificationMode(produce.request->apiVersion())};
  if (question.mode != VerificationMode::Add && !broker.config()->getBool("transaction.partition.verification.enable"))
    return question;
  for (replication::ProduceItem& item : produce.items) {
    if (!isTransactional(item.records)) continue;
    const auto partition = broker.replicas.find(item.partition);
    // Who does not lead says so when it comes to the append.
    item.verification = log::kNotAsked;
    if (!partition || !partition->isLeader()) continue;
    if (isMutated(Mutation::UnaskedAppended) && !question.partitions.empty()) continue;
    const records::BatchHeader header = records::BatchHeader::read(item.records.data());
    const auto guard =
        partition->log()->beginVerification(header.producerId, header.producerEpoch, header.baseSequence);
    item.verification = guard.value_or(log::kWasOpen);
    if (!guard) continue;
    question.producer = {header.producerId, header.producerEpoch};
    question.partitions.insert(item.partition);
  }
  return question;
}

/// Takes out the items that are not in the transaction.
void applyAnswers(Produce& produce, const coordinator::PartitionErrors& errors) {
  std::vector<replication::ProduceItem> accepted;
  for (size_t i = 0; i < produce.items.size(); ++i) {
    const auto found =
        std::ranges::find(errors, produce.items[i].partition, &coordinator::PartitionErrors::value_type::first);
    if (found == errors.end() || found->second == ErrorCode::None) {
      accepted.push_back(produce.items[i]);
    } else {
      produce.asked[produce.places[i]].refused = {
          found->second, fmt::format("the partition is not in the transaction of {}", produce.transactionalId)};
    }
  }
  produce.items = std::move(accepted);
}

}  // namespace

void handleProduce(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<ProduceRequest>(std::move(request), [&broker](network::RequestPtr held, ProduceRequest message) {
    const int16_t acks = message.acks;
    const int16_t version = held->apiVersion();
    const bool byId = version >= kProduceWithTopicIds;
    const metadata::ImagePtr image = broker.image();
    std::vector<Asked> asked;
    std::vector<replication::ProduceItem> items;
    std::vector<size_t> places;
    bool transactional = false;
    const network::FramePtr frame = held->frame();
    const bool mayUseTransaction =
        message.transactionalId &&
        broker.allows(held->context(), network::AclOperation::Write, network::ResourceType::TransactionalId,
                      message.transactionalId->view());
    const bool acksValid = acks == 0 || acks == 1 || acks == -1;
    for (auto& topic : message.topicData) {
      Error refused{ErrorCode::None, {}};
      std::string name = topic.name.str();
      if (byId) {
        const metadata::TopicImage* known = image->topics.find(topic.topicId);
        if (known != nullptr) {
          name = known->name;
        } else {
          refused = {ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", topic.topicId)};
        }
      }
      if (!acksValid) {
        refused = {ErrorCode::InvalidRequiredAcks, fmt::format("acks is {}, it can be 0, 1 or -1", acks)};
      } else if (refused.code == ErrorCode::None &&
                 !broker.allows(held->context(), network::AclOperation::Write, network::ResourceType::Topic, name)) {
        refused = {ErrorCode::TopicAuthorizationFailed, fmt::format("not allowed to write to {}", name)};
      }
      for (auto& partition : topic.partitionData) {
        Asked& each = asked.emplace_back(Asked{.topic = byId ? std::string() : name,
                                               .topicId = topic.topicId,
                                               .partition = PartitionIndex(partition.index),
                                               .refused = refused});
        if (refused.code != ErrorCode::None) continue;
        if (partition.records.isNull()) {
          each.refused = {ErrorCode::InvalidRecord, "a produce without records"};
          continue;
        }
        // The records are stamped where they lie, in the request's own frame.
        const ByteView records = partition.records.view();
        if (isTransactional(records)) {
          if (!message.transactionalId || !mayUseTransaction) {
            each.refused = {ErrorCode::TransactionalIdAuthorizationFailed, "not allowed to write in that transaction"};
            continue;
          }
          transactional = true;
        }
        each.bytes = static_cast<int64_t>(records.size());
        const auto offset = records.data() - held->body().data();
        places.push_back(asked.size() - 1);
        items.push_back({.partition = {name, PartitionIndex(partition.index)},
                         .records = held->mutableBody().subspan(static_cast<size_t>(offset), records.size())});
      }
    }
    // The frame stays until the append is done, then goes: a parked produce holds no records.
    Produce produce{.request = std::move(held),
                    .frame = frame,
                    .transactionalId = message.transactionalId ? message.transactionalId->str() : std::string(),
                    .acks = acks,
                    .timeout = std::chrono::milliseconds(message.timeoutMs),
                    .asked = std::move(asked),
                    .items = std::move(items),
                    .places = std::move(places)};
    produce.request->releaseFrame();
    if (transactional) {
      auto question = questionOf(broker, produce);
      if (!question.partitions.empty()) {
        broker.transactions.verification().ask(
            std::move(question),
            [&broker, produce = std::move(produce)](const coordinator::PartitionErrors& errors) mutable {
              applyAnswers(produce, errors);
              append(broker, std::move(produce));
            });
        return;
      }
    }
    append(broker, std::move(produce));
  });
}

}  // namespace tidemark::broker
