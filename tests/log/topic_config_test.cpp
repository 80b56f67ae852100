#include <gmock/gmock.h>

#include <random>
#include <set>

#include "log/file_names.h"
#include "log_fixture.h"

// Each topic configuration that is about storage takes effect on a log that is open, in the order of their names. Those
// of the cleaner are in cleaner_test.cpp (cleanup.policy, delete.retention.ms, min.cleanable.dirty.ratio,
// max.compaction.lag.ms, min.compaction.lag.ms).

namespace tidemark::log {
namespace {

using platform::milliseconds;
using testing::Contains;
using testing::Not;

class TopicConfigTest : public LogFixture {
 protected:
  TopicConfigTest() {
    background_ = process_->createExecutor({.name = "background"});
    open();
  }
  LogConfig& config() { return options_.config; }
  void change() { log_->updateConfig(options_.config); }
  void settle(platform::Duration duration = milliseconds(10)) { world_->runFor(duration); }
  uint64_t entries() { return log_->offsetIndexEntries(Offset(0), 0, SIZE_MAX).value().size(); }
  /// Records in which much comes again, at no fixed distance.
  static ByteVector wordy() {
    records::BatchBuilder builder;
    std::mt19937_64 random(1);
    for (int i = 0; i < 50; ++i) {
      std::string value;
      while (value.size() < 1000) value += fmt::format("word{} ", random() % 3000);
      builder.append(1'700'000'000'000, std::nullopt, asBytes(value));
    }
    return builder.build();
  }
  int64_t now() { return process_->clock().wallMs(); }
};

TEST_F(TopicConfigTest, compressionType) {
  append({.count = 5, .valueSize = 300});
  EXPECT_EQ(readHeaders(*log_, Offset(0)).back().codec(), records::Codec::None);
  config().compression.codec = records::Codec::Zstd;
  change();
  append({.count = 5, .valueSize = 300});
  EXPECT_EQ(readHeaders(*log_, Offset(5)).back().codec(), records::Codec::Zstd);
}

TEST_F(TopicConfigTest, compressionLevels) {
  struct Level {
    records::Codec codec;
    int lowest;
    int highest;
  };
  for (const Level& level :
       {Level{records::Codec::Gzip, 1, 9}, Level{records::Codec::Lz4, 1, 17}, Level{records::Codec::Zstd, 1, 19}}) {
    const auto sizeAt = [&](int number) {
      config().compression = {level.codec, number};
      change();
      const int64_t before = log_->sizeInBytes();
      ByteVector batch = wordy();
      EXPECT_TRUE(log_->appendAsLeader(batch, LeaderEpoch(0)));
      return log_->sizeInBytes() - before;
    };
    EXPECT_LT(sizeAt(level.highest), sizeAt(level.lowest)) << records::codecName(level.codec);
  }
}

TEST_F(TopicConfigTest, fileDeleteDelay) {
  config().fileDeleteDelayMs = 60'000;
  config().retentionMs = 1000;
  change();
  append({.firstTimestampMs = 1000});
  ASSERT_TRUE(log_->roll());
  append();
  log_->updateHighWatermark(log_->logEndOffset());
  ASSERT_EQ(log_->deleteOldSegments().value(), 2);
  settle();
  EXPECT_THAT(names(), Contains("00000000000000000000.log.deleted"));
  settle(milliseconds(61'000));
  EXPECT_THAT(names(), Not(Contains("00000000000000000000.log.deleted")));
  config().fileDeleteDelayMs = 0;
  change();
  append({.firstTimestampMs = 1000});
  log_->updateHighWatermark(log_->logEndOffset());
  ASSERT_EQ(log_->deleteOldSegments().value(), 1);
  settle();
  EXPECT_THAT(names(), Not(Contains("00000000000000000002.log.deleted")));
}

TEST_F(TopicConfigTest, flushMessages) {
  append({.count = 4});
  EXPECT_EQ(log_->recoveryPoint(), Offset(0));
  config().flushMessages = 5;
  change();
  append();
  EXPECT_EQ(log_->recoveryPoint(), Offset(5)) << "what was appended before is counted";
  config().flushMessages = INT64_MAX;
  change();
  append({.count = 20});
  EXPECT_EQ(log_->recoveryPoint(), Offset(5));
}

TEST_F(TopicConfigTest, flushMsReachesWhatWaitsAlready) {
  append();
  settle(milliseconds(5000));
  EXPECT_EQ(log_->recoveryPoint(), Offset(0));
  config().flushMs = 1000;
  change();
  settle(milliseconds(1100));
  EXPECT_EQ(log_->recoveryPoint(), Offset(1)) << "nobody appended since";
}

TEST_F(TopicConfigTest, flushMsThatIsShortenedDoesNotWaitForTheOldOne) {
  config().flushMs = 3'600'000;
  change();
  append();
  settle();
  config().flushMs = 1000;
  change();
  append();
  settle(milliseconds(1100));
  EXPECT_EQ(log_->recoveryPoint(), Offset(2));
}

TEST_F(TopicConfigTest, flushMsThatIsTakenAwayFlushesNoMore) {
  config().flushMs = 1000;
  change();
  append();
  settle();
  config().flushMs = INT64_MAX;
  change();
  settle(milliseconds(5000));
  EXPECT_EQ(log_->recoveryPoint(), Offset(0));
}

TEST_F(TopicConfigTest, indexInterval) {
  config().indexIntervalBytes = 1 << 20;
  change();
  for (int i = 0; i < 4; ++i) append();
  EXPECT_EQ(entries(), 0u);
  config().indexIntervalBytes = 0;
  change();
  for (int i = 0; i < 4; ++i) append();
  EXPECT_GE(entries(), 3u);
}

TEST_F(TopicConfigTest, maxMessageBytes) {
  append({.valueSize = 500});
  config().maxMessageBytes = 400;
  change();
  EXPECT_EQ(appendError({.valueSize = 500}), ErrorCode::MessageTooLarge);
  config().maxMessageBytes = 4000;
  change();
  append({.valueSize = 500});
}

TEST_F(TopicConfigTest, maxDecompressedMessageBytes) {
  append({.valueSize = 5000, .codec = records::Codec::Zstd});
  config().maxDecompressedMessageBytes = 1000;
  change();
  EXPECT_NE(appendError({.valueSize = 5000, .codec = records::Codec::Zstd}), ErrorCode::None);
}

TEST_F(TopicConfigTest, messageTimestampBounds) {
  append({.firstTimestampMs = now() - 100'000});
  config().timestampBeforeMaxMs = 10'000;
  change();
  EXPECT_EQ(appendError({.firstTimestampMs = now() - 100'000}), ErrorCode::InvalidTimestamp);
  append({.firstTimestampMs = now() + 100'000});
  config().timestampAfterMaxMs = 10'000;
  change();
  EXPECT_EQ(appendError({.firstTimestampMs = now() + 100'000}), ErrorCode::InvalidTimestamp);
}

TEST_F(TopicConfigTest, messageTimestampType) {
  append();
  config().timestampType = records::TimestampType::LogAppendTime;
  change();
  append();
  const auto headers = readHeaders(*log_, Offset(0));
  EXPECT_EQ(headers.front().timestampType(), records::TimestampType::CreateTime);
  EXPECT_EQ(headers.back().timestampType(), records::TimestampType::LogAppendTime);
  EXPECT_EQ(headers.back().maxTimestampMs, now());
}

TEST_F(TopicConfigTest, preallocateFromTheNextSegmentOn) {
  append();
  config().preallocate = true;
  config().segmentBytes = 4096;
  change();
  ASSERT_TRUE(log_->roll());
  EXPECT_EQ(bytes(offsetFilePath(options_.directory, Offset(1), kLogSuffix)).size(), 4096u);
}

TEST_F(TopicConfigTest, retentionBytesAndTime) {
  config().retentionMs = -1;
  change();
  for (int i = 0; i < 4; ++i) {
    append({.firstTimestampMs = now() - 50'000});
    ASSERT_TRUE(log_->roll());
  }
  log_->updateHighWatermark(log_->logEndOffset());
  EXPECT_EQ(log_->deleteOldSegments().value(), 0);
  config().retentionBytes = log_->sizeInBytes() / 2;
  change();
  EXPECT_EQ(log_->deleteOldSegments().value(), 2);
  config().retentionBytes = -1;
  config().retentionMs = 100'000;
  change();
  EXPECT_EQ(log_->deleteOldSegments().value(), 0);
  config().retentionMs = 10'000;
  change();
  EXPECT_EQ(log_->deleteOldSegments().value(), 2);
}

TEST_F(TopicConfigTest, segmentBytes) {
  for (int i = 0; i < 4; ++i) append({.valueSize = 100});
  EXPECT_EQ(log_->segments().size(), 1u);
  config().segmentBytes = 300;
  change();
  append({.valueSize = 100});
  EXPECT_EQ(log_->segments().size(), 2u);
}

TEST_F(TopicConfigTest, segmentIndexBytes) {
  config().indexIntervalBytes = 0;
  change();
  for (int i = 0; i < 8; ++i) append();
  EXPECT_EQ(log_->segments().size(), 1u);
  config().segmentIndexBytes = 32;
  change();
  append();
  EXPECT_EQ(log_->segments().size(), 2u);
}

/// How old the first segment of each of many partitions is, in seconds, when a record makes it roll.
TEST_F(TopicConfigTest, segmentJitterLetsPartitionsRollOneAfterAnother) {
  config().segmentMs = 20'000;
  std::set<int> ages;
  for (int partition = 1; partition <= 12; ++partition) {
    config().segmentJitterMs = 0;
    options_.partition.partition = PartitionIndex(partition);
    options_.directory = fmt::format("/data/orders-{}", partition);
    open();
    const int64_t began = now();
    append({.firstTimestampMs = began});
    config().segmentJitterMs = 20'000;
    change();
    int age = 0;
    while (log_->segments().size() == 1 && age < 30) append({.firstTimestampMs = began + ++age * 1000});
    ages.insert(age);
  }
  EXPECT_GE(ages.size(), 5u) << "they would all be written and synced at once";
  EXPECT_LE(*ages.rbegin(), 21) << "no later than without";
}

TEST_F(TopicConfigTest, aSegmentJitterAboveTheSegmentTimeStillLetsSegmentsGrow) {
  config().segmentMs = 10'000;
  config().segmentJitterMs = 3'600'000;
  change();
  const int64_t began = now();
  for (int i = 0; i < 30; ++i) append({.firstTimestampMs = began});
  EXPECT_EQ(log_->segments().size(), 1u);
}

TEST_F(TopicConfigTest, segmentTime) {
  append({.firstTimestampMs = now()});
  append({.firstTimestampMs = now() + 30'000});
  EXPECT_EQ(log_->segments().size(), 1u);
  config().segmentMs = 10'000;
  change();
  append({.firstTimestampMs = now() + 30'000});
  EXPECT_EQ(log_->segments().size(), 2u);
}

}  // namespace
}  // namespace tidemark::log
