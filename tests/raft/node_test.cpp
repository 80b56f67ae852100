#include <algorithm>

#include <gtest/gtest.h>

#include "quorum_fixture.h"
#include "raft/raft_node.h"

namespace tidemark::raft {
namespace {

using std::chrono::seconds;

TEST(RaftNode, OneVoterLeadsAtOnceAndCommits) {
  Quorum quorum({.voters = 1, .config = Quorum::labConfig()});
  quorum.startAll();
  ASSERT_EQ(quorum.awaitLeader(milliseconds(100)), 1);
  EXPECT_EQ(quorum.node(1).leaderAndEpoch().epoch, LeaderEpoch(1));
  EXPECT_EQ(quorum.listener(1).fromSnapshot, std::vector<std::string>{"bootstrap"});
  const auto offset = quorum.append(1, "first");
  ASSERT_TRUE(offset) << offset.error().message;
  // LeaderChange, KRaftVersion and KRaftVoters come first.
  EXPECT_EQ(*offset, Offset(3));
  EXPECT_TRUE(quorum.awaitCommitted(*offset, "first", milliseconds(100)));
}

TEST(RaftNode, FreshQuorumOfThreeElectsTheLowestVoterAtOnce) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const MonotonicTime began = quorum.world().now();
  ASSERT_EQ(quorum.awaitLeader(), 1);
  EXPECT_LT(quorum.world().now() - began, milliseconds(150));
  for (int i = 0; i < 10; ++i) {
    const std::string value = fmt::format("record {}", i);
    const auto offset = quorum.append(1, value);
    ASSERT_TRUE(offset);
    EXPECT_EQ(*offset, Offset(3 + i));
    EXPECT_TRUE(quorum.awaitCommitted(*offset, value, milliseconds(100)));
  }
}

TEST(RaftNode, KilledLeaderIsReplacedAndComesBackAsFollower) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int first = quorum.awaitLeader();
  ASSERT_NE(first, 0);
  auto offset = quorum.append(first, "before");
  ASSERT_TRUE(offset && quorum.awaitCommitted(*offset, "before"));
  quorum.kill(first);
  const int second = quorum.awaitLeader(seconds(4));
  ASSERT_NE(second, 0);
  EXPECT_NE(second, first);
  offset = quorum.append(second, "while it is away");
  ASSERT_TRUE(offset && quorum.awaitCommitted(*offset, "while it is away"));
  quorum.start(first);
  EXPECT_TRUE(quorum.awaitCommitted(*offset, "while it is away", seconds(3)));
  EXPECT_EQ(quorum.awaitLeader(), second);
  EXPECT_EQ(quorum.listener(first).records.size(), 2u);
}

TEST(RaftNode, FollowerTruncatesWhatWasNeverCommitted) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int first = quorum.awaitLeader();
  ASSERT_NE(first, 0);
  quorum.world().network().isolate("node-" + std::to_string(first));
  const auto lost = quorum.append(first, "never committed");
  ASSERT_TRUE(lost);
  ASSERT_TRUE(quorum.await([&] { return quorum.node(first).logEndOffset() > *lost; }));
  quorum.world().runFor(seconds(3));
  EXPECT_FALSE(quorum.node(first).isLeader(quorum.node(first).leaderAndEpoch().epoch));
  quorum.world().network().heal("node-" + std::to_string(first));
  const int second = quorum.awaitLeader();
  ASSERT_NE(second, 0);
  const auto offset = quorum.append(second, "committed");
  ASSERT_TRUE(offset);
  EXPECT_TRUE(quorum.awaitCommitted(*offset, "committed"));
  for (const auto& [at, value] : quorum.listener(first).records) EXPECT_NE(value, "never committed");
}

TEST(RaftNode, ObserverFollowsAndIsNoVoter) {
  Quorum quorum({.voters = 3, .observers = 1, .config = Quorum::labConfig()});
  quorum.startAll();
  const int leader = quorum.awaitLeader();
  ASSERT_NE(leader, 0);
  const auto offset = quorum.append(leader, "for all");
  ASSERT_TRUE(offset);
  EXPECT_TRUE(quorum.awaitCommitted(*offset, "for all"));
  EXPECT_EQ(quorum.listener(4).records.size(), 1u);
  const QuorumDescription description = quorum.node(leader).describe();
  EXPECT_EQ(description.voters.size(), 3u);
  ASSERT_EQ(description.observers.size(), 1u);
  EXPECT_EQ(description.observers.front().key.id, NodeId(4));
  quorum.kill(leader);
  const int second = quorum.awaitLeader(seconds(5));
  ASSERT_NE(second, 0);
  const auto next = quorum.append(second, "after");
  ASSERT_TRUE(next);
  EXPECT_TRUE(quorum.awaitCommitted(*next, "after"));
}

TEST(RaftNode, LeaderShutsDownGracefullyAndAnotherTakesOver) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int first = quorum.awaitLeader();
  ASSERT_NE(first, 0);
  const MonotonicTime began = quorum.world().now();
  bool done = false;
  quorum.node(first).shutdown(seconds(5), [&] { done = true; });
  ASSERT_TRUE(quorum.await([&] { return done; }));
  EXPECT_LT(quorum.world().now() - began, milliseconds(500));
  EXPECT_TRUE(quorum.listener(first).stopped);
  quorum.kill(first);
  const int second = quorum.awaitLeader(seconds(1));
  EXPECT_NE(second, 0);
  EXPECT_NE(second, first);
}

TEST(RaftNode, NodeThatDoesNotLeadRefusesAppends) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int leader = quorum.awaitLeader();
  ASSERT_NE(leader, 0);
  const int other = leader % 3 + 1;
  const auto refused = quorum.append(other, "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::NotController);
  const LeaderEpoch epoch = quorum.node(leader).leaderAndEpoch().epoch;
  EXPECT_FALSE(quorum.node(leader).append(epoch.next(), {ByteVector{1}}));
  EXPECT_EQ(quorum.node(leader).nextAppendOffset(epoch).value_or(kNoOffset), quorum.node(leader).logEndOffset());
}

TEST(RaftNode, EverythingCommittedSurvivesThatAllLosePower) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int leader = quorum.awaitLeader();
  ASSERT_NE(leader, 0);
  Offset last;
  for (int i = 0; i < 20; ++i) {
    const auto offset = quorum.append(leader, fmt::format("record {}", i));
    ASSERT_TRUE(offset);
    last = *offset;
  }
  ASSERT_TRUE(quorum.awaitCommitted(last, "record 19"));
  for (int id = 1; id <= 3; ++id) quorum.kill(id, true);
  quorum.startAll();
  ASSERT_NE(quorum.awaitLeader(), 0);
  EXPECT_TRUE(quorum.awaitCommitted(last, "record 19"));
  for (int id = 1; id <= 3; ++id) EXPECT_EQ(quorum.listener(id).records.size(), 20u);
}

TEST(RaftNode, SnapshotBringsANodeThatWasAwayUpToDate) {
  Quorum::Options options{.config = Quorum::labConfig()};
  options.config.retentionBytes = 1000;
  Quorum quorum(options);
  quorum.startAll();
  const int leader = quorum.awaitLeader();
  ASSERT_NE(leader, 0);
  const int away = leader % 3 + 1;
  quorum.kill(away);
  Offset last;
  for (int i = 0; i < 50; ++i) {
    const auto offset = quorum.append(leader, fmt::format("record {}", i));
    ASSERT_TRUE(offset);
    last = *offset;
    ASSERT_TRUE(quorum.awaitCommitted(last, fmt::format("record {}", i)));
  }
  const LeaderEpoch epoch = quorum.node(leader).leaderAndEpoch().epoch;
  EXPECT_EQ(quorum.node(leader).createSnapshot({last + 100, epoch}, 0).error().code, ErrorCode::OffsetOutOfRange);
  EXPECT_EQ(quorum.node(leader).createSnapshot({last, LeaderEpoch(0)}, 0).error().code, ErrorCode::InvalidRequest);
  auto writer = quorum.node(leader).createSnapshot({last + 1, epoch}, 77);
  ASSERT_TRUE(writer) << writer.error().message;
  std::vector<ByteVector> state;
  for (int i = 0; i < 50; ++i) {
    const std::string value = fmt::format("state {}", i);
    state.emplace_back(value.begin(), value.end());
  }
  ASSERT_TRUE((*writer)->append(state));
  const auto frozen = (*writer)->freeze();
  ASSERT_TRUE(frozen) << frozen.error().message;
  ASSERT_TRUE(quorum.await([&] { return quorum.node(leader).latestSnapshotId() == OffsetAndEpoch{last + 1, epoch}; }));
  const auto after = quorum.append(leader, "after the snapshot");
  ASSERT_TRUE(after);
  quorum.start(away);
  ASSERT_TRUE(quorum.awaitCommitted(*after, "after the snapshot"));
  Recording& listener = quorum.listener(away);
  EXPECT_EQ(listener.snapshots.back(), (OffsetAndEpoch{last + 1, epoch}));
  EXPECT_EQ(listener.fromSnapshot.size(), 50u);
  EXPECT_EQ(listener.fromSnapshot.back(), "state 49");
  EXPECT_EQ(quorum.node(away).voters().size(), 3u);
  // And once more, from what it has on disk.
  quorum.kill(away);
  quorum.start(away);
  ASSERT_TRUE(quorum.awaitCommitted(*after, "after the snapshot"));
  EXPECT_EQ(quorum.listener(away).fromSnapshot.size(), 50u);
}

/// A snapshot of everything committed, whose newest record is from `timestampMs`.
OffsetAndEpoch takeSnapshot(Quorum& quorum, int node, int64_t timestampMs) {
  const OffsetAndEpoch id{*quorum.node(node).highWatermark(), quorum.node(node).leaderAndEpoch().epoch};
  auto writer = quorum.node(node).createSnapshot(id, timestampMs);
  EXPECT_TRUE(writer && (*writer)->freeze());
  EXPECT_TRUE(quorum.await([&] { return quorum.node(node).latestSnapshotId() == id; }));
  return id;
}

TEST(RaftNode, SnapshotsOlderThanTheRetentionGoAndTheLogBelowTheNextOne) {
  Quorum::Options options{.voters = 1, .config = Quorum::labConfig()};
  options.config.retention = std::chrono::hours(1);
  Quorum quorum(options);
  quorum.startAll();
  ASSERT_EQ(quorum.awaitLeader(), 1);
  const auto files = [&] {
    const auto entries = quorum.process(1).files().list("/data/__cluster_metadata-0");
    return std::ranges::count_if(*entries, [](const auto& entry) { return entry.name.ends_with(".checkpoint"); });
  };
  const auto now = [&] { return quorum.process(1).clock().wallMs(); };
  ASSERT_TRUE(quorum.awaitCommitted(*quorum.append(1, "a"), "a"));
  takeSnapshot(quorum, 1, now());
  EXPECT_EQ(files(), 2) << "with that of the format";
  ASSERT_TRUE(quorum.awaitCommitted(*quorum.append(1, "b"), "b"));
  takeSnapshot(quorum, 1, now());
  EXPECT_EQ(files(), 3) << "none is an hour old";
  quorum.world().runFor(std::chrono::hours(2));
  ASSERT_TRUE(quorum.awaitCommitted(*quorum.append(1, "c"), "c"));
  takeSnapshot(quorum, 1, now());
  EXPECT_EQ(files(), 1) << "the newest always stays";
}

TEST(RaftNode, BlockedFollowerReadsItsMessagesBeforeItsExpiredTimers) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int leader = quorum.awaitLeader();
  ASSERT_NE(leader, 0);
  const int blocked = leader % 3 + 1;
  bool stood = false;
  quorum.world().onStep([&] { stood = stood || quorum.node(blocked).describe().role == RoleName::Prospective; });
  for (int i = 0; i < 20; ++i) {
    // Longer than the fetch timeout, as a sync on a busy disk; the answer to its fetch comes meanwhile.
    quorum.executor(blocked).post([&] { quorum.executor(blocked).stall(milliseconds(1100)); });
    quorum.world().runFor(milliseconds(1500));
  }
  EXPECT_FALSE(stood);
  EXPECT_EQ(quorum.awaitLeader(), leader);
  quorum.world().onStep({});
}

TEST(RaftNode, PausedLeaderIsReplacedAndGivesWayWhenItResumes) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int first = quorum.awaitLeader();
  ASSERT_NE(first, 0);
  const LeaderEpoch epoch = quorum.node(first).leaderAndEpoch().epoch;
  quorum.process(first).pause();
  const int other = first % 3 + 1;
  ASSERT_TRUE(quorum.await([&] {
    const LeaderAndEpoch now = quorum.node(other).leaderAndEpoch();
    return now.hasLeader() && now.epoch > epoch;
  }));
  quorum.process(first).resume();
  const int second = quorum.awaitLeader();
  ASSERT_NE(second, 0);
  EXPECT_NE(second, first);
  const auto offset = quorum.append(second, "goes on");
  ASSERT_TRUE(offset);
  EXPECT_TRUE(quorum.awaitCommitted(*offset, "goes on"));
}

TEST(RaftNode, FailedSyncKillsTheProcess) {
  Quorum quorum({.config = Quorum::labConfig()});
  quorum.startAll();
  const int leader = quorum.awaitLeader();
  ASSERT_NE(leader, 0);
  quorum.process(leader).disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Sync && path.ends_with(".log");
  });
  ASSERT_TRUE(quorum.append(leader, "lost"));
  EXPECT_TRUE(quorum.await([&] { return quorum.process(leader).state() == platform::Process::State::Dead; }));
  quorum.process(leader).disk().failWhen({});
}

TEST(RaftNode, SameSeedGivesTheSameTrace) {
  uint64_t hashes[2] = {};
  for (uint64_t& hash : hashes) {
    Quorum quorum({.seed = 42, .config = Quorum::labConfig()});
    quorum.startAll();
    const int leader = quorum.awaitLeader();
    (void)quorum.append(leader, "x");
    quorum.world().runFor(seconds(1));
    quorum.kill(leader);
    quorum.world().runFor(seconds(3));
    hash = quorum.world().traceHash();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(RaftNode, CommitsUnderKillsAndRestartsOfEveryNode) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Quorum quorum({.seed = seed, .config = Quorum::labConfig()});
    quorum.startAll();
    std::map<Offset, std::string> acknowledged;
    auto& random = quorum.world().random();
    int number = 0;
    for (int round = 0; round < 12; ++round) {
      const int leader = quorum.awaitLeader();
      ASSERT_NE(leader, 0) << "seed " << seed << " round " << round;
      for (int i = 0; i < 5; ++i) {
        const std::string value = fmt::format("record {}", number++);
        const auto offset = quorum.append(leader, value);
        if (!offset) break;
        quorum.world().runFor(milliseconds(random.below(15)));
        if (quorum.node(leader).highWatermark().value_or(kNoOffset) > *offset) acknowledged[*offset] = value;
      }
      const int victim = static_cast<int>(1 + random.below(3));
      if (random.below(2) == 0)
        quorum.process(victim).crashAtFileCall(1 + random.below(6), random.below(2) == 0
                                                                        ? platform::SimulatedProcess::Crash::PowerLoss
                                                                        : platform::SimulatedProcess::Crash::Kill);
      quorum.world().runFor(milliseconds(200 + random.below(1500)));
      quorum.kill(victim, random.below(2) == 0);
      quorum.world().runFor(milliseconds(random.below(1500)));
      quorum.start(victim);
    }
    ASSERT_NE(quorum.awaitLeader(), 0) << "seed " << seed;
    quorum.world().runFor(seconds(1));
    for (int id = 1; id <= 3; ++id)
      for (const auto& [offset, value] : acknowledged) {
        const auto at = quorum.listener(id).records.find(offset);
        ASSERT_NE(at, quorum.listener(id).records.end())
            << "seed " << seed << " node " << id << " offset " << offset.value();
        EXPECT_EQ(at->second, value);
      }
    EXPECT_GT(acknowledged.size(), 10u);
  }
}

}  // namespace
}  // namespace tidemark::raft
