#include "records/record.h"

#include <gtest/gtest.h>

#include "records/batch_builder.h"
#include "records/control.h"

namespace tidemark::records {
namespace {

BatchView onlyBatch(const ByteVector& bytes) {
  BatchCursor cursor(bytes, BatchCursor::Check::Checksum);
  EXPECT_EQ(cursor.next(), Step::Next);
  return cursor.batch();
}

TEST(Batches, ThatAreStampedKeepTheirChecksum) {
  BatchBuilder builder;
  builder.append(5, asBytes("k"), asBytes("v"));
  ByteVector bytes = builder.build();
  stamp(bytes, Offset(123456789012), LeaderEpoch(7));
  const BatchView batch = onlyBatch(bytes);
  EXPECT_EQ(batch.header.baseOffset, Offset(123456789012));
  EXPECT_EQ(batch.header.leaderEpoch, LeaderEpoch(7));
}

TEST(Batches, OneAfterAnotherAreFoundWithTheirPositions) {
  BatchBuilder a;
  a.append(1, std::nullopt, asBytes("first"));
  BatchBuilder b({.baseOffset = Offset(1)});
  b.append(2, std::nullopt, asBytes("second, longer"));
  ByteVector bytes = a.build();
  const size_t firstSize = bytes.size();
  const ByteVector second = b.build();
  bytes.insert(bytes.end(), second.begin(), second.end());

  BatchCursor cursor(bytes);
  ASSERT_EQ(cursor.next(), Step::Next);
  EXPECT_EQ(cursor.position(), firstSize);
  ASSERT_EQ(cursor.next(), Step::Next);
  EXPECT_EQ(cursor.batch().header.baseOffset, Offset(1));
  EXPECT_EQ(cursor.next(), Step::End);
  EXPECT_EQ(cursor.next(), Step::End);
}

TEST(Batches, ThatAreDamagedStopTheCursorWhereTheyStart) {
  BatchBuilder builder;
  builder.append(1, std::nullopt, asBytes("value"));
  const ByteVector good = builder.build();
  const auto cursorAfterOne = [&](ByteVector second, BatchCursor::Check check) {
    ByteVector bytes = good;
    bytes.insert(bytes.end(), second.begin(), second.end());
    BatchCursor cursor(bytes, check);
    EXPECT_EQ(cursor.next(), Step::Next);
    EXPECT_EQ(cursor.next(), Step::Corrupt);
    EXPECT_EQ(cursor.next(), Step::Corrupt);
    EXPECT_EQ(cursor.position(), good.size());
    return cursor.reason();
  };
  const auto structure = BatchCursor::Check::Structure;
  EXPECT_EQ(cursorAfterOne(ByteVector(good.begin(), good.end() - 1), structure), CorruptReason::Incomplete);
  EXPECT_EQ(cursorAfterOne(ByteVector(16, 0), structure), CorruptReason::Incomplete);
  ByteVector bad = good;
  bad[kMagicAt] = 1;
  EXPECT_EQ(cursorAfterOne(bad, structure), CorruptReason::BadMagic);
  bad = good;
  writeBigEndian<int32_t>(bad.data() + kLengthAt, 48);
  EXPECT_EQ(cursorAfterOne(bad, structure), CorruptReason::BadLength);
  writeBigEndian<int32_t>(bad.data() + kLengthAt, -1);
  EXPECT_EQ(cursorAfterOne(bad, structure), CorruptReason::BadLength);
  bad = good;
  bad.back() ^= 1;
  EXPECT_EQ(cursorAfterOne(bad, BatchCursor::Check::Checksum), CorruptReason::BadChecksum);
}

TEST(Batches, SequencesWrapBehindTheLargestToZero) {
  EXPECT_EQ(nextSequence(INT32_MAX, 1), 0);
  EXPECT_EQ(nextSequence(INT32_MAX - 1, 3), 1);
  EXPECT_EQ(nextSequence(5, 0), 5);
  BatchHeader header;
  header.baseSequence = INT32_MAX;
  header.lastOffsetDelta = 1;
  EXPECT_EQ(header.lastSequence(), 0);
  header.baseSequence = kNoSequence;
  EXPECT_EQ(header.lastSequence(), kNoSequence);
}

TEST(Records, MoreOrFewerThanTheCountSaysAreCorrupt) {
  BatchBuilder builder;
  builder.append(1, std::nullopt, asBytes("a"));
  builder.append(1, std::nullopt, asBytes("b"));
  ByteVector bytes = builder.build();
  for (const int32_t count : {0, 1, 3}) {
    writeBigEndian<int32_t>(bytes.data() + kCountAt, count);
    updateCrc(bytes);
    const Result<void> read = forEachRecord(onlyBatch(bytes), [](const RecordView&) {});
    ASSERT_FALSE(read.has_value()) << count;
    EXPECT_EQ(read.error().code, ErrorCode::CorruptMessage);
  }
}

TEST(Records, OfACodecThatDoesNotExistAreRefused) {
  BatchBuilder builder;
  builder.append(1, std::nullopt, asBytes("a"));
  ByteVector bytes = builder.build();
  writeBigEndian<int16_t>(bytes.data() + kAttributesAt, 5);
  updateCrc(bytes);
  const Result<void> read = forEachRecord(onlyBatch(bytes), [](const RecordView&) {});
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::UnsupportedCompressionType);
}

TEST(Records, OfControlBatchesWithoutAKnownTypeAreUnknown) {
  RecordView record;
  EXPECT_EQ(controlType(record), ControlType::Unknown);
  const ByteVector shortKey{0, 0, 0};
  record.key = shortKey;
  EXPECT_EQ(controlType(record), ControlType::Unknown);
  const ByteVector farType{0, 0, 0, 9};
  record.key = farType;
  EXPECT_EQ(controlType(record), ControlType::Unknown);
  EXPECT_FALSE(readEndTxnMarker(record).has_value());
}

}  // namespace
}  // namespace tidemark::records
