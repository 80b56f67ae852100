#include "coordinator/group/group_shard.h"

#include <utility>

#include "base/mutation.h"
#include "coordinator/consumer/consumer_records.h"

// Committed offsets of all kinds of group: who may commit, read, delete them, and when they expire.

namespace tidemark::coordinator {

using protocol::DeleteGroupsResponse;
using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;

namespace {

constexpr int16_t kFirstCommitVersionWithGroupIdNotFound = 9;

struct Accepted {
  std::string topic;
  PartitionIndex partition;
  Offset offset;
};

/// The parts of a commit that were not refused; both lists are in the order of the request.
std::vector<Accepted> acceptedOf(const OffsetCommitRequest& request, const OffsetCommitResponse& response) {
  std::vector<Accepted> accepted;
  for (size_t i = 0; i < request.topics.size() && i < response.topics.size(); ++i) {
    const auto& wanted = request.topics[i].partitions;
    const auto& answered = response.topics[i].partitions;
    for (size_t j = 0; j < wanted.size() && j < answered.size(); ++j)
      if (answered[j].errorCode == 0)
        accepted.push_back({request.topics[i].name.str(), PartitionIndex(wanted[j].partitionIndex),
                            Offset(wanted[j].committedOffset)});
  }
  return accepted;
}

OffsetCommitRequest plainCommitOf(const protocol::TxnOffsetCommitRequest& request) {
  OffsetCommitRequest plain;
  plain.groupId = request.groupId;
  plain.memberId = request.memberId;
  plain.groupInstanceId = request.groupInstanceId;
  plain.generationIdOrMemberEpoch = request.generationIdOrMemberEpoch;
  for (const auto& topic : request.topics) {
    auto& into = plain.topics.emplace_back();
    into.name = topic.name;
    into.topicId = topic.topicId;
    for (const auto& partition : topic.partitions) {
      auto& one = into.partitions.emplace_back();
      one.partitionIndex = partition.partitionIndex;
      one.committedOffset = partition.committedOffset;
      one.committedLeaderEpoch = partition.committedLeaderEpoch;
      one.committedMetadata = partition.committedMetadata;
    }
  }
  return plain;
}

protocol::TxnOffsetCommitResponse transactionalAnswer(OffsetCommitResponse plain) {
  protocol::TxnOffsetCommitResponse response;
  for (auto& topic : plain.topics) {
    auto& into = response.topics.emplace_back();
    into.name = std::move(topic.name);
    into.topicId = topic.topicId;
    for (const auto& partition : topic.partitions)
      into.partitions.push_back({.partitionIndex = partition.partitionIndex, .errorCode = partition.errorCode});
  }
  return response;
}

std::optional<std::string_view> textViewOf(const std::optional<protocol::Text>& text) {
  if (!text) return std::nullopt;
  return text->view();
}

OffsetOwner ownerOf(const ClassicGroup& group) {
  OffsetOwner owner;
  owner.groupId = group.id();
  owner.isSubscribedTo = [&group](std::string_view topic) { return group.isSubscribedTo(topic); };
  // A group without members: from when it lost the last one. One with members, in topics that it has left, or one that
  // never had any: from each commit.
  if (group.protocolType()) {
    if (group.isIn(ClassicState::Empty)) {
      if (group.stateSince()) owner.emptySinceMs = group.stateSince()->time_since_epoch().count();
    } else {
      owner.keepsAll = !group.isIn(ClassicState::Stable) || !group.subscribedTopics();
    }
  }
  return owner;
}

OffsetOwner ownerOf(const ConsumerGroup& group) {
  OffsetOwner owner;
  owner.groupId = group.id();
  owner.isSubscribedTo = [&group](std::string_view topic) { return group.isSubscribedTo(topic); };
  return owner;
}

OffsetOwner ownerOf(const StreamsGroup& group) {
  OffsetOwner owner;
  owner.groupId = group.id();
  owner.isSubscribedTo = [&group](std::string_view topic) { return group.isSubscribedTo(topic); };
  return owner;
}

}  // namespace

OffsetCommitResponse refusedCommit(const OffsetCommitRequest& request, ErrorCode error) {
  OffsetCommitResponse response;
  for (const auto& topic : request.topics) {
    auto& answered = response.topics.emplace_back();
    answered.name = topic.name;
    answered.topicId = topic.topicId;
    for (const auto& partition : topic.partitions) {
      answered.partitions.push_back({partition.partitionIndex, static_cast<int16_t>(error)});
    }
  }
  return response;
}

ErrorCode GroupShard::validateCommit(const RequestInfo& info, const OffsetCommitRequest& request) const {
  if (const StreamsGroup* streams = streams_.find(request.groupId)) {
    std::vector<std::pair<std::string_view, int32_t>> partitions;
    for (const auto& topic : request.topics) {
      for (const auto& partition : topic.partitions) partitions.emplace_back(topic.name, partition.partitionIndex);
    }
    return streams->validateCommit(request.memberId, textViewOf(request.groupInstanceId),
                                   request.generationIdOrMemberEpoch, false, info.apiVersion, partitions);
  }
  if (const ConsumerGroup* consumers = consumers_.find(request.groupId)) {
    std::vector<TopicIdPartition> partitions;
    for (const auto& topic : request.topics) {
      for (const auto& one : topic.partitions) {
        partitions.push_back({topic.topicId, PartitionIndex(one.partitionIndex)});
      }
    }
    return consumers_.validateCommit(*consumers, request.memberId, request.generationIdOrMemberEpoch, info.apiVersion,
                                     partitions);
  }
  const ClassicGroup* group = groups_.find(request.groupId);
  if (group == nullptr) {
    // Without a generation it comes from somebody who only stores offsets: the group is made by the record.
    if (request.generationIdOrMemberEpoch < 0) return ErrorCode::None;
    return info.apiVersion >= kFirstCommitVersionWithGroupIdNotFound ? ErrorCode::GroupIdNotFound
                                                                     : ErrorCode::IllegalGeneration;
  }
  return group->validateOffsetCommit(request.memberId, textViewOf(request.groupInstanceId),
                                     request.generationIdOrMemberEpoch);
}

ErrorCode GroupShard::validateTransactionalCommit(int16_t apiVersion, const OffsetCommitRequest& request) const {
  /// From here on the client is told GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH; before it either is ILLEGAL_GENERATION.
  constexpr int16_t kFirstVersionWithMemberEpoch = 6;
  // Producers before version 3 of the request do not say who they are.
  if (request.generationIdOrMemberEpoch < 0 && request.memberId.empty() && !request.groupInstanceId)
    return ErrorCode::None;
  RequestInfo info;
  const bool hasEpochs = consumers_.find(request.groupId) != nullptr || streams_.find(request.groupId) != nullptr;
  // Whoever sends one for such a group knows of member epochs.
  const bool knowsEpochs = apiVersion >= kFirstVersionWithMemberEpoch;
  if (hasEpochs || knowsEpochs) info.apiVersion = OffsetCommitRequest::kMaxVersion;
  const ErrorCode error = validateCommit(info, request);
  if (error == ErrorCode::StaleMemberEpoch && !knowsEpochs) return ErrorCode::IllegalGeneration;
  // Its members may not hear of the assignment before the transaction ends.
  return error == ErrorCode::RebalanceInProgress ? ErrorCode::None : error;
}

Effects GroupShard::commitOffsets(const RequestInfo& info, const OffsetCommitRequest& request,
                                  Reply<OffsetCommitResponse> reply) {
  Effects out;
  if (const ErrorCode error = validateCommit(info, request);
      error != ErrorCode::None && !isMutated(Mutation::CommitOfOldGeneration)) {
    out.replies.emplace_back(
        [reply = std::move(reply), response = refusedCommit(request, error)]() mutable { reply(std::move(response)); });
    return out;
  }
  groups_.keepAlive(request.groupId, request.memberId, out);
  Offsets::Commit commit = offsets_.commit(request, clock_.wallMs());
  out.records = std::move(commit.records);
  out.gather = true;
  if (isMutated(Mutation::CommitAnsweredAtOnce)) {
    out.replies.emplace_back(
        [reply = std::move(reply), response = std::move(commit.response)]() mutable { reply(std::move(response)); });
    return out;
  }
  // What is told once it is committed, if somebody looks.
  std::vector<Accepted> committed;
  std::string group;
  if (config_.recorder != nullptr && config_.recorder->wants<events::OffsetCommitted>()) {
    committed = acceptedOf(request, commit.response);
    group = request.groupId.str();
  }
  out.whenCommitted = [reply = std::move(reply), response = std::move(commit.response),
                       committed = std::move(committed), recorder = config_.recorder,
                       group = std::move(group)](ErrorCode code) mutable {
    if (code != ErrorCode::None) {
      for (auto& topic : response.topics) {
        for (auto& partition : topic.partitions) partition.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
      }
    } else {
      for (const Accepted& one : committed)
        recorder->emit(events::OffsetCommitted{.partition = recorder->partition(one.topic, one.partition),
                                               .group = std::string_view(group),
                                               .offset = one.offset});
    }
    reply(std::move(response));
    return Effects();
  };
  return out;
}

Effects GroupShard::commitTransactionalOffsets(int16_t apiVersion, const protocol::TxnOffsetCommitRequest& request,
                                               std::optional<uint64_t> verification,
                                               Reply<protocol::TxnOffsetCommitResponse> reply) const {
  const OffsetCommitRequest plain = plainCommitOf(request);
  Effects out;
  if (const ErrorCode error = validateTransactionalCommit(apiVersion, plain); error != ErrorCode::None) {
    out.replies.emplace_back([reply = std::move(reply), response = transactionalAnswer(refusedCommit(
                                                            plain, error))]() mutable { reply(std::move(response)); });
    return out;
  }
  Offsets::Commit commit = offsets_.commit(plain, clock_.wallMs());
  out.records = std::move(commit.records);
  out.transaction = {ProducerId(request.producerId), ProducerEpoch(request.producerEpoch), verification};
  out.whenCommitted = [reply = std::move(reply), response = transactionalAnswer(std::move(commit.response)),
                       wasVerified = verification.has_value()](ErrorCode code) mutable {
    // The end of an earlier transaction came in between and took the verification with it. A client that asks again is
    // verified anew; what the log says would be the end of it.
    if (code == ErrorCode::InvalidTxnState && wasVerified) code = ErrorCode::CoordinatorNotAvailable;
    if (code != ErrorCode::None)
      for (auto& topic : response.topics)
        for (auto& partition : topic.partitions) partition.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
    reply(std::move(response));
    return Effects();
  };
  return out;
}

Effects GroupShard::fetchOffsets(const OffsetFetchRequest::OffsetFetchRequestGroup& request, bool stable,
                                 Reply<OffsetFetchResponse::OffsetFetchResponseGroup> reply) const {
  auto answer = offsets_.fetch(request, stable);
  Effects out;
  ErrorCode error = ErrorCode::None;
  if (const StreamsGroup* streams = streams_.find(request.groupId)) {
    error = streams->validateFetch(request.memberId, request.memberEpoch);
  } else if (const ConsumerGroup* consumers = consumers_.find(request.groupId)) {
    error = consumers_.validateFetch(*consumers, textViewOf(request.memberId), request.memberEpoch);
  }
  if (error != ErrorCode::None) {
    answer.topics.clear();
    answer.errorCode = static_cast<int16_t>(error);
    stable = false;
  }
  if (!stable) {
    out.replies.emplace_back(
        [reply = std::move(reply), answer = std::move(answer)]() mutable { reply(std::move(answer)); });
    return out;
  }
  out.whenCommitted = [reply = std::move(reply), answer = std::move(answer)](ErrorCode code) mutable {
    if (code != ErrorCode::None) {
      answer.topics.clear();
      // Consumers do not expect a timeout here; this one makes them look for the coordinator again.
      const ErrorCode told = clientErrorOfWrite(code);
      answer.errorCode =
          static_cast<int16_t>(told == ErrorCode::CoordinatorNotAvailable ? ErrorCode::NotCoordinator : told);
    }
    reply(std::move(answer));
    return Effects();
  };
  return out;
}

Effects GroupShard::deleteOffsets(const OffsetDeleteRequest& request, Reply<OffsetDeleteResponse> reply) const {
  const ClassicGroup* group = groups_.find(request.groupId);
  const StreamsGroup* streams = streams_.find(request.groupId);
  OffsetDeleteResponse response;
  std::vector<CoordinatorRecord> records;
  if (streams != nullptr) {
    response = offsets_.remove(request, ownerOf(*streams), records);
  } else if (const ConsumerGroup* consumers = consumers_.find(request.groupId)) {
    response = offsets_.remove(request, ownerOf(*consumers), records);
  } else if (group == nullptr || group->isIn(ClassicState::Dead)) {
    response.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
  } else if (!group->isIn(ClassicState::Empty) && !group->usesConsumerProtocol()) {
    response.errorCode = static_cast<int16_t>(ErrorCode::NonEmptyGroup);
  } else {
    response = offsets_.remove(request, ownerOf(*group), records);
  }
  Effects out;
  out.records = std::move(records);
  out.whenCommitted = replyWhenCommitted(std::move(reply), std::move(response));
  return out;
}

Effects GroupShard::deleteGroup(std::string_view groupId,
                                Reply<DeleteGroupsResponse::DeletableGroupResult> reply) const {
  if (shares_.find(groupId) != nullptr) {
    // Its state lies elsewhere as well, and goes first.
    Effects out;
    out.replies.emplace_back(
        [remove = config_.share.remove, id = std::string(groupId), reply = std::move(reply)]() mutable {
          remove(id, [id, reply = std::move(reply)](ErrorCode code) mutable {
            DeleteGroupsResponse::DeletableGroupResult result;
            result.groupId = id;
            result.errorCode = static_cast<int16_t>(code);
            reply(std::move(result));
          });
        });
    return out;
  }
  const ClassicGroup* group = groups_.find(groupId);
  const StreamsGroup* streams = streams_.find(groupId);
  ErrorCode error = ErrorCode::None;
  Effects out;
  if (const ConsumerGroup* consumers = consumers_.find(groupId)) {
    if (consumers->isEmpty()) {
      offsets_.removeAll(groupId, out.records);
      removeGroupRecords(*consumers, out.records);
    } else {
      error = ErrorCode::NonEmptyGroup;
    }
  } else if (streams == nullptr && (group == nullptr || group->isIn(ClassicState::Dead))) {
    error = ErrorCode::GroupIdNotFound;
  } else if (streams != nullptr ? !streams->isEmpty() : !group->isIn(ClassicState::Empty)) {
    error = ErrorCode::NonEmptyGroup;
  } else {
    offsets_.removeAll(groupId, out.records);
    if (streams != nullptr) {
      streams_.removeEmpty(groupId, out);
    } else {
      out.records.push_back(groupTombstone(groupId));
    }
  }
  out.whenCommitted = [reply = std::move(reply), id = std::string(groupId), error](ErrorCode code) mutable {
    DeleteGroupsResponse::DeletableGroupResult result;
    result.groupId = id;
    result.errorCode = static_cast<int16_t>(orErrorOfWrite(error, code));
    reply(std::move(result));
    return Effects();
  };
  return out;
}

Effects GroupShard::onTopicsDeleted(const std::vector<DeletedTopic>& topics) const {
  Effects out;
  out.atomic = false;
  for (const DeletedTopic& topic : topics) offsets_.removeTopic(topic, out.records);
  return out;
}

Effects GroupShard::expire() {
  Effects out;
  out.atomic = false;
  for (const auto& [id, group] : groups_.all()) {
    if (offsets_.expire(ownerOf(group), clock_.wallMs(), out.records) && group.isIn(ClassicState::Empty)) {
      out.records.push_back(groupTombstone(id));
    }
  }
  for (const auto& [id, group] : consumers_.all()) {
    if (offsets_.expire(ownerOf(group), clock_.wallMs(), out.records) && group.isEmpty()) {
      removeGroupRecords(group, out.records);
    }
  }
  for (const auto& [id, group] : streams_.all()) {
    if (offsets_.expire(ownerOf(group), clock_.wallMs(), out.records) && group.isEmpty()) streams_.removeEmpty(id, out);
  }
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.offsetsRetentionCheckInterval);
  return out;
}

}  // namespace tidemark::coordinator
