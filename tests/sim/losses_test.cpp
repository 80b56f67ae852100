#include "sim/losses.h"

#include <gtest/gtest.h>

// What may be lost without a breach, and what may not.

namespace tidemark::sim {
namespace {

const TopicPartition kFirst{"orders", PartitionIndex(0)};
const TopicPartition kOther{"orders", PartitionIndex(1)};

BatchKey batch(int64_t last, int32_t epoch, uint32_t crc) {
  return {.last = Offset(last), .epoch = LeaderEpoch(epoch), .crc = crc};
}

Losses::Loss lossOf(int64_t from, int64_t to, int32_t epoch) {
  return {.partition = kFirst,
          .leader = NodeId(3),
          .epoch = LeaderEpoch(epoch),
          .from = Offset(from),
          .to = Offset(to),
          .batches = {{Offset(from), batch(to - 1, epoch - 1, 77)}}};
}

class LossesTest : public testing::Test {
 protected:
  /// An image with broker 3 registered under that epoch, in the ISR of orders-0 alone.
  metadata::Image imageOf(int64_t offset, int64_t registration,
                          metadata::LeaderRecoveryState recovery = metadata::LeaderRecoveryState::Recovered) {
    metadata::Image image;
    image.provenance.lastContainedOffset = Offset(offset);
    auto broker = std::make_shared<metadata::BrokerRegistration>();
    broker->id = NodeId(3);
    broker->epoch = BrokerEpoch(registration);
    image.cluster.brokers.set(NodeId(3), broker);
    auto topic = std::make_shared<metadata::TopicImage>();
    topic->name = "orders";
    for (int i : {0, 1}) {
      auto partition = std::make_shared<metadata::PartitionRegistration>();
      partition->isr = {NodeId(i == 0 ? 3 : 1)};
      partition->leaderRecoveryState = recovery;
      topic->partitions.set(PartitionIndex(i), partition);
    }
    image.topics.byName.set("orders", topic);
    return image;
  }

  std::vector<std::string> heard_;
  Losses losses_{[this](const Losses::Loss& loss) { heard_.push_back(textOf(loss)); }};
};

TEST_F(LossesTest, OnlyWhoLostDataMayLackRecordsUntilItIsInTheIsrAgain) {
  EXPECT_FALSE(losses_.mayLack(NodeId(3), kFirst));
  losses_.lostData(NodeId(3), BrokerEpoch(10));
  EXPECT_TRUE(losses_.mayLack(NodeId(3), kFirst));
  EXPECT_FALSE(losses_.mayLack(NodeId(2), kFirst));
  // It is still a member by its registration of before.
  losses_.look(imageOf(100, 10));
  EXPECT_TRUE(losses_.mayLack(NodeId(3), kFirst));
  // Elected uncleanly it is a member by decree.
  losses_.look(imageOf(110, 110, metadata::LeaderRecoveryState::Recovering));
  EXPECT_TRUE(losses_.mayLack(NodeId(3), kFirst));
  losses_.look(imageOf(120, 110));
  EXPECT_FALSE(losses_.mayLack(NodeId(3), kFirst));
  EXPECT_TRUE(losses_.mayLack(NodeId(3), kOther)) << "it is in the ISR of the other one alone";
  losses_.lostData(NodeId(3), BrokerEpoch(110));
  EXPECT_TRUE(losses_.mayLack(NodeId(3), kFirst));
}

TEST_F(LossesTest, ALossCoversItsOffsetsAndSeveralTogetherTheirs) {
  losses_.add(lossOf(6, 871, 4));
  EXPECT_EQ(heard_, std::vector<std::string>{"offsets 6 to 870 of orders-0 (broker 3, epoch 4)"});
  EXPECT_TRUE(losses_.covers(kFirst, Offset(6), Offset(871)));
  EXPECT_TRUE(losses_.covers(kFirst, Offset(6), Offset(6)));
  EXPECT_FALSE(losses_.covers(kFirst, Offset(5), Offset(871)));
  EXPECT_FALSE(losses_.covers(kFirst, Offset(6), Offset(872)));
  EXPECT_FALSE(losses_.covers(kOther, Offset(6), Offset(871)));
  losses_.add(lossOf(2, 8, 6));
  EXPECT_TRUE(losses_.covers(kFirst, Offset(3), Offset(871)));
}

TEST_F(LossesTest, WhoStillHoldsWhatIsLostIsKnown) {
  losses_.add(lossOf(6, 871, 4));
  const Batches old{{Offset(0), batch(5, 0, 1)}, {Offset(6), batch(870, 3, 77)}};
  const Batches anew{{Offset(0), batch(5, 0, 1)}, {Offset(6), batch(9, 4, 5)}};
  EXPECT_TRUE(losses_.holdsLost(kFirst, old, Offset(871)));
  EXPECT_FALSE(losses_.holdsLost(kFirst, old, Offset(6))) << "below that end it holds what all have";
  EXPECT_FALSE(losses_.holdsLost(kFirst, anew, Offset(10)));
}

TEST_F(LossesTest, ALossIsToldByTheLeaderOfItsEpochFromItsFirstOffsetOn) {
  losses_.add(lossOf(6, 871, 4));
  losses_.told(kFirst, LeaderEpoch(3), Offset(6));
  losses_.told(kFirst, LeaderEpoch(4), Offset(7));
  EXPECT_FALSE(losses_.all().front().told);
  losses_.told(kFirst, LeaderEpoch(4), Offset(6));
  EXPECT_TRUE(losses_.all().front().told);
}

}  // namespace
}  // namespace tidemark::sim
