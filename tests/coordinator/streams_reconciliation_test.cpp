#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coordinator/streams/reconciliation.h"

namespace tidemark::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TaskId task(int32_t partition) {
  return {"0", partition};
}

/// Members of a group whose target has just become one of epoch 11.
class Reconciling : public testing::Test {
 protected:
  static constexpr int32_t kTarget = 11;

  /// Stable in epoch 10, with these active tasks of epoch 9.
  static StreamsMember member(const std::string& id, const std::string& process, const TaskSet& active = {}) {
    StreamsMember made;
    made.id = id;
    made.processId = process;
    made.epoch = 10;
    made.previousEpoch = 9;
    for (const TaskId& one : active) made.assigned.active[one] = 9;
    return made;
  }
  /// A step of `member`, which then is in the group as it has become.
  StreamsMember step(StreamsMember& member, const StreamsTasks& target,
                     const std::optional<StreamsTasks>& owned = std::nullopt) {
    const auto next = reconciled(member, kTarget, target, owned, owners_);
    EXPECT_TRUE(next.has_value());
    owners_.remove(member);
    member = *next;
    owners_.add(member);
    return member;
  }
  StreamsMember& known(StreamsMember& member) {
    owners_.add(member);
    return member;
  }

  TaskOwners owners_;
};

TEST_F(Reconciling, AMemberThatHasItAllIsTakenToTheNewEpoch) {
  StreamsMember a = member("a", "p1", {task(0)});
  known(a);
  step(a, {.active = {task(0)}, .standby = {}, .warmup = {}});
  EXPECT_EQ(a.epoch, kTarget);
  EXPECT_EQ(a.previousEpoch, 10);
  EXPECT_EQ(a.state, StreamsMemberState::Stable);
  EXPECT_THAT(a.assigned.active, ElementsAre(Pair(task(0), 9))) << "kept tasks keep their epoch";
}

TEST_F(Reconciling, AFreeTaskIsGivenAtOnce) {
  StreamsMember a = member("a", "p1");
  known(a);
  step(a, {.active = {task(0)}, .standby = {}, .warmup = {}});
  EXPECT_EQ(a.state, StreamsMemberState::Stable);
  EXPECT_THAT(a.assigned.active, ElementsAre(Pair(task(0), kTarget)));
}

TEST_F(Reconciling, ATaskMovesOnlyAfterItsOwnerHasGivenItUp) {
  StreamsMember a = member("a", "p1", {task(0), task(1)});
  StreamsMember b = member("b", "p2");
  known(a);
  known(b);
  const StreamsTasks forA{.active = {task(0)}, .standby = {}, .warmup = {}};
  const StreamsTasks forB{.active = {task(1)}, .standby = {}, .warmup = {}};

  step(a, forA);
  EXPECT_EQ(a.state, StreamsMemberState::UnrevokedTasks);
  EXPECT_EQ(a.epoch, 10) << "it stays in its epoch until then";
  EXPECT_THAT(a.assigned.active, ElementsAre(Pair(task(0), 9)));
  EXPECT_THAT(a.pendingRevocation.active, ElementsAre(Pair(task(1), 9)));

  step(b, forB);
  EXPECT_EQ(b.state, StreamsMemberState::UnreleasedTasks);
  EXPECT_EQ(b.epoch, kTarget);
  EXPECT_THAT(b.assigned.active, IsEmpty());

  const StreamsMember before = a;
  EXPECT_EQ(step(a, forA), before) << "it has not said what it owns";
  EXPECT_EQ(step(a, forA, StreamsTasks{.active = {task(0), task(1)}, .standby = {}, .warmup = {}}), before);
  step(a, forA, forA);
  EXPECT_EQ(a.state, StreamsMemberState::Stable);
  EXPECT_EQ(a.epoch, kTarget);
  EXPECT_TRUE(a.pendingRevocation.empty());

  step(b, forB);
  EXPECT_EQ(b.state, StreamsMemberState::Stable);
  EXPECT_THAT(b.assigned.active, ElementsAre(Pair(task(1), kTarget)));
}

TEST_F(Reconciling, AMemberThatNoLongerHasItNeedNotBeAsked) {
  StreamsMember a = member("a", "p1", {task(0)});
  known(a);
  step(a, {}, StreamsTasks());
  EXPECT_EQ(a.state, StreamsMemberState::Stable);
  EXPECT_EQ(a.epoch, kTarget);
  EXPECT_TRUE(a.assigned.empty());
}

TEST_F(Reconciling, AnActiveTaskBecomesAStandbyOfItsMemberWhileItIsGivenUp) {
  StreamsMember a = member("a", "p1", {task(0)});
  known(a);
  step(a, {.active = {}, .standby = {task(0)}, .warmup = {}});
  EXPECT_EQ(a.state, StreamsMemberState::UnrevokedTasks);
  EXPECT_THAT(a.assigned.standby, ElementsAre(task(0)));
  EXPECT_THAT(a.pendingRevocation.active, ElementsAre(Pair(task(0), 9)));
}

TEST_F(Reconciling, AStandbyStaysUntilItMayRun) {
  StreamsMember a = member("a", "p1", {task(0)});
  StreamsMember b = member("b", "p2");
  b.assigned.standby = {task(0)};
  known(a);
  known(b);
  const StreamsTasks forB{.active = {task(0)}, .standby = {}, .warmup = {}};
  step(b, forB);
  EXPECT_EQ(b.state, StreamsMemberState::UnreleasedTasks);
  EXPECT_THAT(b.assigned.standby, ElementsAre(task(0))) << "the copy goes on";
  step(a, {}, StreamsTasks());
  step(b, forB);
  EXPECT_EQ(b.state, StreamsMemberState::Stable);
  EXPECT_THAT(b.assigned.active, ElementsAre(Pair(task(0), kTarget)));
  EXPECT_THAT(b.assigned.standby, IsEmpty());
}

TEST_F(Reconciling, AProcessNeverHasTwoCopiesOfATasksState) {
  // Two threads of one process: the standby of the first is to go to the second.
  StreamsMember a = member("a", "p1");
  a.assigned.standby = {task(0)};
  StreamsMember b = member("b", "p1");
  StreamsMember c = member("c", "p2");
  known(a);
  known(b);
  known(c);
  const StreamsTasks copy{.active = {}, .standby = {task(0)}, .warmup = {}};
  EXPECT_EQ(step(b, copy).state, StreamsMemberState::UnreleasedTasks);
  EXPECT_EQ(step(c, copy).state, StreamsMemberState::Stable) << "another process may have its own";
  step(a, {});
  EXPECT_EQ(a.state, StreamsMemberState::UnrevokedTasks);
  EXPECT_EQ(step(b, copy).state, StreamsMemberState::UnreleasedTasks) << "it is not gone yet";
  step(a, {}, StreamsTasks());
  EXPECT_EQ(step(b, copy).state, StreamsMemberState::Stable);
}

TEST_F(Reconciling, AnActiveTaskWaitsForTheCopyOfAnotherThread) {
  StreamsMember a = member("a", "p1");
  a.assigned.standby = {task(0)};
  StreamsMember b = member("b", "p1");
  known(a);
  known(b);
  EXPECT_EQ(step(b, {.active = {task(0)}, .standby = {}, .warmup = {}}).state, StreamsMemberState::UnreleasedTasks);
}

TEST_F(Reconciling, AWarmUpBecomesAStandbyWithoutBeingGivenUp) {
  StreamsMember a = member("a", "p1");
  a.assigned.warmup = {task(0)};
  known(a);
  step(a, {.active = {}, .standby = {task(0)}, .warmup = {}});
  EXPECT_EQ(a.state, StreamsMemberState::Stable);
  EXPECT_THAT(a.assigned.standby, ElementsAre(task(0)));
  EXPECT_THAT(a.assigned.warmup, IsEmpty());
}

TEST_F(Reconciling, AStateOfALaterVersionIsFencedUnlessTheMemberHasNothing) {
  StreamsMember a = member("a", "p1");
  a.state = StreamsMemberState::Unknown;
  EXPECT_EQ(reconciled(a, kTarget, {}, std::nullopt, owners_).error().code, ErrorCode::FencedMemberEpoch);
  EXPECT_EQ(reconciled(a, kTarget, {}, StreamsTasks(), owners_)->epoch, kTarget);
}

}  // namespace
}  // namespace tidemark::coordinator
