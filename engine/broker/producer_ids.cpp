#include "broker/producer_ids.h"

#include <fmt/format.h>

#include "broker/requests.h"
#include "protocol/generated/allocate_producer_ids_request.h"
#include "protocol/generated/allocate_producer_ids_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"

namespace tidemark::broker {

ProducerIds::ProducerIds(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find, NodeId self,
                         std::function<BrokerEpoch()> brokerEpoch)
    : executor_(executor),
      self_(self),
      brokerEpoch_(std::move(brokerEpoch)),
      channel_(process, executor, std::move(find),
               {.clientId = fmt::format("broker-{}-producer-ids", self), .retryTimeout = std::chrono::seconds(30)}) {}

ProducerIds::~ProducerIds() = default;

void ProducerIds::next(Answer answer) {
  executor_->post([this, answer = std::move(answer)]() mutable {
    waiting_.push_back(std::move(answer));
    serve();
  });
}

void ProducerIds::serve() {
  while (!waiting_.empty() && nextId_ < endId_) {
    Answer answer = std::move(waiting_.front());
    waiting_.pop_front();
    answer(ProducerId(nextId_++));
  }
  if (!waiting_.empty() && !underWay_) allocate();
}

void ProducerIds::allocate() {
  underWay_ = true;
  protocol::AllocateProducerIdsRequest request;
  request.brokerId = self_.value();
  request.brokerEpoch = brokerEpoch_().value();
  channel_.send(std::move(request), [this](Result<protocol::AllocateProducerIdsResponse> response) {
    underWay_ = false;
    if (response && response->errorCode == 0) {
      nextId_ = response->producerIdStart;
      endId_ = nextId_ + response->producerIdLen;
      serve();
      return;
    }
    std::deque<Answer> failed = std::exchange(waiting_, {});
    for (Answer& answer : failed) answer(fail(ErrorCode::CoordinatorLoadInProgress, "the controller gave no block of producer ids"));
  });
}

void ProducerIds::wake() {
  executor_->post([this] { channel_.wake(); });
}

void ProducerIds::close() {
  executor_->post([this] { channel_.close(); });
}

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

}  // namespace tidemark::broker
