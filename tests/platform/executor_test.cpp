#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

#include "base/invariant.h"
#include "harness.h"

namespace tidemark::platform {
namespace {

using std::chrono::milliseconds;

class ExecutorTest : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Harness> harness_ = makeHarness(GetParam());
  std::shared_ptr<Process> process_ = harness_->createProcess("one");

  ~ExecutorTest() override {
    process_->kill("the test ends");
    process_->awaitStopped();
  }
};

INSTANTIATE_TEST_SUITE_P(Platform, ExecutorTest, testing::Values(Kind::Native, Kind::Simulated),
                         [](const auto& test) { return test.param == Kind::Native ? "Native" : "Simulated"; });

TEST_P(ExecutorTest, aSerialExecutorRunsTasksOneByOneInTheOrderOfPosting) {
  auto executor = process_->createExecutor({.name = "serial"});
  std::vector<int> order;
  std::atomic<int> inside = 0;
  int worst = 0;
  for (int i = 0; i < 1000; ++i) {
    executor->post([&, i] {
      worst = std::max(worst, ++inside);
      --inside;
      harness_->update([&] { order.push_back(i); });
    });
  }
  ASSERT_TRUE(harness_->await([&] { return order.size() == 1000; }));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(worst, 1);
}

TEST_P(ExecutorTest, postNeverRunsTheTaskInsideTheCall) {
  auto executor = process_->createExecutor({.name = "serial"});
  bool inner = false;
  bool innerDuringPost = true;
  harness_->run(*executor, [&] {
    EXPECT_TRUE(executor->isCurrent());
    executor->post([&] { harness_->update([&] { inner = true; }); });
    innerDuringPost = inner;
  });
  ASSERT_TRUE(harness_->await([&] { return inner; }));
  EXPECT_FALSE(innerDuringPost);
  EXPECT_FALSE(executor->isCurrent());
}

TEST_P(ExecutorTest, whatATaskPostedComesBeforeWhatWasPostedElsewhereAfterwards) {
  auto executor = process_->createExecutor({.name = "serial"});
  auto other = process_->createExecutor({.name = "other"});
  for (int round = 0; round < 100; ++round) {
    std::vector<int> order;
    executor->post([&] {
      executor->post([&] { harness_->update([&] { order.push_back(1); }); });
      other->post([&] { executor->post([&] { harness_->update([&] { order.push_back(2); }); }); });
      executor->stall(std::chrono::microseconds(100));
    });
    ASSERT_TRUE(harness_->await([&] { return order.size() == 2; }));
    ASSERT_EQ(order, (std::vector<int>{1, 2}));
  }
}

TEST_P(ExecutorTest, aPoolRunsAllTasksAndSeveralAtATime) {
  auto pool = process_->createExecutor({.name = "pool", .threads = 3});
  int done = 0;
  int inside = 0;
  int worst = 0;
  for (int i = 0; i < 300; ++i) {
    pool->post([&, i] {
      harness_->update([&] { worst = std::max(worst, ++inside); });
      bool alone = i == 0 && GetParam() == Kind::Native;
      do {
        pool->stall(std::chrono::microseconds(100));
        // Other threads may be late on a busy machine: the first task waits for one.
        if (alone) harness_->update([&] { alone = worst == 1 && done < 299; });
      } while (alone);
      harness_->update([&] {
        --inside;
        ++done;
      });
    });
  }
  ASSERT_TRUE(harness_->await([&] { return done == 300; }));
  if (GetParam() == Kind::Native) {
    EXPECT_GT(worst, 1);
    EXPECT_LE(worst, 3);
  } else {
    // One thread, but the stalls of three lanes lie side by side in time.
    EXPECT_LT(harness_->world()->now() - MonotonicTime(std::chrono::hours(1)), milliseconds(15));
  }
}

TEST_P(ExecutorTest, aTimerRunsItsTaskNotBeforeItsTime) {
  auto executor = process_->createExecutor({.name = "serial"});
  /// It is due between both, however long it took to say so.
  struct Due {
    MonotonicTime earliest;
    MonotonicTime latest;
  };
  std::vector<Due> due;
  std::vector<std::pair<size_t, MonotonicTime>> fired;
  std::vector<Timer> timers;
  harness_->run(*executor, [&] {
    for (const int delay : {30, 10, 20, 0}) {
      const auto earliest = process_->clock().monotonic() + milliseconds(delay);
      timers.push_back(executor->schedule(milliseconds(delay), [&, number = due.size()] {
        harness_->update([&] { fired.emplace_back(number, process_->clock().monotonic()); });
      }));
      EXPECT_TRUE(timers.back());
      due.push_back({earliest, process_->clock().monotonic() + milliseconds(delay)});
    }
  });
  ASSERT_TRUE(harness_->await([&] { return fired.size() == 4; }));
  for (size_t i = 0; i < fired.size(); ++i) {
    EXPECT_GE(fired[i].second, due[fired[i].first].earliest);
    if (i > 0) {
      EXPECT_LE(due[fired[i - 1].first].earliest, due[fired[i].first].latest);
    }
  }
}

TEST_P(ExecutorTest, aCancelledOrDroppedTimerNeverRunsAndLetsGoOfItsTaskAtOnce) {
  auto executor = process_->createExecutor({.name = "serial"});
  bool wrong = false;
  bool right = false;
  auto held = std::make_shared<int>(1);
  Timer marker;
  harness_->run(*executor, [&] {
    Timer cancelled = executor->schedule(milliseconds(1), [&, held] { wrong = true; });
    EXPECT_EQ(held.use_count(), 2);
    cancelled.cancel();
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_FALSE(cancelled);
    {
      Timer dropped = executor->schedule(milliseconds(1), [&, held] { wrong = true; });
    }
    Timer replaced = executor->schedule(milliseconds(1), [&, held] { wrong = true; });
    replaced = executor->schedule(milliseconds(2), [] {});
    EXPECT_EQ(held.use_count(), 1);
    // Due already, its task on the way: even so.
    Timer due = executor->schedule(milliseconds(0), [&] { wrong = true; });
    executor->stall(milliseconds(3));
    due.cancel();
    marker = executor->schedule(milliseconds(5), [&] { harness_->update([&] { right = true; }); });
  });
  ASSERT_TRUE(harness_->await([&] { return right; }));
  EXPECT_FALSE(wrong);
}

TEST_P(ExecutorTest, manyCancelledTimersLeaveTheRestInOrder) {
  auto executor = process_->createExecutor({.name = "serial"});
  std::vector<Timer> timers;
  std::vector<int> fired;
  harness_->run(*executor, [&] {
    for (int i = 0; i < 2000; ++i) {
      timers.push_back(executor->schedule(milliseconds(5) + std::chrono::microseconds(i),
                                          [&, i] { harness_->update([&] { fired.push_back(i); }); }));
    }
    for (int i = 0; i < 2000; ++i) {
      if (i % 10 != 0) timers[static_cast<size_t>(i)].cancel();
    }
  });
  ASSERT_TRUE(harness_->await([&] { return fired.size() == 200; }));
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
  for (const int i : fired) EXPECT_EQ(i % 10, 0);
}

TEST_P(ExecutorTest, stallTakesTimeAndKillEndsIt) {
  auto executor = process_->createExecutor({.name = "serial"});
  Duration took{};
  harness_->run(*executor, [&] {
    const auto start = process_->clock().monotonic();
    executor->stall(milliseconds(5));
    took = process_->clock().monotonic() - start;
  });
  EXPECT_GE(took, milliseconds(5));
  EXPECT_LT(took, std::chrono::seconds(5));
  bool stalling = false;
  executor->post([&] {
    harness_->update([&] { stalling = true; });
    executor->stall(std::chrono::hours(10));
  });
  ASSERT_TRUE(harness_->await([&] { return stalling; }));
  process_->kill("enough");
  process_->awaitStopped();
}

TEST_P(ExecutorTest, aPausedProcessIsHandedNoTaskAndRunsThemAllOnceResumed) {
  auto executor = process_->createExecutor({.name = "serial"});
  auto other = process_->createExecutor({.name = "pool", .threads = 2});
  harness_->run(*executor, [] {});
  process_->pause();
  EXPECT_EQ(process_->state(), Process::State::Paused);
  int ran = 0;
  std::vector<Timer> timers;
  for (int i = 0; i < 50; ++i) {
    executor->post([&] { harness_->update([&] { ++ran; }); });
    other->post([&] { harness_->update([&] { ++ran; }); });
  }
  timers.push_back(executor->schedule(milliseconds(1), [&] { harness_->update([&] { ++ran; }); }));
  harness_->pass(milliseconds(20));
  harness_->update([&] { EXPECT_EQ(ran, 0); });
  process_->resume();
  EXPECT_EQ(process_->state(), Process::State::Running);
  EXPECT_TRUE(harness_->await([&] { return ran == 101; }));
}

TEST_P(ExecutorTest, killDropsQueuedTasksAndTimersAndTellsWhy) {
  auto executor = process_->createExecutor({.name = "serial"});
  auto held = std::make_shared<int>(1);
  bool wrong = false;
  bool killed = false;
  std::string reason;
  process_->onDeath([&](const std::string& why) { harness_->update([&] { reason = why; }); });
  Timer timer = executor->schedule(std::chrono::hours(1), [held] {});
  executor->post([&] {
    for (int i = 0; i < 10; ++i) executor->post([&, held] { wrong = true; });
    process_->kill("as the test wants it");
    harness_->update([&] { killed = true; });
  });
  ASSERT_TRUE(harness_->await([&] { return killed; }));
  process_->awaitStopped();
  EXPECT_EQ(process_->state(), Process::State::Dead);
  EXPECT_EQ(held.use_count(), 1);
  executor->post([&, held] { wrong = true; });
  Timer late = executor->schedule(milliseconds(0), [&, held] { wrong = true; });
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(harness_->await([&] { return reason == "as the test wants it"; })) << reason;
  process_->kill("a second time");
  process_->resume();
  EXPECT_EQ(process_->state(), Process::State::Dead);
  EXPECT_FALSE(wrong);
}

TEST_P(ExecutorTest, killOfAPausedProcessRunsNothing) {
  auto executor = process_->createExecutor({.name = "serial"});
  bool wrong = false;
  process_->pause();
  executor->post([&] { wrong = true; });
  process_->kill("while paused");
  process_->awaitStopped();
  EXPECT_FALSE(wrong);
}

TEST_P(ExecutorTest, aBrokenInvariantKillsItsProcessAndNoOther) {
  auto other = harness_->createProcess("two");
  auto otherExecutor = other->createExecutor({.name = "serial"});
  auto executor = process_->createExecutor({.name = "serial"});
  std::string reason;
  bool wrong = false;
  process_->onDeath([&](const std::string& why) { harness_->update([&] { reason = why; }); });
  executor->post([] { TIDEMARK_INVARIANT(1 + 1 == 3, "arithmetic"); });
  executor->post([&] { wrong = true; });
  ASSERT_TRUE(harness_->await([&] { return !reason.empty(); }));
  EXPECT_NE(reason.find("arithmetic"), std::string::npos) << reason;
  process_->awaitStopped();
  EXPECT_FALSE(wrong);
  EXPECT_EQ(other->state(), Process::State::Running);
  harness_->run(*otherExecutor, [] {});
  other->kill("done");
  other->awaitStopped();
}

TEST_P(ExecutorTest, onDeathOfADeadProcessIsCalledAtOnce) {
  process_->kill("early");
  process_->awaitStopped();
  std::string reason;
  process_->onDeath([&](const std::string& why) { harness_->update([&] { reason = why; }); });
  EXPECT_TRUE(harness_->await([&] { return reason == "early"; }));
}

TEST_P(ExecutorTest, droppingAnExecutorDropsItsTasksAndLeavesTheProcessRunning) {
  auto executor = process_->createExecutor({.name = "serial"});
  auto other = process_->createExecutor({.name = "other"});
  auto held = std::make_shared<int>(1);
  Timer timer = executor->schedule(std::chrono::hours(1), [held] {});
  harness_->run(*executor, [] {});
  executor.reset();
  EXPECT_EQ(held.use_count(), 1);
  harness_->run(*other, [] {});
}

TEST_P(ExecutorTest, anExecutorMayBeDroppedByItsOwnTask) {
  auto executor = process_->createExecutor({.name = "serial"});
  bool done = false;
  executor->post([&] {
    executor.reset();
    harness_->update([&] { done = true; });
  });
  EXPECT_TRUE(harness_->await([&] { return done; }));
}

TEST_P(ExecutorTest, clocksRiseAndUuidsDiffer) {
  auto& clock = process_->clock();
  const auto before = clock.monotonic();
  const auto wall = clock.wall();
  harness_->pass(milliseconds(3));
  EXPECT_GE(clock.monotonic() - before, milliseconds(3));
  EXPECT_GE(clock.wall() - wall, milliseconds(2));
  EXPECT_GT(clock.wallMs(), 1'700'000'000'000);
  std::set<Uuid> seen;
  for (int i = 0; i < 1000; ++i) {
    const Uuid uuid = process_->random().uuid();
    EXPECT_NE(uuid.toString().front(), '-');
    EXPECT_TRUE(seen.insert(uuid).second);
    EXPECT_LT(process_->random().below(7), 7u);
  }
}

}  // namespace
}  // namespace tidemark::platform
