#include "odd_calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/seeds.h"
#include "log_fixture.h"
#include "platform/native/native.h"

// A log on real files whose calls end early, are interrupted by signals and are refused half-way, which is below the
// seam that the simulated disk stands for.

namespace tidemark::log {
namespace {

class OddCallsLogTest : public testing::Test {
 protected:
  OddCallsLogTest() {
    options_.partition = {"orders", PartitionIndex(0)};
    options_.directory = (folder_ / "orders-0").string();
    options_.config.segmentBytes = 4000;
    options_.config.indexIntervalBytes = 200;
    options_.config.timestampAfterMaxMs = INT64_MAX;
    options_.config.retentionMs = -1;
  }
  ~OddCallsLogTest() override {
    platform::oddCalls = nullptr;
    log_.reset();
    process_->kill("the test ends");
    process_->awaitStopped();
    std::filesystem::remove_all(folder_);
  }
  uint64_t below(uint64_t bound) { return random_() % bound; }

  void open(bool clean) {
    options_.cleanShutdown = clean;
    options_.recoveryPoint = clean ? end_ : Offset(0);
    auto opened = PartitionLog::open({.files = &process_->files(),
                                      .clock = &process_->clock(),
                                      .logger = &process_->log(),
                                      .background = nullptr,
                                      .handles = std::make_shared<HandleCache>(4)},
                                     options_);
    ASSERT_TRUE(opened) << opened.error().message;
    log_ = *opened;
  }
  /// Calls are so until they are forgotten; how many there were is counted.
  void makeOdd(uint64_t most, int error = 0) {
    calls_ = {.most = 1 + static_cast<size_t>(below(most)),
              .interrupted = below(2) == 0,
              .error = error,
              .errorAfter = error == 0 ? 0 : static_cast<int>(below(3))};
    platform::oddCalls = &calls_;
  }
  void forgetOdd() {
    platform::oddCalls = nullptr;
    interruptions_ += calls_.interruptions;
    calls_ = {};
  }
  void append() {
    const int count = 1 + static_cast<int>(below(4));
    ByteVector batch = makeBatch({.count = count, .valueSize = 1 + static_cast<size_t>(below(300))});
    const int error = below(15) == 0 ? (below(2) == 0 ? EIO : ENOSPC) : 0;
    makeOdd(200, error);
    const auto info = log_->appendAsLeader(batch, LeaderEpoch(0));
    const size_t most = calls_.most;
    forgetOdd();
    if (info) {
      shortWrites_ += batch.size() > most;
      batches_.push_back(batch);
      end_ = end_ + count;
      return;
    }
    // What arrived of the batch is cut off again, unless all of it did and what came behind was refused.
    ASSERT_NE(error, 0) << info.error().error.message;
    ASSERT_TRUE(log_->offline());
    ++(error == EIO ? ioErrors_ : fullDisks_);
    log_->abandon();
    makeOdd(4000);
    open(false);
    forgetOdd();
    if (!log_ || log_->logEndOffset() == end_) return;
    batches_.push_back(batch);
    end_ = end_ + count;
  }
  void restart(bool clean) {
    makeOdd(4000);
    if (clean) {
      ASSERT_TRUE(log_->close());
    } else {
      log_->abandon();
    }
    log_.reset();
    open(clean);
    forgetOdd();
  }
  void check() {
    ASSERT_EQ(log_->logEndOffset(), end_);
    makeOdd(4000);
    ByteVector found;
    for (Offset at(0); at < end_;) {
      const auto bytes = log_->readBytes(at, 1 << 16, FetchIsolation::LogEnd, true);
      ASSERT_TRUE(bytes) << bytes.error().message;
      ASSERT_FALSE(bytes->empty());
      found.insert(found.end(), bytes->begin(), bytes->end());
      records::BatchCursor cursor(*bytes, records::BatchCursor::Check::Checksum);
      while (cursor.next() == records::Step::Next) at = cursor.batch().header.nextOffset();
    }
    forgetOdd();
    ByteVector expected;
    for (const ByteVector& batch : batches_) expected.insert(expected.end(), batch.begin(), batch.end());
    ASSERT_TRUE(found == expected);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("odd-calls-" + std::to_string(::getpid()));
  std::shared_ptr<platform::Process> process_ =
      platform::makeNativeProcess({.name = "test", .level = platform::Logger::Level::Error, .sink = [](auto&&...) {}});
  PartitionLogOptions options_;
  std::shared_ptr<PartitionLog> log_;
  std::mt19937_64 random_{1};
  platform::OddCalls calls_;
  /// As the log stamped them.
  std::vector<ByteVector> batches_;
  Offset end_{0};
  int interruptions_ = 0;
  int shortWrites_ = 0;
  int ioErrors_ = 0;
  int fullDisks_ = 0;
};

TEST_F(OddCallsLogTest, aLogIsWhatWasAppendedHoweverItsCallsEnd) {
  std::filesystem::create_directories(folder_);
  open(true);
  for (uint64_t step = seedsOf(300); step > 0 && !HasFatalFailure(); --step) {
    SCOPED_TRACE(step);
    const uint64_t choice = below(100);
    if (choice < 90) {
      append();
    } else if (choice < 93) {
      ASSERT_TRUE(log_->flush());
    } else {
      restart(choice < 97);
    }
    if (choice >= 90 && !HasFatalFailure()) check();
  }
  if (seedsOf(300) < 300) return;
  EXPECT_GT(interruptions_, 100);
  EXPECT_GT(shortWrites_, 100);
  EXPECT_GT(ioErrors_, 2);
  EXPECT_GT(fullDisks_, 2);
}

}  // namespace
}  // namespace tidemark::log
