#include "coordinator/group/group_shard.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "coordinator/consumer/consumer_records.h"
#include "protocol/framing.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/offset_commit_key.h"
#include "protocol/generated/share_group_describe_response.h"

namespace tidemark::coordinator {

using protocol::DeleteGroupsResponse;
using protocol::DescribeGroupsResponse;
using protocol::ListGroupsRequest;
using protocol::ListGroupsResponse;
using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;

namespace {

/// Offsets under the key's first version, before it had a topic of its own.
constexpr int16_t kLegacyOffsetType = 0;
constexpr int16_t kFirstCommitVersionWithGroupIdNotFound = 9;
constexpr int16_t kFirstDescribeVersionWithError = 6;
constexpr std::string_view kClassicType = "classic";
constexpr std::string_view kConsumerType = "consumer";
constexpr std::string_view kShareType = "share";
constexpr std::string_view kStreamsType = "streams";

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

// ---- the log

Result<void> GroupShard::replay(Offset offset, ProducerId producerId, ByteView key, std::optional<ByteView> value) {
  TIDEMARK_ASSIGN(const protocol::FramedRecord framed, protocol::decodeCoordinatorKey(key));
  if (framed.type == protocol::GroupMetadataKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::GroupMetadataKey>(framed.body, framed.version));
    if (!value) {
      groups_.replay(decoded.group.str(), nullptr);
      return {};
    }
    TIDEMARK_ASSIGN(const auto metadata, protocol::decodeVersionedAs<protocol::GroupMetadataValue>(*value));
    groups_.replay(decoded.group.str(), &metadata);
    return {};
  }
  if (framed.type == protocol::OffsetCommitKey::kRecordType || framed.type == kLegacyOffsetType) {
    TIDEMARK_ASSIGN(const auto decoded, protocol::decode<protocol::OffsetCommitKey>(framed.body, framed.version));
    const std::string group = decoded.group.str();
    if (!value) {
      offsets_.replay(offset, producerId, group, decoded.topic.str(), decoded.partition, nullptr);
      return {};
    }
    TIDEMARK_ASSIGN(const auto committed, protocol::decodeVersionedAs<protocol::OffsetCommitValue>(*value));
    if (streams_.find(group) == nullptr && consumers_.find(group) == nullptr) groups_.ensureExists(group);
    offsets_.replay(offset, producerId, group, decoded.topic.str(), decoded.partition, &committed);
    return {};
  }
  return replayGroup(framed, value);
}

Result<void> GroupShard::replayGroup(const protocol::FramedRecord& framed, std::optional<ByteView> value) {
  TIDEMARK_ASSIGN(const std::optional<std::string> streamsGroup, streams_.replay(framed, value));
  if (streamsGroup) {
    // Offsets that come before it in the log made a simple consumer's group of it.
    const bool exists = streams_.find(*streamsGroup) != nullptr;
    if (exists && std::as_const(groups_).find(*streamsGroup) != nullptr) groups_.replay(*streamsGroup, nullptr);
    return {};
  }
  TIDEMARK_ASSIGN(const bool shares, shares_.replay(framed.type, framed.body, framed.version, value));
  if (shares) return {};
  TIDEMARK_ASSIGN(const std::optional<std::string> consumerGroup, consumers_.replay(framed, value));
  if (consumerGroup && consumers_.find(*consumerGroup) != nullptr &&
      std::as_const(groups_).find(*consumerGroup) != nullptr) {
    groups_.replay(*consumerGroup, nullptr);
  }
  return {};
}

Effects GroupShard::join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply) {
  const StreamsGroup* streams = streams_.find(request.groupId);
  const ConsumerGroup* consumers = consumers_.find(request.groupId);
  if (consumers != nullptr && !consumers->isEmpty()) return consumers_.join(info, request, std::move(reply));
  if (streams == nullptr && consumers == nullptr && shares_.find(request.groupId) == nullptr) {
    return groups_.join(info, request, std::move(reply));
  }
  Effects out;
  const auto refused = [memberId = request.memberId](ErrorCode code) {
    protocol::JoinGroupResponse response;
    response.memberId = memberId;
    response.errorCode = static_cast<int16_t>(code);
    return response;
  };
  if (consumers == nullptr && (streams == nullptr || !streams->isEmpty())) {
    out.replies.emplace_back(
        [reply = std::move(reply), refused]() mutable { reply(refused(ErrorCode::InconsistentGroupProtocol)); });
    return out;
  }
  if (consumers != nullptr) {
    removeGroupRecords(*consumers, out.records);
  } else {
    streams_.removeEmpty(request.groupId, out);
  }
  out.whenCommitted = [this, info, request, refused, reply = std::move(reply)](ErrorCode code) mutable {
    if (code == ErrorCode::None) return groups_.join(info, request, std::move(reply));
    reply(refused(clientErrorOfWrite(code)));
    return Effects();
  };
  return out;
}

bool GroupShard::isOfAnotherKind(std::string_view groupId) const {
  return consumers_.find(groupId) != nullptr || groups_.find(groupId) != nullptr || streams_.find(groupId) != nullptr;
}

Effects GroupShard::sync(const protocol::SyncGroupRequest& request, SyncReply reply) {
  return consumers_.find(request.groupId) != nullptr ? consumers_.sync(request, std::move(reply))
                                                     : groups_.sync(request, std::move(reply));
}

Effects GroupShard::heartbeat(const protocol::HeartbeatRequest& request, Reply<protocol::HeartbeatResponse> reply) {
  return consumers_.find(request.groupId) != nullptr ? consumers_.classicHeartbeat(request, std::move(reply))
                                                     : groups_.heartbeat(request, std::move(reply));
}

Effects GroupShard::leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply) {
  return consumers_.find(request.groupId) != nullptr ? consumers_.leave(request, std::move(reply))
                                                     : groups_.leave(request, std::move(reply));
}

Effects GroupShard::consumerHeartbeat(const RequestInfo& info, const protocol::ConsumerGroupHeartbeatRequest& request,
                                      ConsumerHeartbeatReply reply) {
  const StreamsGroup* streams = streams_.find(request.groupId);
  if (streams == nullptr && shares_.find(request.groupId) == nullptr) {
    return consumers_.heartbeat(info, request, std::move(reply));
  }
  Effects out;
  const auto refused = [](ErrorCode code, std::string message) {
    protocol::ConsumerGroupHeartbeatResponse response;
    response.errorCode = static_cast<int16_t>(code);
    if (!message.empty()) response.errorMessage = protocol::Text(std::move(message));
    return response;
  };
  if (streams == nullptr || !streams->isEmpty() || request.memberEpoch != kJoinEpoch) {
    out.replies.emplace_back([reply = std::move(reply), refused, id = request.groupId.str()]() mutable {
      reply(refused(ErrorCode::GroupIdNotFound, fmt::format("Group {} is not a consumer group.", id)));
    });
    return out;
  }
  streams_.removeEmpty(request.groupId, out);
  out.whenCommitted = [this, info, request, refused, reply = std::move(reply)](ErrorCode code) mutable {
    if (code == ErrorCode::None) return consumers_.heartbeat(info, request, std::move(reply));
    reply(refused(clientErrorOfWrite(code), {}));
    return Effects();
  };
  return out;
}

Effects GroupShard::streamsHeartbeat(const RequestInfo& info, const protocol::StreamsGroupHeartbeatRequest& request,
                                     Reply<StreamsHeartbeatAnswer> reply) {
  std::vector<CoordinatorRecord> before;
  if (streams_.find(request.groupId) == nullptr) {
    const ClassicGroup* classic = std::as_const(groups_).find(request.groupId);
    const ConsumerGroup* consumers = consumers_.find(request.groupId);
    if ((consumers != nullptr && !consumers->isEmpty()) || shares_.find(request.groupId) != nullptr ||
        (classic != nullptr && !classic->isIn(ClassicState::Empty))) {
      Effects out;
      StreamsHeartbeatAnswer refused;
      refused.response.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
      refused.response.errorMessage =
          protocol::Text(fmt::format("Group {} is not a streams group.", request.groupId.view()));
      out.replies.emplace_back(
          [reply = std::move(reply), refused = std::move(refused)]() mutable { reply(std::move(refused)); });
      return out;
    }
    if (classic != nullptr) before.push_back(groupTombstone(request.groupId));
    if (consumers != nullptr) removeGroupRecords(*consumers, before);
  }
  return streams_.heartbeat(info, request, std::move(before), std::move(reply));
}

Effects GroupShard::describeStreams(std::string_view groupId,
                                    Reply<protocol::StreamsGroupDescribeResponse::DescribedGroup> reply) const {
  return answerWhenCommitted(
      {}, [reply = std::move(reply), described = streams_.describe(groupId)](ErrorCode code) mutable {
        if (code != ErrorCode::None) {
          protocol::StreamsGroupDescribeResponse::DescribedGroup failed;
          failed.groupId = described.groupId;
          failed.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
          described = std::move(failed);
        }
        reply(std::move(described));
      });
}

void GroupShard::replayEndTxn(Offset offset, ProducerId producerId, bool commit) {
  offsets_.replayEndTxn(offset, producerId, commit);
}

Effects GroupShard::onLoaded() {
  Effects out;
  groups_.onLoaded(out);
  consumers_.onLoaded(out);
  shares_.onLoaded(out);
  streams_.onLoaded(out);
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.offsetsRetentionCheckInterval);
  return out;
}

Effects GroupShard::onUnloaded() {
  Effects out;
  groups_.onUnloaded(out);
  return out;
}

Effects GroupShard::onTimeout(const TimerKey& key) {
  if (key.kind == TimerKey::Kind::Expiry) return expire();
  switch (key.kind) {
    case TimerKey::Kind::MemberSession:
    case TimerKey::Kind::MemberRebalance:
    case TimerKey::Kind::MemberJoin:
    case TimerKey::Kind::MemberSync:
    case TimerKey::Kind::Assignment:
      return consumers_.onTimeout(key);
    default:
      break;
  }
  if (shares_.find(key.group) != nullptr) return shares_.onTimeout(key);
  return streams_.find(key.group) != nullptr ? streams_.onTimeout(key) : groups_.onTimeout(key);
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

// ---- offsets

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
  if (const ErrorCode error = validateCommit(info, request); error != ErrorCode::None) {
    out.replies.emplace_back(
        [reply = std::move(reply), response = refusedCommit(request, error)]() mutable { reply(std::move(response)); });
    return out;
  }
  groups_.keepAlive(request.groupId, request.memberId, out);
  Offsets::Commit commit = offsets_.commit(request, clock_.wallMs());
  out.records = std::move(commit.records);
  // What is told once it is committed, if somebody looks.
  std::vector<Accepted> committed;
  std::string group;
  if (config_.recorder != nullptr && config_.recorder->enabled()) {
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
  out.whenCommitted = [reply = std::move(reply),
                       response = transactionalAnswer(std::move(commit.response))](ErrorCode code) mutable {
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
  return answerWhenCommitted(std::move(records),
                             [reply = std::move(reply), response = std::move(response)](ErrorCode code) mutable {
                               if (code != ErrorCode::None) {
                                 response = {};
                                 response.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
                               }
                               reply(std::move(response));
                             });
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
    result.errorCode = static_cast<int16_t>(code == ErrorCode::None ? error : clientErrorOfWrite(code));
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

// ---- looking

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

namespace {

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
