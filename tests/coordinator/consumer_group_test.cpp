#include <gmock/gmock.h>

#include "coordinator/consumer_fixture.h"

namespace tidemark::coordinator {
namespace {

using testing::HasSubstr;

TEST_F(ConsumerProtocolGroups, TheFirstMemberGetsAllPartitionsAtOnce) {
  const auto first = enter("a");
  ASSERT_EQ(first.error(), ErrorCode::None);
  EXPECT_EQ(first.get().memberEpoch, 2) << "as Kafka numbers them";
  EXPECT_EQ(first.get().heartbeatIntervalMs, 5000);
  EXPECT_EQ(assignedIn(first.get()), (Owned{{"orders", {0, 1, 2}}}));
  EXPECT_EQ(stateOfConsumers(), "Stable");
  const auto next = beat({.epoch = 2});
  EXPECT_EQ(next.get().memberEpoch, 2);
  EXPECT_FALSE(next.get().assignment) << "nothing has changed";
}

TEST_F(ConsumerProtocolGroups, ASecondMemberGetsItsPartOnceTheFirstHasGivenItBack) {
  enter("a");
  const auto b = enter("b");
  EXPECT_EQ(b.get().memberEpoch, 3);
  EXPECT_EQ(assignedIn(b.get()), Owned());
  EXPECT_EQ(stateOfConsumers(), "Reconciling");
  // a is asked to give back one, and stays in its epoch until it has.
  const auto asked = beat({.epoch = 2});
  EXPECT_EQ(asked.get().memberEpoch, 2);
  EXPECT_EQ(assignedIn(asked.get()), (Owned{{"orders", {0, 1}}}));
  EXPECT_EQ(assignedIn(beat({.member = "b", .epoch = 3}).get()), std::nullopt) << "still owned by a";
  EXPECT_EQ(beat({.epoch = 2, .owned = Owned{{"orders", {0, 1, 2}}}}).get().memberEpoch, 2) << "not given back yet";
  expectOneOwnerEach();
  const auto gaveBack = beat({.epoch = 2, .owned = Owned{{"orders", {0, 1}}}});
  EXPECT_EQ(gaveBack.get().memberEpoch, 3);
  const auto given = beat({.member = "b", .epoch = 3});
  EXPECT_EQ(assignedIn(given.get()), (Owned{{"orders", {2}}}));
  EXPECT_EQ(stateOfConsumers(), "Stable");
  expectOneOwnerEach();
}

TEST_F(ConsumerProtocolGroups, AMemberThatDoesNotGiveBackInTimeIsFenced) {
  enter("a");
  enter("b");
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::None);
  for (int i = 0; i < 7; ++i) {
    executor_->advance(10s);
    beat({.epoch = 2});
    beat({.member = "b", .epoch = 3});
  }
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::UnknownMemberId);
  const auto b = beat({.member = "b", .epoch = 4});
  EXPECT_EQ(shown().members.size(), 1u);
  EXPECT_EQ(shown().members.at(0).assigned.size(), 3u);
}

TEST_F(ConsumerProtocolGroups, AMemberThatIsSilentForItsSessionIsFencedAndItsPartitionsGoToOthers) {
  enter("a");
  executor_->advance(30s);
  enter("b");
  EXPECT_EQ(errorOf({.member = "b", .epoch = 3}), ErrorCode::None);
  executor_->advance(16s);
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::UnknownMemberId);
  const auto all = beat({.member = "b", .epoch = 3});
  EXPECT_EQ(all.get().memberEpoch, 4);
  EXPECT_EQ(assignedIn(all.get()), (Owned{{"orders", {0, 1, 2}}}));
}

TEST_F(ConsumerProtocolGroups, AHeartbeatThatSaysNothingPutsOffTheEndOfTheSessionAndWritesNothing) {
  enter("a");
  const PartitionIndex partition = *coordinator_->partitionFor("cg");
  const size_t written = log_.records(partition).size();
  for (int i = 0; i < 4; ++i) {
    executor_->advance(30s);
    const auto answer = beat({.epoch = 2});
    EXPECT_EQ(answer.error(), ErrorCode::None);
    EXPECT_EQ(answer.get().memberEpoch, 2);
    EXPECT_FALSE(answer.get().assignment);
  }
  EXPECT_EQ(log_.records(partition).size(), written);
  executor_->advance(44s);
  EXPECT_EQ(shown().members.size(), 1u);
  executor_->advance(1s);
  EXPECT_EQ(shown().members.size(), 0u);
}

TEST_F(ConsumerProtocolGroups, ASessionThatBecomesShorterEndsSooner) {
  platform::milliseconds session = 60s;
  config_.consumer.overrides = [&session](std::string_view) {
    return ConsumerGroupOverrides{
        .sessionTimeout = session, .heartbeatInterval = std::nullopt, .assignmentInterval = std::nullopt};
  };
  restart();
  enter("a");
  session = 45s;
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::None);
  executor_->advance(46s);
  EXPECT_EQ(shown().members.size(), 0u);
}

TEST_F(ConsumerProtocolGroups, AMemberWhoseClientIsAnotherOneIsWrittenAnew) {
  enter("a");
  protocol::ConsumerGroupHeartbeatRequest request;
  request.groupId = "cg";
  request.memberId = "a";
  request.memberEpoch = 2;
  Answer<Response> answer;
  coordinator_->consumerHeartbeat({1, "another", "/127.0.0.2", {}}, request, answer.reply());
  executor_->drain();
  EXPECT_EQ(answer.error(), ErrorCode::None);
  EXPECT_EQ(describe().members.at(0).clientId, "another");
  EXPECT_EQ(describe().members.at(0).clientHost, "/127.0.0.2");
}

TEST_F(ConsumerProtocolGroups, AMemberWhoseFencingCouldNotBeWrittenIsFencedLater) {
  enter("a");
  log_.failWith = ErrorCode::NotEnoughReplicas;
  executor_->advance(46s);
  EXPECT_EQ(describe().members.size(), 1u);
  log_.failWith.reset();
  executor_->advance(1s);
  EXPECT_TRUE(describe().members.empty());
}

TEST_F(ConsumerProtocolGroups, EpochsThatAreNotTheMembersAreFenced) {
  enter("a");
  EXPECT_EQ(errorOf({.epoch = 3}), ErrorCode::FencedMemberEpoch);
  EXPECT_EQ(errorOf({.epoch = 1, .owned = Owned()}), ErrorCode::FencedMemberEpoch);
  EXPECT_EQ(errorOf({.member = "nobody", .epoch = 2}), ErrorCode::UnknownMemberId);
  EXPECT_EQ(errorOf({.epoch = 2, .group = "none"}), ErrorCode::GroupIdNotFound);
}

TEST_F(ConsumerProtocolGroups, AMemberWhoseAnswerWasLostMayComeWithTheEpochBefore) {
  enter("a");
  enter("b");
  beat({.epoch = 2});
  ASSERT_EQ(beat({.epoch = 2, .owned = Owned{{"orders", {0, 1}}}}).get().memberEpoch, 3);
  const auto again = beat({.epoch = 2, .owned = Owned{{"orders", {0, 1}}}});
  ASSERT_EQ(again.error(), ErrorCode::None);
  EXPECT_EQ(again.get().memberEpoch, 3);
  EXPECT_EQ(errorOf({.epoch = 2, .owned = Owned{{"orders", {0, 1, 2}}}}), ErrorCode::FencedMemberEpoch)
      << "it owns what it is not to own";
}

TEST_F(ConsumerProtocolGroups, RequestsThatSayTooLittleAreRefused) {
  EXPECT_EQ(errorOf({.member = "", .topics = orders(), .owned = Owned(), .rebalanceMs = 1}), ErrorCode::InvalidRequest);
  EXPECT_EQ(errorOf({.topics = orders(), .owned = Owned()}), ErrorCode::InvalidRequest) << "no rebalance timeout";
  EXPECT_EQ(errorOf({.topics = orders(), .rebalanceMs = 1}), ErrorCode::InvalidRequest) << "nothing about what it owns";
  EXPECT_EQ(errorOf({.owned = Owned(), .rebalanceMs = 1}), ErrorCode::InvalidRequest) << "no subscription";
  EXPECT_EQ(errorOf({.epoch = -3}), ErrorCode::InvalidRequest);
  EXPECT_EQ(errorOf({.topics = orders(), .owned = Owned(), .assignor = "none", .rebalanceMs = 1}),
            ErrorCode::UnsupportedAssignor);
  const auto old = beat({.member = "", .topics = orders(), .owned = Owned(), .rebalanceMs = 1, .version = 0});
  EXPECT_EQ(old.error(), ErrorCode::None);
  EXPECT_EQ(old.get().memberId->str().size(), 22u) << "before version 1 the coordinator gives the id";
}

TEST_F(ConsumerProtocolGroups, AGroupTakesNoMoreThanItsMaximum) {
  config_.consumer.maxSize = 1;
  restart();
  enter("a");
  EXPECT_EQ(enter("b").error(), ErrorCode::GroupMaxSizeReached);
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::None);
}

TEST_F(ConsumerProtocolGroups, ALeavingMemberFreesItsPartitions) {
  enter("a");
  enter("b");
  EXPECT_EQ(errorOf({.member = "a", .epoch = -1}), ErrorCode::None);
  EXPECT_EQ(assignedIn(beat({.member = "b", .epoch = 3}).get()), (Owned{{"orders", {0, 1, 2}}}));
  EXPECT_EQ(errorOf({.member = "b", .epoch = -1}), ErrorCode::None);
  EXPECT_EQ(stateOfConsumers(), "Empty");
  EXPECT_EQ(describe().groupEpoch, describe().assignmentEpoch) << "nobody is to be assigned to";
}

TEST_F(ConsumerProtocolGroups, AStaticMemberKeepsItsPlaceWhileItIsAway) {
  enter("a", {"orders"}, "i1");
  EXPECT_EQ(enter("a2", {"orders"}, "i1").error(), ErrorCode::UnreleasedInstanceId);
  EXPECT_EQ(errorOf({.epoch = -2, .instance = "i1"}), ErrorCode::None);
  EXPECT_EQ(shown().members.at(0).state, "LEFT");
  EXPECT_EQ(describe().groupEpoch, 2);
  const auto back = enter("a2", {"orders"}, "i1");
  ASSERT_EQ(back.error(), ErrorCode::None);
  EXPECT_EQ(assignedIn(back.get()), (Owned{{"orders", {0, 1, 2}}}));
  EXPECT_EQ(describe().groupEpoch, 2) << "nothing is distributed anew";
  EXPECT_EQ(errorOf({.member = "a", .epoch = 2, .instance = "i1"}), ErrorCode::FencedInstanceId);
  EXPECT_EQ(errorOf({.member = "a2", .epoch = 2, .instance = "i2"}), ErrorCode::UnknownMemberId);
}

TEST_F(ConsumerProtocolGroups, AStaticMemberThatStaysAwayIsFencedAfterItsSession) {
  enter("a", {"orders"}, "i1");
  beat({.epoch = -2, .instance = "i1"});
  executor_->advance(46s);
  EXPECT_EQ(stateOfConsumers(), "Empty");
}

TEST_F(ConsumerProtocolGroups, AnAdministratorRemovesAStaticMemberByItsInstanceIdAlone) {
  enter("a", {"orders"}, "i1");
  enter("b");
  protocol::LeaveGroupRequest request;
  request.groupId = "cg";
  request.members.push_back({.memberId = "", .groupInstanceId = "i1"});
  request.members.push_back({.memberId = "b"});
  Answer<protocol::LeaveGroupResponse> answer;
  coordinator_->leaveGroup({5, "client", "/127.0.0.1", {}}, request, answer.reply());
  executor_->drain();
  EXPECT_EQ(answer.get().members.at(0).errorCode, 0);
  EXPECT_EQ(static_cast<ErrorCode>(answer.get().members.at(1).errorCode), ErrorCode::UnknownMemberId)
      << "that one has to say so itself";
  ASSERT_EQ(shown().members.size(), 1U);
  EXPECT_EQ(shown().members.at(0).memberId, "b");
}

TEST_F(ConsumerProtocolGroups, ANewCoordinatorGoesOnWhereTheLogEnds) {
  enter("a", {"orders"}, "i1");
  enter("b");
  beat({.epoch = 2, .instance = "i1"});
  beat({.epoch = -2, .instance = "i1"});
  const auto before = describe();
  restart();
  const auto after = describe();
  EXPECT_EQ(before, after);
  EXPECT_EQ(errorOf({.member = "b", .epoch = 3}), ErrorCode::None);
  EXPECT_EQ(enter("a2", {"orders"}, "i1").error(), ErrorCode::None) << "who was away comes back";
  expectOneOwnerEach();
}

TEST_F(ConsumerProtocolGroups, ATopicThatGrowsComesOrGoesMakesTheNextTarget) {
  enter("a", {"orders", "later"});
  topics_.add("orders", 1, 5);
  coordinator_->onTopicsChanged({"orders"});
  executor_->drain();
  const auto grown = beat({.epoch = 2});
  EXPECT_EQ(grown.get().memberEpoch, 3);
  EXPECT_EQ(assignedIn(grown.get()), (Owned{{"orders", {0, 1, 2, 3, 4}}}));
  topics_.add("later", 9, 1);
  coordinator_->onTopicsChanged({"later"});
  executor_->drain();
  EXPECT_EQ(assignedIn(beat({.epoch = 3}).get()), (Owned{{"later", {0}}, {"orders", {0, 1, 2, 3, 4}}}));
  coordinator_->onTopicsChanged({"bills"});
  executor_->drain();
  EXPECT_EQ(beat({.epoch = 4}).get().memberEpoch, 4) << "it does not read that one";
}

TEST_F(ConsumerProtocolGroups, RacksOfReplicasCountAsAChange) {
  enter("a");
  topics_.topics["orders"].racks[0] = {"east"};
  coordinator_->onTopicsChanged({"orders"});
  executor_->drain();
  EXPECT_EQ(beat({.epoch = 2, .rack = "east"}).get().memberEpoch, 3);
  EXPECT_EQ(describe().members.at(0).rackId, std::optional(protocol::Text("east")));
}

TEST_F(ConsumerProtocolGroups, AnExpressionStandsForTheTopicsThatMatchIt) {
  const auto a = beat({.regex = "or.*|b[a-z]+", .owned = Owned(), .rebalanceMs = 60000});
  ASSERT_EQ(a.error(), ErrorCode::None);
  EXPECT_EQ(assignedIn(a.get()), (Owned{{"bills", {0, 1, 2}}, {"orders", {0, 1, 2}}}));
  const auto bad = beat({.member = "b", .regex = "(", .owned = Owned(), .rebalanceMs = 60000});
  EXPECT_EQ(bad.error(), ErrorCode::InvalidRegularExpression);
  EXPECT_THAT(bad.get().errorMessage->str(), HasSubstr("missing"));
  // A new topic is seen, but no sooner than ten seconds after the last look.
  topics_.add("bags", 9, 1);
  coordinator_->onTopicsChanged({"bags"});
  executor_->drain();
  EXPECT_EQ(beat({.epoch = 2}).get().memberEpoch, 2);
  executor_->advance(10s);
  EXPECT_EQ(assignedIn(beat({.epoch = 2}).get()), (Owned{{"bags", {0}}, {"bills", {0, 1, 2}}, {"orders", {0, 1, 2}}}));
  restart();
  EXPECT_EQ(beat({.epoch = 3}).get().memberEpoch, 3) << "the log has what it stands for";
  // From the expression to a list.
  EXPECT_EQ(assignedIn(beat({.epoch = 3, .topics = std::vector<std::string>{"bags"}, .regex = ""}).get()),
            (Owned{{"bags", {0}}}));
}

TEST_F(ConsumerProtocolGroups, WhatAMemberMayNotKnowOfItsExpressionDoesNotMatch) {
  protocol::ConsumerGroupHeartbeatRequest request;
  request.groupId = "cg";
  request.memberId = "a";
  request.rebalanceTimeoutMs = 60000;
  request.subscribedTopicRegex = ".*";
  request.topicPartitions.emplace();
  Answer<Response> answer;
  coordinator_->consumerHeartbeat({1, "client", "/127.0.0.1", [](std::string_view topic) { return topic == "bills"; }},
                                  request, answer.reply());
  executor_->drain();
  EXPECT_EQ(assignedIn(answer.get()), (Owned{{"bills", {0, 1, 2}}}));
}

TEST_F(ConsumerProtocolGroups, TargetsAreMadeNoOftenerThanTheInterval) {
  config_.consumer.assignmentInterval = 1000ms;
  restart();
  enter("a");
  enter("b");
  enter("c");
  EXPECT_EQ(describe().groupEpoch, 4);
  EXPECT_EQ(describe().assignmentEpoch, 2) << "the first stands for a second";
  EXPECT_EQ(stateOfConsumers(), "Assigning");
  executor_->advance(1s);
  EXPECT_EQ(describe().assignmentEpoch, 4) << "then one is made for all that came";
  EXPECT_EQ(stateOfConsumers(), "Reconciling");
}

TEST_F(ConsumerProtocolGroups, MostMembersChooseTheAssignor) {
  beat({.member = "a", .topics = orders(), .owned = Owned(), .assignor = "range", .rebalanceMs = 1000});
  EXPECT_EQ(describe().assignorName, "range");
  EXPECT_EQ(describe().members.at(0).memberType, 1);
}

TEST_F(ConsumerProtocolGroups, AGroupsOwnTimesAreKeptWithinTheBrokersBounds) {
  config_.consumer.overrides = [](std::string_view group) {
    ConsumerGroupOverrides own;
    if (group == "cg") own = {.sessionTimeout = 50s, .heartbeatInterval = 100s};
    return own;
  };
  restart();
  EXPECT_EQ(enter("a").get().heartbeatIntervalMs, 15000) << "no more than the maximum";
  executor_->advance(49s);
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::None);
  executor_->advance(51s);
  EXPECT_EQ(errorOf({.epoch = 2}), ErrorCode::UnknownMemberId);
}

TEST_F(ConsumerProtocolGroups, CommitsCarryTheMemberEpoch) {
  enter("a");
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .member = "a", .generation = 2, .offset = 5})), ErrorCode::None);
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .member = "a", .generation = 3, .offset = 6})),
            ErrorCode::StaleMemberEpoch);
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .member = "b", .generation = 2, .offset = 6})),
            ErrorCode::UnknownMemberId);
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .member = "a", .generation = 2, .offset = 6, .version = 8})),
            ErrorCode::UnsupportedVersion);
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .offset = 6})), ErrorCode::UnknownMemberId) << "no outsider";
  EXPECT_EQ(fetch("cg"), 5);
  // Another member comes: a moves on, but what it owned then and still owns it may commit with its epoch of then.
  enter("b");
  beat({.epoch = 2});
  ASSERT_EQ(beat({.epoch = 2, .owned = Owned{{"orders", {0, 1}}}}).get().memberEpoch, 3);
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .member = "a", .generation = 2, .partition = 0, .offset = 7})),
            ErrorCode::None);
  EXPECT_EQ(Groups::errorOf(commit({.group = "cg", .member = "a", .generation = 2, .partition = 2, .offset = 7})),
            ErrorCode::StaleMemberEpoch);
}

TEST_F(ConsumerProtocolGroups, OffsetsGoWithTheGroupOnceItIsEmpty) {
  enter("a");
  commit({.group = "cg", .member = "a", .generation = 2, .offset = 5});
  executor_->advance(1s);
  protocol::DeleteGroupsRequest request;
  request.groupsNames.emplace_back("cg");
  const auto remove = [&] {
    Answer<protocol::DeleteGroupsResponse> answer;
    coordinator_->deleteGroups({2, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    return static_cast<ErrorCode>(answer.get().results.at(0).errorCode);
  };
  EXPECT_EQ(remove(), ErrorCode::NonEmptyGroup);
  beat({.epoch = -1});
  recorder_.want(events::Kinds::all());
  EXPECT_EQ(remove(), ErrorCode::None);
  EXPECT_THAT(told(), testing::ElementsAre("GroupStateChanged group=\"cg\" from=Empty to=Dead kind=Consumer "
                                           "cause=Removed generation=3 members=0"));
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
  EXPECT_EQ(fetch("cg"), -1);
  restart();
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound)
      << "nothing of it is left in the log";
}

TEST_F(ConsumerProtocolGroups, AFailedWriteChangesNothing) {
  enter("a");
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(enter("b").error(), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_EQ(describe().groupEpoch, 2);
  EXPECT_EQ(describe().members.size(), 1u);
  EXPECT_EQ(enter("b").error(), ErrorCode::None);
}

TEST_F(ConsumerProtocolGroups, AnAnswerWaitsUntilItsRecordsAreCommitted) {
  log_.commitsAtOnce = false;
  const auto a = enter("a");
  EXPECT_FALSE(a.has());
  log_.commit(partitionOf("cg"));
  executor_->drain();
  EXPECT_EQ(a.error(), ErrorCode::None);
}

TEST_F(ConsumerProtocolGroups, MembersThatJoinAtOnceGetOneTarget) {
  enter("a");
  const auto b = beatLater(entering("b"));
  const auto c = beatLater(entering("c"));
  executor_->drain();
  EXPECT_EQ(describe().groupEpoch, 4) << "each raised it";
  EXPECT_EQ(b.get().memberEpoch, 4) << "made for both of them";
  EXPECT_EQ(c.get().memberEpoch, 4);
  EXPECT_EQ(stateOfConsumers(), "Reconciling");
}

TEST_F(ConsumerProtocolGroups, AMemberThatWaitsForItsTargetIsToldThatTheCoordinatorMoved) {
  enter("a");
  const auto b = beatLater(entering("b"));
  resign();
  EXPECT_EQ(b.error(), ErrorCode::NotCoordinator);
  lead();
  EXPECT_EQ(stateOfConsumers(), "Assigning") << "it is in";
  EXPECT_EQ(enter("b").get().memberEpoch, 3);
}

TEST_F(ConsumerProtocolGroups, AreListedWithTheirTypeAndDescribedByTheirOwnRequestOnly) {
  enter("a");
  protocol::ListGroupsRequest request;
  request.typesFilter.emplace_back("Consumer");
  request.statesFilter.emplace_back("stable");
  Answer<protocol::ListGroupsResponse> answer;
  coordinator_->listGroups({5, "client", "/127.0.0.1", {}}, request, answer.reply());
  executor_->drain();
  ASSERT_EQ(answer.get().groups.size(), 1u);
  EXPECT_EQ(answer.get().groups.at(0).groupType, "consumer");
  EXPECT_EQ(answer.get().groups.at(0).protocolType, "consumer");
  EXPECT_EQ(stateOf("cg"), "Dead") << "not a classic group";
}

TEST_F(ConsumerProtocolGroups, TellARebalanceAndWhatEachMemberDoesInIt) {
  enter("a");
  recorder_.want(events::Kinds::all());
  enter("b");
  executor_->advance(2s);
  beat({.epoch = 2});
  executor_->advance(1s);
  beat({.epoch = 2, .owned = Owned{{"orders", {0, 1}}}});
  beat({.member = "b", .epoch = 3});
  const auto lines = told();
  EXPECT_THAT(lines,
              testing::ElementsAre(
                  "MemberJoined group=\"cg\" member=\"b\" kind=Consumer isStatic=false epoch=3",
                  "GroupStateChanged group=\"cg\" from=Stable to=Assigning kind=Consumer cause=MemberJoined "
                  "generation=3 members=2",
                  "RebalanceStarted group=\"cg\" member=\"b\" kind=Consumer cause=MemberJoined generation=3 members=2",
                  "GroupStateChanged group=\"cg\" from=Assigning to=Reconciling kind=Consumer cause=Assigned "
                  "generation=3 members=2",
                  "MemberProgressed group=\"cg\" member=\"b\" step=Waiting epoch=3 target=3 partitions=0 took=0ns",
                  "MemberProgressed group=\"cg\" member=\"a\" step=Revoking epoch=2 target=3 partitions=1 "
                  "took=2000000000ns",
                  "MemberProgressed group=\"cg\" member=\"a\" step=Reconciled epoch=3 target=3 partitions=2 "
                  "took=3000000000ns",
                  "GroupStateChanged group=\"cg\" from=Reconciling to=Stable kind=Consumer cause=Reconciled "
                  "generation=3 members=2",
                  "RebalanceCompleted group=\"cg\" kind=Consumer generation=3 members=2 took=3000000000ns",
                  "MemberProgressed group=\"cg\" member=\"b\" step=Reconciled epoch=3 target=3 partitions=1 "
                  "took=0ns"));
  executor_->advance(46s);
  EXPECT_THAT(told(), testing::Contains(testing::AllOf(HasSubstr("MemberLeft group=\"cg\""), HasSubstr("SessionMissed"),
                                                       HasSubstr("allowed=45000000000ns"))));
}

}  // namespace
}  // namespace tidemark::coordinator
