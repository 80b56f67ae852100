#include "records/validator.h"

#include <gtest/gtest.h>

#include "records/batch_builder.h"
#include "records/control.h"
#include "records/record.h"

namespace tidemark::records {
namespace {

constexpr int64_t kNow = 1700000000000;

class ProducedBatch : public testing::Test {
 protected:
  ByteVector batch(BatchOptions header = {}, int records = 3) {
    BatchBuilder builder(header);
    for (int i = 0; i < records; ++i) {
      const std::string key = "key" + std::to_string(i);
      builder.append(kNow - 10 + i, asBytes(key), asBytes("some value that repeats repeats repeats"));
    }
    return builder.build();
  }

  std::expected<ValidatedBatch, ProduceFailure> validate(ByteVector& bytes) {
    return validateForProduce(bytes, options_, buffer_);
  }

  ValidatedBatch accept(ByteVector& bytes) {
    auto result = validate(bytes);
    EXPECT_TRUE(result.has_value()) << result.error().error.message;
    return result ? std::move(*result) : ValidatedBatch();
  }

  ProduceFailure refuse(ByteVector bytes, ErrorCode code) {
    const ByteVector before = bytes;
    auto result = validate(bytes);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(bytes, before) << "a refused batch was changed";
    if (result) return {};
    EXPECT_EQ(result.error().error.code, code) << result.error().error.message;
    return result.error();
  }

  static std::vector<std::string> values(ByteView bytes) {
    std::vector<std::string> all;
    BatchCursor cursor(bytes, BatchCursor::Check::Checksum);
    EXPECT_EQ(cursor.next(), Step::Next);
    EXPECT_TRUE(forEachRecord(cursor.batch(), [&](const RecordView& record) {
                  all.emplace_back(asText(*record.value));
                }).has_value());
    return all;
  }

  ProduceOptions options_{.nowMs = kNow};
  ByteVector buffer_;
};

TEST_F(ProducedBatch, InOrderIsAcceptedUnchanged) {
  for (const Codec codec : {Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd}) {
    ByteVector bytes = batch({.codec = codec});
    const ByteVector before = bytes;
    const ValidatedBatch valid = accept(bytes);
    EXPECT_EQ(bytes, before);
    EXPECT_FALSE(valid.rewritten.has_value());
    EXPECT_EQ(valid.header.lastOffsetDelta, 2);
    EXPECT_EQ(valid.maxTimestampMs, kNow - 8);
    EXPECT_EQ(valid.logAppendTimeMs, kNoTimestamp);
  }
}

TEST_F(ProducedBatch, WithAWrongChecksumIsCorrupt) {
  ByteVector bytes = batch();
  bytes.back() ^= 1;
  refuse(bytes, ErrorCode::CorruptMessage);
}

TEST_F(ProducedBatch, MustBeExactlyOneOfFormat2) {
  refuse({}, ErrorCode::InvalidRecord);
  ByteVector two = batch();
  const ByteVector second = batch();
  two.insert(two.end(), second.begin(), second.end());
  refuse(two, ErrorCode::InvalidRecord);
  ByteVector old = batch();
  old[kMagicAt] = 1;
  refuse(old, ErrorCode::InvalidRecord);
  ByteVector cut = batch();
  cut.pop_back();
  refuse(cut, ErrorCode::InvalidRecord);
  ByteVector badLength = batch();
  writeBigEndian<int32_t>(badLength.data() + kLengthAt, 3);
  refuse(badLength, ErrorCode::CorruptMessage);
}

TEST_F(ProducedBatch, FollowedByAnIncompleteOneIsAcceptedAlone) {
  ByteVector bytes = batch();
  const size_t size = bytes.size();
  const ByteVector second = batch();
  bytes.insert(bytes.end(), second.begin(), second.end() - 1);
  EXPECT_EQ(accept(bytes).header.sizeInBytes(), size);
}

TEST_F(ProducedBatch, WhoseCountAndLastOffsetDisagreeIsRefused) {
  for (const int32_t delta : {-1, 1, 3, INT32_MAX}) {
    ByteVector bytes = batch();
    writeBigEndian<int32_t>(bytes.data() + kLastOffsetDeltaAt, delta);
    updateCrc(bytes);
    refuse(bytes, ErrorCode::InvalidRecord);
  }
  for (const int32_t count : {0, -1}) {
    ByteVector bytes = batch();
    writeBigEndian<int32_t>(bytes.data() + kCountAt, count);
    writeBigEndian<int32_t>(bytes.data() + kLastOffsetDeltaAt, count - 1);
    updateCrc(bytes);
    refuse(bytes, ErrorCode::InvalidRecord);
  }
  // Count and delta agree with each other, but not with the records.
  ByteVector bytes = batch();
  writeBigEndian<int32_t>(bytes.data() + kCountAt, 4);
  writeBigEndian<int32_t>(bytes.data() + kLastOffsetDeltaAt, 3);
  updateCrc(bytes);
  refuse(bytes, ErrorCode::InvalidRecord);
}

TEST_F(ProducedBatch, ThatDoesNotStartAtOffsetZeroIsRefusedFromAClientOnly) {
  ByteVector bytes = batch({.baseOffset = Offset(4)});
  refuse(bytes, ErrorCode::InvalidRecord);
  options_.origin = Origin::RaftLeader;
  accept(bytes);
}

TEST_F(ProducedBatch, OfControlRecordsIsRefusedFromAClientOnly) {
  ByteVector marker = buildEndTxnMarker(ProducerId(1), ProducerEpoch(0), {true, 1}, kNow);
  refuse(marker, ErrorCode::InvalidRecord);
  options_.origin = Origin::Coordinator;
  options_.compression.codec = Codec::Zstd;
  EXPECT_FALSE(accept(marker).rewritten.has_value()) << "control records are not compressed";
}

TEST_F(ProducedBatch, OfAProducerNeedsASequence) {
  refuse(batch({.producerId = ProducerId(9), .producerEpoch = ProducerEpoch(0)}), ErrorCode::InvalidRecord);
  ByteVector good = batch({.producerId = ProducerId(9), .producerEpoch = ProducerEpoch(0), .baseSequence = 0});
  accept(good);
}

TEST_F(ProducedBatch, LargerThanTheTopicTakesIsTooLarge) {
  ByteVector bytes = batch();
  options_.maxMessageBytes = static_cast<int32_t>(bytes.size());
  accept(bytes);
  options_.maxMessageBytes -= 1;
  refuse(bytes, ErrorCode::MessageTooLarge);
}

TEST_F(ProducedBatch, ThatGrowsAboveTheLimitWhenRecompressedIsTooLarge) {
  BatchBuilder builder({.codec = Codec::Zstd});
  const std::string large(100000, 'x');
  builder.append(kNow, std::nullopt, asBytes(large));
  options_.maxMessageBytes = 50000;
  options_.compression.codec = Codec::None;
  refuse(builder.build(), ErrorCode::MessageTooLarge);
}

TEST_F(ProducedBatch, ThatDecompressesToMoreThanTheBudgetIsTooLarge) {
  BatchBuilder builder({.codec = Codec::Gzip});
  const std::string large(1 << 20, 'x');
  builder.append(kNow, std::nullopt, asBytes(large));
  options_.decompressedLimit = 100000;
  refuse(builder.build(), ErrorCode::MessageTooLarge);
  EXPECT_LE(buffer_.capacity(), 200002u);
}

TEST_F(ProducedBatch, ForACompactedTopicNeedsKeysAndNamesTheRecordsWithout) {
  BatchBuilder builder;
  builder.append(kNow, asBytes("k"), asBytes("v"));
  builder.append(kNow, std::nullopt, asBytes("v"));
  builder.append(kNow, asBytes(""), asBytes("v"));
  builder.append(kNow, std::nullopt, asBytes("v"));
  ByteVector bytes = builder.build();
  accept(bytes);
  options_.compacted = true;
  const ProduceFailure failure = refuse(bytes, ErrorCode::InvalidRecord);
  ASSERT_EQ(failure.recordErrors.size(), 2u);
  EXPECT_EQ(failure.recordErrors[0].batchIndex, 1);
  EXPECT_EQ(failure.recordErrors[1].batchIndex, 3);
}

TEST_F(ProducedBatch, TooOldOrTooNewNamesTheRecords) {
  BatchBuilder builder;
  builder.append(kNow - 1000, std::nullopt, asBytes("at the edge"));
  builder.append(kNow - 1001, std::nullopt, asBytes("too old"));
  builder.append(kNow + 500, std::nullopt, asBytes("at the edge"));
  builder.append(kNow + 501, std::nullopt, asBytes("too new"));
  builder.append(kNoTimestamp, std::nullopt, asBytes("none"));
  options_.timestampBeforeMaxMs = 1000;
  options_.timestampAfterMaxMs = 500;
  const ByteVector bytes = builder.build();
  const ProduceFailure failure = refuse(bytes, ErrorCode::InvalidTimestamp);
  ASSERT_EQ(failure.recordErrors.size(), 2u);
  EXPECT_EQ(failure.recordErrors[0].batchIndex, 1);
  EXPECT_EQ(failure.recordErrors[1].batchIndex, 3);
  options_.timestampType = TimestampType::LogAppendTime;
  ByteVector again = bytes;
  accept(again);
}

TEST_F(ProducedBatch, GetsTheLogAppendTimeInPlace) {
  options_.timestampType = TimestampType::LogAppendTime;
  for (const Codec codec : {Codec::None, Codec::Lz4}) {
    ByteVector bytes = batch({.codec = codec});
    const ValidatedBatch valid = accept(bytes);
    EXPECT_EQ(valid.logAppendTimeMs, kNow);
    EXPECT_EQ(valid.maxTimestampMs, kNow);
    BatchCursor cursor(bytes, BatchCursor::Check::Checksum);
    ASSERT_EQ(cursor.next(), Step::Next);
    EXPECT_EQ(cursor.batch().header, valid.header);
    EXPECT_EQ(cursor.batch().header.timestampType(), TimestampType::LogAppendTime);
    EXPECT_TRUE(forEachRecord(cursor.batch(), [](const RecordView& record) {
                  EXPECT_EQ(record.timestampMs, kNow);
                }).has_value());
  }
}

TEST_F(ProducedBatch, ThatClaimsLogAppendTimeIsRefusedWhereTheBrokerSetsIt) {
  options_.timestampType = TimestampType::LogAppendTime;
  const ByteVector bytes = batch({.timestampType = TimestampType::LogAppendTime, .logAppendTimeMs = 5});
  EXPECT_EQ(refuse(bytes, ErrorCode::InvalidTimestamp).recordErrors.size(), 3u);
}

TEST_F(ProducedBatch, WithAWrongMaxTimestampIsPutRight) {
  ByteVector bytes = batch();
  writeBigEndian<int64_t>(bytes.data() + kMaxTimestampAt, 42);
  updateCrc(bytes);
  EXPECT_EQ(accept(bytes).header.maxTimestampMs, kNow - 8);
  BatchCursor cursor(bytes, BatchCursor::Check::Checksum);
  ASSERT_EQ(cursor.next(), Step::Next);
  EXPECT_EQ(cursor.batch().header.maxTimestampMs, kNow - 8);
}

TEST_F(ProducedBatch, IsCompressedAsTheTopicSays) {
  for (const Codec source : {Codec::None, Codec::Gzip, Codec::Zstd}) {
    for (const Codec target : {Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd}) {
      ByteVector bytes = batch({.codec = source,
                                .producerId = ProducerId(9),
                                .producerEpoch = ProducerEpoch(2),
                                .baseSequence = 7,
                                .transactional = true});
      options_.compression.codec = target;
      const ValidatedBatch valid = accept(bytes);
      ASSERT_EQ(valid.rewritten.has_value(), source != target);
      if (!valid.rewritten) continue;
      EXPECT_EQ(values(*valid.rewritten), values(bytes));
      EXPECT_EQ(valid.header.codec(), target);
      EXPECT_EQ(valid.header.producerId, ProducerId(9));
      EXPECT_EQ(valid.header.producerEpoch, ProducerEpoch(2));
      EXPECT_EQ(valid.header.baseSequence, 7);
      EXPECT_TRUE(valid.header.isTransactional());
      EXPECT_EQ(valid.header.lastOffsetDelta, 2);
      EXPECT_EQ(valid.header.maxTimestampMs, kNow - 8);
    }
  }
}

TEST_F(ProducedBatch, WithOffsetsOutOfOrderIsNumberedAnew) {
  BatchBuilder builder;
  builder.appendAt(Offset(3), kNow, std::nullopt, asBytes("a"));
  builder.appendAt(Offset(9), kNow, std::nullopt, asBytes("b"));
  ByteVector bytes = builder.build(1);
  const ValidatedBatch valid = accept(bytes);
  ASSERT_TRUE(valid.rewritten.has_value());
  int64_t expected = 0;
  EXPECT_TRUE(forEachRecord({valid.header, *valid.rewritten}, [&](const RecordView& record) {
                EXPECT_EQ(record.offset, Offset(expected++));
              }).has_value());
  EXPECT_EQ(expected, 2);
}

TEST_F(ProducedBatch, OfZstdNeedsProduceVersion7) {
  ByteVector bytes = batch({.codec = Codec::Zstd});
  options_.apiVersion = 6;
  refuse(bytes, ErrorCode::UnsupportedCompressionType);
  options_.apiVersion = 7;
  accept(bytes);
}

TEST_F(ProducedBatch, OfAnUnknownCodecIsRefused) {
  ByteVector bytes = batch();
  writeBigEndian<int16_t>(bytes.data() + kAttributesAt, 6);
  updateCrc(bytes);
  refuse(bytes, ErrorCode::UnsupportedCompressionType);
}

TEST_F(ProducedBatch, WhosePayloadDoesNotDecompressIsInvalid) {
  ByteVector bytes = batch({.codec = Codec::Zstd});
  bytes[kBatchHeaderSize] ^= 0xff;
  updateCrc(bytes);
  refuse(bytes, ErrorCode::InvalidRecord);
}

}  // namespace
}  // namespace tidemark::records
