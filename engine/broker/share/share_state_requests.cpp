#include "broker/requests.h"
#include "broker/share/share_state_service.h"
#include "protocol/generated/delete_share_group_state_request.h"
#include "protocol/generated/delete_share_group_state_response.h"
#include "protocol/generated/initialize_share_group_state_request.h"
#include "protocol/generated/initialize_share_group_state_response.h"
#include "protocol/generated/read_share_group_state_request.h"
#include "protocol/generated/read_share_group_state_response.h"
#include "protocol/generated/read_share_group_state_summary_request.h"
#include "protocol/generated/read_share_group_state_summary_response.h"
#include "protocol/generated/write_share_group_state_request.h"
#include "protocol/generated/write_share_group_state_response.h"

// What brokers ask the share coordinator.

namespace tidemark::broker {
namespace {

using coordinator::ShareStateCoordinator;

template <class Request>
void handleShareState(BrokerContext& broker, network::RequestPtr request,
                      void (ShareStateCoordinator::*serve)(const Request&,
                                                           coordinator::Reply<typename Request::Response>)) {
  using Response = typename Request::Response;
  withDecoded<Request>(std::move(request), [&](network::RequestPtr held, const Request& message) {
    if (!broker.allows(held->context(), network::AclOperation::ClusterAction, network::ResourceType::Cluster,
                       network::kClusterResource)) {
      Response refused;
      for (const auto& topic : message.topics) {
        auto& result = refused.results.emplace_back();
        result.topicId = topic.topicId;
        for (const auto& partition : topic.partitions) {
          auto& one = result.partitions.emplace_back();
          one.partition = partition.partition;
          one.errorCode = static_cast<int16_t>(ErrorCode::ClusterAuthorizationFailed);
        }
      }
      held->respond(refused);
      return;
    }
    const network::FramePtr frame = held->frame();
    held->releaseFrame();
    (broker.shareStates.states().*serve)(
        message, [answered = std::move(held)](Response response) mutable { answered->respond(response); });
  });
}

}  // namespace

void handleInitializeShareGroupState(BrokerContext& broker, network::RequestPtr request) {
  handleShareState(broker, std::move(request), &ShareStateCoordinator::initialize);
}
void handleReadShareGroupState(BrokerContext& broker, network::RequestPtr request) {
  handleShareState(broker, std::move(request), &ShareStateCoordinator::read);
}
void handleWriteShareGroupState(BrokerContext& broker, network::RequestPtr request) {
  handleShareState(broker, std::move(request), &ShareStateCoordinator::write);
}
void handleDeleteShareGroupState(BrokerContext& broker, network::RequestPtr request) {
  handleShareState(broker, std::move(request), &ShareStateCoordinator::remove);
}
void handleReadShareGroupStateSummary(BrokerContext& broker, network::RequestPtr request) {
  handleShareState(broker, std::move(request), &ShareStateCoordinator::summarize);
}

}  // namespace tidemark::broker
