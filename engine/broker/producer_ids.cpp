#include "broker/producer_ids.h"

#include <fmt/format.h>

#include "protocol/generated/allocate_producer_ids_request.h"
#include "protocol/generated/allocate_producer_ids_response.h"

namespace tidemark::broker {

ProducerIds::ProducerIds(platform::Process& process, std::shared_ptr<platform::Executor> executor, FindController find,
                         NodeId self, std::function<BrokerEpoch()> brokerEpoch)
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
  channel_.send(request, [this](Result<protocol::AllocateProducerIdsResponse> response) {
    underWay_ = false;
    if (response && response->errorCode == 0) {
      nextId_ = response->producerIdStart;
      endId_ = nextId_ + response->producerIdLen;
      serve();
      return;
    }
    std::deque<Answer> failed = std::exchange(waiting_, {});
    for (Answer& answer : failed)
      answer(fail(ErrorCode::CoordinatorLoadInProgress, "the controller gave no block of producer ids"));
  });
}

void ProducerIds::wake() {
  executor_->post([this] { channel_.wake(); });
}

void ProducerIds::close() {
  executor_->post([this] { channel_.close(); });
}

}  // namespace tidemark::broker
