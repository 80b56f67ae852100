// What the checker of share groups is told, and what it makes of it.
#include "sim/share_history.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::sim {
namespace {

using client::AcknowledgeType;
using std::chrono::seconds;

const TopicPartition kShared{"p", PartitionIndex(0)};

/// One second passes with each step that is told.
class ShareHistoryTest : public testing::Test {
 protected:
  std::string breach() const { return judge_.first() ? judge_.first()->invariant : "none"; }

  /// By a fetch that leaves now.
  client::Delivery give(const std::string& member, int16_t count = 1, uint64_t session = 1, int64_t offset = 0) {
    const client::Delivery delivery = asks(member, count, session, offset);
    arrives(member, delivery);
    return delivery;
  }
  client::Delivery asks(const std::string&, int16_t count = 1, uint64_t session = 1, int64_t offset = 0) {
    now_ += seconds(1);
    return {.where = kShared,
            .offset = Offset(offset),
            .leader = NodeId(1),
            .session = session,
            .count = count,
            .asked = now_};
  }
  void arrives(const std::string& member, const client::Delivery& delivery) {
    now_ += seconds(1);
    history_.given(member, delivery, now_);
  }
  void say(const std::string& member, const client::Delivery& delivery, AcknowledgeType type) {
    now_ += seconds(1);
    history_.said(member, delivery, type, now_);
  }
  void told(const std::string& member, const client::Delivery& delivery, AcknowledgeType type,
            ErrorCode error = ErrorCode::None) {
    now_ += seconds(1);
    history_.told(member, {.delivery = delivery, .type = type, .error = error}, now_);
  }
  void acknowledge(const std::string& member, const client::Delivery& delivery, AcknowledgeType type,
                   ErrorCode error = ErrorCode::None) {
    say(member, delivery, type);
    told(member, delivery, type, error);
  }
  /// A request of that session that leaves now is answered.
  void goesOn(const std::string& member, uint64_t session = 1) {
    now_ += seconds(1);
    history_.answered(member, {.leader = NodeId(1), .session = session, .asked = now_}, now_);
  }
  void lacksAnAnswer(const std::string& member) {
    now_ += seconds(1);
    history_.answered(member, {.leader = NodeId(1), .session = 1, .asked = now_, .error = ErrorCode::NetworkException},
                      now_);
  }
  std::string notDone(bool excuses = false) {
    return history_.whatIsNotDone({{kShared, {{Offset(0), "a"}, {Offset(1), "b"}}}}, "p", excuses);
  }

  Judge judge_;
  Tally tally_;
  ShareHistory history_{judge_, tally_, "s", {.deliveryCountLimit = 3, .lockedFor = seconds(30)}};
  ShareHistory::Time now_{};
};

TEST_F(ShareHistoryTest, HoldsIfRecordsAreGivenAgainUntilTheyAreDone) {
  const auto first = give("a");
  acknowledge("a", first, AcknowledgeType::Release);
  const auto second = give("b", 2);
  acknowledge("b", second, AcknowledgeType::Accept);
  const auto other = give("a", 1, 1, 1);
  acknowledge("a", other, AcknowledgeType::Reject);
  goesOn("a");
  EXPECT_EQ(notDone(), "");
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
}

TEST_F(ShareHistoryTest, MissesThatAnAcceptedRecordIsGivenAgain) {
  const auto early = asks("b", 2);
  acknowledge("a", give("a"), AcknowledgeType::Accept);
  arrives("b", early);
  EXPECT_EQ(breach(), "none") << "it may have been acquired before";
  give("b", 2);
  EXPECT_EQ(breach(), "G7");
}

TEST_F(ShareHistoryTest, ALeaderThatIsDeposedKnowsNothingOfWhatAnotherConfirmed) {
  history_.moved(kShared, NodeId(2), LeaderEpoch(2));
  history_.moved(kShared, NodeId(1), LeaderEpoch(1));
  auto delivery = asks("a");
  delivery.leader = NodeId(2);
  arrives("a", delivery);
  acknowledge("a", delivery, AcknowledgeType::Accept);
  give("b");
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
  history_.moved(kShared, NodeId(1), LeaderEpoch(3));
  give("b");
  EXPECT_EQ(breach(), "G7");
}

TEST_F(ShareHistoryTest, MissesThatARejectedRecordIsGivenAgain) {
  acknowledge("a", give("a"), AcknowledgeType::Reject);
  give("a", 2);
  EXPECT_EQ(breach(), "G7");
}

TEST_F(ShareHistoryTest, AnAcknowledgementThatWasRefusedOrNotAnsweredPromisesNothing) {
  acknowledge("a", give("a"), AcknowledgeType::Accept, ErrorCode::InvalidRecordState);
  acknowledge("a", give("a", 2), AcknowledgeType::Accept, ErrorCode::NetworkException);
  give("a", 3);
  EXPECT_EQ(breach(), "none");
}

TEST_F(ShareHistoryTest, MissesThatTwoHoldARecordWhileASessionGoesOn) {
  give("a");
  give("b");
  EXPECT_EQ(breach(), "none") << "the first session may have ended";
  goesOn("a");
  EXPECT_EQ(breach(), "G8");
}

TEST_F(ShareHistoryTest, ARecordIsFreeOnceItsLeaderItsMemberOrItsLockIsGone) {
  give("a");
  history_.moved(kShared, NodeId(1), LeaderEpoch(1));
  give("b");
  goesOn("a");
  history_.gone("b", now_);
  give("c");
  goesOn("b");
  now_ += seconds(30);
  give("d", 2);
  goesOn("c");
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
}

TEST_F(ShareHistoryTest, MissesThatSomebodyElseHeldWhatAMemberWasToldToHaveHeld) {
  const auto held = give("a");
  history_.moved(kShared, NodeId(1), LeaderEpoch(1));
  give("b");
  acknowledge("a", held, AcknowledgeType::Release);
  EXPECT_EQ(breach(), "G8");
}

TEST_F(ShareHistoryTest, WhoIsTooLateIsNotRefusedIfAllIsDone) {
  const auto held = give("a");
  history_.moved(kShared, NodeId(1), LeaderEpoch(1));
  const auto other = give("b");
  say("b", other, AcknowledgeType::Accept);
  acknowledge("a", held, AcknowledgeType::Accept);
  EXPECT_EQ(breach(), "none") << judge_.first()->text;
}

TEST_F(ShareHistoryTest, MissesARecordThatIsForgotten) {
  acknowledge("a", give("a"), AcknowledgeType::Accept);
  EXPECT_NE(notDone(), "") << "of the second nobody has heard";
  const auto second = give("a", 1, 1, 1);
  EXPECT_NE(notDone(), "");
  acknowledge("a", second, AcknowledgeType::Release);
  EXPECT_NE(notDone(), "");
  acknowledge("a", give("a", 3, 1, 1), AcknowledgeType::Release);
  EXPECT_EQ(notDone(), "") << "it was given as often as may be";
}

TEST_F(ShareHistoryTest, ARecordMayBeGivenUpByFetchesWhoseAnswersWereLost) {
  acknowledge("a", give("a"), AcknowledgeType::Accept);
  acknowledge("a", give("a", 1, 1, 1), AcknowledgeType::Release);
  lacksAnAnswer("a");
  EXPECT_NE(notDone(true), "") << "twice is not the limit";
  lacksAnAnswer("a");
  EXPECT_NE(notDone(false), "");
  EXPECT_EQ(notDone(true), "");
}

TEST_F(ShareHistoryTest, ADeliveryToWhoHasThePartitionNoLongerCounts) {
  acknowledge("a", give("a", 1, 1, 0), AcknowledgeType::Accept);
  acknowledge("a", give("a", 1, 1, 1), AcknowledgeType::Release);
  history_.passedOn({.where = kShared, .first = Offset(1), .last = Offset(1), .count = 2});
  EXPECT_EQ(notDone(), "offset 1 of p-0 in s was given out 1 times and is neither accepted nor rejected nor given up");
  history_.passedOn({.where = kShared, .first = Offset(1), .last = Offset(1), .count = 3});
  EXPECT_EQ(notDone(), "") << "it was the last";
}

TEST_F(ShareHistoryTest, WhatIsInDoubtIsDoneUnlessItComesAgain) {
  acknowledge("a", give("a"), AcknowledgeType::Accept);
  acknowledge("a", give("a", 1, 1, 1), AcknowledgeType::Accept, ErrorCode::NetworkException);
  EXPECT_EQ(notDone(), "");
  give("b", 2, 1, 1);
  EXPECT_NE(notDone(), "");
}

TEST_F(ShareHistoryTest, MissesADeliveryBeyondTheLimit) {
  give("a", 4);
  EXPECT_EQ(breach(), "G10");
}

TEST_F(ShareHistoryTest, MissesADeliveryThatIsNotCounted) {
  acknowledge("a", give("a", 2), AcknowledgeType::Release);
  give("b", 2);
  EXPECT_EQ(breach(), "G10");
}

TEST_F(ShareHistoryTest, NothingIsAskedOnceRecordsAreLost) {
  acknowledge("a", give("a"), AcknowledgeType::Accept);
  history_.lost();
  give("a", 9);
  EXPECT_EQ(breach(), "none");
  EXPECT_EQ(notDone(), "");
}

}  // namespace
}  // namespace tidemark::sim
