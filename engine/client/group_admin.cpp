#include "client/group_admin.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "client/admin_call.h"
#include "protocol/generated/alter_share_group_offsets_request.h"
#include "protocol/generated/alter_share_group_offsets_response.h"
#include "protocol/generated/delete_groups_request.h"
#include "protocol/generated/delete_groups_response.h"
#include "protocol/generated/delete_share_group_offsets_request.h"
#include "protocol/generated/delete_share_group_offsets_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/list_groups_request.h"
#include "protocol/generated/list_groups_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_delete_request.h"
#include "protocol/generated/offset_delete_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace tidemark::client {

using detail::Call;
using detail::noAnswerFor;
using detail::Target;

namespace {

constexpr std::pair<GroupType, std::string_view> kGroupTypes[] = {{GroupType::Classic, "Classic"},
                                                                  {GroupType::Consumer, "Consumer"},
                                                                  {GroupType::Share, "Share"},
                                                                  {GroupType::Streams, "Streams"}};

/// Brokers write it in small letters, and clients must not care.
GroupType groupTypeOf(std::string_view name) {
  for (const auto& [type, known] : kGroupTypes)
    if (std::ranges::equal(name, known, [](char a, char b) { return (a | 0x20) == (b | 0x20); })) return type;
  return GroupType::Unknown;
}

/// Topics with their partitions, as requests name them. By name of the topic.
std::map<std::string, std::vector<TopicPartition>> byTopic(const std::vector<TopicPartition>& partitions) {
  std::map<std::string, std::vector<TopicPartition>> topics;
  for (const TopicPartition& one : partitions) topics[one.topic].push_back(one);
  return topics;
}

}  // namespace

std::string_view nameOf(GroupType type) noexcept {
  for (const auto& [known, name] : kGroupTypes)
    if (known == type) return name;
  return {};
}

GroupAdmin::GroupAdmin(Client& client, platform::Duration timeout)
    : core_(std::make_shared<detail::Calls>(client, timeout)) {}

GroupAdmin::~GroupAdmin() {
  core_->stop();
}

void GroupAdmin::listGroups(Handler<Gathered<ListedGroup>> handler) {
  core_->startAtEach<ListedGroup>(
      protocol::ListGroupsRequest(),
      [](NodeId node, const protocol::ListGroupsResponse& response) -> Result<std::vector<ListedGroup>> {
        if (response.errorCode != 0) return fail(errorOf(response.errorCode, {}, fmt::format("broker {}", node)));
        std::vector<ListedGroup> groups;
        for (const auto& each : response.groups)
          groups.push_back({.id = each.groupId.str(),
                            .type = groupTypeOf(each.groupType.view()),
                            .protocolType = each.protocolType.str(),
                            .state = each.groupState.str(),
                            .coordinator = node});
        return groups;
      },
      [handler = std::move(handler)](Result<Gathered<ListedGroup>> all) mutable {
        if (all) std::ranges::sort(all->all, {}, &ListedGroup::id);
        handler(std::move(all));
      });
}

void GroupAdmin::committedOffsets(std::string group, GroupType type, Handler<std::vector<CommittedOffset>> handler) {
  using namespace protocol;
  if (type == GroupType::Share) {
    DescribeShareGroupOffsetsRequest request;
    request.groups.push_back({.groupId = group, .topics = std::nullopt});
    core_->start(Call<std::vector<CommittedOffset>, DescribeShareGroupOffsetsRequest>{
        .target = Target::groupCoordinator(group),
        .request = std::move(request),
        .extract = [group](const DescribeShareGroupOffsetsResponse& response) -> Result<std::vector<CommittedOffset>> {
          if (response.groups.size() != 1) return noAnswerFor(group);
          const auto& found = response.groups[0];
          if (found.errorCode != 0) return fail(errorOf(found.errorCode, found.errorMessage, group));
          std::vector<CommittedOffset> offsets;
          for (const auto& topic : found.topics)
            for (const auto& one : topic.partitions)
              if (one.errorCode == 0 && one.startOffset >= 0)
                offsets.push_back({.partition = {topic.topicName.str(), PartitionIndex(one.partitionIndex)},
                                   .offset = Offset(one.startOffset),
                                   .leaderEpoch = LeaderEpoch(one.leaderEpoch),
                                   .metadata = {}});
          return offsets;
        },
        .handler = std::move(handler)});
    return;
  }
  fetchOffsets(std::move(group), nullptr, std::move(handler));
}

void GroupAdmin::stableOffsets(std::string group, std::vector<TopicPartition> partitions,
                               Handler<std::vector<CommittedOffset>> handler) {
  std::ranges::sort(partitions);
  fetchOffsets(std::move(group), &partitions, std::move(handler));
}

void GroupAdmin::fetchOffsets(std::string group, const std::vector<TopicPartition>* partitions,
                              Handler<std::vector<CommittedOffset>> handler) {
  using namespace protocol;
  OffsetFetchRequest request;
  OffsetFetchRequest::OffsetFetchRequestGroup wanted;
  wanted.groupId = group;
  if (partitions == nullptr) {
    wanted.topics.reset();
  } else {
    request.requireStable = true;
    for (const TopicPartition& each : *partitions) {
      if (wanted.topics->empty() || wanted.topics->back().name != each.topic)
        wanted.topics->emplace_back().name = each.topic;
      wanted.topics->back().partitionIndexes.push_back(each.partition.value());
    }
  }
  request.groups.push_back(std::move(wanted));
  core_->start(Call<std::vector<CommittedOffset>, OffsetFetchRequest>{
      .target = Target::groupCoordinator(group),
      .request = std::move(request),
      .extract = [group](const OffsetFetchResponse& response) -> Result<std::vector<CommittedOffset>> {
        if (response.groups.size() != 1) return noAnswerFor(group);
        const auto& found = response.groups[0];
        if (found.errorCode != 0) return fail(errorOf(found.errorCode, {}, group));
        std::vector<CommittedOffset> offsets;
        for (const auto& topic : found.topics)
          for (const auto& one : topic.partitions) {
            if (one.errorCode != 0)
              return fail(errorOf(one.errorCode, {}, fmt::format("{}-{}", topic.name.view(), one.partitionIndex)));
            if (one.committedOffset < 0) continue;
            offsets.push_back({.partition = {topic.name.str(), PartitionIndex(one.partitionIndex)},
                               .offset = Offset(one.committedOffset),
                               .leaderEpoch = LeaderEpoch(one.committedLeaderEpoch),
                               .metadata = one.metadata ? one.metadata->str() : std::string()});
          }
        std::ranges::sort(offsets, {}, &CommittedOffset::partition);
        return offsets;
      },
      .handler = std::move(handler),
      .options = {.maxVersion = 9}});  // Later ones name topics by id.
}

void GroupAdmin::alterOffsets(std::string group, GroupType type, std::vector<CommittedOffset> offsets,
                              Handler<std::vector<PartitionOutcome>> handler) {
  using namespace protocol;
  std::map<std::string, std::vector<CommittedOffset>> topics;
  for (CommittedOffset& one : offsets) topics[one.partition.topic].push_back(std::move(one));
  using Outcomes = std::vector<PartitionOutcome>;
  if (type == GroupType::Share) {
    AlterShareGroupOffsetsRequest request;
    request.groupId = group;
    for (const auto& [name, partitions] : topics) {
      auto& topic = request.topics.emplace_back();
      topic.topicName = name;
      for (const CommittedOffset& one : partitions)
        topic.partitions.push_back(
            {.partitionIndex = one.partition.partition.value(), .startOffset = one.offset.value()});
    }
    core_->start(Call<Outcomes, AlterShareGroupOffsetsRequest>{
        .target = Target::groupCoordinator(group),
        .request = std::move(request),
        .extract = [group](const AlterShareGroupOffsetsResponse& response) -> Result<Outcomes> {
          if (response.errorCode != 0) return fail(errorOf(response.errorCode, response.errorMessage, group));
          Outcomes outcomes;
          for (const auto& topic : response.responses)
            for (const auto& one : topic.partitions)
              outcomes.push_back(
                  {{topic.topicName.str(), PartitionIndex(one.partitionIndex)}, static_cast<ErrorCode>(one.errorCode)});
          return outcomes;
        },
        .handler = std::move(handler)});
    return;
  }
  OffsetCommitRequest request;
  request.groupId = group;
  for (const auto& [name, partitions] : topics) {
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    for (const CommittedOffset& one : partitions) {
      auto& partition = topic.partitions.emplace_back();
      partition.partitionIndex = one.partition.partition.value();
      partition.committedOffset = one.offset.value();
      partition.committedLeaderEpoch = one.leaderEpoch.value();
      partition.committedMetadata = Text(one.metadata);
    }
  }
  core_->start(Call<Outcomes, OffsetCommitRequest>{
      .target = Target::groupCoordinator(group),
      .request = std::move(request),
      .extract = [](const OffsetCommitResponse& response) -> Result<Outcomes> {
        Outcomes outcomes;
        for (const auto& topic : response.topics)
          for (const auto& one : topic.partitions) {
            const auto code = static_cast<ErrorCode>(one.errorCode);
            // Of the group, not of the partition: the whole is asked again.
            if (code == ErrorCode::NotCoordinator || code == ErrorCode::CoordinatorLoadInProgress ||
                code == ErrorCode::CoordinatorNotAvailable)
              return fail(errorOf(one.errorCode, {}, topic.name.view()));
            outcomes.push_back({{topic.name.str(), PartitionIndex(one.partitionIndex)}, code});
          }
        return outcomes;
      },
      .handler = std::move(handler),
      .options = {.maxVersion = 9}});  // Later ones name topics by id.
}

void GroupAdmin::deleteOffsets(std::string group, GroupType type, std::vector<TopicPartition> partitions,
                               Handler<std::vector<PartitionOutcome>> handler) {
  using namespace protocol;
  using Outcomes = std::vector<PartitionOutcome>;
  const auto topics = byTopic(partitions);
  if (type == GroupType::Share) {
    DeleteShareGroupOffsetsRequest request;
    request.groupId = group;
    for (const auto& [name, each] : topics) request.topics.push_back({.topicName = name});
    core_->start(Call<Outcomes, DeleteShareGroupOffsetsRequest>{
        .target = Target::groupCoordinator(group),
        .request = std::move(request),
        .extract = [group, topics](const DeleteShareGroupOffsetsResponse& response) -> Result<Outcomes> {
          if (response.errorCode != 0) return fail(errorOf(response.errorCode, response.errorMessage, group));
          Outcomes outcomes;
          for (const auto& topic : response.responses)
            if (const auto asked = topics.find(topic.topicName.str()); asked != topics.end())
              for (const TopicPartition& one : asked->second)
                outcomes.push_back({one, static_cast<ErrorCode>(topic.errorCode)});
          return outcomes;
        },
        .handler = std::move(handler)});
    return;
  }
  OffsetDeleteRequest request;
  request.groupId = group;
  for (const auto& [name, each] : topics) {
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    for (const TopicPartition& one : each) topic.partitions.push_back({.partitionIndex = one.partition.value()});
  }
  core_->start(Call<Outcomes, OffsetDeleteRequest>{
      .target = Target::groupCoordinator(group),
      .request = std::move(request),
      .extract = [group](const OffsetDeleteResponse& response) -> Result<Outcomes> {
        if (response.errorCode != 0) return fail(errorOf(response.errorCode, {}, group));
        Outcomes outcomes;
        for (const auto& topic : response.topics)
          for (const auto& one : topic.partitions)
            outcomes.push_back(
                {{topic.name.str(), PartitionIndex(one.partitionIndex)}, static_cast<ErrorCode>(one.errorCode)});
        return outcomes;
      },
      .handler = std::move(handler)});
}

void GroupAdmin::deleteGroup(std::string group, Done done) {
  using namespace protocol;
  DeleteGroupsRequest request;
  request.groupsNames.emplace_back(group);
  core_->start(
      Call<void, DeleteGroupsRequest>{.target = Target::groupCoordinator(group),
                                      .request = std::move(request),
                                      .extract = [group](const DeleteGroupsResponse& response) -> Result<void> {
                                        if (response.results.size() != 1) return noAnswerFor(group);
                                        const auto& result = response.results[0];
                                        if (result.errorCode != 0)
                                          return fail(errorOf(result.errorCode, result.errorMessage, group));
                                        return {};
                                      },
                                      .handler = std::move(done)});
}

}  // namespace tidemark::client
