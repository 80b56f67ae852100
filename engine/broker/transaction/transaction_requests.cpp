#include <algorithm>

#include "base/mutex.h"
#include "broker/auto_topics.h"
#include "broker/group_service.h"
#include "broker/requests.h"
#include "broker/transaction/transaction_service.h"
#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_offsets_to_txn_response.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"

// AddPartitionsToTxn 0–5, AddOffsetsToTxn 0–4, EndTxn 0–5, DescribeTransactions 0, ListTransactions 0–2: what may be
// asked is checked here, the rest is coordinator/transaction/.

namespace tidemark::broker {
namespace {

using coordinator::PartitionErrors;
using network::AclOperation;
using network::ResourceType;

/// Before it a fenced producer is told INVALID_PRODUCER_EPOCH.
constexpr int16_t kFirstWithProducerFenced = 2;
/// From it on AddPartitionsToTxn is what brokers ask, for several transactions at a time.
constexpr int16_t kFirstBatched = 4;
/// From it on EndTxn comes from producers of transaction.version 2.
constexpr int16_t kFirstEndWithEpochBump = 5;

int16_t codeFor(ErrorCode error, int16_t version) {
  const bool old = error == ErrorCode::ProducerFenced && version < kFirstWithProducerFenced;
  return static_cast<int16_t>(old ? ErrorCode::InvalidProducerEpoch : error);
}

bool mayWrite(const BrokerContext& broker, const network::Request& request, const protocol::Text& transactionalId) {
  return broker.allows(request.context(), AclOperation::Write, ResourceType::TransactionalId, transactionalId.view());
}

using TopicResults = std::vector<protocol::AddPartitionsToTxnResponse::AddPartitionsToTxnTopicResult>;

TopicResults resultsOf(const PartitionErrors& errors, int16_t version) {
  TopicResults results;
  for (const auto& [partition, error] : errors) {
    auto topic = std::ranges::find_if(results, [&](const auto& one) { return one.name == partition.topic; });
    if (topic == results.end())
      topic = results.insert(results.end(), {.name = protocol::Text(partition.topic), .resultsByPartition = {}});
    topic->resultsByPartition.push_back(
        {.partitionIndex = partition.partition.value(), .partitionErrorCode = codeFor(error, version)});
  }
  return results;
}

/// One transaction's partitions on their way: those that may not be added are known at once.
struct Checked {
  coordinator::AddPartitions request;
  PartitionErrors refused;
};

/// `topics` in either form of the request. If some may not be added, none is: the others get OPERATION_NOT_ATTEMPTED.
template <class Topics>
Checked check(const BrokerContext& broker, const network::Request& request, const protocol::Text& transactionalId,
              ProducerId producerId, ProducerEpoch epoch, bool verifyOnly, const Topics& topics) {
  Checked checked;
  checked.request = {.transactionalId = transactionalId.str(),
                     .producer = {producerId, epoch},
                     .partitions = {},
                     .verifyOnly = verifyOnly,
                     .clientVersion = request.apiVersion() >= kFirstBatched
                                          ? coordinator::kTransactionVersionWithEpochBump
                                          : int16_t{0}};
  const metadata::ImagePtr image = broker.image();
  // A broker that asks has asked its own authorizer.
  const bool allowed = request.apiVersion() >= kFirstBatched || mayWrite(broker, request, transactionalId);
  for (const auto& topic : topics) {
    const bool mayWriteTopic =
        request.apiVersion() >= kFirstBatched ||
        broker.allows(request.context(), AclOperation::Write, ResourceType::Topic, topic.name.view());
    for (const int32_t index : topic.partitions) {
      TopicPartition partition{topic.name.str(), PartitionIndex(index)};
      if (!allowed) {
        checked.refused.emplace_back(std::move(partition), ErrorCode::TransactionalIdAuthorizationFailed);
      } else if (!mayWriteTopic) {
        checked.refused.emplace_back(std::move(partition), ErrorCode::TopicAuthorizationFailed);
      } else if (image->topics.partition(partition.topic, partition.partition) == nullptr) {
        checked.refused.emplace_back(std::move(partition), ErrorCode::UnknownTopicOrPartition);
      } else {
        checked.request.partitions.insert(std::move(partition));
      }
    }
  }
  if (!checked.refused.empty())
    for (const TopicPartition& partition : checked.request.partitions)
      checked.refused.emplace_back(partition, ErrorCode::OperationNotAttempted);
  return checked;
}

void addTo(BrokerContext& broker, Checked checked, coordinator::Reply<PartitionErrors> reply) {
  if (!checked.refused.empty()) return reply(std::move(checked.refused));
  broker.transactions.coordinator().addPartitions(std::move(checked.request), std::move(reply));
}

/// Answers when the last transaction is answered for.
struct AddGather {
  AddGather(network::RequestPtr held, size_t transactions) : request(std::move(held)), left(transactions) {}

  void answer(size_t index, PartitionErrors errors) {
    {
      const Lock lock(mutex);
      response.resultsByTransaction[index].topicResults = resultsOf(errors, request->apiVersion());
      if (--left > 0) return;
    }
    request->respond(response);
  }

  network::RequestPtr request;
  protocol::AddPartitionsToTxnResponse response;
  Mutex mutex;
  size_t left;
};

}  // namespace

void handleAddPartitionsToTxn(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::AddPartitionsToTxnRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::AddPartitionsToTxnRequest& message) {
        const int16_t version = held->apiVersion();
        if (version < kFirstBatched) {
          Checked checked =
              check(broker, *held, message.v3AndBelowTransactionalId, ProducerId(message.v3AndBelowProducerId),
                    ProducerEpoch(message.v3AndBelowProducerEpoch), false, message.v3AndBelowTopics);
          held->releaseFrame();
          addTo(broker, std::move(checked), [held = std::move(held), version](PartitionErrors errors) {
            protocol::AddPartitionsToTxnResponse response;
            response.resultsByTopicV3AndBelow = resultsOf(errors, version);
            held->respond(response);
          });
          return;
        }
        protocol::AddPartitionsToTxnResponse response;
        if (!broker.allows(held->context(), AclOperation::ClusterAction, ResourceType::Cluster,
                           network::kClusterResource)) {
          response.errorCode = static_cast<int16_t>(ErrorCode::ClusterAuthorizationFailed);
          held->respond(response);
          return;
        }
        if (message.transactions.empty()) {
          held->respond(response);
          return;
        }
        std::vector<Checked> all;
        for (const auto& transaction : message.transactions) {
          response.resultsByTransaction.emplace_back().transactionalId =
              protocol::Text(transaction.transactionalId.str());
          all.push_back(check(broker, *held, transaction.transactionalId, ProducerId(transaction.producerId),
                              ProducerEpoch(transaction.producerEpoch), transaction.verifyOnly, transaction.topics));
        }
        held->releaseFrame();
        const auto gather = std::make_shared<AddGather>(std::move(held), all.size());
        gather->response = std::move(response);
        for (size_t i = 0; i < all.size(); ++i)
          addTo(broker, std::move(all[i]),
                [gather, i](PartitionErrors errors) { gather->answer(i, std::move(errors)); });
      });
}

void handleAddOffsetsToTxn(BrokerContext& broker, network::RequestPtr request) {
  using Response = protocol::AddOffsetsToTxnResponse;
  withDecoded<protocol::AddOffsetsToTxnRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::AddOffsetsToTxnRequest& message) {
        const auto refuse = [&held](ErrorCode error) {
          Response response;
          response.errorCode = codeFor(error, held->apiVersion());
          held->respond(response);
        };
        if (!mayWrite(broker, *held, message.transactionalId))
          return refuse(ErrorCode::TransactionalIdAuthorizationFailed);
        if (!broker.allows(held->context(), AclOperation::Read, ResourceType::Group, message.groupId.view()))
          return refuse(ErrorCode::GroupAuthorizationFailed);
        const auto partition = broker.groups.groups().partitionFor(message.groupId.view());
        if (!partition) {
          broker.autoTopics.request("__consumer_offsets");
          return refuse(ErrorCode::CoordinatorNotAvailable);
        }
        coordinator::AddPartitions add{
            .transactionalId = message.transactionalId.str(),
            .producer = {ProducerId(message.producerId), ProducerEpoch(message.producerEpoch)},
            .partitions = {{"__consumer_offsets", *partition}},
            .verifyOnly = false,
            .clientVersion = 0};
        held->releaseFrame();
        broker.transactions.coordinator().addPartitions(
            std::move(add), [held = std::move(held)](const PartitionErrors& errors) {
              Response response;
              response.errorCode = codeFor(errors.front().second, held->apiVersion());
              held->respond(response);
            });
      });
}

void handleEndTxn(BrokerContext& broker, network::RequestPtr request) {
  using Response = protocol::EndTxnResponse;
  withDecoded<protocol::EndTxnRequest>(std::move(request), [&broker](network::RequestPtr held,
                                                                     const protocol::EndTxnRequest& message) {
    if (!mayWrite(broker, *held, message.transactionalId)) {
      Response response;
      response.errorCode = static_cast<int16_t>(ErrorCode::TransactionalIdAuthorizationFailed);
      held->respond(response);
      return;
    }
    coordinator::EndTransaction end{.transactionalId = message.transactionalId.str(),
                                    .producer = {ProducerId(message.producerId), ProducerEpoch(message.producerEpoch)},
                                    .commit = message.committed,
                                    .clientVersion = held->apiVersion() >= kFirstEndWithEpochBump
                                                         ? coordinator::kTransactionVersionWithEpochBump
                                                         : int16_t{0}};
    held->releaseFrame();
    broker.transactions.coordinator().end(std::move(end),
                                          [held = std::move(held)](const coordinator::ProducerAnswer& answer) {
                                            Response response;
                                            response.errorCode = codeFor(answer.error, held->apiVersion());
                                            response.producerId = answer.producer.id.value();
                                            response.producerEpoch = answer.producer.epoch.value();
                                            held->respond(response);
                                          });
  });
}

void handleDescribeTransactions(BrokerContext& broker, network::RequestPtr request) {
  using Response = protocol::DescribeTransactionsResponse;
  withDecoded<protocol::DescribeTransactionsRequest>(
      std::move(request), [&broker](network::RequestPtr held, protocol::DescribeTransactionsRequest message) {
        Response refused;
        std::erase_if(message.transactionalIds, [&](const protocol::Text& id) {
          if (broker.allows(held->context(), AclOperation::Describe, ResourceType::TransactionalId, id.view()))
            return false;
          auto& answer = refused.transactionStates.emplace_back();
          answer.transactionalId = id;
          answer.errorCode = static_cast<int16_t>(ErrorCode::TransactionalIdAuthorizationFailed);
          return true;
        });
        broker.transactions.coordinator().describe(
            message, [&broker, held = std::move(held), refused = std::move(refused)](Response response) mutable {
              // Of the topics only those are shown that may be.
              for (auto& state : response.transactionStates)
                std::erase_if(state.topics, [&](const auto& topic) { return !broker.mayDescribe(*held, topic.topic); });
              for (auto& state : refused.transactionStates) response.transactionStates.push_back(std::move(state));
              held->respond(response);
            });
      });
}

void handleListTransactions(BrokerContext& broker, network::RequestPtr request) {
  using Response = protocol::ListTransactionsResponse;
  withDecoded<protocol::ListTransactionsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::ListTransactionsRequest& message) {
        broker.transactions.coordinator().list(message, [&broker, held = std::move(held)](Response response) {
          std::erase_if(response.transactionStates, [&](const auto& state) {
            return !broker.allows(held->context(), AclOperation::Describe, ResourceType::TransactionalId,
                                  state.transactionalId.view());
          });
          held->respond(response);
        });
      });
}

}  // namespace tidemark::broker
