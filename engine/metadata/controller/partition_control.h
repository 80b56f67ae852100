#pragma once

#include "metadata/controller/view.h"
#include "protocol/generated/alter_partition_request.h"
#include "protocol/generated/alter_partition_response.h"
#include "protocol/generated/assign_replicas_to_dirs_request.h"
#include "protocol/generated/assign_replicas_to_dirs_response.h"
#include "protocol/generated/elect_leaders_request.h"
#include "protocol/generated/elect_leaders_response.h"

// What becomes of partitions that exist: ISR, leaders, directories (Kafka's ReplicationControlManager).

namespace tidemark::metadata {

/// AlterPartition 2–3, from the leader of a partition: its new ISR. Per partition: UnknownTopicId,
/// UnknownTopicOrPartition, NotController (the leader knows more than we: we are no longer the controller),
/// FencedLeaderEpoch, InvalidUpdateVersion (an older partition epoch), InvalidRequest, IneligibleReplica (fenced,
/// shutting down or of another broker epoch), NewLeaderElected (it completed a reassignment). StaleBrokerEpoch for all.
HandlerResult<protocol::AlterPartitionResponse> handle(const ControllerView& view,
                                                       const protocol::AlterPartitionRequest& request);

/// ElectLeaders 0–2: type 0 makes the preferred replica lead, type 1 elects uncleanly where nobody leads.
HandlerResult<protocol::ElectLeadersResponse> handle(const ControllerView& view,
                                                     const protocol::ElectLeadersRequest& request);

/// AssignReplicasToDirs 0: in which of its directories a broker keeps replicas.
HandlerResult<protocol::AssignReplicasToDirsResponse> handle(const ControllerView& view,
                                                             const protocol::AssignReplicasToDirsRequest& request);

}  // namespace tidemark::metadata
