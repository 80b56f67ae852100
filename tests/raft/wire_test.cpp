#include "raft/wire.h"

#include <gtest/gtest.h>

#include "protocol/generated/begin_quorum_epoch_request.h"
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
#include "protocol/message.h"

namespace tidemark::raft {
namespace {

const Uuid kDirectory({9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});

/// Over the wire in `version` and back.
template <class Wire>
Wire travel(const Wire& message, int16_t version) {
  const auto bytes = protocol::encode(message, version);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
  auto decoded = protocol::decode<Wire>(ByteView(*bytes), version);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message);
  return Wire(*decoded);
}

TEST(RaftWire, VoteKeepsItsMeaning) {
  const VoteRequest request{
      "cluster", {NodeId(2), kDirectory}, LeaderEpoch(7), {NodeId(1), kDirectory}, LeaderEpoch(6), Offset(55), true};
  const auto back = fromWire(travel(toWire(request), 2));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->clusterId, "cluster");
  EXPECT_EQ(back->voter, request.voter);
  EXPECT_EQ(back->candidate, request.candidate);
  EXPECT_EQ(back->epoch, request.epoch);
  EXPECT_EQ(back->lastEpoch, request.lastEpoch);
  EXPECT_EQ(back->lastOffset, request.lastOffset);
  EXPECT_TRUE(back->preVote);
  EXPECT_EQ(protocol::encode(toWire(request), 1).error().code, ErrorCode::UnsupportedVersion)
      << "a pre-vote must not become a vote";
}

TEST(RaftWire, AnswersNameTheLeaderOnTheListenerThatAsked) {
  VoteResponse response;
  response.leader = {NodeId(3), LeaderEpoch(9)};
  response.leaderEndpoints = {{"OTHER", "elsewhere", 1}, {"CONTROLLER", "host3", 9093}};
  response.granted = true;
  const auto back = fromWire(travel(toWire(response, "CONTROLLER", 2), 2), "CONTROLLER");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->leader, response.leader);
  EXPECT_TRUE(back->granted);
  ASSERT_EQ(back->leaderEndpoints.size(), 1u);
  EXPECT_EQ(back->leaderEndpoints.front(), (VoterEndpoint{"CONTROLLER", "host3", 9093}));
  EXPECT_TRUE(fromWire(travel(toWire(response, "CONTROLLER", 0), 0), "CONTROLLER")->leaderEndpoints.empty());
  response = {};
  response.topError = ErrorCode::InconsistentClusterId;
  EXPECT_EQ(fromWire(travel(toWire(response, "CONTROLLER", 2), 2), "CONTROLLER")->topError,
            ErrorCode::InconsistentClusterId);
}

TEST(RaftWire, FetchKeepsItsMeaningInEveryVersion) {
  FetchRequest request;
  request.clusterId = "cluster";
  request.replica = {NodeId(4), kDirectory};
  request.currentLeaderEpoch = LeaderEpoch(3);
  request.fetchOffset = Offset(10);
  request.lastFetchedEpoch = LeaderEpoch(2);
  request.highWatermark = Offset(8);
  request.maxWait = milliseconds(250);
  request.maxBytes = 1000;
  for (int16_t version = 15; version <= 18; ++version) {
    const auto back = fromWire(travel(toWire(request), version));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->replica.id, request.replica.id);
    EXPECT_EQ(back->replica.directoryId, version >= 17 ? kDirectory : Uuid());
    EXPECT_EQ(back->highWatermark, version >= 18 ? Offset(8) : Offset(INT64_MAX));
    EXPECT_EQ(back->fetchOffset, request.fetchOffset);
    EXPECT_EQ(back->lastFetchedEpoch, request.lastFetchedEpoch);
    EXPECT_EQ(back->maxWait, request.maxWait);
  }
  FetchResponse response;
  response.leader = {NodeId(1), LeaderEpoch(3)};
  response.leaderEndpoints = {{"CONTROLLER", "host1", 9093}};
  response.highWatermark = Offset(8);
  response.logStartOffset = Offset(1);
  response.records = SharedBytes(ByteVector{1, 2, 3});
  for (int16_t version = 13; version <= 18; ++version) {
    const auto back = fromWire(travel(toWire(response, "CONTROLLER", version), version), "CONTROLLER");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->leader, response.leader);
    EXPECT_EQ(back->records.size(), 3u);
    EXPECT_EQ(back->leaderEndpoints.empty(), version < 16);
    EXPECT_FALSE(back->diverging);
    EXPECT_FALSE(back->snapshotId);
  }
  response.diverging = OffsetAndEpoch{Offset(4), LeaderEpoch(2)};
  response.snapshotId = OffsetAndEpoch{Offset(5), LeaderEpoch(1)};
  const auto back = fromWire(travel(toWire(response, "CONTROLLER", 17), 17), "CONTROLLER");
  EXPECT_EQ(back->diverging, response.diverging);
  EXPECT_EQ(back->snapshotId, response.snapshotId);
}

TEST(RaftWire, EndQuorumEpochNamesItsSuccessorsInBothForms) {
  const EndQuorumEpochRequest request{
      "cluster", {NodeId(1), LeaderEpoch(3)}, {{NodeId(2), kDirectory}, {NodeId(3), kDirectory}}, {}};
  const auto now = fromWire(travel(toWire(request), 1));
  ASSERT_TRUE(now);
  EXPECT_EQ(now->preferredCandidates, request.preferredCandidates);
  const auto old = fromWire(travel(toWire(request), 0));
  ASSERT_TRUE(old);
  ASSERT_EQ(old->preferredCandidates.size(), 2u);
  EXPECT_EQ(old->preferredCandidates.front(), (ReplicaKey{NodeId(2), {}}));
}

TEST(RaftWire, SnapshotsTravelInPieces) {
  const FetchSnapshotRequest request{
      "cluster", {NodeId(4), kDirectory}, LeaderEpoch(3), {Offset(100), LeaderEpoch(2)}, 4096, 1000};
  const auto asked = fromWire(travel(toWire(request), 1));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->snapshotId, request.snapshotId);
  EXPECT_EQ(asked->position, 4096);
  EXPECT_EQ(asked->replica, request.replica);
  FetchSnapshotResponse response;
  response.leader = {NodeId(1), LeaderEpoch(3)};
  response.snapshotId = request.snapshotId;
  response.size = 9000;
  response.position = 4096;
  response.bytes = SharedBytes(ByteVector(500, 7));
  const auto back = fromWire(travel(toWire(response, "CONTROLLER", 1), 1), "CONTROLLER");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->snapshotId, request.snapshotId);
  EXPECT_EQ(back->size, 9000);
  EXPECT_EQ(back->position, 4096);
  EXPECT_EQ(back->bytes.size(), 500u);
}

TEST(RaftWire, WhatIsNotAboutTheMetadataLogIsRefused) {
  auto vote = toWire(VoteRequest{});
  vote.topics.front().topicName = "orders";
  EXPECT_EQ(fromWire(vote).error().code, ErrorCode::InvalidRequest);
  vote = toWire(VoteRequest{});
  vote.topics.front().partitions.front().partitionIndex = 1;
  EXPECT_FALSE(fromWire(vote));
  vote.topics.clear();
  EXPECT_FALSE(fromWire(vote));
  auto fetch = toWire(FetchRequest{});
  EXPECT_TRUE(isMetadataFetch(fetch));
  fetch.topics.front().topic = "orders";
  fetch.topics.front().topicId = kDirectory;
  EXPECT_FALSE(isMetadataFetch(fetch));
  EXPECT_FALSE(fromWire(fetch));
}

TEST(RaftWire, QuorumIsDescribedByItsLeaderOnly) {
  protocol::DescribeQuorumRequest request;
  request.topics.push_back({.topicName = "__cluster_metadata", .partitions = {{.partitionIndex = 0}}});
  QuorumDescription description;
  description.leader = {NodeId(2), LeaderEpoch(4)};
  description.highWatermark = Offset(10);
  description.voters = {{{NodeId(1), kDirectory}, Offset(9), 5, 4}, {{NodeId(2), {}}, Offset(10), 6, 6}};
  auto response = describeQuorum(request, description, 2);
  EXPECT_EQ(response.topics.front().partitions.front().errorCode, static_cast<int16_t>(ErrorCode::NotLeaderOrFollower));
  description.role = RoleName::Leader;
  response = describeQuorum(request, description, 2);
  const auto& partition = response.topics.front().partitions.front();
  EXPECT_EQ(partition.errorCode, 0);
  EXPECT_EQ(partition.leaderId, 2);
  ASSERT_EQ(partition.currentVoters.size(), 2u);
  EXPECT_EQ(partition.currentVoters.front().logEndOffset, 9);
  for (int16_t version = 0; version <= 2; ++version)
    EXPECT_TRUE(protocol::encode(describeQuorum(request, description, version), version));
  request.topics.front().topicName = "orders";
  response = describeQuorum(request, description, 2);
  EXPECT_EQ(response.topics.front().partitions.front().errorCode,
            static_cast<int16_t>(ErrorCode::UnknownTopicOrPartition));
}

}  // namespace
}  // namespace tidemark::raft
