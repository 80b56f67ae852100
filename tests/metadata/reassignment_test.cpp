#include <gmock/gmock.h>

#include "metadata/controller_fixture.h"

namespace tidemark::metadata {
namespace {

using protocol::AlterPartitionReassignmentsRequest;
using protocol::AlterPartitionRequest;
using test::codeOf;
using test::ControllerFixture;
using test::nodes;

/// Five brokers; t-0 on 1, 2, 3.
class Reassignment : public testing::Test, public ControllerFixture {
 protected:
  Reassignment() {
    startBrokers({1, 2, 3, 4, 5});
    createTopic("t", {{1, 2, 3}, {2, 3, 4}});
  }

  /// No list: what is under way is cancelled.
  std::pair<ErrorCode, std::string> reassign(std::optional<std::vector<int32_t>> replicas,
                                             const std::string& topic = "t", int index = 0,
                                             bool mayChangeFactor = true) {
    AlterPartitionReassignmentsRequest request{.allowReplicationFactorChange = mayChangeFactor};
    auto& one = request.topics.emplace_back();
    one.name = topic;
    one.partitions.push_back({.partitionIndex = index, .replicas = std::move(replicas)});
    const auto response = expect(request);
    const auto& answer = response.responses.at(0).partitions.at(0);
    return {codeOf(answer.errorCode), answer.errorMessage ? answer.errorMessage->str() : ""};
  }
  /// What the leader tells of its ISR.
  ErrorCode isrBecomes(std::vector<int> isr) {
    const PartitionRegistration& now = partition("t");
    AlterPartitionRequest request{.brokerId = now.leader.value(),
                                  .brokerEpoch = image().cluster.broker(now.leader)->epoch.value()};
    auto& data = request.topics.emplace_back();
    data.topicId = image().topics.find("t")->id;
    auto& change = data.partitions.emplace_back();
    change.leaderEpoch = now.leaderEpoch.value();
    change.partitionEpoch = now.partitionEpoch.value();
    for (int id : isr) change.newIsrWithEpochs.push_back({.brokerId = id});
    return codeOf(expect(request).topics[0].partitions[0].errorCode);
  }
  protocol::ListPartitionReassignmentsResponse underWay() {
    return expect(protocol::ListPartitionReassignmentsRequest{});
  }
};

TEST_F(Reassignment, AddsFirstAndRemovesOnceTheNewOnesAreInSync) {
  EXPECT_EQ(reassign({{4, 5, 1}}).first, ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({4, 5, 1, 2, 3}));
  EXPECT_EQ(partition("t").addingReplicas, nodes({4, 5}));
  EXPECT_EQ(partition("t").removingReplicas, nodes({2, 3}));
  EXPECT_EQ(partition("t").isr, nodes({1, 2, 3}));
  EXPECT_EQ(partition("t").leader, NodeId(1));
  EXPECT_EQ(partition("t").directories.size(), 5u);
  const auto list = underWay();
  ASSERT_EQ(list.topics.size(), 1u);
  EXPECT_EQ(list.topics[0].partitions.at(0).replicas, (std::vector<int32_t>{4, 5, 1, 2, 3}));
  EXPECT_EQ(list.topics[0].partitions.at(0).addingReplicas, (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(list.topics[0].partitions.at(0).removingReplicas, (std::vector<int32_t>{2, 3}));

  EXPECT_EQ(isrBecomes({1, 2, 3, 4}), ErrorCode::None);
  EXPECT_TRUE(partition("t").isReassigning());
  EXPECT_EQ(isrBecomes({1, 2, 3, 4, 5}), ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({4, 5, 1}));
  EXPECT_EQ(partition("t").isr, nodes({1, 4, 5}));
  EXPECT_EQ(partition("t").leader, NodeId(1));
  EXPECT_EQ(partition("t").leaderEpoch, LeaderEpoch(1)) << "who was removed must not lead on";
  EXPECT_TRUE(underWay().topics.empty());
}

TEST_F(Reassignment, ALeaderThatGoesHandsOver) {
  EXPECT_EQ(reassign({{4, 5}}).first, ErrorCode::None);
  EXPECT_EQ(isrBecomes({1, 2, 3, 4, 5}), ErrorCode::NewLeaderElected);
  EXPECT_EQ(partition("t").replicas, nodes({4, 5}));
  EXPECT_EQ(partition("t").leader, NodeId(4));
  EXPECT_EQ(partition("t").isr, nodes({4, 5}));
}

TEST_F(Reassignment, WhatNeedsNobodyNewIsDoneAtOnce) {
  EXPECT_EQ(reassign({{3, 1}}).first, ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({3, 1}));
  EXPECT_EQ(partition("t").isr, nodes({1, 3}));
  EXPECT_FALSE(partition("t").isReassigning());
  EXPECT_EQ(reassign({{1, 3}}).first, ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({1, 3}));
}

TEST_F(Reassignment, IsCancelledByTakingOutWhoWasAdded) {
  EXPECT_EQ(reassign(std::nullopt).first, ErrorCode::NoReassignmentInProgress);
  ASSERT_EQ(reassign({{4, 5, 1}}).first, ErrorCode::None);
  ASSERT_EQ(isrBecomes({1, 2, 3, 4}), ErrorCode::None);
  EXPECT_EQ(reassign(std::nullopt).first, ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({1, 2, 3}));
  EXPECT_EQ(partition("t").isr, nodes({1, 2, 3}));
  EXPECT_FALSE(partition("t").isReassigning());
}

TEST_F(Reassignment, IsNotCancelledIfOnlyNewOnesAreInSync) {
  ASSERT_EQ(reassign({{4, 5, 1}}).first, ErrorCode::None);
  ASSERT_EQ(isrBecomes({1, 2, 3, 4}), ErrorCode::None);
  for (int id : {1, 2, 3}) fence(id);
  ASSERT_EQ(partition("t").isr, nodes({4}));
  EXPECT_EQ(reassign(std::nullopt).first, ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(partition("t").leader, NodeId(4));
}

TEST_F(Reassignment, AnotherOneTakesThePlaceOfWhatIsUnderWay) {
  ASSERT_EQ(reassign({{1, 2, 4}}).first, ErrorCode::None);
  ASSERT_EQ(reassign({{1, 2, 5}}).first, ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({1, 2, 5, 3, 4}));
  EXPECT_EQ(partition("t").addingReplicas, nodes({5}));
  EXPECT_EQ(partition("t").removingReplicas, nodes({3, 4}));
  ASSERT_EQ(isrBecomes({1, 2, 3, 5}), ErrorCode::None);
  EXPECT_EQ(partition("t").replicas, nodes({1, 2, 5}));
}

TEST_F(Reassignment, SaysWhatItRefuses) {
  EXPECT_EQ(reassign({{1}}, "nope").first, ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(reassign({{1}}, "t", 9).first, ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(reassign({std::vector<int32_t>{}}).first, ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(reassign({{1, 1}}).first, ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(reassign({{1, 9}}).first, ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(reassign({{1, 2}}, "t", 0, false), std::pair(ErrorCode::InvalidReplicationFactor,
                                                         std::string("The replication factor is changed from 3 to 2")));
  EXPECT_EQ(reassign({{1, 2, 4}}, "t", 0, false).first, ErrorCode::None);
}

TEST_F(Reassignment, ListsWhatIsAskedFor) {
  ASSERT_EQ(reassign({{1, 2, 4}}).first, ErrorCode::None);
  protocol::ListPartitionReassignmentsRequest request;
  request.topics.emplace().push_back({.name = "t", .partitionIndexes = {1, 7}});
  EXPECT_TRUE(expect(request).topics.empty());
  request.topics->at(0).partitionIndexes = {0};
  EXPECT_EQ(expect(request).topics.size(), 1u);
  request.topics->at(0).name = "nope";
  EXPECT_TRUE(expect(request).topics.empty());
}

}  // namespace
}  // namespace tidemark::metadata
