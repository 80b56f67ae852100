#include <gmock/gmock.h>

#include "cleaner_fixture.h"
#include "log/file_names.h"
#include "log/segment.h"

// What comes between: damage, full disks, readers, truncations, retention, restarts, a removed topic.

namespace tidemark::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using CleanerMeanwhileTest = CleanerFixture;

TEST_F(CleanerMeanwhileTest, aLogThatCannotBeReadIsSetAsideAndTheOthersAreCleaned) {
  put({"a=1"});
  put({"a=2"});
  const auto file = files().open(kFolder + "/00000000000000000000.log", platform::OpenMode::ReadWrite);
  ASSERT_TRUE((*file)->writeAt(68, asBytes("?")));
  const auto other =
      *manager_->getOrCreate({"other", PartitionIndex(0)}, *Uuid::parse("WUPcycz9SQuWa1bKSlm43w"), config_);
  close();
  const auto damaged = log_;
  log_ = other;
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a=2"));
  log_ = damaged;
  const auto all = manager_->cleanerStatus();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].uncleanableReason, "");
  EXPECT_THAT(all[1].uncleanableReason, HasSubstr("damaged"));
  EXPECT_FALSE(damaged->offline());
  EXPECT_EQ(bases().size(), 2u) << "it is as it was";
  for (const std::string& name : names(kFolder)) EXPECT_FALSE(name.ends_with(kCleanedSuffix)) << name;
}

TEST_F(CleanerMeanwhileTest, aBatchWhoseOffsetsCannotBeThereIsNoReasonToMoveTheLog) {
  put({"a=1"});
  put({"a=2"});
  const auto file = files().open(kFolder + "/00000000000000000000.log", platform::OpenMode::ReadWrite);
  ASSERT_TRUE((*file)->writeAt(70, asBytes("?")));  // the second one's base offset, outside its checksum
  close();
  settle();
  EXPECT_THAT(status().uncleanableReason, HasSubstr("cannot hold"));
}

TEST_F(CleanerMeanwhileTest, aFullDiskLeavesTheLogAsItWasAndIsTriedAgain) {
  put({"a=1"});
  put({"a=2"});
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Write && path.ends_with(".cleaned");
  });
  close();
  settle();
  EXPECT_FALSE(status().uncleanableReason.empty());
  EXPECT_FALSE(log_->offline());
  EXPECT_EQ(lines().size(), 2u);
  for (const std::string& name : names(kFolder)) EXPECT_FALSE(name.ends_with(kCleanedSuffix)) << name;
  process_->disk().failWhen(nullptr);
  settle(std::chrono::seconds(20));
  EXPECT_EQ(status().uncleanableReason, "");
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(CleanerMeanwhileTest, aSliceOfAReaderOutlivesItsSegment) {
  put({"a=1"});
  put({"a=2"});
  ASSERT_TRUE(log_->roll());
  const auto read = log_->read(Offset(0), 1 << 20, FetchIsolation::LogEnd, true);
  ByteVector before(read->slice.length);
  ASSERT_TRUE(read->slice.file->readAt(read->slice.position, before));
  stable();
  settle();
  ASSERT_EQ(lines().size(), 1u);
  ByteVector after(read->slice.length);
  EXPECT_EQ(read->slice.file->readAt(read->slice.position, after), before.size());
  EXPECT_EQ(after, before);
}

TEST_F(CleanerMeanwhileTest, filesOfReplacedSegmentsStayForTheirDelay) {
  config_.fileDeleteDelayMs = 30'000;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  const auto deleted = [&] {
    return std::ranges::count_if(names(kFolder), [](const auto& name) { return name.ends_with(".deleted"); });
  };
  EXPECT_GE(deleted(), 3);
  settle(std::chrono::seconds(30));
  EXPECT_EQ(deleted(), 0);
}

TEST_F(CleanerMeanwhileTest, aTruncationEndsACleaning) {
  put({"a=1"});
  put({"a=2"});
  ASSERT_TRUE(log_->roll());
  const CleanView view = log_->cleanView(true);
  const auto cleaned = *log_->newCleanedSegment(Offset(0));
  ASSERT_TRUE(cleaned->becomeInactive());
  ASSERT_TRUE(log_->truncateTo(Offset(1)));
  EXPECT_FALSE(log_->mayClean(view.truncations));
  EXPECT_FALSE(log_->replaceSegments(std::span(view.segments).first(1), cleaned, view.truncations).value());
  EXPECT_EQ(lines().size(), 1u);
  log_->setCleanedTo(Offset(2), view.truncations);
  EXPECT_FALSE(log_->cleanedTo());
}

TEST_F(CleanerMeanwhileTest, aTruncationBelowTheCleanPartLowersTheCheckpointAtOnce) {
  alwaysDue();
  put({"a=1"});
  put({"b=1"});
  put({"c=1"});
  close();
  settle();
  EXPECT_EQ(checkpoint(), "0\n1\ntable 0 3\n");
  ASSERT_TRUE(log_->truncateTo(Offset(1)));
  EXPECT_EQ(checkpoint(), "0\n1\ntable 0 1\n");
  EXPECT_EQ(log_->cleanedTo(), Offset(1));
}

TEST_F(CleanerMeanwhileTest, segmentsThatRetentionTookMeanwhileAreNotSwapped) {
  put({"a=1"});
  close();
  const CleanView view = log_->cleanView(true);
  const auto cleaned = *log_->newCleanedSegment(Offset(0));
  ASSERT_TRUE(cleaned->becomeInactive());
  put({"a=2"});
  stable();
  ASSERT_TRUE(log_->deleteSegmentsBelow(Offset(1)));
  EXPECT_FALSE(log_->replaceSegments(std::span(view.segments).first(1), cleaned, view.truncations).value());
}

TEST_F(CleanerMeanwhileTest, whatWasCleanedIsKnownAfterARestart) {
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  stopCleanly();
  startCleaner();
  settle();
  EXPECT_EQ(log_->cleanedTo(), Offset(2));
  EXPECT_EQ(status().passes, 0);
  EXPECT_EQ(checkpoint(), "0\n1\ntable 0 2\n");
}

TEST_F(CleanerMeanwhileTest, holesAreNoLostEndsOnceTheTopicIsNoLongerCompacted) {
  alwaysDue();
  config_.segmentBytes = 400;
  log_->updateConfig(config_);
  for (int i = 0; i < 60; ++i) put({fmt::format("k{}={}", i % 7, std::string(static_cast<size_t>(40 + i), 'x'))});
  stable();
  settle();
  const auto before = lines();
  config_.compact = false;
  config_.remove = true;
  config_.retentionMs = -1;
  ASSERT_TRUE(files().replaceFile("/data/recovery-point-offset-checkpoint", asBytes("0\n0\n")));
  crashCleaner(Crash::Kill);
  ASSERT_TRUE(files().replaceFile("/data/recovery-point-offset-checkpoint", asBytes("0\n0\n")));
  startCleaner();
  EXPECT_EQ(lines(), before);
}

TEST_F(CleanerMeanwhileTest, aRemovedTopicEndsItsCleaning) {
  put({"a=1"});
  put({"a=2"});
  close();
  ASSERT_TRUE(manager_->remove(kTable));
  settle();
  EXPECT_FALSE(files().exists(kFolder));
  EXPECT_THAT(manager_->cleanerStatus(), IsEmpty());
}

}  // namespace
}  // namespace tidemark::log
