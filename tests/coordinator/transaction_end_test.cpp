#include "coordinator/transaction_fixture.h"

// EndTxn, markers, and coordinators that take over in the middle of it.

namespace tidemark::coordinator {
namespace {

constexpr ProducerEpoch kLastUsable{INT16_MAX - 1};

TEST_F(Transactions, ACommitIsAnsweredWhenItIsDecidedAndCompleteWhenAllMarkersAreWritten) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0, 1})), ErrorCode::None);
  ASSERT_EQ(add("tx", who, partitionsOf("bills", {3})), ErrorCode::None);
  const ProducerAnswer ended = end("tx", who, true);
  EXPECT_EQ(ended.error, ErrorCode::None);
  EXPECT_EQ(ended.producer, (ProducerIdAndEpoch{who.id, ProducerEpoch(1)})) << "the epoch rises with each end";
  EXPECT_EQ(stateOf("tx"), "PrepareCommit");
  ASSERT_EQ(markers_.orders.size(), 1u);
  const MarkerOrder order = markers_.orders[0];
  EXPECT_TRUE(order.commit);
  EXPECT_EQ(order.producerEpoch, ProducerEpoch(1));
  EXPECT_EQ(order.coordinatorEpoch, epoch_);
  EXPECT_EQ(order.transactionVersion, 2);
  EXPECT_THAT(order.partitions, testing::ElementsAre(TopicPartition{"bills", PartitionIndex(3)},
                                                     TopicPartition{"orders", PartitionIndex(0)},
                                                     TopicPartition{"orders", PartitionIndex(1)}));
  EXPECT_EQ(add("tx", ended.producer, partitionsOf("orders", {0})), ErrorCode::ConcurrentTransactions);
  coordinator_->markersWritten(order, {order.partitions[0], order.partitions[2]});
  executor_->drain();
  EXPECT_EQ(stateOf("tx"), "PrepareCommit");
  EXPECT_THAT(look("tx")->pendingMarkers, testing::ElementsAre(order.partitions[1]));
  coordinator_->markersWritten(order, {order.partitions[1]});
  executor_->drain();
  EXPECT_EQ(stateOf("tx"), "CompleteCommit");
  EXPECT_TRUE(look("tx")->metadata.partitions.empty());
  EXPECT_EQ(add("tx", ended.producer, partitionsOf("orders", {0})), ErrorCode::None);
}

TEST_F(Transactions, OldClientsKeepTheirEpoch) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0}), 0), ErrorCode::None);
  ASSERT_EQ(end("tx", who, false, 0).error, ErrorCode::None);
  EXPECT_EQ(markers_.orders.at(0).producerEpoch, who.epoch);
  EXPECT_EQ(markers_.orders.at(0).transactionVersion, 0);
  EXPECT_EQ(end("tx", who, false, 0).error, ErrorCode::ConcurrentTransactions);
  writeMarkers();
  EXPECT_EQ(stateOf("tx"), "CompleteAbort");
  EXPECT_EQ(end("tx", who, false, 0).error, ErrorCode::None) << "a repetition";
  EXPECT_EQ(end("tx", who, true, 0).error, ErrorCode::InvalidTxnState);
  EXPECT_EQ(look("tx")->metadata.producerEpoch, who.epoch);
  EXPECT_EQ(end("empty", producer("empty"), false, 0).error, ErrorCode::InvalidTxnState);
}

TEST_F(Transactions, ARepeatedEndGetsTheAnswerOfTheFirst) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  const ProducerAnswer first = end("tx", who, true);
  EXPECT_EQ(end("tx", who, true).error, ErrorCode::ConcurrentTransactions);
  EXPECT_EQ(end("tx", who, false).error, ErrorCode::InvalidTxnState) << "it is being committed";
  EXPECT_EQ(end("tx", first.producer, true).error, ErrorCode::ProducerFenced) << "an epoch that is in no transaction";
  writeMarkers();
  const ProducerAnswer again = end("tx", who, true);
  EXPECT_EQ(again.error, ErrorCode::None);
  EXPECT_EQ(again.producer, first.producer);
  EXPECT_EQ(end("tx", who, false).error, ErrorCode::InvalidTxnState) << "it was committed";
  EXPECT_EQ(stateOf("tx"), "CompleteCommit");
  EXPECT_TRUE(markers_.orders.empty());
}

TEST_F(Transactions, AnAbortOfNothingRaisesTheEpochAndACommitOfNothingIsRefused) {
  const ProducerIdAndEpoch who = producer("tx");
  EXPECT_EQ(end("tx", who, true).error, ErrorCode::InvalidTxnState);
  const ProducerAnswer aborted = end("tx", who, false);
  EXPECT_EQ(aborted.producer.epoch, ProducerEpoch(1));
  EXPECT_EQ(stateOf("tx"), "CompleteAbort") << "no partition needs a marker";
  const ProducerIdAndEpoch next = transaction("tx", aborted.producer, true);
  EXPECT_EQ(end("tx", next, false).producer.epoch, ProducerEpoch(3));
}

TEST_F(Transactions, ExhaustedEpochsBringANewProducerId) {
  const ProducerIdAndEpoch first = producer("tx");
  // As many transactions as a producer id has epochs, in its last record.
  ProducerIdAndEpoch who = first;
  while (who.epoch < kLastUsable) who = end("tx", who, false).producer;
  ASSERT_EQ(who.epoch, kLastUsable);
  EXPECT_EQ(producerIds_.given, 101);
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  const ProducerAnswer ended = end("tx", who, true);
  EXPECT_EQ(ended.producer, (ProducerIdAndEpoch{ProducerId(102), ProducerEpoch(0)}));
  EXPECT_EQ(markers_.orders.at(0).producerId, first.id) << "the marker is of the old producer";
  EXPECT_EQ(markers_.orders.at(0).producerEpoch, ProducerEpoch(INT16_MAX));
  EXPECT_EQ(add("tx", ended.producer, partitionsOf("orders", {0})), ErrorCode::ConcurrentTransactions);
  writeMarkers();
  const ProducerAnswer again = end("tx", who, true);
  EXPECT_EQ(again.error, ErrorCode::None) << "a repetition over the change of the producer id";
  EXPECT_EQ(again.producer, ended.producer);
  EXPECT_EQ(add("tx", ended.producer, partitionsOf("orders", {0})), ErrorCode::None);
  EXPECT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::InvalidProducerIdMapping);
}

TEST_F(Transactions, InitProducerIdOfExhaustedEpochsBringsANewProducerId) {
  ProducerIdAndEpoch who = producer("tx");
  while (who.epoch < kLastUsable) who = begin("tx").producer;
  const ProducerIdAndEpoch fresh{ProducerId(102), ProducerEpoch(0)};
  EXPECT_EQ(begin("tx", who).producer, fresh) << "it goes on after an error";
  EXPECT_EQ(begin("tx", who).producer, fresh) << "a repetition over the change of the producer id";
  producer("tx");
  EXPECT_EQ(begin("tx", who).error, ErrorCode::ProducerFenced);
}

// ---- coordinators that take over

TEST_F(Transactions, NoMarkerIsSentBeforeTheEndIsCommitted) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  log_.commitsAtOnce = false;
  const auto ended = endLater("tx", who, true);
  EXPECT_FALSE(ended.has());
  EXPECT_TRUE(markers_.orders.empty());
  failOver(/*loseUncommitted=*/true);
  EXPECT_EQ(ended.get().error, ErrorCode::NotCoordinator);
  EXPECT_EQ(stateOf("tx"), "Ongoing") << "nobody has heard of that end";
  EXPECT_TRUE(markers_.orders.empty());
  log_.commitsAtOnce = true;
  EXPECT_EQ(end("tx", who, false).error, ErrorCode::None);
}

TEST_F(Transactions, ALateCommitIsToldAsAnErrorAndSendsItsMarkersAllTheSame) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  log_.commitsAtOnce = false;
  const auto ended = endLater("tx", who, true);
  executor_->advance(config_.commitTimeout * 3);
  EXPECT_EQ(ended.get().error, ErrorCode::CoordinatorNotAvailable);
  EXPECT_TRUE(markers_.orders.empty());
  commitAll();
  EXPECT_EQ(markers_.orders.size(), 1u);
}

TEST_F(Transactions, ANewCoordinatorSendsTheMarkersAgainInItsOwnEpoch) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0, 1})), ErrorCode::None);
  ASSERT_EQ(end("tx", who, true).error, ErrorCode::None);
  const MarkerOrder before = markers_.orders.at(0);
  failOver();
  ASSERT_EQ(markers_.orders.size(), 1u);
  EXPECT_GT(markers_.orders[0].coordinatorEpoch, before.coordinatorEpoch);
  EXPECT_EQ(markers_.orders[0].partitions, before.partitions);
  EXPECT_EQ(markers_.orders[0].producerEpoch, before.producerEpoch);
  writeMarkers();
  EXPECT_EQ(stateOf("tx"), "CompleteCommit");
  EXPECT_EQ(end("tx", who, true).producer, (ProducerIdAndEpoch{who.id, ProducerEpoch(1)})) << "asked of the new one";
}

TEST_F(Transactions, ANewCoordinatorWaitsUntilTheEndItReadIsCommitted) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  log_.commitsAtOnce = false;
  endLater("tx", who, true);
  failOver();
  EXPECT_EQ(stateOf("tx"), "PrepareCommit");
  EXPECT_TRUE(markers_.orders.empty());
  EXPECT_EQ(begin("tx").error, ErrorCode::ConcurrentTransactions);
  commitAll();
  EXPECT_EQ(markers_.orders.size(), 1u);
}

TEST_F(Transactions, OpenTransactionsAndEpochsOutliveTheirCoordinator) {
  const ProducerIdAndEpoch old = producer("fenced");
  const ProducerIdAndEpoch now = producer("fenced");
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  failOver();
  EXPECT_EQ(add("fenced", old, partitionsOf("orders", {0})), ErrorCode::ProducerFenced);
  EXPECT_EQ(add("fenced", now, partitionsOf("orders", {0})), ErrorCode::None);
  EXPECT_EQ(verify("tx", who, {"orders", PartitionIndex(0)}), ErrorCode::None);
  EXPECT_EQ(end("tx", who, true).error, ErrorCode::None);
}

TEST_F(Transactions, MarkersOfAnEarlierTransactionEndNoLaterOne) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  ASSERT_EQ(end("tx", who, true).error, ErrorCode::None);
  const MarkerOrder first = markers_.orders.at(0);
  writeMarkers();
  const ProducerIdAndEpoch next{who.id, ProducerEpoch(1)};
  ASSERT_EQ(add("tx", next, partitionsOf("orders", {0})), ErrorCode::None);
  ASSERT_EQ(end("tx", next, true).error, ErrorCode::None);
  coordinator_->markersWritten(first, first.partitions);
  executor_->drain();
  EXPECT_EQ(stateOf("tx"), "PrepareCommit");
}

TEST_F(Transactions, ACompletionThatCannotBeWrittenIsTriedAgain) {
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  ASSERT_EQ(end("tx", who, true).error, ErrorCode::None);
  log_.failWith = ErrorCode::NotEnoughReplicas;
  writeMarkers();
  EXPECT_EQ(stateOf("tx"), "PrepareCommit");
  executor_->advance(1s);
  EXPECT_EQ(stateOf("tx"), "PrepareCommit");
  log_.failWith.reset();
  executor_->advance(1s);
  EXPECT_EQ(stateOf("tx"), "CompleteCommit");
}

TEST_F(Transactions, TimedOutOnesAreAbortedByTheNewCoordinatorAsWell) {
  const ProducerIdAndEpoch who = producer("tx", 15s);
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  failOver();
  executor_->advance(40s);
  EXPECT_EQ(stateOf("tx"), "PrepareAbort");
}

TEST_F(Transactions, ThoseOfACoordinatorWhoseClockWasAheadTimeOutAsWell) {
  const ProducerIdAndEpoch who = producer("tx", 15s);
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
  clock_.jump(-10min);
  failOver();
  executor_->advance(10s);
  EXPECT_EQ(stateOf("tx"), "Ongoing");
  executor_->advance(30s);
  EXPECT_EQ(stateOf("tx"), "PrepareAbort");
}

}  // namespace
}  // namespace tidemark::coordinator
