#include <algorithm>

#include "broker/group_requests.h"
#include "broker/group_service.h"
#include "coordinator/share/share_group_coordinator.h"
#include "metadata/features.h"
#include "protocol/generated/alter_share_group_offsets_request.h"
#include "protocol/generated/alter_share_group_offsets_response.h"
#include "protocol/generated/delete_share_group_offsets_request.h"
#include "protocol/generated/delete_share_group_offsets_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/share_group_describe_request.h"
#include "protocol/generated/share_group_describe_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"

// Share groups at the group coordinator: what may be asked is checked here, the rest is coordinator/share/.

namespace tidemark::broker {
namespace {

using network::AclOperation;
using network::ResourceType;

bool hasShareGroups(const BrokerContext& broker) {
  return broker.image()->features.level(metadata::kShareVersionFeature) >= 1;
}

/// Which error the whole request gets; None if it may be served.
ErrorCode mayWithShareGroup(const BrokerContext& broker, const network::Request& request, AclOperation operation,
                            std::string_view groupId) {
  return hasShareGroups(broker) ? mayWithGroup(broker, request, operation, groupId) : ErrorCode::UnsupportedVersion;
}

/// Takes the topics out that may not be read; the answers to them.
template <class Response, class Topics, class Answer>
Response takeForbiddenTopics(const BrokerContext& broker, const network::Request& request, Topics& topics,
                             Answer answer) {
  Response refused;
  std::erase_if(topics, [&](const auto& topic) {
    if (broker.allows(request, AclOperation::Read, ResourceType::Topic, topic.topicName)) return false;
    auto& answered = refused.responses.emplace_back();
    answered.topicName = topic.topicName;
    answer(topic, answered);
    return true;
  });
  return refused;
}

/// Answers with what was refused before behind what the coordinator says.
template <class Response>
auto answeringWith(network::RequestPtr held, Response refused) {
  return [answered = std::move(held), refused = std::move(refused)](Response response) mutable {
    for (auto& topic : refused.responses) response.responses.push_back(std::move(topic));
    answered->respond(response);
  };
}

}  // namespace

void handleShareGroupHeartbeat(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::ShareGroupHeartbeatRequest;
  using Response = protocol::ShareGroupHeartbeatResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, const Request& message) {
    if (const ErrorCode error = mayWithShareGroup(broker, *held, AclOperation::Read, message.groupId);
        error != ErrorCode::None)
      return refuseWith<Response>(*held, error);
    if (message.subscribedTopicNames && !std::ranges::all_of(*message.subscribedTopicNames, [&](const auto& topic) {
          return broker.mayDescribe(*held, topic);
        }))
      return refuseWith<Response>(*held, ErrorCode::TopicAuthorizationFailed);
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.shares().heartbeat(info, message, answering<Response>(std::move(held)));
  });
}

void handleShareGroupDescribe(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::ShareGroupDescribeRequest;
  using Response = protocol::ShareGroupDescribeResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    Response refused;
    takeRefusedGroups(message.groupIds, refused.groups, [&](const protocol::Text& group) {
      return mayWithShareGroup(broker, *held, AclOperation::Describe, group);
    });
    const bool operations = message.includeAuthorizedOperations;
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.shares().describe(
        info, message,
        [&broker, answered = std::move(held), refused = std::move(refused), operations](Response response) mutable {
          if (operations) addAuthorizedOperations(broker, *answered, response.groups);
          for (auto& group : refused.groups) response.groups.push_back(std::move(group));
          answered->respond(response);
        });
  });
}

void handleDescribeShareGroupOffsets(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::DescribeShareGroupOffsetsRequest;
  using Response = protocol::DescribeShareGroupOffsetsResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    Response refused;
    takeRefusedGroups(message.groups, refused.groups, [&](const auto& group) {
      return mayWithShareGroup(broker, *held, AclOperation::Describe, group.groupId);
    });
    for (auto& group : message.groups)
      if (group.topics)
        std::erase_if(*group.topics, [&](const auto& topic) { return !broker.mayDescribe(*held, topic.topicName); });
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.shares().describeOffsets(
        info, message, [&broker, answered = std::move(held), refused = std::move(refused)](Response response) mutable {
          for (auto& group : response.groups)
            std::erase_if(group.topics,
                          [&](const auto& topic) { return !broker.mayDescribe(*answered, topic.topicName); });
          for (auto& group : refused.groups) response.groups.push_back(std::move(group));
          answered->respond(response);
        });
  });
}

void handleAlterShareGroupOffsets(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::AlterShareGroupOffsetsRequest;
  using Response = protocol::AlterShareGroupOffsetsResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    if (const ErrorCode error = mayWithShareGroup(broker, *held, AclOperation::Read, message.groupId);
        error != ErrorCode::None)
      return refuseWith<Response>(*held, error);
    Response refused =
        takeForbiddenTopics<Response>(broker, *held, message.topics, [](const auto& topic, auto& answer) {
          for (const auto& partition : topic.partitions) {
            auto& one = answer.partitions.emplace_back();
            one.partitionIndex = partition.partitionIndex;
            one.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
          }
        });
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.shares().alterOffsets(info, message, answeringWith(std::move(held), std::move(refused)));
  });
}

void handleDeleteShareGroupOffsets(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::DeleteShareGroupOffsetsRequest;
  using Response = protocol::DeleteShareGroupOffsetsResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    if (const ErrorCode error = mayWithShareGroup(broker, *held, AclOperation::Delete, message.groupId);
        error != ErrorCode::None)
      return refuseWith<Response>(*held, error);
    Response refused = takeForbiddenTopics<Response>(broker, *held, message.topics, [](const auto&, auto& answer) {
      answer.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
    });
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.shares().deleteOffsets(info, message, answeringWith(std::move(held), std::move(refused)));
  });
}

}  // namespace tidemark::broker
