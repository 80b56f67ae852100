#include <gmock/gmock.h>

#include "log/file_names.h"
#include "log_fixture.h"

namespace tidemark::log {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

const std::string kFirstIndex = "/data/orders-0/00000000000000000000.index";
const std::string kFirstTimeIndex = "/data/orders-0/00000000000000000000.timeindex";

class RecoveryTest : public LogFixture {
 protected:
  RecoveryTest() { open(); }
  void change(const std::string& path, const std::function<void(platform::File&)>& how) {
    const auto file = files().open(path, platform::OpenMode::Create);
    ASSERT_TRUE(file);
    how(**file);
  }
  void appendRaw(const std::string& path, ByteView raw) {
    change(path, [&](platform::File& file) { ASSERT_TRUE(file.writeAt(file.size().value(), raw)); });
  }
  /// Runs `how` on the files of the dead process, then opens the log again.
  void damageAndReopen(const std::function<void()>& how) {
    crash(Crash::Kill);
    restart();
    how();
    open();
  }
};

TEST_F(RecoveryTest, whatWasAppendedIsThereAfterAKill) {
  for (int i = 0; i < 30; ++i) append({.count = 3, .valueSize = 50, .epoch = LeaderEpoch(i / 10)});
  const auto before = log_->batches(Offset(0), SIZE_MAX).value();
  crashAndReopen();
  expectEnd(90);
  EXPECT_EQ(log_->batches(Offset(0), SIZE_MAX)->size(), before.size());
  EXPECT_THAT(log_->epochEntries(),
              ElementsAre(EpochEntry{LeaderEpoch(0), Offset(0)}, EpochEntry{LeaderEpoch(1), Offset(30)},
                          EpochEntry{LeaderEpoch(2), Offset(60)}));
  expectIndexesTrue();
}

TEST_F(RecoveryTest, aTornTailIsCutAtTheLastGoodBatch) {
  const ByteVector next = makeBatch({.count = 2, .baseOffset = Offset(4)});
  ByteVector wrongCrc = next;
  wrongCrc.back() ^= 1;
  const std::vector<std::pair<const char*, ByteVector>> tails = {
      {"part of a header", ByteVector(next.begin(), next.begin() + 40)},
      {"part of a body", ByteVector(next.begin(), next.end() - 5)},
      {"wrong CRC", wrongCrc},
      {"zeros", ByteVector(4096)},
      {"a huge length",
       [&] {
         ByteVector huge = next;
         writeBigEndian(huge.data() + records::kLengthAt, INT32_MAX);
         return huge;
       }()},
      {"a negative length",
       [&] {
         ByteVector negative = next;
         writeBigEndian(negative.data() + records::kLengthAt, -1);
         return negative;
       }()},
  };
  append({.count = 2});
  append({.count = 2});
  const auto size = static_cast<uint64_t>(log_->sizeInBytes());
  for (const auto& [what, tail] : tails) {
    SCOPED_TRACE(what);
    damageAndReopen([&] { appendRaw(kFirstLog, tail); });
    expectEnd(4);
    EXPECT_EQ(bytes(kFirstLog).size(), size);
  }
}

TEST_F(RecoveryTest, anyCutOfTheFileLeavesTheBatchesBeforeIt) {
  for (int i = 0; i < 4; ++i) append({.count = 1});
  const ByteVector whole = bytes(kFirstLog);
  const auto batches = log_->batches(Offset(0), SIZE_MAX).value();
  for (size_t size = 0; size <= whole.size(); ++size) {
    int64_t expected = 0;
    for (const BatchInfo& batch : batches)
      if (batch.position + batch.header.sizeInBytes() <= size) expected = batch.header.nextOffset().value();
    damageAndReopen([&] {
      change(kFirstLog, [&](platform::File& file) {
        ASSERT_TRUE(file.truncate(0));
        ASSERT_TRUE(file.writeAt(0, ByteView(whole).first(size)));
      });
    });
    ASSERT_EQ(log_->logEndOffset(), Offset(expected)) << "cut at " << size;
  }
}

TEST_F(RecoveryTest, aGoodBatchPastTheRecordedEndIsKept) {
  append({.count = 2});
  damageAndReopen(
      [&] { appendRaw(kFirstLog, makeBatch({.count = 3, .baseOffset = Offset(2), .epoch = LeaderEpoch(9)})); });
  expectEnd(5);
  EXPECT_EQ(log_->latestEpoch(), LeaderEpoch(9));
}

TEST_F(RecoveryTest, aCopyOfTheLastBatchIsCut) {
  append({.count = 2});
  append({.count = 2});
  damageAndReopen([&] { appendRaw(kFirstLog, makeBatch({.count = 2, .baseOffset = Offset(2)})); });
  expectEnd(4);
  EXPECT_EQ(log_->batches(Offset(0), 10)->size(), 2u);
}

// The base offset lies outside the checksum: at the border of two sectors a torn write may lose it alone.
TEST_F(RecoveryTest, aSoundBatchWhoseBaseOffsetWasLostIsCut) {
  for (int i = 0; i < 4; ++i) append({.count = 2});
  const auto third = log_->batches(Offset(4), 1).value().front();
  damageAndReopen([&] {
    change(kFirstLog, [&](platform::File& file) {
      ASSERT_TRUE(file.writeAt(static_cast<uint64_t>(third.position), ByteVector(8)));
    });
  });
  expectEnd(4);
}

TEST_F(RecoveryTest, aBatchOfAnOlderEpochBehindAYoungerOneIsCut) {
  append({.count = 2, .epoch = LeaderEpoch(3)});
  damageAndReopen(
      [&] { appendRaw(kFirstLog, makeBatch({.count = 1, .baseOffset = Offset(2), .epoch = LeaderEpoch(2)})); });
  expectEnd(2);
  EXPECT_EQ(log_->latestEpoch(), LeaderEpoch(3));
}

TEST_F(RecoveryTest, aBadBatchInTheMiddleDropsTheSegmentsBehindIt) {
  options_.config.segmentBytes = 300;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 10; ++i) append({.count = 2});
  const auto segments = log_->segments();
  ASSERT_GT(segments.size(), 3u);
  // Nothing was flushed, so everything is scanned.
  options_.recoveryPoint = Offset(0);
  damageAndReopen([&] {
    change(offsetFilePath("/data/orders-0", segments[1].baseOffset, kLogSuffix),
           [&](platform::File& file) { ASSERT_TRUE(file.writeAt(100, asBytes("damage"))); });
  });
  expectEnd(segments[1].baseOffset.value());
  EXPECT_EQ(log_->segments().size(), 2u);
}

TEST_F(RecoveryTest, nothingBelowTheRecoveryPointIsRead) {
  options_.config.segmentBytes = 1000;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 100; ++i) append({.count = 2});
  ASSERT_TRUE(log_->flush());
  options_.recoveryPoint = log_->recoveryPoint();
  EXPECT_EQ(options_.recoveryPoint, Offset(200));
  append({.count = 2});
  const Offset active = log_->segments().back().baseOffset;
  crash(Crash::Kill);
  restart();
  std::vector<std::string> read;
  process_->disk().failWhen([&](platform::FileCall call, const std::string& path) {
    if (call == platform::FileCall::Read && path.ends_with(".log")) read.push_back(path);
    return false;
  });
  open();
  process_->disk().failWhen({});
  expectEnd(202);
  for (const std::string& path : read) EXPECT_EQ(path, offsetFilePath("/data/orders-0", active, kLogSuffix));
}

TEST_F(RecoveryTest, afterACleanStopNothingIsReadButTheTailOfTheActiveSegment) {
  options_.config.segmentBytes = 4000;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 200; ++i) append({.count = 2});
  ASSERT_TRUE(log_->close());
  crash(Crash::Kill);
  restart();
  uint64_t reads = 0;
  process_->disk().failWhen([&](platform::FileCall call, const std::string& path) {
    reads += call == platform::FileCall::Read && path.ends_with(".log");
    return false;
  });
  open(true);
  process_->disk().failWhen({});
  expectEnd(400);
  EXPECT_LE(reads, 1u);
  expectIndexesTrue(true);
}

TEST_F(RecoveryTest, aCleanStopSurvivesAPowerLossWhole) {
  options_.config.segmentBytes = 1000;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 40; ++i)
    append({.count = 2,
            .epoch = LeaderEpoch(i / 10),
            .producer = ProducerId(7),
            .producerEpoch = ProducerEpoch(0),
            .baseSequence = 2 * i});
  const auto producers = log_->producers();
  ASSERT_TRUE(log_->close());
  const ByteVector times = bytes(offsetFilePath("/data/orders-0", Offset(0), kTimeIndexSuffix));
  process_->disk().setStrictDirectories(true);
  crash(Crash::PowerLoss);
  restart();
  open(true);
  expectEnd(80);
  EXPECT_EQ(log_->producers(), producers);
  EXPECT_EQ(log_->latestEpoch(), LeaderEpoch(3));
  expectIndexesTrue(true);
}

TEST_F(RecoveryTest, missingOrDamagedIndexesAreRebuilt) {
  options_.config.segmentBytes = 2000;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 60; ++i) append({.count = 2, .valueSize = 50});
  ASSERT_TRUE(log_->close());
  const auto segments = log_->segments();
  ASSERT_GT(segments.size(), 3u);
  crash(Crash::Kill);
  restart();
  ASSERT_TRUE(files().remove(kFirstIndex));
  ASSERT_TRUE(files().remove(offsetFilePath("/data/orders-0", segments[1].baseOffset, kTimeIndexSuffix)));
  change(offsetFilePath("/data/orders-0", segments[2].baseOffset, kOffsetIndexSuffix),
         [](platform::File& file) { ASSERT_TRUE(file.truncate(file.size().value() - 4)); });
  // An entry beyond the end of its segment, of the right size.
  change(offsetFilePath("/data/orders-0", segments[3].baseOffset, kOffsetIndexSuffix), [](platform::File& file) {
    ASSERT_TRUE(file.writeAt(file.size().value() - 4, asBytes(std::string_view("\x7f\0\0\0", 4))));
  });
  open(true);
  expectEnd(120);
  expectIndexesTrue(true);
}

TEST_F(RecoveryTest, thePaddingOfAPreallocatedIndexIsNoEntry) {
  for (int i = 0; i < 20; ++i) append({.count = 2, .valueSize = 50});
  ASSERT_TRUE(log_->close());
  const size_t offsetEntries = bytes(kFirstIndex).size();
  const size_t timeEntries = bytes(kFirstTimeIndex).size();
  for (const bool clean : {true, false}) {
    crash(Crash::Kill);
    restart();
    change(kFirstIndex, [](platform::File& file) { ASSERT_TRUE(file.truncate(10485760)); });
    change(kFirstTimeIndex, [](platform::File& file) { ASSERT_TRUE(file.truncate(10485756)); });
    open(clean);
    expectEnd(40);
    expectIndexesTrue();
    EXPECT_EQ(bytes(kFirstIndex).size(), offsetEntries);
    EXPECT_EQ(bytes(kFirstTimeIndex).size(), timeEntries);
    EXPECT_EQ(log_->offsetForTimestamp(kMaxTimestamp).value()->offset, Offset(1));
  }
}

TEST_F(RecoveryTest, leftOversOfInterruptedWorkAreTidiedUp) {
  for (int i = 0; i < 3; ++i) {
    append({.count = 2});
    ASSERT_TRUE(log_->roll());
  }
  damageAndReopen([&] {
    const ByteVector merged = makeBatch({.count = 4, .baseOffset = Offset(0)});
    appendRaw("/data/orders-0/00000000000000000009.log.deleted", merged);
    appendRaw("/data/orders-0/00000000000000000004.log.cleaned", merged);
    appendRaw("/data/orders-0/00000000000000000004.index.swap", merged);  // of the same unfinished cleaning
    appendRaw("/data/orders-0/00000000000000000000.log.swap", merged);    // complete: replaces segments 0 and 2
    appendRaw("/data/orders-0/00000000000000000088.timeindex", merged);   // of no segment
  });
  expectEnd(6);
  for (const std::string& name : names())
    EXPECT_TRUE(!name.ends_with(".deleted") && !name.ends_with(".cleaned") && !name.ends_with(".swap") &&
                !name.starts_with("00000000000000000088"))
        << name;
  std::vector<int64_t> bases;
  for (const auto& segment : log_->segments()) bases.push_back(segment.baseOffset.value());
  EXPECT_THAT(bases, ElementsAre(0, 4, 6));
  EXPECT_EQ(log_->batches(Offset(0), 1)->front().header.recordCount, 4);
}

TEST_F(RecoveryTest, aLogThatEndsBelowItsStartBeginsAnew) {
  append({.count = 5});
  options_.logStartOffset = Offset(50);
  crashAndReopen();
  expectEnd(50);
  EXPECT_EQ(log_->logStartOffset(), Offset(50));
  EXPECT_TRUE(log_->epochEntries().empty());
  append({.count = 1});
  expectEnd(51);
}

TEST_F(RecoveryTest, anUnreadableEpochFileIsRebuiltFromTheBatches) {
  append({.count = 2, .epoch = LeaderEpoch(1)});
  append({.count = 2, .epoch = LeaderEpoch(4)});
  ASSERT_TRUE(log_->close());
  for (const std::string_view content : {"", "0\n7\n1 0\n", "0\n1\nx y\n", "0\n2\n4 0\n1 5\n"}) {
    damageAndReopen([&] {
      change("/data/orders-0/leader-epoch-checkpoint", [&](platform::File& file) {
        ASSERT_TRUE(file.truncate(0));
        ASSERT_TRUE(file.writeAt(0, asBytes(content)));
      });
    });
    EXPECT_THAT(log_->epochEntries(),
                ElementsAre(EpochEntry{LeaderEpoch(1), Offset(0)}, EpochEntry{LeaderEpoch(4), Offset(2)}))
        << content;
  }
}

TEST_F(RecoveryTest, truncatedRecordsDoNotComeBackAtAPowerLoss) {
  options_.config.segmentBytes = 300;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 10; ++i) append({.count = 2, .epoch = LeaderEpoch(0)});
  ASSERT_TRUE(log_->flush());
  int checkpointed = 0;
  options_.hooks.onRecoveryPointLowered = [&] { ++checkpointed; };
  options_.recoveryPoint = Offset(20);
  crashAndReopen();
  ASSERT_TRUE(log_->truncateTo(Offset(6)));
  EXPECT_EQ(checkpointed, 1);
  EXPECT_EQ(log_->recoveryPoint(), Offset(6));
  append({.count = 2, .epoch = LeaderEpoch(3)});
  options_.recoveryPoint = Offset(6);
  process_->disk().setStrictDirectories(true);
  crashAndReopen(Crash::PowerLoss);
  for (const auto& header : readHeaders(*log_, Offset(0))) {
    if (header.baseOffset < Offset(6)) continue;
    EXPECT_EQ(header.leaderEpoch, LeaderEpoch(3)) << header.baseOffset.value();
  }
  EXPECT_LE(log_->logEndOffset(), Offset(8));
}

TEST_F(RecoveryTest, whatWasSyncedSurvivesAPowerLoss) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    startWorld(seed);
    open();
    for (int i = 0; i < 10; ++i) append({.count = 2, .valueSize = 200});
    ASSERT_TRUE(log_->sync());
    for (int i = 0; i < 10; ++i) append({.count = 2, .valueSize = 200});
    crashAndReopen(Crash::PowerLoss);
    EXPECT_GE(log_->logEndOffset(), Offset(20));
    EXPECT_LE(log_->logEndOffset(), Offset(40));
  }
}

TEST_F(RecoveryTest, producersBelowTheLogStartAreKnownAlsoWhereTheHighWatermarkLagsBehind) {
  open();
  append({.count = 2, .producer = ProducerId(7), .producerEpoch = ProducerEpoch(0), .baseSequence = 0});
  append({.count = 2});
  log_->updateHighWatermark(Offset(2));
  ASSERT_TRUE(log_->deleteRecords(Offset(2)));
  ASSERT_TRUE(log_->close());
  options_.logStartOffset = Offset(2);
  options_.highWatermark = Offset(2);
  open(true);
  EXPECT_EQ(appendError({.producer = ProducerId(7), .producerEpoch = ProducerEpoch(0), .baseSequence = 9}),
            ErrorCode::OutOfOrderSequenceNumber);
  append({.producer = ProducerId(7), .producerEpoch = ProducerEpoch(0), .baseSequence = 2});
}

TEST_F(RecoveryTest, aSnapshotFromBeforeTheStopIsOnDiskAfterIt) {
  open();
  append({.count = 2, .producer = ProducerId(7), .producerEpoch = ProducerEpoch(0), .baseSequence = 0});
  ASSERT_TRUE(log_->roll());  // takes it
  ASSERT_TRUE(log_->close());
  EXPECT_TRUE(process_->disk().isDurable("/data/orders-0/00000000000000000002.snapshot"));
}

/// Segments of a compacted topic as old cleaners of Kafka left them: the first holds a batch too far from its base.
class OverflowTest : public RecoveryTest {
 protected:
  static constexpr int64_t kFar = int64_t{INT32_MAX} + 11;
  static constexpr int64_t kNext = int64_t{INT32_MAX} + 100;

  void begin() {
    startWorld(1);
    options_.config.compact = true;
    open();
    append({.count = 2});
    crash(Crash::Kill);
    restart();
    appendRaw(kFirstLog, makeBatch({.count = 3, .baseOffset = Offset(kFar)}));
    appendRaw(offsetFilePath(options_.directory, Offset(kNext), kLogSuffix), makeBatch({.baseOffset = Offset(kNext)}));
  }
  void expectSplit() {
    expectEnd(kNext + 1);
    std::vector<int64_t> bases;
    for (const SegmentInfo& segment : log_->segments()) bases.push_back(segment.baseOffset.value());
    EXPECT_THAT(bases, ElementsAre(0, kFar, kNext));
    std::vector<int64_t> batches;
    for (const auto& header : readHeaders(*log_, Offset(0))) batches.push_back(header.baseOffset.value());
    EXPECT_THAT(batches, ElementsAre(0, kFar, kNext));
    for (const std::string& name : names())
      EXPECT_FALSE(name.ends_with(kCleanedSuffix) || name.ends_with(kSwapSuffix)) << name << " was left";
    expectIndexesTrue();
  }
};

TEST_F(OverflowTest, aSegmentWhoseOffsetsReachTooFarIsSplitAndLosesNothing) {
  begin();
  open();
  expectSplit();
}

TEST_F(OverflowTest, aCrashAtAnyFileCallOfTheSplitLosesNothing) {
  for (uint64_t call = 1;; ++call) {
    begin();
    process_->crashAtFileCall(call, Crash::Kill);
    const auto opened = tryOpen();
    if (process_->state() != platform::Process::State::Dead) break;
    restart();
    open();
    expectSplit();
    ASSERT_FALSE(HasFailure()) << "crash at file call " << call;
  }
}

TEST_F(OverflowTest, aBatchThatReachesIntoTheNextSegmentIsATornWriteAndIsCut) {
  begin();
  change(kFirstLog, [](platform::File& file) { ASSERT_TRUE(file.truncate(makeBatch({.count = 2}).size())); });
  appendRaw(kFirstLog, makeBatch({.baseOffset = Offset(kNext)}));
  open();
  EXPECT_EQ(readHeaders(*log_, Offset(0)).front().baseOffset, Offset(0));
  EXPECT_EQ(log_->segments().front().sizeInBytes, static_cast<int64_t>(makeBatch({.count = 2}).size()));
}

}  // namespace
}  // namespace tidemark::log
