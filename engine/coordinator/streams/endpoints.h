#pragma once

#include <vector>

#include "coordinator/request_info.h"
#include "coordinator/streams/configured_topology.h"
#include "coordinator/streams/streams_member.h"
#include "protocol/generated/streams_group_heartbeat_response.h"

namespace tidemark::coordinator {

/// Adds which partitions are served at a member's endpoint (interactive queries, KIP-1071): those of its active tasks,
/// and those of which it has a copy. Nothing for a member without one, or while the topology has no numbers.
void addEndpoint(const StreamsMember& member, const ConfiguredTopology& topology, const TopicLookup& topics,
                 std::vector<protocol::StreamsGroupHeartbeatResponse::EndpointToPartitions>& into);

}  // namespace tidemark::coordinator
