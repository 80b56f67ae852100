#include "broker/group_requests.h"

#include "broker/auto_topics.h"
#include "broker/group_service.h"
#include "broker/share/share_state_service.h"
#include "broker/transaction/transaction_service.h"
#include "protocol/generated/delete_groups_request.h"
#include "protocol/generated/delete_groups_response.h"
#include "protocol/generated/describe_groups_request.h"
#include "protocol/generated/describe_groups_response.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_delete_request.h"
#include "protocol/generated/offset_delete_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

// FindCoordinator and the APIs of the group coordinator: what may be asked is checked here, the rest is coordinator/.

namespace tidemark::broker {
namespace {

using coordinator::GroupCoordinator;
using network::AclOperation;
using network::ResourceType;

/// A request about one group that answers with a single error code.
template <class Info, class Message, class Response>
void handleGroup(BrokerContext& broker, network::RequestPtr request, AclOperation operation,
                 void (GroupCoordinator::*serve)(Info, Message, coordinator::Reply<Response>)) {
  using Request = std::remove_cvref_t<Message>;
  withDecoded<Request>(std::move(request), [&](network::RequestPtr held, Request message) {
    if (!broker.allows(*held, operation, ResourceType::Group, message.groupId))
      return refuseWith<Response>(*held, ErrorCode::GroupAuthorizationFailed);
    coordinator::RequestInfo info = infoWithBody(*held);
    (broker.groups.groups().*serve)(std::move(info), std::move(message), answering<Response>(std::move(held)));
  });
}

// --- FindCoordinator
// --------------------------------------------------------------------------------------------------

constexpr int8_t kGroupKey = 0;
constexpr int8_t kTransactionKey = 1;
constexpr int8_t kShareKey = 2;

struct Coordinator {
  ErrorCode error = ErrorCode::None;
  NodeId node = kNoNode;
  std::string host;
  int32_t port = -1;
};

Coordinator findCoordinator(const BrokerContext& broker, const network::Request& request, int8_t type,
                            const protocol::Text& key) {
  Coordinator found;
  std::string topicName;
  std::optional<PartitionIndex> partition;
  if (type == kGroupKey) {
    if (!broker.allows(request, AclOperation::Describe, ResourceType::Group, key)) {
      found.error = ErrorCode::GroupAuthorizationFailed;
      return found;
    }
    topicName = "__consumer_offsets";
    partition = broker.groups.groups().partitionFor(key.view());
  } else if (type == kTransactionKey) {
    if (!broker.allows(request, AclOperation::Describe, ResourceType::TransactionalId, key)) {
      found.error = ErrorCode::TransactionalIdAuthorizationFailed;
      return found;
    }
    topicName = "__transaction_state";
    partition = broker.transactions.coordinator().partitionFor(key.view());
  } else if (type == kShareKey) {
    if (!broker.allows(request, AclOperation::ClusterAction, ResourceType::Cluster, network::kClusterResource)) {
      found.error = ErrorCode::ClusterAuthorizationFailed;
      return found;
    }
    const auto share = coordinator::ShareKey::parse(key.view());
    if (!share) {
      found.error = ErrorCode::InvalidRequest;
      return found;
    }
    topicName = kShareStateTopic;
    partition = broker.shareStates.states().partitionFor(*share);
  } else {
    found.error = ErrorCode::InvalidRequest;
    return found;
  }
  const metadata::ImagePtr image = broker.image();
  const metadata::TopicImage* topic = image->topics.find(topicName);
  if (topic == nullptr || !partition) {
    if (topic == nullptr) broker.autoTopics.request(topicName);
    found.error = ErrorCode::CoordinatorNotAvailable;
    return found;
  }
  const metadata::PartitionRegistration* registration = topic->partition(*partition);
  const metadata::BrokerRegistration* leader =
      registration != nullptr ? image->cluster.broker(registration->leader) : nullptr;
  const metadata::Endpoint* endpoint =
      leader != nullptr && !leader->fenced ? leader->endpoint(request.context().listener()) : nullptr;
  if (endpoint == nullptr) {
    found.error = ErrorCode::CoordinatorNotAvailable;
    return found;
  }
  found.node = leader->id;
  found.host = endpoint->host;
  found.port = endpoint->port;
  return found;
}

}  // namespace

void handleFindCoordinator(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::FindCoordinatorRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::FindCoordinatorRequest& message) {
        protocol::FindCoordinatorResponse response;
        if (held->apiVersion() >= 4) {
          for (const protocol::Text& key : message.coordinatorKeys) {
            const Coordinator found = findCoordinator(broker, *held, message.keyType, key);
            response.coordinators.push_back({.key = key,
                                             .nodeId = found.node.value(),
                                             .host = protocol::Text(found.host),
                                             .port = found.port,
                                             .errorCode = static_cast<int16_t>(found.error),
                                             .errorMessage = protocol::Text(std::string())});
          }
        } else {
          const Coordinator found = findCoordinator(broker, *held, message.keyType, message.key);
          response.errorCode = static_cast<int16_t>(found.error);
          response.errorMessage = std::nullopt;
          response.nodeId = found.node.value();
          response.host = protocol::Text(found.host);
          response.port = found.port;
        }
        held->respond(response);
      });
}

void handleJoinGroup(BrokerContext& broker, network::RequestPtr request) {
  handleGroup(broker, std::move(request), AclOperation::Read, &GroupCoordinator::joinGroup);
}
void handleSyncGroup(BrokerContext& broker, network::RequestPtr request) {
  handleGroup(broker, std::move(request), AclOperation::Read, &GroupCoordinator::syncGroup);
}
void handleHeartbeat(BrokerContext& broker, network::RequestPtr request) {
  handleGroup(broker, std::move(request), AclOperation::Read, &GroupCoordinator::heartbeat);
}
void handleLeaveGroup(BrokerContext& broker, network::RequestPtr request) {
  handleGroup(broker, std::move(request), AclOperation::Read, &GroupCoordinator::leaveGroup);
}
void handleOffsetDelete(BrokerContext& broker, network::RequestPtr request) {
  handleGroup(broker, std::move(request), AclOperation::Delete, &GroupCoordinator::deleteOffsets);
}

void handleOffsetCommit(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::OffsetCommitRequest;
  using Response = protocol::OffsetCommitResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    const metadata::ImagePtr image = broker.image();
    const bool group = broker.allows(*held, AclOperation::Read, ResourceType::Group, message.groupId);
    Response refused;
    std::erase_if(message.topics, [&](const Request::OffsetCommitRequestTopic& topic) {
      const metadata::TopicImage* known = topic.topicId.isZero() ? nullptr : image->topics.find(topic.topicId);
      const protocol::Text name = known != nullptr ? protocol::Text(known->name) : topic.name;
      if (group && (name.view().empty() || broker.allows(*held, AclOperation::Read, ResourceType::Topic, name)))
        return false;
      auto& answer = refused.topics.emplace_back();
      answer.name = topic.name;
      answer.topicId = topic.topicId;
      for (const auto& partition : topic.partitions)
        answer.partitions.push_back({.partitionIndex = partition.partitionIndex,
                                     .errorCode = static_cast<int16_t>(group ? ErrorCode::TopicAuthorizationFailed
                                                                             : ErrorCode::GroupAuthorizationFailed)});
      return true;
    });
    if (!group) {
      held->respond(refused);
      return;
    }
    coordinator::RequestInfo info = infoWithBody(*held);
    coordinator::Reply<Response> reply = answering<Response>(std::move(held));
    if (!refused.topics.empty())
      reply = [reply = std::move(reply), refused = std::move(refused)](Response response) mutable {
        for (auto& topic : refused.topics) response.topics.push_back(std::move(topic));
        reply(std::move(response));
      };
    broker.groups.groups().commitOffsets(std::move(info), std::move(message), std::move(reply));
  });
}

void handleOffsetFetch(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::OffsetFetchRequest;
  using Response = protocol::OffsetFetchResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    if (held->apiVersion() < 8) {
      if (!broker.allows(*held, AclOperation::Describe, ResourceType::Group, message.groupId))
        return refuseWith<Response>(*held, ErrorCode::GroupAuthorizationFailed);
      if (message.topics)
        std::erase_if(*message.topics, [&](const auto& topic) { return !broker.mayDescribe(*held, topic.name); });
    }
    Response refused;
    takeRefusedGroups(message.groups, refused.groups, [&](const Request::OffsetFetchRequestGroup& group) {
      return mayWithGroup(broker, *held, AclOperation::Describe, group.groupId);
    });
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.groups().fetchOffsets(
        info, message, [held = std::move(held), refused = std::move(refused)](Response response) mutable {
          for (auto& group : refused.groups) response.groups.push_back(std::move(group));
          held->respond(response);
        });
  });
}

void handleDescribeGroups(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::DescribeGroupsRequest;
  using Response = protocol::DescribeGroupsResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    Response refused;
    takeRefusedGroups(message.groups, refused.groups, [&](const protocol::Text& group) {
      return mayWithGroup(broker, *held, AclOperation::Describe, group);
    });
    const bool operations = message.includeAuthorizedOperations;
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.groups().describeGroups(
        info, message,
        [&broker, held = std::move(held), refused = std::move(refused), operations](Response response) mutable {
          if (operations) addAuthorizedOperations(broker, *held, response.groups);
          for (auto& group : refused.groups) response.groups.push_back(std::move(group));
          held->respond(response);
        });
  });
}

void handleListGroups(BrokerContext& broker, network::RequestPtr request) {
  using Response = protocol::ListGroupsResponse;
  withDecoded<protocol::ListGroupsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::ListGroupsRequest& message) {
        const coordinator::RequestInfo info = infoOf(*held);
        broker.groups.groups().listGroups(info, message, [&broker, held = std::move(held)](Response response) mutable {
          // Who may describe the cluster sees all groups, others those that they may describe.
          if (!broker.allows(*held, AclOperation::Describe, ResourceType::Cluster, network::kClusterResource))
            std::erase_if(response.groups, [&](const auto& group) {
              return !broker.allows(*held, AclOperation::Describe, ResourceType::Group, group.groupId);
            });
          held->respond(response);
        });
      });
}

void handleDeleteGroups(BrokerContext& broker, network::RequestPtr request) {
  using Request = protocol::DeleteGroupsRequest;
  using Response = protocol::DeleteGroupsResponse;
  withDecoded<Request>(std::move(request), [&broker](network::RequestPtr held, Request message) {
    Response refused;
    takeRefusedGroups(message.groupsNames, refused.results, [&](const protocol::Text& group) {
      return mayWithGroup(broker, *held, AclOperation::Delete, group);
    });
    const coordinator::RequestInfo info = infoOf(*held);
    broker.groups.groups().deleteGroups(
        info, message, [held = std::move(held), refused = std::move(refused)](Response response) mutable {
          for (auto& result : refused.results) response.results.push_back(std::move(result));
          held->respond(response);
        });
  });
}

}  // namespace tidemark::broker
