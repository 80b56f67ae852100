#include <thread>

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "bridge/engine_bridge.h"
#include "bridge/process_usage.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

class BridgeTest : public ::testing::Test {
 protected:
  /// Ticks until the frame timer has stopped.
  bool settles() {
    return waitFor([this] { return !bridge->isTicking(); });
  }
  void launch() {
    observe::LaunchOptions options;
    options.firstTopic = observe::TopicOptions{"orders", 1, -1, {}};
    cluster.launchNow(options);
  }
  fake::FakeCluster cluster;
  std::unique_ptr<EngineBridge> bridge = std::make_unique<EngineBridge>(cluster);
};

TEST_F(BridgeTest, TheFrameTimerStopsWhenNothingChanges) {
  launch();
  ASSERT_TRUE(settles());
  const int taken = cluster.snapshotsTaken();
  QSignalSpy frames(bridge.get(), &EngineBridge::frame);
  QElapsedTimer clock;
  clock.start();
  while (clock.elapsed() < 150)
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 10);
  EXPECT_EQ(cluster.snapshotsTaken(), taken) << "an idle window asks the engine for nothing";
  EXPECT_EQ(frames.count(), 0);
}

TEST_F(BridgeTest, AWakeUpStartsItAgain) {
  launch();
  ASSERT_TRUE(settles());
  QSignalSpy frames(bridge.get(), &EngineBridge::frame);
  cluster.pauseBroker(NodeId(1), [](const Result<void>&) {});
  cluster.advance(10ms);
  EXPECT_TRUE(waitFor([&] { return frames.count() > 0; }));
  const auto* broker = observe::findBroker(*bridge->snapshot(), NodeId(1));
  ASSERT_NE(broker, nullptr);
  EXPECT_EQ(broker->state, observe::BrokerState::Paused);
}

TEST_F(BridgeTest, AMotionKeepsItTickingAndNoLonger) {
  launch();
  ASSERT_TRUE(settles());
  QSignalSpy frames(bridge.get(), &EngineBridge::frame);
  bridge->keepTicking(100);
  EXPECT_TRUE(bridge->isTicking());
  // However few frames fit into one motion on a busy machine.
  ASSERT_TRUE(waitFor([&] {
    bridge->keepTicking(100);
    return frames.count() > 1;
  }));
  ASSERT_TRUE(settles());
}

TEST_F(BridgeTest, EachEventComesOnceAndInOrder) {
  std::vector<uint64_t> numbers;
  QObject::connect(bridge.get(), &EngineBridge::frame, bridge.get(), [&numbers](const Frame& frame) {
    for (const observe::ObservedEvent& event : frame.events.events) numbers.push_back(event.number);
  });
  launch();
  ASSERT_TRUE(settles());
  cluster.setLoad(50);
  for (int i = 0; i < 20; ++i) {
    cluster.advance(50ms);
    bridge->refresh();
  }
  ASSERT_GT(numbers.size(), 20u);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i + 1);
}

TEST_F(BridgeTest, AnAnswerOfTheEngineArrivesOnTheWindowsThread) {
  launch();
  struct Threaded : fake::FakeCluster {
    void killBroker(NodeId, Done done) override {
      thread = std::thread([done = std::move(done)]() mutable { done(fail(ErrorCode::BrokerNotAvailable, "gone")); });
    }
    std::thread thread;
  } threaded;
  EngineBridge other(threaded);
  std::thread::id answeredOn;
  ErrorCode code = ErrorCode::None;
  other.command(EngineBridge::BrokerCommand::Kill, NodeId(1), &other, [&](const Result<void>& result) {
    answeredOn = std::this_thread::get_id();
    code = result.error().code;
  });
  threaded.thread.join();
  EXPECT_EQ(code, ErrorCode::None) << "never inside the engine's call";
  EXPECT_TRUE(waitFor([&] { return code != ErrorCode::None; }));
  EXPECT_EQ(answeredOn, std::this_thread::get_id());
  EXPECT_EQ(code, ErrorCode::BrokerNotAvailable);
}

TEST_F(BridgeTest, AnAnswerAfterTheWindowIsGoneIsSwallowed) {
  launch();
  bool called = false;
  bridge->command(EngineBridge::BrokerCommand::Kill, NodeId(1), bridge.get(),
                  [&called](const Result<void>&) { called = true; });
  bridge.reset();
  cluster.advance(10ms);
  QCoreApplication::processEvents();
  EXPECT_FALSE(called);
}

TEST_F(BridgeTest, AnAnswerToADialogThatWasClosedIsSwallowed) {
  launch();
  bool called = false;
  auto context = std::make_unique<QObject>();
  bridge->command(EngineBridge::BrokerCommand::Kill, NodeId(1), context.get(),
                  [&called](const Result<void>&) { called = true; });
  context.reset();
  cluster.advance(10ms);
  QCoreApplication::processEvents();
  EXPECT_FALSE(called);
}

TEST_F(BridgeTest, AnotherClusterIsTold) {
  QSignalSpy frames(bridge.get(), &EngineBridge::frame);
  int others = 0;
  QObject::connect(bridge.get(), &EngineBridge::frame, bridge.get(),
                   [&others](const Frame& frame) { others += frame.anotherCluster; });
  launch();
  ASSERT_TRUE(settles());
  EXPECT_EQ(others, 1);
  cluster.shutdown([](const Result<void>&) {});
  cluster.advance(10ms);
  // The wake-up is a posted message: until it is read, a bridge that stands still looks settled.
  EXPECT_TRUE(waitFor([&others] { return others == 2; }));
}

TEST(ProcessUsageTest, TellsMemoryAndTime) {
  ProcessUsage usage;
  const auto first = usage.sample();
  ASSERT_TRUE(first.has_value());
  EXPECT_GT(first->residentBytes, 1'000'000);
  EXPECT_EQ(first->cpuPercent, 0);
}

}  // namespace
}  // namespace tidemark::widgets
