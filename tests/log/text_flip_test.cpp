#include <gmock/gmock.h>

#include <functional>
#include <map>

#include <fmt/format.h>

#include "log/checkpoints.h"
#include "log/log_manager.h"
#include "log_fixture.h"

// A bit that turned in one of the small text files while nobody ran: each bit of each byte once. They have no sums, so
// that many of these texts can still be read and say something else. Whatever it is: the start is not refused, no
// record is lost, the leader epochs are those of the batches, and a log that is not taken for ours any more is not
// counted on.

namespace tidemark::log {
namespace {

const TopicPartition kFlipped{"orders", PartitionIndex(0)};
const Uuid kFlippedId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
constexpr int64_t kEnd = 120;

/// The parameter: whether the broker stopped cleanly before.
class TextFlipTest : public LogFixture, public testing::WithParamInterface<bool> {
 protected:
  /// A log of three epochs in several segments.
  TextFlipTest() {
    options_.config.segmentBytes = 2000;
    managerOptions_.directories = {"/data/a"};
    EXPECT_TRUE(start());
    log_ = *manager_->getOrCreate(kFlipped, kFlippedId, options_.config);
    for (const int32_t epoch : {0, 10, 12})
      for (int i = 0; i < 20; ++i) append({.count = 2, .valueSize = 40, .epoch = LeaderEpoch(epoch)});
    expectEnd(kEnd);
    EXPECT_GE(log_->segments().size(), 3u);
    log_->updateHighWatermark(Offset(kEnd - 10));
    epochs_ = log_->epochEntries();
    EXPECT_TRUE(log_->flush());
    manager_->checkpoint();
    EXPECT_TRUE(!GetParam() || manager_->shutdown(BrokerEpoch(1234)));
    stop();
    remember("/data/a");
  }
  /// A broker starts on it, does something to the log, and stops as the parameter says; from then on it is as it is
  /// then.
  void change(const std::function<void()>& what) {
    ASSERT_TRUE(start());
    log_ = manager_->get(kFlipped);
    ASSERT_TRUE(log_);
    log_->updateHighWatermark(Offset(kEnd - 10));
    what();
    // The epochs are written in the background.
    world_->runFor(std::chrono::milliseconds(100));
    manager_->checkpoint();
    EXPECT_TRUE(!GetParam() || manager_->shutdown(BrokerEpoch(1234)));
    stop();
    kept_.clear();
    remember("/data/a");
  }
  Result<void> start() {
    background_ = process_->createExecutor({.name = "background"});
    TIDEMARK_ASSIGN(manager_, LogManager::open(*process_, background_, nullptr, managerOptions_));
    return manager_->load(
        {.isOurs = [](const TopicPartition&, const Uuid& id) { return id.isZero() || id == kFlippedId; },
         .isCountedOn = [this](const TopicPartition& partition) { return isCountedOn_ && partition == kFlipped; }});
  }
  void stop() {
    crash(Crash::Kill);
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
  }
  void remember(const std::string& folder) {
    const auto entries = files().list(folder);
    ASSERT_TRUE(entries);
    for (const auto& entry : *entries) {
      const std::string path = folder + "/" + entry.name;
      if (entry.isDirectory)
        remember(path);
      else
        kept_[path] = bytes(path);
    }
  }
  /// The disk as it was when the broker stopped, but for one bit.
  void lay(const std::string& changed, size_t at, uint8_t bit) {
    ASSERT_TRUE(files().removeTree("/data/a"));
    ASSERT_TRUE(files().createDirectories("/data/a/orders-0"));
    for (const auto& [path, content] : kept_) {
      ByteVector laid = content;
      if (path == changed) laid[at] ^= bit;
      const auto file = files().open(path, platform::OpenMode::Truncate);
      ASSERT_TRUE(file && (*file)->writeAt(0, ByteView(laid)));
    }
  }
  void expectWhole(const std::string& what) {
    ASSERT_TRUE(log_) << what;
    EXPECT_EQ(log_->logEndOffset(), Offset(kEnd)) << what;
    EXPECT_EQ(log_->logStartOffset(), Offset(0)) << what;
    EXPECT_LE(log_->highWatermark(), Offset(kEnd)) << what;
    EXPECT_EQ(log_->epochEntries(), epochs_) << what;
    EXPECT_EQ(readHeaders(*log_, Offset(0)).size(), 60u) << what;
  }
  /// Starts with each bit of the file flipped in turn and asks `then`, which is told which one it was.
  void flipEach(const std::string& path, const std::function<void(const std::string& what)>& then,
                const std::function<void(const std::string& what, const Error& error)>& refused = {}) {
    ASSERT_TRUE(kept_.contains(path));
    for (size_t at = 0; at < kept_[path].size(); ++at) {
      for (const uint8_t bit : {0x01, 0x02, 0x10}) {
        lay(path, at, bit);
        const std::string what = fmt::format("{}: byte {}, bit {:#x}", path, at, bit);
        const auto started = start();
        if (!started && refused) {
          refused(what, started.error());
          stop();
          continue;
        }
        ASSERT_TRUE(started) << what << ": " << started.error().message;
        log_ = manager_->get(kFlipped);
        then(what);
        if (HasFailure()) return;
        stop();
      }
    }
  }

  LogManagerOptions managerOptions_;
  std::shared_ptr<LogManager> manager_;
  std::map<std::string, ByteVector> kept_;
  std::vector<EpochEntry> epochs_;
  bool isCountedOn_ = true;
};

TEST_P(TextFlipTest, aCheckpointOfTheDirectoryCostsNoRecord) {
  for (const std::string_view name : {kRecoveryPointFile, kHighWatermarkFile})
    flipEach(fmt::format("/data/a/{}", name), [this](const std::string& what) { expectWhole(what); });
}

TEST_P(TextFlipTest, aLogStartHidesNoRecordThatWasNotDeleted) {
  constexpr Offset kStart(30);
  change([&] { ASSERT_EQ(log_->deleteRecords(kStart).value(), kStart); });
  bool wasLower = false;
  flipEach("/data/a/log-start-offset-checkpoint", [&](const std::string& what) {
    ASSERT_TRUE(log_) << what;
    EXPECT_EQ(log_->logEndOffset(), Offset(kEnd)) << what;
    const Offset start = log_->logStartOffset();
    EXPECT_LE(start, kStart) << what;
    wasLower = wasLower || start < kStart;
    EXPECT_EQ(readHeaders(*log_, kStart).size(), 45u) << what;
    epochs_.front().startOffset = start;
    EXPECT_EQ(log_->epochEntries(), epochs_) << what;
  });
  EXPECT_TRUE(wasLower) << "the file was read";
}

/// Whose directory it is: refused by its name, or told as it is there now, for whoever knows better to refuse it.
TEST_P(TextFlipTest, anOwnerIsRefusedOrToldAndItsLogsAreWhole) {
  const std::string path = "/data/a/meta.properties";
  change([&] { ASSERT_TRUE(manager_->format("kVi3G0mTQzKX8Ze3ZB2R6A", NodeId(13))); });
  const MetaProperties owner = *decodeMetaProperties(asText(kept_[path]));
  int refusals = 0;
  int others = 0;
  flipEach(
      path,
      [&](const std::string& what) {
        expectWhole(what);
        const auto told = manager_->metaProperties().at(0);
        ASSERT_TRUE(told) << what;
        others += told->clusterId != owner.clusterId || told->nodeId != owner.nodeId ||
                  told->directoryId != owner.directoryId;
      },
      [&](const std::string& what, const Error& error) {
        EXPECT_THAT(error.message, testing::HasSubstr(path)) << what;
        ++refusals;
      });
  EXPECT_GT(refusals, 20);
  EXPECT_GT(others, 20);
}

TEST_P(TextFlipTest, anEpochThatTheBatchesDoNotHaveIsNotBelieved) {
  flipEach("/data/a/orders-0/leader-epoch-checkpoint", [this](const std::string& what) { expectWhole(what); });
}

TEST_P(TextFlipTest, aLogUnderAnotherTopicIdIsSetAsideAndNotCountedOn) {
  bool wasSetAside = false;
  flipEach("/data/a/orders-0/partition.metadata", [&](const std::string& what) {
    if (log_) return expectWhole(what);
    wasSetAside = true;
    EXPECT_EQ(manager_->hasLess(), GetParam()) << what << ": who did not stop cleanly is not counted on anyway";
  });
  EXPECT_TRUE(wasSetAside);
  // Of a topic that was made anew meanwhile nobody expects anything here.
  isCountedOn_ = false;
  flipEach("/data/a/orders-0/partition.metadata",
           [&](const std::string& what) { EXPECT_FALSE(manager_->hasLess()) << what; });
}

TEST_P(TextFlipTest, theMarkerOfTheCleanStopSaysNothingOfTheLogs) {
  ASSERT_EQ(kept_.contains("/data/a/.kafka_cleanshutdown"), GetParam());
  if (!GetParam()) return;
  // Any epoch but its last one is an unclean stop to the controller.
  bool wasOther = false;
  flipEach("/data/a/.kafka_cleanshutdown", [&](const std::string& what) {
    expectWhole(what);
    wasOther = wasOther || manager_->previousBrokerEpoch() != BrokerEpoch(1234);
  });
  EXPECT_TRUE(wasOther);
}

INSTANTIATE_TEST_SUITE_P(AfterAStop, TextFlipTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& each) { return each.param ? "clean" : "killed"; });

}  // namespace
}  // namespace tidemark::log
