// What the checkers of groups and transactions are told, and what they make of it.
#include <gtest/gtest.h>

#include <string>

#include "sim/group_history.h"
#include "sim/transaction_history.h"

namespace tidemark::sim {
namespace {

const TopicPartition kP{"p", PartitionIndex(0)};
const TopicPartition kQ{"q", PartitionIndex(0)};

class GroupHistoryTest : public testing::Test {
 protected:
  std::string breach() const { return judge_.first() ? judge_.first()->invariant : "none"; }

  Judge judge_;
  GroupHistory group_{judge_, "g"};
};

TEST_F(GroupHistoryTest, APartitionBelongsToOneMemberOfAGeneration) {
  group_.assigned("a", 1, {kP});
  group_.assigned("b", 1, {kQ});
  group_.assigned("b", 2, {kP});
  EXPECT_EQ(breach(), "none");
  group_.assigned("a", 2, {kP});
  EXPECT_EQ(breach(), "G1");
}

TEST_F(GroupHistoryTest, EpochsInWhichTwoMembersOwnAPartitionDoNotMeet) {
  group_.owns("a", 3, {kP});
  group_.owns("a", 5, {kP});
  group_.owns("a", 5, {});
  group_.owns("b", 6, {kP});
  EXPECT_EQ(breach(), "none");
  group_.owns("c", 5, {kP});
  EXPECT_EQ(breach(), "G1");
}

TEST_F(GroupHistoryTest, EpochsRiseUntilAMemberIsFenced) {
  group_.owns("a", 3, {kP});
  group_.owns("a", 0, {});
  group_.owns("a", 2, {});
  EXPECT_EQ(breach(), "none");
  group_.owns("a", 1, {});
  EXPECT_EQ(breach(), "G3");
}

TEST_F(GroupHistoryTest, WhoHasLostAPartitionCommitsNoMore) {
  group_.assigned("a", 1, {kP});
  EXPECT_TRUE(group_.isOwner("a", 1, kP));
  group_.assigned("b", 2, {kP});
  EXPECT_FALSE(group_.isOwner("a", 1, kP));
  group_.committed("a", kP, Offset(7), false, true);
  EXPECT_EQ(breach(), "G3");
}

TEST_F(GroupHistoryTest, TheNextOwnerBeginsWhereTheLastOneCommitted) {
  group_.committed("a", kP, Offset(7), true, true);
  group_.committed("a", kP, Offset(9), true, false);
  EXPECT_EQ(group_.offset(kP), Offset(7));
  group_.begins("b", kP, Offset(8), group_.offset(kP));
  EXPECT_EQ(breach(), "none");
  group_.begins("b", kP, Offset(6), group_.offset(kP));
  EXPECT_EQ(breach(), "G4");
}

TEST_F(GroupHistoryTest, WhatWasCommittedIsThereInTheEnd) {
  group_.committed("a", kP, Offset(7), true, true);
  group_.atRest(group_.offsets(), {{kP, Offset(7)}});
  const GroupHistory::Offsets before = group_.offsets();
  group_.committed("a", kP, Offset(8), true, true);
  group_.atRest(before, {{kP, Offset(7)}});
  EXPECT_EQ(breach(), "none");
  group_.atRest(before, {{kP, Offset(6)}});
  EXPECT_EQ(breach(), "G4");
}

TEST_F(GroupHistoryTest, OffsetsOfAGroupThatHadMembersAllTheTimeDoNotGo) {
  group_.committed("a", kP, Offset(7), true, true);
  group_.atRest(group_.offsets(), {});
  EXPECT_EQ(breach(), "G5");
}

TEST_F(GroupHistoryTest, OffsetsOfAGroupThatHadNoMembersMayGo) {
  group_.committed("a", kP, Offset(7), true, true);
  const GroupHistory::Offsets before = group_.offsets();
  group_.emptied();
  group_.atRest(before, {});
  group_.begins("b", kP, Offset(0), group_.offset(kP));
  EXPECT_EQ(breach(), "none");
}

class TransactionHistoryTest : public testing::Test {
 protected:
  static constexpr ProducerId kProducer{7};

  std::string breach() const { return judge_.first() ? judge_.first()->invariant : "none"; }
  /// A transaction of one record on each of two partitions, which ends as it is told.
  TransactionHistory::Number write(bool commit, bool answered = true) {
    history_.became("id", "process", kProducer, ProducerEpoch(epoch_));
    const auto number = history_.began("id", "process", kProducer, ProducerEpoch(epoch_));
    for (const TopicPartition& partition : {kP, kQ}) {
      held_[partition].records[Offset(next_)] = {history_.valueFor(number), std::nullopt};
      history_.wrote(number, partition, Offset(next_));
    }
    history_.asked(number, commit);
    if (answered) history_.answered(number, true);
    ++next_;
    ++epoch_;
    return number;
  }
  /// What the logs say became of the last one.
  void ends(const TopicPartition& partition, bool committed) {
    LoggedPartition& held = held_[partition];
    held.records[Offset(next_ - 1)].transaction = held.transactions.size();
    held.transactions.push_back({.producer = kProducer,
                                 .epoch = ProducerEpoch(static_cast<int16_t>(epoch_ - 1)),
                                 .first = Offset(next_ - 1),
                                 .marker = Offset(next_),
                                 .markerEpoch = ProducerEpoch(epoch_),
                                 .committed = committed});
    held.markers[{kProducer, ProducerEpoch(epoch_)}] = committed;
    ++next_;
  }
  void ends(bool committed) {
    ends(kP, committed);
    --next_;
    ends(kQ, committed);
  }

  Judge judge_;
  Tally tally_;
  TransactionHistory history_{judge_, tally_, 2};
  std::map<TopicPartition, LoggedPartition> held_;
  int64_t next_ = 0;
  int16_t epoch_ = 0;
};

TEST_F(TransactionHistoryTest, HoldsIfEachIsWholeAndAsItWasTold) {
  write(true);
  ends(true);
  write(false);
  ends(false);
  write(true, false);
  ends(false);
  history_.judgeBy(held_);
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
}

TEST_F(TransactionHistoryTest, MissesThatACommitWasAcknowledgedWhichIsNone) {
  write(true);
  ends(false);
  history_.judgeBy(held_);
  EXPECT_EQ(breach(), "T3");
}

TEST_F(TransactionHistoryTest, MissesHalfATransaction) {
  write(true, false);
  ends(kP, true);
  --next_;
  ends(kQ, false);
  history_.judgeBy(held_);
  EXPECT_EQ(breach(), "T3");
}

TEST_F(TransactionHistoryTest, MissesARecordOfACommittedOne) {
  write(true);
  ends(true);
  held_[kQ].records.clear();
  history_.judgeBy(held_);
  EXPECT_EQ(breach(), "T3");
}

TEST_F(TransactionHistoryTest, MissesAnEpochThatIsGivenTwice) {
  write(true);
  --epoch_;
  write(true);
  EXPECT_EQ(breach(), "T7");
}

TEST_F(TransactionHistoryTest, DoesNotAskOfACoordinatorWhatItsLostRecordsSaid) {
  history_.became("id", "a", kProducer, ProducerEpoch(4));
  history_.lost();
  history_.became("id", "a", kProducer, ProducerEpoch(4));
  EXPECT_EQ(breach(), "none");
}

/// Two transactions of one epoch, one to each partition: the first is committed, the second aborted.
std::string judgedOfOneEpoch(int16_t version) {
  Judge judge;
  Tally tally;
  TransactionHistory history(judge, tally, version);
  constexpr ProducerId kProducer{7};
  constexpr ProducerEpoch kEpoch{3};
  std::map<TopicPartition, LoggedPartition> held;
  history.became("id", "process", kProducer, kEpoch);
  for (const bool commit : {true, false}) {
    const auto number = history.began("id", "process", kProducer, kEpoch);
    LoggedPartition& on = held[commit ? kP : kQ];
    on.records[Offset(0)] = {history.valueFor(number), 0};
    on.transactions = {{.producer = kProducer,
                        .epoch = kEpoch,
                        .first = Offset(0),
                        .marker = Offset(1),
                        .markerEpoch = kEpoch,
                        .committed = commit}};
    on.markers[{kProducer, kEpoch}] = commit;
    history.asked(number, commit);
    history.answered(number, true);
  }
  history.judgeBy(held);
  return judge.first() ? judge.first()->invariant : "none";
}

TEST_F(TransactionHistoryTest, BelowVersionTwoTransactionsOfOneEpochMayEndInTwoWays) {
  EXPECT_EQ(judgedOfOneEpoch(0), "none");
  EXPECT_EQ(judgedOfOneEpoch(1), "none");
  EXPECT_EQ(judgedOfOneEpoch(2), "T3");
}

TEST_F(TransactionHistoryTest, MissesTheMarkerBetweenTwoTransactions) {
  write(true);
  ends(true);
  const auto number = history_.began("id", "process", kProducer, ProducerEpoch(0));
  held_[kP].records[Offset(1)] = {history_.valueFor(number), 0};
  history_.asked(number, true);
  history_.answered(number, true);
  history_.judgeBy(held_);
  EXPECT_EQ(breach(), "T5");
}

TEST_F(TransactionHistoryTest, MissesACommitOfOneWhoWasFencedBefore) {
  history_.became("id", "a", kProducer, ProducerEpoch(1));
  const auto number = history_.began("id", "a", kProducer, ProducerEpoch(1));
  history_.became("id", "b", kProducer, ProducerEpoch(2));
  history_.asked(number, true);
  history_.answered(number, true);
  EXPECT_EQ(breach(), "T7");
}

TEST_F(TransactionHistoryTest, MissesAReaderWhoIsGivenWhatWasAborted) {
  const auto number = write(false);
  ends(false);
  EXPECT_EQ(TransactionHistory::difference({}, held_), "");
  EXPECT_NE(TransactionHistory::difference({{kP, {{Offset(0), "t0/0"}}}}, held_), "");
  history_.sawCommitted("reader", kP, Offset(0), "t0/0", Offset(5));
  EXPECT_EQ(number, 0u);
  EXPECT_EQ(breach(), "G1a");
}

TEST_F(TransactionHistoryTest, MissesAReaderWhoSawATransactionThatWasNotAtItsEnd) {
  write(true);
  ends(true);
  history_.sawCommitted("reader", kP, Offset(0), "t0/0", Offset(0));
  history_.judgeBy(held_);
  EXPECT_EQ(breach(), "G1b");
}

TEST_F(TransactionHistoryTest, MissesAReaderWhoPassesOverARecordUnlessItWasMovedBehindIt) {
  const auto judged = [](bool moved) {
    Judge judge;
    Tally tally;
    TransactionHistory history(judge, tally, 2);
    history.became("id", "process", kProducer, ProducerEpoch(0));
    const auto number = history.began("id", "process", kProducer, ProducerEpoch(0));
    LoggedPartition held;
    held.transactions.push_back({.producer = kProducer,
                                 .epoch = ProducerEpoch(0),
                                 .first = Offset(0),
                                 .marker = Offset(3),
                                 .markerEpoch = ProducerEpoch(1),
                                 .committed = true});
    held.markers = {{{kProducer, ProducerEpoch(1)}, true}};
    for (const int64_t at : {0, 1, 2}) held.records[Offset(at)] = {history.valueFor(number), 0};
    history.asked(number, true);
    history.answered(number, true);
    history.sawCommitted("reader", kP, Offset(0), "t0/0", Offset(4));
    if (moved) history.moved("reader");
    history.sawCommitted("reader", kP, Offset(2), "t0/2", Offset(4));
    history.judgeBy({{kP, held}});
    return judge.first() ? judge.first()->invariant : "none";
  };
  EXPECT_EQ(judged(false), "G1b");
  EXPECT_EQ(judged(true), "none");
}

TEST_F(TransactionHistoryTest, MissesWhatIsMadeTwiceAndAGroupThatStandsElsewhere) {
  write(true);
  ends(true);
  const auto use = [&](TransactionHistory::Number number, Offset at) {
    held_[kQ].transactions.push_back({.producer = ProducerId(8),
                                      .epoch = ProducerEpoch(0),
                                      .first = at,
                                      .marker = at.next(),
                                      .markerEpoch = ProducerEpoch(0),
                                      .committed = true});
    held_[kQ].records[at] = {history_.valueFor(number, "p-0@0"), held_[kQ].transactions.size() - 1};
  };
  const auto number = history_.began("book", "b", ProducerId(8), ProducerEpoch(0));
  history_.sends(number, {{kP, Offset(1)}});
  history_.became("book", "b", ProducerId(8), ProducerEpoch(0));
  history_.asked(number, true);
  history_.answered(number, true);
  use(number, Offset(20));
  history_.judgeBy(held_);
  history_.judgeOffsets("book", {{kP, Offset(1)}}, held_);
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
  history_.judgeOffsets("book", {{kP, Offset(0)}}, held_);
  EXPECT_EQ(breach(), "T3");
}

}  // namespace
}  // namespace tidemark::sim
