#include "raft/wire.h"

#include <algorithm>

#include "protocol/generated/begin_quorum_epoch_request.h"
#include "protocol/generated/begin_quorum_epoch_response.h"
#include "protocol/generated/describe_quorum_request.h"
#include "protocol/generated/describe_quorum_response.h"
#include "protocol/generated/end_quorum_epoch_request.h"
#include "protocol/generated/end_quorum_epoch_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/fetch_snapshot_request.h"
#include "protocol/generated/fetch_snapshot_response.h"
#include "protocol/generated/vote_request.h"
#include "protocol/generated/vote_response.h"

namespace tidemark::raft {
namespace {

std::optional<protocol::Text> clusterIdToWire(const std::string& id) {
  if (id.empty()) return std::nullopt;
  return protocol::Text(id);
}

std::string clusterIdFromWire(const std::optional<protocol::Text>& id) {
  return id ? id->str() : std::string();
}

/// The one partition of the one topic, or nothing.
template <class Message>
auto onlyPartition(const Message& message) -> decltype(&message.topics.front().partitions.front()) {
  if (message.topics.size() != 1) return nullptr;
  const auto& topic = message.topics.front();
  if (topic.partitions.size() != 1) return nullptr;
  if constexpr (requires { topic.topicName; }) {
    if (topic.topicName != kMetadataTopic) return nullptr;
  } else {
    if (topic.name != kMetadataTopic) return nullptr;
  }
  const auto& partition = topic.partitions.front();
  if constexpr (requires { partition.partitionIndex; }) {
    if (partition.partitionIndex != 0) return nullptr;
  } else if constexpr (requires { partition.partition; }) {
    if (partition.partition != 0) return nullptr;
  } else {
    if (partition.index != 0) return nullptr;
  }
  return &partition;
}

std::unexpected<Error> notOurs(ErrorCode code = ErrorCode::InvalidRequest) {
  return fail(code, "the request is not about the one partition of __cluster_metadata");
}

ErrorCode errorOf(int16_t code) {
  return static_cast<ErrorCode>(code);
}
int16_t wireError(ErrorCode code) {
  return static_cast<int16_t>(code);
}

template <class WireMessage>
std::vector<VoterEndpoint> leaderEndpointsOf(const WireMessage& message) {
  std::vector<VoterEndpoint> endpoints;
  for (const auto& endpoint : message.leaderEndpoints)
    endpoints.push_back({endpoint.name.str(), endpoint.host.str(), endpoint.port});
  return endpoints;
}

template <class WireMessage>
void setLeaderEndpoints(WireMessage& message, const std::vector<VoterEndpoint>& endpoints) {
  for (const VoterEndpoint& endpoint : endpoints)
    message.leaderEndpoints.push_back({.name = endpoint.listener, .host = endpoint.host, .port = endpoint.port});
}

/// Puts the leader's endpoint on `listener` into an answer.
template <class WireResponse>
void setNodeEndpoint(WireResponse& to, LeaderAndEpoch leader, const std::vector<VoterEndpoint>& endpoints,
                     const std::string& listener) {
  if (!leader.hasLeader()) return;
  const auto at = std::ranges::find(endpoints, listener, &VoterEndpoint::listener);
  if (at == endpoints.end()) return;
  to.nodeEndpoints.push_back({.nodeId = leader.leader.value(), .host = at->host, .port = at->port});
}

template <class WireResponse>
std::vector<VoterEndpoint> nodeEndpointOf(const WireResponse& from, NodeId leader, const std::string& listener) {
  for (const auto& node : from.nodeEndpoints)
    if (node.nodeId == leader.value() && node.port > 0 && node.port <= UINT16_MAX)
      return {{listener, node.host.str(), static_cast<uint16_t>(node.port)}};
  return {};
}

/// The answers of Vote, BeginQuorumEpoch and EndQuorumEpoch but for what is their own.
template <class Answer, class WireResponse>
Result<Answer> voterAnswer(const WireResponse& response, const std::string& listener) {
  Answer answer;
  answer.topError = errorOf(response.errorCode);
  if (answer.topError != ErrorCode::None) return answer;
  const auto* partition = onlyPartition(response);
  if (partition == nullptr) return notOurs(ErrorCode::UnknownTopicOrPartition);
  answer.error = errorOf(partition->errorCode);
  answer.leader = {NodeId(partition->leaderId), LeaderEpoch(partition->leaderEpoch)};
  answer.leaderEndpoints = nodeEndpointOf(response, answer.leader.leader, listener);
  return answer;
}

template <class WireResponse, class Answer>
WireResponse voterAnswerToWire(const Answer& answer, const std::string& listener, int16_t version) {
  WireResponse response;
  response.errorCode = wireError(answer.topError);
  if (answer.topError != ErrorCode::None) return response;
  auto& topic = response.topics.emplace_back();
  topic.topicName = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  partition.partitionIndex = 0;
  partition.errorCode = wireError(answer.error);
  partition.leaderId = answer.leader.leader.value();
  partition.leaderEpoch = answer.leader.epoch.value();
  if (version >= 1) setNodeEndpoint(response, answer.leader, answer.leaderEndpoints, listener);
  return response;
}

}  // namespace

protocol::VoteRequest toWire(const VoteRequest& request) {
  protocol::VoteRequest wire;
  wire.clusterId = clusterIdToWire(request.clusterId);
  wire.voterId = request.voter.id.value();
  auto& topic = wire.topics.emplace_back();
  topic.topicName = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  partition.replicaEpoch = request.epoch.value();
  partition.replicaId = request.candidate.id.value();
  partition.replicaDirectoryId = request.candidate.directoryId;
  partition.voterDirectoryId = request.voter.directoryId;
  partition.lastOffsetEpoch = request.lastEpoch.value();
  partition.lastOffset = request.lastOffset.value();
  partition.preVote = request.preVote;
  return wire;
}

Result<VoteRequest> fromWire(const protocol::VoteRequest& wire) {
  const auto* partition = onlyPartition(wire);
  if (partition == nullptr) return notOurs();
  VoteRequest request;
  request.clusterId = clusterIdFromWire(wire.clusterId);
  request.voter = {NodeId(wire.voterId), partition->voterDirectoryId};
  request.epoch = LeaderEpoch(partition->replicaEpoch);
  request.candidate = {NodeId(partition->replicaId), partition->replicaDirectoryId};
  request.lastEpoch = LeaderEpoch(partition->lastOffsetEpoch);
  request.lastOffset = Offset(partition->lastOffset);
  request.preVote = partition->preVote;
  return request;
}

Result<VoteResponse> fromWire(const protocol::VoteResponse& response, const std::string& listener) {
  TIDEMARK_ASSIGN(VoteResponse answer, voterAnswer<VoteResponse>(response, listener));
  if (answer.topError == ErrorCode::None) answer.granted = response.topics.front().partitions.front().voteGranted;
  return answer;
}

protocol::VoteResponse toWire(const VoteResponse& response, const std::string& listener, int16_t version) {
  auto wire = voterAnswerToWire<protocol::VoteResponse>(response, listener, version);
  if (!wire.topics.empty()) wire.topics.front().partitions.front().voteGranted = response.granted;
  return wire;
}

protocol::BeginQuorumEpochRequest toWire(const BeginQuorumEpochRequest& request) {
  protocol::BeginQuorumEpochRequest wire;
  wire.clusterId = clusterIdToWire(request.clusterId);
  wire.voterId = request.voter.id.value();
  auto& topic = wire.topics.emplace_back();
  topic.topicName = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  partition.voterDirectoryId = request.voter.directoryId;
  partition.leaderId = request.leader.leader.value();
  partition.leaderEpoch = request.leader.epoch.value();
  setLeaderEndpoints(wire, request.leaderEndpoints);
  return wire;
}

Result<BeginQuorumEpochRequest> fromWire(const protocol::BeginQuorumEpochRequest& wire) {
  const auto* partition = onlyPartition(wire);
  if (partition == nullptr) return notOurs();
  BeginQuorumEpochRequest request;
  request.clusterId = clusterIdFromWire(wire.clusterId);
  request.voter = {NodeId(wire.voterId), partition->voterDirectoryId};
  request.leader = {NodeId(partition->leaderId), LeaderEpoch(partition->leaderEpoch)};
  request.leaderEndpoints = leaderEndpointsOf(wire);
  return request;
}

Result<BeginQuorumEpochResponse> fromWire(const protocol::BeginQuorumEpochResponse& response,
                                          const std::string& listener) {
  return voterAnswer<BeginQuorumEpochResponse>(response, listener);
}

protocol::BeginQuorumEpochResponse toWire(const BeginQuorumEpochResponse& response, const std::string& listener,
                                          int16_t version) {
  return voterAnswerToWire<protocol::BeginQuorumEpochResponse>(response, listener, version);
}

protocol::EndQuorumEpochRequest toWire(const EndQuorumEpochRequest& request) {
  protocol::EndQuorumEpochRequest wire;
  wire.clusterId = clusterIdToWire(request.clusterId);
  auto& topic = wire.topics.emplace_back();
  topic.topicName = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  partition.leaderId = request.leader.leader.value();
  partition.leaderEpoch = request.leader.epoch.value();
  for (const ReplicaKey& key : request.preferredCandidates) {
    partition.preferredSuccessors.push_back(key.id.value());
    partition.preferredCandidates.push_back({.candidateId = key.id.value(), .candidateDirectoryId = key.directoryId});
  }
  setLeaderEndpoints(wire, request.leaderEndpoints);
  return wire;
}

Result<EndQuorumEpochRequest> fromWire(const protocol::EndQuorumEpochRequest& wire) {
  const auto* partition = onlyPartition(wire);
  if (partition == nullptr) return notOurs();
  EndQuorumEpochRequest request;
  request.clusterId = clusterIdFromWire(wire.clusterId);
  request.leader = {NodeId(partition->leaderId), LeaderEpoch(partition->leaderEpoch)};
  for (const auto& candidate : partition->preferredCandidates)
    request.preferredCandidates.push_back({NodeId(candidate.candidateId), candidate.candidateDirectoryId});
  if (partition->preferredCandidates.empty())
    for (const int32_t id : partition->preferredSuccessors) request.preferredCandidates.push_back({NodeId(id), {}});
  request.leaderEndpoints = leaderEndpointsOf(wire);
  return request;
}

Result<EndQuorumEpochResponse> fromWire(const protocol::EndQuorumEpochResponse& response, const std::string& listener) {
  return voterAnswer<EndQuorumEpochResponse>(response, listener);
}

protocol::EndQuorumEpochResponse toWire(const EndQuorumEpochResponse& response, const std::string& listener,
                                        int16_t version) {
  return voterAnswerToWire<protocol::EndQuorumEpochResponse>(response, listener, version);
}

protocol::FetchRequest toWire(const FetchRequest& request) {
  protocol::FetchRequest wire;
  wire.clusterId = clusterIdToWire(request.clusterId);
  wire.replicaState.replicaId = request.replica.id.value();
  wire.maxWaitMs = static_cast<int32_t>(std::chrono::duration_cast<milliseconds>(request.maxWait).count());
  wire.maxBytes = request.maxBytes;
  auto& topic = wire.topics.emplace_back();
  topic.topic = kMetadataTopic;
  topic.topicId = kMetadataTopicId;
  auto& partition = topic.partitions.emplace_back();
  partition.currentLeaderEpoch = request.currentLeaderEpoch.value();
  partition.fetchOffset = request.fetchOffset.value();
  partition.lastFetchedEpoch = request.lastFetchedEpoch.value();
  partition.partitionMaxBytes = request.maxBytes;
  partition.replicaDirectoryId = request.replica.directoryId;
  partition.highWatermark = request.highWatermark.value();
  return wire;
}

bool isMetadataFetch(const protocol::FetchRequest& request) {
  return request.topics.size() == 1 &&
         (request.topics.front().topic == kMetadataTopic || request.topics.front().topicId == kMetadataTopicId);
}

Result<FetchRequest> fromWire(const protocol::FetchRequest& wire) {
  if (!isMetadataFetch(wire) || wire.topics.front().partitions.size() != 1 ||
      wire.topics.front().partitions.front().partition != 0)
    return notOurs();
  const auto& partition = wire.topics.front().partitions.front();
  if (wire.maxWaitMs < 0) return fail(ErrorCode::InvalidRequest, "the wait is negative");
  FetchRequest request;
  request.clusterId = clusterIdFromWire(wire.clusterId);
  const int32_t replica = wire.replicaState.replicaId >= 0 ? wire.replicaState.replicaId : wire.replicaId;
  request.replica = {NodeId(replica), partition.replicaDirectoryId};
  request.currentLeaderEpoch = LeaderEpoch(partition.currentLeaderEpoch);
  request.fetchOffset = Offset(partition.fetchOffset);
  request.lastFetchedEpoch = LeaderEpoch(partition.lastFetchedEpoch);
  request.highWatermark = Offset(partition.highWatermark);
  request.maxWait = milliseconds(wire.maxWaitMs);
  request.maxBytes = std::min(wire.maxBytes, partition.partitionMaxBytes > 0 ? partition.partitionMaxBytes : INT32_MAX);
  return request;
}

Result<FetchResponse> fromWire(const protocol::FetchResponse& response, const std::string& listener) {
  FetchResponse answer;
  answer.topError = errorOf(response.errorCode);
  if (answer.topError != ErrorCode::None) return answer;
  if (response.responses.size() != 1 || response.responses.front().partitions.size() != 1)
    return notOurs(ErrorCode::UnknownTopicOrPartition);
  const auto& topic = response.responses.front();
  if (topic.topic != kMetadataTopic && topic.topicId != kMetadataTopicId)
    return notOurs(ErrorCode::UnknownTopicOrPartition);
  const auto& partition = topic.partitions.front();
  answer.error = errorOf(partition.errorCode);
  answer.leader = {NodeId(partition.currentLeader.leaderId), LeaderEpoch(partition.currentLeader.leaderEpoch)};
  answer.leaderEndpoints = nodeEndpointOf(response, answer.leader.leader, listener);
  answer.highWatermark = Offset(partition.highWatermark);
  answer.logStartOffset = Offset(partition.logStartOffset);
  if (partition.divergingEpoch.epoch >= 0)
    answer.diverging = {Offset(partition.divergingEpoch.endOffset), LeaderEpoch(partition.divergingEpoch.epoch)};
  if (partition.snapshotId.epoch >= 0 || partition.snapshotId.endOffset >= 0)
    answer.snapshotId = {Offset(partition.snapshotId.endOffset), LeaderEpoch(partition.snapshotId.epoch)};
  if (!partition.records.empty()) {
    TIDEMARK_ASSIGN(ByteVector bytes, partition.records.bytes());
    answer.records = SharedBytes(std::move(bytes));
  }
  return answer;
}

protocol::FetchResponse toWire(const FetchResponse& response, const std::string& listener, int16_t version) {
  protocol::FetchResponse wire;
  wire.errorCode = wireError(response.topError);
  if (response.topError != ErrorCode::None) return wire;
  auto& topic = wire.responses.emplace_back();
  topic.topic = kMetadataTopic;
  topic.topicId = kMetadataTopicId;
  auto& partition = topic.partitions.emplace_back();
  partition.errorCode = wireError(response.error);
  partition.highWatermark = response.highWatermark.value();
  partition.logStartOffset = response.logStartOffset.value();
  if (version >= 12) {
    partition.currentLeader = {.leaderId = response.leader.leader.value(),
                               .leaderEpoch = response.leader.epoch.value()};
    if (response.diverging)
      partition.divergingEpoch = {.epoch = response.diverging->epoch.value(),
                                  .endOffset = response.diverging->offset.value()};
    if (response.snapshotId)
      partition.snapshotId = {.endOffset = response.snapshotId->offset.value(),
                              .epoch = response.snapshotId->epoch.value()};
  }
  if (!response.records.empty()) partition.records = protocol::Records(response.records);
  if (version >= 16) setNodeEndpoint(wire, response.leader, response.leaderEndpoints, listener);
  return wire;
}

protocol::FetchSnapshotRequest toWire(const FetchSnapshotRequest& request) {
  protocol::FetchSnapshotRequest wire;
  wire.clusterId = clusterIdToWire(request.clusterId);
  wire.replicaId = request.replica.id.value();
  wire.maxBytes = request.maxBytes;
  auto& topic = wire.topics.emplace_back();
  topic.name = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  partition.currentLeaderEpoch = request.currentLeaderEpoch.value();
  partition.snapshotId = {.endOffset = request.snapshotId.offset.value(), .epoch = request.snapshotId.epoch.value()};
  partition.position = request.position;
  partition.replicaDirectoryId = request.replica.directoryId;
  return wire;
}

Result<FetchSnapshotRequest> fromWire(const protocol::FetchSnapshotRequest& wire) {
  const auto* partition = onlyPartition(wire);
  if (partition == nullptr) return notOurs(ErrorCode::UnknownTopicOrPartition);
  FetchSnapshotRequest request;
  request.clusterId = clusterIdFromWire(wire.clusterId);
  request.replica = {NodeId(wire.replicaId), partition->replicaDirectoryId};
  request.currentLeaderEpoch = LeaderEpoch(partition->currentLeaderEpoch);
  request.snapshotId = {Offset(partition->snapshotId.endOffset), LeaderEpoch(partition->snapshotId.epoch)};
  request.position = partition->position;
  request.maxBytes = wire.maxBytes;
  return request;
}

Result<FetchSnapshotResponse> fromWire(const protocol::FetchSnapshotResponse& response, const std::string& listener) {
  FetchSnapshotResponse answer;
  answer.topError = errorOf(response.errorCode);
  if (answer.topError != ErrorCode::None) return answer;
  const auto* partition = onlyPartition(response);
  if (partition == nullptr) return notOurs(ErrorCode::UnknownTopicOrPartition);
  answer.error = errorOf(partition->errorCode);
  answer.leader = {NodeId(partition->currentLeader.leaderId), LeaderEpoch(partition->currentLeader.leaderEpoch)};
  answer.leaderEndpoints = nodeEndpointOf(response, answer.leader.leader, listener);
  answer.snapshotId = {Offset(partition->snapshotId.endOffset), LeaderEpoch(partition->snapshotId.epoch)};
  answer.size = partition->size;
  answer.position = partition->position;
  TIDEMARK_ASSIGN(ByteVector bytes, partition->unalignedRecords.bytes());
  answer.bytes = SharedBytes(std::move(bytes));
  return answer;
}

protocol::FetchSnapshotResponse toWire(const FetchSnapshotResponse& response, const std::string& listener,
                                       int16_t version) {
  protocol::FetchSnapshotResponse wire;
  wire.errorCode = wireError(response.topError);
  if (response.topError != ErrorCode::None) return wire;
  auto& topic = wire.topics.emplace_back();
  topic.name = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  partition.errorCode = wireError(response.error);
  partition.snapshotId = {.endOffset = response.snapshotId.offset.value(), .epoch = response.snapshotId.epoch.value()};
  partition.currentLeader = {.leaderId = response.leader.leader.value(), .leaderEpoch = response.leader.epoch.value()};
  partition.size = response.size;
  partition.position = response.position;
  partition.unalignedRecords = protocol::Records(response.bytes);
  if (version >= 1) setNodeEndpoint(wire, response.leader, response.leaderEndpoints, listener);
  return wire;
}

protocol::DescribeQuorumResponse describeQuorum(const protocol::DescribeQuorumRequest& request,
                                                const QuorumDescription& description, int16_t version) {
  protocol::DescribeQuorumResponse response;
  if (onlyPartition(request) == nullptr) {
    for (const auto& topic : request.topics) {
      auto& answered = response.topics.emplace_back();
      answered.topicName = topic.topicName;
      for (const auto& partition : topic.partitions) {
        auto& entry = answered.partitions.emplace_back();
        entry.partitionIndex = partition.partitionIndex;
        entry.errorCode = wireError(ErrorCode::UnknownTopicOrPartition);
      }
    }
    return response;
  }
  auto& topic = response.topics.emplace_back();
  topic.topicName = kMetadataTopic;
  auto& partition = topic.partitions.emplace_back();
  if (description.role != RoleName::Leader) {
    partition.errorCode = wireError(ErrorCode::NotLeaderOrFollower);
    return response;
  }
  partition.leaderId = description.leader.leader.value();
  partition.leaderEpoch = description.leader.epoch.value();
  partition.highWatermark = description.highWatermark.value();
  const auto add = [version](auto& to, const ReplicaDescription& replica) {
    to.push_back({.replicaId = replica.key.id.value(),
                  .replicaDirectoryId = version >= 2 ? replica.key.directoryId : Uuid(),
                  .logEndOffset = replica.logEndOffset.value(),
                  .lastFetchTimestamp = replica.lastFetchTimestampMs,
                  .lastCaughtUpTimestamp = replica.lastCaughtUpTimestampMs});
  };
  for (const auto& voter : description.voters) add(partition.currentVoters, voter);
  for (const auto& observer : description.observers) add(partition.observers, observer);
  if (version < 2) return response;
  for (const Voter& voter : description.voterSet.all()) {
    auto& node = response.nodes.emplace_back();
    node.nodeId = voter.key.id.value();
    for (const VoterEndpoint& endpoint : voter.endpoints)
      node.listeners.push_back({.name = endpoint.listener, .host = endpoint.host, .port = endpoint.port});
  }
  return response;
}

}  // namespace tidemark::raft
