#include "client/admin.h"

#include <fmt/format.h>

#include "client/admin_call.h"
#include "protocol/generated/create_partitions_request.h"
#include "protocol/generated/create_partitions_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"

namespace tidemark::client {

using detail::Call;
using detail::noAnswerFor;
using detail::Target;

class Admin::Core : public detail::Calls {
  using Calls::Calls;
};

Admin::Admin(Client& client, platform::Duration timeout) : core_(std::make_shared<Core>(client, timeout)) {}

Admin::~Admin() {
  core_->stop();
}

void Admin::createTopic(NewTopic topic, Handler<Uuid> handler) {
  using namespace protocol;
  CreateTopicsRequest request;
  request.timeoutMs = core_->timeoutMs();
  CreateTopicsRequest::CreatableTopic creatable;
  creatable.name = topic.name;
  creatable.numPartitions = topic.assignments.empty() ? topic.partitions : -1;
  creatable.replicationFactor = topic.assignments.empty() ? topic.replicationFactor : int16_t{-1};
  for (size_t i = 0; i < topic.assignments.size(); ++i) {
    CreateTopicsRequest::CreatableReplicaAssignment assignment{.partitionIndex = static_cast<int32_t>(i),
                                                               .brokerIds = {}};
    for (const NodeId node : topic.assignments[i]) assignment.brokerIds.push_back(node.value());
    creatable.assignments.push_back(std::move(assignment));
  }
  for (const auto& [name, value] : topic.configs) creatable.configs.push_back({.name = name, .value = value});
  request.topics.push_back(std::move(creatable));
  core_->start(Call<Uuid, CreateTopicsRequest>{
      .target = {},
      .request = std::move(request),
      .extract = [name = topic.name](const CreateTopicsResponse& response) -> Result<Uuid> {
        for (const auto& each : response.topics) {
          if (each.name != name) continue;
          if (each.errorCode != 0) return fail(errorOf(each.errorCode, each.errorMessage, name));
          return each.topicId;
        }
        return noAnswerFor(name);
      },
      .handler = std::move(handler)});
}

void Admin::deleteTopic(std::string name, Done done) {
  using namespace protocol;
  DeleteTopicsRequest request;
  request.timeoutMs = core_->timeoutMs();
  request.topicNames.emplace_back(name);
  core_->start(
      Call<void, DeleteTopicsRequest>{.target = {},
                                      .request = std::move(request),
                                      .extract = [name](const DeleteTopicsResponse& response) -> Result<void> {
                                        for (const auto& each : response.responses) {
                                          if (!each.name || *each.name != name) continue;
                                          if (each.errorCode != 0)
                                            return fail(errorOf(each.errorCode, each.errorMessage, name));
                                          return {};
                                        }
                                        return noAnswerFor(name);
                                      },
                                      .handler = std::move(done),
                                      .options = {.maxVersion = 5},  // Names in the form of all versions before 6.
                                      .isAnswer = ErrorCode::UnknownTopicOrPartition});
}

void Admin::createPartitions(std::string topic, int32_t total, Done done) {
  using namespace protocol;
  CreatePartitionsRequest request;
  request.timeoutMs = core_->timeoutMs();
  request.topics.push_back({.name = topic, .count = total, .assignments = std::nullopt});
  core_->start(
      Call<void, CreatePartitionsRequest>{.target = {},
                                          .request = std::move(request),
                                          .extract = [topic](const CreatePartitionsResponse& response) -> Result<void> {
                                            for (const auto& each : response.results) {
                                              if (each.name != topic) continue;
                                              if (each.errorCode != 0)
                                                return fail(errorOf(each.errorCode, each.errorMessage, topic));
                                              return {};
                                            }
                                            return noAnswerFor(topic);
                                          },
                                          .handler = std::move(done)});
}

void Admin::listTopics(Handler<std::vector<std::string>> handler) {
  using namespace protocol;
  MetadataRequest request;
  request.topics.reset();
  core_->start(Call<std::vector<std::string>, MetadataRequest>{
      .target = {},
      .request = std::move(request),
      .extract = [](const MetadataResponse& response) -> Result<std::vector<std::string>> {
        std::vector<std::string> names;
        for (const auto& topic : response.topics) {
          if (topic.name) names.push_back(topic.name->str());
        }
        return names;
      },
      .handler = std::move(handler)});
}

namespace {

Call<TopicDescription, protocol::MetadataRequest> describing(const std::string& name,
                                                             Admin::Handler<TopicDescription> handler) {
  using namespace protocol;
  MetadataRequest request;
  request.allowAutoTopicCreation = false;
  request.topics->push_back({.topicId = {}, .name = name});
  return {.target = {},
          .request = std::move(request),
          .extract = [name](const MetadataResponse& response) -> Result<TopicDescription> {
            for (const auto& topic : response.topics) {
              if (!topic.name || *topic.name != name) continue;
              if (topic.errorCode != 0) return fail(errorOf(topic.errorCode, {}, name));
              MetadataCache cache;
              cache.update(response);
              const MetadataCache::Topic* found = cache.find(name);
              return TopicDescription{name, found->id, found->internal, found->partitions};
            }
            return noAnswerFor(name);
          },
          .handler = std::move(handler)};
}

}  // namespace

void Admin::describeTopic(std::string name, Handler<TopicDescription> handler) {
  auto call = describing(name, std::move(handler));
  call.isAnswer = ErrorCode::UnknownTopicOrPartition;
  core_->start(std::move(call));
}

void Admin::awaitTopic(std::string name, Handler<TopicDescription> handler) {
  core_->start(describing(name, std::move(handler)));
}

void Admin::describeCluster(Handler<ClusterDescription> handler) {
  using namespace protocol;
  core_->start(Call<ClusterDescription, DescribeClusterRequest>{
      .target = {},
      .request = {},
      .extract = [](const DescribeClusterResponse& response) -> Result<ClusterDescription> {
        if (response.errorCode != 0) return fail(errorOf(response.errorCode, response.errorMessage, "the cluster"));
        ClusterDescription cluster{response.clusterId.str(), NodeId(response.controllerId), {}};
        for (const auto& broker : response.brokers) {
          cluster.brokers[NodeId(broker.brokerId)] = {broker.host.str(), static_cast<uint16_t>(broker.port)};
        }
        return cluster;
      },
      .handler = std::move(handler)});
}

namespace {

/// A broker's own settings are asked of that broker.
Target targetOf(ConfigResourceType type, const std::string& name) {
  if (type != ConfigResourceType::Broker || name.empty()) return {};
  return {.kind = Target::Kind::Node, .node = NodeId(std::atoi(name.c_str()))};
}

}  // namespace

void Admin::describeConfigs(ConfigResourceType type, std::string name, Handler<std::vector<ConfigEntry>> handler) {
  using namespace protocol;
  DescribeConfigsRequest request;
  request.resources.push_back(
      {.resourceType = static_cast<int8_t>(type), .resourceName = name, .configurationKeys = std::nullopt});
  core_->start(Call<std::vector<ConfigEntry>, DescribeConfigsRequest>{
      .target = targetOf(type, name),
      .request = std::move(request),
      .extract = [name](const DescribeConfigsResponse& response) -> Result<std::vector<ConfigEntry>> {
        if (response.results.size() != 1) return noAnswerFor(name);
        const auto& result = response.results[0];
        if (result.errorCode != 0) return fail(errorOf(result.errorCode, result.errorMessage, name));
        std::vector<ConfigEntry> entries;
        for (const auto& each : result.configs) {
          entries.push_back({.name = each.name.str(),
                             .value = each.value ? std::optional(each.value->str()) : std::nullopt,
                             .readOnly = each.readOnly,
                             .sensitive = each.isSensitive,
                             .source = each.configSource});
        }
        return entries;
      },
      .handler = std::move(handler)});
}

void Admin::alterConfigs(ConfigResourceType type, std::string name, std::vector<ConfigChange> changes, Done done) {
  using namespace protocol;
  IncrementalAlterConfigsRequest request;
  request.resources.push_back({.resourceType = static_cast<int8_t>(type), .resourceName = name, .configs = {}});
  for (const auto& change : changes) {
    std::optional<Text> value;
    if (change.operation != ConfigChange::Operation::Delete) value = Text(change.value);
    request.resources[0].configs.push_back(
        {.name = change.name, .configOperation = static_cast<int8_t>(change.operation), .value = std::move(value)});
  }
  core_->start(Call<void, IncrementalAlterConfigsRequest>{
      .target = targetOf(type, name),
      .request = std::move(request),
      .extract = [name](const IncrementalAlterConfigsResponse& response) -> Result<void> {
        if (response.responses.size() != 1) return noAnswerFor(name);
        const auto& result = response.responses[0];
        if (result.errorCode != 0) return fail(errorOf(result.errorCode, result.errorMessage, name));
        return {};
      },
      .handler = std::move(done)});
}

void Admin::listOffset(TopicPartition where, int64_t timestampMs, Handler<ListedOffset> handler) {
  using namespace protocol;
  ListOffsetsRequest request;
  request.replicaId = -1;
  request.timeoutMs = core_->timeoutMs();
  request.topics.push_back({.name = where.topic, .partitions = {}});
  request.topics[0].partitions.push_back({.partitionIndex = where.partition.value(), .timestamp = timestampMs});
  core_->start(Call<ListedOffset, ListOffsetsRequest>{
      .target = {.kind = Target::Kind::Leader, .partition = where},
      .request = std::move(request),
      .extract = [where](const ListOffsetsResponse& response) -> Result<ListedOffset> {
        const std::string what = fmt::format("{}", where);
        if (response.topics.size() != 1 || response.topics[0].partitions.size() != 1) return noAnswerFor(what);
        const auto& result = response.topics[0].partitions[0];
        if (result.errorCode != 0) return fail(errorOf(result.errorCode, {}, what));
        return ListedOffset{Offset(result.offset), result.timestamp, LeaderEpoch(result.leaderEpoch)};
      },
      .handler = std::move(handler)});
}

void Admin::deleteRecords(TopicPartition where, Offset before, Handler<Offset> handler) {
  using namespace protocol;
  DeleteRecordsRequest request;
  request.timeoutMs = core_->timeoutMs();
  request.topics.push_back({.name = where.topic, .partitions = {}});
  request.topics[0].partitions.push_back({.partitionIndex = where.partition.value(), .offset = before.value()});
  core_->start(
      Call<Offset, DeleteRecordsRequest>{.target = {.kind = Target::Kind::Leader, .partition = where},
                                         .request = std::move(request),
                                         .extract = [where](const DeleteRecordsResponse& response) -> Result<Offset> {
                                           const std::string what = fmt::format("{}", where);
                                           if (response.topics.size() != 1 || response.topics[0].partitions.size() != 1)
                                             return noAnswerFor(what);
                                           const auto& result = response.topics[0].partitions[0];
                                           if (result.errorCode != 0) return fail(errorOf(result.errorCode, {}, what));
                                           return Offset(result.lowWatermark);
                                         },
                                         .handler = std::move(handler)});
}

}  // namespace tidemark::client
