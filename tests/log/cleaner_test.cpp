#include <gmock/gmock.h>

#include <map>

#include "log/cleaner/cleaning_pass.h"
#include "log/file_names.h"
#include "log/log_manager.h"
#include "log/segment.h"
#include "log_fixture.h"
#include "records/control.h"

// Compaction of whole logs, by a log manager's own cleaner.

namespace tidemark::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TopicPartition kTable{"table", PartitionIndex(0)};
const Uuid kTableId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
const std::string kFolder = "/data/table-0";

class CleanerTest : public LogFixture {
 protected:
  CleanerTest() {
    config_.compact = true;
    config_.remove = false;
    config_.indexIntervalBytes = 256;
    config_.timestampAfterMaxMs = INT64_MAX;
    config_.producerIdExpirationMs = INT64_MAX;
    config_.deleteRetentionMs = 60'000;
    config_.fileDeleteDelayMs = 0;
    startCleaner();
  }

  void startCleaner() {
    background_ = process_->createExecutor({.name = "background"});
    LogManagerOptions options;
    options.directories = {"/data"};
    options.defaults = config_;
    options.cleaner = cleaner_;
    auto manager = LogManager::open(*process_, background_, nullptr, options);
    ASSERT_TRUE(manager) << manager.error().message;
    manager_ = *manager;
    ASSERT_TRUE(manager_->load({}));
    auto log = manager_->getOrCreate(kTable, kTableId, config_);
    ASSERT_TRUE(log) << log.error().message;
    log_ = *log;
    stable();
    settle();
  }
  void stopCleanly() {
    ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
    crashCleaner(Crash::Kill);
  }
  void crashCleaner(Crash how) {
    if (process_->state() != platform::Process::State::Dead) crash(how);
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
  }
  void settle(platform::Duration duration = std::chrono::seconds(1)) { world_->runFor(duration); }

  int64_t now() { return process_->clock().wallMs(); }
  /// One batch of records "key=value", "key" for a tombstone.
  Offset put(const std::vector<std::string>& lines, records::BatchOptions options = {}) {
    records::BatchBuilder builder(options);
    for (const std::string& line : lines) {
      const size_t split = line.find('=');
      const std::string value = split == std::string::npos ? "" : line.substr(split + 1);
      builder.append(now(), asBytes(line.substr(0, split)),
                     split == std::string::npos ? std::nullopt : std::optional<ByteView>(asBytes(value)));
    }
    ByteVector bytes = builder.build();
    const auto info = log_->appendAsLeader(bytes, LeaderEpoch(0));
    EXPECT_TRUE(info) << (info ? "" : info.error().error.message);
    return info ? info->lastOffset : kNoOffset;
  }
  records::BatchOptions from(int64_t producer, bool transactional = false) {
    return {.producerId = ProducerId(producer),
            .producerEpoch = ProducerEpoch(0),
            .baseSequence = sequences_[producer],
            .transactional = transactional};
  }
  void putFrom(int64_t producer, const std::vector<std::string>& lines, bool transactional = false) {
    put(lines, from(producer, transactional));
    sequences_[producer] += static_cast<int32_t>(lines.size());
  }
  void mark(int64_t producer, bool commit) {
    ByteVector marker = records::buildEndTxnMarker(ProducerId(producer), ProducerEpoch(0),
                                                   {.commit = commit, .coordinatorEpoch = 0}, now());
    ASSERT_TRUE(log_->appendAsLeader(marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator}));
  }
  void stable() { log_->updateHighWatermark(log_->logEndOffset()); }
  /// Closes the active segment, which may be cleaned then.
  void close() {
    ASSERT_TRUE(log_->roll());
    stable();
  }
  /// Makes the clean part so small that the next closed segment is due.
  void alwaysDue() {
    config_.minCleanableDirtyRatio = 0;
    log_->updateConfig(config_);
  }

  static std::vector<records::BatchHeader> headersIn(const PartitionLog& log) {
    std::vector<records::BatchHeader> headers;
    const auto batches = log.batches(Offset(0), SIZE_MAX);
    for (const BatchInfo& batch : batches.value()) headers.push_back(batch.header);
    return headers;
  }
  std::vector<records::BatchHeader> headers() { return headersIn(*log_); }
  /// "offset:key=value" of every data record, as a reader who reads from the start sees them.
  std::vector<std::string> lines(FetchIsolation isolation = FetchIsolation::LogEnd) {
    std::vector<std::string> all;
    Offset from = log_->logStartOffset();
    while (true) {
      const auto bytes = log_->readBytes(from, 1 << 20, isolation);
      EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
      if (!bytes || bytes->empty()) return all;
      records::BatchCursor cursor(*bytes, records::BatchCursor::Check::Checksum);
      while (cursor.next() == records::Step::Next) {
        from = cursor.batch().header.nextOffset();
        if (cursor.batch().header.isControl()) continue;
        EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
          all.push_back(fmt::format("{}:{}{}", record.offset, asText(*record.key),
                                    record.value ? fmt::format("={}", asText(*record.value)) : ""));
        }));
      }
      EXPECT_EQ(cursor.position(), bytes->size());
    }
  }
  std::vector<int64_t> bases() {
    std::vector<int64_t> all;
    for (const SegmentInfo& info : log_->segments()) all.push_back(info.baseOffset.value());
    return all;
  }
  CleanerStatus status() { return manager_->cleanerStatus().at(0); }
  std::string checkpoint() { return text("/data/cleaner-offset-checkpoint"); }

  LogConfig config_;
  CleanerConfig cleaner_;
  std::shared_ptr<LogManager> manager_;
  std::map<int64_t, int32_t> sequences_;
};

TEST_F(CleanerTest, onlyTheLastValueOfEachKeyStaysAtItsOffset) {
  put({"a=1", "b=1"});
  put({"a=2", "c=1"});
  put({"b=2"});
  close();
  put({"a=3"});
  settle();
  EXPECT_THAT(lines(), ElementsAre("2:a=2", "3:c=1", "4:b=2", "5:a=3")) << "the active segment is not looked at";
  EXPECT_EQ(log_->logStartOffset(), Offset(0));
  EXPECT_EQ(log_->logEndOffset(), Offset(6));
  EXPECT_EQ(checkpoint(), "0\n1\ntable 0 5\n");
  const CleanedPass pass = *status().lastPass;
  EXPECT_EQ(pass.recordsRead, 5);
  EXPECT_EQ(pass.recordsKept, 3);
  EXPECT_EQ(pass.keys, 3);
  EXPECT_EQ(pass.endOffset, Offset(5));
  EXPECT_FALSE(status().plan.due);
  EXPECT_EQ(status().plan.firstDirty, Offset(5));
}

TEST_F(CleanerTest, aReaderInAHoleGetsTheNextRecordThatIsLeft) {
  for (int i = 0; i < 30; ++i) put({fmt::format("k{}=1", i % 3)});
  close();
  put({"x=1"});
  settle();
  EXPECT_THAT(lines(), ElementsAre("27:k0=1", "28:k1=1", "29:k2=1", "30:x=1"));
  const auto bytes = log_->readBytes(Offset(4), 1, FetchIsolation::HighWatermark);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(records::BatchHeader::read(bytes->data()).baseOffset, Offset(27));
}

TEST_F(CleanerTest, readersAcrossSegmentsThatBecameEmptyGoOnToTheNext) {
  put({"a=1"});
  close();
  put({"a=2"});
  close();
  alwaysDue();
  put({"a=3"});
  settle();
  for (int64_t offset = 0; offset < 3; ++offset)
    EXPECT_FALSE(log_->readBytes(Offset(offset), 1, FetchIsolation::LogEnd)->empty()) << offset;
  EXPECT_EQ(lines().back(), "2:a=3");
}

TEST_F(CleanerTest, theCleanPartIsCleanedAgainByWhatIsNew) {
  alwaysDue();
  put({"a=1", "b=1", "c=1"});
  close();
  settle();
  put({"b=2"});
  close();
  settle();
  put({"z=1"});
  EXPECT_THAT(lines(), ElementsAre("0:a=1", "2:c=1", "3:b=2", "4:z=1"));
  EXPECT_EQ(status().passes, 2);
  EXPECT_THAT(bases(), ElementsAre(0, 4)) << "two small segments became one";
}

TEST_F(CleanerTest, nothingRunsWhileNothingIsDue) {
  put({"a=1"});
  close();
  settle();
  const CleanerStatus before = status();
  put({"a=2"});
  settle();
  const uint64_t tasks = process_->tasksRun();
  settle(std::chrono::hours(24));
  // The checkpoints and the retention of a day have their timers; nobody looks around besides.
  EXPECT_LT(process_->tasksRun() - tasks, 24 * 60u);
  EXPECT_EQ(status().passes, before.passes);
}

TEST_F(CleanerTest, aLogIsCleanedOnceItsClosedSegmentIsStable) {
  put({"a=1"});
  put({"a=2"});
  ASSERT_TRUE(log_->roll());
  settle();
  EXPECT_EQ(status().passes, 0) << "its records are above the high watermark";
  log_->updateHighWatermark(Offset(1));
  settle();
  EXPECT_EQ(status().passes, 0);
  log_->updateHighWatermark(Offset(2));
  settle();
  EXPECT_EQ(status().passes, 1);
  EXPECT_THAT(lines(), ElementsAre("1:a=2"));
}

TEST_F(CleanerTest, theRatioDecidesAtRunTimeToo) {
  put({"a=1", "b=1", "c=1", "d=1"});
  close();
  settle();
  EXPECT_EQ(status().passes, 1);
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(status().passes, 1) << "too little is dirty";
  EXPECT_GT(status().plan.dirtyRatio(), 0.1);
  config_.minCleanableDirtyRatio = 0.1;
  log_->updateConfig(config_);
  settle();
  EXPECT_EQ(status().passes, 2);
}

TEST_F(CleanerTest, aTopicThatBecomesCompactedIsCleaned) {
  config_.compact = false;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(lines().size(), 2u);
  EXPECT_THAT(manager_->cleanerStatus(), IsEmpty());
  config_.compact = true;
  log_->updateConfig(config_);
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a=2"));
}

TEST_F(CleanerTest, youngRecordsWaitForTheMinimumLag) {
  config_.minCompactionLagMs = 10'000;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle(std::chrono::seconds(8));
  EXPECT_EQ(status().passes, 0);
  settle(std::chrono::seconds(3));
  EXPECT_EQ(status().passes, 1) << "a timer, nobody appended";
}

TEST_F(CleanerTest, oldRecordsAreCleanedAfterTheMaximumLag) {
  config_.minCleanableDirtyRatio = 1;
  config_.maxCompactionLagMs = 10'000;
  log_->updateConfig(config_);
  put({"a=1"});
  put({"a=2"});
  close();
  settle(std::chrono::seconds(8));
  EXPECT_EQ(status().passes, 0);
  settle(std::chrono::seconds(3));
  EXPECT_EQ(status().passes, 1);
}

TEST_F(CleanerTest, aTombstoneStaysUntilItsHorizonAndThenGoes) {
  alwaysDue();
  put({"a=1"});
  put({"a"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a")) << "whoever reads from the start must learn that it is gone";
  const auto horizon = headers().front().deleteHorizonMs();
  ASSERT_TRUE(horizon);
  EXPECT_NEAR(static_cast<double>(*horizon), static_cast<double>(now() + 60'000), 2000);
  EXPECT_EQ(status().lastPass->earliestHorizon, platform::WallTime(platform::milliseconds(*horizon)));
  put({"b=1"});
  close();
  settle();
  EXPECT_EQ(headers().front().deleteHorizonMs(), horizon) << "a pass before it changes nothing";
  EXPECT_THAT(lines(), ElementsAre("1:a", "2:b=1"));
  settle(std::chrono::minutes(2));
  EXPECT_EQ(lines().size(), 2u) << "time alone cleans nothing";
  put({"b=2"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("3:b=2"));
  EXPECT_EQ(status().lastPass->tombstonesDropped, 1);
}

TEST_F(CleanerTest, theRetentionOfTombstonesFollowsTheConfiguration) {
  alwaysDue();
  config_.deleteRetentionMs = 0;
  log_->updateConfig(config_);
  put({"a=1", "b=1"});
  put({"a"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "2:a")) << "never in the pass that sees it first";
  put({"c=1"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "3:c=1"));
}

TEST_F(CleanerTest, aTombstoneHidesOlderValuesAlsoInTheCleanPart) {
  alwaysDue();
  put({"a=1", "b=1"});
  close();
  settle();
  put({"a"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "2:a"));
}

TEST_F(CleanerTest, theMarkerThatAbortsIsOnDiskBeforeWhatItAbortedGoes) {
  alwaysDue();
  putFrom(7, {"a=aborted"}, true);
  close();
  put({"b=1"});
  mark(7, false);  // behind all that is cleaned
  stable();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1"));
  EXPECT_EQ(log_->recoveryPoint(), Offset(3));
  crashCleaner(Crash::PowerLoss);
  startCleaner();
  EXPECT_EQ(log_->logEndOffset(), Offset(3));
}

TEST_F(CleanerTest, abortedRecordsGoAndSupersedeNothing) {
  alwaysDue();
  put({"a=1", "b=1"});
  putFrom(7, {"a=aborted"}, true);
  mark(7, false);
  putFrom(8, {"b=2"}, true);
  mark(8, true);
  close();
  put({"z=1"});
  stable();
  settle();
  EXPECT_THAT(lines(), ElementsAre("0:a=1", "4:b=2", "6:z=1"));
  EXPECT_THAT(lines(FetchIsolation::Committed), ElementsAre("0:a=1", "4:b=2", "6:z=1"));
}

TEST_F(CleanerTest, markersStayWhileAnythingOfTheirTransactionDoesAndThenUntilTheirHorizon) {
  alwaysDue();
  putFrom(7, {"a=aborted"}, true);  // 0
  mark(7, false);                   // 1
  putFrom(8, {"b=1"}, true);        // 2
  mark(8, true);                    // 3
  putFrom(7, {"c=1"});              // 4: so that neither is its producer's last
  putFrom(8, {"d=1"});              // 5
  close();
  settle();
  const auto markers = [&] {
    std::vector<int64_t> offsets;
    for (const auto& header : headers())
      if (header.isControl()) offsets.push_back(header.baseOffset.value());
    return offsets;
  };
  EXPECT_THAT(markers(), ElementsAre(1, 3));
  EXPECT_EQ(log_->abortedTransactions(Offset(0), Offset(100))->size(), 1u) << "the marker's entry stays with it";
  put({"e=1"});
  close();
  settle();
  EXPECT_THAT(markers(), ElementsAre(1, 3));
  const auto isMarker = [](const auto& header) { return header.isControl(); };
  const auto first = headers();
  EXPECT_TRUE(std::ranges::find_if(first, isMarker)->deleteHorizonMs()) << "the aborted data had gone";
  EXPECT_TRUE(log_->abortedTransactions(Offset(0), Offset(100))->empty());
  settle(std::chrono::minutes(2));
  put({"f=1"});
  close();
  settle();
  EXPECT_THAT(markers(), ElementsAre(3)) << "b=1 is still there";
}

TEST_F(CleanerTest, anOpenTransactionBoundsTheCleaning) {
  alwaysDue();
  put({"a=1"});
  put({"a=2"});
  close();
  putFrom(7, {"a=open"}, true);
  put({"a=3"});
  close();
  put({"a=4"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:a=2", "2:a=open", "3:a=3", "4:a=4"));
  EXPECT_EQ(status().plan.firstUncleanable, Offset(2));
  mark(7, false);
  stable();
  settle();
  EXPECT_EQ(lines().size(), 1u + 0u) << testing::PrintToString(lines());
}

TEST_F(CleanerTest, anEmptiedBatchKeepsTheLastSequenceOfAnActiveProducer) {
  alwaysDue();
  putFrom(7, {"a=1", "b=1"});
  put({"a=2", "b=2"});
  close();
  put({"z=1"});
  settle();
  EXPECT_THAT(lines(), ElementsAre("2:a=2", "3:b=2", "4:z=1"));
  EXPECT_EQ(headers().front().recordCount, 0);
  EXPECT_EQ(headers().front().lastSequence(), 1);
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  for (const std::string& name : names(kFolder))
    if (name.ends_with(kSnapshotSuffix)) {
      ASSERT_TRUE(files().remove(kFolder + "/" + name));
    }
  crashCleaner(Crash::Kill);
  startCleaner();
  records::BatchOptions retry = from(7);
  retry.baseSequence = 0;
  records::BatchBuilder builder(retry);
  builder.append(now(), asBytes("a"), asBytes("1"));
  builder.append(now(), asBytes("b"), asBytes("1"));
  ByteVector bytes = builder.build();
  EXPECT_TRUE(log_->appendAsLeader(bytes, LeaderEpoch(0))->duplicate);
  putFrom(7, {"c=1"});
}

TEST_F(CleanerTest, aProducerThatIsForgottenKeepsNothing) {
  alwaysDue();
  putFrom(7, {"a=1"});
  put({"a=2"});
  close();
  put({"b=1"});
  config_.producerIdExpirationMs = 0;
  log_->updateConfig(config_);
  log_->expireProducers();
  settle(std::chrono::milliseconds(1));
  EXPECT_EQ(headers().front().baseOffset, Offset(1));
}

TEST_F(CleanerTest, theLastOffsetOfTheRoundStays) {
  alwaysDue();
  put({"a=1"});
  put({"b"});
  close();
  settle();
  settle(std::chrono::minutes(2));
  put({"c=1"});
  close();
  settle();
  put({"c=2"});
  close();
  settle();
  std::vector<int64_t> ends;
  for (const auto& header : headers()) ends.push_back(header.lastOffset().value());
  EXPECT_THAT(ends, ElementsAre(0, 3));
  stopCleanly();
  startCleaner();
  EXPECT_EQ(log_->logEndOffset(), Offset(4));
}

TEST_F(CleanerTest, compressedBatchesStayCompressedWithTheirCodec) {
  for (const auto codec : {records::Codec::Gzip, records::Codec::Snappy, records::Codec::Lz4, records::Codec::Zstd}) {
    put({"a=1", fmt::format("k{}=1", static_cast<int>(codec))}, {.codec = codec});
  }
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(lines().size(), 5u);
  std::vector<records::Codec> codecs;
  for (const auto& header : headers()) codecs.push_back(header.codec());
  EXPECT_THAT(codecs, ElementsAre(records::Codec::Gzip, records::Codec::Snappy, records::Codec::Lz4,
                                  records::Codec::Zstd, records::Codec::None));
}

TEST_F(CleanerTest, compactAndDeleteDoesBoth) {
  config_.remove = true;
  config_.retentionMs = 60'000;
  alwaysDue();
  put({"a=1", "b=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_THAT(lines(), ElementsAre("1:b=1", "2:a=2"));
  settle(std::chrono::minutes(2));
  put({"c=1"});
  stable();
  manager_->cleanup();
  EXPECT_THAT(lines(), ElementsAre("3:c=1"));
  EXPECT_EQ(log_->logStartOffset(), Offset(3));
}

TEST_F(CleanerTest, aSmallMapTakesSeveralPasses) {
  cleaner_.dedupeBufferBytes = 24 * 12;
  stopCleanly();
  startCleaner();
  alwaysDue();
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 40; ++i) put({fmt::format("k{}={}", i, round)});
  close();
  put({"z=1"});
  settle(std::chrono::seconds(10));
  EXPECT_GT(status().passes, 3);
  EXPECT_LE(status().lastPass->mapSlots, 12);
  EXPECT_EQ(status().plan.firstDirty, Offset(120));
  EXPECT_EQ(lines().size(), 41u);
}

TEST_F(CleanerTest, theThrottleHoldsItBack) {
  cleaner_.maxBytesPerSecond = 1000;
  stopCleanly();
  startCleaner();
  for (int i = 0; i < 40; ++i) put({fmt::format("k{}={}", i % 4, i)});
  close();
  settle(std::chrono::minutes(1));
  const CleanedPass pass = *status().lastPass;
  // All of it is read once, and what stays is read again and written.
  const double moved = static_cast<double>(pass.bytesBefore + 2 * pass.bytesAfter);
  EXPECT_NEAR(std::chrono::duration<double>(pass.throttled).count(), moved / 1000, moved / 10'000 + 0.2);
  EXPECT_GE(pass.took, pass.throttled);
  CleanerConfig faster = cleaner_;
  faster.maxBytesPerSecond = 1e308;
  manager_->configureCleaner(faster);
  for (int i = 0; i < 80; ++i) put({fmt::format("k{}={}", i % 4, i)});
  close();
  settle();
  EXPECT_EQ(status().lastPass->throttled, platform::Duration(0));
}

TEST_F(CleanerTest, withoutThreadsNothingIsCleanedUntilThereAreSome) {
  cleaner_.threads = 0;
  stopCleanly();
  startCleaner();
  put({"a=1"});
  put({"a=2"});
  close();
  settle();
  EXPECT_EQ(lines().size(), 2u);
  cleaner_.threads = 2;
  manager_->configureCleaner(cleaner_);
  settle();
  EXPECT_EQ(lines().size(), 1u);
}

TEST_F(CleanerTest, aLogThatCannotBeReadIsSetAsideAndTheOthersAreCleaned) {
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

TEST_F(CleanerTest, aBatchWhoseOffsetsCannotBeThereIsNoReasonToMoveTheLog) {
  put({"a=1"});
  put({"a=2"});
  const auto file = files().open(kFolder + "/00000000000000000000.log", platform::OpenMode::ReadWrite);
  ASSERT_TRUE((*file)->writeAt(70, asBytes("?")));  // the second one's base offset, outside its checksum
  close();
  settle();
  EXPECT_THAT(status().uncleanableReason, HasSubstr("cannot hold"));
}

TEST_F(CleanerTest, aFullDiskLeavesTheLogAsItWasAndIsTriedAgain) {
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

TEST_F(CleanerTest, aSliceOfAReaderOutlivesItsSegment) {
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

TEST_F(CleanerTest, filesOfReplacedSegmentsStayForTheirDelay) {
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

TEST_F(CleanerTest, aTruncationEndsACleaning) {
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

TEST_F(CleanerTest, aTruncationBelowTheCleanPartLowersTheCheckpointAtOnce) {
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

TEST_F(CleanerTest, segmentsThatRetentionTookMeanwhileAreNotSwapped) {
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

TEST_F(CleanerTest, whatWasCleanedIsKnownAfterARestart) {
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

TEST_F(CleanerTest, holesAreNoLostEndsOnceTheTopicIsNoLongerCompacted) {
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

TEST_F(CleanerTest, aRemovedTopicEndsItsCleaning) {
  put({"a=1"});
  put({"a=2"});
  close();
  ASSERT_TRUE(manager_->remove(kTable));
  settle();
  EXPECT_FALSE(files().exists(kFolder));
  EXPECT_THAT(manager_->cleanerStatus(), IsEmpty());
}

TEST_F(CleanerTest, indexesAndTimesOfCleanedSegmentsAreTrue) {
  for (int i = 0; i < 200; ++i) {
    put({fmt::format("k{}={}", i % 50, i), fmt::format("only{}=1", i)});
    settle(std::chrono::milliseconds(2));
  }
  close();
  settle();
  options_.directory = kFolder;
  expectIndexesTrue(true);
  const auto found = log_->offsetForTimestamp(kMaxTimestamp);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->offset, Offset(398));
}

}  // namespace
}  // namespace tidemark::log
