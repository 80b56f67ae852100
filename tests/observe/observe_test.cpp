#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/collector.h"
#include "observe/snapshot.h"

namespace tidemark::observe {
namespace {

using events::BrokerPaused;
using events::BrokerStarted;
using events::Recorder;
using testing::ElementsAre;

struct HandClock : platform::Clock {
  platform::MonotonicTime monotonic() const override { return platform::MonotonicTime(platform::Duration(now)); }
  platform::WallTime wall() const override { return platform::WallTime(platform::milliseconds(now)); }
  int64_t now = 0;
};

class CollectorTest : public testing::Test {
 protected:
  std::shared_ptr<Recorder> broker(int id) {
    auto recorder = std::make_shared<Recorder>(clock, NodeId(id), Recorder::Options{.ringCapacity = 4});
    collector.prepare(*recorder);
    collector.listen(recorder, events::Kinds::all());
    return recorder;
  }
  std::vector<int> brokersInOrder() {
    std::vector<int> ids;
    for (const ObservedEvent& event : collector.eventsAfter(0).events) ids.push_back(event.event.broker.value());
    return ids;
  }

  HandClock clock;
  Collector collector{6};
};

TEST_F(CollectorTest, EventsOfSeveralBrokersAreOrderedByTime) {
  auto one = broker(1);
  auto two = broker(2);
  clock.now = 10;
  two->emit(BrokerStarted{NodeId(2)});
  clock.now = 20;
  one->emit(BrokerStarted{NodeId(1)});
  clock.now = 30;
  two->emit(BrokerPaused{NodeId(2)});
  collector.collect();
  EXPECT_THAT(brokersInOrder(), ElementsAre(2, 1, 2));
}

TEST_F(CollectorTest, OneBrokersOrderIsItsSequenceEvenIfTheClockWasReadLate) {
  auto one = broker(1);
  clock.now = 20;
  one->emit(BrokerStarted{NodeId(1)});
  clock.now = 10;
  one->emit(BrokerPaused{NodeId(1)});
  collector.collect();
  const EventBatch batch = collector.eventsAfter(0);
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.events[0].event.sequence, 1u);
  EXPECT_EQ(batch.events[1].event.sequence, 2u);
}

TEST_F(CollectorTest, TopicsAreNamedWithoutTheRecorder) {
  auto one = broker(1);
  one->emit(events::SegmentRolled{.partition = one->partition("orders", PartitionIndex(2)), .baseOffset = Offset(7)});
  collector.listen(one, {});
  one.reset();
  const EventBatch batch = collector.eventsAfter(0);
  ASSERT_EQ(batch.events.size(), 1u);
  EXPECT_EQ(batch.events[0].topic, "orders");
  EXPECT_EQ(batch.events[0].partition, PartitionIndex(2));
}

TEST_F(CollectorTest, DetachingStopsLookingAndKeepsWhatWasThere) {
  auto one = broker(1);
  one->emit(BrokerStarted{NodeId(1)});
  collector.listen(one, {});
  one->emit(BrokerPaused{NodeId(1)});
  collector.collect();
  EXPECT_EQ(collector.eventsAfter(0).events.size(), 1u);
  EXPECT_FALSE(one->isWatched());
}

TEST_F(CollectorTest, OnlyWhatIsListenedToIsGathered) {
  auto one = broker(1);
  collector.listen(one, events::Kinds::of<BrokerPaused>());
  one->emit(BrokerStarted{NodeId(1)});
  one->emit(BrokerPaused{NodeId(1)});
  collector.collect();
  const EventBatch batch = collector.eventsAfter(0);
  ASSERT_EQ(batch.events.size(), 1u);
  EXPECT_EQ(events::nameOf(batch.events[0].event.payload), "BrokerPaused");
  EXPECT_FALSE(one->isWatched());
}

TEST_F(CollectorTest, LostEventsAreCounted) {
  auto one = broker(1);
  for (int i = 0; i < 9; ++i) one->emit(BrokerStarted{NodeId(1)});
  collector.collect();
  EXPECT_EQ(collector.lost(), 5u);
  EXPECT_EQ(collector.eventsAfter(0).lost, 5u);
}

TEST_F(CollectorTest, TheHistoryIsBoundedAndSaysWhatAReaderMissed) {
  auto one = broker(1);
  for (int i = 0; i < 10; ++i) {
    one->emit(BrokerStarted{NodeId(1)});
    collector.collect();
  }
  const EventBatch all = collector.eventsAfter(0);
  EXPECT_EQ(all.events.size(), 6u);
  EXPECT_EQ(all.missed, 4u);
  EXPECT_EQ(all.events.front().number, 5u);
  EXPECT_EQ(all.last, 10u);
  const EventBatch newest = collector.eventsAfter(5, 2);
  EXPECT_EQ(newest.events.front().number, 9u);
  EXPECT_EQ(newest.missed, 3u);
  EXPECT_TRUE(collector.eventsAfter(10).events.empty());
}

TEST_F(CollectorTest, ItWakesItsReaderOnceForManyEvents) {
  int wakes = 0;
  collector.onWake([&wakes] { ++wakes; });
  auto one = broker(1);
  one->emit(BrokerStarted{NodeId(1)});
  one->emit(BrokerStarted{NodeId(1)});
  EXPECT_EQ(wakes, 1);
  collector.collect();
  one->emit(BrokerStarted{NodeId(1)});
  EXPECT_EQ(wakes, 2);
}

TEST(Snapshot, LagIsToldOnlyWhereBothEndsAreKnown) {
  PartitionSnapshot partition;
  partition.logEnd = Offset(10);
  ReplicaSnapshot follower;
  EXPECT_EQ(lagOf(partition, follower), std::nullopt);
  follower.logEnd = Offset(7);
  EXPECT_EQ(lagOf(partition, follower), 3);
  follower.logEnd = Offset(12);
  EXPECT_EQ(lagOf(partition, follower), 0);
}

TEST(Snapshot, ThingsAreFoundByTheirNames) {
  ClusterSnapshot cluster;
  cluster.topics.emplace_back().name = "orders";
  cluster.topics[0].partitions.emplace_back().index = PartitionIndex(1);
  EXPECT_NE(findPartition(cluster, {"orders", PartitionIndex(1)}), nullptr);
  EXPECT_EQ(findPartition(cluster, {"orders", PartitionIndex(0)}), nullptr);
  EXPECT_EQ(findPartition(cluster, {"audit", PartitionIndex(0)}), nullptr);
  EXPECT_EQ(findBroker(cluster, NodeId(1)), nullptr);
}

}  // namespace
}  // namespace tidemark::observe
