#pragma once

#include "metadata/controller/view.h"
#include "protocol/generated/alter_partition_reassignments_request.h"
#include "protocol/generated/alter_partition_reassignments_response.h"
#include "protocol/generated/list_partition_reassignments_request.h"
#include "protocol/generated/list_partition_reassignments_response.h"

// Partitions move to other brokers (KIP-455). While one does, its replicas are the ones it shall have and, behind them,
// the ones that go; it is done when all that it shall have are in the ISR, which PartitionChangeBuilder sees.

namespace tidemark::metadata {

/// AlterPartitionReassignments 0–1. Per partition: UnknownTopicOrPartition, InvalidReplicaAssignment,
/// InvalidReplicationFactor (it would change and may not), NoReassignmentInProgress (nothing to cancel).
HandlerResult<protocol::AlterPartitionReassignmentsResponse> handle(
    const ControllerView& view, const protocol::AlterPartitionReassignmentsRequest& request);

/// ListPartitionReassignments 0: what is under way, of the partitions asked for or of all.
HandlerResult<protocol::ListPartitionReassignmentsResponse> handle(
    const ControllerView& view, const protocol::ListPartitionReassignmentsRequest& request);

}  // namespace tidemark::metadata
