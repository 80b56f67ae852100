#include <gmock/gmock.h>

#include "metadata/controller_fixture.h"

namespace tidemark::metadata {
namespace {

using std::chrono::seconds;
using test::ControllerFixture;
using test::nodes;
using test::uuid;

class ClusterControl : public testing::Test, public ControllerFixture {};

TEST_F(ClusterControl, ANewBrokerStartsFencedWithTheOffsetOfItsRegistrationAsEpoch) {
  const Offset before = end();
  const BrokerEpoch epoch = registerBroker(1);
  EXPECT_EQ(epoch.value(), before.value());
  const BrokerRegistration* broker = image().cluster.broker(NodeId(1));
  ASSERT_TRUE(broker);
  EXPECT_TRUE(broker->fenced);
  EXPECT_EQ(broker->directories, std::vector{uuid(1)});
  ASSERT_TRUE(broker->endpoint("PLAINTEXT"));
  EXPECT_EQ(broker->endpoint("PLAINTEXT")->port, 9001);
  EXPECT_EQ(broker->features.at("metadata.version").max, kLatestMetadataVersion);
}

TEST_F(ClusterControl, RegistrationIsRefusedForTheReasonsOfKafka) {
  registerBroker(1);
  const auto error = [&](protocol::BrokerRegistrationRequest request) {
    const auto response = handle(request);
    return response ? ErrorCode::None : response.error().code;
  };
  auto request = registration(2);
  request.clusterId = "another";
  EXPECT_EQ(error(request), ErrorCode::InconsistentClusterId);
  request = registration(2);
  request.logDirs.clear();
  EXPECT_EQ(error(request), ErrorCode::InvalidRegistration);
  request.logDirs = {kLostDirectory};
  EXPECT_EQ(error(request), ErrorCode::InvalidRegistration);
  request.logDirs = {uuid(9), uuid(9)};
  EXPECT_EQ(error(request), ErrorCode::InvalidRegistration);
  request.logDirs = {uuid(1)};  // broker 1 has it
  EXPECT_EQ(error(request), ErrorCode::InvalidRegistration);
  request = registration(2);
  for (auto& feature : request.features) {
    if (feature.name == kMetadataVersionFeature) feature.maxSupportedVersion = 20;
  }
  EXPECT_EQ(error(request), ErrorCode::UnsupportedVersion);
  request = registration(2);
  request.isMigratingZkBroker = true;
  EXPECT_EQ(error(request), ErrorCode::BrokerIdNotRegistered);
}

TEST_F(ClusterControl, AnotherIncarnationWaitsForTheSessionOfTheFirst) {
  startBrokers({1});
  EXPECT_EQ(handle(registration(1, 2)).error().code, ErrorCode::DuplicateBrokerRegistration);
  advance(settings().sessionTimeout + seconds(1));
  const auto epoch = registerBroker(1, 2);
  EXPECT_EQ(image().cluster.broker(NodeId(1))->epoch, epoch);
  EXPECT_TRUE(image().cluster.broker(NodeId(1))->fenced);
}

TEST_F(ClusterControl, TheSameIncarnationAmendsItsRegistrationAndKeepsEpochAndState) {
  startBrokers({1});
  const BrokerEpoch epoch = image().cluster.broker(NodeId(1))->epoch;
  auto request = registration(1);
  request.rack = protocol::Text("r2");
  EXPECT_EQ(expect(request).brokerEpoch, epoch.value());
  EXPECT_FALSE(image().cluster.broker(NodeId(1))->fenced);
  EXPECT_EQ(image().cluster.broker(NodeId(1))->rack, "r2");
}

TEST_F(ClusterControl, ABrokerIsUnfencedOnceItHasReadItsRegistration) {
  registerBroker(1);
  auto request = heartbeatOf(1);
  request.currentMetadataOffset = end().value() - 2;
  auto response = expect(request);
  EXPECT_TRUE(response.isFenced);
  EXPECT_FALSE(response.isCaughtUp);
  request.currentMetadataOffset = end().value() - 1;
  request.wantFence = true;
  EXPECT_TRUE(expect(request).isFenced);
  request.wantFence = false;
  response = expect(request);
  EXPECT_FALSE(response.isFenced);
  EXPECT_TRUE(response.isCaughtUp);
  EXPECT_TRUE(image().cluster.isActive(NodeId(1)));
}

TEST_F(ClusterControl, AHeartbeatWithAnotherEpochIsStale) {
  startBrokers({1});
  auto request = heartbeatOf(1);
  request.brokerEpoch -= 1;
  EXPECT_EQ(handle(request).error().code, ErrorCode::StaleBrokerEpoch);
  request.brokerId = 7;
  EXPECT_EQ(handle(request).error().code, ErrorCode::StaleBrokerEpoch);
}

TEST_F(ClusterControl, ASilentBrokerIsFencedRightAfterItsSession) {
  startBrokers({1, 2});
  createTopic("t", {{1, 2}, {2, 1}});
  advance(seconds(5));
  heartbeat(2);
  const auto deadline = heartbeats().nextDeadline(image().cluster, settings().sessionTimeout);
  ASSERT_TRUE(deadline);
  advance(seconds(4));
  EXPECT_EQ(fenceStale(), 0);
  advance(*deadline - view().now);
  EXPECT_EQ(fenceStale(), 1);
  EXPECT_FALSE(image().cluster.isActive(NodeId(1)));
  EXPECT_EQ(partition("t", 0).leader, NodeId(2));
  EXPECT_EQ(partition("t", 0).isr, nodes({2}));
  EXPECT_EQ(partition("t", 0).leaderEpoch, LeaderEpoch(1));
  EXPECT_EQ(partition("t", 1).leader, NodeId(2));
  EXPECT_EQ(partition("t", 1).leaderEpoch, LeaderEpoch(0));
  EXPECT_EQ(partition("t", 1).partitionEpoch, PartitionEpoch(1));
}

TEST_F(ClusterControl, TheLastMemberOfTheIsrLeadsAgainWhenItComesBack) {
  startBrokers({1, 2});
  createTopic("t", {{1, 2}});
  fence(1);
  fence(2);
  EXPECT_EQ(partition("t").leader, kNoNode);
  EXPECT_TRUE(partition("t").isr.empty());
  EXPECT_EQ(partition("t").elr, nodes({2}));
  heartbeat(1);  // not eligible: may not lead
  EXPECT_EQ(partition("t").leader, kNoNode);
  heartbeat(2);
  EXPECT_EQ(partition("t").leader, NodeId(2));
  EXPECT_EQ(partition("t").isr, nodes({2}));
  EXPECT_EQ(partition("t").leaderRecoveryState, LeaderRecoveryState::Recovered);
}

TEST_F(ClusterControl, WithUncleanElectionAReplicaOutsideTheIsrLeadsAndRecovers) {
  startBrokers({1, 2});
  createTopic("t", {{1, 2}}, {{"unclean.leader.election.enable", "true"}});
  fence(1);
  fence(2);
  heartbeat(1);
  EXPECT_EQ(partition("t").leader, NodeId(1));
  EXPECT_EQ(partition("t").isr, nodes({1}));
  EXPECT_EQ(partition("t").leaderRecoveryState, LeaderRecoveryState::Recovering);
}

TEST_F(ClusterControl, ControlledShutdownMovesLeadersAndWaitsUntilAllHaveReadIt) {
  startBrokers({1, 2, 3});
  createTopic("t", {{1, 2, 3}});
  auto request = heartbeatOf(1);
  request.wantShutDown = true;
  auto response = expect(request);
  EXPECT_FALSE(response.shouldShutDown);
  EXPECT_FALSE(response.isFenced);
  EXPECT_TRUE(image().cluster.broker(NodeId(1))->inControlledShutdown);
  EXPECT_EQ(partition("t").leader, NodeId(2));
  EXPECT_EQ(partition("t").isr, nodes({2, 3}));
  EXPECT_FALSE(expect(request).shouldShutDown);  // 2 and 3 have not read it yet
  heartbeat(2);
  EXPECT_FALSE(expect(request).shouldShutDown);
  heartbeat(3);
  response = expect(request);
  EXPECT_TRUE(response.shouldShutDown);
  EXPECT_TRUE(image().cluster.broker(NodeId(1))->fenced);
}

TEST_F(ClusterControl, ABrokerThatLeadsNothingShutsDownAtOnce) {
  startBrokers({1, 2});
  createTopic("t", {{2, 1}});
  auto request = heartbeatOf(1);
  request.wantShutDown = true;
  EXPECT_TRUE(expect(request).shouldShutDown);
  EXPECT_EQ(partition("t").isr, nodes({2}));
}

TEST_F(ClusterControl, ANewIncarnationLeavesTheIsrsOfTheOldOne) {
  startBrokers({1, 2});
  createTopic("t", {{1, 2}});
  advance(settings().sessionTimeout + seconds(1));
  heartbeat(2);
  registerBroker(1, 2);
  EXPECT_EQ(partition("t").isr, nodes({2}));
  EXPECT_EQ(partition("t").leader, NodeId(2));
}

TEST_F(ClusterControl, OfflineDirectoriesTakeTheirReplicasOutOfTheIsr) {
  auto request = registration(1);
  request.logDirs = {uuid(1), uuid(11)};
  expect(request);
  heartbeat(1);
  startBrokers({2});
  createTopic("t", {{1, 2}});
  EXPECT_EQ(partition("t").directoryOf(NodeId(1)), kUnassignedDirectory);
  protocol::AssignReplicasToDirsRequest assign{.brokerId = 1,
                                               .brokerEpoch = image().cluster.broker(NodeId(1))->epoch.value()};
  assign.directories.push_back(
      {.id = uuid(11), .topics = {{.topicId = image().topics.find("t")->id, .partitions = {{.partitionIndex = 0}}}}});
  expect(assign);
  EXPECT_EQ(partition("t").directoryOf(NodeId(1)), uuid(11));
  auto beat = heartbeatOf(1);
  beat.offlineLogDirs = {uuid(11)};
  expect(beat);
  EXPECT_EQ(partition("t").isr, nodes({2}));
  EXPECT_EQ(partition("t").leader, NodeId(2));
  EXPECT_EQ(image().cluster.broker(NodeId(1))->directories, std::vector{uuid(1)});
}

TEST_F(ClusterControl, UnregisteringTakesABrokerOut) {
  startBrokers({1, 2});
  createTopic("t", {{1, 2}});
  expect(protocol::UnregisterBrokerRequest{.brokerId = 1});
  EXPECT_FALSE(image().cluster.broker(NodeId(1)));
  EXPECT_EQ(partition("t").leader, NodeId(2));
  EXPECT_EQ(handle(protocol::UnregisterBrokerRequest{.brokerId = 1}).error().code, ErrorCode::BrokerIdNotRegistered);
}

TEST_F(ClusterControl, ControllersRegisterAndLeave) {
  protocol::ControllerRegistrationRequest request{.controllerId = 5, .incarnationId = uuid(5)};
  request.listeners.push_back({.name = "CONTROLLER", .host = "h", .port = 1});
  expect(request);
  EXPECT_TRUE(image().cluster.controllers.contains(NodeId(5)));
  expect(protocol::UnregisterControllerRequest{.controllerId = 5});
  EXPECT_FALSE(image().cluster.controllers.contains(NodeId(5)));
  EXPECT_EQ(handle(protocol::UnregisterControllerRequest{.controllerId = 5}).error().code,
            ErrorCode::ControllerIdNotRegistered);
}

}  // namespace
}  // namespace tidemark::metadata
