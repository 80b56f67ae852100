#include <gmock/gmock.h>

#include <map>

#include "log/file_names.h"
#include "log/log_manager.h"
#include "log_fixture.h"
#include "records/control.h"

// The broker dies at any file call of a cleaning, with or without the page cache: nothing that was superseded or
// deleted comes back, nothing that was not is lost, and the next cleaning ends well.

namespace tidemark::log {
namespace {

const TopicPartition kCrashed{"table", PartitionIndex(0)};
const Uuid kCrashedId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
const std::string kCrashedFolder = "/data/table-0";

/// Key → value of its last record; no value: a tombstone.
using Table = std::map<std::string, std::optional<std::string>>;

class CleanerCrashTest : public LogFixture {
 protected:
  void begin(uint64_t seed) {
    forget();
    startWorld(seed);
    config_ = {};
    config_.compact = true;
    config_.remove = false;
    config_.segmentBytes = 700;
    config_.indexIntervalBytes = 100;
    config_.timestampAfterMaxMs = INT64_MAX;
    config_.producerIdExpirationMs = INT64_MAX;
    config_.deleteRetentionMs = 0;
    config_.minCleanableDirtyRatio = 0;
    cleans_ = false;
    openLog();
  }
  void forget() {
    log_.reset();
    manager_.reset();
    background_.reset();
  }
  void openLog() {
    background_ = process_->createExecutor({.name = "background"});
    LogManagerOptions options;
    options.directories = {"/data"};
    options.defaults = config_;
    options.cleaner.enabled = cleans_;
    options.openSegments = 2;
    auto manager = LogManager::open(*process_, background_, nullptr, options);
    ASSERT_TRUE(manager) << manager.error().message;
    manager_ = *manager;
    const auto loaded = manager_->load({});
    ASSERT_TRUE(loaded) << loaded.error().message;
    log_ = *manager_->getOrCreate(kCrashed, kCrashedId, config_);
    log_->updateHighWatermark(log_->logEndOffset());
  }
  void letClean() {
    CleanerConfig config;
    cleans_ = true;
    manager_->configureCleaner(config);
    world_->runFor(std::chrono::seconds(1));
  }
  void put(const std::string& key, std::optional<std::string> value) {
    records::BatchBuilder builder;
    builder.append(process_->clock().wallMs(), asBytes(key),
                   value ? std::optional<ByteView>(asBytes(*value)) : std::nullopt);
    ByteVector bytes = builder.build();
    ASSERT_TRUE(log_->appendAsLeader(bytes, LeaderEpoch(0)));
  }
  void transaction(int64_t producer, bool commit, int32_t sequence) {
    records::BatchOptions options{.producerId = ProducerId(producer),
                                  .producerEpoch = ProducerEpoch(0),
                                  .baseSequence = sequence,
                                  .transactional = true};
    records::BatchBuilder builder(options);
    builder.append(process_->clock().wallMs(), asBytes("t"), asBytes(commit ? "committed" : "aborted"));
    ByteVector bytes = builder.build();
    ASSERT_TRUE(log_->appendAsLeader(bytes, LeaderEpoch(0)));
    ByteVector marker = records::buildEndTxnMarker(
        ProducerId(producer), ProducerEpoch(0), {.commit = commit, .coordinatorEpoch = 0}, process_->clock().wallMs());
    ASSERT_TRUE(log_->appendAsLeader(marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator}));
  }

  /// Everything is on disk: some of it clean already, with tombstones whose horizon is over, the rest dirty.
  void fill() {
    for (int i = 0; i < 12; ++i) put(fmt::format("k{}", i % 6), fmt::format("old-{}-{}", i, std::string(60, 'x')));
    transaction(5, false, 0);
    put("k1", std::nullopt);
    put("k2", std::nullopt);
    finishPart();
    letClean();
    cleans_ = false;
    manager_->configureCleaner({.enabled = false});
    for (int i = 0; i < 14; ++i) put(fmt::format("k{}", 3 + i % 4), fmt::format("new-{}-{}", i, std::string(70, 'y')));
    transaction(5, true, 1);
    transaction(5, false, 2);
    put("k3", std::nullopt);
    finishPart();
    put("last", "1");
    finishPart();
    // Old enough for the tombstones, and for files that wait for their removal.
    world_->runFor(std::chrono::minutes(2));
  }
  void finishPart() {
    ASSERT_TRUE(log_->roll());
    log_->updateHighWatermark(log_->logEndOffset());
    ASSERT_TRUE(log_->flush());
    manager_->checkpoint();
  }

  /// What a read_committed reader from the start on knows at the end.
  Table table() {
    Table table;
    Offset from = log_->logStartOffset();
    Offset last = kNoOffset;
    const auto aborted = log_->abortedTransactions(Offset(0), Offset(INT64_MAX)).value();
    while (true) {
      const auto bytes = log_->readBytes(from, 1 << 20, FetchIsolation::LogEnd);
      EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
      if (!bytes || bytes->empty()) return table;
      records::BatchCursor cursor(*bytes, records::BatchCursor::Check::Checksum);
      while (cursor.next() == records::Step::Next) {
        const records::BatchHeader& header = cursor.batch().header;
        EXPECT_GT(header.baseOffset, last) << "offsets rise";
        last = header.lastOffset();
        from = header.nextOffset();
        const bool gone = std::ranges::any_of(aborted, [&](const AbortedTxn& entry) {
          return header.isTransactional() && entry.producerId == header.producerId &&
                 header.baseOffset >= entry.firstOffset && header.baseOffset < entry.lastOffset;
        });
        if (header.isControl() || gone) continue;
        EXPECT_TRUE(records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
          table[std::string(asText(*record.key))] =
              record.value ? std::optional(std::string(asText(*record.value))) : std::nullopt;
        }));
      }
    }
  }
  static Table alive(const Table& table) {
    Table left;
    for (const auto& [key, value] : table)
      if (value) left[key] = value;
    return left;
  }

  /// How many file calls a cleaning of that log makes.
  uint64_t callsOfOneCleaning() {
    begin(1);
    fill();
    const uint64_t before = process_->fileCalls();
    letClean();
    EXPECT_GT(manager_->cleanerStatus().at(0).passes, 1);
    return process_->fileCalls() - before;
  }

  void crashAt(uint64_t call, Crash how) {
    SCOPED_TRACE(fmt::format("crash at call {} by {}", call, how == Crash::Kill ? "kill" : "power loss"));
    begin(1000 + call);
    fill();
    const Table expected = alive(table());
    const Offset end = log_->logEndOffset();
    // Its data is still there, so that its marker stays, and its entry with it.
    const AbortedTxn aborted = log_->abortedTransactions(Offset(0), end)->back();
    process_->crashAtFileCall(call, how);
    letClean();
    const bool died = process_->state() == platform::Process::State::Dead;
    if (died) {
      ++crashes_;
      forget();
      restart();
      cleans_ = false;
      openLog();
    } else {
      process_->crashAtFileCall(uint64_t{1} << 60, how);
    }
    ASSERT_TRUE(log_);
    EXPECT_EQ(log_->logEndOffset(), end);
    EXPECT_EQ(alive(table()), expected);
    EXPECT_THAT(log_->abortedTransactions(Offset(0), end).value(), testing::Contains(aborted));
    for (const std::string& name : names(kCrashedFolder)) {
      EXPECT_FALSE(name.ends_with(kCleanedSuffix) || name.ends_with(kSwapSuffix)) << name << " was left";
    }
    options_.directory = kCrashedFolder;
    options_.config.indexIntervalBytes = config_.indexIntervalBytes;
    expectIndexesTrue();
    letClean();
    EXPECT_EQ(alive(table()), expected) << "after the next cleaning";
    EXPECT_EQ(manager_->cleanerStatus().at(0).plan.cleanableBytes, 0);
    EXPECT_EQ(manager_->cleanerStatus().at(0).uncleanableReason, "");
  }

  LogConfig config_;
  bool cleans_ = false;
  std::shared_ptr<LogManager> manager_;
  int crashes_ = 0;
};

TEST_F(CleanerCrashTest, killedAtEverySecondFileCallOfACleaning) {
  const uint64_t calls = callsOfOneCleaning();
  for (uint64_t call = 1; call <= calls && !HasFailure(); call += 2) crashAt(call, Crash::Kill);
  EXPECT_GT(crashes_, 50);
}

TEST_F(CleanerCrashTest, powerLossAtTheFileCallsInBetween) {
  const uint64_t calls = callsOfOneCleaning();
  for (uint64_t call = 2; call <= calls && !HasFailure(); call += 2) crashAt(call, Crash::PowerLoss);
  EXPECT_GT(crashes_, 50);
}

}  // namespace
}  // namespace tidemark::log
