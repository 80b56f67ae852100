// Whatever the bytes are, reading them ends with records or an error: no crash, no memory beyond the limit.

#include <random>

#include <gtest/gtest.h>

#include "records/batch_builder.h"
#include "records/golden_batches.h"
#include "records/message_set.h"
#include "records/record.h"
#include "records/validator.h"

namespace tidemark::records {
namespace {

constexpr size_t kLimit = 1 << 20;

void readAll(ByteView bytes) {
  BatchCursor cursor(bytes);
  while (cursor.next() == Step::Next) {
    (void)cursor.batch().isCrcValid();
    const Result<void> read = forEachRecord(
        cursor.batch(),
        [](const RecordView& record) {
          HeaderCursor headers = record.headers();
          while (headers.next()) {
          }
        },
        kLimit);
    (void)read;
  }
  (void)readOldBatch(bytes, kLimit);
}

void validate(ByteVector bytes) {
  ByteVector buffer;
  ProduceOptions options;
  options.decompressedLimit = kLimit;
  const ByteVector before = bytes;
  if (!validateForProduce(bytes, options, buffer)) {
    EXPECT_EQ(bytes, before);
  }
}

/// Exactly as many bytes on the heap as needed, so that the sanitizer sees a read of one more.
ByteVector prefix(const ByteVector& bytes, size_t size) {
  return ByteVector(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
}

bool isLarge(const GoldenCase& one) {
  return one.bytes.size() > 1000;
}

TEST(DamagedBatches, CutOffAtAnyByteAreNeverRead) {
  for (const GoldenCase& one : goldenCases()) {
    if (isLarge(one)) continue;
    for (size_t size = 0; size < one.bytes.size(); ++size) {
      const ByteVector cut = prefix(one.bytes, size);
      readAll(cut);
      if (size < one.batches.front().sizeInBytes && size > 0 && one.batches.front().magic == 2) {
        BatchCursor cursor(cut);
        EXPECT_EQ(cursor.next(), Step::Corrupt);
        EXPECT_EQ(cursor.reason(), CorruptReason::Incomplete);
      }
    }
  }
}

TEST(DamagedBatches, WithAnyByteChangedAreReadOrRefused) {
  for (const GoldenCase& one : goldenCases()) {
    if (isLarge(one)) continue;
    for (size_t i = 0; i < one.bytes.size(); ++i) {
      for (const uint8_t value : {uint8_t{0}, uint8_t{0x7f}, uint8_t{0x80}, uint8_t{0xff}}) {
        ByteVector damaged = one.bytes;
        damaged[i] = value;
        readAll(damaged);
        if (one.batches.front().magic != 2) continue;
        // And with a true checksum, so that the damage is not found there.
        if (one.batches.size() == 1 && i != kMagicAt && (i < kLengthAt || i >= kLengthAt + 4)) {
          writeBigEndian<int64_t>(damaged.data(), 0);
          updateCrc(damaged);
          validate(std::move(damaged));
        }
      }
    }
  }
}

TEST(DamagedBatches, WithManyBytesChangedAreReadOrRefused) {
  std::mt19937 random(20240607);
  for (const GoldenCase& one : goldenCases()) {
    if (one.batches.front().magic != 2 || one.batches.size() != 1 || isLarge(one)) continue;
    for (int round = 0; round < 200; ++round) {
      ByteVector damaged = one.bytes;
      const size_t from = kBatchHeaderSize + random() % std::max<size_t>(1, damaged.size() - kBatchHeaderSize);
      for (size_t i = from; i < std::min(damaged.size(), from + 1 + random() % 12); ++i) {
        damaged[i] = static_cast<uint8_t>(random());
      }
      writeBigEndian<int64_t>(damaged.data(), 0);
      updateCrc(damaged);
      readAll(damaged);
      validate(std::move(damaged));
    }
  }
}

TEST(DamagedBatches, WithEachRecordLengthInflatedAreRefused) {
  BatchBuilder builder;
  const RecordHeader header{asBytes("h"), asBytes("x")};
  for (int i = 0; i < 3; ++i) builder.append(1, asBytes("key"), asBytes("value"), std::span(&header, 1));
  const ByteVector good = builder.build();
  // Of the first record: length, key length, value length, count of headers, header key length, header value length.
  const size_t positions[] = {0, 4, 8, 14, 15, 17};
  for (const size_t position : positions) {
    for (const uint8_t value : {uint8_t{0x7e}, uint8_t{0x7c}, uint8_t{0xfe}}) {
      ByteVector damaged = good;
      damaged[kBatchHeaderSize + position] = value;
      updateCrc(damaged);
      BatchCursor cursor(damaged);
      ASSERT_EQ(cursor.next(), Step::Next);
      const Result<void> read = forEachRecord(cursor.batch(), [](const RecordView&) {});
      EXPECT_FALSE(read.has_value()) << position << " = " << int{value};
    }
  }
}

}  // namespace
}  // namespace tidemark::records
