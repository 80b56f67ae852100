#include "metadata/controller/topic_control.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/topic_config.h"
#include "metadata/controller/replica_placer.h"
#include "metadata/image_writer.h"
#include "raft/types.h"

namespace tidemark::metadata {
namespace {

using protocol::CreatePartitionsRequest;
using protocol::CreatePartitionsResponse;
using protocol::CreateTopicsRequest;
using protocol::CreateTopicsResponse;
using protocol::DeleteTopicsResponse;

constexpr size_t kMaxTopicNameLength = 249;

std::string withoutDots(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '.', '_');
  return text;
}

/// '.' and '_' look alike in names of metrics, so two topics must not differ in them alone.
Result<void> checkCollision(const ControllerView& view, std::string_view name) {
  if (name.find_first_of("._") == std::string_view::npos) return {};
  const std::string normalized = withoutDots(name);
  for (const auto& [other, topic] : view.image.topics.byName) {
    if (other != name && withoutDots(other) == normalized) {
      return fail(ErrorCode::InvalidTopicException,
                  fmt::format("Topic '{}' collides with existing topic: {}", name, other));
    }
  }
  return {};
}

/// A new partition on these replicas, led by the first that is active.
Result<PartitionRegistration> newPartition(const ControllerView& view, const std::vector<NodeId>& replicas,
                                           const Error& ifNoneIsActive) {
  PartitionRegistration partition;
  partition.replicas = replicas;
  for (NodeId node : replicas) {
    partition.directories.push_back(view.defaultDirectory(node));
    if (view.image.cluster.isActive(node)) partition.isr.push_back(node);
  }
  if (partition.isr.empty()) return fail(ifNoneIsActive);
  partition.leader = partition.isr.front();
  return partition;
}

Error noneActive(int16_t replicationFactor) {
  return {ErrorCode::InvalidReplicationFactor,
          fmt::format("Unable to replicate the partition {} time(s): All brokers are currently fenced or in controlled "
                      "shutdown.",
                      replicationFactor)};
}

Result<PartitionRegistration> manualPartition(const ControllerView& view, int32_t index,
                                              const std::vector<int32_t>& brokerIds,
                                              std::optional<size_t> replicationFactor) {
  TIDEMARK_ASSIGN(const std::vector<NodeId> replicas, checkManualReplicas(view, brokerIds));
  if (replicationFactor && replicas.size() != *replicationFactor) {
    return fail(ErrorCode::InvalidReplicaAssignment,
                fmt::format("The manual partition assignment includes a partition with {} replica(s), but this is not "
                            "consistent with previous partitions, which have {} replica(s).",
                            replicas.size(), *replicationFactor));
  }
  return newPartition(
      view, replicas,
      {ErrorCode::InvalidReplicaAssignment,
       fmt::format("All brokers specified in the manual partition assignment for partition {} are fenced "
                   "or in controlled shutdown.",
                   index)});
}

Result<std::vector<PartitionRegistration>> manualPartitions(const ControllerView& view,
                                                            const CreateTopicsRequest::CreatableTopic& topic) {
  if (topic.replicationFactor != -1) {
    return fail(ErrorCode::InvalidRequest,
                "A manual partition assignment was specified, but replication factor was not set to -1.");
  }
  if (topic.numPartitions != -1) {
    return fail(ErrorCode::InvalidRequest,
                "A manual partition assignment was specified, but numPartitions was not set to -1.");
  }
  std::map<int32_t, PartitionRegistration> byIndex;
  std::optional<size_t> replicationFactor;
  for (const auto& assignment : topic.assignments) {
    if (byIndex.contains(assignment.partitionIndex)) {
      return fail(
          ErrorCode::InvalidReplicaAssignment,
          fmt::format("Found multiple manual partition assignments for partition {}", assignment.partitionIndex));
    }
    TIDEMARK_ASSIGN(PartitionRegistration partition,
                    manualPartition(view, assignment.partitionIndex, assignment.brokerIds, replicationFactor));
    replicationFactor = assignment.brokerIds.size();
    byIndex.emplace(assignment.partitionIndex, std::move(partition));
  }
  std::vector<PartitionRegistration> partitions;
  for (auto& [index, partition] : byIndex) {
    if (index != static_cast<int32_t>(partitions.size())) {
      return fail(ErrorCode::InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence");
    }
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

Result<std::vector<PartitionRegistration>> placedPartitions(const ControllerView& view, int32_t count,
                                                            int16_t replicationFactor) {
  auto placed = placeReplicas(view.image.cluster, count, replicationFactor, view.random);
  if (!placed) {
    return fail(placed.error().code, fmt::format("Unable to replicate the partition {} time(s): {}", replicationFactor,
                                                 placed.error().message));
  }
  std::vector<PartitionRegistration> partitions;
  for (const std::vector<NodeId>& replicas : *placed) {
    TIDEMARK_ASSIGN(PartitionRegistration partition, newPartition(view, replicas, noneActive(replicationFactor)));
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

Result<std::vector<PartitionRegistration>> partitionsFor(const ControllerView& view,
                                                         const CreateTopicsRequest::CreatableTopic& topic) {
  if (!topic.assignments.empty()) return manualPartitions(view, topic);
  if (topic.replicationFactor < -1 || topic.replicationFactor == 0) {
    return fail(ErrorCode::InvalidReplicationFactor,
                "Replication factor must be larger than 0, or -1 to use the default value.");
  }
  if (topic.numPartitions < -1 || topic.numPartitions == 0) {
    return fail(ErrorCode::InvalidPartitions, "Number of partitions was set to an invalid non-positive value.");
  }
  const int32_t count = topic.numPartitions == -1 ? view.settings.defaultPartitions : topic.numPartitions;
  if (count > static_cast<int32_t>(kMaxRecordsPerBatch)) {
    return fail(ErrorCode::PolicyViolation, "Unable to perform excessively large batch operation.");
  }
  return placedPartitions(
      view, count, topic.replicationFactor == -1 ? view.settings.defaultReplicationFactor : topic.replicationFactor);
}

Result<config::ConfigMap> configsFor(const CreateTopicsRequest::CreatableTopic& topic) {
  config::ConfigMap configs;
  std::vector<std::string> nulls;
  for (const auto& entry : topic.configs) {
    if (entry.value) {
      configs.insert_or_assign(entry.name.str(), entry.value->str());
    } else {
      nulls.push_back(entry.name.str());
    }
  }
  if (!nulls.empty()) {
    return fail(ErrorCode::InvalidConfig,
                fmt::format("Null value not supported for topic configs: {}", fmt::join(nulls, ",")));
  }
  TIDEMARK_TRY(config::validateTopicConfig(configs));
  return configs;
}

/// All of a new topic's configuration with its sources, as the answer shows it.
std::vector<CreateTopicsResponse::CreatableTopicConfigs> describe(const ControllerView& view,
                                                                  const config::ConfigMap& configs) {
  std::vector<CreateTopicsResponse::CreatableTopicConfigs> shown;
  for (const config::ConfigDefinition& key : config::configTable(config::ConfigLevel::Topic).all()) {
    const config::EffectiveConfig effective = config::effectiveTopicConfig(key, configs, view.layers());
    CreateTopicsResponse::CreatableTopicConfigs entry{
        .name = key.name, .configSource = static_cast<int8_t>(effective.source), .isSensitive = key.isSensitive()};
    entry.value.reset();
    if (effective.value && !key.isSensitive()) entry.value = protocol::Text(*effective.value);
    shown.push_back(std::move(entry));
  }
  return shown;
}

Result<CreateTopicsResponse::CreatableTopicResult> createTopic(const ControllerView& view,
                                                               const CreateTopicsRequest::CreatableTopic& topic,
                                                               Records& records) {
  const std::string_view name = topic.name.view();
  if (name == raft::kMetadataTopic) {
    return fail(ErrorCode::InvalidRequest, fmt::format("Creation of internal topic {} is prohibited.", name));
  }
  TIDEMARK_TRY(validateTopicName(name));
  TIDEMARK_TRY(checkCollision(view, name));
  if (view.image.topics.find(name)) {
    return fail(ErrorCode::TopicAlreadyExists, fmt::format("Topic '{}' already exists.", name));
  }
  TIDEMARK_ASSIGN(const config::ConfigMap configs, configsFor(topic));
  TIDEMARK_ASSIGN(const std::vector<PartitionRegistration> partitions, partitionsFor(view, topic));

  const Uuid id = view.random.uuid();
  records.push_back({protocol::TopicRecord{.name = topic.name, .topicId = id}});
  for (const auto& [key, value] : configs) {
    protocol::ConfigRecord record{
        .resourceType = static_cast<int8_t>(config::ResourceType::Topic), .resourceName = topic.name, .name = key};
    record.value = protocol::Text(value);
    records.push_back({std::move(record)});
  }
  for (size_t i = 0; i < partitions.size(); ++i) {
    records.push_back(toRecord(id, PartitionIndex(static_cast<int32_t>(i)), partitions[i], view.version()));
  }
  CreateTopicsResponse::CreatableTopicResult result{
      .name = topic.name,
      .topicId = id,
      .numPartitions = static_cast<int32_t>(partitions.size()),
      .replicationFactor = static_cast<int16_t>(partitions.front().replicas.size())};
  result.errorMessage.reset();
  result.configs = describe(view, configs);
  return result;
}

/// Names that a request holds more than once.
template <class Topics>
std::set<std::string> duplicates(const Topics& topics) {
  std::set<std::string> seen;
  std::set<std::string> twice;
  for (const auto& topic : topics) {
    if (!seen.insert(topic.name.str()).second) twice.insert(topic.name.str());
  }
  return twice;
}

DeleteTopicsResponse::DeletableTopicResult deletion(std::optional<std::string> name, const Uuid& id, ErrorCode error,
                                                    const std::string& message = {}) {
  DeleteTopicsResponse::DeletableTopicResult result{.topicId = id, .errorCode = static_cast<int16_t>(error)};
  result.name.reset();
  if (name) result.name = protocol::Text(*name);
  if (!message.empty()) result.errorMessage = protocol::Text(message);
  return result;
}

/// What a DeleteTopics request names, each once, in its order.
struct Deletions {
  std::vector<std::string> names;
  std::vector<Uuid> ids;
  std::set<std::string> namesTwice;
  std::set<Uuid> idsTwice;

  void add(std::string name) {
    if (std::ranges::find(names, name) != names.end()) namesTwice.insert(name);
    names.push_back(std::move(name));
  }
  void add(const Uuid& id) {
    if (std::ranges::find(ids, id) != ids.end()) idsTwice.insert(id);
    ids.push_back(id);
  }
};

Result<void> addPartitions(const ControllerView& view, const CreatePartitionsRequest::CreatePartitionsTopic& request,
                           Records& records) {
  const TopicImage* topic = view.image.topics.find(request.name.view());
  if (!topic) {
    return fail(ErrorCode::UnknownTopicOrPartition, "This server does not host this topic-partition.");
  }
  const auto current = static_cast<int32_t>(topic->partitions.size());
  if (request.count == current) {
    return fail(ErrorCode::InvalidPartitions, fmt::format("Topic already has {} partition(s).", current));
  }
  if (request.count < current) {
    return fail(ErrorCode::InvalidPartitions,
                fmt::format("The topic {} currently has {} partition(s); {} would not be an increase.", topic->name,
                            current, request.count));
  }
  const int32_t additional = request.count - current;
  if (additional > static_cast<int32_t>(kMaxRecordsPerBatch)) {
    return fail(ErrorCode::PolicyViolation, "Unable to perform excessively large batch operation.");
  }
  const PartitionRegistration* first = topic->partition(PartitionIndex(0));
  if (!first) return fail(ErrorCode::UnknownServerError, fmt::format("Topic {} has no partition 0", topic->name));
  const size_t replicationFactor = first->replicas.size();
  std::vector<PartitionRegistration> partitions;
  if (request.assignments) {
    if (static_cast<int32_t>(request.assignments->size()) != additional) {
      return fail(ErrorCode::InvalidReplicaAssignment,
                  fmt::format("Attempted to add {} additional partition(s), but only {} assignment(s) were specified.",
                              additional, request.assignments->size()));
    }
    for (size_t i = 0; i < request.assignments->size(); ++i) {
      TIDEMARK_ASSIGN(PartitionRegistration partition,
                      manualPartition(view, current + static_cast<int32_t>(i), (*request.assignments)[i].brokerIds,
                                      replicationFactor));
      partitions.push_back(std::move(partition));
    }
  } else {
    TIDEMARK_ASSIGN(partitions, placedPartitions(view, additional, static_cast<int16_t>(replicationFactor)));
  }
  for (size_t i = 0; i < partitions.size(); ++i) {
    records.push_back(
        toRecord(topic->id, PartitionIndex(current + static_cast<int32_t>(i)), partitions[i], view.version()));
  }
  return {};
}

}  // namespace

Result<void> validateTopicName(std::string_view name) {
  const auto refuse = [](std::string reason) {
    return fail(ErrorCode::InvalidTopicException, fmt::format("Topic name is invalid: {}", reason));
  };
  if (name.empty()) return refuse("the empty string is not allowed");
  if (name == "." || name == "..") return refuse(fmt::format("'{}' is not allowed", name));
  if (name.size() > kMaxTopicNameLength) {
    return refuse(
        fmt::format("the length of '{}' is longer than the max allowed length {}", name, kMaxTopicNameLength));
  }
  const bool legal = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
  if (!legal) {
    return refuse(
        fmt::format("'{}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name));
  }
  return {};
}

Result<std::vector<NodeId>> checkManualReplicas(const ControllerView& view, const std::vector<int32_t>& brokerIds) {
  const auto refuse = [](std::string message) { return fail(ErrorCode::InvalidReplicaAssignment, std::move(message)); };
  if (brokerIds.empty()) return refuse("The manual partition assignment includes an empty replica list.");
  std::vector<NodeId> replicas;
  for (int32_t id : brokerIds) {
    const NodeId node(id);
    if (!view.image.cluster.broker(node)) {
      return refuse(
          fmt::format("The manual partition assignment includes broker {}, but no such broker is registered.", id));
    }
    if (std::ranges::find(replicas, node) != replicas.end()) {
      return refuse(fmt::format("The manual partition assignment includes the broker {} more than once.", id));
    }
    replicas.push_back(node);
  }
  return replicas;
}

HandlerResult<CreateTopicsResponse> handle(const ControllerView& view, const CreateTopicsRequest& request) {
  Outcome<CreateTopicsResponse> outcome;
  const std::set<std::string> twice = duplicates(request.topics);
  const auto refuse = [&](const protocol::Text& name, const Error& error) {
    CreateTopicsResponse::CreatableTopicResult result{.name = name, .errorCode = static_cast<int16_t>(error.code)};
    result.errorMessage = protocol::Text(error.message);
    result.configs.emplace();
    outcome.response.topics.push_back(std::move(result));
  };
  for (const auto& topic : request.topics) {
    if (twice.contains(topic.name.str())) continue;
    Records records;
    Result<CreateTopicsResponse::CreatableTopicResult> created = createTopic(view, topic, records);
    if (!created) {
      refuse(topic.name, created.error());
      continue;
    }
    outcome.response.topics.push_back(std::move(*created));
    std::ranges::move(records, std::back_inserter(outcome.records));
  }
  for (const std::string& name : twice) refuse(name, {ErrorCode::InvalidRequest, "Duplicate topic name."});
  if (request.validateOnly) outcome.records.clear();
  return outcome;
}

HandlerResult<DeleteTopicsResponse> handle(const ControllerView& view, const protocol::DeleteTopicsRequest& request) {
  if (!view.settings.deleteTopicEnable) {
    return fail(view.requestVersion < 3 ? ErrorCode::InvalidRequest : ErrorCode::TopicDeletionDisabled,
                "Topic deletion is disabled.");
  }
  Outcome<DeleteTopicsResponse> outcome;
  auto& responses = outcome.response.responses;
  Deletions wanted;
  for (const protocol::Text& name : request.topicNames) wanted.add(name.str());
  for (const auto& topic : request.topics) {
    if (topic.name && topic.topicId.isZero()) {
      wanted.add(topic.name->str());
    } else if (topic.name) {
      responses.push_back(deletion(topic.name->str(), topic.topicId, ErrorCode::InvalidRequest,
                                   "You may not specify both topic name and topic id."));
    } else if (topic.topicId.isZero()) {
      responses.push_back(
          deletion(std::nullopt, Uuid(), ErrorCode::InvalidRequest, "Neither topic name nor id were specified."));
    } else {
      wanted.add(topic.topicId);
    }
  }
  for (const std::string& name : wanted.namesTwice) {
    responses.push_back(deletion(name, Uuid(), ErrorCode::InvalidRequest, "Duplicate topic name."));
  }
  for (const Uuid& id : wanted.idsTwice) {
    responses.push_back(deletion(std::nullopt, id, ErrorCode::InvalidRequest, "Duplicate topic id."));
  }
  std::set<Uuid> deleted;
  const auto remove = [&](const TopicImage& topic) {
    if (!deleted.insert(topic.id).second) {
      responses.push_back(deletion(topic.name, topic.id, ErrorCode::InvalidRequest,
                                   "The provided topic name maps to an ID that was already supplied."));
      return;
    }
    outcome.records.push_back({protocol::RemoveTopicRecord{.topicId = topic.id}});
    responses.push_back(deletion(topic.name, topic.id, ErrorCode::None));
  };
  for (const Uuid& id : wanted.ids) {
    if (wanted.idsTwice.contains(id)) continue;
    if (const TopicImage* topic = view.image.topics.find(id)) {
      remove(*topic);
    } else {
      responses.push_back(
          deletion(std::nullopt, id, ErrorCode::UnknownTopicId, "This server does not host this topic ID."));
    }
  }
  for (const std::string& name : wanted.names) {
    if (wanted.namesTwice.contains(name)) continue;
    if (const TopicImage* topic = view.image.topics.find(name)) {
      remove(*topic);
    } else {
      responses.push_back(deletion(name, Uuid(), ErrorCode::UnknownTopicOrPartition,
                                   "This server does not host this topic-partition."));
    }
  }
  return outcome;
}

HandlerResult<CreatePartitionsResponse> handle(const ControllerView& view, const CreatePartitionsRequest& request) {
  Outcome<CreatePartitionsResponse> outcome;
  const std::set<std::string> twice = duplicates(request.topics);
  const auto answer = [&](const protocol::Text& name, const Result<void>& result) {
    CreatePartitionsResponse::CreatePartitionsTopicResult one{.name = name};
    if (!result) {
      one.errorCode = static_cast<int16_t>(result.error().code);
      one.errorMessage = protocol::Text(result.error().message);
    }
    outcome.response.results.push_back(std::move(one));
  };
  for (const std::string& name : twice) answer(name, fail(ErrorCode::InvalidRequest, "Duplicate topic name."));
  for (const auto& topic : request.topics) {
    if (twice.contains(topic.name.str())) continue;
    Records records;
    const Result<void> added = addPartitions(view, topic, records);
    answer(topic.name, added);
    if (added) std::ranges::move(records, std::back_inserter(outcome.records));
  }
  if (request.validateOnly) outcome.records.clear();
  return outcome;
}

}  // namespace tidemark::metadata
