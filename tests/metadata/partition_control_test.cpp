#include <gmock/gmock.h>

#include "metadata/controller/leader_updates.h"
#include "metadata/controller_fixture.h"

namespace tidemark::metadata {
namespace {

using protocol::AlterPartitionRequest;
using test::codeOf;
using test::ControllerFixture;
using test::nodes;

class PartitionControl : public testing::Test, public ControllerFixture {
 protected:
  PartitionControl() {
    startBrokers({1, 2, 3});
    createTopic("t", {{1, 2, 3}});
  }

  AlterPartitionRequest alteration(std::vector<int> isr) {
    AlterPartitionRequest request{.brokerId = partition("t").leader.value()};
    const BrokerRegistration* leader = image().cluster.broker(partition("t").leader);
    request.brokerEpoch = leader ? leader->epoch.value() : -1;
    auto& data = request.topics.emplace_back();
    data.topicId = image().topics.find("t")->id;
    auto& change = data.partitions.emplace_back();
    change.leaderEpoch = partition("t").leaderEpoch.value();
    change.partitionEpoch = partition("t").partitionEpoch.value();
    for (int id : isr) {
      const BrokerRegistration* broker = image().cluster.broker(NodeId(id));
      change.newIsrWithEpochs.push_back({.brokerId = id, .brokerEpoch = broker ? broker->epoch.value() : -1});
    }
    return request;
  }
  ErrorCode errorOf(const AlterPartitionRequest& request) {
    const Image before = image();
    const auto response = expect(request);
    const ErrorCode error = codeOf(response.topics.at(0).partitions.at(0).errorCode);
    EXPECT_TRUE(error == ErrorCode::None || image().sameContents(before));
    return error;
  }
};

TEST_F(PartitionControl, TheLeaderShrinksAndExpandsItsIsr) {
  auto response = expect(alteration({1, 3}));
  EXPECT_EQ(partition("t").isr, nodes({1, 3}));
  EXPECT_EQ(partition("t").partitionEpoch, PartitionEpoch(1));
  EXPECT_EQ(partition("t").leaderEpoch, LeaderEpoch(0));
  const auto& answer = response.topics[0].partitions[0];
  EXPECT_EQ(answer.isr, (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(answer.partitionEpoch, 1);
  EXPECT_EQ(answer.leaderId, 1);
  expect(alteration({1, 3, 2}));
  EXPECT_EQ(partition("t").isr, nodes({1, 3, 2}));
  EXPECT_EQ(partition("t").partitionEpoch, PartitionEpoch(2));
}

TEST_F(PartitionControl, Version2NamesTheIsrWithoutEpochs) {
  auto request = alteration({});
  request.topics[0].partitions[0].newIsr = {1, 2};
  expect(request, 2);
  EXPECT_EQ(partition("t").isr, nodes({1, 2}));
}

TEST_F(PartitionControl, WhatTheControllerHasAlreadyChangesNothing) {
  expect(alteration({1, 2, 3}));
  EXPECT_TRUE(lastRecords.empty());
  EXPECT_EQ(partition("t").partitionEpoch, PartitionEpoch(0));
}

TEST_F(PartitionControl, EpochsAreCheckedBeforeAnythingElse) {
  expect(alteration({1, 2}));
  auto request = alteration({1});
  request.topics[0].partitions[0].partitionEpoch = 0;
  EXPECT_EQ(errorOf(request), ErrorCode::InvalidUpdateVersion);
  request.topics[0].partitions[0].partitionEpoch = 2;
  EXPECT_EQ(errorOf(request), ErrorCode::NotController);
  request = alteration({1});
  request.topics[0].partitions[0].leaderEpoch = 1;
  EXPECT_EQ(errorOf(request), ErrorCode::NotController);
  fence(1);
  request = alteration({2});
  request.topics[0].partitions[0].leaderEpoch = 0;
  EXPECT_EQ(errorOf(request), ErrorCode::FencedLeaderEpoch);
}

TEST_F(PartitionControl, OnlyTheLeaderAlters) {
  auto request = alteration({1, 2});
  request.brokerId = 2;
  request.brokerEpoch = image().cluster.broker(NodeId(2))->epoch.value();
  EXPECT_EQ(errorOf(request), ErrorCode::InvalidRequest);
  request.brokerEpoch -= 1;
  EXPECT_EQ(handle(request).error().code, ErrorCode::StaleBrokerEpoch);
}

TEST_F(PartitionControl, TheIsrHasToBeOfReplicasWithTheLeaderAmongThem) {
  EXPECT_EQ(errorOf(alteration({2, 3})), ErrorCode::InvalidRequest);
  EXPECT_EQ(errorOf(alteration({})), ErrorCode::InvalidRequest);
  EXPECT_EQ(errorOf(alteration({1, 1})), ErrorCode::InvalidRequest);
  EXPECT_EQ(errorOf(alteration({1, 4})), ErrorCode::InvalidRequest);
}

TEST_F(PartitionControl, FencedAndRestartedBrokersAreNotEligible) {
  expect(alteration({1}));
  fence(2);
  EXPECT_EQ(errorOf(alteration({1, 2})), ErrorCode::IneligibleReplica);
  auto request = alteration({1, 3});
  request.topics[0].partitions[0].newIsrWithEpochs[1].brokerEpoch -= 1;
  EXPECT_EQ(errorOf(request), ErrorCode::IneligibleReplica);
  request.topics[0].partitions[0].newIsrWithEpochs[1].brokerEpoch = -1;  // not known to the leader: not checked
  EXPECT_EQ(errorOf(request), ErrorCode::None);
}

TEST_F(PartitionControl, UnknownTopicsAndPartitionsAreToldApart) {
  auto request = alteration({1});
  request.topics[0].partitions[0].partitionIndex = 9;
  EXPECT_EQ(errorOf(request), ErrorCode::UnknownTopicOrPartition);
  request.topics[0].topicId = test::uuid(77);
  EXPECT_EQ(errorOf(request), ErrorCode::UnknownTopicId);
}

TEST_F(PartitionControl, ALeaderThatRecoversSaysWhenItIsDone) {
  createTopic("u", {{1, 2}}, {{"unclean.leader.election.enable", "true"}});
  fence(1);
  fence(2);
  heartbeat(1);
  ASSERT_EQ(partition("u").leaderRecoveryState, LeaderRecoveryState::Recovering);
  AlterPartitionRequest request{.brokerId = 1, .brokerEpoch = image().cluster.broker(NodeId(1))->epoch.value()};
  auto& data = request.topics.emplace_back();
  data.topicId = image().topics.find("u")->id;
  auto& change = data.partitions.emplace_back();
  change.leaderEpoch = partition("u").leaderEpoch.value();
  change.partitionEpoch = partition("u").partitionEpoch.value();
  change.newIsrWithEpochs.push_back({.brokerId = 1});
  change.leaderRecoveryState = 0;
  EXPECT_EQ(codeOf(expect(request).topics[0].partitions[0].errorCode), ErrorCode::None);
  EXPECT_EQ(partition("u").leaderRecoveryState, LeaderRecoveryState::Recovered);
  change.partitionEpoch = partition("u").partitionEpoch.value();
  change.leaderRecoveryState = 1;  // not back again
  EXPECT_EQ(codeOf(expect(request).topics[0].partitions[0].errorCode), ErrorCode::InvalidRequest);
}

TEST_F(PartitionControl, PreferredElectionGivesLeadershipBack) {
  fence(1);
  EXPECT_EQ(partition("t").leader, NodeId(2));
  protocol::ElectLeadersRequest request{.electionType = 0};
  request.topicPartitions.emplace().push_back({.topic = "t", .partitions = {0, 7}});
  const auto codes = [&] {
    std::vector<ErrorCode> result;
    const auto response = expect(request);
    for (const auto& one : response.replicaElectionResults.at(0).partitionResult)
      result.push_back(codeOf(one.errorCode));
    return result;
  };
  EXPECT_THAT(codes(),
              testing::ElementsAre(ErrorCode::PreferredLeaderNotAvailable, ErrorCode::UnknownTopicOrPartition));
  heartbeat(1);
  EXPECT_EQ(codes()[0], ErrorCode::PreferredLeaderNotAvailable);  // alive, but not in sync
  expect(alteration({2, 3, 1}));
  EXPECT_EQ(codes()[0], ErrorCode::None);
  EXPECT_EQ(partition("t").leader, NodeId(1));
  EXPECT_EQ(codes()[0], ErrorCode::ElectionNotNeeded);
}

TEST_F(PartitionControl, AskedForUncleanElectionIsDoneOnlyWhereNobodyLeads) {
  protocol::ElectLeadersRequest request{.electionType = 1};
  request.topicPartitions.emplace().push_back({.topic = "t", .partitions = {0}});
  EXPECT_EQ(codeOf(expect(request).replicaElectionResults[0].partitionResult[0].errorCode),
            ErrorCode::ElectionNotNeeded);
  fence(1);
  fence(2);
  fence(3);
  EXPECT_EQ(codeOf(expect(request).replicaElectionResults[0].partitionResult[0].errorCode),
            ErrorCode::EligibleLeadersNotAvailable);
  heartbeat(1);
  EXPECT_EQ(codeOf(expect(request).replicaElectionResults[0].partitionResult[0].errorCode), ErrorCode::None);
  EXPECT_EQ(partition("t").leader, NodeId(1));
  EXPECT_EQ(partition("t").isr, nodes({1}));
  EXPECT_EQ(handle(protocol::ElectLeadersRequest{.electionType = 5}).error().code, ErrorCode::InvalidRequest);
}

/// A topic whose minimum is 2, with the ELR feature on or off.
class Eligibility : public PartitionControl {
 protected:
  Eligibility() { createTopic("e", {{1, 2, 3}}, {{"min.insync.replicas", "2"}}); }
  void disableElr() {
    commit({{protocol::FeatureLevelRecord{.name = kEligibleLeaderReplicasFeature, .featureLevel = 0}}});
  }
  /// Another incarnation of a broker that is fenced.
  void restart(int id, bool clean) {
    const int64_t before = image().cluster.broker(NodeId(id))->epoch.value();
    auto request = registration(id, ++incarnation_);
    if (clean) request.previousBrokerEpoch = before;
    expect(request);
  }
  /// As a kill leaves it.
  void fenceAll() {
    for (int id : {2, 3, 1}) fence(id);
    ASSERT_EQ(partition("e").leader, kNoNode);
  }

 private:
  uint8_t incarnation_ = 10;
};

TEST_F(Eligibility, WhoLeavesTheIsrBelowTheMinimumStaysEligible) {
  fence(2);
  EXPECT_EQ(partition("e").isr, nodes({1, 3}));
  EXPECT_TRUE(partition("e").elr.empty());  // still at the minimum
  fence(3);
  EXPECT_EQ(partition("e").isr, nodes({1}));
  EXPECT_EQ(partition("e").elr, nodes({3}));
  fence(1);
  EXPECT_TRUE(partition("e").isr.empty());
  EXPECT_EQ(partition("e").elr, nodes({1, 3}));
  EXPECT_EQ(partition("e").leader, kNoNode);
  EXPECT_EQ(partition("e").lastKnownElr, nodes({1}));
  heartbeat(3);
  EXPECT_EQ(partition("e").leader, NodeId(3));
  EXPECT_EQ(partition("e").isr, nodes({3}));
  EXPECT_EQ(partition("e").elr, nodes({1}));
  EXPECT_TRUE(partition("e").lastKnownElr.empty());
  EXPECT_EQ(partition("e").leaderRecoveryState, LeaderRecoveryState::Recovered);
}

TEST_F(Eligibility, NobodyIsNeededBesideAnIsrOfTheMinimum) {
  fence(2);
  fence(3);
  ASSERT_EQ(partition("e").elr, nodes({3}));
  heartbeat(2);
  AlterPartitionRequest request{.brokerId = 1, .brokerEpoch = image().cluster.broker(NodeId(1))->epoch.value()};
  auto& data = request.topics.emplace_back();
  data.topicId = image().topics.find("e")->id;
  auto& change = data.partitions.emplace_back();
  change.leaderEpoch = partition("e").leaderEpoch.value();
  change.partitionEpoch = partition("e").partitionEpoch.value();
  change.newIsrWithEpochs = {{.brokerId = 1}, {.brokerId = 2}};
  EXPECT_EQ(codeOf(expect(request).topics[0].partitions[0].errorCode), ErrorCode::None);
  EXPECT_EQ(partition("e").isr, nodes({1, 2}));
  EXPECT_TRUE(partition("e").elr.empty());
}

TEST_F(Eligibility, AnUncleanStopTakesABrokerOutOfTheIsrAndTheElrAndACleanOneDoesNot) {
  fence(2);
  fence(3);
  fence(1);
  ASSERT_EQ(partition("e").elr, nodes({1, 3}));
  restart(3, true);
  EXPECT_EQ(partition("e").elr, nodes({1, 3}));
  restart(1, false);
  EXPECT_EQ(partition("e").elr, nodes({3}));
  heartbeat(1);
  EXPECT_EQ(partition("e").leader, kNoNode) << "broker 1 may have lost what it had";
  heartbeat(3);
  EXPECT_EQ(partition("e").leader, NodeId(3));
}

TEST_F(Eligibility, ALeaderThatRestartsUncleanlyBeforeItsSessionEndsLeavesTheIsr) {
  advance(settings().sessionTimeout + std::chrono::seconds(1));
  heartbeat(2);
  heartbeat(3);
  restart(1, false);
  EXPECT_EQ(partition("e").isr, nodes({2, 3}));
  EXPECT_EQ(partition("e").leader, NodeId(2));
  EXPECT_TRUE(partition("e").elr.empty());
}

TEST_F(Eligibility, WithNobodyEligibleTheLastLeaderIsWaitedFor) {
  fenceAll();
  ASSERT_EQ(partition("e").lastKnownElr, nodes({1}));
  for (int id : {1, 2, 3}) restart(id, false);
  ASSERT_TRUE(partition("e").elr.empty());
  heartbeat(2);
  heartbeat(3);
  EXPECT_EQ(partition("e").leader, kNoNode);
  heartbeat(1);
  EXPECT_EQ(partition("e").leader, NodeId(1));
  EXPECT_EQ(partition("e").isr, nodes({1}));
  EXPECT_EQ(partition("e").leaderRecoveryState, LeaderRecoveryState::Recovering);
  EXPECT_TRUE(partition("e").lastKnownElr.empty());
}

// Who left the ISR while it was large enough is not eligible, although it may hold everything: KIP-966 names the last
// leader, uncleanly, and what its disk has lost is lost.
TEST_F(Eligibility, TheLastLeaderIsElectedUncleanlyThoughOneThatLeftEarlierIsThere) {
  fenceAll();
  ASSERT_EQ(partition("e").elr, nodes({1, 3})) << "broker 2 left first";
  restart(1, false);
  restart(3, false);
  ASSERT_TRUE(partition("e").elr.empty());
  heartbeat(2);
  heartbeat(3);
  EXPECT_EQ(partition("e").leader, kNoNode) << "broker 2 never stopped, but nobody knows what it holds";
  heartbeat(1);
  EXPECT_EQ(partition("e").leader, NodeId(1));
  EXPECT_EQ(partition("e").isr, nodes({1}));
  EXPECT_EQ(partition("e").leaderRecoveryState, LeaderRecoveryState::Recovering);
}

TEST_F(Eligibility, UncleanElectionTakesWhoeverIsThereFirst) {
  createTopic("u", {{1, 2, 3}}, {{"min.insync.replicas", "2"}, {"unclean.leader.election.enable", "true"}});
  fenceAll();
  for (int id : {1, 2, 3}) restart(id, false);
  heartbeat(2);
  EXPECT_EQ(partition("u").leader, NodeId(2));
  EXPECT_EQ(partition("u").isr, nodes({2}));
  EXPECT_EQ(partition("u").leaderRecoveryState, LeaderRecoveryState::Recovering);
  EXPECT_EQ(partition("e").leader, kNoNode);
}

TEST_F(Eligibility, WithoutTheFeatureTheLastMemberStays) {
  disableElr();
  fenceAll();
  EXPECT_EQ(partition("e").isr, nodes({1}));
  EXPECT_TRUE(partition("e").elr.empty());
  heartbeat(2);
  EXPECT_EQ(partition("e").leader, kNoNode);
  restart(1, false);
  heartbeat(1);
  EXPECT_EQ(partition("e").leader, NodeId(1));
}

TEST_F(PartitionControl, LeadersGoBackToPreferredReplicasThatAreInSync) {
  createTopic("u", {{2, 3, 1}, {1, 2, 3}});
  fence(1);
  heartbeat(1);
  ASSERT_EQ(partition("t").leader, NodeId(2));
  const auto balance = [&](size_t limit) {
    Records records;
    electPreferredLeaders(view(), limit, records);
    commit(records);
    return records.size();
  };
  EXPECT_EQ(balance(10), 0u) << "nobody preferred is in sync";
  for (auto& [name, index] : {std::pair("t", 0), std::pair("u", 1)}) {
    AlterPartitionRequest request{.brokerId = 2, .brokerEpoch = image().cluster.broker(NodeId(2))->epoch.value()};
    auto& data = request.topics.emplace_back();
    data.topicId = image().topics.find(name)->id;
    auto& change = data.partitions.emplace_back();
    change.partitionIndex = index;
    change.leaderEpoch = partition(name, index).leaderEpoch.value();
    change.partitionEpoch = partition(name, index).partitionEpoch.value();
    change.newIsrWithEpochs = {{.brokerId = 1}, {.brokerId = 2}, {.brokerId = 3}};
    expect(request);
  }
  EXPECT_EQ(balance(1), 1u);
  EXPECT_EQ(balance(1), 1u);
  EXPECT_EQ(balance(1), 0u);
  EXPECT_EQ(partition("t").leader, NodeId(1));
  EXPECT_EQ(partition("u", 0).leader, NodeId(2));
  EXPECT_EQ(partition("u", 1).leader, NodeId(1));
}

}  // namespace
}  // namespace tidemark::metadata
