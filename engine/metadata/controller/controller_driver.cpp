#include "metadata/controller/controller_driver.h"

#include "metadata/controller/cluster_control.h"
#include "metadata/controller/config_control.h"
#include "metadata/controller/controller_core.h"
#include "metadata/controller/feature_control.h"
#include "metadata/controller/partition_control.h"
#include "metadata/controller/reassignment_control.h"
#include "metadata/controller/topic_control.h"

namespace tidemark::metadata {

ControllerDriver::ControllerDriver(Setup setup) : core_(std::make_shared<Core>(std::move(setup))) {}

ControllerDriver::~ControllerDriver() = default;

template <class Request>
void ControllerDriver::submit(const Request& request, int16_t version,
                              ResponseHandler<typename Request::Response> handler) {
  using Response = typename Request::Response;
  // A copy owns its bytes; the frame that `request` borrows from may be gone by then.
  core_->executor().post([core = core_, copy = Request(request), version, handler = std::move(handler)]() mutable {
    core->template process<Response>(
        version, [&](const ControllerView& view) { return handle(view, copy); }, std::move(handler));
  });
}

ControllerStatus ControllerDriver::status() const {
  return core_->status();
}

void ControllerDriver::onCommitted(const CommittedState& state) {
  core_->executor().post([core = core_, state] { core->committed(state); });
}

void ControllerDriver::onLeaderChange(const raft::LeaderAndEpoch& leader, const CommittedState& state) {
  core_->executor().post([core = core_, leader, state] { core->leaderChanged(leader, state); });
}

#define TIDEMARK_SERVES(Request)                                            \
  template void ControllerDriver::submit(const protocol::Request&, int16_t, \
                                         ResponseHandler<protocol::Request::Response>)
TIDEMARK_SERVES(BrokerRegistrationRequest);
TIDEMARK_SERVES(BrokerHeartbeatRequest);
TIDEMARK_SERVES(UnregisterBrokerRequest);
TIDEMARK_SERVES(ControllerRegistrationRequest);
TIDEMARK_SERVES(UnregisterControllerRequest);
TIDEMARK_SERVES(CreateTopicsRequest);
TIDEMARK_SERVES(DeleteTopicsRequest);
TIDEMARK_SERVES(CreatePartitionsRequest);
TIDEMARK_SERVES(AlterPartitionRequest);
TIDEMARK_SERVES(AlterPartitionReassignmentsRequest);
TIDEMARK_SERVES(ListPartitionReassignmentsRequest);
TIDEMARK_SERVES(AssignReplicasToDirsRequest);
TIDEMARK_SERVES(ElectLeadersRequest);
TIDEMARK_SERVES(AlterConfigsRequest);
TIDEMARK_SERVES(IncrementalAlterConfigsRequest);
TIDEMARK_SERVES(UpdateFeaturesRequest);
TIDEMARK_SERVES(AllocateProducerIdsRequest);
#undef TIDEMARK_SERVES

}  // namespace tidemark::metadata
