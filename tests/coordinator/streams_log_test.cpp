#include <gmock/gmock.h>

#include "coordinator/streams_fixture.h"

namespace tidemark::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// What the log says in the end: the last value of each key.
std::map<std::string, std::optional<ByteVector>> lastOf(const std::vector<CoordinatorRecord>& records) {
  std::map<std::string, std::optional<ByteVector>> last;
  for (const CoordinatorRecord& record : records) last[std::string(asText(record.key))] = record.value;
  return last;
}

TEST_F(StreamsApplications, GoOnWhereTheyWereWithANewCoordinator) {
  const int32_t epoch = runningAlone();
  beat({.member = "b"});
  const Partitions kept = activeOf(beat({.epoch = epoch}));
  const auto before = describe();
  resign();
  restart();
  auto after = describe();
  EXPECT_EQ(after.groupEpoch, before.groupEpoch);
  EXPECT_EQ(after.members, before.members);
  EXPECT_EQ(after.groupState, "Reconciling");
  EXPECT_EQ(beat({.epoch = epoch, .active = kept}).memberEpoch, epoch + 1);
  EXPECT_THAT(activeOf(beat({.member = "b", .epoch = epoch + 1, .active = Partitions{}})), SizeIs(1));
}

TEST_F(StreamsApplications, AreLeftBySilentMembersAlsoAfterACoordinatorChange) {
  runningAlone();
  resign();
  restart();
  executor_->advance(44s);
  EXPECT_EQ(state(), "Stable");
  executor_->advance(2s);
  EXPECT_EQ(state(), "Empty");
}

TEST_F(StreamsApplications, AnswerOnlyWhatIsCommitted) {
  log_.commitsAtOnce = false;
  const auto joined = beatLater({});
  EXPECT_FALSE(joined.has());
  log_.commit(partitionOf("app"));
  executor_->drain();
  EXPECT_EQ(activeOf(joined.get().response), (Partitions{0, 1, 2}));
}

TEST_F(StreamsApplications, AreNothingIfTheirFirstRecordsCannotBeWritten) {
  settings_.initialRebalanceDelay = 1s;
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(errorOf({}), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
  executor_->advance(900ms);
  EXPECT_EQ(errorOf({}), ErrorCode::None);
  executor_->advance(500ms);
  EXPECT_EQ(state(), "Assigning") << "the delay began when it came about";
}

TEST_F(StreamsApplications, LoseNoChangeOfTopicsToAFailedWrite) {
  const int32_t epoch = runningAlone();
  topics_.add("orders", 1, 4);
  topics_.add("app-counts", 7, 4);
  topicsChanged({"orders", "app-counts"});
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(errorOf({.epoch = epoch}), ErrorCode::CoordinatorNotAvailable);
  log_.failWith.reset();
  EXPECT_EQ(activeOf(beat({.epoch = epoch})), (Partitions{0, 1, 2, 3}));
}

TEST_F(StreamsApplications, FenceSilentMembersOnceThatCanBeWritten) {
  runningAlone();
  log_.failWith = ErrorCode::NotEnoughReplicas;
  executor_->advance(46s);
  log_.failWith.reset();
  EXPECT_EQ(state(), "Stable");
  executor_->advance(500ms);
  EXPECT_EQ(state(), "Empty");
}

TEST_F(StreamsApplications, LeaveNothingInTheLogWhenTheyAreDeleted) {
  runningAlone();
  protocol::DeleteGroupsRequest request;
  request.groupsNames = {"app"};
  const auto remove = [&] {
    Answer<protocol::DeleteGroupsResponse> answer;
    coordinator_->deleteGroups({3, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    return static_cast<ErrorCode>(answer.get().results.at(0).errorCode);
  };
  EXPECT_EQ(remove(), ErrorCode::NonEmptyGroup);
  beat({.epoch = -1});
  commit({.group = "app", .offset = 5});
  EXPECT_EQ(remove(), ErrorCode::None);
  EXPECT_EQ(remove(), ErrorCode::GroupIdNotFound);
  for (const auto& [key, value] : lastOf(log_.records(partitionOf("app")))) EXPECT_FALSE(value.has_value());
  resign();
  restart();
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
}

TEST_F(StreamsApplications, AreListed) {
  runningAlone();
  const auto listed = [&](const std::vector<std::string>& types, const std::vector<std::string>& states) {
    protocol::ListGroupsRequest request;
    for (const std::string& type : types) request.typesFilter.push_back(type);
    for (const std::string& state : states) request.statesFilter.push_back(state);
    Answer<protocol::ListGroupsResponse> answer;
    coordinator_->listGroups({5, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    std::vector<std::string> lines;
    for (const auto& one : answer.get().groups) {
      lines.push_back(one.groupId.str() + " " + one.protocolType.str() + " " + one.groupType.str() + " " +
                      one.groupState.str());
    }
    return lines;
  };
  EXPECT_THAT(listed({}, {}), ElementsAre("app streams streams Stable"));
  EXPECT_THAT(listed({"Streams"}, {"stable"}), SizeIs(1));
  EXPECT_THAT(listed({"classic"}, {}), IsEmpty());
  EXPECT_THAT(listed({}, {"Empty"}), IsEmpty());
  topics_.topics.erase("orders");
  topicsChanged({"orders"});
  beat({.epoch = 2});
  EXPECT_THAT(listed({}, {"not_ready"}), SizeIs(1));
  EXPECT_THAT(listed({}, {"NotReady"}), SizeIs(1));
}

// ---- offsets

TEST_F(StreamsApplications, MembersCommitInTheirEpoch) {
  const int32_t epoch = runningAlone();
  const auto commits = [&](const Committing& committing) {
    const auto answer = commit(committing);
    return Groups::errorOf(answer);
  };
  EXPECT_EQ(commits({.group = "app", .member = "a", .generation = epoch, .offset = 5}), ErrorCode::None);
  EXPECT_EQ(fetch("app"), 5);
  EXPECT_EQ(commits({.group = "app", .member = "a", .generation = epoch + 1}), ErrorCode::StaleMemberEpoch);
  EXPECT_EQ(commits({.group = "app", .member = "a", .generation = epoch - 1}), ErrorCode::StaleMemberEpoch)
      << "its tasks were given to it later";
  EXPECT_EQ(commits({.group = "app", .member = "x", .generation = epoch}), ErrorCode::UnknownMemberId);
  EXPECT_EQ(commits({.group = "app", .generation = -1}), ErrorCode::UnknownMemberId) << "the group has members";
  EXPECT_EQ(commits({.group = "app", .member = "a", .generation = epoch, .version = 8}), ErrorCode::UnsupportedVersion);
}

TEST_F(StreamsApplications, ACommitOfAnEarlierEpochCountsForTasksThatStayed) {
  const int32_t epoch = runningAlone();
  beat({.member = "b"});
  const Partitions kept = activeOf(beat({.epoch = epoch}));
  ASSERT_EQ(beat({.epoch = epoch, .active = kept}).memberEpoch, epoch + 1);
  int32_t moved = 0;
  while (kept.contains(moved)) ++moved;
  const auto commits = [&](int32_t partition) {
    return Groups::errorOf(
        commit({.group = "app", .member = "a", .generation = epoch, .partition = partition, .offset = 3}));
  };
  EXPECT_EQ(commits(*kept.begin()), ErrorCode::None);
  EXPECT_EQ(commits(moved), ErrorCode::StaleMemberEpoch);
}

TEST_F(StreamsApplications, MembersFetchTheirOffsetsInTheirEpoch) {
  const int32_t epoch = runningAlone();
  const auto fetches = [&](const std::string& member, int32_t memberEpoch) {
    protocol::OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.groupId = "app";
    asked.memberId = member;
    asked.memberEpoch = memberEpoch;
    auto& topic = asked.topics->emplace_back();
    topic.name = "orders";
    topic.partitionIndexes = {0};
    Answer<protocol::OffsetFetchResponse> answer;
    coordinator_->fetchOffsets({9, "client", "/127.0.0.1", {}}, request, answer.reply());
    executor_->drain();
    return static_cast<ErrorCode>(answer.get().groups.at(0).errorCode);
  };
  EXPECT_EQ(fetches("a", epoch), ErrorCode::None);
  EXPECT_EQ(fetches("a", epoch + 1), ErrorCode::StaleMemberEpoch);
  EXPECT_EQ(fetches("x", epoch), ErrorCode::UnknownMemberId);
}

TEST_F(StreamsApplications, KeepTheirOffsetsWhileTheyHaveMembers) {
  config_.offsetsRetention = 100s;
  config_.offsetsRetentionCheckInterval = 10s;
  restart();
  const int32_t epoch = runningAlone();
  commit({.group = "app", .member = "a", .generation = epoch, .offset = 5});
  for (int i = 0; i < 10; ++i) {
    executor_->advance(20s);
    EXPECT_EQ(errorOf({.epoch = epoch}), ErrorCode::None);
  }
  EXPECT_EQ(fetch("app"), 5);
  beat({.epoch = -1});
  executor_->advance(11s);
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound) << "nothing is left of it";
}

// ---- ids that another kind of group has had

TEST_F(StreamsApplications, TakeTheIdOfAnEmptyClassicGroupAndItsOffsets) {
  commit({.group = "app", .offset = 5});
  EXPECT_EQ(stateOf("app"), "Empty");
  runningAlone();
  EXPECT_EQ(stateOf("app"), "Dead") << "it is no classic group any more";
  EXPECT_EQ(fetch("app"), 5);
  resign();
  restart();
  EXPECT_EQ(state(), "Stable");
  EXPECT_EQ(stateOf("app"), "Dead");
}

TEST_F(StreamsApplications, DoNotTakeTheIdOfAGroupWithMembers) {
  stableGroup();
  EXPECT_EQ(errorOf({.group = "group"}), ErrorCode::GroupIdNotFound);
}

TEST_F(StreamsApplications, MakeRoomForAClassicGroupOnceTheyAreEmpty) {
  const Joining joining{.group = "app", .version = 3};
  runningAlone();
  EXPECT_EQ(join(joining).error(), ErrorCode::InconsistentGroupProtocol);
  beat({.epoch = -1});
  const auto joined = join(joining);
  executor_->advance(3s);
  EXPECT_EQ(joined.error(), ErrorCode::None);
  EXPECT_EQ(static_cast<ErrorCode>(describe().errorCode), ErrorCode::GroupIdNotFound);
}

}  // namespace
}  // namespace tidemark::coordinator
