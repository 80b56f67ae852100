// What a cluster did, at any moment of it: in memory, and through a file.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/fault_json.h"
#include "observe/recorded_cluster.h"
#include "observe/recording.h"
#include "observe/recording_file.h"

namespace tidemark::observe {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TopicPartition kOrders{"orders", PartitionIndex(0)};
constexpr WallTime kWall{1'000'000s};
constexpr MonotonicTime kMonotonic{5s};

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() {
    cluster.clusterId = "a-cluster";
    cluster.at = kMonotonic;
    cluster.wall = kWall;
    TopicSnapshot& topic = cluster.topics.emplace_back();
    topic.name = "orders";
    PartitionSnapshot& partition = topic.partitions.emplace_back();
    partition.index = PartitionIndex(0);
    partition.leader = NodeId(1);
    partition.leaderEpoch = LeaderEpoch(4);
    partition.logStart = partition.logEnd = partition.highWatermark = Offset(0);
    partition.isr = partition.replicas = {NodeId(1), NodeId(2)};
    for (int id : {1, 2}) {
      cluster.brokers.push_back({.id = NodeId(id),
                                 .state = BrokerState::Running,
                                 .diedOf = {},
                                 .listener = {"127.0.0.1", 9000},
                                 .controller = {},
                                 .epoch = {}});
      partition.copies.push_back({.broker = NodeId(id),
                                  .leader = id == 1,
                                  .inSync = true,
                                  .online = true,
                                  .epoch = {},
                                  .logStart = Offset(0),
                                  .logEnd = Offset(0),
                                  .highWatermark = Offset(0),
                                  .fetchOffset = {},
                                  .segments = {},
                                  .batches = {},
                                  .indexEntries = {}});
    }
  }
  /// So long after the first snapshot.
  ObservedEvent event(std::chrono::milliseconds after, int broker, const events::Payload& payload,
                      bool ofPartition = true) {
    ObservedEvent one;
    one.number = ++number;
    one.event.at = kMonotonic + after;
    one.event.wall = kWall + after;
    one.event.broker = NodeId(broker);
    one.event.payload = payload;
    if (ofPartition) one.topic = kOrders.topic, one.partition = kOrders.partition;
    return one;
  }
  static events::BatchAppended batch(int64_t base, int count, int epoch, int64_t position = 0) {
    return {.partition = {},
            .baseOffset = Offset(base),
            .lastOffset = Offset(base + count - 1),
            .epoch = LeaderEpoch(epoch),
            .recordCount = count,
            .sizeInBytes = 100,
            .position = position,
            .asLeader = true};
  }
  /// Three records, two of them on both brokers; then 2 leads, and 1 gives up the third.
  std::vector<ObservedEvent> story() {
    return {event(100ms, 1, batch(0, 2, 4)),
            event(110ms, 2, batch(0, 2, 4)),
            event(120ms, 1, events::HighWatermarkAdvanced{{}, Offset(0), Offset(2), NodeId(2)}),
            event(200ms, 1, batch(2, 1, 4, 100)),
            event(300ms, 1, events::BrokerDown{NodeId(1), events::DownCause::Killed}, false),
            event(310ms, 2,
                  events::LeaderElected{{}, NodeId(1), NodeId(2), LeaderEpoch(5), events::ElectionCause::LeaderFenced}),
            event(400ms, 2, batch(2, 4, 5, 100)),
            event(500ms, 1, events::BrokerStarted{NodeId(1)}, false),
            event(510ms, 1,
                  events::LogDiverged{{}, NodeId(2), LeaderEpoch(5), LeaderEpoch(4), Offset(2), Offset(2), Offset(3)}),
            event(511ms, 1, events::LogTruncated{{}, Offset(3), Offset(2)}),
            event(520ms, 2,
                  events::IsrShrunk{{},
                                    events::NodeList{NodeId(1), NodeId(2)},
                                    events::NodeList{NodeId(2)},
                                    NodeId(1),
                                    PartitionEpoch(9),
                                    3s})};
  }
  static const PartitionSnapshot& orders(const SnapshotPtr& at) { return *findPartition(*at, kOrders); }
  SnapshotPtr at(std::chrono::milliseconds after) { return recording.show(recording.at(kWall + after), kOrders); }

  ClusterSnapshot cluster;
  Recording recording;
  uint64_t number = 0;
};

TEST_F(RecordingTest, TheIsrThatAnElectionLeftIsShownFromThatMomentOn) {
  ASSERT_THAT(findPartition(cluster, kOrders)->isr, ::testing::SizeIs(2));
  recording.add(cluster);
  recording.add(event(
      310ms, 2, events::LeaderElected{{}, NodeId(1), NodeId(2), LeaderEpoch(5), events::ElectionCause::LeaderFenced}));
  ClusterSnapshot later = cluster;
  later.at += 1200ms;
  later.wall += 1200ms;
  later.topics[0].partitions[0].leader = NodeId(2);
  later.topics[0].partitions[0].isr = {NodeId(2)};
  later.topics[0].partitions[0].partitionEpoch = PartitionEpoch(9);
  recording.add(later);
  EXPECT_THAT(orders(at(300ms)).isr, ::testing::SizeIs(2));
  EXPECT_THAT(orders(at(320ms)).isr, ElementsAre(NodeId(2)));
  EXPECT_FALSE(orders(at(320ms)).copies[0].inSync);
  EXPECT_EQ(orders(at(320ms)).partitionEpoch, PartitionEpoch(9));
}

TEST_F(RecordingTest, TheIsrAfterAnElectionIsThatWhichTheNextChangeOfItBeganWith) {
  recording.add(cluster);
  recording.add(event(
      310ms, 2, events::LeaderElected{{}, NodeId(1), NodeId(2), LeaderEpoch(5), events::ElectionCause::LeaderFenced}));
  recording.add(event(
      700ms, 2,
      events::IsrExpanded{
          {}, events::NodeList{NodeId(2)}, events::NodeList{NodeId(1), NodeId(2)}, NodeId(1), PartitionEpoch(10)}));
  EXPECT_THAT(orders(at(320ms)).isr, ElementsAre(NodeId(2)));
  EXPECT_THAT(orders(at(800ms)).isr, ElementsAre(NodeId(1), NodeId(2)));
}

TEST_F(RecordingTest, WhatALossOfPowerTookIsNotShownNorDoesItComeBackWithTheLog) {
  recording.add(cluster);
  for (const int64_t offset : {0, 2, 4}) recording.add(event(100ms, 2, batch(offset, 2, 4)));
  ClusterSnapshot later = cluster;
  later.at += 1200ms;
  later.wall += 1200ms;
  ReplicaSnapshot& cut = later.topics[0].partitions[0].copies[1];
  cut.logEnd = Offset(2);
  cut.lostTo = Offset(6);
  recording.add(later);
  recording.add(event(1500ms, 2, events::LogRecovered{.partition = {}, .logEnd = Offset(2)}));
  recording.add(event(1700ms, 2, batch(2, 2, 5)));
  const auto bases = [this](std::chrono::milliseconds after) {
    std::vector<int64_t> all;
    const SnapshotPtr then = at(after);
    for (const BatchSnapshot& one : orders(then).copies[1].batches) all.push_back(one.baseOffset.value());
    return all;
  };
  EXPECT_THAT(bases(300ms), ElementsAre(0, 2, 4));
  EXPECT_THAT(bases(1300ms), ElementsAre(0)) << "what is on its disk";
  EXPECT_EQ(orders(at(1300ms)).copies[1].lostTo, Offset(6));
  EXPECT_EQ(orders(at(1600ms)).copies[1].lostTo, kNoOffset) << "its log is open again";
  EXPECT_THAT(bases(1800ms), ElementsAre(0, 2));
}

TEST_F(RecordingTest, TheClusterIsShownAsItWasAtAnyMoment) {
  recording.add(cluster);
  for (const ObservedEvent& one : story()) recording.add(one);
  EXPECT_EQ(orders(at(0ms)).logEnd, Offset(0));
  EXPECT_EQ(orders(at(150ms)).logEnd, Offset(2));
  EXPECT_EQ(orders(at(150ms)).highWatermark, Offset(2));
  EXPECT_EQ(orders(at(250ms)).copies[0].logEnd, Offset(3));
  EXPECT_EQ(findBroker(*at(305ms), NodeId(1))->state, BrokerState::Killed);
  EXPECT_EQ(orders(at(305ms)).leader, NodeId(1));
  const SnapshotPtr later = at(450ms);
  EXPECT_EQ(orders(later).leader, NodeId(2));
  EXPECT_EQ(orders(later).leaderEpoch, LeaderEpoch(5));
  EXPECT_EQ(orders(later).logEnd, Offset(6));
  EXPECT_EQ(orders(later).copies[0].logEnd, Offset(3)) << "what is to be given up is still there";
  EXPECT_EQ(orders(at(600ms)).copies[0].logEnd, Offset(2));
  EXPECT_THAT(orders(at(600ms)).isr, ElementsAre(NodeId(2)));
  EXPECT_EQ(at(600ms)->wall, kWall + 600ms);
}

TEST_F(RecordingTest, BatchesAreThoseThatWereThereThen) {
  recording.add(cluster);
  for (const ObservedEvent& one : story()) recording.add(one);
  const auto bases = [this](std::chrono::milliseconds after, size_t copy) {
    std::vector<std::pair<int, int>> found;
    const SnapshotPtr then = at(after);
    for (const BatchSnapshot& one : orders(then).copies[copy].batches)
      found.emplace_back(static_cast<int>(one.baseOffset.value()), one.epoch.value());
    return found;
  };
  EXPECT_THAT(bases(450ms, 0), ElementsAre(std::pair(0, 4), std::pair(2, 4)));
  EXPECT_THAT(bases(450ms, 1), ElementsAre(std::pair(0, 4), std::pair(2, 5)));
  EXPECT_THAT(bases(600ms, 0), ElementsAre(std::pair(0, 4)));
  EXPECT_THAT(recording.show(recording.at(kWall + 450ms), std::nullopt)->topics[0].partitions[0].copies[0].batches,
              IsEmpty());
}

TEST_F(RecordingTest, SegmentsComeAndGoWithWhatWasTold) {
  for (ReplicaSnapshot& copy : cluster.topics[0].partitions[0].copies) {
    copy.segmentCount = 1;
    copy.segments = {{Offset(0), 400}};
    copy.batches.emplace_back();
    copy.indexEntries.emplace_back();
  }
  recording.add(cluster);
  recording.add(event(100ms, 1, batch(5, 1, 4, 400)));
  recording.add(event(200ms, 1, events::SegmentRolled{{}, Offset(6), Offset(0), 500}));
  recording.add(event(210ms, 1, batch(6, 2, 4, 0)));
  recording.add(event(300ms, 1, events::SegmentDeleted{{}, Offset(0), 500}));
  const auto segments = [this](std::chrono::milliseconds after, size_t copy) {
    std::vector<std::pair<int64_t, int64_t>> found;
    const SnapshotPtr then = at(after);
    EXPECT_EQ(orders(then).copies[copy].segmentCount, static_cast<int>(orders(then).copies[copy].segments.size()));
    for (const SegmentSnapshot& one : orders(then).copies[copy].segments)
      found.emplace_back(one.baseOffset.value(), one.sizeInBytes);
    return found;
  };
  EXPECT_THAT(segments(150ms, 0), ElementsAre(std::pair(0, 500)));
  EXPECT_THAT(segments(250ms, 0), ElementsAre(std::pair(0, 500), std::pair(6, 100)));
  EXPECT_THAT(segments(350ms, 0), ElementsAre(std::pair(6, 100)));
  EXPECT_THAT(segments(350ms, 1), ElementsAre(std::pair(0, 400))) << "another broker's copy has its own";
  EXPECT_THAT(orders(recording.snapshots().front().cluster).copies[0].batches, IsEmpty()) << "the events tell of them";
}

TEST_F(RecordingTest, OfManySegmentsTheNewestAreKept) {
  ReplicaSnapshot& copy = cluster.topics[0].partitions[0].copies[0];
  copy.segmentCount = 10'000;
  for (int i = 0; i < 10'000; ++i) copy.segments.push_back({Offset(i * 10), 1'000});
  recording.add(cluster);
  const SnapshotPtr then = at(0ms);
  const ReplicaSnapshot& kept = orders(then).copies[0];
  EXPECT_EQ(kept.segmentCount, 10'000);
  ASSERT_EQ(kept.segments.size(), ReplicaSnapshot::kSegmentsKept);
  EXPECT_EQ(kept.segments.back().baseOffset, Offset(99'990));
}

TEST_F(RecordingTest, TheCleanersWorkIsShownAsItWas) {
  cluster.cleaners.push_back({.broker = NodeId(1),
                              .partition = kOrders,
                              .logStart = Offset(0),
                              .firstDirty = Offset(0),
                              .firstUncleanable = Offset(10),
                              .logEnd = Offset(12),
                              .dirtyBytes = 1'000,
                              .lastPass = {},
                              .lookAgainAt = {},
                              .uncleanableReason = {}});
  recording.add(cluster);
  recording.add(event(100ms, 1, events::CleanerPassStarted{{}, Offset(0), Offset(10), 0, 1'000}));
  recording.add(event(160ms, 1, events::CleanerPassFinished{{}, Offset(10), 10, 4, 1, 2, 1'000, 400, 60ms}));
  EXPECT_FALSE(at(50ms)->cleaners[0].running);
  EXPECT_TRUE(at(120ms)->cleaners[0].running);
  const CleanerSnapshot after = at(200ms)->cleaners[0];
  EXPECT_FALSE(after.running);
  EXPECT_EQ(after.firstDirty, Offset(10));
  EXPECT_EQ(after.passes, 1);
  ASSERT_TRUE(after.lastPass);
  EXPECT_EQ(after.lastPass->recordsDropped(), 6);
  EXPECT_EQ(after.lastPass->startedAt, kWall + 100ms);
}

TEST_F(RecordingTest, AnOpenTransactionHoldsTheLastStableOffsetBack) {
  recording.add(cluster);
  recording.add(event(100ms, 1, events::TransactionOpened{{}, ProducerId(7), ProducerEpoch(2), Offset(3)}));
  recording.add(event(120ms, 1, events::HighWatermarkAdvanced{{}, Offset(0), Offset(9), NodeId(2)}));
  recording.add(event(
      200ms, 1, events::MarkerWritten{{}, ProducerId(7), ProducerEpoch(2), true, Offset(3), Offset(8), Offset(9)}));
  EXPECT_EQ(orders(at(150ms)).lastStable, Offset(3));
  ASSERT_EQ(orders(at(150ms)).openTransactions.size(), 1u);
  EXPECT_EQ(orders(at(150ms)).openTransactions[0].producer, ProducerId(7));
  EXPECT_EQ(orders(at(150ms)).copies[0].lastStable, Offset(3));
  EXPECT_EQ(orders(at(250ms)).lastStable, Offset(9));
  EXPECT_EQ(orders(at(250ms)).copies[0].lastStable, Offset(9));
  EXPECT_THAT(orders(at(250ms)).openTransactions, IsEmpty());
}

TEST_F(RecordingTest, BatchesOfTransactionsAreTakenForWhatTheyWereThen) {
  recording.add(cluster);
  const auto written = [](int64_t base, int producer, bool control = false) {
    events::BatchAppended one = batch(base, 1, 4);
    one.producer = ProducerId(producer);
    one.transactional = true;
    one.control = control;
    return one;
  };
  recording.add(event(100ms, 1, written(0, 7)));
  recording.add(event(110ms, 1, written(1, 8)));
  recording.add(event(
      200ms, 1, events::MarkerWritten{{}, ProducerId(7), ProducerEpoch(0), false, Offset(0), Offset(2), Offset(1)}));
  recording.add(event(201ms, 1, written(2, 7, true)));
  recording.add(event(210ms, 1, written(3, 7)));
  const auto fates = [this](std::chrono::milliseconds after) {
    std::vector<TransactionFate> all;
    const SnapshotPtr then = at(after);
    for (const BatchSnapshot& one : orders(then).copies[0].batches) all.push_back(one.fate);
    return all;
  };
  using enum TransactionFate;
  EXPECT_THAT(fates(150ms), ElementsAre(Open, Open));
  EXPECT_THAT(fates(250ms), ElementsAre(Aborted, Open, Aborted, Open));
}

TEST_F(RecordingTest, AfterAnEventIsExactlyAfterIt) {
  recording.add(cluster);
  for (const ObservedEvent& one : story()) recording.add(one);
  const auto before = recording.after(9);
  const auto after = recording.after(10);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(orders(recording.show(*before, kOrders)).copies[0].logEnd, Offset(3));
  EXPECT_EQ(orders(recording.show(*after, kOrders)).copies[0].logEnd, Offset(2));
  EXPECT_FALSE(recording.after(99).has_value());
}

TEST_F(RecordingTest, ABrokersWrongClockDoesNotMoveItsEvents) {
  recording.add(cluster);
  ObservedEvent one = event(100ms, 1, batch(0, 2, 4));
  one.event.wall = kWall + 3h;
  recording.add(one);
  EXPECT_EQ(recording.after(1)->wall, kWall + 100ms);
  EXPECT_EQ(orders(at(150ms)).logEnd, Offset(2));
}

TEST_F(RecordingTest, AgesGoOnAndSnapshotsCorrectWhatNoEventTold) {
  cluster.brokers[0].inState = 4s;
  recording.add(cluster);
  EXPECT_EQ(findBroker(*at(700ms), NodeId(1))->inState, 4700ms);
  cluster.at += 2s;
  cluster.wall += 2s;
  cluster.brokers[0].diskBytes = 77;
  recording.add(cluster);
  EXPECT_EQ(findBroker(*at(1900ms), NodeId(1))->diskBytes, 0);
  EXPECT_EQ(findBroker(*at(2100ms), NodeId(1))->diskBytes, 77);
}

TEST_F(RecordingTest, WhatIsRememberedIsBounded) {
  recording = Recording({.events = 10, .snapshots = 3});
  for (int i = 0; i < 50; ++i) {
    recording.add(cluster);
    recording.add(event(std::chrono::milliseconds(1000 * i + 10), 1, batch(i, 1, 4)));
    cluster.at += 1s;
    cluster.wall += 1s;
  }
  EXPECT_EQ(recording.events().size(), 10u);
  EXPECT_EQ(recording.begin(), kWall + 47s);
}

/// Between two snapshots: a fault that is set and begins at once, one that waits and begins, one that is set and goes,
/// one that was there and goes.
class PassingFaultsTest : public RecordingTest {
 protected:
  static faults::Fault pause() { return *faults::parseFault(R"({"kind": "pause", "target": "broker 2"})"); }
  static FaultSnapshot set(int id, MonotonicTime seen, std::chrono::milliseconds at) {
    return {
        .id = id, .fault = pause(), .broker = NodeId(2), .links = {}, .since = seen - (kMonotonic + at), .left = {}};
  }
  static events::FaultInjected begins(int id, Duration lasts = {}) {
    return {.fault = id, .kind = events::FaultKind::Other, .node = NodeId(2), .target = "broker 2", .duration = lasts};
  }
  static events::FaultHealed ends(int id) {
    return {.fault = id, .kind = events::FaultKind::Other, .node = NodeId(2), .target = "broker 2"};
  }
  void play() {
    cluster.faults = {set(1, kMonotonic, -500ms)};
    recording.add(cluster);
    recording.add(event(200ms, 2, begins(2, 5s), false));
    recording.add(event(300ms, 2, begins(3), false));
    recording.add(event(400ms, 2, ends(1), false));
    recording.add(event(500ms, 2, ends(3), false));
    recording.add(event(700ms, 2, begins(4), false));
    cluster.at += 1s, cluster.wall += 1s, ++cluster.version;
    cluster.faults = {set(2, cluster.at, 200ms), set(4, cluster.at, 600ms), set(5, cluster.at, 800ms)};
    cluster.faults[0].left = 4200ms;
    cluster.faults[0].links.push_back(
        {.from = {.node = NodeId(1), .client = {}}, .to = {.node = NodeId(2), .client = {}}});
    cluster.faults[2].waits = true;
    cluster.faults[2].broker = kNoNode;
    cluster.faults[2].left = 3s;
    const auto over = [](int id, std::chrono::milliseconds from, std::chrono::milliseconds to) {
      return FaultOverSnapshot{.id = id,
                               .fault = pause(),
                               .broker = NodeId(2),
                               .ending = faults::Ending::Healed,
                               .setAt = kMonotonic + from,
                               .endedAt = kMonotonic + to};
    };
    cluster.faultsOver = {over(1, -500ms, 400ms), over(3, 300ms, 500ms)};
    recording.add(cluster);
  }
  /// "2" acts, "4?" waits, "3." is over.
  std::string seen(std::chrono::milliseconds after) {
    std::string text;
    const SnapshotPtr then = at(after);
    for (const FaultSnapshot& each : then->faults) text += std::to_string(each.id) + (each.waits ? "? " : " ");
    for (const FaultOverSnapshot& each : then->faultsOver) text += std::to_string(each.id) + ". ";
    return text;
  }
};

TEST_F(PassingFaultsTest, EachIsThereFromWhenItIsSetUntilItIsOver) {
  play();
  EXPECT_EQ(seen(199ms), "1 ");
  EXPECT_EQ(seen(200ms), "1 2 ");
  EXPECT_EQ(seen(300ms), "1 2 3 ");
  EXPECT_EQ(seen(399ms), "1 2 3 ");
  EXPECT_EQ(seen(400ms), "2 3 1. ");
  EXPECT_EQ(seen(500ms), "2 1. 3. ");
  EXPECT_EQ(seen(599ms), "2 1. 3. ");
  EXPECT_EQ(seen(600ms), "2 4? 1. 3. ");
  EXPECT_EQ(seen(700ms), "2 4 1. 3. ");
  EXPECT_EQ(seen(800ms), "2 4 5? 1. 3. ");
  EXPECT_EQ(seen(1000ms), "2 4 5? 1. 3. ");
}

TEST_F(PassingFaultsTest, AgesAndWhatIsLeftAreThoseOfTheMoment) {
  play();
  const SnapshotPtr then = at(900ms);
  ASSERT_EQ(then->faults.size(), 3U);
  EXPECT_EQ(then->faults[0].since, 700ms);
  EXPECT_EQ(then->faults[0].left, 4300ms);
  EXPECT_EQ(then->faults[0].broker, NodeId(2));
  EXPECT_EQ(then->faults[0].links.size(), 1U);
  EXPECT_EQ(then->faults[1].since, 300ms);
  EXPECT_EQ(then->faults[1].left, std::nullopt);
  EXPECT_EQ(then->faults[2].since, 100ms);
  EXPECT_EQ(then->faults[2].left, 3100ms);
  EXPECT_EQ(then->faults[2].broker, kNoNode);
  // One that waits acts nowhere.
  EXPECT_EQ(at(650ms)->faults[1].broker, kNoNode);
}

TEST_F(PassingFaultsTest, AfterTheLastSnapshotEventsTellWhatBeginsAndEnds) {
  cluster.faults = {set(1, kMonotonic, -500ms)};
  cluster.faults[0].waits = true;
  recording.add(cluster);
  recording.add(event(100ms, 2, begins(1, 1s), false));
  recording.add(event(1100ms, 2, ends(1), false));
  EXPECT_EQ(seen(99ms), "1? ");
  EXPECT_EQ(seen(100ms), "1 ");
  EXPECT_EQ(at(600ms)->faults[0].left, 500ms);
  EXPECT_EQ(seen(1100ms), "");
}

class RecordingFileTest : public RecordingTest {
 protected:
  RecordingFileTest() : writer([this](std::string_view line) { lines.emplace_back(line); }) {}
  Result<Recording> read() {
    RecordingReader reader;
    for (const std::string& line : lines) TIDEMARK_TRY(reader.take(line));
    return reader.finish();
  }
  std::vector<std::string> lines;
  RecordingWriter writer;
};

TEST_F(RecordingFileTest, WhatWasWrittenIsReadAgain) {
  FaultSnapshot& fault = cluster.faults.emplace_back();
  fault.id = 3;
  fault.fault = *faults::parseFault(R"({"kind": "cut", "target": "link 1->2", "durationMs": 5000})");
  fault.links.push_back({.from = {.node = NodeId(1), .client = {}}, .to = {.node = NodeId(2), .client = {}}});
  fault.left = 2s;
  fault.held = 4;
  fault.lasting.addCut("a/1.log", 12);
  fault.unmatched = {{.what = faults::Unmatched::What::Path, .name = "*.log", .node = NodeId(2)}};
  const FaultOverSnapshot over{
      .id = 2,
      .fault = *faults::parseFault(R"({"kind":"bit-flip","target":"broker 2","path":"*.log"})"),
      .broker = NodeId(2),
      .ending = faults::Ending::FiredOut,
      .reason = "none",
      .setAt = kMonotonic - 3s,
      .endedAt = kMonotonic - 2s,
      .fired = 1,
      .lasting =
          {.flippedByte = 0, .paths = {"a/0.log"}, .lostBytes = {70}, .lostInAll = 90, .wall = 5ms, .monotonic = -7ns},
      .unmatched = fault.unmatched};
  cluster.faultsOver = {over};
  cluster.brokers[1].state = BrokerState::Paused;
  cluster.brokers[1].sinceHeartbeat = 300ms;
  cluster.brokers[1].isController = false;
  cluster.brokers.push_back({.id = NodeId(3), .state = BrokerState::Running, .isBroker = false});
  PartitionSnapshot& partition = cluster.topics[0].partitions[0];
  partition.copies[0].lastStable = Offset(0);
  partition.copies[0].lostTo = Offset(14);
  partition.copies[0].segmentCount = 2;
  partition.copies[0].segments = {{Offset(0), 900}, {Offset(12), 0}};
  partition.openTransactions = {{.producer = ProducerId(4), .epoch = ProducerEpoch(1), .first = Offset(0)}};
  const CleanerSnapshot cleaned{.broker = NodeId(1),
                                .partition = kOrders,
                                .logStart = Offset(0),
                                .firstDirty = Offset(4),
                                .logEnd = Offset(6),
                                .minDirtyRatio = 0,
                                .lastPass = CleanerPassSnapshot{.keys = 5, .earliestHorizon = kWall + 1h},
                                .lookAgainAt = {},
                                .uncleanableReason = {}};
  cluster.cleaners = {cleaned, {.broker = NodeId(2), .partition = kOrders, .logStart = Offset(0), .logEnd = Offset(0)}};
  writer.add(cluster);
  const auto events = story();
  for (const ObservedEvent& one : events) writer.add(one);
  writer.add(event(
      600ms, -1,
      events::FaultInjected{
          .fault = 4, .kind = events::FaultKind::Pause, .node = NodeId(2), .target = "broker 2 \xff", .duration = 25s},
      false));
  const auto found = read();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->events().size(), events.size() + 1);
  for (size_t i = 0; i < events.size(); ++i) {
    const ObservedEvent& one = found->events()[i];
    EXPECT_EQ(events::traceLine(one.event, one.topic), events::traceLine(events[i].event, events[i].topic));
    EXPECT_EQ(one.event.wall, events[i].event.wall);
    EXPECT_EQ(one.partition, events[i].partition);
  }
  const SnapshotPtr shown = found->show(found->at(kWall), {});
  EXPECT_EQ(shown->clusterId, "a-cluster");
  EXPECT_EQ(shown->brokers[0].listener, (platform::Endpoint{"127.0.0.1", 9000}));
  EXPECT_EQ(shown->brokers[1].state, BrokerState::Paused);
  EXPECT_EQ(shown->brokers[1].sinceHeartbeat, Duration(300ms));
  EXPECT_TRUE(shown->brokers[1].isBroker);
  EXPECT_FALSE(shown->brokers[2].isBroker);
  EXPECT_TRUE(shown->brokers[0].isController && shown->brokers[2].isController);
  EXPECT_FALSE(shown->brokers[1].isController);
  EXPECT_EQ(shown->faults[0].fault, fault.fault);
  EXPECT_EQ(shown->faults[0].links, fault.links);
  EXPECT_EQ(shown->faults[0].left, Duration(2s));
  EXPECT_EQ(shown->faults[0].held, 4U);
  EXPECT_EQ(shown->faults[0].lasting, fault.lasting);
  EXPECT_EQ(shown->faults[0].unmatched, fault.unmatched);
  EXPECT_THAT(shown->faultsOver, ElementsAre(over));
  const ReplicaSnapshot& copy = orders(shown).copies[0];
  EXPECT_EQ(copy.lastStable, Offset(0));
  EXPECT_EQ(copy.lostTo, Offset(14));
  EXPECT_EQ(copy.segmentCount, 2);
  ASSERT_EQ(copy.segments.size(), 2u);
  EXPECT_EQ(copy.segments[0].sizeInBytes, 900);
  EXPECT_EQ(copy.segments[1].baseOffset, Offset(12));
  EXPECT_EQ(orders(shown).openTransactions, cluster.topics[0].partitions[0].openTransactions);
  ASSERT_EQ(shown->cleaners.size(), 1u) << "a log that is empty is not worth its line";
  EXPECT_EQ(shown->cleaners[0].partition, kOrders);
  EXPECT_EQ(shown->cleaners[0].firstDirty, Offset(4));
  EXPECT_EQ(shown->cleaners[0].minDirtyRatio, 0.0);
  ASSERT_TRUE(shown->cleaners[0].lastPass);
  EXPECT_EQ(shown->cleaners[0].lastPass->keys, 5);
  EXPECT_EQ(shown->cleaners[0].lastPass->earliestHorizon, kWall + 1h);
  EXPECT_EQ(orders(shown).isr, orders(std::make_shared<ClusterSnapshot>(cluster)).isr);
}

TEST_F(RecordingFileTest, WhatIsWrongIsToldWithItsLine) {
  writer.add(cluster);
  writer.add(story().front());
  const auto whole = lines;
  const auto expect = [this](const std::string& text) {
    const auto found = read();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::InvalidRequest);
    EXPECT_THAT(found.error().message, HasSubstr(text));
  };
  lines = {"kafka"};
  expect("line 1: this is no JSON object");
  lines = {"{}"};
  expect("line 1: this is no recording");
  lines = {R"({"recording":2})"};
  expect("version 2");
  lines = {whole[0]};
  expect("no snapshot");
  lines = {whole[0], whole[1], R"({"event":"Nonsense"})"};
  expect("line 3: an event Nonsense is not known");
  lines = {whole[0], whole[1], R"({"event":"BrokerDown","fields":{"node":"two"}})"};
  expect("line 3: \"node\": \"two\" is no whole number");
  lines = {whole[0], R"({"snapshot":{"brokers":[{"state":77}]}})"};
  expect("line 2: \"brokers\": \"state\": 77 is not known");
  lines = {whole[0], whole[1].substr(0, whole[1].size() / 2)};
  expect("line 2: this is no JSON object");
}

TEST_F(RecordingFileTest, WhatIsRememberedIsWrittenInItsOrder) {
  recording.add(cluster);
  for (const ObservedEvent& one : story()) recording.add(one);
  writer.add(recording);
  const auto found = read();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->events().size(), 11u);
  EXPECT_EQ(orders(found->show(found->at(kWall + 450ms), kOrders)).logEnd, Offset(6));
}

TEST_F(RecordingFileTest, ARecordedClusterComesUpInStepsAndIsNotTouched) {
  writer.add(cluster);
  for (const ObservedEvent& one : story()) writer.add(one);
  auto found = read();
  ASSERT_TRUE(found);
  RecordedCluster recorded(std::move(*found));
  int woken = 0;
  recorded.onChange([&woken] { ++woken; });
  std::vector<Offset> ends;
  uint64_t told = 0;
  size_t events = 0;
  while (!recorded.isOver()) {
    ends.push_back(orders(recorded.snapshot()).logEnd);
    const EventBatch batch = recorded.drainEvents(told, 2);
    events += batch.events.size();
    EXPECT_EQ(batch.missed, 0u);
    told = batch.last;
  }
  for (EventBatch batch = recorded.drainEvents(told, 2); !batch.events.empty(); batch = recorded.drainEvents(told, 2)) {
    events += batch.events.size();
    told = batch.last;
  }
  EXPECT_EQ(events, 11u);
  EXPECT_GT(ends.size(), 4u);
  EXPECT_EQ(ends.front(), Offset(0));
  EXPECT_EQ(ends.back(), Offset(6));
  EXPECT_GT(woken, 0);
  std::string refused;
  recorded.killBroker(NodeId(1), [&refused](const Result<void>& done) { refused = done ? "" : done.error().message; });
  EXPECT_THAT(refused, IsEmpty()) << "never inside the call";
  recorded.snapshot();
  EXPECT_THAT(refused, HasSubstr("recording"));
  std::vector<std::string> answers;
  const auto keep = [&answers](const Result<Healed>& done) { answers.push_back(done ? "" : done.error().message); };
  recorded.healFault(1, keep);
  recorded.healAll(keep);
  recorded.snapshot();
  EXPECT_THAT(answers, ElementsAre(refused, refused));
}

}  // namespace
}  // namespace tidemark::observe
