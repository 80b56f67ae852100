// What the checker of streams groups is told, and what it makes of it; and that scenarios have such groups.
#include "sim/streams_history.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/scenario.h"
#include "sim/streams_load.h"

namespace tidemark::sim {
namespace {

using client::StreamsTask;
using client::StreamsTasks;

const StreamsTask kFirstCount{"0", 0};
const StreamsTask kSecondCount{"0", 1};
const StreamsTask kFirstTotal{"1", 0};

class StreamsHistoryTest : public testing::Test {
 protected:
  std::string breach() const { return judge_.first() ? judge_.first()->invariant : "none"; }

  void run(const std::string& member, int32_t epoch, std::set<StreamsTask> active, std::set<StreamsTask> standby = {}) {
    history_.owns(member, epoch, {.active = std::move(active), .standby = std::move(standby), .warmup = {}});
  }
  void fence(const std::string& member) { history_.owns(member, 0, {}); }
  /// Confirmed right after it was sent.
  void commit(const std::string& member, int32_t epoch, int64_t offset) {
    history_.committed(member, kFirstCount, history_.commits(member, epoch, kFirstCount, Offset(offset)), true);
  }

  Judge judge_;
  Tally tally_;
  StreamsHistory history_{judge_,
                          tally_,
                          "g",
                          {.topology = {{.subtopology = "0", .tasks = 2, .isStateful = true},
                                        {.subtopology = "1", .tasks = 1, .isStateful = false}},
                           .standbys = 1}};
};

TEST_F(StreamsHistoryTest, HoldsIfATaskIsGivenUpBeforeTheNextMemberHasIt) {
  run("a", 2, {kFirstCount, kSecondCount});
  run("b", 3, {});
  run("a", 2, {kFirstCount});
  run("a", 3, {kFirstCount});
  run("b", 3, {kSecondCount});
  run("a", 4, {kFirstCount});
  run("b", 4, {kSecondCount});
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
  EXPECT_EQ(tally_.times("streams task moved to another member"), 1U);
}

TEST_F(StreamsHistoryTest, MissesThatATaskIsActiveAtTwoMembersOfAnEpoch) {
  run("a", 3, {kFirstCount});
  run("b", 3, {kSecondCount});
  EXPECT_EQ(breach(), "none");
  run("b", 3, {kFirstCount, kSecondCount});
  EXPECT_EQ(breach(), "G1");
}

TEST_F(StreamsHistoryTest, AMemberThatDoesNotKnowYetThatItIsFencedIsOfAnEarlierEpoch) {
  run("a", 3, {kFirstCount});
  run("b", 4, {kFirstCount});
  fence("a");
  EXPECT_EQ(breach(), "none");
  EXPECT_EQ(tally_.times("streams member told that it is fenced"), 1U);
  run("a", 4, {kFirstCount});
  EXPECT_EQ(breach(), "G1");
}

TEST_F(StreamsHistoryTest, EpochsOfAMemberRiseUntilItIsFencedOrGone) {
  run("a", 4, {kFirstCount});
  fence("a");
  run("a", 2, {});
  history_.gone("a");
  run("a", 1, {});
  EXPECT_EQ(breach(), "none");
  run("a", 3, {});
  run("a", 2, {});
  EXPECT_EQ(breach(), "G3");
}

TEST_F(StreamsHistoryTest, MissesACommitOfAnOldEpochAfterAnotherHasTheTask) {
  run("a", 3, {kFirstCount});
  commit("a", 3, 7);
  const auto early = history_.commits("a", 3, kFirstCount, Offset(8));
  run("b", 4, {kFirstCount});
  history_.committed("a", kFirstCount, early, true);
  EXPECT_EQ(breach(), "none") << "it was under way already";
  commit("a", 3, 9);
  EXPECT_EQ(breach(), "G3");
}

TEST_F(StreamsHistoryTest, WhatWasCommittedIsThereInTheEnd) {
  run("a", 3, {kFirstCount});
  commit("a", 3, 7);
  EXPECT_EQ(history_.offset(kFirstCount), Offset(7));
  history_.atRest(history_.offsets(), {{kFirstCount, Offset(8)}});
  EXPECT_EQ(breach(), "none");
  history_.atRest(history_.offsets(), {{kFirstCount, Offset(6)}});
  EXPECT_EQ(breach(), "G4");
}

TEST_F(StreamsHistoryTest, AGroupThatWasRemovedBeginsAnew) {
  run("a", 3, {kFirstCount});
  commit("a", 3, 7);
  history_.removed();
  run("b", 1, {kFirstCount});
  run("b", 3, {kFirstCount});
  history_.atRest(history_.offsets(), {});
  EXPECT_EQ(breach(), "none");
}

TEST_F(StreamsHistoryTest, MissesACopyBesideTheTaskItself) {
  run("a", 3, {kFirstCount}, {kSecondCount});
  EXPECT_EQ(breach(), "none");
  run("a", 3, {kFirstCount}, {kFirstCount});
  EXPECT_EQ(breach(), "G11");
}

TEST_F(StreamsHistoryTest, NothingIsAskedOnceRecordsAreLost) {
  history_.lost();
  run("a", 3, {kFirstCount}, {kFirstCount});
  run("b", 3, {kFirstCount});
  commit("a", 2, 7);
  EXPECT_EQ(breach(), "none");
}

TEST_F(StreamsHistoryTest, IsWholeOnceEachTaskIsWhereItShallBe) {
  EXPECT_EQ(history_.whatIsNotWhole({"a"}), "L4: a is no member of g");
  run("a", 3, {kFirstCount, kFirstTotal}, {kSecondCount});
  run("b", 2, {kSecondCount}, {kFirstCount});
  EXPECT_EQ(history_.whatIsNotWhole({"a", "b"}), "L4: b is in epoch 2 of g, a in 3");
  run("b", 3, {});
  EXPECT_EQ(history_.whatIsNotWhole({"a", "b"}), "L4: task 0-0 of g has 0 standbys instead of 1");
  run("b", 3, {}, {kFirstCount});
  EXPECT_EQ(history_.whatIsNotWhole({"a", "b"}), "L4: task 0-1 of g is active at 0 members");
  run("b", 3, {kSecondCount}, {kFirstCount});
  EXPECT_EQ(history_.whatIsNotWhole({"a", "b"}), "");
}

/// The first seeds from 1 on that have such a group of more than one member.
TEST(StreamsScenarios, MoveTasksFromMemberToMember) {
  uint64_t rebalances = 0;
  uint64_t moved = 0;
  uint64_t seed = 0;
  for (int left = 2; left > 0; --left) {
    do ++seed;
    while (drawStreams(seed).members < 2);
    const ScenarioResult result = runScenario({.seed = seed});
    EXPECT_FALSE(result.breach) << seed << ": " << result.breach->invariant << ": " << result.breach->text;
    rebalances += result.tally.times("rebalance of a streams group");
    moved += result.tally.times("streams task moved to another member");
  }
  EXPECT_GT(rebalances, 0U);
  EXPECT_GT(moved, 0U);
}

}  // namespace
}  // namespace tidemark::sim
