#include "coordinator/transaction_fixture.h"

// InitProducerId, fencing, and what a transaction takes on.

namespace tidemark::coordinator {
namespace {

TEST_F(Transactions, AnIdThatIsNewGetsAProducerIdAndEpochZero) {
  const ProducerAnswer answer = begin("tx");
  EXPECT_EQ(answer.error, ErrorCode::None);
  EXPECT_EQ(answer.producer, (ProducerIdAndEpoch{ProducerId(101), ProducerEpoch(0)}));
  EXPECT_EQ(stateOf("tx"), "Empty");
  EXPECT_EQ(begin("other").producer.id, ProducerId(102));
}

TEST_F(Transactions, AnotherProducerWithTheIdGetsTheNextEpoch) {
  const ProducerIdAndEpoch first = producer("tx");
  const ProducerIdAndEpoch second = producer("tx");
  EXPECT_EQ(second, (ProducerIdAndEpoch{first.id, ProducerEpoch(1)}));
  EXPECT_EQ(add("tx", first, partitionsOf("orders", {0})), ErrorCode::ProducerFenced);
  EXPECT_EQ(end("tx", first, true).error, ErrorCode::ProducerFenced);
  EXPECT_EQ(end("tx", first, true, 0).error, ErrorCode::ProducerFenced);
  EXPECT_EQ(begin("tx", first).error, ErrorCode::ProducerFenced);
  EXPECT_EQ(producerIds_.given, 101) << "an epoch costs no producer id";
}

TEST_F(Transactions, AnIdThatNobodyHasTakesWhateverItsProducerBelievesToBe) {
  // As some clients begin.
  const ProducerIdAndEpoch zero{ProducerId(0), ProducerEpoch(0)};
  const ProducerAnswer answer = begin("tx", zero);
  EXPECT_EQ(answer.error, ErrorCode::None);
  EXPECT_EQ(answer.producer, (ProducerIdAndEpoch{ProducerId(101), ProducerEpoch(0)}));
  EXPECT_EQ(begin("tx", zero).error, ErrorCode::ProducerFenced);
}

TEST_F(Transactions, AProducerThatGoesOnAfterAnErrorGetsTheNextEpochOnce) {
  const ProducerIdAndEpoch first = producer("tx");
  const ProducerAnswer second = begin("tx", first);
  EXPECT_EQ(second.producer, (ProducerIdAndEpoch{first.id, ProducerEpoch(1)}));
  EXPECT_EQ(begin("tx", first).producer, second.producer) << "the answer was lost, the request came again";
  EXPECT_EQ(begin("tx", second.producer).producer.epoch, ProducerEpoch(2));
  EXPECT_EQ(begin("tx", first).error, ErrorCode::ProducerFenced);
}

TEST_F(Transactions, ANewProducerEndsTheRepetitionsOfTheOneBefore) {
  const ProducerIdAndEpoch first = producer("tx");
  begin("tx", first);
  producer("tx");
  EXPECT_EQ(begin("tx", first).error, ErrorCode::ProducerFenced);
}

TEST_F(Transactions, WhatCannotBeIsRefused) {
  EXPECT_EQ(begin("").error, ErrorCode::InvalidRequest);
  EXPECT_EQ(begin("tx", std::nullopt, 0ms).error, ErrorCode::InvalidTransactionTimeout);
  EXPECT_EQ(begin("tx", std::nullopt, config_.maxTimeout + 1ms).error, ErrorCode::InvalidTransactionTimeout);
  const ProducerIdAndEpoch nobody{ProducerId(5), ProducerEpoch(0)};
  EXPECT_EQ(add("tx", nobody, partitionsOf("orders", {0})), ErrorCode::InvalidProducerIdMapping);
  EXPECT_EQ(end("tx", nobody, true).error, ErrorCode::InvalidProducerIdMapping);
  EXPECT_EQ(end("", nobody, true).error, ErrorCode::InvalidRequest);
  producer("tx");
  EXPECT_EQ(add("tx", nobody, partitionsOf("orders", {0})), ErrorCode::InvalidProducerIdMapping);
  EXPECT_EQ(end("tx", nobody, true).error, ErrorCode::InvalidProducerIdMapping);
  EXPECT_EQ(end("tx", nobody, true, 0).error, ErrorCode::InvalidProducerIdMapping);
}

TEST_F(Transactions, TheControllersErrorIsTold) {
  producerIds_.failWith = ErrorCode::CoordinatorLoadInProgress;
  EXPECT_EQ(begin("tx").error, ErrorCode::CoordinatorLoadInProgress);
  EXPECT_EQ(stateOf("tx"), "none");
}

TEST_F(Transactions, ANewProducerAbortsTheOpenTransactionOfTheOldOneAndFencesIt) {
  const ProducerIdAndEpoch old = producer("tx");
  ASSERT_EQ(add("tx", old, partitionsOf("orders", {0, 1})), ErrorCode::None);
  EXPECT_EQ(begin("tx").error, ErrorCode::ConcurrentTransactions);
  EXPECT_EQ(stateOf("tx"), "PrepareAbort");
  ASSERT_EQ(markers_.orders.size(), 1u);
  EXPECT_FALSE(markers_.orders[0].commit);
  EXPECT_EQ(markers_.orders[0].producerEpoch, ProducerEpoch(1)) << "no record of the old producer may follow it";
  EXPECT_EQ(markers_.orders[0].partitions.size(), 2u);
  EXPECT_EQ(begin("tx").error, ErrorCode::ConcurrentTransactions) << "until the markers are written";
  writeMarkers();
  EXPECT_EQ(stateOf("tx"), "CompleteAbort");
  EXPECT_EQ(begin("tx").producer, (ProducerIdAndEpoch{old.id, ProducerEpoch(2)}));
  EXPECT_EQ(end("tx", old, true).error, ErrorCode::ProducerFenced);
  EXPECT_EQ(begin("tx", old).error, ErrorCode::ProducerFenced);
}

TEST_F(Transactions, AFencedProducerOfAnOldClientIsFencedAsWell) {
  serverVersion_ = 0;
  const ProducerIdAndEpoch old = producer("tx");
  ASSERT_EQ(add("tx", old, partitionsOf("orders", {0}), 0), ErrorCode::None);
  EXPECT_EQ(begin("tx").error, ErrorCode::ConcurrentTransactions);
  EXPECT_EQ(markers_.orders.at(0).producerEpoch, ProducerEpoch(1));
  writeMarkers();
  EXPECT_EQ(end("tx", old, false, 0).error, ErrorCode::ProducerFenced);
  EXPECT_EQ(begin("tx").producer.epoch, ProducerEpoch(2));
}

TEST_F(Transactions, ATransactionThatIsOpenForTooLongIsAborted) {
  const ProducerIdAndEpoch late = producer("tx", 15s);
  const ProducerIdAndEpoch patient = producer("patient", 600s);
  ASSERT_EQ(add("tx", late, partitionsOf("orders", {0})), ErrorCode::None);
  ASSERT_EQ(add("patient", patient, partitionsOf("orders", {0})), ErrorCode::None);
  executor_->advance(14s);
  EXPECT_EQ(stateOf("tx"), "Ongoing");
  executor_->advance(config_.abortInterval + 2s);
  EXPECT_EQ(stateOf("tx"), "PrepareAbort");
  EXPECT_EQ(stateOf("patient"), "Ongoing");
  EXPECT_EQ(end("tx", late, true).error, ErrorCode::InvalidTxnState) << "whatever it wants, it is aborted";
  EXPECT_EQ(end("tx", late, false).error, ErrorCode::ConcurrentTransactions);
  writeMarkers();
  EXPECT_EQ(stateOf("tx"), "CompleteAbort");
  EXPECT_EQ(end("tx", late, true).error, ErrorCode::InvalidTxnState);
  EXPECT_EQ(end("tx", late, true, 0).error, ErrorCode::ProducerFenced);
  EXPECT_EQ(add("tx", late, partitionsOf("orders", {0})), ErrorCode::ProducerFenced);
  EXPECT_EQ(verify("tx", late, {"orders", PartitionIndex(0)}), ErrorCode::ProducerFenced);
}

// Its high watermark may lie behind the one that its predecessor told by.
TEST_F(Transactions, ANewCoordinatorDoesNotRefuseWhatTheOneBeforeMayHaveConfirmed) {
  const ProducerIdAndEpoch who = producer("tx");
  const TopicPartition first{"orders", PartitionIndex(0)};
  log_.commitsAtOnce = false;
  addLater("tx", who, {first}, 0);
  failOver();
  EXPECT_EQ(verify("tx", who, first), ErrorCode::ConcurrentTransactions);
  commitAll();
  EXPECT_EQ(verify("tx", who, first), ErrorCode::None);
}

TEST_F(Transactions, PartitionsAreVerifiedByWhatIsCommitted) {
  const ProducerIdAndEpoch who = producer("tx");
  const TopicPartition first{"orders", PartitionIndex(0)};
  EXPECT_EQ(verify("tx", who, first), ErrorCode::TransactionAbortable);
  log_.commitsAtOnce = false;
  const auto adding = addLater("tx", who, {first}, 0);
  EXPECT_FALSE(adding.has());
  EXPECT_EQ(verify("tx", who, first), ErrorCode::ConcurrentTransactions) << "the record may still be lost, or count";
  EXPECT_EQ(add("tx", who, partitionsOf("orders", {1})), ErrorCode::ConcurrentTransactions);
  commitAll();
  EXPECT_EQ(adding.get().at(0).second, ErrorCode::None);
  EXPECT_EQ(verify("tx", who, first), ErrorCode::None);
  EXPECT_EQ(verify("tx", {who.id, ProducerEpoch(7)}, first), ErrorCode::ProducerFenced);
  EXPECT_EQ(verify("tx", {ProducerId(7), who.epoch}, first), ErrorCode::InvalidProducerIdMapping);
  EXPECT_EQ(verify("nobody", who, first), ErrorCode::InvalidProducerIdMapping);
  const size_t appends = log_.appends;
  EXPECT_EQ(add("tx", who, {first}), ErrorCode::None);
  EXPECT_EQ(log_.appends, appends) << "what is in the transaction is not written again";
}

TEST_F(Transactions, TwoAtATimeOfOneIdAreToldToComeAgain) {
  log_.commitsAtOnce = false;
  const auto first = beginLater("tx");
  EXPECT_FALSE(first.has());
  EXPECT_EQ(begin("tx").error, ErrorCode::ConcurrentTransactions);
  EXPECT_EQ(end("tx", {ProducerId(101), ProducerEpoch(0)}, true).error, ErrorCode::ConcurrentTransactions);
  commitAll();
  EXPECT_EQ(first.get().error, ErrorCode::None);
}

TEST_F(Transactions, WhoLeadsNothingSaysSo) {
  resign();
  EXPECT_EQ(begin("tx").error, ErrorCode::NotCoordinator);
  EXPECT_EQ(add("tx", {}, partitionsOf("orders", {0})), ErrorCode::NotCoordinator);
  coordinator_->setPartitionCount(0);
  EXPECT_EQ(begin("tx").error, ErrorCode::CoordinatorNotAvailable);
}

TEST_F(Transactions, WhatCannotBeWrittenIsToldAndChangesNothing) {
  log_.failWith = ErrorCode::NotEnoughReplicas;
  EXPECT_EQ(begin("tx").error, ErrorCode::CoordinatorNotAvailable);
  EXPECT_EQ(stateOf("tx"), "none");
  log_.failWith.reset();
  const ProducerIdAndEpoch who = producer("tx");
  log_.failWith = ErrorCode::NotLeaderOrFollower;
  EXPECT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::NotCoordinator);
  EXPECT_EQ(stateOf("tx"), "Empty");
  log_.failWith.reset();
  EXPECT_EQ(add("tx", who, partitionsOf("orders", {0})), ErrorCode::None);
}

}  // namespace
}  // namespace tidemark::coordinator
