#include <algorithm>

#include "broker/group_requests.h"
#include "broker/group_service.h"
#include "metadata/features.h"
#include "protocol/generated/consumer_group_describe_request.h"
#include "protocol/generated/consumer_group_describe_response.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"

// The APIs of consumer groups (KIP-848): what may be asked; the rest is coordinator/.

namespace tidemark::broker {
namespace {

using network::AclOperation;
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
  const ErrorCode ofGroup = mayWithGroup(broker, request, AclOperation::Read, message.groupId);
  if (ofGroup != ErrorCode::None || !message.subscribedTopicNames) return ofGroup;
  const bool allowed = std::ranges::all_of(
      *message.subscribedTopicNames, [&](const protocol::Text& topic) { return broker.mayDescribe(request, topic); });
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
        coordinator::RequestInfo info = infoWithBody(*held);
        // The request lives until it is answered, and is asked no later.
        info.mayDescribe = [&broker, asks = held.get()](std::string_view topic) {
          return broker.mayDescribe(*asks, topic);
        };
        broker.groups.groups().consumerHeartbeat(std::move(info), std::move(message),
                                                 answering<ConsumerGroupHeartbeatResponse>(std::move(held)));
      });
}

void handleConsumerGroupDescribe(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<ConsumerGroupDescribeRequest>(
      std::move(request), [&broker](network::RequestPtr held, ConsumerGroupDescribeRequest message) {
        ConsumerGroupDescribeResponse refused;
        const bool enabled = areConsumerGroupsEnabled(broker);
        takeRefusedGroups(message.groupIds, refused.groups, [&](const protocol::Text& group) {
          const ErrorCode error = mayWithGroup(broker, *held, AclOperation::Describe, group);
          return enabled ? error : ErrorCode::UnsupportedVersion;
        });
        const coordinator::RequestInfo info = infoOf(*held);
        broker.groups.groups().describeConsumerGroups(
            info, message,
            [&broker, held = std::move(held), refused = std::move(refused),
             operations = message.includeAuthorizedOperations](ConsumerGroupDescribeResponse response) mutable {
              for (auto& group : response.groups) {
                if (group.errorCode != 0) continue;
                const bool hidden = std::ranges::any_of(group.members, [&](const auto& member) {
                  return std::ranges::any_of(member.assignment.topicPartitions, [&](const auto& topic) {
                    return !broker.mayDescribe(*held, topic.topicName);
                  });
                });
                if (!hidden) continue;
                group.members.clear();
                group.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
                group.errorMessage = "The group has described topic(s) that the client is not authorized to describe.";
              }
              if (operations) addAuthorizedOperations(broker, *held, response.groups);
              for (auto& group : refused.groups) response.groups.push_back(std::move(group));
              held->respond(response);
            });
      });
}

}  // namespace tidemark::broker
