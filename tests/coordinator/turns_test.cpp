#include "coordinator/turns.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "purgatory/manual_executor.h"

namespace tidemark::coordinator {
namespace {

class OfTurns : public testing::Test {
 protected:
  platform::Task noting(int number) {
    return [this, number] {
      EXPECT_TRUE(turns_->isCurrent());
      ran_.push_back(number);
    };
  }

  ManualClock clock_;
  std::shared_ptr<ManualExecutor> thread_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<Turns> turns_ = std::make_shared<Turns>(thread_);
  std::vector<int> ran_;
};

TEST_F(OfTurns, ATaskRunsInsideTheCall) {
  turns_->run(noting(1));
  EXPECT_THAT(ran_, testing::ElementsAre(1));
  EXPECT_FALSE(turns_->isCurrent());
}

TEST_F(OfTurns, ATaskPostsWhatIsToFollowItAndDoesNotWaitForItself) {
  turns_->run([this] {
    turns_->post(noting(2));
    ran_.push_back(1);
  });
  thread_->drain();
  EXPECT_THAT(ran_, testing::ElementsAre(1, 2));
  EXPECT_THROW(turns_->run([this] { turns_->run(noting(3)); }), InvariantBroken);
}

TEST_F(OfTurns, WhatIsPostedOrTimedRunsOnTheThread) {
  turns_->post(noting(1));
  const platform::Timer timer = turns_->schedule(std::chrono::seconds(1), noting(2));
  EXPECT_THAT(ran_, testing::IsEmpty());
  thread_->drain();
  EXPECT_THAT(ran_, testing::ElementsAre(1));
  thread_->advance(std::chrono::seconds(1));
  EXPECT_THAT(ran_, testing::ElementsAre(1, 2));
}

TEST_F(OfTurns, WhatATaskPostsRunsWhereTheTaskRan) {
  ManualExecutor caller(clock_);
  turns_->run(
      [this] {
        turns_->post([this] {
          ran_.push_back(1);
          turns_->post(noting(2));
        });
      },
      &caller);
  thread_->drain();
  EXPECT_THAT(ran_, testing::IsEmpty());
  caller.drain();
  EXPECT_THAT(ran_, testing::ElementsAre(1, 2)) << "and so on";
  turns_->post(noting(3));
  caller.drain();
  EXPECT_THAT(ran_, testing::ElementsAre(1, 2)) << "the call is over";
  thread_->drain();
  EXPECT_THAT(ran_, testing::ElementsAre(1, 2, 3));
}

TEST_F(OfTurns, NothingRunsAfterABrokenInvariant) {
  EXPECT_THROW(turns_->run([] { throw InvariantBroken("broken"); }), InvariantBroken);
  turns_->run(noting(1));
  turns_->post(noting(2));
  thread_->drain();
  EXPECT_THAT(ran_, testing::IsEmpty());
}

/// Real threads: a call waits for the task that another thread runs, and tasks never run side by side.
TEST_F(OfTurns, CallsOfManyThreadsRunOneAtATime) {
  constexpr int kThreads = 4, kEach = 2000;
  int running = 0, most = 0, done = 0;  // no lock but the turn
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < kEach; ++n)
          turns_->run([&] {
            most = std::max(most, ++running);
            ++done;
            --running;
          });
      });
  }
  EXPECT_EQ(done, kThreads * kEach);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace tidemark::coordinator
