#pragma once

#include <string_view>

#include "metadata/controller/view.h"
#include "protocol/generated/create_partitions_request.h"
#include "protocol/generated/create_partitions_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"

// Topics come and go (Kafka's ReplicationControlManager and ControllerApis). Duplicates inside a request are answered
// here; authorization is the caller's, who leaves out what is not allowed.

namespace tidemark::metadata {

/// CreateTopics 2–7. Per topic: InvalidTopicException, TopicAlreadyExists, InvalidPartitions,
/// InvalidReplicationFactor, InvalidReplicaAssignment, InvalidConfig, InvalidRequest.
HandlerResult<protocol::CreateTopicsResponse> handle(const ControllerView& view,
                                                     const protocol::CreateTopicsRequest& request);
/// DeleteTopics 1–6, by name or by id.
HandlerResult<protocol::DeleteTopicsResponse> handle(const ControllerView& view,
                                                     const protocol::DeleteTopicsRequest& request);
/// CreatePartitions 0–3.
HandlerResult<protocol::CreatePartitionsResponse> handle(const ControllerView& view,
                                                         const protocol::CreatePartitionsRequest& request);

/// Kafka's rule for names: 1 to 249 of ASCII letters, digits, '.', '_' and '-', not "." nor "..".
/// InvalidTopicException says which part is broken.
Result<void> validateTopicName(std::string_view name);

/// The replicas that a request names: registered brokers, each once, at least one. InvalidReplicaAssignment.
Result<std::vector<NodeId>> checkManualReplicas(const ControllerView& view, const std::vector<int32_t>& brokerIds);

}  // namespace tidemark::metadata
