#include <algorithm>

#include "broker/group_service.h"
#include "broker/requests.h"
#include "metadata/features.h"
#include "protocol/generated/consumer_group_describe_request.h"
#include "protocol/generated/consumer_group_describe_response.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"

// The APIs of consumer groups (KIP-848): what may be asked; the rest is coordinator/.

namespace tidemark::broker {
namespace {

using network::AclOperation;
using network::ResourceType;
using protocol::ConsumerGroupDescribeRequest;
using protocol::ConsumerGroupDescribeResponse;
using protocol::ConsumerGroupHeartbeatRequest;
using protocol::ConsumerGroupHeartbeatResponse;

/// The cluster has the feature, and `group.coordinator.rebalance.protocols` the protocol.
bool areConsumerGroupsEnabled(const BrokerContext& broker) {
  if (broker.image()->features.level(metadata::kGroupVersionFeature) < 1) return false;
  return broker.groups.isServed("consumer");
}

ErrorCode refusalOfConsumer(const BrokerContext& broker, const network::Request& request,
                            const ConsumerGroupHeartbeatRequest& message) {
  if (!areConsumerGroupsEnabled(broker)) return ErrorCode::UnsupportedVersion;
  const auto allows = [&](AclOperation operation, ResourceType type, const protocol::Text& name) {
    return broker.allows(request.context(), operation, type, name.view());
  };
  if (!allows(AclOperation::Read, ResourceType::Group, message.groupId)) return ErrorCode::GroupAuthorizationFailed;
  if (!message.subscribedTopicNames) return ErrorCode::None;
  const bool allowed = std::ranges::all_of(*message.subscribedTopicNames, [&](const protocol::Text& topic) {
    return allows(AclOperation::Describe, ResourceType::Topic, topic);
  });
  return allowed ? ErrorCode::None : ErrorCode::TopicAuthorizationFailed;
}

}  // namespace

void handleConsumerGroupHeartbeat(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<ConsumerGroupHeartbeatRequest>(
      std::move(request), [&broker](network::RequestPtr held, ConsumerGroupHeartbeatRequest message) {
        if (const ErrorCode refusal = refusalOfConsumer(broker, *held, message); refusal != ErrorCode::None) {
          ConsumerGroupHeartbeatResponse response;
          response.errorCode = static_cast<int16_t>(refusal);
          response.memberId.reset();
          response.assignment.reset();
          held->respond(response);
          return;
        }
        coordinator::RequestInfo info;
        info.apiVersion = held->apiVersion();
        info.clientId = held->context().clientId();
        info.clientHost = held->context().peer->address.host;
        info.body = held->frame();
        held->releaseFrame();
        // The request lives until it is answered, and is asked no later.
        info.mayDescribe = [&broker, asks = held.get()](std::string_view topic) {
          return broker.allows(asks->context(), AclOperation::Describe, ResourceType::Topic, topic);
        };
        broker.groups.groups().consumerHeartbeat(
            std::move(info), std::move(message),
            [held = std::move(held)](ConsumerGroupHeartbeatResponse response) mutable { held->respond(response); });
      });
}

void handleConsumerGroupDescribe(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<ConsumerGroupDescribeRequest>(std::move(request), [&broker](network::RequestPtr held,
                                                                          ConsumerGroupDescribeRequest message) {
    ConsumerGroupDescribeResponse refused;
    const bool enabled = areConsumerGroupsEnabled(broker);
    std::erase_if(message.groupIds, [&](const protocol::Text& group) {
      const bool allowed = broker.allows(held->context(), AclOperation::Describe, ResourceType::Group, group.view());
      if (enabled && allowed) return false;
      auto& answer = refused.groups.emplace_back();
      answer.groupId = group;
      answer.errorCode =
          static_cast<int16_t>(enabled ? ErrorCode::GroupAuthorizationFailed : ErrorCode::UnsupportedVersion);
      return true;
    });
    coordinator::RequestInfo info;
    info.apiVersion = held->apiVersion();
    broker.groups.groups().describeConsumerGroups(
        info, message,
        [&broker, held = std::move(held), refused = std::move(refused),
         operations = message.includeAuthorizedOperations](ConsumerGroupDescribeResponse response) mutable {
          for (auto& group : response.groups) {
            if (group.errorCode != 0) continue;
            const bool hidden = std::ranges::any_of(group.members, [&](const auto& member) {
              return std::ranges::any_of(member.assignment.topicPartitions, [&](const auto& topic) {
                return !broker.allows(held->context(), AclOperation::Describe, ResourceType::Topic,
                                      topic.topicName.view());
              });
            });
            if (hidden) {
              group.members.clear();
              group.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
              group.errorMessage = "The group has described topic(s) that the client is not authorized to describe.";
            } else if (operations) {
              group.authorizedOperations =
                  broker.authorizer.allowedOperations(held->context(), ResourceType::Group, group.groupId.view());
            }
          }
          for (auto& group : refused.groups) response.groups.push_back(std::move(group));
          held->respond(response);
        });
  });
}

}  // namespace tidemark::broker
