#include <gmock/gmock.h>

#include "cleaner_fixture.h"
#include "log/file_names.h"

// What the cleaner must not take yet: tombstones, markers of transactions, the last sequences of producers.

namespace tidemark::log {
namespace {

using testing::ElementsAre;

using CleanerKeepsTest = CleanerFixture;

TEST_F(CleanerKeepsTest, aTombstoneStaysUntilItsHorizonAndThenGoes) {
  alwaysDue();
  put({"a=1"});
  put({"a"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a")) << "whoever reads from the start must learn that it is gone";
  const auto horizon = headers().front().deleteHorizonMs();
  ASSERT_TRUE(horizon);
  EXPECT_NEAR(static_cast<double>(*horizon), static_cast<double>(now() + 60'000), 2000);
  EXPECT_EQ(status().lastPass->earliestHorizon, platform::WallTime(platform::milliseconds(*horizon)));
  put({"b=1"});
  close();
  settle();
  EXPECT_EQ(headers().front().deleteHorizonMs(), horizon) << "a pass before it changes nothing";
  EXPECT_THAT(lines(), ElementsAre("1:a", "2:b=1"));
  settle(std::chrono::minutes(2));
  EXPECT_EQ(lines().size(), 2u) << "time alone cleans nothing";
  put({"b=2"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("3:b=2"));
  EXPECT_EQ(status().lastPass->tombstonesDropped, 1);
}

TEST_F(CleanerKeepsTest, theRetentionOfTombstonesFollowsTheConfiguration) {
  alwaysDue();
  config_.deleteRetentionMs = 0;
  log_->updateConfig(config_);
  put({"a=1", "b=1"});
  put({"a"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "2:a")) << "never in the pass that sees it first";
  put({"c=1"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "3:c=1"));
}

TEST_F(CleanerKeepsTest, aTombstoneHidesOlderValuesAlsoInTheCleanPart) {
  alwaysDue();
  put({"a=1", "b=1"});
  close();
  settle();
  put({"a"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "2:a"));
}

TEST_F(CleanerKeepsTest, theMarkerThatAbortsIsOnDiskBeforeWhatItAbortedGoes) {
  alwaysDue();
  putFrom(7, {"a=aborted"}, true);
  close();
  put({"b=1"});
  mark(7, false);  // behind all that is cleaned
  stable();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1"));
  EXPECT_EQ(log_->recoveryPoint(), Offset(3));
  crashCleaner(Crash::PowerLoss);
  startCleaner();
  EXPECT_EQ(log_->logEndOffset(), Offset(3));
}

TEST_F(CleanerKeepsTest, abortedRecordsGoAndSupersedeNothing) {
  alwaysDue();
  put({"a=1", "b=1"});
  putFrom(7, {"a=aborted"}, true);
  mark(7, false);
  putFrom(8, {"b=2"}, true);
  mark(8, true);
  close();
  put({"z=1"});
  stable();
  settle();
  EXPECT_THAT(lines(), ElementsAre("0:a=1", "4:b=2", "6:z=1"));
  EXPECT_THAT(lines(FetchIsolation::Committed), ElementsAre("0:a=1", "4:b=2", "6:z=1"));
}

TEST_F(CleanerKeepsTest, markersStayWhileAnythingOfTheirTransactionDoesAndThenUntilTheirHorizon) {
  alwaysDue();
  putFrom(7, {"a=aborted"}, true);  // 0
  mark(7, false);                   // 1
  putFrom(8, {"b=1"}, true);        // 2
  mark(8, true);                    // 3
  putFrom(7, {"c=1"});              // 4: so that neither is its producer's last
  putFrom(8, {"d=1"});              // 5
  close();
  settle();
  const auto markers = [&] {
    std::vector<int64_t> offsets;
    for (const auto& header : headers())
      if (header.isControl()) offsets.push_back(header.baseOffset.value());
    return offsets;
  };
  EXPECT_THAT(markers(), ElementsAre(1, 3));
  EXPECT_EQ(log_->abortedTransactions(Offset(0), Offset(100))->size(), 1u) << "the marker's entry stays with it";
  put({"e=1"});
  close();
  settle();
  EXPECT_THAT(markers(), ElementsAre(1, 3));
  const auto isMarker = [](const auto& header) { return header.isControl(); };
  const auto first = headers();
  EXPECT_TRUE(std::ranges::find_if(first, isMarker)->deleteHorizonMs()) << "the aborted data had gone";
  EXPECT_TRUE(log_->abortedTransactions(Offset(0), Offset(100))->empty());
  settle(std::chrono::minutes(2));
  put({"f=1"});
  close();
  settle();
  EXPECT_THAT(markers(), ElementsAre(3)) << "b=1 is still there";
}

TEST_F(CleanerKeepsTest, anOpenTransactionBoundsTheCleaning) {
  alwaysDue();
  put({"a=1"});
  put({"a=2"});
  close();
  putFrom(7, {"a=open"}, true);
  put({"a=3"});
  close();
  put({"a=4"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a=2", "2:a=open", "3:a=3", "4:a=4"));
  EXPECT_EQ(status().plan.firstUncleanable, Offset(2));
  mark(7, false);
  stable();
  settle();
  EXPECT_EQ(lines().size(), 1u + 0u) << testing::PrintToString(lines());
}

TEST_F(CleanerKeepsTest, anEmptiedBatchKeepsTheLastSequenceOfAnActiveProducer) {
  alwaysDue();
  putFrom(7, {"a=1", "b=1"});
  put({"a=2", "b=2"});
  close();
  put({"z=1"});
  settle();
  EXPECT_THAT(lines(), ElementsAre("2:a=2", "3:b=2", "4:z=1"));
  EXPECT_EQ(headers().front().recordCount, 0);
  EXPECT_EQ(headers().front().lastSequence(), 1);
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  for (const std::string& name : names(kFolder))
    if (name.ends_with(kSnapshotSuffix)) {
      ASSERT_TRUE(files().remove(kFolder + "/" + name));
    }
  crashCleaner(Crash::Kill);
  startCleaner();
  records::BatchOptions retry = from(7);
  retry.baseSequence = 0;
  records::BatchBuilder builder(retry);
  builder.append(now(), asBytes("a"), asBytes("1"));
  builder.append(now(), asBytes("b"), asBytes("1"));
  ByteVector bytes = builder.build();
  EXPECT_TRUE(log_->appendAsLeader(bytes, LeaderEpoch(0))->duplicate);
  putFrom(7, {"c=1"});
}

TEST_F(CleanerKeepsTest, aProducerThatIsForgottenKeepsNothing) {
  alwaysDue();
  putFrom(7, {"a=1"});
  put({"a=2"});
  close();
  put({"b=1"});
  config_.producerIdExpirationMs = 0;
  log_->updateConfig(config_);
  log_->expireProducers();
  settle(std::chrono::milliseconds(1));
  EXPECT_EQ(headers().front().baseOffset, Offset(1));
}

TEST_F(CleanerKeepsTest, theLastOffsetOfTheRoundStays) {
  alwaysDue();
  put({"a=1"});
  put({"b"});
  close();
  settle();
  settle(std::chrono::minutes(2));
  put({"c=1"});
  close();
  settle();
  put({"c=2"});
  close();
  settle();
  std::vector<int64_t> ends;
  for (const auto& header : headers()) ends.push_back(header.lastOffset().value());
  EXPECT_THAT(ends, ElementsAre(0, 3));
  stopCleanly();
  startCleaner();
  EXPECT_EQ(log_->logEndOffset(), Offset(4));
}

}  // namespace
}  // namespace tidemark::log
