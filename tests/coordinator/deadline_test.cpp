#include "coordinator/group_fixture.h"
#include "coordinator/runtime.h"

// Timers of a shard that are put off where they are asked for.

namespace tidemark::coordinator {
namespace {

constexpr PartitionIndex kPartition{0};
const TimerKey kSession{TimerKey::Kind::Heartbeat, "group", "member"};

class TimedShard final : public Shard {
 public:
  explicit TimedShard(int& fired) : fired_(fired) {}
  Result<void> replay(Offset, ProducerId, ByteView, std::optional<ByteView>) override { return {}; }
  void replayEndTxn(Offset, ProducerId, bool) override {}
  void onHighWatermark(Offset) override {}
  Effects onLoaded() override { return {}; }
  Effects onUnloaded() override { return {}; }
  Effects onTimeout(const TimerKey& key) override {
    EXPECT_EQ(key, kSession);
    ++fired_;
    return {};
  }

 private:
  int& fired_;
};

class Deadlines : public testing::Test {
 protected:
  Deadlines() {
    log_.elect(kPartition, LeaderEpoch(1), false);
    runtime_->load(kPartition, LeaderEpoch(1));
    executor_->drain();
  }
  template <class Change>
  void perform(Change change) {
    runtime_->run(
        kPartition, CoordinatorRuntime::Sees::All,
        [&](Shard&) {
          Effects out;
          change(out);
          return out;
        },
        [](ErrorCode code) { FAIL() << errorName(code); });
  }
  /// As a heartbeat does.
  void putOff(std::shared_ptr<Deadline>& slot, platform::Duration after) {
    perform([&](Effects& out) { out.putOff(slot, clock_.monotonic(), after, [] { return kSession; }); });
  }

  ManualClock clock_;
  SilentLogger logger_;
  MemoryLog log_;
  int fired_ = 0;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<CoordinatorRuntime> runtime_ = std::make_shared<CoordinatorRuntime>(
      CoordinatorRuntime::Dependencies{executor_, &clock_, &logger_, &log_}, CoordinatorRuntime::Options{},
      [this](PartitionIndex) { return std::make_unique<TimedShard>(fired_); });
  std::shared_ptr<Deadline> slot_;
};

TEST_F(Deadlines, ArePutOffWithoutALookAtTheTimers) {
  putOff(slot_, 10s);
  executor_->advance(6s);
  EXPECT_TRUE(slot_->putOff(clock_.monotonic() + 10s));
  executor_->advance(9s);
  EXPECT_EQ(fired_, 0);
  executor_->advance(1s + 10ms);
  EXPECT_EQ(fired_, 1);
}

TEST_F(Deadlines, ThatHavePassedOrWereGivenUpAreArmedAnew) {
  putOff(slot_, 10s);
  executor_->advance(11s);
  ASSERT_EQ(fired_, 1);
  EXPECT_FALSE(slot_->putOff(clock_.monotonic() + 10s));
  putOff(slot_, 10s);
  perform([](Effects& out) { out.disarm(kSession); });
  EXPECT_FALSE(slot_->putOff(clock_.monotonic() + 10s));
  putOff(slot_, 10s);
  executor_->advance(11s);
  EXPECT_EQ(fired_, 2);
}

TEST_F(Deadlines, GivenUpAndSetAgainInOneGoAreSet) {
  putOff(slot_, 10s);
  perform([&](Effects& out) {
    out.disarm(kSession);
    out.putOff(slot_, clock_.monotonic(), 10s, [] { return kSession; });
  });
  executor_->advance(11s);
  EXPECT_EQ(fired_, 1);
}

TEST_F(Deadlines, MayComeNearer) {
  putOff(slot_, 10s);
  putOff(slot_, 2s);
  executor_->advance(3s);
  EXPECT_EQ(fired_, 1);
}

TEST_F(Deadlines, BelongToWhoAskedLast) {
  std::shared_ptr<Deadline> other;
  putOff(slot_, 10s);
  putOff(other, 10s);
  EXPECT_FALSE(slot_->putOff(clock_.monotonic() + 20s));
  EXPECT_TRUE(other->putOff(clock_.monotonic() + 20s));
  executor_->advance(11s);
  EXPECT_EQ(fired_, 0);
  executor_->advance(10s);
  EXPECT_EQ(fired_, 1);
}

}  // namespace
}  // namespace tidemark::coordinator
