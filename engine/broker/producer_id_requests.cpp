#include "broker/producer_ids.h"
#include "broker/requests.h"
#include "broker/transaction/transaction_service.h"
#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"

// InitProducerId 0–5, DescribeProducers 0.

namespace tidemark::broker {

namespace {

/// Before it a fenced producer is told INVALID_PRODUCER_EPOCH.
constexpr int16_t kFirstInitWithProducerFenced = 4;

protocol::InitProducerIdResponse initAnswer(ErrorCode error, coordinator::ProducerIdAndEpoch producer) {
  protocol::InitProducerIdResponse response;
  response.errorCode = static_cast<int16_t>(error);
  response.producerId = producer.id.value();
  response.producerEpoch = producer.epoch.value();
  return response;
}

/// Of a transactional id: from its coordinator.
void initTransactional(BrokerContext& broker, network::RequestPtr held, coordinator::BeginProducer begin) {
  held->releaseFrame();
  broker.transactions.coordinator().beginProducer(
      std::move(begin), [held = std::move(held)](const coordinator::ProducerAnswer& answer) {
        const bool old = answer.error == ErrorCode::ProducerFenced && held->apiVersion() < kFirstInitWithProducerFenced;
        held->respond(initAnswer(old ? ErrorCode::InvalidProducerEpoch : answer.error, answer.producer));
      });
}

}  // namespace

void handleInitProducerId(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::InitProducerIdRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::InitProducerIdRequest& message) {
        const auto refuse = [&held](ErrorCode error) { held->respond(initAnswer(error, {})); };
        if (message.transactionalId) {
          const std::string id = message.transactionalId->str();
          if (!broker.allows(held->context(), network::AclOperation::Write, network::ResourceType::TransactionalId, id))
            return refuse(ErrorCode::TransactionalIdAuthorizationFailed);
        } else if (!broker.allows(held->context(), network::AclOperation::IdempotentWrite,
                                  network::ResourceType::Cluster, network::kClusterResource)) {
          return refuse(ErrorCode::ClusterAuthorizationFailed);
        }
        const bool hasId = message.producerId != -1;
        // Half of what a producer believes to be.
        if (hasId != (message.producerEpoch != -1)) return refuse(ErrorCode::InvalidRequest);
        if (message.transactionalId) {
          coordinator::BeginProducer begin{.transactionalId = message.transactionalId->str(),
                                           .timeout = platform::milliseconds(message.transactionTimeoutMs),
                                           .expected = std::nullopt};
          if (hasId) begin.expected = {ProducerId(message.producerId), ProducerEpoch(message.producerEpoch)};
          return initTransactional(broker, std::move(held), std::move(begin));
        }
        // A producer that lost its place (KIP-360) and has no transactional id starts anew: another id is as good.
        held->releaseFrame();
        broker.producerIds.next([held = std::move(held)](Result<ProducerId> id) mutable {
          held->respond(id ? initAnswer(ErrorCode::None, {*id, ProducerEpoch(0)}) : initAnswer(id.error().code, {}));
        });
      });
}

void handleDescribeProducers(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::DescribeProducersRequest;
  using Response = protocol::DescribeProducersResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, const Request& message) {
    Response response;
    for (const auto& topic : message.topics) {
      auto& answered = response.topics.emplace_back();
      answered.name = topic.name;
      const bool allowed =
          broker.allows(held->context(), network::AclOperation::Read, network::ResourceType::Topic, topic.name.view());
      for (int32_t index : topic.partitionIndexes) {
        auto& answer = answered.partitions.emplace_back();
        answer.partitionIndex = index;
        const TopicPartition name{topic.name.str(), PartitionIndex(index)};
        const auto partition = broker.replicas.find(name);
        if (!allowed) {
          answer.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
        } else if (!partition) {
          answer.errorCode = static_cast<int16_t>(broker.replicas.whyMissing(name, Uuid()).code);
        } else if (!partition->isLeader()) {
          answer.errorCode = static_cast<int16_t>(ErrorCode::NotLeaderOrFollower);
        } else {
          for (const log::ProducerInfo& producer : partition->log()->producers())
            answer.activeProducers.push_back({.producerId = producer.producerId.value(),
                                              .producerEpoch = producer.producerEpoch.value(),
                                              .lastSequence = producer.lastSequence,
                                              .lastTimestamp = producer.lastTimestampMs,
                                              .coordinatorEpoch = producer.coordinatorEpoch,
                                              .currentTxnStartOffset = producer.currentTransactionStartOffset.value()});
        }
      }
    }
    held->respond(response);
  });
}

}  // namespace tidemark::broker
