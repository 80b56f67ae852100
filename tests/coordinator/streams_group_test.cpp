#include <gmock/gmock.h>

#include "coordinator/streams_fixture.h"

namespace tidemark::coordinator {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// ---- joining and going on

TEST_F(StreamsApplications, AMemberAloneRunsAllTasksAtOnce) {
  const auto joined = beat({});
  EXPECT_EQ(joined.errorCode, 0);
  EXPECT_EQ(joined.memberEpoch, 2);
  EXPECT_EQ(joined.heartbeatIntervalMs, 5000);
  EXPECT_EQ(joined.taskOffsetIntervalMs, 60000);
  EXPECT_EQ(joined.acceptableRecoveryLag, 10000);
  EXPECT_EQ(activeOf(joined), (Partitions{0, 1, 2}));
  EXPECT_THAT(statusOf(joined), IsEmpty());
  const auto next = beat({.epoch = 2, .active = Partitions{0, 1, 2}});
  EXPECT_EQ(next.memberEpoch, 2);
  EXPECT_FALSE(next.activeTasks.has_value()) << "nothing is new";
  const auto group = describe();
  EXPECT_EQ(group.groupState, "Stable");
  EXPECT_EQ(group.groupEpoch, 2);
  EXPECT_EQ(group.assignmentEpoch, 2);
  EXPECT_EQ(group.assignorName->view(), "sticky");
  ASSERT_TRUE(group.topology.has_value());
  EXPECT_EQ(group.topology->subtopologies->at(0).stateChangelogTopics.at(0).partitions, 3);
  EXPECT_EQ(group.members.at(0).processId, "process-of-a");
  EXPECT_EQ(group.members.at(0).clientHost, "/127.0.0.1");
}

TEST_F(StreamsApplications, NewGroupsWaitForMoreMembers) {
  settings_.initialRebalanceDelay = 3s;
  const auto a = beat({});
  EXPECT_EQ(a.memberEpoch, 1) << "it is in, without tasks";
  EXPECT_THAT(activeOf(a), IsEmpty());
  EXPECT_THAT(statusOf(a), ElementsAre(StreamsStatus::AssignmentDelayed));
  executor_->advance(1s);
  EXPECT_THAT(statusOf(beat({.member = "b"})), ElementsAre(StreamsStatus::AssignmentDelayed));
  EXPECT_EQ(state(), "Assigning");
  executor_->advance(2s);
  EXPECT_EQ(state(), "Reconciling") << "the time is over: tasks are given to both at once";
  const auto next = beat({.epoch = 1, .active = Partitions{}});
  const auto other = beat({.member = "b", .epoch = 1, .active = Partitions{}});
  EXPECT_EQ(activeOf(next).size() + activeOf(other).size(), 3u);
  EXPECT_THAT(activeOf(other), testing::Not(IsEmpty()));
  EXPECT_EQ(state(), "Stable");
}

TEST_F(StreamsApplications, ATaskMovesToANewMemberOnceItWasGivenUp) {
  const int32_t first = runningAlone();
  const auto joined = beat({.member = "b"});
  EXPECT_EQ(joined.memberEpoch, first + 1);
  EXPECT_THAT(activeOf(joined), IsEmpty()) << "all tasks are still run by a";
  EXPECT_EQ(state(), "Reconciling");

  const auto asked = beat({.epoch = first});
  EXPECT_EQ(asked.memberEpoch, first) << "it stays in its epoch until it has given up";
  const Partitions kept = activeOf(asked);
  EXPECT_THAT(kept, SizeIs(2));
  EXPECT_EQ(beat({.epoch = first, .active = Partitions{0, 1, 2}}).memberEpoch, first);
  EXPECT_THAT(activeOf(beat({.member = "b", .epoch = first + 1, .active = Partitions{}})), IsEmpty());

  EXPECT_EQ(beat({.epoch = first, .active = kept}).memberEpoch, first + 1);
  EXPECT_THAT(activeOf(beat({.member = "b", .epoch = first + 1, .active = Partitions{}})), SizeIs(1));
  EXPECT_EQ(state(), "Stable");
}

TEST_F(StreamsApplications, TasksOfWhoLeavesAreRunByTheOthers) {
  settings_.initialRebalanceDelay = 1s;
  beat({});
  beat({.member = "b"});
  executor_->advance(1s);
  const auto a = beat({.epoch = 1, .active = Partitions{}});
  beat({.member = "b", .epoch = 1, .active = Partitions{}});
  EXPECT_EQ(beat({.member = "b", .epoch = -1}).memberEpoch, -1);
  const auto next = beat({.epoch = a.memberEpoch, .active = activeOf(a)});
  EXPECT_EQ(activeOf(next), (Partitions{0, 1, 2}));
  EXPECT_EQ(state(), "Stable");
  beat({.epoch = -1});
  EXPECT_EQ(state(), "Empty");
}

TEST_F(StreamsApplications, AMemberThatIsSilentIsFenced) {
  const int32_t epoch = runningAlone();
  executor_->advance(44s);
  EXPECT_EQ(errorOf({.epoch = epoch}), ErrorCode::None);
  executor_->advance(44s);
  EXPECT_EQ(state(), "Stable");
  executor_->advance(2s);
  EXPECT_EQ(state(), "Empty");
  EXPECT_EQ(errorOf({.epoch = epoch}), ErrorCode::UnknownMemberId);
}

TEST_F(StreamsApplications, AMemberThatDoesNotGiveUpItsTasksInTimeIsFenced) {
  const int32_t epoch = runningAlone();
  beat({.member = "b"});
  beat({.epoch = epoch, .active = Partitions{0, 1, 2}});
  for (int i = 0; i < 6; ++i) {
    executor_->advance(9s);
    EXPECT_EQ(errorOf({.epoch = epoch, .active = Partitions{0, 1, 2}}), ErrorCode::None);
    EXPECT_EQ(errorOf({.member = "b", .epoch = epoch + 1}), ErrorCode::None);
  }
  executor_->advance(7s);
  EXPECT_EQ(errorOf({.epoch = epoch, .active = Partitions{0, 1, 2}}), ErrorCode::UnknownMemberId);
  EXPECT_EQ(activeOf(beat({.member = "b", .epoch = epoch + 1, .active = Partitions{}})), (Partitions{0, 1, 2}));
}

TEST_F(StreamsApplications, EpochsThatAreNotTheirOwnFenceMembers) {
  EXPECT_EQ(errorOf({.epoch = 1}), ErrorCode::GroupIdNotFound);
  const int32_t epoch = runningAlone();
  EXPECT_EQ(errorOf({.member = "b", .epoch = epoch}), ErrorCode::UnknownMemberId);
  EXPECT_EQ(errorOf({.epoch = epoch + 1}), ErrorCode::FencedMemberEpoch);
  EXPECT_EQ(errorOf({.epoch = epoch - 1, .active = Partitions{0}}), ErrorCode::FencedMemberEpoch);
}

TEST_F(StreamsApplications, AMemberThatMissedItsAnswerMayNameTheEpochOfBefore) {
  settings_.initialRebalanceDelay = 1s;
  beat({});
  executor_->advance(1s);
  const auto lost = beat({.epoch = 1, .active = Partitions{}});
  ASSERT_EQ(lost.memberEpoch, 2);
  EXPECT_EQ(errorOf({.epoch = 1}), ErrorCode::FencedMemberEpoch) << "it does not say what it owns";
  EXPECT_EQ(beat({.epoch = 1, .active = Partitions{}}).memberEpoch, 2);
}

TEST_F(StreamsApplications, AMemberThatMissedItsAnswerIsToldItsTasksUntilItOwnsThem) {
  settings_.initialRebalanceDelay = 1s;
  beat({});
  executor_->advance(1s);
  const auto lost = beat({.epoch = 1, .active = Partitions{}});
  ASSERT_EQ(activeOf(lost), (Partitions{0, 1, 2}));
  EXPECT_EQ(activeOf(beat({.epoch = 1, .active = Partitions{}})), (Partitions{0, 1, 2}));
  EXPECT_EQ(activeOf(beat({.epoch = 2, .active = Partitions{0}})), (Partitions{0, 1, 2}));
  EXPECT_FALSE(beat({.epoch = 2}).activeTasks.has_value()) << "it does not say what it owns";
  EXPECT_FALSE(beat({.epoch = 2, .active = Partitions{0, 1, 2}}).activeTasks.has_value());
}

// It believes that it has left, or dies: nobody else would ever run its tasks.
TEST_F(StreamsApplications, WhoseLeavingCouldNotBeWrittenIsGivenUpOnceItIsSilent) {
  runningAlone();
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_NE(errorOf({.epoch = -1}), ErrorCode::None);
  log_.failWith.reset();
  executor_->advance(settings_.sessionTimeout);
  EXPECT_EQ(state(), "Empty");
}

TEST_F(StreamsApplications, GroupsHaveRoomForSoMany) {
  settings_.maxSize = 1;
  runningAlone();
  EXPECT_EQ(errorOf({.member = "b"}), ErrorCode::GroupMaxSizeReached);
  EXPECT_EQ(errorOf({}), ErrorCode::None) << "it is in already";
}

TEST_F(StreamsApplications, RequestsMustMakeSense) {
  auto request = requestOf({});
  request.memberId = "";
  EXPECT_EQ(static_cast<ErrorCode>(send(request).get().response.errorCode), ErrorCode::InvalidRequest);
  request = requestOf({});
  request.rebalanceTimeoutMs = -1;
  EXPECT_EQ(static_cast<ErrorCode>(send(request).get().response.errorCode), ErrorCode::InvalidRequest);
  request = requestOf({});
  request.topology.reset();
  EXPECT_EQ(static_cast<ErrorCode>(send(request).get().response.errorCode), ErrorCode::InvalidRequest);
  request = requestOf({});
  request.topology->subtopologies[0].stateChangelogTopics[0].partitions = 4;
  EXPECT_EQ(static_cast<ErrorCode>(send(request).get().response.errorCode), ErrorCode::StreamsInvalidTopology);
  EXPECT_EQ(errorOf({.epoch = -2}), ErrorCode::InvalidRequest) << "only static members go away for a while";
  EXPECT_EQ(errorOf({.epoch = -3}), ErrorCode::InvalidRequest);
  const int32_t epoch = runningAlone();
  EXPECT_EQ(errorOf({.epoch = epoch, .active = Partitions{3}}), ErrorCode::InvalidRequest) << "there is no such task";
  request = requestOf({.epoch = epoch, .offsets = {{0, 5}}});
  request.taskOffsets->push_back(request.taskOffsets->front());
  EXPECT_EQ(static_cast<ErrorCode>(send(request).get().response.errorCode), ErrorCode::InvalidRequest);
}

// ---- topics

TEST_F(StreamsApplications, WaitForTheirSourceTopics) {
  topics_.topics.erase("orders");
  const auto joined = beat({});
  EXPECT_THAT(statusOf(joined), ElementsAre(StreamsStatus::MissingSourceTopics));
  EXPECT_EQ(joined.status->at(0).statusDetail, "Source topics orders are missing.");
  EXPECT_EQ(state(), "NotReady");
  topics_.add("orders", 1);
  EXPECT_THAT(activeOf(beat({.epoch = joined.memberEpoch})), IsEmpty()) << "nobody has told it yet";
  topicsChanged({"orders"});
  EXPECT_EQ(activeOf(beat({.epoch = joined.memberEpoch, .active = Partitions{}})), (Partitions{0, 1, 2}));
  EXPECT_EQ(state(), "Stable");
}

TEST_F(StreamsApplications, SayWhichInternalTopicsAreToBeCreated) {
  topics_.topics.erase("app-counts");
  const auto joined = whole({});
  EXPECT_THAT(statusOf(joined.response), ElementsAre(StreamsStatus::MissingInternalTopics));
  ASSERT_THAT(joined.topicsToCreate, SizeIs(1));
  EXPECT_EQ(joined.topicsToCreate[0].name, "app-counts");
  EXPECT_EQ(joined.topicsToCreate[0].partitions, 3);
  EXPECT_THAT(activeOf(joined.response), IsEmpty());
  topics_.add("app-counts", 7);
  topicsChanged({"app-counts"});
  const auto next = whole({.epoch = joined.response.memberEpoch, .active = Partitions{}});
  EXPECT_THAT(next.topicsToCreate, IsEmpty());
  EXPECT_EQ(activeOf(next.response), (Partitions{0, 1, 2}));
}

TEST_F(StreamsApplications, HaveMoreTasksWhenTheirSourceGrows) {
  const int32_t epoch = runningAlone();
  topics_.add("orders", 1, 4);
  topics_.add("app-counts", 7, 4);
  topicsChanged({"orders", "app-counts"});
  const auto next = beat({.epoch = epoch, .active = Partitions{0, 1, 2}});
  EXPECT_EQ(next.memberEpoch, epoch + 1);
  EXPECT_EQ(activeOf(next), (Partitions{0, 1, 2, 3}));
}

TEST_F(StreamsApplications, AreLaidOutAnewOnlyWhenTopicsChange) {
  const int32_t epoch = runningAlone();
  topicsChanged({"bills"});
  EXPECT_EQ(beat({.epoch = epoch}).memberEpoch, epoch);
  topicsChanged({"orders"});
  EXPECT_EQ(beat({.epoch = epoch}).memberEpoch, epoch) << "it is as it was";
}

TEST_F(StreamsApplications, KeepTheTopologyThatTheyBeganWith) {
  auto request = requestOf({.topologyEpoch = 3});
  EXPECT_EQ(send(request).get().response.errorCode, 0);
  EXPECT_EQ(describe().topology->epoch, 3);
  EXPECT_THAT(statusOf(beat({.member = "old", .topologyEpoch = 2})), Contains(StreamsStatus::StaleTopology));
  EXPECT_EQ(errorOf({.member = "new", .topologyEpoch = 4}), ErrorCode::InvalidRequest);
  request = requestOf({.member = "other", .topologyEpoch = 3});
  request.topology->subtopologies[0].sourceTopics = {"bills"};
  EXPECT_EQ(static_cast<ErrorCode>(send(request).get().response.errorCode), ErrorCode::InvalidRequest);
}

// ---- who gets what

TEST_F(StreamsApplications, HaveStandbysInAnotherProcess) {
  settings_.numStandbyReplicas = 1;
  settings_.initialRebalanceDelay = 1s;
  beat({});
  beat({.member = "b"});
  executor_->advance(1s);
  const auto a = beat({.epoch = 1, .active = Partitions{}});
  const auto b = beat({.member = "b", .epoch = 1, .active = Partitions{}});
  EXPECT_EQ(standbyOf(a), activeOf(b));
  EXPECT_EQ(standbyOf(b), activeOf(a));
  EXPECT_EQ(state(), "Stable");
}

TEST_F(StreamsApplications, AreAssignedAnewWhenTheirSettingsChange) {
  const int32_t epoch = runningAlone();
  settings_.numStandbyReplicas = 1;
  EXPECT_EQ(beat({.epoch = epoch}).memberEpoch, epoch + 1);
}

TEST_F(StreamsApplications, AreNotAssignedMoreOftenThanAllowed) {
  settings_.assignmentInterval = 5s;
  const int32_t epoch = runningAlone();
  executor_->advance(1s);
  const auto joined = beat({.member = "b"});
  EXPECT_THAT(statusOf(joined), ElementsAre(StreamsStatus::AssignmentDelayed));
  EXPECT_EQ(state(), "Assigning");
  EXPECT_EQ(beat({.epoch = epoch}).memberEpoch, epoch);
  executor_->advance(4s);
  EXPECT_THAT(activeOf(beat({.epoch = epoch})), SizeIs(2));
}

TEST_F(StreamsApplications, AreAssignedAlthoughTheClockWasSetBack) {
  settings_.assignmentInterval = 5s;
  const int32_t epoch = runningAlone();
  clock_.jump(-1h);
  EXPECT_THAT(statusOf(beat({.member = "b"})), Not(Contains(StreamsStatus::AssignmentDelayed)));
  EXPECT_THAT(activeOf(beat({.epoch = epoch})), SizeIs(2));
}

// ---- static members

TEST_F(StreamsApplications, AStaticMemberComesBackToItsTasks) {
  const auto joined = beat({.instance = "one"});
  EXPECT_EQ(activeOf(joined), (Partitions{0, 1, 2}));
  EXPECT_EQ(errorOf({.member = "a2", .instance = "one"}), ErrorCode::UnreleasedInstanceId);
  EXPECT_EQ(beat({.epoch = -2, .instance = "one"}).memberEpoch, -2);
  EXPECT_EQ(runs("a"), (Partitions{0, 1, 2})) << "they wait for it";
  const int32_t before = describe().groupEpoch;
  const auto back = beat({.member = "a2", .instance = "one", .process = "process-of-a"});
  EXPECT_EQ(activeOf(back), (Partitions{0, 1, 2}));
  EXPECT_EQ(back.memberEpoch, joined.memberEpoch);
  EXPECT_EQ(describe().groupEpoch, before) << "nothing had to be assigned anew";
  EXPECT_EQ(errorOf({.epoch = joined.memberEpoch, .instance = "one"}), ErrorCode::FencedInstanceId);
  EXPECT_EQ(errorOf({.member = "x", .epoch = 1, .instance = "two"}), ErrorCode::UnknownMemberId);
  EXPECT_THAT(describe().members, SizeIs(1));
}

TEST_F(StreamsApplications, AStaticMemberThatDoesNotComeBackIsFenced) {
  beat({.instance = "one"});
  beat({.epoch = -2, .instance = "one"});
  executor_->advance(46s);
  EXPECT_EQ(state(), "Empty");
}

// ---- what members learn of each other

TEST_F(StreamsApplications, KnowWhereEachPartitionIsServed) {
  const auto a = beat({.endpointHost = "host-a"});
  EXPECT_EQ(a.endpointInformationEpoch, 1);
  ASSERT_TRUE(a.partitionsByUserEndpoint.has_value());
  ASSERT_THAT(*a.partitionsByUserEndpoint, SizeIs(1));
  const auto& served = a.partitionsByUserEndpoint->at(0);
  EXPECT_EQ(served.userEndpoint.host, "host-a");
  EXPECT_EQ(served.userEndpoint.port, 8080);
  ASSERT_THAT(served.activePartitions, SizeIs(1));
  EXPECT_EQ(served.activePartitions[0].topic, "orders");
  EXPECT_THAT(served.activePartitions[0].partitions, ElementsAre(0, 1, 2));
  EXPECT_FALSE(beat({.epoch = a.memberEpoch, .endpointEpoch = 1}).partitionsByUserEndpoint.has_value())
      << "it knows already";
  EXPECT_THAT(*beat({.member = "b"}).partitionsByUserEndpoint, SizeIs(1));
}

TEST_F(StreamsApplications, ShutDownWhenAMemberAsksForIt) {
  const int32_t epoch = runningAlone();
  beat({.member = "b"});
  EXPECT_EQ(beat({.member = "b", .epoch = -1, .shutdown = true}).errorCode, 0);
  const auto told = beat({.epoch = epoch});
  EXPECT_THAT(statusOf(told), Contains(StreamsStatus::ShutdownApplication));
  beat({.epoch = -1});
  EXPECT_THAT(statusOf(beat({})), IsEmpty()) << "whoever starts it again may run it";
}

TEST_F(StreamsApplications, AreToldOfClientTagsThatTheyLack) {
  settings_.rackAwareAssignmentTags = {"zone", "cluster"};
  const auto told = beat({.tags = {{"zone", "z1"}}});
  EXPECT_THAT(statusOf(told), ElementsAre(StreamsStatus::MissingClientTags));
  EXPECT_THAT(told.status->at(0).statusDetail.str(), HasSubstr("[cluster]"));
  EXPECT_THAT(statusOf(beat({.member = "b", .tags = {{"zone", "z"}}, .version = 0})), IsEmpty())
      << "that version does not know";
}

TEST_F(StreamsApplications, ShowHowFarTheirStateIsRestored) {
  const int32_t epoch = runningAlone();
  beat({.epoch = epoch, .offsets = {{0, 70}, {2, 9}}});
  const auto offsets = describe().members.at(0).taskOffsets;
  ASSERT_THAT(offsets, SizeIs(2));
  EXPECT_EQ(offsets[0].offset, 70);
  EXPECT_EQ(offsets[1].partition, 2);
  beat({.epoch = epoch});
  EXPECT_THAT(describe().members.at(0).taskOffsets, SizeIs(2)) << "what it does not say stays";
}

TEST_F(StreamsApplications, TellWhatHappensInARebalance) {
  recorder_.want(events::Kinds::all());
  const int32_t epoch = runningAlone();
  beat({.member = "b"});
  beat({.epoch = epoch});
  executor_->advance(46s);
  const auto lines = told();
  EXPECT_THAT(lines, Contains(testing::AllOf(HasSubstr("MemberJoined"), HasSubstr("Streams"))));
  EXPECT_THAT(lines, Contains(testing::AllOf(HasSubstr("MemberProgressed"), HasSubstr("Revoking"))));
  EXPECT_THAT(lines, Contains(testing::AllOf(HasSubstr("GroupStateChanged"), HasSubstr("Reconciling"))));
  EXPECT_THAT(lines, Contains(testing::AllOf(HasSubstr("MemberLeft"), HasSubstr("SessionMissed"))));
}

}  // namespace
}  // namespace tidemark::coordinator
