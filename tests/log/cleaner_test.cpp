#include <gmock/gmock.h>

#include "cleaner_fixture.h"

// Compaction of whole logs, by a log manager's own cleaner.

namespace tidemark::log {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using CleanerTest = CleanerFixture;

TEST_F(CleanerTest, onlyTheLastValueOfEachKeyStaysAtItsOffset) {
  put({"a=1", "b=1"});
  put({"a=2", "c=1"});
  put({"b=2"});
  close();
  put({"a=3"});
  settle();
  EXPECT_THAT(lines(), ElementsAre("2:a=2", "3:c=1", "4:b=2", "5:a=3")) << "the active segment is not looked at";
  EXPECT_EQ(log_->logStartOffset(), Offset(0));
  EXPECT_EQ(log_->logEndOffset(), Offset(6));
  EXPECT_EQ(checkpoint(), "0\n1\ntable 0 5\n");
  const CleanedPass pass = *status().lastPass;
  EXPECT_EQ(pass.recordsRead, 5);
  EXPECT_EQ(pass.recordsKept, 3);
  EXPECT_EQ(pass.keys, 3);
  EXPECT_EQ(pass.endOffset, Offset(5));
  EXPECT_FALSE(status().plan.due);
  EXPECT_EQ(status().plan.firstDirty, Offset(5));
}

TEST_F(CleanerTest, aReaderInAHoleGetsTheNextRecordThatIsLeft) {
  for (int i = 0; i < 30; ++i) put({fmt::format("k{}=1", i % 3)});
  close();
  put({"x=1"});
  settle();
  EXPECT_THAT(lines(), ElementsAre("27:k0=1", "28:k1=1", "29:k2=1", "30:x=1"));
  const auto bytes = log_->readBytes(Offset(4), 1, FetchIsolation::HighWatermark);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(records::BatchHeader::read(bytes->data()).baseOffset, Offset(27));
}

TEST_F(CleanerTest, readersAcrossSegmentsThatBecameEmptyGoOnToTheNext) {
  put({"a=1"});
  close();
  put({"a=2"});
  close();
  alwaysDue();
  put({"a=3"});
  settle();
  for (int64_t offset = 0; offset < 3; ++offset)
    EXPECT_FALSE(log_->readBytes(Offset(offset), 1, FetchIsolation::LogEnd)->empty()) << offset;
  EXPECT_EQ(lines().back(), "2:a=3");
}

TEST_F(CleanerTest, theCleanPartIsCleanedAgainByWhatIsNew) {
  alwaysDue();
  put({"a=1", "b=1", "c=1"});
  close();
  settle();
  put({"b=2"});
  close();
  settle();
  put({"z=1"});
  EXPECT_THAT(lines(), ElementsAre("0:a=1", "2:c=1", "3:b=2", "4:z=1"));
  EXPECT_EQ(status().passes, 2);
  EXPECT_THAT(bases(), ElementsAre(0, 4)) << "two small segments became one";
}

TEST_F(CleanerTest, nothingRunsWhileNothingIsDue) {
  put({"a=1"});
  close();
  settle();
  const CleanerStatus before = status();
  put({"a=2"});
  settle();
  const uint64_t tasks = process_->tasksRun();
  settle(std::chrono::hours(24));
  // The checkpoints and the retention of a day have their timers; nobody looks around besides.
  EXPECT_LT(process_->tasksRun() - tasks, 24 * 60u);
  EXPECT_EQ(status().passes, before.passes);
}

TEST_F(CleanerTest, aLogIsCleanedOnceItsClosedSegmentIsStable) {
  put({"a=1"});
  put({"a=2"});
  ASSERT_TRUE(log_->roll());
  settle();
  EXPECT_EQ(status().passes, 0) << "its records are above the high watermark";
  log_->updateHighWatermark(Offset(1));
  settle();
  EXPECT_EQ(status().passes, 0);
  log_->updateHighWatermark(Offset(2));
  settle();
  EXPECT_EQ(status().passes, 1);
  EXPECT_THAT(lines(), ElementsAre("1:a=2"));
}

TEST_F(CleanerTest, theRatioDecidesAtRunTimeToo) {
  put({"a=1", "b=1", "c=1", "d=1"});
  close();
  settle();
  EXPECT_EQ(status().passes, 1);
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(status().passes, 1) << "too little is dirty";
  EXPECT_GT(status().plan.dirtyRatio(), 0.1);
  config_.minCleanableDirtyRatio = 0.1;
  log_->updateConfig(config_);
  settle();
  EXPECT_EQ(status().passes, 2);
}

TEST_F(CleanerTest, aTopicThatBecomesCompactedIsCleaned) {
  config_.compact = false;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(lines().size(), 2u);
  EXPECT_THAT(manager_->cleanerStatus(), IsEmpty());
  config_.compact = true;
  log_->updateConfig(config_);
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a=2"));
}

TEST_F(CleanerTest, youngRecordsWaitForTheMinimumLag) {
  config_.minCompactionLagMs = 10'000;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle(std::chrono::seconds(8));
  EXPECT_EQ(status().passes, 0);
  settle(std::chrono::seconds(3));
  EXPECT_EQ(status().passes, 1) << "a timer, nobody appended";
}

TEST_F(CleanerTest, oldRecordsAreCleanedAfterTheMaximumLag) {
  config_.minCleanableDirtyRatio = 1;
  config_.maxCompactionLagMs = 10'000;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle(std::chrono::seconds(8));
  EXPECT_EQ(status().passes, 0);
  settle(std::chrono::seconds(3));
  EXPECT_EQ(status().passes, 1);
}

TEST_F(CleanerTest, compressedBatchesStayCompressedWithTheirCodec) {
  for (const auto codec : {records::Codec::Gzip, records::Codec::Snappy, records::Codec::Lz4, records::Codec::Zstd}) {
    put({"a=1", fmt::format("k{}=1", static_cast<int>(codec))}, {.codec = codec});
  }
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(lines().size(), 5u);
  std::vector<records::Codec> codecs;
  for (const auto& header : headers()) codecs.push_back(header.codec());
  EXPECT_THAT(codecs, ElementsAre(records::Codec::Gzip, records::Codec::Snappy, records::Codec::Lz4,
                                  records::Codec::Zstd, records::Codec::None));
}

TEST_F(CleanerTest, compactAndDeleteDoesBoth) {
  config_.remove = true;
  config_.retentionMs = 60'000;
  alwaysDue();
  put({"a=1", "b=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "2:a=2"));
  settle(std::chrono::minutes(2));
  put({"c=1"});
  stable();
  manager_->cleanup();
  EXPECT_THAT(lines(), ElementsAre("3:c=1"));
  EXPECT_EQ(log_->logStartOffset(), Offset(3));
}

TEST_F(CleanerTest, aSmallMapTakesSeveralPasses) {
  cleaner_.dedupeBufferBytes = 24 * 12;
  stopCleanly();
  startCleaner();
  alwaysDue();
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 40; ++i) put({fmt::format("k{}={}", i, round)});
  close();
  put({"z=1"});
  settle(std::chrono::seconds(10));
  EXPECT_GT(status().passes, 3);
  EXPECT_LE(status().lastPass->mapSlots, 12);
  EXPECT_EQ(status().plan.firstDirty, Offset(120));
  EXPECT_EQ(lines().size(), 41u);
}

TEST_F(CleanerTest, theThrottleHoldsItBack) {
  cleaner_.maxBytesPerSecond = 1000;
  stopCleanly();
  startCleaner();
  for (int i = 0; i < 40; ++i) put({fmt::format("k{}={}", i % 4, i)});
  close();
  settle(std::chrono::minutes(1));
  const CleanedPass pass = *status().lastPass;
  // All of it is read once, and what stays is read again and written.
  const double moved = static_cast<double>(pass.bytesBefore + 2 * pass.bytesAfter);
  EXPECT_NEAR(std::chrono::duration<double>(pass.throttled).count(), moved / 1000, moved / 10'000 + 0.2);
  EXPECT_GE(pass.took, pass.throttled);
  CleanerConfig faster = cleaner_;
  faster.maxBytesPerSecond = 1e308;
  manager_->configureCleaner(faster);
  for (int i = 0; i < 80; ++i) put({fmt::format("k{}={}", i % 4, i)});
  close();
  settle();
  EXPECT_EQ(status().lastPass->throttled, platform::Duration(0));
}

TEST_F(CleanerTest, withoutThreadsNothingIsCleanedUntilThereAreSome) {
  cleaner_.threads = 0;
  stopCleanly();
  startCleaner();
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(lines().size(), 2u);
  cleaner_.threads = 2;
  manager_->configureCleaner(cleaner_);
  settle();
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(CleanerTest, indexesAndTimesOfCleanedSegmentsAreTrue) {
  for (int i = 0; i < 200; ++i) {
    put({fmt::format("k{}={}", i % 50, i), fmt::format("only{}=1", i)});
    settle(std::chrono::milliseconds(2));
  }
  close();
  settle();
  options_.directory = kFolder;
  expectIndexesTrue(true);
  const auto found = log_->offsetForTimestamp(kMaxTimestamp);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->offset, Offset(398));
}

}  // namespace
}  // namespace tidemark::log
