#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "broker/auto_topics.h"
#include "broker/group_requests.h"
#include "broker/group_service.h"
#include "coordinator/streams/streams_groups.h"
#include "metadata/features.h"
#include "protocol/generated/streams_group_describe_request.h"
#include "protocol/generated/streams_group_describe_response.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/streams_group_heartbeat_response.h"
#include "protocol/generated/streams_group_topology_description_update_request.h"
#include "protocol/generated/streams_group_topology_description_update_response.h"

// The APIs of streams groups (KIP-1071): what may be asked, and the topics that applications need; the rest is
// coordinator/.

namespace tidemark::broker {
namespace {

using coordinator::InternalTopicInfo;
using coordinator::StreamsHeartbeatAnswer;
using coordinator::StreamsStatus;
using network::AclOperation;
using network::ResourceType;
using protocol::StreamsGroupDescribeRequest;
using protocol::StreamsGroupDescribeResponse;
using protocol::StreamsGroupHeartbeatRequest;
using protocol::StreamsGroupHeartbeatResponse;

/// As many creation errors as a status tells.
constexpr size_t kShownErrors = 3;

/// The cluster has the feature, and `group.coordinator.rebalance.protocols` the protocol.
bool areStreamsGroupsEnabled(const BrokerContext& broker) {
  const metadata::ImagePtr image = broker.image();
  if (image->features.level(metadata::kStreamsVersionFeature) < 1) return false;
  return broker.groups.isServed("streams");
}

/// All topics that the application names.
template <class Topology>
std::set<std::string, std::less<>> topicsIn(const Topology& topology) {
  std::set<std::string, std::less<>> topics;
  for (const auto& subtopology : topology) {
    for (const auto& topic : subtopology.sourceTopics) topics.insert(topic.str());
    for (const auto& topic : subtopology.repartitionSinkTopics) topics.insert(topic.str());
    for (const auto& topic : subtopology.repartitionSourceTopics) topics.insert(topic.name.str());
    for (const auto& topic : subtopology.stateChangelogTopics) topics.insert(topic.name.str());
  }
  return topics;
}

/// Why the heartbeat may not be handled; None.
Error refusalOf(const BrokerContext& broker, const network::Request& request,
                const StreamsGroupHeartbeatRequest& message) {
  if (!areStreamsGroupsEnabled(broker)) return {ErrorCode::UnsupportedVersion, {}};
  const ErrorCode ofGroup = mayWithGroup(broker, request, AclOperation::Read, message.groupId);
  if (ofGroup != ErrorCode::None || !message.topology) return {ofGroup, {}};
  const std::set<std::string, std::less<>> topics = topicsIn(message.topology->subtopologies);
  std::vector<std::string_view> internal;
  std::vector<std::string_view> invalid;
  for (const std::string& topic : topics) {
    if (isInternalTopic(topic)) internal.push_back(topic);
    if (!isValidTopicName(topic)) invalid.push_back(topic);
  }
  if (!internal.empty())
    return {ErrorCode::StreamsInvalidTopology,
            fmt::format("Use of Kafka internal topics {} in a Kafka Streams topology is prohibited.",
                        fmt::join(internal, ","))};
  if (!invalid.empty())
    return {ErrorCode::StreamsInvalidTopology,
            fmt::format("Topic names {} are not valid topic names.", fmt::join(invalid, ","))};
  for (const std::string& topic : topics)
    if (!broker.mayDescribe(request, topic)) return {ErrorCode::TopicAuthorizationFailed, {}};
  return {ErrorCode::None, {}};
}

protocol::CreateTopicsRequest::CreatableTopic creatable(const InternalTopicInfo& topic) {
  protocol::CreateTopicsRequest::CreatableTopic made;
  made.name = protocol::Text(topic.name);
  made.numPartitions = topic.partitions;
  made.replicationFactor = topic.replicationFactor != 0 ? topic.replicationFactor : int16_t{-1};
  for (const auto& [key, value] : topic.configs)
    made.configs.push_back({.name = protocol::Text(key), .value = protocol::Text(value)});
  return made;
}

/// Adds to what is said about missing internal topics.
void explainMissing(StreamsGroupHeartbeatResponse& response, const std::string& what) {
  if (!response.status) response.status.emplace();
  for (auto& status : *response.status) {
    if (status.statusCode != static_cast<int8_t>(StreamsStatus::MissingInternalTopics)) continue;
    status.statusDetail = protocol::Text(fmt::format("{}; {}", status.statusDetail.view(), what));
    return;
  }
  response.status->push_back({static_cast<int8_t>(StreamsStatus::MissingInternalTopics), protocol::Text(what)});
}

/// Has the topics created that the group lacks, if whoever asks may do that, and says what kept earlier attempts.
void createTopics(BrokerContext& broker, const network::Request& request, StreamsHeartbeatAnswer& answer) {
  const network::RequestContext& context = request.context();
  std::vector<std::string> forbidden;
  if (!broker.allows(context, AclOperation::Create, ResourceType::Cluster, network::kClusterResource))
    for (const InternalTopicInfo& topic : answer.topicsToCreate)
      if (!broker.allows(context, AclOperation::Create, ResourceType::Topic, topic.name))
        forbidden.push_back(topic.name);
  if (!forbidden.empty()) {
    explainMissing(answer.response, fmt::format("Unauthorized to CREATE on topics {}.", fmt::join(forbidden, ", ")));
    return;
  }
  std::vector<protocol::CreateTopicsRequest::CreatableTopic> topics;
  for (const InternalTopicInfo& topic : answer.topicsToCreate) topics.push_back(creatable(topic));
  const platform::milliseconds errorsKept(2LL * answer.response.heartbeatIntervalMs);
  std::vector<std::string> failures;
  for (const auto& [topic, error] : broker.autoTopics.create(std::move(topics), errorsKept))
    failures.push_back(fmt::format("{} ({})", topic, error));
  if (failures.empty()) return;
  const size_t more = failures.size() > kShownErrors ? failures.size() - kShownErrors : 0;
  failures.resize(failures.size() - more);
  std::string text = fmt::format("Creation failed: {}", fmt::join(failures, ", "));
  if (more > 0) text += fmt::format(" and {} more", more);
  explainMissing(answer.response, text + ".");
}

}  // namespace

void handleStreamsGroupHeartbeat(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<StreamsGroupHeartbeatRequest>(
      std::move(request), [&broker](network::RequestPtr held, const StreamsGroupHeartbeatRequest& message) {
        if (const Error refusal = refusalOf(broker, *held, message); refusal.code != ErrorCode::None) {
          StreamsGroupHeartbeatResponse response;
          response.errorCode = static_cast<int16_t>(refusal.code);
          if (!refusal.message.empty()) response.errorMessage = protocol::Text(refusal.message);
          held->respond(response);
          return;
        }
        const coordinator::RequestInfo info = infoOf(*held);
        const network::FramePtr frame = held->frame();
        held->releaseFrame();
        broker.groups.groups().streamsHeartbeat(
            info, message, [&broker, held = std::move(held)](StreamsHeartbeatAnswer answer) mutable {
              if (!answer.topicsToCreate.empty()) createTopics(broker, *held, answer);
              held->respond(answer.response);
            });
      });
}

void handleStreamsGroupDescribe(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<StreamsGroupDescribeRequest>(
      std::move(request), [&broker](network::RequestPtr held, StreamsGroupDescribeRequest message) {
        StreamsGroupDescribeResponse refused;
        const bool enabled = areStreamsGroupsEnabled(broker);
        takeRefusedGroups(message.groupIds, refused.groups, [&](const protocol::Text& group) {
          return enabled ? mayWithGroup(broker, *held, AclOperation::Describe, group) : ErrorCode::UnsupportedVersion;
        });
        const bool operations = message.includeAuthorizedOperations;
        const coordinator::RequestInfo info = infoOf(*held);
        broker.groups.groups().describeStreamsGroups(
            info, message,
            [&broker, held = std::move(held), refused = std::move(refused),
             operations](StreamsGroupDescribeResponse response) mutable {
              if (operations) addAuthorizedOperations(broker, *held, response.groups);
              for (auto& group : response.groups) {
                if (!group.topology || !group.topology->subtopologies) continue;
                const auto topics = topicsIn(*group.topology->subtopologies);
                const bool allowed = std::ranges::all_of(
                    topics, [&](const std::string& topic) { return broker.mayDescribe(*held, topic); });
                if (allowed) continue;
                StreamsGroupDescribeResponse::DescribedGroup hidden;
                hidden.groupId = group.groupId;
                hidden.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
                hidden.errorMessage = "The described group uses topics that the client is not authorized to describe.";
                group = std::move(hidden);
              }
              for (auto& group : refused.groups) response.groups.push_back(std::move(group));
              held->respond(response);
            });
      });
}

void handleStreamsGroupTopologyDescriptionUpdate(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::StreamsGroupTopologyDescriptionUpdateRequest;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, const Request& message) {
    protocol::StreamsGroupTopologyDescriptionUpdateResponse response;
    response.errorCode = static_cast<int16_t>(ErrorCode::UnsupportedVersion);
    if (areStreamsGroupsEnabled(broker)) {
      if (const ErrorCode error = mayWithGroup(broker, *held, AclOperation::Read, message.groupId);
          error != ErrorCode::None) {
        response.errorCode = static_cast<int16_t>(error);
      } else {
        // As any broker of Kafka's without `group.streams.topology.description.plugin.class`.
        response.errorMessage = "The broker has no streams group topology description plugin configured.";
      }
    }
    held->respond(response);
  });
}

}  // namespace tidemark::broker
