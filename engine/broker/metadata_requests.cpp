#include <algorithm>
#include <limits>

#include "broker/auto_topics.h"
#include "broker/requests.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"
#include "protocol/generated/describe_topic_partitions_request.h"
#include "protocol/generated/describe_topic_partitions_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"

// Metadata 0–13, DescribeCluster 0–2, DescribeTopicPartitions 0: what the newest image says.

namespace tidemark::broker {
namespace {

using protocol::DescribeTopicPartitionsRequest;
using protocol::DescribeTopicPartitionsResponse;
using protocol::MetadataRequest;
using protocol::MetadataResponse;

constexpr int32_t kNoOperations = std::numeric_limits<int32_t>::min();

std::vector<int32_t> numbers(const std::vector<NodeId>& nodes) {
  std::vector<int32_t> ids;
  ids.reserve(nodes.size());
  for (NodeId node : nodes) ids.push_back(node.value());
  return ids;
}

/// A broker that serves on `listener` now.
bool isAlive(const metadata::Image& image, NodeId node, std::string_view listener) {
  const metadata::BrokerRegistration* broker = image.cluster.broker(node);
  return broker != nullptr && !broker->fenced && broker->endpoint(listener) != nullptr;
}

std::vector<int32_t> offline(const metadata::Image& image, const metadata::PartitionRegistration& partition,
                             std::string_view listener) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < partition.replicas.size(); ++i) {
    const NodeId node = partition.replicas[i];
    const metadata::BrokerRegistration* broker = image.cluster.broker(node);
    const bool disk =
        broker == nullptr || i >= partition.directories.size() || broker->hasOnlineDirectory(partition.directories[i]);
    if (!isAlive(image, node, listener) || !disk) ids.push_back(node.value());
  }
  return ids;
}

/// What Metadata and DescribeTopicPartitions say alike of a partition.
template <class Partition>
void describePartition(const metadata::Image& image, PartitionIndex index,
                       const metadata::PartitionRegistration& registration, std::string_view listener,
                       Partition& answer) {
  answer.partitionIndex = index.value();
  answer.leaderEpoch = registration.leaderEpoch.value();
  answer.replicaNodes = numbers(registration.replicas);
  answer.isrNodes = numbers(registration.isr);
  answer.offlineReplicas = offline(image, registration, listener);
  if (isAlive(image, registration.leader, listener)) {
    answer.leaderId = registration.leader.value();
  } else {
    answer.leaderId = -1;
    const metadata::BrokerRegistration* leader = image.cluster.broker(registration.leader);
    const bool noListener = leader != nullptr && !leader->fenced;
    answer.errorCode = static_cast<int16_t>(noListener ? ErrorCode::ListenerNotFound : ErrorCode::LeaderNotAvailable);
  }
}

MetadataResponse::MetadataResponseTopic describeTopic(const BrokerContext& broker, const network::Request& request,
                                                      const metadata::Image& image, const metadata::TopicImage& topic,
                                                      const MetadataRequest& message) {
  MetadataResponse::MetadataResponseTopic answer;
  answer.name = protocol::Text(topic.name);
  answer.topicId = topic.id;
  answer.isInternal = isInternalTopic(topic.name);
  if (message.includeTopicAuthorizedOperations)
    answer.topicAuthorizedOperations =
        broker.authorizer.allowedOperations(request.context(), network::ResourceType::Topic, topic.name);
  for (const auto& [index, registration] : topic.partitions) {
    auto& partition = answer.partitions.emplace_back();
    describePartition(image, index, *registration, request.context().listener(), partition);
  }
  return answer;
}

MetadataResponse::MetadataResponseTopic refuse(std::optional<std::string> name, const Uuid& id, ErrorCode error) {
  MetadataResponse::MetadataResponseTopic answer;
  answer.errorCode = static_cast<int16_t>(error);
  answer.name = name ? std::optional(protocol::Text(*name)) : std::nullopt;
  answer.topicId = id;
  answer.isInternal = name && isInternalTopic(*name);
  return answer;
}

MetadataResponse::MetadataResponseTopic namedTopic(const BrokerContext& broker, const network::Request& request,
                                                   const metadata::Image& image,
                                                   const MetadataRequest::MetadataRequestTopic& asked,
                                                   const MetadataRequest& message) {
  const bool byId = !asked.topicId.isZero();
  const metadata::TopicImage* topic =
      byId ? image.topics.find(asked.topicId) : image.topics.find(asked.name ? asked.name->view() : "");
  if (byId && topic == nullptr) return refuse(std::nullopt, asked.topicId, ErrorCode::UnknownTopicId);
  const std::string name = topic != nullptr ? topic->name : asked.name->str();
  if (!broker.mayDescribe(request, name))
    return byId ? refuse(std::nullopt, asked.topicId, ErrorCode::UnknownTopicId)
                : refuse(name, Uuid(), ErrorCode::TopicAuthorizationFailed);
  if (topic != nullptr) return describeTopic(broker, request, image, *topic, message);
  if (!isValidTopicName(name)) return refuse(name, Uuid(), ErrorCode::InvalidTopicException);
  const bool automatic = (request.apiVersion() < 4 || message.allowAutoTopicCreation) &&
                         broker.config()->getBool("auto.create.topics.enable");
  if (!automatic && !(isInternalTopic(name) && message.allowAutoTopicCreation))
    return refuse(name, Uuid(), ErrorCode::UnknownTopicOrPartition);
  if (!broker.allows(request.context(), network::AclOperation::Create, network::ResourceType::Cluster,
                     network::kClusterResource) &&
      !broker.allows(request.context(), network::AclOperation::Create, network::ResourceType::Topic, name))
    return refuse(name, Uuid(), ErrorCode::TopicAuthorizationFailed);
  return refuse(name, Uuid(), broker.autoTopics.request(name));
}

/// Some broker that can forward to the controller (its id is what old admin clients send to): the controller's own, if
/// it is a broker, else any.
NodeId controllerForClients(const BrokerContext& broker, const metadata::Image& image, std::string_view listener) {
  const NodeId active = broker.controller();
  return isAlive(image, active, listener) ? active : broker.self;
}

}  // namespace

void handleMetadata(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<MetadataRequest>(std::move(request), [&broker](network::RequestPtr held, const MetadataRequest& message) {
    const metadata::ImagePtr image = broker.image();
    const std::string& listener = held->context().listener();
    MetadataResponse response;
    for (const auto& [id, registered] : image->cluster.brokers) {
      const metadata::Endpoint* endpoint = registered->endpoint(listener);
      if (registered->fenced || endpoint == nullptr) continue;
      response.brokers.push_back(
          {.nodeId = id.value(),
           .host = protocol::Text(endpoint->host),
           .port = endpoint->port,
           .rack = registered->rack ? std::optional(protocol::Text(*registered->rack)) : std::nullopt});
    }
    response.clusterId = protocol::Text(broker.clusterId);
    response.controllerId = controllerForClients(broker, *image, listener).value();
    const bool named = message.topics && !(held->apiVersion() == 0 && message.topics->empty());
    if (named) {
      for (const auto& topic : *message.topics) {
        if (topic.topicId.isZero() && !topic.name) {
          held->close("Metadata asks for a topic with neither name nor id");
          return;
        }
        if (held->apiVersion() < 12 && !topic.topicId.isZero()) {
          held->close("Metadata by topic id before version 12");
          return;
        }
        response.topics.push_back(namedTopic(broker, *held, *image, topic, message));
      }
    } else {
      for (const auto& [name, topic] : image->topics.byName)
        if (broker.mayDescribe(*held, name))
          response.topics.push_back(describeTopic(broker, *held, *image, *topic, message));
    }
    if (held->apiVersion() >= 8 && held->apiVersion() <= 10)
      response.clusterAuthorizedOperations =
          message.includeClusterAuthorizedOperations
              ? broker.authorizer.allowedOperations(held->context(), network::ResourceType::Cluster,
                                                    network::kClusterResource)
              : kNoOperations;
    held->respond(response);
  });
}

void handleDescribeCluster(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::DescribeClusterRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::DescribeClusterRequest& message) {
        constexpr int8_t kBrokers = 1;
        protocol::DescribeClusterResponse response;
        if (message.endpointType != kBrokers) {
          response.errorCode = static_cast<int16_t>(message.endpointType == 2 ? ErrorCode::MismatchedEndpointType
                                                                              : ErrorCode::UnsupportedEndpointType);
          response.errorMessage = protocol::Text("this is a broker's listener");
          held->respond(response);
          return;
        }
        const metadata::ImagePtr image = broker.image();
        const std::string& listener = held->context().listener();
        response.endpointType = kBrokers;
        response.clusterId = protocol::Text(broker.clusterId);
        response.controllerId = controllerForClients(broker, *image, listener).value();
        for (const auto& [id, registered] : image->cluster.brokers) {
          const metadata::Endpoint* endpoint = registered->endpoint(listener);
          if (endpoint == nullptr || (registered->fenced && !message.includeFencedBrokers)) continue;
          response.brokers.push_back(
              {.brokerId = id.value(),
               .host = protocol::Text(endpoint->host),
               .port = endpoint->port,
               .rack = registered->rack ? std::optional(protocol::Text(*registered->rack)) : std::nullopt,
               .isFenced = registered->fenced && held->apiVersion() >= 2});
        }
        if (message.includeClusterAuthorizedOperations)
          response.clusterAuthorizedOperations = broker.authorizer.allowedOperations(
              held->context(), network::ResourceType::Cluster, network::kClusterResource);
        held->respond(response);
      });
}

void handleDescribeTopicPartitions(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<DescribeTopicPartitionsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const DescribeTopicPartitionsRequest& message) {
        const metadata::ImagePtr image = broker.image();
        const std::string& listener = held->context().listener();
        std::vector<std::string> names;
        const bool all = message.topics.empty();
        if (all) {
          for (const auto& [name, topic] : image->topics.byName) names.push_back(name);
        } else {
          for (const auto& topic : message.topics) names.push_back(topic.name.str());
        }
        std::ranges::sort(names);
        names.erase(std::ranges::unique(names).begin(), names.end());
        const std::string from = message.cursor ? message.cursor->topicName.str() : std::string();
        const int32_t limit =
            std::clamp(message.responsePartitionLimit, 1, broker.config()->getInt("max.request.partition.size.limit"));
        int32_t left = limit;
        DescribeTopicPartitionsResponse response;
        for (const std::string& name : names) {
          if (name < from) continue;
          const metadata::TopicImage* topic = image->topics.find(name);
          const bool allowed = broker.mayDescribe(*held, name);
          if (!allowed && all) continue;
          auto answer = DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponseTopic{};
          answer.name = protocol::Text(name);
          answer.isInternal = isInternalTopic(name);
          if (!allowed || topic == nullptr) {
            answer.errorCode = static_cast<int16_t>(!allowed                 ? ErrorCode::TopicAuthorizationFailed
                                                    : isValidTopicName(name) ? ErrorCode::UnknownTopicOrPartition
                                                                             : ErrorCode::InvalidTopicException);
            response.topics.push_back(std::move(answer));
            continue;
          }
          answer.topicId = topic->id;
          answer.topicAuthorizedOperations =
              broker.authorizer.allowedOperations(held->context(), network::ResourceType::Topic, name);
          const int32_t first = message.cursor && name == from ? std::max(message.cursor->partitionIndex, 0) : 0;
          for (const auto& [index, registration] : topic->partitions) {
            if (index.value() < first) continue;
            if (left == 0) {
              response.nextCursor = DescribeTopicPartitionsResponse::Cursor{.topicName = protocol::Text(name),
                                                                            .partitionIndex = index.value()};
              break;
            }
            --left;
            auto& partition = answer.partitions.emplace_back();
            describePartition(*image, index, *registration, listener, partition);
            partition.errorCode = static_cast<int16_t>(ErrorCode::None);
            partition.eligibleLeaderReplicas = numbers(registration->elr);
            partition.lastKnownElr = numbers(registration->lastKnownElr);
          }
          if (!answer.partitions.empty() || topic->partitions.empty()) response.topics.push_back(std::move(answer));
          if (response.nextCursor) break;
        }
        held->respond(response);
      });
}

}  // namespace tidemark::broker
