#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/group_fixture.h"
#include "protocol/generated/consumer_group_describe_request.h"
#include "protocol/generated/consumer_group_describe_response.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"

namespace tidemark::coordinator {

/// Partitions by topic name.
using Owned = std::map<std::string, std::set<int32_t>>;

/// A ConsumerGroupHeartbeat, with what most tests say.
struct Beat {
  std::string member = "a";
  int32_t epoch = 0;
  std::optional<std::vector<std::string>> topics;
  std::optional<std::string> regex;
  /// What it owns, if it says so.
  std::optional<Owned> owned;
  std::optional<std::string> instance;
  std::optional<std::string> assignor;
  std::optional<std::string> rack;
  int32_t rebalanceMs = -1;
  int16_t version = 1;
  std::string group = "cg";
};

/// A coordinator with groups of the consumer protocol; `orders` and `bills` have three partitions each.
class ConsumerProtocolGroups : public Groups {
 protected:
  using Response = protocol::ConsumerGroupHeartbeatResponse;
  using Groups::errorOf;

  static std::vector<std::string> orders() { return {"orders"}; }

  ConsumerProtocolGroups() {
    config_.consumer.assignmentInterval = 0ms;
    restart();
  }

  /// A coordinator that starts from the log, with the settings as they are now.
  void restart() {
    resign();
    coordinator_.reset();
    start();
  }

  /// Asked, but not yet looked at.
  Answer<Response> beatLater(const Beat& says) {
    protocol::ConsumerGroupHeartbeatRequest request;
    request.groupId = says.group;
    request.memberId = says.member;
    request.memberEpoch = says.epoch;
    request.rebalanceTimeoutMs = says.rebalanceMs;
    if (says.instance) request.instanceId = *says.instance;
    if (says.rack) request.rackId = *says.rack;
    if (says.assignor) request.serverAssignor = *says.assignor;
    if (says.regex) request.subscribedTopicRegex = *says.regex;
    if (says.topics) {
      request.subscribedTopicNames.emplace();
      for (const std::string& topic : *says.topics) request.subscribedTopicNames->emplace_back(topic);
    }
    if (says.owned) {
      request.topicPartitions.emplace();
      for (const auto& [topic, partitions] : *says.owned) {
        auto& one = request.topicPartitions->emplace_back();
        one.topicId = *topics_.topicId(topic);
        one.partitions.assign(partitions.begin(), partitions.end());
      }
    }
    Answer<Response> answer;
    coordinator_->consumerHeartbeat({says.version, "client", "/127.0.0.1", {}}, request, answer.reply());
    return answer;
  }
  Answer<Response> beat(const Beat& says) {
    const auto answer = beatLater(says);
    executor_->drain();
    return answer;
  }
  static Beat entering(const std::string& member, std::vector<std::string> topics = {"orders"},
                       std::optional<std::string> instance = std::nullopt) {
    return {.member = member,
            .topics = std::move(topics),
            .owned = Owned(),
            .instance = std::move(instance),
            .rebalanceMs = 60000};
  }
  Answer<Response> enter(const std::string& member, std::vector<std::string> topics = {"orders"},
                         std::optional<std::string> instance = std::nullopt) {
    return beat(entering(member, std::move(topics), std::move(instance)));
  }
  ErrorCode errorOf(const Beat& says) { return beat(says).error(); }

  std::optional<Owned> assignedIn(const Response& response) {
    if (!response.assignment) return std::nullopt;
    Owned owned;
    for (const auto& topic : response.assignment->topicPartitions) {
      owned[*topics_.topicName(topic.topicId)].insert(topic.partitions.begin(), topic.partitions.end());
    }
    return owned;
  }

  protocol::ConsumerGroupDescribeResponse::DescribedGroup describe(const std::string& group = "cg") {
    protocol::ConsumerGroupDescribeRequest request;
    request.groupIds.emplace_back(group);
    Answer<protocol::ConsumerGroupDescribeResponse> answer;
    coordinator_->describeConsumerGroups({1, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    return answer.get().groups.at(0);
  }
  std::string stateOfConsumers(const std::string& group = "cg") { return describe(group).groupState.str(); }

  GroupSnapshot shown(const std::string& group = "cg") {
    Answer<std::vector<GroupSnapshot>> answer;
    coordinator_->snapshot(answer.reply());
    executor_->drain();
    for (const GroupSnapshot& one : answer.get()) {
      if (one.groupId == group) return one;
    }
    return {};
  }
  /// No partition is owned by two (G1).
  void expectOneOwnerEach(const std::string& group = "cg") {
    std::map<TopicPartition, std::string> owners;
    for (const GroupMemberSnapshot& member : shown(group).members) {
      for (const auto* partitions : {&member.assigned, &member.revoking}) {
        for (const TopicPartition& one : *partitions) {
          EXPECT_TRUE(owners.emplace(one, member.memberId).second)
              << one.topic << "-" << one.partition.value() << " of " << member.memberId << " and " << owners[one];
        }
      }
    }
  }
};

}  // namespace tidemark::coordinator
