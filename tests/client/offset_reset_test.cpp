#include "client/offset_reset.h"

#include <gtest/gtest.h>

#include "client/transaction_admin.h"

namespace tidemark::test {
namespace {

using client::ResetTo;
using Kind = ResetTo::Kind;

const TopicPartition kWhere{"orders", PartitionIndex(0)};

/// What a partition whose log is [10, 100) and whose group has committed 40 gets.
Result<client::OffsetChange> changed(Kind kind, int64_t value = 0, std::optional<Offset> committed = Offset(40),
                                     std::optional<Offset> atTime = std::nullopt) {
  return client::resetOf(kWhere, {kind, value},
                         {.committed = committed, .logStart = Offset(10), .end = Offset(100), .atTime = atTime});
}

TEST(ResetTest, GoesWhereItIsTold) {
  EXPECT_EQ(changed(Kind::Earliest)->to, Offset(10));
  EXPECT_EQ(changed(Kind::Latest)->to, Offset(100));
  EXPECT_EQ(changed(Kind::Current)->to, Offset(40));
  EXPECT_EQ(changed(Kind::Current, 0, std::nullopt)->to, Offset(100)) << "nothing is committed: the end";
  EXPECT_EQ(changed(Kind::Offset, 55)->to, Offset(55));
  EXPECT_EQ(changed(Kind::ShiftBy, -7)->to, Offset(33));
  EXPECT_EQ(changed(Kind::Datetime, 1, Offset(40), Offset(77))->to, Offset(77));
  EXPECT_EQ(changed(Kind::Datetime, 1)->to, Offset(100)) << "all records are older: the end";
  EXPECT_EQ(changed(Kind::Latest)->from, Offset(40));
  EXPECT_FALSE(changed(Kind::Offset, 55)->clipped);
}

TEST(ResetTest, StaysInsideTheLogAndSaysSo) {
  for (const auto& [kind, value, to] :
       {std::tuple{Kind::Offset, int64_t{3}, 10}, std::tuple{Kind::Offset, int64_t{500}, 100},
        std::tuple{Kind::ShiftBy, int64_t{-500}, 10}, std::tuple{Kind::ShiftBy, int64_t{1000}, 100},
        std::tuple{Kind::ShiftBy, INT64_MAX, 100}}) {
    const auto change = changed(kind, value);
    ASSERT_TRUE(change.has_value());
    EXPECT_EQ(change->to, Offset(to)) << value;
    EXPECT_TRUE(change->clipped) << value;
  }
  const auto behind = changed(Kind::Current, 0, Offset(4));
  EXPECT_EQ(behind->to, Offset(10)) << "what was committed is gone from the log";
  EXPECT_TRUE(behind->clipped);
}

TEST(ResetTest, NothingCommittedCannotBeShifted) {
  const auto change = changed(Kind::ShiftBy, 1, std::nullopt);
  ASSERT_FALSE(change.has_value());
  EXPECT_NE(change.error().message.find("orders-0"), std::string::npos);
}

TEST(HangingTest, IsWhatNoCoordinatorWillEnd) {
  client::ProducerOnPartition open{
      .partition = kWhere, .producer = ProducerId(7), .epoch = ProducerEpoch(3), .transactionStart = Offset(12)};
  client::TransactionDescription known{.transactionalId = "t",
                                       .state = "Ongoing",
                                       .producer = ProducerId(7),
                                       .epoch = ProducerEpoch(3),
                                       .partitions = {kWhere}};
  EXPECT_FALSE(client::isHanging(open, &known));
  EXPECT_TRUE(client::isHanging(open, nullptr)) << "nobody knows its producer";
  known.epoch = ProducerEpoch(4);
  EXPECT_FALSE(client::isHanging(open, &known)) << "it is being aborted by the next epoch";
  known.epoch = ProducerEpoch(6);
  EXPECT_TRUE(client::isHanging(open, &known)) << "others have come since";
  known.epoch = ProducerEpoch(3);
  known.partitions.clear();
  EXPECT_TRUE(client::isHanging(open, &known)) << "the partition is no part of it";
  open.transactionStart = kNoOffset;
  EXPECT_FALSE(client::isHanging(open, nullptr)) << "nothing is open";
}

}  // namespace
}  // namespace tidemark::test
