#include <gmock/gmock.h>

#include "coordinator/group_fixture.h"
#include "protocol/framing.h"
#include "protocol/generated/group_metadata_key.h"
#include "protocol/generated/group_metadata_value.h"

namespace tidemark::coordinator {
namespace {

TEST_F(Groups, ANewDynamicMemberIsGivenAnIdAndAskedToComeBackWithIt) {
  const auto first = join({.clientId = "billing"});
  EXPECT_EQ(first.error(), ErrorCode::MemberIdRequired);
  EXPECT_THAT(first.get().memberId.str(),
              testing::MatchesRegex("billing-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+"));
  const auto second = join({.member = first.get().memberId.str()});
  EXPECT_FALSE(second.has());
  executor_->advance(3s);
  EXPECT_EQ(second.error(), ErrorCode::None);
  EXPECT_EQ(second.get().generationId, 1);
  EXPECT_EQ(second.get().leader, first.get().memberId);
  ASSERT_EQ(second.get().members.size(), 1u);
  EXPECT_EQ(asText(second.get().members[0].metadata), "m");
}

TEST_F(Groups, AnIdThatIsNotUsedInTimeIsForgotten) {
  const auto first = join({.sessionMs = 10000});
  executor_->advance(10001ms);
  EXPECT_EQ(join({.member = first.get().memberId.str()}).error(), ErrorCode::UnknownMemberId);
}

TEST_F(Groups, OldClientsJoinWithoutAnIdAtOnce) {
  const auto answer = join({.version = 3});
  EXPECT_FALSE(answer.has());
  executor_->advance(3s);
  EXPECT_EQ(answer.error(), ErrorCode::None);
  EXPECT_TRUE(answer.get().protocolName.has_value());
}

TEST_F(Groups, ThatAreNewWaitLongerWhileMembersKeepComing) {
  const auto a = joinNew({.rebalanceMs = 60000, .clientId = "a"});
  executor_->advance(2s);
  const auto b = joinNew({.rebalanceMs = 60000, .clientId = "b"});
  executor_->advance(2s);
  EXPECT_FALSE(a.has());
  executor_->advance(2s);
  EXPECT_EQ(a.get().members.size(), 2u);
  EXPECT_TRUE(b.get().members.empty()) << "only the leader learns of all members";
  EXPECT_EQ(b.get().leader, a.get().memberId);
}

TEST_F(Groups, DoNotWaitLongerThanTheRebalanceTimeoutForTheFirstGeneration) {
  const auto a = joinNew({.rebalanceMs = 7000, .clientId = "a"});
  for (int i = 0; i < 6; ++i) {
    executor_->advance(1s);
    joinNew({.rebalanceMs = 7000, .clientId = "more" + std::to_string(i)});
  }
  executor_->advance(1100ms);
  EXPECT_TRUE(a.has());
}

TEST_F(Groups, MembersGetTheLeadersAssignment) {
  stableGroup();
}

TEST_F(Groups, MembersWhoShareNoProtocolAreRefused) {
  stableGroup();
  EXPECT_EQ(join({.protocols = {"sticky"}, .version = 3}).error(), ErrorCode::InconsistentGroupProtocol);
  EXPECT_EQ(join({.version = 3, .protocolType = "connect"}).error(), ErrorCode::InconsistentGroupProtocol);
  EXPECT_EQ(join({.group = "new", .protocols = {}}).error(), ErrorCode::InconsistentGroupProtocol);
}

TEST_F(Groups, SelectTheProtocolThatMostPreferAmongThoseAllHave) {
  const auto a = joinNew({.protocols = {"x", "range", "sticky"}, .clientId = "a"});
  const auto b = joinNew({.protocols = {"sticky", "range"}, .clientId = "b"});
  const auto c = joinNew({.protocols = {"sticky", "range"}, .clientId = "c"});
  executor_->advance(6s);
  EXPECT_EQ(*a.get().protocolName, "sticky");
}

TEST_F(Groups, RequestsOfAnotherGenerationAreIllegal) {
  stableGroup();
  EXPECT_EQ(heartbeat(ids_["a"], 0), ErrorCode::IllegalGeneration);
  EXPECT_EQ(heartbeat(ids_["a"], 2), ErrorCode::IllegalGeneration);
  EXPECT_EQ(sync(ids_["a"], 0).error(), ErrorCode::IllegalGeneration);
  EXPECT_EQ(errorOf(commit({.member = ids_["a"], .generation = 0})), ErrorCode::IllegalGeneration);
}

TEST_F(Groups, UnknownMembersAndGroupsAreToldSo) {
  EXPECT_EQ(heartbeat("nobody", 1), ErrorCode::UnknownMemberId);
  EXPECT_EQ(sync("nobody", 1).error(), ErrorCode::UnknownMemberId);
  EXPECT_EQ(join({.member = "nobody"}).error(), ErrorCode::UnknownMemberId);
  EXPECT_EQ(leave("nobody").get().members.at(0).errorCode, static_cast<int16_t>(ErrorCode::UnknownMemberId));
  stableGroup();
  EXPECT_EQ(heartbeat("nobody", 1), ErrorCode::UnknownMemberId);
  EXPECT_EQ(sync("nobody", 1).error(), ErrorCode::UnknownMemberId);
  EXPECT_EQ(join({.member = "nobody"}).error(), ErrorCode::UnknownMemberId);
  EXPECT_EQ(leave("nobody").get().members.at(0).errorCode, static_cast<int16_t>(ErrorCode::UnknownMemberId));
  EXPECT_EQ(errorOf(commit({.member = "nobody", .generation = 1})), ErrorCode::UnknownMemberId);
}

TEST_F(Groups, EmptyIdsAndSessionsOutOfRangeAreRefused) {
  EXPECT_EQ(join({.group = ""}).error(), ErrorCode::InvalidGroupId);
  EXPECT_EQ(heartbeat("m", 1, std::nullopt, ""), ErrorCode::InvalidGroupId);
  EXPECT_EQ(join({.sessionMs = 5999}).error(), ErrorCode::InvalidSessionTimeout);
  EXPECT_EQ(join({.sessionMs = 1800001}).error(), ErrorCode::InvalidSessionTimeout);
}

TEST_F(Groups, ASilentMemberIsRemovedAndTheOthersRebalance) {
  stableGroup();
  for (int i = 0; i < 3; ++i) {
    executor_->advance(4s);
    const ErrorCode error = heartbeat(ids_["a"], 1);
    EXPECT_EQ(error, i < 2 ? ErrorCode::None : ErrorCode::RebalanceInProgress) << i;
  }
  EXPECT_EQ(heartbeat(ids_["b"], 1), ErrorCode::UnknownMemberId);
  const auto again = join({.member = ids_["a"]});
  ASSERT_TRUE(again.has()) << "nobody else is to wait for";
  EXPECT_EQ(again.get().generationId, 2);
  EXPECT_EQ(again.get().members.size(), 1u);
}

TEST_F(Groups, ANewMemberMakesTheOthersJoinAgain) {
  stableGroup();
  const auto c = joinNew({.clientId = "c"});
  EXPECT_EQ(stateOf("group"), "PreparingRebalance");
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::RebalanceInProgress);
  EXPECT_EQ(sync(ids_["a"], 1).error(), ErrorCode::RebalanceInProgress);
  EXPECT_EQ(errorOf(commit({.member = ids_["a"], .generation = 1})), ErrorCode::None) << "still of the last generation";
  const auto a = join({.member = ids_["a"]});
  EXPECT_FALSE(a.has());
  const auto b = join({.member = ids_["b"]});
  ASSERT_TRUE(a.has() && b.has() && c.has());
  EXPECT_EQ(c.get().generationId, 2);
  EXPECT_EQ(a.get().members.size(), 3u) << "the leader stays";
  EXPECT_EQ(stateOf("group"), "CompletingRebalance");
  EXPECT_EQ(errorOf(commit({.member = ids_["a"], .generation = 2})), ErrorCode::RebalanceInProgress);
  EXPECT_EQ(heartbeat(ids_["a"], 2), ErrorCode::None);
}

TEST_F(Groups, AMemberThatDoesNotJoinAgainInTimeIsLeftBehind) {
  stableGroup();
  const auto c = joinNew({.clientId = "c"});
  const auto b = join({.member = ids_["b"]});
  for (int i = 0; i < 7; ++i) {
    executor_->advance(9s);
    heartbeat(ids_["a"], 1);  // alive, but it does not join
  }
  ASSERT_TRUE(b.has() && c.has());
  EXPECT_EQ(b.get().generationId, 2);
  EXPECT_NE(b.get().leader, ids_["a"]) << "the leader did not come back, another leads";
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::UnknownMemberId);
}

TEST_F(Groups, MembersThatDoNotSynchroniseInTimeAreRemoved) {
  const auto a = joinNew({.rebalanceMs = 5000, .clientId = "a"});
  const auto b = joinNew({.rebalanceMs = 5000, .clientId = "b"});
  executor_->advance(6s);
  ASSERT_EQ(a.get().generationId, 1);
  const auto synced = sync(ids_["a"], 1, {{ids_["a"], "all"}});
  ASSERT_TRUE(synced.has());
  executor_->advance(5s);
  EXPECT_EQ(heartbeat(ids_["b"], 1), ErrorCode::UnknownMemberId);
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::RebalanceInProgress);
}

TEST_F(Groups, TheLeaderAloneMayForceARebalanceByJoining) {
  stableGroup();
  const auto follower = join({.member = ids_["b"]});
  ASSERT_TRUE(follower.has());
  EXPECT_EQ(follower.get().generationId, 1);
  EXPECT_TRUE(follower.get().members.empty());
  const auto leader = join({.member = ids_["a"]});
  EXPECT_FALSE(leader.has());
  EXPECT_EQ(stateOf("group"), "PreparingRebalance");
  const auto changed = join({.member = ids_["b"], .metadata = "other"});
  ASSERT_TRUE(leader.has());
  EXPECT_EQ(changed.get().generationId, 2);
}

TEST_F(Groups, AnAnswerThatWasLostIsGivenAgain) {
  const auto a = joinNew({.clientId = "a"});
  executor_->advance(3s);
  const auto again = join({.member = ids_["a"]});
  EXPECT_EQ(again.get().generationId, a.get().generationId);
  EXPECT_EQ(again.get().members.size(), 1u);
}

TEST_F(Groups, ASecondParkedRequestOfAMemberReplacesTheFirstWhichIsAnswered) {
  const auto first = joinNew({.clientId = "a"});
  const auto second = join({.member = ids_["a"]});
  EXPECT_EQ(first.error(), ErrorCode::RebalanceInProgress);
  executor_->advance(3s);
  EXPECT_EQ(second.error(), ErrorCode::None);
}

TEST_F(Groups, ALeavingMemberStartsARebalanceAndTheLastOneEmptiesTheGroup) {
  stableGroup();
  EXPECT_EQ(leave(ids_["a"]).get().members.at(0).errorCode, 0);
  EXPECT_EQ(heartbeat(ids_["b"], 1), ErrorCode::RebalanceInProgress);
  EXPECT_EQ(leave(ids_["b"], std::nullopt, 1).error(), ErrorCode::None);
  EXPECT_EQ(stateOf("group"), "Empty");
  EXPECT_EQ(leave(ids_["b"], std::nullopt, 1).error(), ErrorCode::UnknownMemberId) << "old versions get it at the top";
}

TEST_F(Groups, AFullGroupTakesNoMore) {
  config_.maxGroupSize = 2;
  start();
  stableGroup();
  EXPECT_EQ(join({.version = 3}).error(), ErrorCode::GroupMaxSizeReached);
  EXPECT_EQ(join({}).error(), ErrorCode::GroupMaxSizeReached);
}

// ---- static members

TEST_F(Groups, AStaticMemberThatComesBackTakesItsPlaceWithoutARebalance) {
  const auto first = join({.instance = "i-1"});
  executor_->advance(3s);
  const std::string oldId = first.get().memberId.str();
  EXPECT_THAT(oldId, testing::StartsWith("i-1-"));
  ASSERT_EQ(sync(oldId, 1, {{oldId, "mine"}}).error(), ErrorCode::None);

  const auto again = join({.instance = "i-1"});
  ASSERT_TRUE(again.has());
  EXPECT_EQ(again.get().generationId, 1);
  EXPECT_TRUE(again.get().skipAssignment) << "it led, and the assignment stands";
  const std::string newId = again.get().memberId.str();
  EXPECT_NE(newId, oldId);
  EXPECT_EQ(asText(sync(newId, 1).get().assignment), "mine");
  EXPECT_EQ(heartbeat(oldId, 1, "i-1"), ErrorCode::FencedInstanceId);
  EXPECT_EQ(heartbeat(oldId, 1), ErrorCode::UnknownMemberId);
  EXPECT_EQ(heartbeat(newId, 1, "i-1"), ErrorCode::None);
}

TEST_F(Groups, AnOldClientThatComesBackIsNotToldThatItLeads) {
  const auto first = join({.instance = "i-1", .version = 8});
  executor_->advance(3s);
  const std::string oldId = first.get().memberId.str();
  sync(oldId, 1, {{oldId, "mine"}});
  const auto again = join({.instance = "i-1", .version = 8});
  EXPECT_EQ(again.get().leader, oldId);
  EXPECT_FALSE(again.get().skipAssignment);
  EXPECT_TRUE(again.get().members.empty());
}

TEST_F(Groups, AStaticMemberWhoseReplacementIsNotStoredKeepsItsPlace) {
  const auto first = join({.instance = "i-1"});
  executor_->advance(3s);
  const std::string oldId = first.get().memberId.str();
  sync(oldId, 1, {{oldId, "mine"}});
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(join({.instance = "i-1"}).error(), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_EQ(heartbeat(oldId, 1, "i-1"), ErrorCode::None);
}

TEST_F(Groups, ADuplicateOfAParkedStaticMemberIsFenced) {
  const auto first = join({.instance = "i-1"});
  const auto second = join({.instance = "i-1"});
  EXPECT_EQ(first.error(), ErrorCode::FencedInstanceId);
  executor_->advance(3s);
  EXPECT_EQ(second.error(), ErrorCode::None);
}

TEST_F(Groups, AStaticMemberStaysThroughARebalanceUntilItsSessionEnds) {
  const auto a = join({.instance = "i-a", .sessionMs = 30000, .rebalanceMs = 10000});
  const auto b = join({.instance = "i-b", .sessionMs = 30000, .rebalanceMs = 10000});
  executor_->advance(6s);
  const std::string aId = a.get().memberId.str();
  const std::string bId = b.get().memberId.str();
  sync(bId, 1);
  sync(aId, 1, {{aId, "1"}, {bId, "2"}});
  const auto joined = join({.member = aId, .instance = "i-a", .sessionMs = 30000, .rebalanceMs = 10000});
  executor_->advance(10s);
  ASSERT_TRUE(joined.has());
  EXPECT_EQ(joined.get().members.size(), 2u) << "the one that is away is still counted in";
}

TEST_F(Groups, AnAdministratorRemovesAStaticMemberByItsInstanceId) {
  const auto first = join({.instance = "i-1"});
  executor_->advance(3s);
  const std::string id = first.get().memberId.str();
  sync(id, 1, {{id, "mine"}});
  EXPECT_EQ(leave("", "i-2").get().members.at(0).errorCode, static_cast<int16_t>(ErrorCode::UnknownMemberId));
  EXPECT_EQ(leave("other", "i-1").get().members.at(0).errorCode, static_cast<int16_t>(ErrorCode::FencedInstanceId));
  EXPECT_EQ(leave("", "i-1").get().members.at(0).errorCode, 0);
  EXPECT_EQ(stateOf("group"), "Empty");
}

// ---- the log

TEST_F(Groups, WriteWhatKafkaWrites) {
  stableGroup();
  const auto records = log_.records(partitionOf("group"));
  ASSERT_EQ(records.size(), 2u);
  const auto key = protocol::decodeCoordinatorKey(records[0].key);
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->type, 2);
  EXPECT_EQ(protocol::decodeVersioned(*records[0].value)->version, 3);
  const auto fresh = protocol::decodeVersionedAs<protocol::GroupMetadataValue>(*records[0].value);
  ASSERT_TRUE(fresh.has_value());
  EXPECT_EQ(fresh->generation, 0);
  EXPECT_EQ(fresh->protocolType, "");
  EXPECT_FALSE(fresh->protocol.has_value());
  EXPECT_TRUE(fresh->members.empty());
  const auto stable = protocol::decodeVersionedAs<protocol::GroupMetadataValue>(*records[1].value);
  ASSERT_TRUE(stable.has_value());
  EXPECT_EQ(stable->generation, 1);
  EXPECT_EQ(*stable->protocol, "range");
  EXPECT_EQ(*stable->leader, ids_["a"]);
  ASSERT_EQ(stable->members.size(), 2u);
  EXPECT_EQ(stable->members[0].clientHost, "/127.0.0.1");
  EXPECT_EQ(asText(stable->members[0].subscription), "m");
  EXPECT_EQ(asText(stable->members[0].assignment), "for-a");
}

TEST_F(Groups, AnAssignmentIsToldOnlyOnceItIsCommitted) {
  const auto a = joinNew({.clientId = "a"});
  executor_->advance(3s);
  log_.commitsAtOnce = false;
  const auto synced = sync(ids_["a"], 1, {{ids_["a"], "x"}});
  EXPECT_FALSE(synced.has());
  EXPECT_EQ(stateOf("group"), "CompletingRebalance");
  const auto beat = heartbeatLater(ids_["a"], 1);
  EXPECT_FALSE(beat.has()) << "an answer does not overtake what is uncommitted";
  log_.commit(partitionOf("group"));
  executor_->drain();
  EXPECT_EQ(asText(synced.get().assignment), "x");
  EXPECT_EQ(beat.error(), ErrorCode::None);
  EXPECT_EQ(stateOf("group"), "Stable");
}

TEST_F(Groups, AnAssignmentThatIsNotCommittedInTimeStartsOver) {
  const auto a = joinNew({.clientId = "a"});
  executor_->advance(3s);
  log_.commitsAtOnce = false;
  const auto synced = sync(ids_["a"], 1, {{ids_["a"], "x"}});
  executor_->advance(5s);
  EXPECT_EQ(synced.error(), ErrorCode::CoordinatorNotAvailable);
  EXPECT_EQ(stateOf("group"), "PreparingRebalance");
}

TEST_F(Groups, AnAssignmentOfAGenerationThatHasPassedReachesNobody) {
  const auto a = joinNew({.clientId = "a"});
  executor_->advance(3s);
  log_.commitsAtOnce = false;
  const auto synced = sync(ids_["a"], 1, {{ids_["a"], "old"}});
  const auto b = joinNew({.clientId = "b"});
  EXPECT_EQ(synced.error(), ErrorCode::RebalanceInProgress);
  join({.member = ids_["a"]});
  ASSERT_EQ(b.get().generationId, 2);
  const auto waiting = sync(ids_["b"], 2);
  log_.commit(partitionOf("group"));
  executor_->drain();
  EXPECT_FALSE(waiting.has()) << "generation 1 must not answer generation 2";
  EXPECT_EQ(stateOf("group"), "CompletingRebalance");
}

TEST_F(Groups, GoOnWhereTheyWereAfterTheirCoordinatorMoved) {
  stableGroup();
  resign();
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::NotCoordinator);
  start();
  EXPECT_EQ(stateOf("group"), "Stable");
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::None);
  EXPECT_EQ(asText(sync(ids_["b"], 1).get().assignment), "for-b");
  executor_->advance(10s);
  EXPECT_EQ(heartbeat(ids_["b"], 1), ErrorCode::UnknownMemberId) << "sessions count from the move on";
}

TEST_F(Groups, ParkedRequestsAreToldWhenTheCoordinatorMoves) {
  const auto a = joinNew({.clientId = "a"});
  resign();
  EXPECT_EQ(a.error(), ErrorCode::NotCoordinator);
  start();
  const auto again = joinNew({.clientId = "a"});
  executor_->advance(3s);
  log_.commitsAtOnce = false;
  const auto synced = sync(ids_["a"], 1, {{ids_["a"], "x"}});
  const auto committed = commit({.group = "simple", .offset = 3});
  resign();
  EXPECT_EQ(synced.error(), ErrorCode::NotCoordinator);
  EXPECT_EQ(errorOf(committed), ErrorCode::NotCoordinator);
}

TEST_F(Groups, AGroupThatCannotBeStoredIsNotMade) {
  log_.failWith = ErrorCode::NotLeaderOrFollower;
  const auto answer = join({.version = 3});
  EXPECT_EQ(answer.error(), ErrorCode::NotCoordinator);
  log_.failWith.reset();
  EXPECT_EQ(stateOf("group"), "Dead");
}

TEST_F(Groups, ALeaderOfALaterEpochReadsTheLogAgain) {
  stableGroup();
  epoch_ = LeaderEpoch(epoch_.value() + 1);  // another led in between
  lead();
  EXPECT_EQ(heartbeat(ids_["a"], 1), ErrorCode::None);
  EXPECT_EQ(stateOf("group"), "Stable");
}

TEST_F(Groups, WhileTheyAreReadRequestsAreToldToWait) {
  stableGroup();
  resign();
  config_.loadBufferSize = 1;
  epoch_ = epoch_.next();
  const PartitionIndex partition = partitionOf("group");
  coordinator_->onBecomeLeader(partition, epoch_);
  protocol::SyncGroupRequest request;
  request.groupId = "group";
  request.memberId = ids_["a"];
  request.generationId = 1;
  Answer<protocol::SyncGroupResponse> early;
  coordinator_->syncGroup({5, "client", "/127.0.0.1"}, request, early.reply());
  protocol::HeartbeatRequest beat;
  beat.groupId = "group";
  Answer<protocol::HeartbeatResponse> alive;
  coordinator_->heartbeat({4, "client", "/127.0.0.1"}, beat, alive.reply());
  executor_->drain();
  EXPECT_EQ(early.error(), ErrorCode::CoordinatorLoadInProgress);
  EXPECT_EQ(alive.error(), ErrorCode::None) << "nobody is thrown out meanwhile";
  EXPECT_EQ(asText(sync(ids_["a"], 1).get().assignment), "for-a");
}

TEST_F(Groups, WithoutATopicThereIsNoCoordinator) {
  coordinator_->setPartitionCount(0);
  EXPECT_EQ(join({}).error(), ErrorCode::CoordinatorNotAvailable);
  EXPECT_FALSE(coordinator_->partitionFor("group").has_value());
}

TEST_F(Groups, LeaveNothingArmedOnceTheyAreGone) {
  stableGroup();
  resign();
  executor_->advance(3600s);
  EXPECT_EQ(executor_->armed(), 0u);
}

}  // namespace
}  // namespace tidemark::coordinator
