#include <gmock/gmock.h>

#include "log/cleaner/batch_filter.h"
#include "log/cleaner/cleanable.h"
#include "log/cleaner/cleaned_transactions.h"
#include "log/cleaner/offset_map.h"
#include "log/cleaner/superseded_offsets.h"
#include "records/batch_builder.h"

// The cleaner's decisions, each by itself.

namespace tidemark::log {
namespace {

using records::BatchBuilder;
using records::BatchHeader;
using records::BatchOptions;
using records::RecordView;
using testing::ElementsAre;

// --- the map ---
Offset put(OffsetMap& map, std::string_view key, int64_t offset) {
  return map.put(map.hashOf(asBytes(key)), Offset(offset));
}

Offset get(const OffsetMap& map, std::string_view key) {
  return map.get(map.hashOf(asBytes(key)));
}

TEST(OffsetMapTest, theLatestOffsetOfAKeyIsKept) {
  OffsetMap map(100, {1, 2});
  EXPECT_EQ(put(map, "a", 0), kNoOffset);
  EXPECT_EQ(put(map, "b", 4), kNoOffset);
  EXPECT_EQ(put(map, "a", 9), Offset(0)) << "what it replaced";
  EXPECT_EQ(get(map, "a"), Offset(9));
  EXPECT_EQ(get(map, "b"), Offset(4));
  EXPECT_EQ(get(map, "c"), kNoOffset);
  EXPECT_EQ(get(map, ""), kNoOffset);
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(map.memoryBytes(), 2400u);
}

TEST(OffsetMapTest, manyKeysInAlmostAllItsSlotsAreAllFound) {
  OffsetMap map(1001, {77, 3});
  for (int i = 0; i < 1000; ++i) put(map, fmt::format("key-{}", i), i);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(get(map, fmt::format("key-{}", i)), Offset(i));
  EXPECT_EQ(get(map, "key-1000"), kNoOffset);
}

TEST(OffsetMapTest, itTakesNoMoreMemoryThanItsKeysNeed) {
  constexpr int kKeys = 100'000;
  for (const size_t slots : {size_t{kKeys} + 1, size_t{150'001}, size_t{10'000'000}}) {
    OffsetMap map(slots, {77, 3});
    EXPECT_EQ(map.slots(), slots);
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_EQ(put(map, fmt::format("key-{}", i), i), kNoOffset);
      // What came last and what came first, through every change of size.
      ASSERT_EQ(get(map, fmt::format("key-{}", i)), Offset(i));
      ASSERT_EQ(get(map, fmt::format("key-{}", i / 2)), Offset(i / 2));
      ASSERT_EQ(map.size(), static_cast<size_t>(i) + 1);
    }
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(get(map, fmt::format("key-{}", i)), Offset(i));
    EXPECT_EQ(get(map, "none"), kNoOffset);
    EXPECT_LE(map.memoryBytes(), std::min<size_t>(slots, kKeys * 4) * OffsetMap::kEntrySize);
  }
}

TEST(SupersededOffsetsTest, eachOffsetOfTheRangeHasItsOwnBit) {
  SupersededOffsets superseded(Offset(100), 130);
  for (const int64_t offset : {100, 163, 164, 229}) superseded.add(Offset(offset));
  std::vector<int64_t> found;
  for (int64_t offset = 100; offset < 230; ++offset)
    if (superseded.contains(Offset(offset))) found.push_back(offset);
  EXPECT_THAT(found, ElementsAre(100, 163, 164, 229));
  for (const int64_t outside : {99, 100 + 3 * 64, -1}) {
    superseded.add(Offset(outside));
    EXPECT_FALSE(superseded.contains(Offset(outside)));
  }
  EXPECT_EQ(SupersededOffsets::memoryBytes(130), 24u);
}

TEST(SupersededOffsetsTest, whatIsLeftOfAnyStretchIsWhatHasNoBit) {
  SupersededOffsets superseded(Offset(100), 300);
  for (int64_t offset = 100; offset < 400; ++offset)
    if (offset % 3 != 0) superseded.add(Offset(offset));
  for (int64_t from = 100; from < 300; from += 7) {
    for (const size_t count : {size_t{1}, size_t{2}, size_t{63}, size_t{64}, size_t{65}, size_t{100}}) {
      std::vector<int64_t> expected;
      for (int64_t offset = from; offset < from + static_cast<int64_t>(count); ++offset)
        if (offset % 3 == 0) expected.push_back(offset);
      std::vector<int64_t> found;
      superseded.forEachLeft(Offset(from), count, [&](size_t i) { found.push_back(from + static_cast<int64_t>(i)); });
      EXPECT_EQ(found, expected) << from << ", " << count;
      EXPECT_EQ(superseded.left(Offset(from), count), expected.size());
    }
  }
}

// --- what could be cleaned ---
SegmentFacts segment(int64_t base, int64_t size = 100, int64_t largest = 0, int64_t first = -1) {
  return {.baseOffset = Offset(base), .sizeInBytes = size, .largestTimestampMs = largest, .firstTimestampMs = first};
}

CleanableFacts facts(std::vector<SegmentFacts> segments, int64_t lastStable, std::optional<int64_t> cleanedTo = {}) {
  CleanableFacts facts{
      .logStart = Offset(0), .logEnd = Offset(1000), .lastStable = Offset(lastStable), .segments = std::move(segments)};
  if (cleanedTo) facts.cleanedTo = Offset(*cleanedTo);
  return facts;
}

TEST(CleanableTest, theActiveSegmentIsNeverCleaned) {
  const CleanPlan plan = planCleaning(facts({segment(0), segment(10), segment(20)}, 1000), {}, 0);
  EXPECT_EQ(plan.firstDirty, Offset(0));
  EXPECT_EQ(plan.firstUncleanable, Offset(20));
  EXPECT_EQ(plan.cleanableBytes, 200);
  EXPECT_EQ(plan.uncleanableBytes, 100);
  EXPECT_EQ(plan.dirtyRatio(), 1.0);
  EXPECT_TRUE(plan.due);
  EXPECT_FALSE(planCleaning(facts({segment(0)}, 1000), {}, 0).due) << "there is no other";
}

TEST(CleanableTest, nothingFromTheLastStableOffsetOnIsCleaned) {
  const std::vector<SegmentFacts> segments{segment(0), segment(10), segment(20), segment(30)};
  EXPECT_EQ(planCleaning(facts(segments, 15), {}, 0).firstUncleanable, Offset(10)) << "the segment that holds it";
  EXPECT_EQ(planCleaning(facts(segments, 20), {}, 0).firstUncleanable, Offset(20));
  EXPECT_EQ(planCleaning(facts(segments, 9), {}, 0).firstUncleanable, Offset(0));
  EXPECT_FALSE(planCleaning(facts(segments, 9), {}, 0).due);
}

TEST(CleanableTest, theDirtyRatioMustBeExceeded) {
  LogConfig config;
  const std::vector<SegmentFacts> segments{segment(0), segment(10), segment(20)};
  EXPECT_EQ(planCleaning(facts(segments, 1000, 10), config, 0).dirtyRatio(), 0.5);
  EXPECT_FALSE(planCleaning(facts(segments, 1000, 10), config, 0).due) << "0.5 is not more than 0.5";
  config.minCleanableDirtyRatio = 0.49;
  EXPECT_TRUE(planCleaning(facts(segments, 1000, 10), config, 0).due);
  config.minCleanableDirtyRatio = 0;
  EXPECT_FALSE(planCleaning(facts(segments, 1000, 20), config, 0).due) << "all is clean";
}

TEST(CleanableTest, youngRecordsStayDirtyUntilTheirLagIsOver) {
  LogConfig config;
  config.minCompactionLagMs = 1000;
  const std::vector<SegmentFacts> segments{segment(0, 100, 5000), segment(10, 100, 9000), segment(20, 100, 9500),
                                           segment(30)};
  const CleanPlan plan = planCleaning(facts(segments, 1000), config, 9999);
  EXPECT_EQ(plan.firstUncleanable, Offset(10));
  EXPECT_EQ(plan.lookAgainAtMs, 10'000);
  EXPECT_EQ(planCleaning(facts(segments, 1000), config, 10'000).firstUncleanable, Offset(20));
  EXPECT_EQ(planCleaning(facts(segments, 1000), config, 10'500).firstUncleanable, Offset(30));
}

TEST(CleanableTest, oldRecordsAreCleanedHoweverFewTheyAre) {
  LogConfig config;
  config.maxCompactionLagMs = 1000;
  const std::vector<SegmentFacts> segments{segment(0, 1000, 0, 10), segment(10, 1, 0, 5000), segment(20)};
  const CleanPlan early = planCleaning(facts(segments, 1000, 10), config, 6000);
  EXPECT_FALSE(early.due);
  EXPECT_EQ(early.lookAgainAtMs, 6001);
  const CleanPlan late = planCleaning(facts(segments, 1000, 10), config, 6001);
  EXPECT_TRUE(late.overdue);
  EXPECT_TRUE(late.due);
  EXPECT_FALSE(planCleaning(facts(segments, 10, 10), config, 6001).due) << "not stable yet";
}

TEST(CleanableTest, aCheckpointOutsideTheLogStartsAnew) {
  const std::vector<SegmentFacts> segments{segment(50), segment(60), segment(70)};
  CleanableFacts found = facts(segments, 1000, 7);
  found.logStart = Offset(55);
  EXPECT_EQ(planCleaning(found, {}, 0).firstDirty, Offset(55));
  EXPECT_TRUE(planCleaning(found, {}, 0).checkpointWrong);
  found.cleanedTo = Offset(1001);
  EXPECT_EQ(planCleaning(found, {}, 0).firstDirty, Offset(55));
}

TEST(CleanableTest, smallNeighboursAreGroupedIntoOneSegment) {
  LogConfig config;
  config.segmentBytes = 250;
  const std::vector<SegmentFacts> segments{segment(0),       segment(10),    segment(20),
                                           segment(30, 300), segment(40, 0), segment(50)};
  EXPECT_THAT(groupSegments(segments, config, Offset(60)),
              ElementsAre(SegmentGroup{0, 2}, SegmentGroup{2, 3}, SegmentGroup{3, 4}, SegmentGroup{4, 6}));
  std::vector<SegmentFacts> indexed{segment(0, 1), segment(10, 1), segment(20, 1)};
  for (SegmentFacts& fact : indexed) fact.offsetIndexBytes = 40;
  config.segmentIndexBytes = 80;
  EXPECT_THAT(groupSegments(indexed, config, Offset(60)), ElementsAre(SegmentGroup{0, 2}, SegmentGroup{2, 3}));
}

TEST(CleanableTest, relativeOffsetsOfAGroupFitIntoTheIndex) {
  const int64_t far = int64_t{INT32_MAX} + 1;
  LogConfig config;
  EXPECT_THAT(groupSegments(std::vector{segment(0), segment(far - 10)}, config, Offset(far)),
              ElementsAre(SegmentGroup{0, 2}));
  EXPECT_THAT(groupSegments(std::vector{segment(0), segment(far - 10)}, config, Offset(far + 1)),
              ElementsAre(SegmentGroup{0, 1}, SegmentGroup{1, 2}));
  EXPECT_THAT(
      groupSegments(std::vector{segment(0), segment(far + 5, 0), segment(far + 9, 0)}, config, Offset(far + 10)),
      ElementsAre(SegmentGroup{0, 3}))
      << "empty ones need no entries";
}

// --- what is left of a batch ---
struct Written {
  ByteVector bytes;
  records::BatchView view() const { return {BatchHeader::read(bytes.data()), bytes}; }
};

struct Line {
  std::string key;
  std::optional<std::string> value;
  int64_t offset;
};

Written batch(std::vector<Line> lines, BatchOptions options = {}) {
  options.baseOffset = Offset(lines.front().offset);
  options.leaderEpoch = LeaderEpoch(4);
  BatchBuilder builder(options);
  for (const Line& line : lines)
    builder.appendAt(Offset(line.offset), 1000 + line.offset, asBytes(line.key),
                     line.value ? std::optional<ByteView>(asBytes(*line.value)) : std::nullopt);
  return {builder.build()};
}

std::vector<std::string> linesOf(ByteView bytes) {
  std::vector<std::string> lines;
  records::BatchCursor cursor(bytes, records::BatchCursor::Check::Checksum);
  while (cursor.next() == records::Step::Next)
    EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const RecordView& record) {
      lines.push_back(fmt::format("{}={}{} at {}", record.offset, asText(*record.key),
                                  record.value ? fmt::format(":{}", asText(*record.value)) : "", record.timestampMs));
    }));
  EXPECT_EQ(cursor.position(), bytes.size());
  return lines;
}

bool keepAll(const records::RecordCursor&) {
  return true;
}

TEST(BatchFilterTest, aBatchOfWhichAllStaysIsNotTouched) {
  const Written in = batch({{"a", "1", 5}, {"b", "2", 6}}, {.codec = records::Codec::Lz4});
  ByteVector out;
  const auto left = BatchFilter(0, 1000).filter(in.view(), {}, keepAll, out);
  ASSERT_TRUE(left);
  EXPECT_EQ(out, in.bytes);
  EXPECT_EQ(left->recordsKept, 2);
}

TEST(BatchFilterTest, whatStaysKeepsOffsetsTimesEpochProducerAndCodec) {
  for (const auto codec : {records::Codec::None, records::Codec::Gzip, records::Codec::Snappy, records::Codec::Lz4,
                           records::Codec::Zstd}) {
    const Written in =
        batch({{"a", "1", 5}, {"b", "2", 6}, {"c", "3", 7}, {"d", "4", 8}},
              {.codec = codec, .producerId = ProducerId(9), .producerEpoch = ProducerEpoch(2), .baseSequence = 40});
    ByteVector out;
    const auto left = BatchFilter(0, 1000).filter(
        in.view(), {},
        [](const records::RecordCursor& record) {
          return record.offset() == Offset(6) || record.offset() == Offset(7);
        },
        out);
    ASSERT_TRUE(left);
    EXPECT_THAT(linesOf(out), ElementsAre("6=b:2 at 1006", "7=c:3 at 1007"));
    const BatchHeader header = *left->header;
    EXPECT_EQ(header.baseOffset, Offset(5));
    EXPECT_EQ(header.lastOffset(), Offset(8)) << "both ends of its offsets stay";
    EXPECT_EQ(header.codec(), codec);
    EXPECT_EQ(header.leaderEpoch, LeaderEpoch(4));
    EXPECT_EQ(header.producerId, ProducerId(9));
    EXPECT_EQ(header.baseSequence, 40);
    EXPECT_EQ(header.lastSequence(), 43);
    EXPECT_EQ(header.maxTimestampMs, 1007);
  }
}

TEST(BatchFilterTest, recordHeadersAndNullHeaderValuesStay) {
  BatchBuilder builder;
  const std::vector<records::RecordHeader> headers{{asBytes("h"), asBytes("v")}, {asBytes("n"), std::nullopt}};
  builder.append(1, asBytes("gone"), asBytes("x"));
  builder.append(2, asBytes("k"), asBytes("v"), headers);
  const Written in{builder.build()};
  ByteVector out;
  ASSERT_TRUE(BatchFilter(0, 0).filter(
      in.view(), {}, [](const records::RecordCursor& record) { return record.offset() == Offset(1); }, out));
  records::BatchCursor cursor(out);
  ASSERT_EQ(cursor.next(), records::Step::Next);
  ASSERT_TRUE(records::forEachRecord(cursor.batch(), [](const RecordView& record) {
    auto left = record.headers();
    EXPECT_EQ(asText(left.next()->key), "h");
    EXPECT_FALSE(left.next()->value);
    EXPECT_FALSE(left.next());
  }));
}

TEST(BatchFilterTest, logAppendTimeStaysWhatItWas) {
  BatchOptions options{.timestampType = records::TimestampType::LogAppendTime, .logAppendTimeMs = 7777};
  const Written in = batch({{"a", "1", 5}, {"b", "2", 6}}, options);
  ByteVector out;
  ASSERT_TRUE(BatchFilter(0, 0).filter(
      in.view(), {}, [](const records::RecordCursor& record) { return record.offset() == Offset(6); }, out));
  EXPECT_THAT(linesOf(out), ElementsAre("6=b:2 at 7777"));
}

TEST(BatchFilterTest, aBatchThatIsLeftWithTombstonesGetsItsHorizonOnce) {
  const Written in = batch({{"a", std::nullopt, 5}, {"b", "2", 6}});
  ByteVector first;
  const auto left = BatchFilter(50'000, 1000).filter(in.view(), {}, keepAll, first);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->tombstonesKept, 1);
  const BatchHeader header = *left->header;
  EXPECT_EQ(header.attributes & records::kDeleteHorizonBit, records::kDeleteHorizonBit);
  EXPECT_EQ(header.deleteHorizonMs(), 51'000);
  EXPECT_EQ(header.baseTimestampMs, 51'000) << "in the base timestamp's place";
  EXPECT_EQ(header.maxTimestampMs, 1006);
  EXPECT_THAT(linesOf(first), ElementsAre("5=a at 1005", "6=b:2 at 1006")) << "the records' own times stay";
  ByteVector second;
  const auto again = BatchFilter(90'000, 1000).filter(Written{first}.view(), {}, keepAll, second);
  ASSERT_TRUE(again);
  EXPECT_EQ(second, first) << "later passes leave it";
  ByteVector third;
  ASSERT_TRUE(BatchFilter(90'000, 1000)
                  .filter(
                      Written{first}.view(), {}, [](const records::RecordCursor& record) { return !record.hasValue(); },
                      third));
  EXPECT_EQ(BatchHeader::read(third.data()).deleteHorizonMs(), 51'000);
}

TEST(BatchFilterTest, aBatchWithoutRecordsGoesOrLeavesItsHeader) {
  const Written in = batch({{"a", "1", 5}, {"b", "2", 6}}, {.codec = records::Codec::Zstd,
                                                            .producerId = ProducerId(9),
                                                            .producerEpoch = ProducerEpoch(2),
                                                            .baseSequence = 40,
                                                            .transactional = true});
  const auto none = [](const records::RecordCursor&) { return false; };
  ByteVector out;
  auto left = BatchFilter(0, 0).filter(in.view(), {}, none, out);
  EXPECT_FALSE(left->header);
  EXPECT_TRUE(out.empty());
  left = BatchFilter(0, 0).filter(in.view(), {.whenEmpty = EmptyBatch::Kept}, none, out);
  ASSERT_EQ(out.size(), records::kBatchHeaderSize);
  const Written emptied{out};
  const records::BatchView view = emptied.view();
  EXPECT_TRUE(view.isCrcValid());
  EXPECT_EQ(view.header.recordCount, 0);
  EXPECT_EQ(view.header.lastOffset(), Offset(6));
  EXPECT_EQ(view.header.lastSequence(), 41);
  EXPECT_TRUE(view.header.isTransactional());
  EXPECT_FALSE(view.header.isCompressed());
  EXPECT_EQ(view.header.baseTimestampMs, -1);
  EXPECT_EQ(view.header.maxTimestampMs, 1006);
  ByteVector again;
  ASSERT_TRUE(BatchFilter(0, 0).filter(view, {.whenEmpty = EmptyBatch::Kept}, none, again));
  EXPECT_EQ(again, out);
}

TEST(BatchFilterTest, recordsThatCannotBeReadAreAnError) {
  Written in = batch({{"a", "1", 5}, {"b", "2", 6}});
  in.bytes.resize(in.bytes.size() - 3);
  ByteVector out;
  EXPECT_EQ(BatchFilter(0, 0).filter(in.view(), {}, keepAll, out).error().code, ErrorCode::CorruptMessage);
}

// --- transactions ---
BatchHeader data(int64_t producer, int64_t offset, bool transactional = true) {
  BatchHeader header;
  header.baseOffset = Offset(offset);
  header.producerId = ProducerId(producer);
  header.recordCount = 1;
  if (transactional) header.attributes = records::kTransactionalBit;
  return header;
}
BatchHeader control(int64_t producer, int64_t offset, int32_t count = 1) {
  BatchHeader header = data(producer, offset);
  header.attributes |= records::kControlBit;
  header.recordCount = count;
  return header;
}
const std::optional<records::EndTxnMarker> kAbort = records::EndTxnMarker{.commit = false};
const std::optional<records::EndTxnMarker> kCommit = records::EndTxnMarker{.commit = true};

TEST(CleanedTransactionsTest, batchesOfAnAbortedTransactionAreToldApart) {
  CleanedTransactions transactions;
  transactions.addAborted(std::vector{AbortedTxn{ProducerId(1), Offset(3), Offset(9), Offset(10)}});
  EXPECT_FALSE(transactions.onBatch(data(1, 1))) << "an earlier transaction of it";
  EXPECT_FALSE(transactions.onControlBatch(control(1, 2), kCommit).transactionIsGone);
  EXPECT_TRUE(transactions.onBatch(data(1, 3)));
  EXPECT_FALSE(transactions.onBatch(data(2, 4)));
  EXPECT_FALSE(transactions.onBatch(data(1, 5, false)));
  const auto marker = transactions.onControlBatch(control(1, 9), kAbort);
  EXPECT_FALSE(marker.transactionIsGone);
  ASSERT_TRUE(marker.aborted);
  EXPECT_EQ(marker.aborted->firstOffset, Offset(3));
  EXPECT_FALSE(transactions.onBatch(data(1, 10))) << "a new one";
}

TEST(CleanedTransactionsTest, aMarkerWhoseTransactionIsGoneMayGo) {
  CleanedTransactions transactions;
  transactions.addAborted(std::vector{AbortedTxn{ProducerId(1), Offset(3), Offset(9), Offset(10)}});
  const auto aborted = transactions.onControlBatch(control(1, 9), kAbort);
  EXPECT_TRUE(aborted.transactionIsGone);
  EXPECT_FALSE(aborted.aborted) << "and its index entry with it";
  EXPECT_TRUE(transactions.onControlBatch(control(2, 10), kCommit).transactionIsGone);
  EXPECT_TRUE(transactions.onControlBatch(control(2, 11, 0), std::nullopt).transactionIsGone) << "emptied before";
  EXPECT_FALSE(transactions.onControlBatch(control(2, 12), std::nullopt).transactionIsGone) << "no marker of ours";
}

}  // namespace
}  // namespace tidemark::log
