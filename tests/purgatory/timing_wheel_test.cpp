#include "purgatory/timing_wheel.h"

#include <random>

#include <gtest/gtest.h>

#include "purgatory/expiration_timer.h"
#include "purgatory/manual_executor.h"

namespace tidemark::purgatory {
namespace {

using namespace std::chrono_literals;

struct Alarm : TimerEntry {
  explicit Alarm(std::function<void()> whenDue = {}) : ring(std::move(whenDue)) {}
  void onTimeout() override {
    ++rung;
    if (ring) ring();
  }
  std::function<void()> ring;
  int rung = 0;
};

TEST(TimingWheel, GivesEachEntryBackExactlyAtItsTickWhateverTheDistance) {
  std::mt19937_64 random(11);
  for (const int64_t start : {int64_t{0}, int64_t{1}, int64_t{7999}, int64_t{123456789}}) {
    TimingWheel wheel(start);
    std::multimap<int64_t, TimerEntry*> expected;
    int64_t now = start;
    for (int step = 0; step < 3000; ++step) {
      if (random() % 3 != 0) {
        static constexpr int64_t kRanges[] = {3, 21, 500, 9000, 200000, 40000000};
        const int64_t deadline =
            now + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(kRanges[random() % 6]));
        auto alarm = std::make_shared<Alarm>();
        expected.emplace(deadline, alarm.get());
        ASSERT_TRUE(wheel.add(alarm, deadline, now));
      }
      if (random() % 5 == 0 && !expected.empty()) {
        auto victim = std::next(expected.begin(), static_cast<ptrdiff_t>(random() % expected.size()));
        ASSERT_TRUE(wheel.remove(*victim->second));
        expected.erase(victim);
      }
      ASSERT_EQ(wheel.size(), expected.size());
      const std::optional<int64_t> next = wheel.nextTick();
      ASSERT_EQ(next.has_value(), !expected.empty());
      if (next) {
        ASSERT_LE(*next, expected.begin()->first);
        ASSERT_GT(*next, now) << "advance() left what was due";
      }
      now += random() % 4 == 0 ? static_cast<int64_t>(random() % 5000) : static_cast<int64_t>(random() % 4);
      // Who comes for deadlines only leaves slots unspread that came up long ago.
      if (random() % 4 != 0 && wheel.nextTick().value_or(INT64_MAX) > now) continue;
      int64_t last = 0;
      for (const auto& entry : wheel.advance(now)) {
        const auto at =
            std::find_if(expected.begin(), expected.end(), [&](const auto& one) { return one.second == entry.get(); });
        ASSERT_NE(at, expected.end());
        ASSERT_LE(at->first, now);
        ASSERT_GE(at->first, last) << "earlier entries come first";
        last = at->first;
        expected.erase(at);
      }
      ASSERT_TRUE(expected.empty() || expected.begin()->first > now) << "an entry was left behind";
    }
  }
}

TEST(TimingWheel, RefusesWhatIsDueAlready) {
  TimingWheel wheel(100);
  EXPECT_FALSE(wheel.add(std::make_shared<Alarm>(), 100, 100));
  EXPECT_FALSE(wheel.add(std::make_shared<Alarm>(), 50, 100));
  EXPECT_EQ(wheel.size(), 0u);
}

TEST(TimingWheel, TakesADeadlineOfAThousandYears) {
  TimingWheel wheel(0);
  const auto alarm = std::make_shared<Alarm>();
  ASSERT_TRUE(wheel.add(alarm, int64_t{1000} * 365 * 24 * 3600 * 1000, 0));
  EXPECT_TRUE(wheel.advance(1000000).empty());
  EXPECT_TRUE(wheel.remove(*alarm));
  EXPECT_FALSE(wheel.remove(*alarm));
}

TEST(TimingWheel, LetsGoOfItsEntriesWhenItIsDestroyed) {
  const auto alarm = std::make_shared<Alarm>();
  {
    TimingWheel wheel(0);
    ASSERT_TRUE(wheel.add(alarm, 5, 0));
    EXPECT_EQ(alarm.use_count(), 2);
  }
  EXPECT_EQ(alarm.use_count(), 1);
}

class Timers : public testing::Test {
 protected:
  std::shared_ptr<Alarm> ringAfter(platform::Duration after, std::function<void()> ring = {}) {
    auto alarm = std::make_shared<Alarm>(std::move(ring));
    timer_->add(alarm, after);
    return alarm;
  }

  ManualClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<ExpirationTimer> timer_ = ExpirationTimer::create(executor_, clock_);
};

TEST_F(Timers, RingNeverBeforeTheirTimeAndWithinATickAfterIt) {
  clock_.set(clock_.monotonic() + 300us);
  const platform::MonotonicTime start = clock_.monotonic();
  for (const platform::Duration after :
       {platform::Duration(1ms), platform::Duration(1500us), platform::Duration(19ms), platform::Duration(20ms),
        platform::Duration(399ms), platform::Duration(12345ms)}) {
    ringAfter(after, [this, start, after] {
      EXPECT_GE(clock_.monotonic() - start, after);
      EXPECT_LT(clock_.monotonic() - start, after + 1ms);
    });
  }
  executor_->advance(20s);
  EXPECT_EQ(timer_->size(), 0u);
}

TEST_F(Timers, ArmNothingWhileNothingWaits) {
  EXPECT_EQ(executor_->armed(), 0u);
  const auto alarm = ringAfter(50ms);
  EXPECT_EQ(executor_->armed(), 1u);
  executor_->advance(1s);
  EXPECT_EQ(alarm->rung, 1);
  EXPECT_EQ(executor_->armed(), 0u);
  EXPECT_FALSE(timer_->isArmed());
}

TEST_F(Timers, WakeNobodyButForADeadline) {
  int rung = 0;
  for (const auto after : {500ms, 9000ms, 200000ms}) ringAfter(after, [&] { ++rung; });
  executor_->advance(201s);
  EXPECT_EQ(rung, 3);
  EXPECT_EQ(executor_->scheduled(), 3u) << "one timer for each";
}

TEST_F(Timers, KeepOneTimerArmedForTheNearestHoweverManyWait) {
  for (int i = 0; i < 1000; ++i) ringAfter(30s + std::chrono::milliseconds(i));
  EXPECT_EQ(executor_->armed(), 1u);
  EXPECT_LE(executor_->scheduled(), 2u);
  const auto early = ringAfter(5ms);
  EXPECT_EQ(executor_->armed(), 1u);
  executor_->advance(5ms);
  EXPECT_EQ(early->rung, 1);
}

TEST_F(Timers, ThatWereCancelledDoNotRingAndTheArmedTimerRunsOutOnce) {
  const auto alarm = ringAfter(30s);
  EXPECT_TRUE(timer_->cancel(*alarm));
  EXPECT_FALSE(timer_->cancel(*alarm));
  EXPECT_EQ(timer_->size(), 0u);
  executor_->advance(60s);
  EXPECT_EQ(alarm->rung, 0);
  EXPECT_EQ(executor_->armed(), 0u);
  EXPECT_EQ(executor_->scheduled(), 1u);
}

TEST_F(Timers, OfNoDelayRingOnTheExecutorNotInsideTheCall) {
  const auto alarm = ringAfter(0ms);
  EXPECT_EQ(alarm->rung, 0);
  executor_->drain();
  EXPECT_EQ(alarm->rung, 1);
}

TEST_F(Timers, MayBeSetAgainFromInsideTheirAlarm) {
  std::shared_ptr<Alarm> alarm;
  int rings = 0;
  alarm = std::make_shared<Alarm>([&] {
    if (++rings < 5) timer_->add(alarm, 10ms);
  });
  timer_->add(alarm, 10ms);
  executor_->advance(1s);
  EXPECT_EQ(rings, 5);
}

TEST_F(Timers, ThatOutliveTheirOwnerDoNothing) {
  const auto alarm = ringAfter(10ms);
  timer_.reset();
  executor_->advance(1s);
  EXPECT_EQ(alarm->rung, 0);
}

}  // namespace
}  // namespace tidemark::purgatory
