#include <gmock/gmock.h>

#include <cstdlib>

#include "base/seeds.h"
#include "log_model.h"

// Random operations on one log under a log manager with its cleaner, retention and background flushes, against a plain
// list of records; with crashes at any file call, power losses that forget, tear (sectors of 512 and of 4096) and
// reorder unsynced writes, full disks and calls that fail. After each step S1 to S5, R11 and T8. TIDEMARK_LOG_SEEDS=N
// runs more or fewer, TIDEMARK_LOG_SEED=N one of them.

namespace tidemark::log {
namespace {

/// What a run of many seeds must have done and met, each of it, or it proves little.
constexpr std::string_view kExpected[] = {"append",
                                          "retry",
                                          "append as follower",
                                          "append of several epochs",
                                          "end of a transaction",
                                          "high watermark",
                                          "truncation",
                                          "DeleteRecords",
                                          "roll",
                                          "compaction",
                                          "retention",
                                          "flush",
                                          "read while the log changed",
                                          "lookup by offset",
                                          "lookup by time",
                                          "kill",
                                          "power loss",
                                          "crash in a file call",
                                          "clean restart",
                                          "clean restart and power loss",
                                          "opened and closed twice",
                                          "EIO",
                                          "failed sync",
                                          "ENOSPC",
                                          "write cut short",
                                          "lost, sectors of 512",
                                          "torn, sectors of 512",
                                          "reordered, sectors of 512",
                                          "lost, sectors of 4096",
                                          "torn, sectors of 4096",
                                          "reordered, sectors of 4096"};

class LogModelTest : public LogModel {
 protected:
  void breakDisk() {
    ++counts_.diskFailures;
    if (chance(50)) {
      process_->disk().setCapacity(process_->disk().used() + below(300));
      return;
    }
    auto left = std::make_shared<uint64_t>(1 + below(10));
    process_->disk().failWhen([this, left](platform::FileCall call, const std::string&) {
      if (call == platform::FileCall::LockFile || call == platform::FileCall::Size) return false;
      const bool fails = *left > 0 && --*left == 0;
      if (fails && call == platform::FileCall::Sync) {
        syncFailed_ = true;
        did("failed sync");
      }
      return fails;
    });
  }

  void step() {
    const Crash how = chance(50) ? Crash::Kill : Crash::PowerLoss;
    if (chance(4)) process_->crashAtFileCall(1 + below(30), how);
    if (chance(2)) breakDisk();
    const uint64_t choice = below(100);
    note("choice {} crash {}", choice, how == Crash::Kill ? "kill" : "power");
    if (choice < 34) {
      appendAsLeader();
    } else if (choice < 46) {
      appendAsFollower();
    } else if (choice < 56) {
      endTransaction();
    } else if (choice < 68) {
      moveHighWatermark();
    } else if (choice < 72) {
      truncate();
    } else if (choice < 75) {
      deleteRecords();
    } else if (choice < 78) {
      cleanUp();
    } else if (choice < 82) {
      flush();
    } else if (choice < 87) {
      if (came(log_->roll())) did("roll");
    } else if (choice < 95) {
      world_->runFor(std::chrono::milliseconds(200 + below(2000)));
    } else if (choice < 97) {
      ++counts_.crashes;
      did(how == Crash::Kill ? "kill" : "power loss");
      reopen(how, true);
    } else if (choice < 99) {
      restartCleanly();
    }
    if (HasFatalFailure()) return;
    if (!alive() || log_->offline()) {
      ++counts_.crashes;
      if (!alive()) did("crash in a file call");
      reopen(how, false);
      if (HasFatalFailure()) return;
    }
    process_->disk().failWhen(nullptr);
    process_->disk().setCapacity(UINT64_MAX);
    process_->crashAtFileCall(kNever, Crash::Kill);  // not in what only looks
    note("end {} start {} high watermark {} flushed {}", log_->logEndOffset(), log_->logStartOffset(),
         log_->highWatermark(), model_.flushed());
    if (chance(10)) readMeanwhile();
    if (HasFatalFailure()) return;
    check();
    ++counts_.steps;
  }

  void run(uint64_t seed, int steps) {
    start(seed);
    ASSERT_TRUE(log_);
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      SCOPED_TRACE(fmt::format("TIDEMARK_LOG_SEED={} step {}", seed, i));
      step();
    }
    addDamage();
    if (HasFailure()) return;
    // What a full disk kept from being cleaned is tried again.
    world_->runFor(std::chrono::seconds(5));
    for (const CleanerStatus& status : manager_->cleanerStatus()) {
      counts_.passes += status.passes;
      did("compaction", status.passes);
      EXPECT_EQ(status.uncleanableReason, "");
    }
    options_.config.indexIntervalBytes = config_.indexIntervalBytes;
    expectIndexesTrue();
  }

  /// What a broker does with a log in an hour, in the same order each time. Ends early if the process dies.
  void live() {
    const auto goesOn = [this] { return !HasFatalFailure() && alive() && log_ && !log_->offline(); };
    const auto each = [&](int times, const auto& what) {
      for (int i = 0; i < times && goesOn(); ++i) what();
    };
    each(6, [&] { appendAsLeader(); });
    each(1, [&] { endTransaction(); });
    each(1, [&] { flush(); });
    each(3, [&] { appendAsFollower(); });
    each(1, [&] { moveHighWatermark(); });
    each(1, [&] { came(log_->roll()); });
    each(4, [&] { appendAsLeader(); });
    each(1, [&] { truncate(); });
    each(3, [&] { appendAsLeader(); });
    each(1, [&] { moveHighWatermark(); });
    each(1, [&] { deleteRecords(); });
    each(1, [&] { came(log_->roll()); });
    each(1, [&] { world_->runFor(std::chrono::seconds(3)); });
    each(1, [&] { cleanUp(); });
    each(1, [&] { manager_->checkpoint(); });
    each(2, [&] { appendAsLeader(); });
    if (goesOn()) static_cast<void>(manager_->shutdown(BrokerEpoch(1)));
  }
};

TEST_F(LogModelTest, aLogIsWhatWasAppendedWhateverHappensToIt) {
  uint64_t first = 1;
  uint64_t seeds = seedsOf(700);  // of 150 steps each: 10⁵
  if (const char* one = std::getenv("TIDEMARK_LOG_SEED")) first = std::strtoull(one, nullptr, 10), seeds = 1;
  if (const char* many = std::getenv("TIDEMARK_LOG_SEEDS")) seeds = std::strtoull(many, nullptr, 10);
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    story_.clear();
    run(seed, 150);
    if (!HasFailure()) continue;
    for (const std::string& line : story_) fmt::print("{}\n", line);
  }
  fmt::print(
      "{} steps, {} crashes, {} lost tails, {} disk failures, {} passes of living brokers, {} records compacted away, "
      "{} aborted seen, {} retries known, {} segments scanned\n",
      counts_.steps, counts_.crashes, counts_.lostTails, counts_.diskFailures, counts_.passes, counts_.compactedAway,
      counts_.abortedSeen, counts_.retries, counts_.segmentsScanned);
  for (const std::string_view what : kExpected) fmt::print("{:8} {}\n", counts_.done[std::string(what)], what);
  // As many as a run without sanitizers has, or a longer one.
  if (seeds < 100) return;
  EXPECT_GE(counts_.steps, static_cast<int>(seeds) * 150);
  for (const std::string_view what : kExpected) EXPECT_GT(counts_.done[std::string(what)], 0) << what;
  const auto expected = [seeds](int64_t each100) { return static_cast<int64_t>(seeds) * each100 / 100; };
  EXPECT_GT(counts_.crashes, expected(66));
  EXPECT_GT(counts_.lostTails, expected(13));
  EXPECT_GT(counts_.diskFailures, expected(33));
  EXPECT_GT(counts_.passes, expected(33));
  EXPECT_GT(counts_.compactedAway, expected(660));
  EXPECT_GT(counts_.abortedSeen, expected(66));
  EXPECT_GT(counts_.retries, expected(660));
}

/// Each call that a log makes is once the last one, in the middle of which the process dies or the power goes.
TEST_F(LogModelTest, aCrashInAnyFileCallLeavesTheFrontOfTheLog) {
  struct Way {
    Crash how;
    size_t sectorSize;
  };
  int calls = 0;
  for (const uint64_t seed : {3, 8, 21})
    for (const Way& way : {Way{Crash::Kill, 512}, Way{Crash::PowerLoss, 512}, Way{Crash::PowerLoss, 4096}}) {
      bool died = true;
      for (uint64_t call = 1; died && !HasFailure(); ++call) {
        story_.clear();
        start(seed);
        ASSERT_TRUE(log_);
        SCOPED_TRACE(fmt::format("seed {}, {} in file call {}, sectors of {}", seed,
                                 way.how == Crash::Kill ? "killed" : "without power", call, way.sectorSize));
        process_->disk().setSectorSize(way.sectorSize);
        process_->crashAtFileCall(call, way.how);
        live();
        died = !alive();
        if (!died) break;
        reopen(way.how, false);
        if (HasFatalFailure()) break;
        process_->crashAtFileCall(kNever, Crash::Kill);
        check();
        ++calls;
      }
    }
  EXPECT_GT(calls, 300);
  for (const std::string& line : story_)
    if (HasFailure()) fmt::print("{}\n", line);
}

}  // namespace
}  // namespace tidemark::log
