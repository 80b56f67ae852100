#include "purgatory/purgatory.h"

#include <thread>

#include <gtest/gtest.h>

#include "purgatory/manual_executor.h"

namespace tidemark::purgatory {
namespace {

using namespace std::chrono_literals;

class Waiting : public DelayedOperation {
 public:
  explicit Waiting(platform::Duration timeout, std::string name = "waiting")
      : DelayedOperation(timeout), name_(std::move(name)) {}
  std::string describe() const override { return name_; }

  std::atomic<bool> ready{false};
  std::atomic<int> asked{0};
  std::atomic<int> completed{0};
  std::atomic<int> expired{0};
  /// As it was told of the purgatory; -1: not asked yet.
  std::atomic<int32_t> countAtPark{-1};
  std::atomic<int32_t> countAtEnd{-1};
  std::function<void()> whenAsked;
  std::function<void()> whenComplete;

 protected:
  bool canComplete() override {
    ++asked;
    if (whenAsked) whenAsked();
    return ready;
  }
  void onParked() override { countAtPark = parkedCount(); }
  void onComplete() override {
    ++completed;
    countAtEnd = parkedCount();
    if (whenComplete) whenComplete();
  }
  void onExpiration() override { ++expired; }

 private:
  std::string name_;
};

class PurgatoryTest : public testing::Test {
 protected:
  using Keys = std::vector<std::string>;

  std::shared_ptr<Waiting> park(const Keys& keys, platform::Duration timeout = 30s) {
    auto operation = std::make_shared<Waiting>(timeout, keys.front());
    EXPECT_FALSE(purgatory_.tryCompleteElseWatch(operation, keys));
    return operation;
  }

  ManualClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<ExpirationTimer> timer_ = ExpirationTimer::create(executor_, clock_);
  Purgatory<std::string> purgatory_{"Produce", timer_, 10};
};

TEST_F(PurgatoryTest, AnOperationThatIsReadyCompletesAtOnceAndIsNotParked) {
  const auto operation = std::make_shared<Waiting>(30s);
  operation->ready = true;
  EXPECT_TRUE(purgatory_.tryCompleteElseWatch(operation, Keys{"a"}));
  EXPECT_EQ(operation->completed, 1);
  EXPECT_EQ(purgatory_.watched(), 0u);
  EXPECT_EQ(timer_->size(), 0u);
}

TEST_F(PurgatoryTest, AnEventOfAnyOfItsKeysCompletesItOnce) {
  const auto operation = park({"a", "b"});
  EXPECT_EQ(purgatory_.delayed(), 1u);
  EXPECT_EQ(purgatory_.watched(), 2u);
  EXPECT_EQ(purgatory_.checkAndComplete("b"), 0);
  operation->ready = true;
  EXPECT_EQ(purgatory_.checkAndComplete("c"), 0);
  EXPECT_EQ(purgatory_.checkAndComplete("b"), 1);
  EXPECT_EQ(purgatory_.checkAndComplete("b"), 0);
  EXPECT_EQ(purgatory_.checkAndComplete("a"), 0);
  EXPECT_FALSE(operation->forceComplete());
  executor_->advance(60s);
  EXPECT_EQ(operation->completed, 1);
  EXPECT_EQ(operation->expired, 0);
  EXPECT_EQ(purgatory_.delayed(), 0u);
  EXPECT_EQ(purgatory_.watched(), 0u);
  EXPECT_EQ(timer_->size(), 0u);
}

TEST_F(PurgatoryTest, AnOperationKnowsHowManyWaitWithItAndWithoutIt) {
  const auto first = park({"a"}, 100ms);
  const auto second = park({"b"});
  const auto third = park({"b"});
  EXPECT_EQ(first->countAtPark, 1);
  EXPECT_EQ(second->countAtPark, 2);
  EXPECT_EQ(third->countAtPark, 3);
  second->ready = true;
  EXPECT_EQ(purgatory_.checkAndComplete("b"), 1);
  EXPECT_EQ(second->countAtEnd, 2);
  executor_->advance(100ms);
  EXPECT_EQ(first->countAtEnd, 1) << "timed out";
  const auto ready = std::make_shared<Waiting>(30s);
  ready->ready = true;
  EXPECT_TRUE(purgatory_.tryCompleteElseWatch(ready, Keys{"a"}));
  EXPECT_EQ(ready->countAtPark, -1) << "it never waited";
}

TEST_F(PurgatoryTest, AnOperationWithoutAnEventExpiresAtItsDeadline) {
  const auto operation = park({"a"}, 100ms);
  EXPECT_EQ(operation->deadline(), clock_.monotonic() + 100ms);
  executor_->advance(99ms);
  EXPECT_EQ(operation->completed, 0);
  executor_->advance(1ms);
  EXPECT_EQ(operation->completed, 1);
  EXPECT_EQ(operation->expired, 1);
  EXPECT_EQ(purgatory_.expired(), 1);
  EXPECT_EQ(purgatory_.delayed(), 0u);
  EXPECT_EQ(purgatory_.checkAndComplete("a"), 0);
  EXPECT_EQ(purgatory_.watched(), 0u);
}

TEST_F(PurgatoryTest, AnEventBetweenTheFirstLookAndTheListIsNotMissed) {
  const auto operation = std::make_shared<Waiting>(30s);
  operation->whenAsked = [&] {
    // What it waits for happens right after the first look, before anybody could find it in a list.
    if (operation->asked == 2) operation->ready = true;
  };
  EXPECT_TRUE(purgatory_.tryCompleteElseWatch(operation, Keys{"a"}));
  EXPECT_EQ(operation->completed, 1);
  EXPECT_EQ(purgatory_.delayed(), 0u);
  EXPECT_EQ(timer_->size(), 0u);
}

TEST_F(PurgatoryTest, CompletingMayReportAnotherEventOfTheSameKey) {
  const auto first = park({"a"});
  const auto second = park({"a"});
  first->ready = true;
  first->whenComplete = [&] {
    second->ready = true;
    purgatory_.checkAndComplete("a");
  };
  purgatory_.checkAndComplete("a");
  EXPECT_EQ(first->completed, 1);
  EXPECT_EQ(second->completed, 1);
}

TEST_F(PurgatoryTest, CancellingAKeyGivesBackItsOpenOperationsWithoutCompletingThem) {
  const auto open = park({"a"}, 50ms);
  const auto done = park({"a"});
  done->forceComplete();
  const auto cancelled = purgatory_.cancelForKey("a");
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled.front(), open);
  executor_->advance(1s);
  EXPECT_EQ(open->completed, 0);
  EXPECT_EQ(purgatory_.delayed(), 0u);
  EXPECT_TRUE(open->forceComplete());
  EXPECT_EQ(purgatory_.delayed(), 0u);
  EXPECT_TRUE(purgatory_.cancelForKey("nobody").empty());
}

TEST_F(PurgatoryTest, CompletedOperationsDoNotPileUpInListsOfQuietKeys) {
  for (int i = 0; i < 1000; ++i) {
    const auto operation = park({"busy", "quiet"});
    operation->ready = true;
    EXPECT_EQ(purgatory_.checkAndComplete("busy"), 1);
    EXPECT_LE(purgatory_.watched(), 14u);
  }
}

TEST_F(PurgatoryTest, ASnapshotTellsWhatWaitsForWhatUntilWhen) {
  park({"slow", "b"}, 10s);
  park({"fast"}, 5s);
  park({"done"})->forceComplete();
  const std::vector<ParkedOperation> parked = purgatory_.snapshot();
  ASSERT_EQ(parked.size(), 2u);
  EXPECT_EQ(parked[0].what, "fast");
  EXPECT_EQ(parked[1].what, "slow");
  EXPECT_EQ(parked[1].keys, (Keys{"b", "slow"}));
  EXPECT_EQ(parked[1].deadline, clock_.monotonic() + 10s);
}

TEST_F(PurgatoryTest, EventsTimeoutsAndForceFromManyThreadsCompleteEachOperationOnce) {
  constexpr int kOperations = 2000;
  std::vector<std::shared_ptr<Waiting>> operations;
  for (int i = 0; i < kOperations; ++i) operations.push_back(std::make_shared<Waiting>(30s));
  std::atomic<int> parked{0};
  const auto keyOf = [](int i) { return "key" + std::to_string(i % 7); };
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < kOperations; ++i) {
      purgatory_.tryCompleteElseWatch(operations[static_cast<size_t>(i)], Keys{keyOf(i), "all"});
      parked = i + 1;
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; i < kOperations; ++i) {
      operations[static_cast<size_t>(i)]->ready = true;
      purgatory_.checkAndComplete(keyOf(i));
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; i < kOperations; ++i) {
      if (i % 3 == 0 && i < parked) operations[static_cast<size_t>(i)]->forceComplete();
      if (i % 50 == 0) purgatory_.checkAndComplete("all");
    }
  });
  for (std::thread& thread : threads) thread.join();
  purgatory_.checkAndComplete("all");
  for (const auto& operation : operations) EXPECT_EQ(operation->completed, 1);
  EXPECT_EQ(purgatory_.delayed(), 0u);
  EXPECT_EQ(timer_->size(), 0u);
}

}  // namespace
}  // namespace tidemark::purgatory
