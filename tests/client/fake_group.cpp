#include "client/fake_group.h"

#include <algorithm>

#include <fmt/format.h>

#include "network/request_codec.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

namespace tidemark::test {

using network::RequestPtr;
using protocol::ApiKey;

void FakeGroup::serve(RequestPtr request) {
  switch (request->apiKey()) {
    case ApiKey::JoinGroup:
      return join(std::move(request));
    case ApiKey::SyncGroup:
      return sync(std::move(request));
    case ApiKey::Heartbeat:
      return heartbeat(*request);
    case ApiKey::LeaveGroup:
      return leave(*request);
    case ApiKey::OffsetCommit:
      return commit(*request);
    case ApiKey::OffsetFetch:
      return fetch(*request);
    default:
      return request->close();
  }
}

void FakeGroup::join(RequestPtr request) {
  const auto asked = request->decode<protocol::JoinGroupRequest>();
  if (!asked) return request->close();
  protocol::JoinGroupResponse response;
  if (asked->memberId.empty()) {
    response.errorCode = static_cast<int16_t>(ErrorCode::MemberIdRequired);
    response.memberId = fmt::format("member-{}", nextMember_++);
    return request->respond(response);
  }
  Member& member = members[asked->memberId.str()];
  member.metadata = asked->protocols.at(0).metadata.bytes();
  member.joining = std::move(request);
  rebalancing_ = true;
  completeJoin();
}

void FakeGroup::completeJoin() {
  const bool all =
      std::all_of(members.begin(), members.end(), [](const auto& each) { return each.second.joining != nullptr; });
  if (!all || members.empty()) return;
  ++generation;
  rebalancing_ = false;
  leader_ = members.begin()->first;
  for (auto& [id, member] : members) {
    protocol::JoinGroupResponse response;
    response.generationId = generation;
    response.protocolName = "range";
    response.leader = leader_;
    response.memberId = id;
    if (id == leader_) {
      for (const auto& [each, other] : members)
        response.members.push_back({.memberId = each, .metadata = other.metadata});
    }
    std::exchange(member.joining, nullptr)->respond(response);
  }
}

void FakeGroup::sync(RequestPtr request) {
  const auto asked = request->decode<protocol::SyncGroupRequest>();
  if (!asked) return request->close();
  const auto at = members.find(asked->memberId.str());
  protocol::SyncGroupResponse response;
  if (at == members.end() || asked->generationId != generation || rebalancing_) {
    response.errorCode =
        static_cast<int16_t>(at == members.end() ? ErrorCode::UnknownMemberId : ErrorCode::RebalanceInProgress);
    return request->respond(response);
  }
  at->second.syncing = std::move(request);
  for (const auto& each : asked->assignments) members[each.memberId.str()].assignment = each.assignment.bytes();
  // The leader may have been quicker than this one.
  if (asked->memberId == leader_) assigned_ = generation;
  if (assigned_ != generation) return;
  for (auto& [id, member] : members) {
    if (member.syncing == nullptr) continue;
    response.assignment = member.assignment;
    std::exchange(member.syncing, nullptr)->respond(response);
  }
}

void FakeGroup::heartbeat(network::Request& request) {
  const auto asked = request.decode<protocol::HeartbeatRequest>();
  if (!asked) return request.close();
  protocol::HeartbeatResponse response;
  ErrorCode error = std::exchange(nextError, ErrorCode::None);
  if (error == ErrorCode::None && !members.contains(asked->memberId.str())) error = ErrorCode::UnknownMemberId;
  if (error == ErrorCode::None && (rebalancing_ || asked->generationId != generation))
    error = ErrorCode::RebalanceInProgress;
  response.errorCode = static_cast<int16_t>(error);
  request.respond(response);
}

void FakeGroup::expel(const std::string& memberId) {
  members.erase(memberId);
  rebalancing_ = true;
  completeJoin();
}

void FakeGroup::leave(network::Request& request) {
  const auto asked = request.decode<protocol::LeaveGroupRequest>();
  if (!asked) return request.close();
  for (const auto& member : asked->members) expel(member.memberId.str());
  request.respond(protocol::LeaveGroupResponse());
}

void FakeGroup::commit(network::Request& request) {
  const auto asked = request.decode<protocol::OffsetCommitRequest>();
  if (!asked) return request.close();
  const bool current = asked->generationIdOrMemberEpoch == generation;
  protocol::OffsetCommitResponse response;
  for (const auto& topic : asked->topics) {
    response.topics.push_back({.name = topic.name.str()});
    for (const auto& partition : topic.partitions) {
      if (current) {
        const TopicPartition where{topic.name.str(), PartitionIndex(partition.partitionIndex)};
        committed[where] = partition.committedOffset;
        committedEpochs[where] = partition.committedLeaderEpoch;
      }
      response.topics.back().partitions.push_back(
          {.partitionIndex = partition.partitionIndex,
           .errorCode = static_cast<int16_t>(current ? ErrorCode::None : ErrorCode::IllegalGeneration)});
    }
  }
  request.respond(response);
}

void FakeGroup::fetch(network::Request& request) {
  const auto asked = request.decode<protocol::OffsetFetchRequest>();
  if (!asked) return request.close();
  protocol::OffsetFetchResponse response;
  for (const auto& topic : *asked->topics) {
    response.topics.push_back({.name = topic.name.str()});
    for (const int32_t index : topic.partitionIndexes) {
      const TopicPartition where{topic.name.str(), PartitionIndex(index)};
      const auto at = committed.find(where);
      const auto epoch = committedEpochs.find(where);
      response.topics.back().partitions.push_back(
          {.partitionIndex = index,
           .committedOffset = at == committed.end() ? -1 : at->second,
           .committedLeaderEpoch = epoch == committedEpochs.end() ? -1 : epoch->second});
    }
  }
  request.respond(response);
}

void FakeGroup::end() {
  members.clear();
}

}  // namespace tidemark::test
