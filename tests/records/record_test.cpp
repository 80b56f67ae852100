#include "records/record.h"

#include <algorithm>
#include <optional>
#include <vector>

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

/// Records of all lengths that take another way through the cursor: fields of one, two and more bytes, null, empty,
/// with headers.
struct Piece {
  int64_t timestampMs;
  Offset offset;
  std::optional<ByteVector> key;
  std::optional<ByteVector> value;
  size_t headers = 0;
};

std::vector<Piece> piecesOfAllKinds(size_t largest) {
  std::vector<Piece> pieces;
  Offset offset(0);
  for (const int64_t delta : {0, 63, 64, 9000, -9000, 3'000'000})
    for (const int64_t keySize : {-1, 0, 1, 63, 64, 9000})
      for (const int64_t valueSize : {-1, 0, 1, 63, 64, 9000})
        for (const size_t headers : {0, 2}) {
          if (std::max(keySize, valueSize) > static_cast<int64_t>(largest)) continue;
          const auto sized = [](int64_t size) {
            return size < 0 ? std::nullopt : std::optional(ByteVector(static_cast<size_t>(size), 0x80));
          };
          pieces.push_back({5'000'000 + delta, offset, sized(keySize), sized(valueSize), headers});
          offset = offset + (pieces.size() % 50 == 0 ? 9000 : 1);
        }
  return pieces;
}

ByteVector batchOf(const std::vector<Piece>& pieces) {
  const ByteVector name = {'h'};
  BatchBuilder builder;
  for (const Piece& piece : pieces) {
    const std::vector<RecordHeader> headers(piece.headers, {.key = name, .value = std::nullopt});
    builder.appendAt(piece.offset, piece.timestampMs, piece.key, piece.value, headers);
  }
  return builder.build();
}

TEST(Records, OfAnyLengthsAreReadAsTheyWereWritten) {
  const std::vector<Piece> pieces = piecesOfAllKinds(9000);
  const ByteVector bytes = batchOf(pieces);
  const BatchView batch = onlyBatch(bytes);
  RecordCursor cursor(batch.header, batch.payload());
  for (const Piece& piece : pieces) {
    ASSERT_EQ(cursor.next(), Step::Next) << cursor.reason();
    const RecordView record = cursor.record();
    EXPECT_EQ(record.offset, piece.offset);
    EXPECT_EQ(record.timestampMs, piece.timestampMs);
    const auto bytesOf = [](std::optional<ByteView> view) {
      return view ? std::optional(ByteVector(view->begin(), view->end())) : std::nullopt;
    };
    EXPECT_EQ(bytesOf(record.key), piece.key);
    EXPECT_EQ(bytesOf(record.value), piece.value);
    EXPECT_EQ(static_cast<size_t>(record.headerCount), piece.headers);
    HeaderCursor headers = record.headers();
    for (size_t i = 0; i < piece.headers; ++i) EXPECT_TRUE(headers.next().has_value());
  }
  EXPECT_EQ(cursor.next(), Step::End);
}

TEST(Records, CutOffAtAnyByteAreTheWholeOnesBeforeIt) {
  const std::vector<Piece> pieces = piecesOfAllKinds(64);
  const ByteVector bytes = batchOf(pieces);
  const BatchView batch = onlyBatch(bytes);
  std::vector<size_t> ends;
  RecordCursor whole(batch.header, batch.payload());
  while (whole.next() == Step::Next)
    ends.push_back(
        static_cast<size_t>(whole.record().bytes.data() + whole.record().bytes.size() - batch.payload().data()));
  ASSERT_EQ(ends.size(), pieces.size());
  // On the heap, exactly as many bytes: a sanitizer sees a look at one more.
  for (size_t size = 0; size < batch.payload().size(); size += size < 3000 ? 1 : 97) {
    const ByteVector cut(batch.payload().begin(), batch.payload().begin() + static_cast<ptrdiff_t>(size));
    RecordCursor cursor(batch.header, cut);
    size_t read = 0;
    while (cursor.next() == Step::Next) ++read;
    EXPECT_EQ(read, static_cast<size_t>(std::ranges::upper_bound(ends, size) - ends.begin())) << size;
    EXPECT_EQ(cursor.next(), Step::Corrupt) << size;
  }
}

TEST(Records, WhateverByteOfThemIsFalseLieInTheirBatch) {
  const ByteVector bytes = batchOf(piecesOfAllKinds(1));
  const BatchView batch = onlyBatch(bytes);
  for (size_t at = 0; at < batch.payload().size(); ++at)
    for (const uint8_t flip : {0x01, 0x02, 0x40, 0x80, 0xff}) {
      ByteVector payload(batch.payload().begin(), batch.payload().end());
      payload[at] ^= flip;
      RecordCursor cursor(batch.header, payload);
      const uint8_t* end = payload.data();
      while (cursor.next() == Step::Next) {
        const RecordView record = cursor.record();
        ASSERT_EQ(record.bytes.data(), end) << at;
        end += record.bytes.size();
        size_t inside = 0;
        for (const std::optional<ByteView>& part : {record.key, record.value}) {
          if (!part) continue;
          ASSERT_GE(part->data(), record.bytes.data()) << at;
          ASSERT_LE(part->data() + part->size(), end) << at;
          inside += part->size();
        }
        ASSERT_LT(inside, record.bytes.size()) << at;
      }
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
