#include <gmock/gmock.h>

#include "log_fixture.h"

namespace tidemark::log {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class PartitionLogTest : public LogFixture {
 protected:
  PartitionLogTest() { open(); }
  /// Offsets at which batches start.
  std::vector<int64_t> bases(Offset from = Offset(0), FetchIsolation isolation = FetchIsolation::LogEnd) {
    std::vector<int64_t> found;
    for (const auto& header : readHeaders(*log_, from, isolation)) found.push_back(header.baseOffset.value());
    return found;
  }
};

TEST_F(PartitionLogTest, aNewLogIsEmptyAndHasTheFilesOfOneSegment) {
  expectEnd(0);
  EXPECT_EQ(log_->highWatermark(), Offset(0));
  EXPECT_THAT(names(), UnorderedElementsAre("00000000000000000000.index", "00000000000000000000.log",
                                            "00000000000000000000.timeindex"));
}

TEST_F(PartitionLogTest, theLeaderAssignsOffsetsAndEpoch) {
  append({.count = 3, .epoch = LeaderEpoch(5)});
  const AppendInfo info = append({.count = 2, .epoch = LeaderEpoch(5)});
  EXPECT_EQ(info.firstOffset, Offset(3));
  EXPECT_EQ(info.lastOffset, Offset(4));
  expectEnd(5);
  const auto headers = readHeaders(*log_, Offset(0));
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[1].baseOffset, Offset(3));
  EXPECT_EQ(headers[1].leaderEpoch, LeaderEpoch(5));
  EXPECT_THAT(log_->epochEntries(), ElementsAre(EpochEntry{LeaderEpoch(5), Offset(0)}));
}

TEST_F(PartitionLogTest, aReadStartsWithTheWholeBatchThatHoldsTheOffset) {
  append({.count = 3});
  append({.count = 3});
  const auto read = log_->read(Offset(4), 1 << 20, FetchIsolation::LogEnd, true);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->start.offset, Offset(4));
  ByteVector got(read->slice.length);
  ASSERT_TRUE(read->slice.file->readAt(read->slice.position, got));
  EXPECT_EQ(records::BatchHeader::read(got.data()).baseOffset, Offset(3));
}

TEST_F(PartitionLogTest, theFirstBatchComesWholeHoweverSmallTheLimitIfAskedFor) {
  append({.count = 10, .valueSize = 100});
  const auto whole = log_->read(Offset(0), 1, FetchIsolation::LogEnd, true);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->slice.length, static_cast<uint64_t>(log_->sizeInBytes()));
  EXPECT_FALSE(whole->firstBatchIncomplete);
  const auto cut = log_->read(Offset(0), 1, FetchIsolation::LogEnd, false);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->slice.length, 1u);
  EXPECT_TRUE(cut->firstBatchIncomplete);
}

TEST_F(PartitionLogTest, readsOutsideTheLogAreRefusedAndAtItsEndEmpty) {
  append({.count = 3});
  EXPECT_EQ(log_->read(Offset(4), 100, FetchIsolation::LogEnd, true).error().code, ErrorCode::OffsetOutOfRange);
  EXPECT_EQ(log_->read(Offset(-1), 100, FetchIsolation::LogEnd, true).error().code, ErrorCode::OffsetOutOfRange);
  const auto atEnd = log_->read(Offset(3), 100, FetchIsolation::LogEnd, true);
  ASSERT_TRUE(atEnd);
  EXPECT_EQ(atEnd->slice.length, 0u);
  EXPECT_EQ(atEnd->start, log_->logEndOffsetMetadata());
}

TEST_F(PartitionLogTest, aConsumerReadsOnlyBelowTheHighWatermark) {
  append({.count = 3});
  append({.count = 3});
  EXPECT_THAT(bases(Offset(0), FetchIsolation::HighWatermark), ElementsAre());
  log_->maybeIncrementHighWatermark({.offset = Offset(3)});
  EXPECT_THAT(bases(Offset(0), FetchIsolation::HighWatermark), ElementsAre(0));
  log_->maybeIncrementHighWatermark(log_->logEndOffsetMetadata());
  EXPECT_THAT(bases(Offset(0), FetchIsolation::HighWatermark), ElementsAre(0, 3));
  // Above the watermark, though in the log.
  append({.count = 1});
  const auto above = log_->read(Offset(6), 100, FetchIsolation::HighWatermark, true);
  ASSERT_TRUE(above);
  EXPECT_EQ(above->slice.length, 0u);
}

TEST_F(PartitionLogTest, aBoundInsideTheLogHoldsAcrossSegments) {
  options_.config.segmentBytes = 300;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 9; ++i) append({.count = 2});
  ASSERT_GT(log_->segments().size(), 2u);
  const auto bytes = log_->readBytesBelow(Offset(4), 1 << 20, Offset(5), true);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(bytes->empty()) << "offset 5 is inside the batch that holds 4";
  const auto whole = log_->readBytesBelow(Offset(4), 1 << 20, Offset(6), true);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->empty());
}

TEST_F(PartitionLogTest, readingGoesOnFromSegmentToSegment) {
  options_.config.segmentBytes = 300;
  log_->updateConfig(options_.config);
  std::vector<int64_t> expected;
  for (int i = 0; i < 20; ++i) expected.push_back(append({.count = 2}).firstOffset.value());
  EXPECT_GT(log_->segments().size(), 8u);
  EXPECT_EQ(bases(), expected);
  EXPECT_LE(handles_->size(), 4u) << "the cap of open segments";
  expectIndexesTrue(true);
}

TEST_F(PartitionLogTest, theIndexLeadsToTheSameBatchAsAScan) {
  for (int i = 0; i < 200; ++i) append({.count = 1 + i % 3, .valueSize = 40});
  expectIndexesTrue(true);
  const auto all = log_->batches(Offset(0), SIZE_MAX);
  ASSERT_TRUE(all);
  for (const BatchInfo& batch : *all)
    for (Offset offset = batch.header.baseOffset; offset <= batch.header.lastOffset(); offset = offset.next()) {
      const auto place = log_->locate(offset);
      ASSERT_TRUE(place);
      EXPECT_EQ(place->position, batch.position) << offset.value();
    }
}

TEST_F(PartitionLogTest, theIndexEntryIsTheLastOffsetAndTheStartOfItsBatch) {
  append({.count = 4, .valueSize = 100});  // more than the interval
  append({.count = 4});
  const auto entries = log_->offsetIndexEntries(Offset(0), 0, 10);
  ASSERT_TRUE(entries);
  const auto place = log_->locate(Offset(4));
  ASSERT_TRUE(place);
  EXPECT_THAT(*entries, ElementsAre(OffsetIndexEntry{Offset(7), place->position}));
  ASSERT_TRUE(log_->flush());
  const ByteVector raw = bytes("/data/orders-0/00000000000000000000.index");
  ASSERT_EQ(raw.size(), 8u);
  EXPECT_EQ(readBigEndian<int32_t>(raw.data()), 7);
  EXPECT_EQ(readBigEndian<int32_t>(raw.data() + 4), place->position);
}

TEST_F(PartitionLogTest, indexEntriesAreFoundBeforeTheyAreInTheFile) {
  constexpr int kAppended = 200;  // every second one gets an entry: more than wait in memory at once
  for (int i = 0; i < kAppended; ++i) append({.count = 4, .valueSize = 40});
  const auto entries = log_->offsetIndexEntries(Offset(0), 0, kAppended);
  ASSERT_TRUE(entries);
  const std::string file = "/data/orders-0/00000000000000000000.index";
  const size_t before = bytes(file).size() / 8;
  EXPECT_GT(before, 0u);
  EXPECT_LT(before, entries->size());
  for (const OffsetIndexEntry& entry : *entries) {
    const auto place = log_->locate(entry.offset);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->position, entry.position);
  }
  ASSERT_TRUE(log_->flush());
  EXPECT_EQ(bytes(file).size() / 8, entries->size());
}

TEST_F(PartitionLogTest, aSegmentRollsByAgeOfItsRecords) {
  options_.config.segmentMs = 1000;
  log_->updateConfig(options_.config);
  append({.firstTimestampMs = 5000});
  append({.firstTimestampMs = 6000});
  EXPECT_EQ(log_->segments().size(), 1u);
  append({.firstTimestampMs = 6001});
  ASSERT_EQ(log_->segments().size(), 2u);
  EXPECT_EQ(log_->segments()[1].baseOffset, Offset(2));
}

TEST_F(PartitionLogTest, anEmptySegmentDoesNotRollByTime) {
  options_.config.segmentMs = 1000;
  log_->updateConfig(options_.config);
  world_->runFor(std::chrono::seconds(10));
  // The new segment would take the place of this one, which has the same base offset: only its files tell.
  int replaced = 0;
  process_->disk().failWhen([&replaced](platform::FileCall call, const std::string& path) {
    replaced += path.ends_with(".log") && (call == platform::FileCall::Rename || call == platform::FileCall::Remove);
    return false;
  });
  append({.firstTimestampMs = process_->clock().wallMs()});
  EXPECT_EQ(replaced, 0);
  EXPECT_THAT(bases(), ElementsAre(0));
}

TEST_F(PartitionLogTest, aNewLeaderEpochIsWrittenBehindTheAppendAndNotByIt) {
  background_ = process_->createExecutor({.name = "background"});
  open();
  append({.epoch = LeaderEpoch(1)});
  world_->runFor(std::chrono::milliseconds(100));
  int calls = 0;
  process_->disk().failWhen([&calls](platform::FileCall call, const std::string& path) {
    calls += call == platform::FileCall::Sync || path.contains("leader-epoch-checkpoint");
    return false;
  });
  append({.epoch = LeaderEpoch(2)});
  EXPECT_EQ(calls, 0);
  world_->runFor(std::chrono::milliseconds(100));
  EXPECT_GT(calls, 0);
  EXPECT_EQ(text("/data/orders-0/leader-epoch-checkpoint"), "0\n2\n1 0\n2 1\n");
}

TEST_F(PartitionLogTest, aSegmentRollsWhenAnIndexIsFull) {
  options_.config.segmentIndexBytes = 24;  // three offset entries, two time entries
  log_->updateConfig(options_.config);
  for (int i = 0; i < 4; ++i) append({.valueSize = 300, .firstTimestampMs = 1000 + i});
  ASSERT_EQ(log_->segments().size(), 2u);
  EXPECT_EQ(log_->segments()[1].baseOffset, Offset(3));
}

TEST_F(PartitionLogTest, aSegmentRollsWhenAnOffsetIsTooFarFromItsBase) {
  appendAsFollower({.baseOffset = Offset(10)});
  appendAsFollower({.baseOffset = Offset(int64_t{INT32_MAX} + 11)});
  ASSERT_EQ(log_->segments().size(), 2u);
  EXPECT_EQ(log_->segments()[1].baseOffset, Offset(int64_t{INT32_MAX} + 11));
  EXPECT_THAT(bases(), ElementsAre(10, int64_t{INT32_MAX} + 11));
}

TEST_F(PartitionLogTest, aBatchLargerThanASegmentIsRefused) {
  options_.config.segmentBytes = 200;
  log_->updateConfig(options_.config);
  EXPECT_EQ(appendError({.valueSize = 500}), ErrorCode::RecordListTooLarge);
  expectEnd(0);
}

TEST_F(PartitionLogTest, whatTheLeaderSentIsKeptAsItIs) {
  const ByteVector first = makeBatch({.count = 2, .baseOffset = Offset(0), .epoch = LeaderEpoch(3)});
  const ByteVector second = makeBatch({.count = 2, .baseOffset = Offset(7), .epoch = LeaderEpoch(4)});
  ByteVector both = first;
  both.insert(both.end(), second.begin(), second.end());
  ByteVector cut = both;
  cut.resize(cut.size() + 30, 0);  // the beginning of a batch that did not fit
  std::copy_n(first.begin(), 30, cut.begin() + static_cast<ptrdiff_t>(both.size()));
  const auto info = log_->appendAsFollower(cut);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->lastOffset, Offset(8));
  EXPECT_EQ(bytes("/data/orders-0/00000000000000000000.log"), both);
  EXPECT_THAT(log_->epochEntries(),
              ElementsAre(EpochEntry{LeaderEpoch(3), Offset(0)}, EpochEntry{LeaderEpoch(4), Offset(7)}));
}

TEST_F(PartitionLogTest, aFollowerRefusesDamagedAndOldBatches) {
  appendAsFollower({.count = 2});
  ByteVector damaged = makeBatch({.baseOffset = Offset(2)});
  damaged.back() ^= 1;
  EXPECT_EQ(log_->appendAsFollower(damaged).error().code, ErrorCode::CorruptMessage);
  EXPECT_EQ(log_->appendAsFollower(makeBatch({.baseOffset = Offset(1)})).error().code, ErrorCode::OffsetOutOfRange);
  expectEnd(2);
}

TEST_F(PartitionLogTest, aFollowerStopsBeforeBatchesOfALaterEpochThanItAskedIn) {
  ByteVector both = makeBatch({.epoch = LeaderEpoch(1)});
  const ByteVector later = makeBatch({.baseOffset = Offset(1), .epoch = LeaderEpoch(2)});
  both.insert(both.end(), later.begin(), later.end());
  const auto info = log_->appendAsFollower(both, LeaderEpoch(1));
  ASSERT_TRUE(info);
  expectEnd(1);
}

TEST_F(PartitionLogTest, aTimestampFindsTheRecordNotItsBatch) {
  append({.count = 5, .firstTimestampMs = 1000});
  append({.count = 5, .firstTimestampMs = 2000, .codec = records::Codec::Zstd});
  append({.count = 5, .firstTimestampMs = 1500});
  const auto find = [&](int64_t timestamp) { return log_->offsetForTimestamp(timestamp).value(); };
  EXPECT_EQ(find(1003)->offset, Offset(3));
  EXPECT_EQ(find(1003)->timestampMs, 1003);
  EXPECT_EQ(find(1005)->offset, Offset(5));
  EXPECT_EQ(find(2004)->offset, Offset(9));
  EXPECT_EQ(find(2005), std::nullopt);
  EXPECT_EQ(find(kMaxTimestamp)->offset, Offset(9));
  EXPECT_EQ(find(kEarliestTimestamp)->offset, Offset(0));
  EXPECT_EQ(find(kEarliestTimestamp)->timestampMs, -1);
  EXPECT_EQ(find(kLatestTimestamp)->offset, Offset(15));
  EXPECT_EQ(find(kLatestTimestamp)->leaderEpoch, LeaderEpoch(0));
}

TEST_F(PartitionLogTest, timestampsAreFoundAcrossSegmentsAndAboveTheLogStart) {
  options_.config.segmentBytes = 400;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 30; ++i) append({.count = 2, .firstTimestampMs = 1000 + 10 * (i ^ 1)});
  log_->updateHighWatermark(log_->logEndOffset());
  ASSERT_TRUE(log_->deleteRecords(Offset(7)));
  for (int64_t timestamp = 990; timestamp < 1310; ++timestamp) {
    std::optional<int64_t> expected;
    for (int64_t offset = 7; offset < 60 && !expected; ++offset)
      if (1000 + 10 * ((offset / 2) ^ 1) + offset % 2 >= timestamp) expected = offset;
    const auto found = log_->offsetForTimestamp(timestamp).value();
    EXPECT_EQ(found ? std::optional(found->offset.value()) : std::nullopt, expected) << timestamp;
  }
}

TEST_F(PartitionLogTest, truncationCutsAtTheBatchAndForgetsEpochs) {
  append({.count = 2, .epoch = LeaderEpoch(0)});
  append({.count = 2, .epoch = LeaderEpoch(1)});
  append({.count = 2, .epoch = LeaderEpoch(2)});
  log_->updateHighWatermark(Offset(6));
  const auto moved = log_->truncateTo(Offset(4));
  ASSERT_TRUE(moved && *moved);
  expectEnd(4);
  EXPECT_EQ(log_->highWatermark(), Offset(4));
  EXPECT_EQ(log_->latestEpoch(), LeaderEpoch(1));
  EXPECT_THAT(bases(), ElementsAre(0, 2));
  append({.count = 1, .epoch = LeaderEpoch(7)});
  EXPECT_THAT(bases(), ElementsAre(0, 2, 4));
  expectIndexesTrue();
}

TEST_F(PartitionLogTest, truncationAcrossSegmentsLeavesOneThatIsAppendedTo) {
  options_.config.segmentBytes = 300;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 20; ++i) append({.count = 2});
  ASSERT_TRUE(log_->truncateTo(Offset(10)));
  expectEnd(10);
  expectIndexesTrue();
  append({.count = 2});
  EXPECT_THAT(bases(), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(log_->segments().back().active, true);
}

TEST_F(PartitionLogTest, aReaderKeepsItsIndexThroughATruncation) {
  for (int i = 0; i < 50; ++i) append({.valueSize = 100});
  const auto before = log_->offsetIndexEntries(Offset(0), 0, 100);
  const auto slice = log_->read(Offset(20), 1 << 20, FetchIsolation::LogEnd, true);
  ASSERT_TRUE(log_->truncateTo(Offset(5)));
  EXPECT_LT(log_->offsetIndexEntries(Offset(0), 0, 100)->size(), before->size());
  ByteVector got(slice->slice.length);
  EXPECT_TRUE(slice->slice.file->readAt(slice->slice.position, got)) << "short, but no harm";
}

TEST_F(PartitionLogTest, truncatedFullyItStartsElsewhere) {
  append({.count = 5});
  ASSERT_TRUE(log_->truncateFullyAndStartAt(Offset(100), Offset(90)));
  expectEnd(100);
  EXPECT_EQ(log_->logStartOffset(), Offset(90));
  EXPECT_TRUE(log_->epochEntries().empty());
  append({.count = 2});
  EXPECT_THAT(bases(Offset(100)), ElementsAre(100));
}

TEST_F(PartitionLogTest, deletedRecordsCannotBeRead) {
  for (int i = 0; i < 5; ++i) append({.count = 2, .epoch = LeaderEpoch(i)});
  EXPECT_EQ(log_->deleteRecords(Offset(3)).error().code, ErrorCode::OffsetOutOfRange) << "above the high watermark";
  log_->updateHighWatermark(Offset(8));
  EXPECT_EQ(log_->deleteRecords(Offset(3)), Offset(3));
  EXPECT_EQ(log_->deleteRecords(Offset(1)), Offset(3)) << "it never falls";
  EXPECT_EQ(log_->read(Offset(2), 100, FetchIsolation::LogEnd, true).error().code, ErrorCode::OffsetOutOfRange);
  EXPECT_EQ(log_->epochEntries().front(), (EpochEntry{LeaderEpoch(1), Offset(3)}));
  EXPECT_EQ(log_->deleteRecords(Offset(-1)), Offset(8)) << "-1 is the high watermark";
}

TEST_F(PartitionLogTest, segmentsBelowTheLogStartGoAtTheNextCleanup) {
  options_.config.segmentBytes = 300;
  options_.config.retentionMs = -1;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 10; ++i) append({.count = 2});
  log_->updateHighWatermark(Offset(20));
  const Offset third = log_->segments()[2].baseOffset;
  ASSERT_TRUE(log_->deleteRecords(third + 1));
  EXPECT_EQ(log_->deleteOldSegments(), 2);
  EXPECT_EQ(log_->segments().front().baseOffset, third);
  EXPECT_EQ(log_->logStartOffset(), third + 1);
  for (const std::string& name : names()) EXPECT_FALSE(name.ends_with(".deleted")) << name;
}

TEST_F(PartitionLogTest, retentionBySizeAndTimeNeverPassesTheHighWatermark) {
  options_.config.segmentBytes = 300;
  options_.config.retentionMs = 1000;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 10; ++i) append({.count = 2, .firstTimestampMs = 1000});
  EXPECT_EQ(log_->deleteOldSegments(), 0);
  log_->updateHighWatermark(log_->segments()[1].baseOffset);
  EXPECT_EQ(log_->deleteOldSegments(), 1);
  log_->updateHighWatermark(Offset(20));
  log_->deleteOldSegments().value();
  expectEnd(20);
  EXPECT_EQ(log_->logStartOffset(), Offset(20)) << "all are old: an empty segment is left";
  EXPECT_EQ(log_->segments().size(), 1u);
}

TEST_F(PartitionLogTest, retentionBySizeKeepsWhatFits) {
  options_.config.segmentBytes = 300;
  options_.config.retentionMs = -1;
  options_.config.retentionBytes = 700;
  log_->updateConfig(options_.config);
  for (int i = 0; i < 10; ++i) append({.count = 2});
  log_->updateHighWatermark(Offset(20));
  ASSERT_GT(log_->deleteOldSegments().value(), 0);
  EXPECT_GE(log_->sizeInBytes(), 700);
  EXPECT_LT(log_->sizeInBytes(), 700 + 300);
}

TEST_F(PartitionLogTest, theHighWatermarkStaysWithinTheLogAndOnlyRisesForALeader) {
  append({.count = 10});
  EXPECT_EQ(log_->updateHighWatermark(Offset(50)), Offset(10));
  EXPECT_EQ(log_->updateHighWatermark(Offset(3)), Offset(3));
  EXPECT_EQ(log_->maybeIncrementHighWatermark({.offset = Offset(2)}), std::nullopt);
  EXPECT_EQ(log_->maybeIncrementHighWatermark({.offset = Offset(7)})->offset, Offset(3));
  EXPECT_EQ(log_->maybeUpdateHighWatermark(Offset(5)), std::nullopt);
  EXPECT_EQ(log_->maybeUpdateHighWatermark(Offset(99)), Offset(10));
  EXPECT_THROW(log_->maybeIncrementHighWatermark({.offset = Offset(11)}), InvariantBroken);
}

TEST_F(PartitionLogTest, aHighWatermarkAtTheEndMovesToTheNewSegmentWithIt) {
  append({.count = 2});
  log_->maybeIncrementHighWatermark(log_->logEndOffsetMetadata());
  ASSERT_TRUE(log_->roll());
  EXPECT_EQ(log_->offsetSnapshot().highWatermark, log_->logEndOffsetMetadata());
  EXPECT_EQ(log_->logEndOffsetMetadata().segmentBaseOffset, Offset(2));
}

TEST_F(PartitionLogTest, epochsAnswerWhereTheyEnded) {
  append({.count = 2, .epoch = LeaderEpoch(1)});
  append({.count = 2, .epoch = LeaderEpoch(4)});
  log_->assignEpochStartOffset(LeaderEpoch(6), log_->logEndOffset());
  EXPECT_EQ(log_->endOffsetForEpoch(LeaderEpoch(0)), (EpochEndOffset{LeaderEpoch(0), Offset(0)}));
  EXPECT_EQ(log_->endOffsetForEpoch(LeaderEpoch(1)), (EpochEndOffset{LeaderEpoch(1), Offset(2)}));
  EXPECT_EQ(log_->endOffsetForEpoch(LeaderEpoch(2)), (EpochEndOffset{LeaderEpoch(1), Offset(2)}));
  EXPECT_EQ(log_->endOffsetForEpoch(LeaderEpoch(6)), (EpochEndOffset{LeaderEpoch(6), Offset(4)}));
  EXPECT_EQ(log_->endOffsetForEpoch(LeaderEpoch(7)), EpochEndOffset{});
  EXPECT_EQ(text("/data/orders-0/leader-epoch-checkpoint"), "0\n3\n1 0\n4 2\n6 4\n");
}

TEST_F(PartitionLogTest, aFailedWriteTakesTheLogOfflineForGood) {
  append();
  std::optional<Error> told;
  options_.hooks.onFailure = [&](const Error& error) { told = error; };
  restart();
  open();
  process_->disk().setCapacity(process_->disk().used() + 20);
  EXPECT_EQ(appendError({.valueSize = 200}), ErrorCode::KafkaStorageError);
  ASSERT_TRUE(told);
  process_->disk().setCapacity(UINT64_MAX);
  EXPECT_EQ(appendError({}), ErrorCode::KafkaStorageError) << "bytes nobody counts may be in the file";
  EXPECT_EQ(log_->read(Offset(0), 100, FetchIsolation::LogEnd, true).error().code, ErrorCode::KafkaStorageError);
}

TEST_F(PartitionLogTest, aFailedSyncIsNeverRetried) {
  append();
  process_->disk().failWhen(
      [](platform::FileCall call, const std::string&) { return call == platform::FileCall::Sync; });
  EXPECT_EQ(log_->sync().error().code, ErrorCode::KafkaStorageError);
  process_->disk().failWhen({});
  EXPECT_TRUE(log_->offline());
  EXPECT_EQ(log_->sync().error().code, ErrorCode::KafkaStorageError);
  EXPECT_EQ(log_->close().error().code, ErrorCode::KafkaStorageError);
}

TEST_F(PartitionLogTest, theTopicIdIsWrittenOnceAndGuarded) {
  const Uuid id = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
  ASSERT_TRUE(log_->assignTopicId(id));
  EXPECT_EQ(text("/data/orders-0/partition.metadata"), "version: 0\ntopic_id: tJMO2nMoSU2UnLx3qwW8VA");
  EXPECT_EQ(log_->assignTopicId(*Uuid::parse("WUPcycz9SQuWa1bKSlm43w")).error().code, ErrorCode::InconsistentTopicId);
  options_.topicId = *Uuid::parse("WUPcycz9SQuWa1bKSlm43w");
  restart();
  EXPECT_EQ(tryOpen().error().code, ErrorCode::InconsistentTopicId);
}

}  // namespace
}  // namespace tidemark::log
