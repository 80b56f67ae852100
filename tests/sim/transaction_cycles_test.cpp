#include "sim/transaction_cycles.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::sim {
namespace {

const TopicPartition kLeft{"p", PartitionIndex(0)};
const TopicPartition kRight{"q", PartitionIndex(0)};

using Places = std::map<TopicPartition, std::set<Offset>>;

HistoryTransaction transaction(const std::string& name, const std::string& session, const Places& writes,
                               const Places& reads = {}, bool committed = true) {
  return {.name = name, .session = session, .committed = committed, .writes = writes, .reads = reads};
}

std::string kindOf(const std::vector<HistoryTransaction>& history) {
  const auto anomaly = findAnomaly(history);
  return anomaly ? anomaly->kind : "none";
}

TEST(TransactionCycles, AHistoryInOrderHasNone) {
  EXPECT_EQ(kindOf({transaction("a", "x", {{kLeft, {Offset(0), Offset(2)}}}),
                    transaction("b", "x", {{kLeft, {Offset(4)}}, {kRight, {Offset(0)}}}),
                    transaction("c", "y", {}, {{kLeft, {Offset(0), Offset(2), Offset(4)}}})}),
            "none");
}

TEST(TransactionCycles, WhatWasAbortedMayNotBeRead) {
  EXPECT_EQ(kindOf({transaction("a", "x", {{kLeft, {Offset(0)}}}, {}, false),
                    transaction("r", "y", {}, {{kLeft, {Offset(0)}}})}),
            "G1a");
}

TEST(TransactionCycles, WhoReadsSomeOfItReadsAllOnTheWay) {
  const auto wrote = transaction("a", "x", {{kLeft, {Offset(0), Offset(1), Offset(3)}}});
  EXPECT_EQ(kindOf({wrote, transaction("r", "y", {}, {{kLeft, {Offset(0), Offset(3)}}})}), "G1b");
  // It stopped in between.
  EXPECT_EQ(kindOf({wrote, transaction("r", "y", {}, {{kLeft, {Offset(0), Offset(1)}}})}), "none");
}

TEST(TransactionCycles, TransactionsOfASessionDoNotEachWriteBeforeTheOther) {
  const Places first{{kLeft, {Offset(0)}}, {kRight, {Offset(1)}}};
  const Places second{{kLeft, {Offset(1)}}, {kRight, {Offset(0)}}};
  EXPECT_EQ(kindOf({transaction("a", "x", first), transaction("b", "x", second)}), "G0");
  // Nothing keeps two producers from it.
  EXPECT_EQ(kindOf({transaction("a", "x", first), transaction("b", "y", second)}), "none");
  // What was aborted was not written.
  EXPECT_EQ(kindOf({transaction("a", "x", first), transaction("b", "x", second, {}, false)}), "none");
}

TEST(TransactionCycles, InformationDoesNotFlowInACircle) {
  EXPECT_EQ(kindOf({transaction("a", "x", {{kLeft, {Offset(0)}}}, {{kRight, {Offset(0)}}}),
                    transaction("b", "y", {{kRight, {Offset(0)}}}, {{kLeft, {Offset(0)}}})}),
            "G1c");
  // Over a third one, and a write of the same session.
  const auto anomaly = findAnomaly({transaction("a", "x", {{kLeft, {Offset(0)}}}, {{kRight, {Offset(5)}}}),
                                    transaction("b", "x", {{kLeft, {Offset(1)}}}),
                                    transaction("c", "y", {{kRight, {Offset(5)}}}, {{kLeft, {Offset(1)}}})});
  ASSERT_TRUE(anomaly);
  EXPECT_EQ(anomaly->kind, "G1c");
  EXPECT_NE(anomaly->text.find("b wrote after a"), std::string::npos) << anomaly->text;
  EXPECT_NE(anomaly->text.find("c read what was written by b"), std::string::npos) << anomaly->text;
}

}  // namespace
}  // namespace tidemark::sim
