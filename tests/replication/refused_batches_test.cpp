#include "replication/refused_batches.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"

namespace tidemark::replication {
namespace {

using std::chrono::seconds;

const TopicPartition kPartition{"orders", PartitionIndex(0)};
const TopicPartition kOther{"orders", PartitionIndex(1)};

class RefusedBatchesTest : public testing::Test {
 protected:
  static ByteVector batch(int32_t sequence, int16_t epoch = 0, int64_t producer = 7) {
    return log::makeBatch(
        {.producer = ProducerId(producer), .producerEpoch = ProducerEpoch(epoch), .baseSequence = sequence});
  }
  std::optional<ErrorCode> before(int32_t sequence, int16_t epoch = 0, int64_t producer = 7) {
    return refused_.before(kPartition, batch(sequence, epoch, producer));
  }
  void refuse(int32_t sequence, ErrorCode why = ErrorCode::NotEnoughReplicas, int16_t epoch = 0) {
    refused_.refused(kPartition, batch(sequence, epoch), why);
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("broker-1");
  RefusedBatches refused_{process_->clock()};
};

TEST_F(RefusedBatchesTest, ALaterBatchOfTheProducerIsToldUntilOneWasAppended) {
  EXPECT_FALSE(before(5));
  refuse(3);
  EXPECT_EQ(before(5), ErrorCode::NotEnoughReplicas);
  EXPECT_FALSE(before(3)) << "itself";
  EXPECT_FALSE(before(1)) << "an earlier one";
  EXPECT_FALSE(before(5, 1)) << "another epoch";
  EXPECT_FALSE(before(5, 0, 8)) << "another producer";
  EXPECT_FALSE(refused_.before(kOther, batch(5))) << "another partition";
  refused_.appended(kPartition, batch(3));
  EXPECT_FALSE(before(5));
  EXPECT_EQ(refused_.size(), 0u);
}

TEST_F(RefusedBatchesTest, TheFirstThatIsMissingCounts) {
  refuse(3);
  refuse(5, ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(before(5), ErrorCode::NotEnoughReplicas);
  refuse(1, ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(before(3), ErrorCode::NotLeaderOrFollower);
  refuse(9, ErrorCode::NotEnoughReplicas, 1);
  EXPECT_FALSE(before(5)) << "its epoch is over";
  EXPECT_EQ(refused_.size(), 1u);
}

TEST_F(RefusedBatchesTest, SequencesWrap) {
  refuse(INT32_MAX - 1);
  EXPECT_EQ(before(0), ErrorCode::NotEnoughReplicas);
  EXPECT_FALSE(before(INT32_MAX - 2));
}

TEST_F(RefusedBatchesTest, WhatIsNotSentAgainOrHasNoSequenceIsNotNoted) {
  refuse(3, ErrorCode::OutOfOrderSequenceNumber);
  refuse(3, ErrorCode::MessageTooLarge);
  refused_.refused(kPartition, log::makeBatch({}), ErrorCode::NotLeaderOrFollower);
  refused_.refused(kPartition, ByteView(), ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(refused_.size(), 0u);
}

TEST_F(RefusedBatchesTest, AfterAWhileItIsForgotten) {
  refuse(3);
  world_.runFor(seconds(31));
  EXPECT_FALSE(before(5));
  for (int32_t producer = 0; producer < 20'000; ++producer)
    refused_.refused(kPartition, batch(0, 0, producer), ErrorCode::NotEnoughReplicas);
  EXPECT_LE(refused_.size(), 10'000u) << "bounded";
  world_.runFor(seconds(31));
  refuse(3);
  EXPECT_EQ(refused_.size(), 1u) << "and what is old makes room";
}

}  // namespace
}  // namespace tidemark::replication
