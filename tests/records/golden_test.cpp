#include <gtest/gtest.h>

#include "records/batch.h"
#include "records/batch_builder.h"
#include "records/control.h"
#include "records/golden_batches.h"
#include "records/message_set.h"
#include "records/record.h"

namespace tidemark::records {
namespace {

std::optional<std::string> text(std::optional<ByteView> bytes) {
  if (!bytes) return std::nullopt;
  return std::string(asText(*bytes));
}

std::string controlName(ControlType type) {
  switch (type) {
    case ControlType::Abort:
      return "ABORT";
    case ControlType::Commit:
      return "COMMIT";
    case ControlType::LeaderChange:
      return "LEADER_CHANGE";
    case ControlType::SnapshotHeader:
      return "SNAPSHOT_HEADER";
    case ControlType::SnapshotFooter:
      return "SNAPSHOT_FOOTER";
    case ControlType::KRaftVersion:
      return "KRAFT_VERSION";
    case ControlType::KRaftVoters:
      return "KRAFT_VOTERS";
    case ControlType::Unknown:
      break;
  }
  return "UNKNOWN";
}

void expectRecord(const RecordView& record, const GoldenRecord& golden) {
  EXPECT_EQ(record.offset.value(), golden.offset);
  EXPECT_EQ(record.timestampMs, golden.timestampMs);
  EXPECT_EQ(record.sequence, golden.sequence);
  EXPECT_EQ(text(record.key), golden.key);
  EXPECT_EQ(text(record.value), golden.value);
  if (!golden.controlType.empty()) {
    EXPECT_EQ(controlName(controlType(record)), golden.controlType);
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  HeaderCursor cursor = record.headers();
  while (const auto header = cursor.next()) headers.emplace_back(asText(header->key), text(header->value));
  EXPECT_EQ(headers, golden.headers);
}

void expectBatch(const BatchView& batch, const GoldenBatch& golden) {
  const BatchHeader& header = batch.header;
  EXPECT_EQ(header.magic, golden.magic);
  EXPECT_EQ(header.baseOffset.value(), golden.baseOffset);
  EXPECT_EQ(header.lastOffset().value(), golden.lastOffset);
  EXPECT_EQ(header.sizeInBytes(), golden.sizeInBytes);
  EXPECT_EQ(batch.bytes.size(), golden.sizeInBytes);
  EXPECT_EQ(header.crc, golden.crc);
  EXPECT_TRUE(batch.isCrcValid());
  EXPECT_EQ(codecName(header.codec()), golden.compression);
  EXPECT_EQ(header.timestampType() == TimestampType::CreateTime ? "CreateTime" : "LogAppendTime", golden.timestampType);
  EXPECT_EQ(header.maxTimestampMs, golden.maxTimestampMs);
  EXPECT_EQ(header.attributes, golden.attributes);
  EXPECT_EQ(header.deleteHorizonMs(), golden.deleteHorizonMs);
  EXPECT_EQ(header.baseTimestampMs, golden.baseTimestampMs);
  EXPECT_EQ(header.leaderEpoch.value(), golden.leaderEpoch);
  EXPECT_EQ(header.producerId.value(), golden.producerId);
  EXPECT_EQ(header.producerEpoch.value(), golden.producerEpoch);
  EXPECT_EQ(header.baseSequence, golden.baseSequence);
  EXPECT_EQ(header.lastSequence(), golden.lastSequence);
  EXPECT_EQ(header.isTransactional(), golden.transactional);
  EXPECT_EQ(header.isControl(), golden.control);
  EXPECT_EQ(header.recordCount, golden.count);

  size_t index = 0;
  std::string values;
  const Result<void> read = forEachRecord(batch, [&](const RecordView& record) {
    if (golden.sha256OfValues.empty()) {
      ASSERT_LT(index, golden.records.size());
      expectRecord(record, golden.records[index]);
    } else {
      values += asText(record.value.value_or(ByteView()));
    }
    ++index;
  });
  ASSERT_TRUE(read.has_value()) << read.error().message;
  if (golden.sha256OfValues.empty()) {
    EXPECT_EQ(index, golden.records.size());
  } else {
    EXPECT_EQ(index, golden.recordCount);
    EXPECT_EQ(sha256(values), golden.sha256OfValues);
  }
}

/// What a builder makes of a batch's header and records.
ByteVector buildAgain(const BatchView& batch) {
  const BatchHeader& header = batch.header;
  BatchOptions options;
  options.baseOffset = header.baseOffset;
  options.leaderEpoch = header.leaderEpoch;
  options.codec = header.codec();
  options.timestampType = header.timestampType();
  options.logAppendTimeMs = header.maxTimestampMs;
  options.producerId = header.producerId;
  options.producerEpoch = header.producerEpoch;
  options.baseSequence = header.baseSequence;
  options.transactional = header.isTransactional();
  options.control = header.isControl();
  options.deleteHorizonMs = header.deleteHorizonMs();
  BatchBuilder builder(options);
  const Result<void> read = forEachRecord(batch, [&](const RecordView& record) {
    std::vector<RecordHeader> headers;
    HeaderCursor cursor = record.headers();
    while (const auto one = cursor.next()) headers.push_back(*one);
    builder.appendAt(record.offset, record.timestampMs, record.key, record.value, headers);
  });
  EXPECT_TRUE(read.has_value());
  return builder.build(header.lastOffsetDelta);
}

TEST(GoldenBatches, DecodeToTheFieldsAndRecordsThatKafkaReads) {
  size_t seen = 0;
  for (const GoldenCase& one : goldenCases()) {
    if (one.batches.front().magic != 2) continue;
    SCOPED_TRACE(one.name);
    BatchCursor cursor(one.bytes, BatchCursor::Check::Checksum);
    for (const GoldenBatch& golden : one.batches) {
      ASSERT_EQ(cursor.next(), Step::Next) << describe(cursor.reason());
      expectBatch(cursor.batch(), golden);
    }
    EXPECT_EQ(cursor.next(), Step::End);
    EXPECT_EQ(cursor.position(), one.bytes.size());
    ++seen;
  }
  EXPECT_EQ(seen, 53u);
}

TEST(GoldenBatches, AreWrittenByteForByteByTheBuilderUnlessCompressed) {
  for (const GoldenCase& one : goldenCases()) {
    if (one.batches.front().magic != 2) continue;
    SCOPED_TRACE(one.name);
    BatchCursor cursor(one.bytes);
    for (const GoldenBatch& golden : one.batches) {
      ASSERT_EQ(cursor.next(), Step::Next);
      ByteVector built = buildAgain(cursor.batch());
      if (golden.count == 0) continue;  // the cleaner alone writes those
      // Under LogAppendTime a reader sees the broker's time only; the producer's is lost to a second writer.
      const bool keepsTimes = golden.timestampType == "CreateTime";
      if (golden.compression == "none" && keepsTimes) {
        EXPECT_EQ(built, ByteVector(cursor.batch().bytes.begin(), cursor.batch().bytes.end()));
        continue;
      }
      BatchCursor again(built, BatchCursor::Check::Checksum);
      ASSERT_EQ(again.next(), Step::Next);
      GoldenBatch expected = golden;
      expected.sizeInBytes = built.size();
      expected.crc = again.batch().header.crc;
      if (!keepsTimes) expected.baseTimestampMs = again.batch().header.baseTimestampMs;
      expectBatch(again.batch(), expected);
    }
  }
}

TEST(GoldenBatches, KeepTheirHeaderThroughReadAndWrite) {
  for (const GoldenCase& one : goldenCases()) {
    if (one.batches.front().magic != 2) continue;
    ByteVector header(kBatchHeaderSize);
    BatchHeader::read(one.bytes.data()).write(header.data());
    EXPECT_EQ(header, ByteVector(one.bytes.begin(), one.bytes.begin() + kBatchHeaderSize)) << one.name;
  }
}

TEST(GoldenBatches, OfOldFormatsDecodeToTheMessagesThatKafkaReads) {
  size_t seen = 0;
  for (const GoldenCase& one : goldenCases()) {
    if (one.batches.front().magic == 2) continue;
    SCOPED_TRACE(one.name);
    ByteView left = one.bytes;
    for (const GoldenBatch& golden : one.batches) {
      const Result<OldBatch> batch = readOldBatch(left);
      ASSERT_TRUE(batch.has_value()) << batch.error().message;
      EXPECT_EQ(batch->magic, golden.magic);
      EXPECT_EQ(batch->baseOffset.value(), golden.baseOffset);
      EXPECT_EQ(batch->lastOffset.value(), golden.lastOffset);
      EXPECT_EQ(batch->sizeInBytes, golden.sizeInBytes);
      EXPECT_EQ(batch->crc, golden.crc);
      EXPECT_EQ(codecName(batch->codec), golden.compression);
      EXPECT_EQ(batch->logAppendTime, golden.timestampType == "LogAppendTime");
      EXPECT_EQ(batch->maxTimestampMs, golden.maxTimestampMs);
      ASSERT_EQ(batch->messages.size(), golden.records.size());
      for (size_t i = 0; i < golden.records.size(); ++i) {
        EXPECT_EQ(batch->messages[i].offset.value(), golden.records[i].offset);
        EXPECT_EQ(batch->messages[i].timestampMs, golden.records[i].timestampMs);
        EXPECT_EQ(text(batch->messages[i].key), golden.records[i].key);
        EXPECT_EQ(text(batch->messages[i].value), golden.records[i].value);
      }
      left = left.subspan(batch->sizeInBytes);
      ++seen;
    }
    EXPECT_TRUE(left.empty());
  }
  EXPECT_EQ(seen, 18u);
}

TEST(ControlBatches, EndTxnMarkersAreWrittenAsKafkaWritesThem) {
  for (const GoldenCase& one : goldenCases()) {
    if (one.name != "control-commit" && one.name != "control-abort") continue;
    const GoldenBatch& golden = one.batches.front();
    EXPECT_EQ(buildEndTxnMarker(ProducerId(4001), ProducerEpoch(3), {one.name == "control-commit", 12},
                                golden.maxTimestampMs, Offset(golden.baseOffset), LeaderEpoch(golden.leaderEpoch)),
              one.bytes);
    BatchCursor cursor(one.bytes);
    ASSERT_EQ(cursor.next(), Step::Next);
    RecordCursor records(cursor.batch().header, cursor.batch().payload());
    ASSERT_EQ(records.next(), Step::Next);
    const std::optional<EndTxnMarker> marker = readEndTxnMarker(records.record());
    ASSERT_TRUE(marker.has_value());
    EXPECT_EQ(marker->commit, one.name == "control-commit");
    EXPECT_EQ(marker->coordinatorEpoch, 12);
  }
}

}  // namespace
}  // namespace tidemark::records
