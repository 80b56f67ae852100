// What faults of clocks and of slowness do, on real time and on simulated time.
#include <gmock/gmock.h>

#include "faults/fault_json.h"
#include "faults/faulty_process.h"
#include "platform/harness.h"

namespace tidemark::faults {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class ClockTest : public testing::TestWithParam<platform::Kind> {
 protected:
  ~ClockTest() override {
    for (const auto& process : {below_, other_}) {
      process->kill("the test ends");
      process->awaitStopped();
    }
  }
  int set(std::string_view json) {
    const int id = book_->add(parseFault(json).value(), MonotonicTime{});
    book_->begin(id, {.node = NodeId(1), .client = {}, .links = {}}, MonotonicTime{});
    return id;
  }
  void heal(int id) { EXPECT_TRUE(book_->end(id, Ending::Healed)); }
  /// How far ahead of the clock below, and the time between two looks: that one is looked at first.
  Duration wallAhead(const FaultyProcess& process) {
    const platform::WallTime below = below_->clock().wall();
    return const_cast<FaultyProcess&>(process).clock().wall() - below;
  }
  Duration monotonicAhead() {
    const MonotonicTime below = below_->clock().monotonic();
    return process_->clock().monotonic() - below;
  }

  static constexpr Duration kNear = seconds(20);
  const std::unique_ptr<platform::Harness> harness_ = platform::makeHarness(GetParam());
  const std::shared_ptr<FaultBook> book_ = std::make_shared<FaultBook>([](const events::Payload&) {});
  const std::shared_ptr<platform::Process> below_ = harness_->createProcess("broker-1");
  const std::shared_ptr<platform::Process> other_ = harness_->createProcess("broker-1b");
  const std::shared_ptr<FaultyProcess> process_ = std::make_shared<FaultyProcess>(below_, book_, NodeId(1));
};

TEST_P(ClockTest, AnOffsetShiftsTheWallClockUntilItIsHealed) {
  const int offset = set(R"({"kind":"clock-offset","target":"broker 1","offsetMs":-3600000})");
  EXPECT_LT(wallAhead(*process_), -hours(1) + kNear);
  EXPECT_GT(wallAhead(*process_), -hours(1) - kNear);
  EXPECT_LT(monotonicAhead(), kNear);
  EXPECT_EQ(book_->list({}).front().fired, 1u) << "it acts";
  const FaultyProcess restarted(other_, book_, NodeId(1));
  EXPECT_LT(wallAhead(restarted), -hours(1) + kNear) << "its machine's clock is wrong";
  heal(offset);
  EXPECT_GE(wallAhead(*process_), Duration{});
  EXPECT_LT(wallAhead(*process_), kNear);
}

TEST_P(ClockTest, AJumpStaysUntilTheBrokerStartsAnew) {
  process_->clock().wall();
  set(R"({"kind":"clock-jump","target":"broker 1","offsetMs":3600000,"clocks":["wall","monotonic"]})");
  EXPECT_TRUE(book_->list(MonotonicTime{}).empty()) << "it is over at once";
  for (int i = 0; i < 2; ++i) {
    EXPECT_GE(wallAhead(*process_), hours(1));
    EXPECT_LT(wallAhead(*process_), hours(1) + kNear);
    EXPECT_GE(monotonicAhead(), hours(1));
    EXPECT_LT(monotonicAhead(), hours(1) + kNear);
  }
  const FaultyProcess restarted(other_, book_, NodeId(1));
  EXPECT_LT(wallAhead(restarted), kNear);
}

TEST_P(ClockTest, TheMonotonicClockKeepsWhatItGained) {
  process_->clock().monotonic();
  const int offset = set(R"({"kind":"clock-offset","target":"broker 1","offsetMs":3600000,"clocks":"monotonic"})");
  EXPECT_GE(monotonicAhead(), hours(1));
  heal(offset);
  EXPECT_GE(monotonicAhead(), hours(1));
  EXPECT_LT(monotonicAhead(), hours(1) + kNear);
}

TEST_P(ClockTest, ADriftingClockGainsAndItsTimersWithIt) {
  const auto executor = process_->createExecutor({.name = "main"});
  const int drift = set(R"({"kind":"clock-drift","target":"broker 1","rate":50,"clocks":["wall","monotonic"]})");
  const MonotonicTime begun = process_->clock().monotonic();
  const MonotonicTime begunBelow = below_->clock().monotonic();
  bool fired = false;
  const platform::Timer timer = executor->schedule(seconds(5), [&] { harness_->update([&] { fired = true; }); });
  EXPECT_TRUE(harness_->await([&] { return fired; }));
  EXPECT_GE(process_->clock().monotonic() - begun, seconds(5));
  EXPECT_LT(below_->clock().monotonic() - begunBelow, seconds(5));
  EXPECT_GT(monotonicAhead(), seconds(4));
  EXPECT_GT(wallAhead(*process_), seconds(4));
  heal(drift);
  EXPECT_GT(monotonicAhead(), seconds(4)) << "never back";
  EXPECT_LT(wallAhead(*process_), seconds(4)) << "right again";
}

TEST_P(ClockTest, ASlowBrokerTakesLongerForEachTask) {
  const auto executor = process_->createExecutor({.name = "main"});
  set(R"({"kind":"slow","target":"broker 1","delayMs":20})");
  const MonotonicTime begun = below_->clock().monotonic();
  int done = 0;
  for (int i = 0; i < 5; ++i) executor->post([&] { harness_->update([&] { ++done; }); });
  EXPECT_TRUE(harness_->await([&] { return done == 5; }));
  // In the simulator the fifth runs when the lane is free of four.
  EXPECT_GE(below_->clock().monotonic() - begun, milliseconds(80));
}

INSTANTIATE_TEST_SUITE_P(Platforms, ClockTest, testing::Values(platform::Kind::Native, platform::Kind::Simulated),
                         [](const auto& which) {
                           return which.param == platform::Kind::Native ? "Native" : "Simulated";
                         });

}  // namespace
}  // namespace tidemark::faults
