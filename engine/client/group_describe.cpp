#include <fmt/format.h>

#include "client/admin_call.h"
#include "client/group_admin.h"
#include "protocol/generated/consumer_group_describe_request.h"
#include "protocol/generated/consumer_group_describe_response.h"
#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/describe_groups_request.h"
#include "protocol/generated/describe_groups_response.h"
#include "protocol/generated/share_group_describe_request.h"
#include "protocol/generated/share_group_describe_response.h"
#include "protocol/generated/streams_group_describe_request.h"
#include "protocol/generated/streams_group_describe_response.h"
#include "protocol/reader.h"

// One request for each protocol, one answer for all.

namespace tidemark::client {
namespace {

/// The partitions of a member of the consumer protocol; nothing if the assignment is not one of that protocol.
std::vector<TopicPartition> partitionsOf(ByteView assignment) {
  // Version 0 is a prefix of every later one.
  protocol::Reader reader(assignment);
  const int16_t version = reader.int16();
  protocol::ConsumerProtocolAssignment message;
  std::vector<TopicPartition> partitions;
  if (!reader.ok() || version < 0 || !message.read(reader, 0)) return partitions;
  for (const auto& topic : message.assignedPartitions)
    for (const int32_t partition : topic.partitions)
      partitions.push_back({topic.topic.str(), PartitionIndex(partition)});
  return partitions;
}

template <class Assignment>
std::vector<TopicPartition> partitionsIn(const Assignment& assignment) {
  std::vector<TopicPartition> partitions;
  for (const auto& topic : assignment.topicPartitions)
    for (const int32_t partition : topic.partitions)
      partitions.push_back({topic.topicName.str(), PartitionIndex(partition)});
  return partitions;
}

std::string textOf(const std::optional<protocol::Text>& text) {
  return text ? text->str() : std::string();
}

/// The group that was asked for, or why there is none.
template <class Response>
auto onlyGroup(const Response& response, const std::string& group) -> Result<const typename Response::DescribedGroup*> {
  if (response.groups.size() != 1) return detail::noAnswerFor(group);
  const auto& found = response.groups[0];
  if (found.errorCode != 0) return fail(errorOf(found.errorCode, found.errorMessage, group));
  return &found;
}

/// What the answers of all but the classic protocol have in common.
template <class Described>
GroupDescription describedBy(const Described& found, GroupType type) {
  return {.id = found.groupId.str(),
          .type = type,
          .state = found.groupState.str(),
          .protocolType = {},
          .assignor = {},
          .epoch = found.groupEpoch,
          .assignmentEpoch = found.assignmentEpoch,
          .members = {}};
}

template <class Member>
GroupMember memberOf(const Member& member) {
  GroupMember result;
  result.id = member.memberId.str();
  result.clientId = member.clientId.str();
  result.host = member.clientHost.str();
  result.rack = textOf(member.rackId);
  result.epoch = member.memberEpoch;
  return result;
}

Result<GroupDescription> classicGroup(const protocol::DescribeGroupsResponse& response, const std::string& group) {
  const auto found = onlyGroup(response, group);
  if (!found) return std::unexpected(found.error());
  GroupDescription description{.id = group,
                               .type = GroupType::Classic,
                               .state = (*found)->groupState.str(),
                               .protocolType = (*found)->protocolType.str(),
                               .assignor = (*found)->protocolData.str(),
                               .members = {}};
  // Before version 6 a group that is not there is a dead one.
  if (description.state == "Dead" && (*found)->members.empty()) return fail(ErrorCode::GroupIdNotFound, group);
  for (const auto& each : (*found)->members) {
    GroupMember member;
    member.id = each.memberId.str();
    member.instanceId = textOf(each.groupInstanceId);
    member.clientId = each.clientId.str();
    member.host = each.clientHost.str();
    member.assigned = partitionsOf(each.memberAssignment.view());
    description.members.push_back(std::move(member));
  }
  return description;
}

Result<GroupDescription> consumerGroup(const protocol::ConsumerGroupDescribeResponse& response,
                                       const std::string& group) {
  const auto found = onlyGroup(response, group);
  if (!found) return std::unexpected(found.error());
  GroupDescription description = describedBy(**found, GroupType::Consumer);
  description.protocolType = "consumer";
  description.assignor = (*found)->assignorName.str();
  for (const auto& each : (*found)->members) {
    GroupMember member = memberOf(each);
    member.instanceId = textOf(each.instanceId);
    member.classic = each.memberType == 0;
    member.assigned = partitionsIn(each.assignment);
    member.target = partitionsIn(each.targetAssignment);
    description.members.push_back(std::move(member));
  }
  return description;
}

Result<GroupDescription> shareGroup(const protocol::ShareGroupDescribeResponse& response, const std::string& group) {
  const auto found = onlyGroup(response, group);
  if (!found) return std::unexpected(found.error());
  GroupDescription description = describedBy(**found, GroupType::Share);
  description.protocolType = "share";
  description.assignor = (*found)->assignorName.str();
  for (const auto& each : (*found)->members) {
    GroupMember member = memberOf(each);
    member.assigned = partitionsIn(each.assignment);
    description.members.push_back(std::move(member));
  }
  return description;
}

Result<GroupDescription> streamsGroup(const protocol::StreamsGroupDescribeResponse& response,
                                      const std::string& group) {
  const auto found = onlyGroup(response, group);
  if (!found) return std::unexpected(found.error());
  GroupDescription description = describedBy(**found, GroupType::Streams);
  description.protocolType = "streams";
  description.assignor = textOf((*found)->assignorName);
  for (const auto& each : (*found)->members) {
    GroupMember member = memberOf(each);
    member.instanceId = textOf(each.instanceId);
    member.classic = each.isClassic;
    const auto add = [&member](const auto& tasks, const char* kind) {
      for (const auto& of : tasks)
        for (const int32_t partition : of.partitions)
          member.tasks.push_back(fmt::format("{}_{}{}", of.subtopologyId.view(), partition, kind));
    };
    add(each.assignment.activeTasks, "");
    add(each.assignment.standbyTasks, " (standby)");
    add(each.assignment.warmupTasks, " (warm-up)");
    description.members.push_back(std::move(member));
  }
  return description;
}

template <class Request>
void describeWith(detail::Calls& calls, std::string group, std::vector<protocol::Text> Request::* names,
                  Result<GroupDescription> (*extract)(const typename Request::Response&, const std::string&),
                  GroupAdmin::Handler<GroupDescription> handler) {
  Request request;
  (request.*names).emplace_back(group);
  calls.start(detail::Call<GroupDescription, Request>{
      .target = detail::Target::groupCoordinator(group),
      .request = std::move(request),
      .extract = [group, extract](const typename Request::Response& response) { return extract(response, group); },
      .handler = std::move(handler)});
}

}  // namespace

void GroupAdmin::describeGroup(std::string group, GroupType type, Handler<GroupDescription> handler) {
  using namespace protocol;
  switch (type) {
    case GroupType::Consumer:
      return describeWith(*core_, std::move(group), &ConsumerGroupDescribeRequest::groupIds, consumerGroup,
                          std::move(handler));
    case GroupType::Share:
      return describeWith(*core_, std::move(group), &ShareGroupDescribeRequest::groupIds, shareGroup,
                          std::move(handler));
    case GroupType::Streams:
      return describeWith(*core_, std::move(group), &StreamsGroupDescribeRequest::groupIds, streamsGroup,
                          std::move(handler));
    case GroupType::Unknown:
    case GroupType::Classic:
      break;
  }
  describeWith(*core_, std::move(group), &DescribeGroupsRequest::groups, classicGroup, std::move(handler));
}

}  // namespace tidemark::client
