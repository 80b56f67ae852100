#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "sim/applications.h"
#include "sim/journal.h"
#include "sim/lab.h"
#include "sim/replication_checkers.h"

// The last leader is elected although its disk has lost what another replica still has: what that costs, and that the
// checkers let it pass only where something was lost.

namespace tidemark::sim {
namespace {

/// Five brokers, so that two may be away and there is still a quorum; one partition on two of them, which needs both,
/// and a writer that waits for both.
class LastLeaderTest : public testing::Test {
 protected:
  LastLeaderTest() {
    for (Checker* checker : std::initializer_list<Checker*>{&logs_, &committed_, &highWatermarks_})
      watch_.add(*checker);
    lab_.world().onStep([this] { watch_.look(); });
    observe::LaunchOptions options;
    options.brokers = 5;
    options.firstTopic = observe::TopicOptions{
        .name = "safe", .partitions = 1, .replicationFactor = 2, .configs = {{"min.insync.replicas", "2"}}};
    const auto launched = lab_.perform([&](auto done) { lab_.cluster().launch(options, std::move(done)); });
    EXPECT_TRUE(launched) << launched.error().message;
    for (int i = 0; i < 5; ++i) bootstrap_.push_back({options.host, static_cast<uint16_t>(options.port + i)});
    const std::vector<NodeId> replicas = now().replicas;
    first_ = replicas[0];
    second_ = replicas[1];
    for (int id = 1; id <= 5; ++id)
      if (std::ranges::find(replicas, NodeId(id)) == replicas.end()) witness_ = NodeId(id);
    writer_ = std::make_unique<Writer>(lab_.world(), "writer", bootstrap_, "safe", 1, Writer::Options{}, 1, journal_);
    lab_.world().runFor(std::chrono::seconds(2));
    writer_->stop();
    lab_.world().runFor(std::chrono::seconds(1));
    written_ = committed_.end(kSafe);
    EXPECT_GT(written_, Offset(10));
    EXPECT_GT(journal_.acknowledgedCount(), 10u);
  }

  /// As a broker sees it that holds no replica.
  const metadata::PartitionRegistration& now() {
    image_ = lab_.cluster().node(witness_)->broker()->image();
    return *image_->topics.partition("safe", PartitionIndex(0));
  }
  bool becomes(const std::function<bool(const metadata::PartitionRegistration&)>& state) {
    return lab_.world().runUntil([&] { return state(now()); }, std::chrono::seconds(60));
  }
  void start(NodeId broker) {
    EXPECT_TRUE(lab_.perform([&](auto done) { lab_.cluster().restartBroker(broker, std::move(done)); }));
  }
  /// The second replica is killed, then the first loses power as the last leader; both come back.
  void loseTheLastLeadersData() {
    ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().killBroker(second_, std::move(done)); }));
    ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr == std::vector{first_}; }));
    lab_.alive(first_)->losePower();
    ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr.empty(); }));
    ASSERT_EQ(now().lastKnownElr, std::vector{first_});
    start(second_);
    start(first_);
    ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr.size() == 2; }));
    ASSERT_EQ(now().leader, first_);
  }

  static inline const TopicPartition kSafe{"safe", PartitionIndex(0)};
  SimulatedLab lab_{{.seed = 3}};
  Judge judge_;
  Watch watch_{lab_.cluster(), 5};
  ReplicaLogs logs_;
  Losses losses_{[this](const Losses::Loss& loss) { journal_.lost(loss.partition, loss.from, loss.to); }};
  CommittedRecords committed_{judge_, logs_, watch_, losses_, [](const TopicPartition&, Offset, const BatchKey&) {}};
  HighWatermarks highWatermarks_{judge_, losses_, 2};
  Journal journal_{judge_, committed_};
  std::vector<platform::Endpoint> bootstrap_;
  std::unique_ptr<Writer> writer_;
  metadata::ImagePtr image_;
  NodeId witness_{1};
  NodeId first_;
  NodeId second_;
  Offset written_;
};

TEST_F(LastLeaderTest, whatItsDiskHasLostIsALossThatIsToldWithItsOffsets) {
  losses_.lostData(first_, image_->cluster.broker(first_)->epoch);
  loseTheLastLeadersData();
  EXPECT_FALSE(judge_.first()) << judge_.first()->invariant << ": " << judge_.first()->text;
  ASSERT_EQ(losses_.all().size(), 1u);
  const Losses::Loss& loss = losses_.all().front();
  EXPECT_EQ(loss.leader, first_);
  EXPECT_EQ(loss.from, Offset(0)) << "nothing was synced";
  EXPECT_EQ(loss.to, written_);
  EXPECT_TRUE(loss.told);
  EXPECT_EQ(committed_.end(kSafe), Offset(0));
  EXPECT_EQ(journal_.acknowledgedCount(), 0u);
  // It goes on from there.
  Writer again(lab_.world(), "again", bootstrap_, "safe", 1, Writer::Options{}, 2, journal_);
  lab_.world().runFor(std::chrono::seconds(3));
  EXPECT_FALSE(judge_.first()) << judge_.first()->invariant << ": " << judge_.first()->text;
  EXPECT_GT(committed_.end(kSafe), Offset(10));
}

TEST_F(LastLeaderTest, whatItLacksWithoutHavingLostAnythingIsABreach) {
  loseTheLastLeadersData();
  ASSERT_TRUE(judge_.first());
  EXPECT_EQ(judge_.first()->invariant, "R2");
  EXPECT_THAT(judge_.first()->text, testing::HasSubstr("which are committed; its log ends at 0"));
  EXPECT_TRUE(losses_.all().empty());
}

TEST_F(LastLeaderTest, killedAloneItHoldsEverything) {
  losses_.lostData(first_, image_->cluster.broker(first_)->epoch);
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().killBroker(second_, std::move(done)); }));
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr == std::vector{first_}; }));
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().killBroker(first_, std::move(done)); }));
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr.empty(); }));
  start(second_);
  start(first_);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr.size() == 2; }));
  EXPECT_EQ(now().leader, first_);
  EXPECT_FALSE(judge_.first()) << judge_.first()->invariant << ": " << judge_.first()->text;
  EXPECT_TRUE(losses_.all().empty());
  EXPECT_EQ(committed_.end(kSafe), written_);
}

TEST_F(LastLeaderTest, whoLearnsLateOfAnEpochThatIsOverNeedNotHoldWhatALaterOneCommitted) {
  Judge judge;
  CommittedRecords committed(judge, logs_, watch_, losses_, [](const TopicPartition&, Offset, const BatchKey&) {});
  const auto tell = [&](NodeId broker, events::Payload payload) {
    const events::Event event{.payload = std::move(payload)};
    committed.on({.broker = broker, .event = event, .partition = kSafe, .node = nullptr});
  };
  // What lies there was written in epoch 0. The witness has none of it.
  tell(first_, events::BecameLeader{.epoch = LeaderEpoch(6)});
  tell(first_, events::HighWatermarkAdvanced{.from = Offset(0), .to = written_});
  tell(witness_, events::BecameLeader{.epoch = LeaderEpoch(5)});
  EXPECT_FALSE(judge.first()) << judge.first()->text;
  tell(witness_, events::BecameLeader{.epoch = LeaderEpoch(7)});
  ASSERT_TRUE(judge.first());
  EXPECT_EQ(judge.first()->invariant, "R2");
}

}  // namespace
}  // namespace tidemark::sim
