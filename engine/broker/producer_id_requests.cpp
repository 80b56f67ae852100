#include "broker/producer_ids.h"
#include "broker/requests.h"
#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"

// InitProducerId 0–5 for idempotent producers, DescribeProducers 0.

namespace tidemark::broker {

void handleInitProducerId(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::InitProducerIdRequest>(std::move(request), [&broker](network::RequestPtr held, const protocol::InitProducerIdRequest& message) {
    const auto refuse = [&held](ErrorCode error) {
      protocol::InitProducerIdResponse response;
      response.errorCode = static_cast<int16_t>(error);
      response.producerId = -1;
      response.producerEpoch = -1;
      held->respond(response);
    };
    // Transactions come with their coordinator.
    if (message.transactionalId) return refuse(ErrorCode::CoordinatorNotAvailable);
    if (!broker.allows(held->context(), network::AclOperation::IdempotentWrite, network::ResourceType::Cluster, network::kClusterResource))
      return refuse(ErrorCode::ClusterAuthorizationFailed);
    // A producer that lost its place (KIP-360) and has no transactional id starts anew: another id is as good.
    held->releaseFrame();
    broker.producerIds.next([held = std::move(held)](Result<ProducerId> id) mutable {
      protocol::InitProducerIdResponse response;
      response.errorCode = static_cast<int16_t>(id ? ErrorCode::None : id.error().code);
      response.producerId = id ? id->value() : -1;
      response.producerEpoch = id ? int16_t{0} : int16_t{-1};
      held->respond(response);
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
      const bool allowed = broker.allows(held->context(), network::AclOperation::Read, network::ResourceType::Topic, topic.name.view());
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
