#include "client/record_accumulator.h"

#include <gtest/gtest.h>

#include "purgatory/manual_executor.h"

namespace tidemark::client {
namespace {

using namespace std::chrono_literals;

const TopicPartition kWhere{"t", PartitionIndex(0)};
constexpr NodeId kLeader{1};

/// Each record is a batch, unless the test makes them larger.
class RecordAccumulatorTest : public testing::Test {
 protected:
  void append(int records) {
    for (int i = 0; i < records; ++i) accumulator.append(kWhere, {.topic = "t", .value = ByteVector(100)}, {});
  }
  ProducerLane& lane() { return accumulator.lanes().at(kWhere); }
  ProducerBatchPtr next(bool mayNumber = true) { return accumulator.next(lane(), kLeader, mayNumber).batch; }
  ProducerBatchPtr send() {
    ProducerBatchPtr batch = next();
    if (!batch) return nullptr;
    accumulator.number(lane(), *batch, ProducerId(7), ProducerEpoch(0));
    batch->state = ProducerBatch::State::Sent;
    batch->sentTo = kLeader;
    ++batch->attempts;
    return batch;
  }

  ProducerOptions options{.batchBytes = 1, .maxInFlight = 2, .deliveryTimeout = 10s};
  ManualClock clock;
  RecordAccumulator accumulator{options, clock};
};

TEST_F(RecordAccumulatorTest, BatchesGoInOrderWithConsecutiveNumbersAndNoMoreThanMayBeOnTheirWay) {
  append(3);
  EXPECT_EQ(send()->sequence, 0);
  EXPECT_EQ(send()->sequence, 1);
  EXPECT_EQ(next(), nullptr);
  lane().batches.pop_front();
  EXPECT_EQ(send()->sequence, 2);
}

TEST_F(RecordAccumulatorTest, WhatIsRepeatedGoesAloneAndKeepsItsNumber) {
  append(3);
  const ProducerBatchPtr first = send();
  const ProducerBatchPtr second = send();
  first->state = ProducerBatch::State::Retry;
  EXPECT_EQ(next(), nullptr) << "a younger one is on its way";
  second->state = ProducerBatch::State::Retry;
  EXPECT_EQ(send(), first);
  EXPECT_EQ(first->sequence, 0);
  EXPECT_EQ(next(), nullptr) << "the repeated one is on its way";
}

TEST_F(RecordAccumulatorTest, NothingGoesToANewLeaderBeforeTheOldOneHasAnswered) {
  append(2);
  send();
  EXPECT_EQ(accumulator.next(lane(), NodeId(2), true).batch, nullptr);
}

TEST_F(RecordAccumulatorTest, WithoutNumbersToGiveOnlyWhatHasOneGoes) {
  append(1);
  const ProducerBatchPtr numbered = send();
  numbered->state = ProducerBatch::State::Retry;
  append(1);
  EXPECT_EQ(next(false), numbered);
  lane().batches.clear();
  EXPECT_EQ(next(false), nullptr);
  EXPECT_NE(next(true), nullptr);
}

TEST_F(RecordAccumulatorTest, AnOpenBatchGoesOnceItHasLingeredOrIsFlushed) {
  options.batchBytes = 10'000;
  options.linger = 5ms;
  append(2);
  const RecordAccumulator::Next waiting = accumulator.next(lane(), kLeader, true);
  EXPECT_EQ(waiting.batch, nullptr);
  EXPECT_EQ(waiting.wakeAt, clock.monotonic() + 5ms);
  accumulator.endLinger();
  const ProducerBatchPtr flushed = next();
  ASSERT_NE(flushed, nullptr);
  EXPECT_EQ(flushed->records.size(), 2u);
}

TEST_F(RecordAccumulatorTest, WhatWasNotSentInTimeIsGivenBackAndWhatIsOnItsWayIsNot) {
  append(2);
  const ProducerBatchPtr sent = send();
  EXPECT_EQ(accumulator.nextDeadline(), clock.monotonic() + 10s);
  clock.set(clock.monotonic() + 10s);
  const std::vector<ProducerSending> expired = accumulator.expired();
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_NE(expired[0].batch, sent);
}

}  // namespace
}  // namespace tidemark::client
