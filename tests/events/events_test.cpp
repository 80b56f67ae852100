#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/recorder.h"

namespace tidemark::events {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

struct StillClock : platform::Clock {
  platform::MonotonicTime monotonic() const override { return platform::MonotonicTime(42ns); }
  platform::WallTime wall() const override { return platform::WallTime(platform::milliseconds(7)); }
};

class RecorderTest : public testing::Test {
 protected:
  std::vector<Event> drain() {
    std::vector<Event> events;
    lost = recorder.drain(events);
    return events;
  }

  StillClock clock;
  Recorder recorder{clock, NodeId(2), {.ringCapacity = 8}};
  uint64_t lost = 0;
};

TEST_F(RecorderTest, WhileNobodyLooksNothingIsRecordedAndNoNumberDrawn) {
  recorder.emit(BrokerStarted{NodeId(2)});
  EXPECT_EQ(recorder.sequence(), 0u);
  EXPECT_TRUE(drain().empty());
}

TEST_F(RecorderTest, WhatNobodyWantsIsNotRecordedAndDrawsNoNumber) {
  // One from each end of the list: they are kept in different words.
  recorder.want(events::Kinds::of<BatchAppended, FaultHealed>());
  EXPECT_TRUE((recorder.wants<BatchAppended>()));
  EXPECT_TRUE((recorder.wants<BrokerPaused, FaultHealed>()));
  EXPECT_FALSE((recorder.wants<BrokerPaused, InvariantBroken>()));
  EXPECT_FALSE(recorder.isWatched());
  recorder.emit(BrokerPaused{NodeId(2)});
  recorder.emit(FaultHealed{.fault = 7});
  recorder.emit(BatchAppended{});
  const std::vector<Event> told = drain();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(nameOf(told[0].payload), "FaultHealed");
  EXPECT_EQ(told[1].sequence, 2u);
  recorder.want(events::Kinds::all());
  EXPECT_TRUE(recorder.isWatched());
  EXPECT_TRUE((recorder.wants<BrokerPaused>()));
}

TEST(Kinds, AreFoundByTheirNames) {
  EXPECT_EQ(events::Kinds::named("BatchAppended"), events::Kinds::of<BatchAppended>());
  EXPECT_EQ(events::Kinds::named("InvariantBroken"), events::Kinds::of<InvariantBroken>());
  EXPECT_TRUE(events::Kinds::named("Rain").empty());
  events::Kinds both = events::Kinds::named("BatchAppended");
  both |= events::Kinds::named("FaultHealed");
  EXPECT_EQ(both, (events::Kinds::of<FaultHealed, BatchAppended>()));
}

TEST_F(RecorderTest, AnEventTellsWhoWhenAndWhat) {
  recorder.want(events::Kinds::all());
  const PartitionTag orders = recorder.partition("orders", PartitionIndex(3));
  recorder.emit(HighWatermarkAdvanced{.partition = orders, .from = Offset(5), .to = Offset(9), .slowest = NodeId(1)});
  const std::vector<Event> events = drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].sequence, 1u);
  EXPECT_EQ(events[0].broker, NodeId(2));
  EXPECT_EQ(events[0].at, platform::MonotonicTime(42ns));
  EXPECT_EQ(nameOf(events[0].payload), "HighWatermarkAdvanced");
  EXPECT_EQ(partitionOf(events[0].payload), orders);
  EXPECT_EQ(traceLine(events[0], recorder.topicName(orders.topic)),
            "1 42 2 HighWatermarkAdvanced orders-3 from=5 to=9 slowest=1");
}

TEST_F(RecorderTest, AFullRingDrawsNumbersAndCountsWhatItRefuses) {
  recorder.want(events::Kinds::all());
  for (int i = 0; i < 11; ++i) recorder.emit(BrokerPaused{NodeId(i)});
  EXPECT_EQ(drain().size(), 8u);
  EXPECT_EQ(lost, 3u);
  EXPECT_EQ(recorder.sequence(), 11u);
  recorder.emit(BrokerPaused{NodeId(11)});
  const std::vector<Event> later = drain();
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].sequence, 12u);
  EXPECT_EQ(lost, 0u);
}

TEST_F(RecorderTest, ItWakesOnceUntilTheNextDrain) {
  int wakes = 0;
  recorder.onFirstEvent([&wakes] { ++wakes; });
  recorder.want(events::Kinds::all());
  recorder.emit(BrokerStarted{NodeId(2)});
  recorder.emit(BrokerStarted{NodeId(2)});
  EXPECT_EQ(wakes, 1);
  drain();
  recorder.emit(BrokerStarted{NodeId(2)});
  EXPECT_EQ(wakes, 2);
}

TEST_F(RecorderTest, OneThreadServesManyRecordersAsInTheSimulator) {
  std::vector<std::unique_ptr<Recorder>> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back(std::make_unique<Recorder>(clock, NodeId(i), Recorder::Options{.ringCapacity = 8}));
    many.back()->want(events::Kinds::all());
  }
  for (int round = 0; round < 4; ++round)
    for (auto& one : many) one->emit(BrokerStarted{one->broker()});
  for (auto& one : many) {
    std::vector<Event> events;
    EXPECT_EQ(one->drain(events), 0u);
    ASSERT_EQ(events.size(), 4u);
    for (const Event& event : events) EXPECT_EQ(event.broker, one->broker());
  }
}

TEST_F(RecorderTest, ARecorderAtAnOldAddressDoesNotUseItsRings) {
  for (int i = 0; i < 3; ++i) {
    Recorder brief(clock, NodeId(i), {.ringCapacity = 8});
    brief.want(events::Kinds::all());
    brief.emit(BrokerStarted{NodeId(i)});
    std::vector<Event> events;
    brief.drain(events);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].broker, NodeId(i));
  }
}

TEST_F(RecorderTest, ThreadsDrawEveryNumberOnceAndNoneIsHidden) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5'000;
  recorder.want(events::Kinds::all());
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([this, &running] {
      for (int i = 0; i < kEach; ++i) recorder.emit(BrokerStarted{NodeId(i)});
      --running;
    });
  std::vector<Event> events;
  uint64_t lostTotal = 0;
  while (running > 0) lostTotal += recorder.drain(events);
  for (std::thread& thread : threads) thread.join();
  lostTotal += recorder.drain(events);
  std::set<uint64_t> numbers;
  for (const Event& event : events) numbers.insert(event.sequence);
  EXPECT_EQ(numbers.size(), events.size());
  EXPECT_EQ(events.size() + lostTotal, static_cast<size_t>(kThreads * kEach));
  EXPECT_EQ(recorder.sequence(), static_cast<uint64_t>(kThreads * kEach));
}

TEST_F(RecorderTest, ATopicKeepsItsTag) {
  const TopicTag orders = recorder.topic("orders");
  EXPECT_EQ(recorder.topic("orders"), orders);
  EXPECT_NE(recorder.topic("payments"), orders);
  EXPECT_EQ(recorder.topicName(orders), "orders");
  EXPECT_EQ(recorder.topic(""), kNoTopicTag);
  EXPECT_EQ(recorder.topicName(TopicTag(99)), "");
}

TEST(Text, WhatDoesNotFitIsCutAndSaysSo) {
  const ShortText<8> text("broker-17");
  EXPECT_EQ(text.view(), "broker");
  EXPECT_TRUE(text.cut());
  EXPECT_FALSE(ShortText<8>("abc").cut());
}

TEST(Text, ANodeListCountsWhatItCannotHold) {
  const NodeList nine{NodeId(1), NodeId(2), NodeId(3), NodeId(4), NodeId(5),
                      NodeId(6), NodeId(7), NodeId(8), NodeId(9)};
  EXPECT_EQ(nine.view().size(), NodeList::kCapacity);
  EXPECT_EQ(nine.total(), 9);
}

TEST(Fields, OfAnIsrChangeReadAsText) {
  IsrShrunk shrunk{.partition = {},
                   .before = {NodeId(1), NodeId(2), NodeId(3)},
                   .after = {NodeId(1), NodeId(2)},
                   .removed = NodeId(3),
                   .epoch = PartitionEpoch(18),
                   .behindFor = 3s};
  EXPECT_EQ(fieldsText(Payload(shrunk)), "before={1,2,3} after={1,2} removed=3 epoch=18 behindFor=3000000000ns");
}

TEST(Retag, ReplacesTheTopicAndKeepsThePartition) {
  Payload payload = IndexEntryAdded{.partition = {TopicTag(1), PartitionIndex(4)}, .offset = Offset(3), .position = 99};
  retag(payload, TopicTag(8));
  EXPECT_EQ(partitionOf(payload), (PartitionTag{TopicTag(8), PartitionIndex(4)}));
  payload = BrokerStarted{NodeId(1)};
  retag(payload, TopicTag(8));
  EXPECT_EQ(partitionOf(payload), PartitionTag());
}

}  // namespace
}  // namespace tidemark::events
