#include "replication/isr.h"

#include <gtest/gtest.h>

namespace tidemark::replication {
namespace {

using platform::Duration;
using platform::MonotonicTime;
using std::chrono::seconds;

constexpr NodeId kLeader{1};
constexpr NodeId kSecond{2};
constexpr NodeId kThird{3};

MonotonicTime at(int64_t second) {
  return MonotonicTime(seconds(second));
}
const auto kEveryone = [](NodeId, BrokerEpoch) { return true; };
const auto kNobody = [](NodeId, BrokerEpoch) { return false; };

/// A leader on node 1 with followers on 2 and 3, all in the ISR, everything at offset 10, high watermark 10.
LeaderFacts steady() {
  LeaderFacts facts{.self = kLeader,
                    .logEndOffset = Offset(10),
                    .highWatermark = Offset(10),
                    .epochStartOffset = Offset(0),
                    .isr = CommittedIsr{{kLeader, kSecond, kThird}},
                    .followers = {},
                    .minInsyncReplicas = 2,
                    .lagMax = seconds(10)};
  for (NodeId node : {kSecond, kThird})
    facts.followers[node] = FollowerState{.logEndOffset = Offset(10),
                                          .logStartOffset = Offset(0),
                                          .leaderEndAtLastFetch = Offset(10),
                                          .lastFetch = at(100),
                                          .lastCaughtUp = at(100)};
  return facts;
}

TEST(HighWatermark, IsTheSmallestLogEndAmongTheIsr) {
  LeaderFacts facts = steady();
  facts.logEndOffset = Offset(20);
  facts.followers[kSecond].logEndOffset = Offset(18);
  facts.followers[kThird].logEndOffset = Offset(15);
  EXPECT_EQ(nextHighWatermark(facts, at(100), kEveryone), Offset(15));
}

TEST(HighWatermark, StaysWhileOneMemberHasNotMoved) {
  LeaderFacts facts = steady();
  facts.logEndOffset = Offset(20);
  facts.followers[kSecond].logEndOffset = Offset(20);
  EXPECT_EQ(nextHighWatermark(facts, at(100), kEveryone), std::nullopt);
}

TEST(HighWatermark, StaysUntilEveryMemberHasFetchedInThisEpoch) {
  LeaderFacts facts = steady();
  facts.logEndOffset = Offset(20);
  facts.followers[kSecond].logEndOffset = Offset(20);
  facts.followers[kThird].logEndOffset = kNoOffset;
  EXPECT_EQ(nextHighWatermark(facts, at(100), kEveryone), std::nullopt);
}

TEST(HighWatermark, IsHeldBackByACaughtUpReplicaThatCouldJoin) {
  LeaderFacts facts = steady();
  facts.isr = CommittedIsr{{kLeader, kSecond}};
  facts.logEndOffset = Offset(20);
  facts.followers[kSecond].logEndOffset = Offset(20);
  facts.followers[kThird].logEndOffset = Offset(12);
  facts.followers[kThird].lastCaughtUp = at(95);
  EXPECT_EQ(nextHighWatermark(facts, at(100), kEveryone), Offset(12));
  EXPECT_EQ(nextHighWatermark(facts, at(100), kNobody), Offset(20))
      << "a fenced broker cannot join and holds nothing back";
  EXPECT_EQ(nextHighWatermark(facts, at(106), kEveryone), Offset(20)) << "one that lags too long holds nothing back";
}

TEST(HighWatermark, CountsAJoiningReplicaAsAMemberAndALeavingOneToo) {
  LeaderFacts facts = steady();
  facts.logEndOffset = Offset(20);
  facts.followers[kSecond].logEndOffset = Offset(20);
  facts.followers[kThird] = FollowerState{.logEndOffset = Offset(14), .lastCaughtUp = at(0)};
  facts.isr = PendingExpand{{kLeader, kSecond}, kThird};
  EXPECT_EQ(nextHighWatermark(facts, at(100), kNobody), Offset(14));
  facts.isr = PendingShrink{{kLeader, kSecond, kThird}, {kThird}};
  EXPECT_EQ(nextHighWatermark(facts, at(100), kNobody), Offset(14));
  facts.isr = CommittedIsr{{kLeader, kSecond}};
  EXPECT_EQ(nextHighWatermark(facts, at(100), kNobody), Offset(20));
}

TEST(HighWatermark, IsFrozenBelowTheMinimumIsr) {
  LeaderFacts facts = steady();
  facts.logEndOffset = Offset(20);
  facts.isr = CommittedIsr{{kLeader}};
  EXPECT_EQ(nextHighWatermark(facts, at(200), kNobody), std::nullopt);
  facts.minInsyncReplicas = 1;
  EXPECT_EQ(nextHighWatermark(facts, at(200), kNobody), Offset(20));
}

TEST(HighWatermark, IsFrozenWhileTheControllerIsOnlyAskedForTheMemberThatIsMissing) {
  LeaderFacts facts = steady();
  facts.logEndOffset = Offset(20);
  facts.followers[kSecond].logEndOffset = Offset(20);
  facts.isr = PendingExpand{{kLeader}, kSecond};
  EXPECT_EQ(nextHighWatermark(facts, at(200), kNobody), std::nullopt);
  facts.isr = CommittedIsr{{kLeader, kSecond}};
  EXPECT_EQ(nextHighWatermark(facts, at(200), kNobody), Offset(20));
}

TEST(HighWatermark, OfASingleReplicaIsItsLogEndWhateverTheMinimum) {
  LeaderFacts facts = steady();
  facts.followers.clear();
  facts.isr = CommittedIsr{{kLeader}};
  facts.logEndOffset = Offset(11);
  EXPECT_EQ(effectiveMinIsr(facts), 1);
  EXPECT_EQ(nextHighWatermark(facts, at(100), kNobody), Offset(11));
}

TEST(Follower, IsCaughtUpAsOfNowAtTheLeadersEnd) {
  const FollowerState state = afterFetch({}, Offset(10), Offset(0), Offset(10), BrokerEpoch(7), at(5));
  EXPECT_EQ(state.lastCaughtUp, at(5));
  EXPECT_EQ(state.logEndOffset, Offset(10));
  EXPECT_EQ(state.brokerEpoch, BrokerEpoch(7));
}

TEST(Follower, IsCaughtUpAsOfItsLastFetchWhenItReachesTheEndOfThen) {
  FollowerState state = afterFetch({}, Offset(5), Offset(0), Offset(10), BrokerEpoch(7), at(5));
  EXPECT_EQ(state.lastCaughtUp, MonotonicTime{}) << "it was behind";
  state = afterFetch(state, Offset(10), Offset(0), Offset(30), BrokerEpoch(7), at(6));
  EXPECT_EQ(state.lastCaughtUp, at(5));
  state = afterFetch(state, Offset(20), Offset(0), Offset(40), BrokerEpoch(7), at(7));
  EXPECT_EQ(state.lastCaughtUp, at(5)) << "it did not reach 30, the end at its last fetch";
}

TEST(Isr, AdmitsAFollowerAtTheHighWatermarkAndPastTheEpochsStart) {
  LeaderFacts facts = steady();
  facts.isr = CommittedIsr{{kLeader, kSecond}};
  EXPECT_TRUE(reachedIsr(facts, kThird));
  facts.followers[kThird].logEndOffset = Offset(9);
  EXPECT_FALSE(reachedIsr(facts, kThird));
  facts.highWatermark = Offset(5);
  EXPECT_TRUE(reachedIsr(facts, kThird));
  facts.epochStartOffset = Offset(10);
  EXPECT_FALSE(reachedIsr(facts, kThird));
  EXPECT_FALSE(reachedIsr(facts, NodeId(9)));
}

TEST(Isr, DropsWhoIsBehindForLongerThanTheLag) {
  LeaderFacts facts = steady();
  EXPECT_EQ(nextLagDeadline(facts), std::nullopt) << "all are at the end: nothing to wait for";
  EXPECT_TRUE(outOfSync(facts, at(1000)).empty()) << "an idle partition drops nobody";
  facts.logEndOffset = Offset(11);
  facts.followers[kThird].lastCaughtUp = at(97);
  ASSERT_EQ(nextLagDeadline(facts), at(107) + Duration(1));
  EXPECT_TRUE(outOfSync(facts, at(107)).empty());
  EXPECT_EQ(outOfSync(facts, at(107) + Duration(1)), std::vector<NodeId>{kThird});
  facts.isr = PendingExpand{{kLeader, kSecond}, kThird};
  EXPECT_TRUE(outOfSync(facts, at(1000)).empty()) << "one change at a time";
}

TEST(Isr, ProposalsNameWhatTheControllerIsAskedFor) {
  EXPECT_EQ(proposedIsr(PendingExpand{{kLeader}, kThird}), (std::vector<NodeId>{kLeader, kThird}));
  EXPECT_EQ(proposedIsr(PendingShrink{{kLeader, kSecond, kThird}, {kSecond}}), (std::vector<NodeId>{kLeader, kThird}));
  EXPECT_EQ(proposedIsr(CommittedIsr{{kLeader}}), std::vector<NodeId>{kLeader});
}

}  // namespace
}  // namespace tidemark::replication
