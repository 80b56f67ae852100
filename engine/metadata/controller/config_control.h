#pragma once

#include "metadata/controller/view.h"
#include "protocol/generated/alter_configs_request.h"
#include "protocol/generated/alter_configs_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"

// Dynamic configurations of topics, brokers, groups and client-metrics subscriptions (Kafka's
// ConfigurationControlManager). Loggers are no business of the log: the broker answers for them.

namespace tidemark::metadata {

/// IncrementalAlterConfigs 0–1: set, delete, append to and subtract from lists. Per resource: InvalidConfig,
/// InvalidRequest, UnknownTopicOrPartition (no such topic), BrokerIdNotRegistered.
HandlerResult<protocol::IncrementalAlterConfigsResponse> handle(
    const ControllerView& view, const protocol::IncrementalAlterConfigsRequest& request);
/// AlterConfigs 0–2: what is not named is deleted.
HandlerResult<protocol::AlterConfigsResponse> handle(const ControllerView& view,
                                                     const protocol::AlterConfigsRequest& request);

// With the ELR feature brokers and controllers must agree on what the minimum is (KIP-966): it is set for the whole
// cluster or for a topic, never for one broker.

/// The default of all brokers for min.insync.replicas.
Record minInsyncReplicasRecord(int32_t value);
/// min.insync.replicas of a node's own configuration.
int32_t staticMinInsyncReplicas(const ControllerSettings& settings);
/// What has to be in force before the ELR feature is: a default of all brokers, and no value of a single one.
Records elrSafetyRecords(const ControllerView& view);

/// Whether `records` turn unclean leader election on for something.
bool enablesUncleanElection(const Records& records);

}  // namespace tidemark::metadata
