#pragma once

#include "metadata/controller/view.h"
#include "protocol/generated/broker_heartbeat_request.h"
#include "protocol/generated/broker_heartbeat_response.h"
#include "protocol/generated/broker_registration_request.h"
#include "protocol/generated/broker_registration_response.h"
#include "protocol/generated/controller_registration_request.h"
#include "protocol/generated/controller_registration_response.h"
#include "protocol/generated/unregister_broker_request.h"
#include "protocol/generated/unregister_broker_response.h"
#include "protocol/generated/unregister_controller_request.h"
#include "protocol/generated/unregister_controller_response.h"

// Who is in the cluster: registrations, heartbeats, fencing (Kafka's ClusterControlManager).

namespace tidemark::metadata {

/// BrokerRegistration 0–4. A new incarnation gets a new epoch, the offset of the records that register it, and starts
/// fenced; the same incarnation amends its registration. Errors: InconsistentClusterId, DuplicateBrokerRegistration
/// (another incarnation has a valid session), InvalidRegistration, UnsupportedVersion (a finalized feature it lacks).
HandlerResult<protocol::BrokerRegistrationResponse> handle(const ControllerView& view,
                                                           const protocol::BrokerRegistrationRequest& request);

/// BrokerHeartbeat 0–2: the state machine fenced → unfenced → controlled shutdown → shut down. StaleBrokerEpoch.
HandlerResult<protocol::BrokerHeartbeatResponse> handle(const ControllerView& view,
                                                        const protocol::BrokerHeartbeatRequest& request);

HandlerResult<protocol::UnregisterBrokerResponse> handle(const ControllerView& view,
                                                         const protocol::UnregisterBrokerRequest& request);
HandlerResult<protocol::ControllerRegistrationResponse> handle(const ControllerView& view,
                                                               const protocol::ControllerRegistrationRequest& request);
HandlerResult<protocol::UnregisterControllerResponse> handle(const ControllerView& view,
                                                             const protocol::UnregisterControllerRequest& request);

/// Fences the broker whose session ran out first, if there is one; the answer is that broker.
Outcome<std::optional<NodeId>> fenceStaleBroker(const ControllerView& view);

}  // namespace tidemark::metadata
