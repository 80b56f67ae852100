#include "metadata/controller/reassignment_control.h"

#include <algorithm>

#include <fmt/format.h>

#include "metadata/controller/partition_change_builder.h"
#include "metadata/controller/topic_control.h"
#include "metadata/image_writer.h"

namespace tidemark::metadata {
namespace {

using protocol::AlterPartitionReassignmentsRequest;
using protocol::AlterPartitionReassignmentsResponse;
using protocol::ListPartitionReassignmentsRequest;
using protocol::ListPartitionReassignmentsResponse;

bool isAmong(const std::vector<NodeId>& nodes, NodeId node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

/// Those of `nodes` that are not among `others`, in the order of their ids.
std::vector<NodeId> difference(std::vector<NodeId> nodes, const std::vector<NodeId>& others) {
  std::erase_if(nodes, [&](NodeId node) { return isAmong(others, node); });
  std::ranges::sort(nodes);
  return nodes;
}

/// How many replicas the partition has once what is under way is done.
size_t replicationFactor(const PartitionRegistration& partition) {
  return partition.replicas.size() - partition.removingReplicas.size();
}

Result<std::optional<Record>> cancel(const ControllerView& view, const TopicImage& topic, PartitionIndex index,
                                     const PartitionRegistration& partition) {
  if (!partition.isReassigning()) {
    return fail(ErrorCode::NoReassignmentInProgress, "No partition reassignment is in progress.");
  }
  // Who was being added goes; who was being removed stays.
  std::vector<NodeId> replicas = partition.replicas;
  std::vector<NodeId> isr = partition.isr;
  std::erase_if(replicas, [&](NodeId node) { return isAmong(partition.addingReplicas, node); });
  std::erase_if(isr, [&](NodeId node) { return isAmong(partition.addingReplicas, node); });
  const bool unclean = view.uncleanElectionEnabled(topic.name);
  if (replicas.empty()) {
    return fail(ErrorCode::InvalidReplicaAssignment,
                "Invalid replica assignment: addingReplicas contains all replicas.");
  }
  if (isr.empty()) {
    // All that is in sync would go.
    if (!unclean) {
      return fail(
          ErrorCode::InvalidReplicaAssignment,
          fmt::format("Unable to revert partition assignment for {}:{} because it would require an unclean leader "
                      "election.",
                      topic.name, index));
    }
    isr.push_back(replicas.front());
  }
  PartitionChangeBuilder builder(view, topic, index, partition);
  builder.election(unclean ? Election::Unclean : Election::Online)
      .targetIsr(std::move(isr))
      .targetReplicas(std::move(replicas))
      .targetRemoving({})
      .targetAdding({});
  return builder.build();
}

Result<std::optional<Record>> change(const ControllerView& view, const TopicImage& topic, PartitionIndex index,
                                     const PartitionRegistration& partition, const std::vector<int32_t>& wanted,
                                     bool allowReplicationFactorChange) {
  TIDEMARK_ASSIGN(const std::vector<NodeId> target, checkManualReplicas(view, wanted));
  if (!allowReplicationFactorChange && target.size() != replicationFactor(partition)) {
    return fail(ErrorCode::InvalidReplicationFactor, fmt::format("The replication factor is changed from {} to {}",
                                                                 replicationFactor(partition), target.size()));
  }
  std::vector<NodeId> removing = difference(partition.replicas, target);
  std::vector<NodeId> adding = difference(target, partition.replicas);
  std::vector<NodeId> replicas = target;
  replicas.insert(replicas.end(), removing.begin(), removing.end());
  PartitionChangeBuilder builder(view, topic, index, partition);
  builder.targetReplicas(std::move(replicas));
  // Who is still on the way from before stays so.
  if (!removing.empty()) builder.targetRemoving(std::move(removing));
  if (!adding.empty()) builder.targetAdding(std::move(adding));
  return builder.build();
}

Result<void> reassign(const ControllerView& view, std::string_view name,
                      const AlterPartitionReassignmentsRequest::ReassignablePartition& wanted,
                      bool allowReplicationFactorChange, Records& records) {
  const TopicImage* topic = view.image.topics.find(name);
  if (!topic) return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("Unable to find a topic named {}.", name));
  const PartitionIndex index(wanted.partitionIndex);
  const PartitionRegistration* partition = topic->partition(index);
  if (!partition) {
    return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("Unable to find partition {}:{}.", name, index));
  }
  TIDEMARK_ASSIGN(std::optional<Record> record, wanted.replicas ? change(view, *topic, index, *partition,
                                                                         *wanted.replicas, allowReplicationFactorChange)
                                                                : cancel(view, *topic, index, *partition));
  if (record) records.push_back(std::move(*record));
  return {};
}

void list(const TopicImage& topic, const std::vector<int32_t>* indexes, ListPartitionReassignmentsResponse& response) {
  ListPartitionReassignmentsResponse::OngoingTopicReassignment ongoing{.name = topic.name};
  const auto add = [&](PartitionIndex index, const PartitionRegistration* partition) {
    if (!partition || !partition->isReassigning()) return;
    ongoing.partitions.push_back({.partitionIndex = index.value(),
                                  .replicas = toNumbers(partition->replicas),
                                  .addingReplicas = toNumbers(partition->addingReplicas),
                                  .removingReplicas = toNumbers(partition->removingReplicas)});
  };
  if (indexes) {
    for (int32_t index : *indexes) add(PartitionIndex(index), topic.partition(PartitionIndex(index)));
  } else {
    for (const auto& [index, partition] : topic.partitions) add(index, partition.get());
  }
  if (!ongoing.partitions.empty()) response.topics.push_back(std::move(ongoing));
}

}  // namespace

HandlerResult<AlterPartitionReassignmentsResponse> handle(const ControllerView& view,
                                                          const AlterPartitionReassignmentsRequest& request) {
  Outcome<AlterPartitionReassignmentsResponse> outcome;
  outcome.response.allowReplicationFactorChange = request.allowReplicationFactorChange;
  outcome.response.errorMessage.reset();
  for (const auto& topic : request.topics) {
    AlterPartitionReassignmentsResponse::ReassignableTopicResponse answer{.name = topic.name};
    for (const auto& partition : topic.partitions) {
      const Result<void> done =
          reassign(view, topic.name.view(), partition, request.allowReplicationFactorChange, outcome.records);
      auto& one = answer.partitions.emplace_back();
      one.partitionIndex = partition.partitionIndex;
      one.errorMessage.reset();
      if (done) continue;
      one.errorCode = static_cast<int16_t>(done.error().code);
      one.errorMessage = protocol::Text(done.error().message);
    }
    outcome.response.responses.push_back(std::move(answer));
  }
  return outcome;
}

HandlerResult<ListPartitionReassignmentsResponse> handle(const ControllerView& view,
                                                         const ListPartitionReassignmentsRequest& request) {
  Outcome<ListPartitionReassignmentsResponse> outcome;
  outcome.response.errorMessage.reset();
  if (!request.topics) {
    for (const auto& [name, topic] : view.image.topics.byName) list(*topic, nullptr, outcome.response);
    return outcome;
  }
  for (const auto& wanted : *request.topics) {
    if (const TopicImage* topic = view.image.topics.find(wanted.name.view()))
      list(*topic, &wanted.partitionIndexes, outcome.response);
  }
  return outcome;
}

}  // namespace tidemark::metadata
