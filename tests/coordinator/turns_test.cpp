#include "coordinator/turns.h"

#include <gmock/gmock.h>

#include <algorithm>
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

TEST_F(OfTurns, ATaskRunsInsideTheCallIfNoOtherRuns) {
  turns_->runOrPost(noting(1));
  EXPECT_THAT(ran_, testing::ElementsAre(1));
  EXPECT_FALSE(turns_->isCurrent());
}

TEST_F(OfTurns, ATaskThatComesWhileAnotherRunsWaitsForItsEnd) {
  turns_->runOrPost([this] {
    turns_->runOrPost(noting(2));
    ran_.push_back(1);
  });
  EXPECT_THAT(ran_, testing::ElementsAre(1, 2));
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

TEST_F(OfTurns, WhoeverRunsTasksOfOthersLeavesTheRestToTheThreadAfterAWhile) {
  turns_->runOrPost([this] {
    for (int i = 0; i < 40; ++i) turns_->runOrPost(noting(i));
  });
  EXPECT_LT(ran_.size(), 20u);
  turns_->runOrPost(noting(40));
  EXPECT_LT(ran_.size(), 20u) << "it waits behind them";
  thread_->drain();
  ASSERT_EQ(ran_.size(), 41u);
  EXPECT_TRUE(std::is_sorted(ran_.begin(), ran_.end()));
}

}  // namespace
}  // namespace tidemark::coordinator
