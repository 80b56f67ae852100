#include "coordinator/group/group_shard.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "protocol/framing.h"
#include "protocol/generated/consumer_group_metadata_key.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/offset_commit_key.h"
#include "protocol/generated/share_group_metadata_key.h"
#include "protocol/generated/streams_group_metadata_key.h"

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
    groups_.ensureExists(group);
    offsets_.replay(offset, producerId, group, decoded.topic.str(), decoded.partition, &committed);
  }
  if (framed.type == protocol::ConsumerGroupMetadataKey::kRecordType ||
      framed.type == protocol::ShareGroupMetadataKey::kRecordType ||
      framed.type == protocol::StreamsGroupMetadataKey::kRecordType) {
    // All three have the group's id first, and nothing else.
    TIDEMARK_ASSIGN(const auto decoded,
                    protocol::decode<protocol::ConsumerGroupMetadataKey>(framed.body, framed.version));
    if (value) {
      foreign_.insert(decoded.groupId.str());
    } else {
      foreign_.erase(decoded.groupId.str());
    }
  }
  return {};
}

Effects GroupShard::join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply) {
  if (!foreign_.contains(request.groupId.view())) return groups_.join(info, request, std::move(reply));
  Effects out;
  protocol::JoinGroupResponse refused;
  refused.memberId = request.memberId;
  refused.errorCode = static_cast<int16_t>(ErrorCode::InconsistentGroupProtocol);
  out.replies.emplace_back(
      [reply = std::move(reply), refused = std::move(refused)]() mutable { reply(std::move(refused)); });
  return out;
}

void GroupShard::replayEndTxn(Offset offset, ProducerId producerId, bool commit) {
  offsets_.replayEndTxn(offset, producerId, commit);
}

Effects GroupShard::onLoaded() {
  Effects out;
  groups_.onLoaded(out);
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.offsetsRetentionCheckInterval);
  return out;
}

Effects GroupShard::onUnloaded() {
  Effects out;
  groups_.onUnloaded(out);
  return out;
}

Effects GroupShard::onTimeout(const TimerKey& key) {
  return key.kind == TimerKey::Kind::Expiry ? expire() : groups_.onTimeout(key);
}

Effects GroupShard::expire() {
  Effects out;
  out.atomic = false;
  for (const auto& [id, group] : groups_.all()) {
    if (foreign_.contains(id)) continue;
    if (offsets_.expire(group, clock_.wallMs(), out.records) && group.isIn(ClassicState::Empty)) {
      out.records.push_back(groupTombstone(id));
    }
  }
  out.arm({TimerKey::Kind::Expiry, "", ""}, config_.offsetsRetentionCheckInterval);
  return out;
}

// ---- offsets

ErrorCode GroupShard::validateCommit(const RequestInfo& info, const OffsetCommitRequest& request) const {
  const ClassicGroup* group = groups_.find(request.groupId);
  if (group == nullptr) {
    // Without a generation it comes from somebody who only stores offsets: the group is made by the record.
    if (request.generationIdOrMemberEpoch < 0) return ErrorCode::None;
    return info.apiVersion >= kFirstCommitVersionWithGroupIdNotFound ? ErrorCode::GroupIdNotFound
                                                                     : ErrorCode::IllegalGeneration;
  }
  std::optional<std::string_view> instanceId;
  if (request.groupInstanceId) instanceId = request.groupInstanceId->view();
  return group->validateOffsetCommit(request.memberId, instanceId, request.generationIdOrMemberEpoch);
}

ErrorCode GroupShard::validateTransactionalCommit(const OffsetCommitRequest& request) const {
  // Producers before version 3 of the request do not say who they are.
  if (request.generationIdOrMemberEpoch < 0 && request.memberId.empty() && !request.groupInstanceId)
    return ErrorCode::None;
  const ErrorCode error = validateCommit({}, request);
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
  out.whenCommitted = [reply = std::move(reply), response = std::move(commit.response), committed = std::move(committed),
                       recorder = config_.recorder, group = std::move(group)](ErrorCode code) mutable {
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

Effects GroupShard::commitTransactionalOffsets(const protocol::TxnOffsetCommitRequest& request,
                                               std::optional<uint64_t> verification,
                                               Reply<protocol::TxnOffsetCommitResponse> reply) const {
  const OffsetCommitRequest plain = plainCommitOf(request);
  Effects out;
  if (const ErrorCode error = validateTransactionalCommit(plain); error != ErrorCode::None) {
    out.replies.emplace_back(
        [reply = std::move(reply), response = transactionalAnswer(refusedCommit(plain, error))]() mutable {
          reply(std::move(response));
        });
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
  OffsetDeleteResponse response;
  std::vector<CoordinatorRecord> records;
  if (group == nullptr || group->isIn(ClassicState::Dead)) {
    response.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
  } else if (!group->isIn(ClassicState::Empty) && !group->usesConsumerProtocol()) {
    response.errorCode = static_cast<int16_t>(ErrorCode::NonEmptyGroup);
  } else {
    response = offsets_.remove(request, *group, records);
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
  const ClassicGroup* group = groups_.find(groupId);
  ErrorCode error = ErrorCode::None;
  std::vector<CoordinatorRecord> records;
  if (group == nullptr || group->isIn(ClassicState::Dead)) {
    error = ErrorCode::GroupIdNotFound;
  } else if (!group->isIn(ClassicState::Empty)) {
    error = ErrorCode::NonEmptyGroup;
  } else {
    offsets_.removeAll(groupId, records);
    records.push_back(groupTombstone(groupId));
  }
  return answerWhenCommitted(
      std::move(records), [reply = std::move(reply), id = std::string(groupId), error](ErrorCode code) mutable {
        DeleteGroupsResponse::DeletableGroupResult result;
        result.groupId = id;
        result.errorCode = static_cast<int16_t>(code == ErrorCode::None ? error : clientErrorOfWrite(code));
        reply(std::move(result));
      });
}

Effects GroupShard::onTopicsDeleted(const std::vector<std::string>& topics) const {
  Effects out;
  out.atomic = false;
  for (const std::string& topic : topics) offsets_.removeTopic(topic, out.records);
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
      described.errorMessage = fmt::format("Group {} not found.", groupId);
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

void GroupShard::list(const ListGroupsRequest& request, std::vector<ListGroupsResponse::ListedGroup>& into) const {
  if (!matches(request.typesFilter, kClassicType)) return;
  for (const auto& [id, group] : groups_.all()) {
    if (!matches(request.statesFilter, stateName(group.state()))) continue;
    auto& one = into.emplace_back();
    one.groupId = id;
    one.protocolType = group.protocolType().value_or("");
    one.groupState = stateName(group.state());
    one.groupType = kClassicType;
  }
}

void GroupShard::snapshot(std::vector<GroupSnapshot>& into) const {
  const size_t first = into.size();
  groups_.snapshot(into);
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
