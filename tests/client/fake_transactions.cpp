#include "client/fake_transactions.h"

#include <utility>

#include <fmt/format.h>

#include "network/request_codec.h"
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

namespace tidemark::test {

using protocol::ApiKey;

namespace {

constexpr int64_t kTransactionalProducer = 500;
constexpr int16_t kProduceThatAdds = 12;
constexpr int16_t kEndThatRaisesEpoch = 5;
constexpr int16_t kCommitThatAdds = 5;

}  // namespace

void FakeTransactions::serve(network::Request& request) {
  switch (request.apiKey()) {
    case ApiKey::InitProducerId:
      return initProducerId(request);
    case ApiKey::AddPartitionsToTxn:
      return addPartitions(request);
    case ApiKey::AddOffsetsToTxn:
      return addOffsets(request);
    case ApiKey::TxnOffsetCommit:
      return commitOffsets(request);
    case ApiKey::EndTxn:
      return end(request);
    default:
      return request.close();
  }
}

ErrorCode FakeTransactions::nextError(ApiKey key) {
  std::deque<ErrorCode>& left = errors[key];
  if (left.empty()) return ErrorCode::None;
  const ErrorCode error = left.front();
  left.pop_front();
  return error;
}

ErrorCode FakeTransactions::produced(const TopicPartition& where, int16_t version) {
  asked.push_back(fmt::format("Produce {} {}", version, where));
  if (version >= kProduceThatAdds) partitions.insert(where);
  return partitions.contains(where) ? ErrorCode::None : ErrorCode::InvalidTxnState;
}

void FakeTransactions::initProducerId(network::Request& request) {
  const auto decoded = request.decode<protocol::InitProducerIdRequest>();
  protocol::InitProducerIdResponse response;
  asked.push_back(decoded->producerId < 0 ? "InitProducerId"
                                          : fmt::format("InitProducerId of epoch {}", decoded->producerEpoch));
  const ErrorCode error = nextError(ApiKey::InitProducerId);
  response.errorCode = static_cast<int16_t>(error);
  if (error == ErrorCode::None) {
    partitions.clear();
    epoch = ProducerEpoch(static_cast<int16_t>(epoch.value() + 1));
    response.producerId = kTransactionalProducer;
    response.producerEpoch = epoch.value();
  }
  request.respond(response);
}

void FakeTransactions::addPartitions(network::Request& request) {
  const auto decoded = request.decode<protocol::AddPartitionsToTxnRequest>();
  std::string line = fmt::format("AddPartitionsToTxn {}", request.apiVersion());
  const ErrorCode error = nextError(ApiKey::AddPartitionsToTxn);
  protocol::AddPartitionsToTxnResponse response;
  for (const auto& topic : decoded->v3AndBelowTopics) {
    auto& results = response.resultsByTopicV3AndBelow;
    results.push_back({.name = topic.name, .resultsByPartition = {}});
    for (const int32_t index : topic.partitions) {
      line += fmt::format(" {}-{}", topic.name, index);
      results.back().resultsByPartition.push_back(
          {.partitionIndex = index, .partitionErrorCode = static_cast<int16_t>(error)});
      if (error == ErrorCode::None) partitions.insert({topic.name.str(), PartitionIndex(index)});
    }
  }
  asked.push_back(std::move(line));
  request.respond(response);
}

void FakeTransactions::addOffsets(network::Request& request) {
  const auto decoded = request.decode<protocol::AddOffsetsToTxnRequest>();
  asked.push_back(fmt::format("AddOffsetsToTxn {} {}", request.apiVersion(), decoded->groupId));
  const ErrorCode error = nextError(ApiKey::AddOffsetsToTxn);
  if (error == ErrorCode::None) groups.insert(decoded->groupId.str());
  protocol::AddOffsetsToTxnResponse response;
  response.errorCode = static_cast<int16_t>(error);
  request.respond(response);
}

void FakeTransactions::commitOffsets(network::Request& request) {
  const auto decoded = request.decode<protocol::TxnOffsetCommitRequest>();
  asked.push_back(fmt::format("TxnOffsetCommit {} {}", request.apiVersion(), decoded->groupId));
  ErrorCode error = nextError(ApiKey::TxnOffsetCommit);
  if (request.apiVersion() >= kCommitThatAdds) groups.insert(decoded->groupId.str());
  if (error == ErrorCode::None && !groups.contains(decoded->groupId.str())) error = ErrorCode::InvalidTxnState;
  protocol::TxnOffsetCommitResponse response;
  for (const auto& topic : decoded->topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    for (const auto& partition : topic.partitions) {
      answer.partitions.push_back(
          {.partitionIndex = partition.partitionIndex, .errorCode = static_cast<int16_t>(error)});
      if (error == ErrorCode::None)
        offsets[{topic.name.str(), PartitionIndex(partition.partitionIndex)}] = partition.committedOffset;
    }
  }
  request.respond(response);
}

void FakeTransactions::end(network::Request& request) {
  const auto decoded = request.decode<protocol::EndTxnRequest>();
  asked.push_back(fmt::format("EndTxn {} {}", request.apiVersion(), decoded->committed ? "commit" : "abort"));
  ErrorCode error = nextError(ApiKey::EndTxn);
  if (error == ErrorCode::None && decoded->producerEpoch != epoch.value()) error = ErrorCode::ProducerFenced;
  const bool raises = request.apiVersion() >= kEndThatRaisesEpoch;
  if (error == ErrorCode::None && !raises && partitions.empty() && groups.empty()) error = ErrorCode::InvalidTxnState;
  protocol::EndTxnResponse response;
  response.errorCode = static_cast<int16_t>(error);
  if (error == ErrorCode::None) {
    partitions.clear();
    groups.clear();
    if (raises) epoch = ProducerEpoch(static_cast<int16_t>(epoch.value() + 1));
    response.producerId = kTransactionalProducer;
    response.producerEpoch = epoch.value();
  }
  request.respond(response);
}

}  // namespace tidemark::test
