#include "coordinator/group/group_shard.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "protocol/generated/share_group_describe_response.h"

// What groups are: to those who describe and list them, and to views.

namespace tidemark::coordinator {

using protocol::DescribeGroupsResponse;
using protocol::ListGroupsRequest;
using protocol::ListGroupsResponse;

namespace {

constexpr int16_t kFirstDescribeVersionWithError = 6;
constexpr std::string_view kClassicType = "classic";
constexpr std::string_view kConsumerType = "consumer";
constexpr std::string_view kShareType = "share";
constexpr std::string_view kStreamsType = "streams";

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool matches(const std::vector<protocol::Text>& filter, std::string_view value) {
  if (filter.empty()) return true;
  return std::any_of(filter.begin(), filter.end(),
                     [lower = lowerCase(value)](const protocol::Text& one) { return lowerCase(one) == lower; });
}

GroupSnapshot shareGroupShown(const protocol::ShareGroupDescribeResponse::DescribedGroup& told) {
  GroupSnapshot group;
  group.groupId = told.groupId.str();
  group.kind = events::GroupKind::Share;
  group.state = told.groupState.str();
  group.protocolType = "share";
  group.protocol = told.assignorName.str();
  group.generation = told.groupEpoch;
  group.assignmentEpoch = told.assignmentEpoch;
  for (const auto& each : told.members) {
    GroupMemberSnapshot& member = group.members.emplace_back();
    member.memberId = each.memberId.str();
    member.clientId = each.clientId.str();
    member.clientHost = each.clientHost.str();
    if (each.rackId) member.rackId = each.rackId->str();
    member.state = "STABLE";
    member.isClassic = false;
    member.epoch = each.memberEpoch;
    for (const auto& topic : each.subscribedTopicNames) member.subscribedTopics.push_back(topic.str());
    for (const auto& topic : each.assignment.topicPartitions)
      for (const int32_t partition : topic.partitions)
        member.assigned.push_back({topic.topicName.str(), PartitionIndex(partition)});
    member.target = member.assigned;
  }
  return group;
}

}  // namespace

DescribeGroupsResponse::DescribedGroup GroupShard::describe(std::string_view groupId, int16_t apiVersion) const {
  DescribeGroupsResponse::DescribedGroup described;
  described.groupId = groupId;
  const ClassicGroup* group = groups_.find(groupId);
  if (group == nullptr) {
    described.groupState = stateName(ClassicState::Dead);
    if (apiVersion >= kFirstDescribeVersionWithError) {
      described.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
      const bool isAnother =
          consumers_.find(groupId) != nullptr || streams_.find(groupId) != nullptr || shares_.find(groupId) != nullptr;
      described.errorMessage = fmt::format("Group {} {}.", groupId, isAnother ? "is not a classic group" : "not found");
    }
    return described;
  }
  const bool stable = group->isIn(ClassicState::Stable);
  described.groupState = stateName(group->state());
  described.protocolType = group->protocolType().value_or("");
  if (stable) described.protocolData = group->protocol().value_or("");
  for (const auto& [id, member] : group->members()) {
    auto& one = described.members.emplace_back();
    one.memberId = id;
    if (member.instanceId) one.groupInstanceId = *member.instanceId;
    one.clientId = member.clientId;
    one.clientHost = member.clientHost;
    if (!stable) continue;
    if (const ByteVector* metadata = member.metadataOf(group->protocol().value_or(""))) one.memberMetadata = *metadata;
    one.memberAssignment = member.assignment;
  }
  return described;
}

protocol::ConsumerGroupDescribeResponse::DescribedGroup GroupShard::describeConsumers(std::string_view groupId) const {
  if (const ConsumerGroup* group = consumers_.find(groupId)) return consumers_.describe(*group);
  protocol::ConsumerGroupDescribeResponse::DescribedGroup described;
  described.groupId = groupId;
  described.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
  const bool isAnother = isOfAnotherKind(groupId) || shares_.find(groupId) != nullptr;
  described.errorMessage = fmt::format("Group {} {}.", groupId, isAnother ? "is not a consumer group" : "not found");
  return described;
}

void GroupShard::list(const ListGroupsRequest& request, std::vector<ListGroupsResponse::ListedGroup>& into) const {
  const auto add = [&](std::string_view id, std::string_view protocolType, std::string_view state,
                       std::string_view type) {
    auto& one = into.emplace_back();
    one.groupId = id;
    one.protocolType = protocolType;
    one.groupState = state;
    one.groupType = type;
  };
  if (matches(request.typesFilter, kClassicType)) {
    for (const auto& [id, group] : groups_.all()) {
      if (!matches(request.statesFilter, stateName(group.state()))) continue;
      add(id, group.protocolType().value_or(""), stateName(group.state()), kClassicType);
    }
  }
  if (matches(request.typesFilter, kConsumerType)) {
    for (const auto& [id, group] : consumers_.all()) {
      const std::string_view state = events::nameOf(group.state());
      if (matches(request.statesFilter, state)) add(id, kConsumerType, state, kConsumerType);
    }
  }
  if (matches(request.typesFilter, kShareType)) {
    for (const auto& [id, group] : shares_.all()) {
      if (!matches(request.statesFilter, group.stateName())) continue;
      add(id, kShareType, group.stateName(), kShareType);
    }
  }
  if (matches(request.typesFilter, kStreamsType)) {
    for (const auto& [id, group] : streams_.all()) {
      // Kafka's own clients ask for this state with a word between.
      const bool notReady = group.state() == StreamsState::NotReady && matches(request.statesFilter, "not_ready");
      if (!notReady && !matches(request.statesFilter, stateName(group.state()))) continue;
      add(id, kStreamsProtocolType, stateName(group.state()), kStreamsType);
    }
  }
}

void GroupShard::snapshot(std::vector<GroupSnapshot>& into) const {
  const size_t first = into.size();
  groups_.snapshot(into);
  consumers_.snapshot(into);
  streams_.snapshot(into);
  for (const auto& [id, group] : shares_.all()) into.push_back(shareGroupShown(shares_.describe(id)));
  for (size_t i = first; i < into.size(); ++i) {
    GroupSnapshot& one = into[i];
    one.coordinatorPartition = partition_;
    const OffsetTable::Topics* topics = offsets_.latest().topicsOf(one.groupId);
    if (topics == nullptr) continue;
    for (const auto& [topic, partitions] : *topics) {
      for (const auto& [partition, value] : partitions) {
        one.offsets.push_back({{topic, PartitionIndex(partition)},
                               value->offset,
                               value->leaderEpoch,
                               value->commitTimestampMs,
                               value->metadata});
      }
    }
  }
}

}  // namespace tidemark::coordinator
