#include "replication/partition.h"

#include <gmock/gmock.h>

#include "log/log_fixture.h"
#include "replication/topic.h"

namespace tidemark::replication {
namespace {

using log::BatchSpec;
using log::makeBatch;
using std::chrono::milliseconds;
using std::chrono::seconds;

const NodeId kSelf(1);

/// One replica on broker 1 of three, and all that it asks for.
class PartitionTest : public log::LogFixture {
 protected:
  PartitionTest() {
    open();
    environment_ = std::make_shared<const PartitionEnvironment>(
        PartitionEnvironment{.self = kSelf,
                             .clock = process_->clock(),
                             .recorder = recorder_,
                             .lagMax = seconds(10),
                             .eligible = [this](NodeId node, BrokerEpoch) { return !fenced_.contains(node); },
                             .brokerEpoch = [] { return BrokerEpoch(100); },
                             .propose = [this](IsrProposal proposal) { proposals_.push_back(std::move(proposal)); },
                             .lagDeadline = [this](platform::MonotonicTime at) { deadlines_.push_back(at); }});
    partition_ = std::make_unique<Partition>(environment_, kId, TopicPartition{"orders", PartitionIndex(0)}, log_);
  }

  static metadata::PartitionRegistration registration(std::vector<int> isr, int leader, int epoch, int partitionEpoch) {
    metadata::PartitionRegistration registered;
    for (int node = 1; node <= 3; ++node) registered.replicas.push_back(NodeId(node));
    registered.directories.resize(3);
    for (int node : isr) registered.isr.push_back(NodeId(node));
    registered.leader = NodeId(leader);
    registered.leaderEpoch = LeaderEpoch(epoch);
    registered.partitionEpoch = PartitionEpoch(partitionEpoch);
    return registered;
  }
  Partition::RoleChange lead(std::vector<int> isr = {1, 2, 3}, int epoch = 0, int partitionEpoch = 0, int minIsr = 1) {
    return partition_->makeLeader(registration(std::move(isr), 1, epoch, partitionEpoch), minIsr);
  }
  ErrorCode write(int16_t acks = -1, int count = 1) {
    ByteVector batch = makeBatch({.count = count});
    const auto appended =
        partition_->appendAsLeader(batch, acks, {.origin = records::Origin::Client, .apiVersion = 12});
    return appended ? ErrorCode::None : appended.error().error.code;
  }
  /// A fetch of that follower from `offset`; whether the high watermark moved.
  bool fetchBy(int node, int64_t offset, int64_t followerEpoch = -1) {
    const auto read = partition_->read(
        {.fetchOffset = Offset(offset),
         .check = {},
         .maxBytes = 1 << 20,
         .isolation = log::FetchIsolation::LogEnd,
         .follower = FollowerFetch{
             .replica = NodeId(node), .brokerEpoch = BrokerEpoch(followerEpoch), .logStartOffset = Offset(0)}});
    EXPECT_TRUE(read) << read.error().message;
    return read && read->highWatermarkMoved;
  }
  void decide(ErrorCode error, std::vector<int> isr, int partitionEpoch) {
    IsrDecision decision{.error = error,
                         .leader = kSelf,
                         .leaderEpoch = partition_->leaderEpoch(),
                         .partitionEpoch = PartitionEpoch(partitionEpoch),
                         .isr = {}};
    for (int node : isr) decision.isr.push_back(NodeId(node));
    partition_->decided(proposals_.back(), decision);
  }
  std::vector<int> isr() {
    std::vector<int> nodes;
    for (NodeId node : partition_->view().isr) nodes.push_back(node.value());
    return nodes;
  }
  std::vector<int> proposed() {
    std::vector<int> nodes;
    for (const auto& member : proposals_.back().isr) nodes.push_back(member.node.value());
    std::ranges::sort(nodes);
    return nodes;
  }
  int64_t highWatermark() { return log_->highWatermark().value(); }

  events::Recorder recorder_{process_->clock(), kSelf};
  std::set<NodeId> fenced_;
  std::vector<IsrProposal> proposals_;
  std::vector<platform::MonotonicTime> deadlines_;
  std::shared_ptr<const PartitionEnvironment> environment_;
  std::unique_ptr<Partition> partition_;
};

TEST_F(PartitionTest, NeitherLeaderNorFollowerServesNobody) {
  EXPECT_EQ(write(), ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(partition_->offsets({}).error().code, ErrorCode::NotLeaderOrFollower);
}

TEST_F(PartitionTest, TheHighWatermarkFollowsTheSlowestOfTheIsr) {
  lead();
  ASSERT_EQ(write(), ErrorCode::None);
  ASSERT_EQ(write(), ErrorCode::None);
  EXPECT_FALSE(partition_->advance());
  EXPECT_EQ(highWatermark(), 0);
  EXPECT_FALSE(fetchBy(2, 2));
  EXPECT_TRUE(fetchBy(3, 1));
  EXPECT_EQ(highWatermark(), 1);
  EXPECT_TRUE(fetchBy(3, 2));
  EXPECT_EQ(highWatermark(), 2);
}

TEST_F(PartitionTest, ALoneMemberOfTheIsrMovesItByItself) {
  lead({1});
  ASSERT_EQ(write(), ErrorCode::None);
  EXPECT_TRUE(partition_->advance());
  EXPECT_EQ(highWatermark(), 1);
}

TEST_F(PartitionTest, AnIsrBelowTheMinimumRefusesAcksAllAndMovesNothing) {
  lead({1}, 0, 0, 2);
  EXPECT_EQ(write(-1), ErrorCode::NotEnoughReplicas);
  EXPECT_EQ(log_->logEndOffset(), Offset(0));
  EXPECT_EQ(write(1), ErrorCode::None);
  EXPECT_FALSE(partition_->advance());
  EXPECT_EQ(highWatermark(), 0);
}

TEST_F(PartitionTest, AProduceIsDoneWhenTheHighWatermarkPassedItAndFailsWithTheLeadership) {
  lead();
  ASSERT_EQ(write(), ErrorCode::None);
  EXPECT_FALSE(partition_->produceOutcome(Offset(1), LeaderEpoch(0)));
  fetchBy(2, 1);
  fetchBy(3, 1);
  EXPECT_EQ(partition_->produceOutcome(Offset(1), LeaderEpoch(0)), ErrorCode::None);
  EXPECT_EQ(partition_->produceOutcome(Offset(1), LeaderEpoch(5)), ErrorCode::NotLeaderOrFollower);
  lead({1}, 0, 1, 2);
  EXPECT_EQ(partition_->produceOutcome(Offset(1), LeaderEpoch(0)), ErrorCode::NotEnoughReplicasAfterAppend);
  partition_->makeFollower(registration({2}, 2, 1, 2), 1);
  EXPECT_EQ(partition_->produceOutcome(Offset(1), LeaderEpoch(0)), ErrorCode::NotLeaderOrFollower);
}

TEST_F(PartitionTest, AFollowerThatCaughtUpIsProposedOnceAndHoldsTheHighWatermarkAtOnce) {
  lead({1, 2});
  ASSERT_EQ(write(), ErrorCode::None);
  fetchBy(2, 1);
  EXPECT_EQ(highWatermark(), 1);
  fetchBy(3, 1, 33);
  ASSERT_EQ(proposals_.size(), 1u);
  EXPECT_EQ(proposed(), (std::vector<int>{1, 2, 3}));
  fetchBy(3, 1, 33);
  EXPECT_EQ(proposals_.size(), 1u) << "one at a time";
  ASSERT_EQ(write(), ErrorCode::None);
  EXPECT_FALSE(fetchBy(2, 2)) << "who may be a member already counts";
  decide(ErrorCode::None, {1, 2, 3}, 1);
  EXPECT_EQ(isr(), (std::vector<int>{1, 2, 3}));
}

TEST_F(PartitionTest, MetadataThatComesAfterTheAnswerThatToldItLeavesTheNextQuestionOpen) {
  lead({1}, 0, 0);
  ASSERT_EQ(write(), ErrorCode::None);
  fetchBy(2, 1);
  decide(ErrorCode::None, {1, 2}, 1);
  fetchBy(3, 1, 33);
  ASSERT_EQ(proposals_.size(), 2u);
  EXPECT_EQ(proposed(), (std::vector<int>{1, 2, 3}));
  ASSERT_EQ(write(), ErrorCode::None);
  fetchBy(2, 2);
  EXPECT_FALSE(lead({1, 2}, 0, 1).highWatermarkMoved) << "broker 3 may be a member by now";
  EXPECT_EQ(highWatermark(), 1);
  decide(ErrorCode::None, {1, 2, 3}, 2);
  EXPECT_EQ(isr(), (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(fetchBy(3, 2));
}

TEST_F(PartitionTest, AFencedFollowerIsNotProposed) {
  lead({1, 2});
  fenced_.insert(NodeId(3));
  fetchBy(3, 0);
  EXPECT_TRUE(proposals_.empty());
}

TEST_F(PartitionTest, ARefusedProposalGoesBackToWhatIsCommitted) {
  lead({1, 2});
  fetchBy(3, 0);
  ASSERT_EQ(proposals_.size(), 1u);
  decide(ErrorCode::IneligibleReplica, {}, 0);
  ASSERT_EQ(write(), ErrorCode::None);
  fetchBy(2, 1);
  EXPECT_EQ(isr(), (std::vector<int>{1, 2}));
}

TEST_F(PartitionTest, AProposalThatCouldNotBeDecidedIsMadeAgain) {
  lead({1, 2});
  fetchBy(3, 0);
  ASSERT_EQ(proposals_.size(), 1u);
  decide(ErrorCode::UnknownServerError, {}, 0);
  EXPECT_EQ(proposals_.size(), 2u);
}

TEST_F(PartitionTest, ADecisionThatTheMetadataHasOvertakenIsIgnored) {
  lead({1, 2});
  fetchBy(3, 0);
  lead({1}, 1, 7);
  decide(ErrorCode::None, {1, 2, 3}, 1);
  EXPECT_EQ(isr(), (std::vector<int>{1}));
}

TEST_F(PartitionTest, WhoLagsForTooLongIsProposedToLeaveAndHoldsTheHighWatermarkUntilThen) {
  lead();
  ASSERT_EQ(write(), ErrorCode::None);
  EXPECT_FALSE(deadlines_.empty()) << "a lag that will be looked at";
  fetchBy(2, 1);
  world_->runFor(seconds(11));
  fetchBy(2, 1);
  partition_->checkIsr();
  ASSERT_EQ(proposals_.size(), 1u);
  EXPECT_EQ(proposed(), (std::vector<int>{1, 2}));
  EXPECT_EQ(highWatermark(), 0);
  decide(ErrorCode::None, {1, 2}, 1);
  EXPECT_EQ(highWatermark(), 1);
}

TEST_F(PartitionTest, WhoKeepsUpStays) {
  lead();
  world_->runFor(seconds(11));
  fetchBy(2, 0);
  fetchBy(3, 0);
  partition_->checkIsr();
  EXPECT_TRUE(proposals_.empty());
}

TEST_F(PartitionTest, OtherEpochsAreRefused) {
  lead({1}, 5, 0);
  const auto asking = [&](int epoch) {
    const auto answer = partition_->offsets({.currentLeaderEpoch = LeaderEpoch(epoch)});
    return answer ? ErrorCode::None : answer.error().code;
  };
  EXPECT_EQ(asking(4), ErrorCode::FencedLeaderEpoch);
  EXPECT_EQ(asking(5), ErrorCode::None);
  EXPECT_EQ(asking(6), ErrorCode::UnknownLeaderEpoch);
}

TEST_F(PartitionTest, AReaderWhoseLogPartedIsToldWhere) {
  lead({1}, 0, 0);
  ASSERT_EQ(write(1, 3), ErrorCode::None);
  lead({1}, 2, 1);
  ASSERT_EQ(write(1, 3), ErrorCode::None);
  const auto read = [&](int64_t offset, int epoch) {
    return partition_->read({.fetchOffset = Offset(offset),
                             .lastFetchedEpoch = LeaderEpoch(epoch),
                             .check = {},
                             .maxBytes = 1 << 20,
                             .isolation = log::FetchIsolation::LogEnd});
  };
  EXPECT_FALSE(read(2, 0)->diverging);
  const auto beyond = read(5, 0);
  ASSERT_TRUE(beyond && beyond->diverging);
  EXPECT_EQ(beyond->diverging->epoch, LeaderEpoch(0));
  EXPECT_EQ(beyond->diverging->endOffset, Offset(3));
  const auto between = read(4, 1);
  ASSERT_TRUE(between && between->diverging) << "an epoch that never was here";
  EXPECT_EQ(between->diverging->endOffset, Offset(3));
  EXPECT_FALSE(read(6, 2)->diverging);
}

TEST_F(PartitionTest, ANewLeadersLatestOffsetIsNotToldBeforeItsEpochIsCommitted) {
  lead({1, 2}, 0, 0);
  ASSERT_EQ(write(1, 3), ErrorCode::None);
  lead({1, 2}, 1, 1);
  const auto latest = [&] {
    return partition_->listOffset(log::kLatestTimestamp, log::FetchIsolation::HighWatermark, {});
  };
  EXPECT_EQ(latest().error().code, ErrorCode::OffsetNotAvailable);
  fetchBy(2, 3);
  ASSERT_TRUE(latest());
  EXPECT_EQ((*latest())->offset, Offset(3));
}

TEST_F(PartitionTest, AFollowerTakesOnlyWhatItsEpochsLeaderSent) {
  partition_->makeFollower(registration({1, 2}, 2, 3, 0), 1);
  const ByteVector sent = makeBatch({.count = 2, .baseOffset = Offset(0), .epoch = LeaderEpoch(3)});
  EXPECT_EQ(partition_->appendAsFollower(sent, LeaderEpoch(2), Offset(0), Offset(0)).error().code,
            ErrorCode::NotLeaderOrFollower);
  const auto appended = partition_->appendAsFollower(sent, LeaderEpoch(3), Offset(1), Offset(0));
  ASSERT_TRUE(appended) << appended.error().message;
  EXPECT_EQ(appended->logEndOffset, Offset(2));
  EXPECT_TRUE(appended->highWatermarkMoved);
  EXPECT_EQ(highWatermark(), 1);
  EXPECT_EQ(partition_->truncateAsFollower(Offset(0), LeaderEpoch(2)).error().code, ErrorCode::NotLeaderOrFollower);
  ASSERT_TRUE(partition_->truncateAsFollower(Offset(0), LeaderEpoch(3)));
  EXPECT_EQ(log_->logEndOffset(), Offset(0));
}

// It asked for the same records for ever.
TEST_F(PartitionTest, AFollowerOfALogThatStartsInsideABatchBeginsWithTheWholeBatch) {
  partition_->makeFollower(registration({1, 2, 3}, 2, 3, 3), 1);
  ASSERT_TRUE(partition_->restartAsFollower(Offset(4), LeaderEpoch(3)));
  const ByteVector batch = makeBatch({.count = 10, .baseOffset = Offset(0), .epoch = LeaderEpoch(3)});
  const auto appended = partition_->appendAsFollower(batch, LeaderEpoch(3), Offset(10), Offset(4));
  ASSERT_TRUE(appended) << appended.error().message;
  EXPECT_EQ(appended->logEndOffset, Offset(10));
  EXPECT_EQ(log_->logStartOffset(), Offset(4));
  EXPECT_EQ(highWatermark(), 10);
  const auto held = log_->batches(Offset(4), 1);
  ASSERT_TRUE(held && held->size() == 1);
  EXPECT_EQ((*held)[0].header.baseOffset, Offset(0));
  // Twice is once too often.
  EXPECT_EQ(partition_->appendAsFollower(batch, LeaderEpoch(3), Offset(10), Offset(4)).error().code,
            ErrorCode::OffsetOutOfRange);
}

TEST_F(PartitionTest, WhatAnUncleanElectionCostsIsToldByTheLeaderAndByWhoGivesItUp) {
  recorder_.want(events::Kinds::all());
  const auto lost = [this] {
    std::vector<events::Event> drained;
    recorder_.drain(drained);
    std::vector<events::RecordsLost> found;
    for (const events::Event& event : drained)
      if (const auto* one = std::get_if<events::RecordsLost>(&event.payload)) found.push_back(*one);
    return found;
  };
  partition_->makeFollower(registration({1, 2, 3}, 2, 3, 3), 1);
  ASSERT_TRUE(partition_->appendAsFollower(makeBatch({.count = 1, .baseOffset = Offset(0), .epoch = LeaderEpoch(3)}),
                                           LeaderEpoch(3), Offset(1), Offset(0)));
  for (int64_t base : {1, 2, 3})
    ASSERT_TRUE(
        partition_->appendAsFollower(makeBatch({.count = 1, .baseOffset = Offset(base), .epoch = LeaderEpoch(3)}),
                                     LeaderEpoch(3), Offset(3), Offset(0)));
  // Above the high watermark nothing was promised.
  ASSERT_TRUE(partition_->truncateAsFollower(Offset(3), LeaderEpoch(3)));
  EXPECT_TRUE(lost().empty());
  ASSERT_TRUE(partition_->appendAsFollower(makeBatch({.count = 1, .baseOffset = Offset(3), .epoch = LeaderEpoch(3)}),
                                           LeaderEpoch(3), Offset(3), Offset(0)));
  auto unclean = registration({3}, 3, 4, 4);
  unclean.leaderRecoveryState = metadata::LeaderRecoveryState::Recovering;
  partition_->makeFollower(unclean, 1);
  ASSERT_TRUE(partition_->truncateAsFollower(Offset(1), LeaderEpoch(4)));
  auto gone = lost();
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].from, Offset(1));
  EXPECT_EQ(gone[0].to, Offset(3));
  EXPECT_EQ(gone[0].gaveUpTo, Offset(4)) << "more may have been committed than it knew";
  EXPECT_EQ(gone[0].leader, NodeId(3));
  EXPECT_EQ(gone[0].epoch, LeaderEpoch(4));
  unclean = registration({1}, 1, 5, 5);
  unclean.leaderRecoveryState = metadata::LeaderRecoveryState::Recovering;
  partition_->makeLeader(unclean, 1);
  gone = lost();
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].from, Offset(1));
  EXPECT_EQ(gone[0].to, kNoOffset);
}

TEST_F(PartitionTest, OldMetadataChangesNothing) {
  lead({1, 2}, 2, 5);
  EXPECT_FALSE(lead({1}, 2, 4).newLeaderEpoch);
  EXPECT_EQ(isr(), (std::vector<int>{1, 2}));
  partition_->makeFollower(registration({2}, 2, 1, 3), 1);
  EXPECT_TRUE(partition_->isLeader());
}

TEST_F(PartitionTest, RecordsOfACompactedTopicAreNotDeletedByOffset) {
  lead();
  ASSERT_EQ(write(-1, 5), ErrorCode::None);
  for (int node : {2, 3}) fetchBy(node, 5);
  log::LogConfig config = *partition_->log()->config();
  config.compact = true;
  config.remove = false;
  partition_->log()->updateConfig(config);
  EXPECT_EQ(partition_->deleteRecords(Offset(3)).error().code, ErrorCode::PolicyViolation);
  config.remove = true;
  partition_->log()->updateConfig(config);
  EXPECT_TRUE(partition_->deleteRecords(Offset(3)));
}

TEST_F(PartitionTest, TheLowWatermarkIsThatOfTheReplicasThatAreAlive) {
  lead();
  ASSERT_EQ(write(-1, 5), ErrorCode::None);
  for (int node : {2, 3}) fetchBy(node, 5);
  ASSERT_TRUE(partition_->deleteRecords(Offset(3)));
  EXPECT_EQ(*partition_->lowWatermark(), Offset(0));
  fenced_ = {NodeId(2), NodeId(3)};
  EXPECT_EQ(*partition_->lowWatermark(), Offset(3));
}

}  // namespace
}  // namespace tidemark::replication
