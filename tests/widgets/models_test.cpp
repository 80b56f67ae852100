#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSignalSpy>

#include "models/belt_tables.h"
#include "models/bootstrap.h"
#include "models/cluster_tree_model.h"
#include "models/event_model.h"
#include "models/readers.h"
#include "models/record_model.h"
#include "models/row_sync.h"
#include "models/timeline_past.h"
#include "observe/recording.h"
#include "testing/fake_cluster.h"
#include "testing/mock_scene.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Tester = QAbstractItemModelTester;

struct Number {
  int id = 0;
  int value = 0;
  int key() const { return id; }
  friend bool operator==(const Number&, const Number&) = default;
};

/// Does what the signals say to a copy, and so proves them.
struct Replay {
  std::vector<Number>& rows;
  std::vector<Number> mirror;
  std::vector<int> changes;
  int first = 0, last = 0, inserts = 0, removals = 0;
  void removing(int from, int to) { first = from, last = to; }
  void removed() {
    mirror.erase(mirror.begin() + first, mirror.begin() + last + 1);
    ++removals;
  }
  void inserting(int from, int to) { first = from, last = to; }
  void inserted() {
    for (int i = first; i <= last; ++i) mirror.insert(mirror.begin() + i, rows[static_cast<size_t>(i)]);
    ++inserts;
  }
  void changed(int row) {
    mirror[static_cast<size_t>(row)] = rows[static_cast<size_t>(row)];
    changes.push_back(row);
  }
};

TEST(RowSync, TellsOnlyWhatChanged) {
  std::vector<Number> rows{{1, 10}, {2, 20}, {3, 30}};
  Replay replay{rows, rows, {}};
  syncRows(rows, {{1, 10}, {2, 21}, {3, 30}}, replay);
  EXPECT_THAT(replay.changes, ElementsAre(1));
  EXPECT_EQ(replay.inserts + replay.removals, 0);
}

TEST(RowSync, SignalsDescribeEveryChange) {
  const std::vector<std::vector<Number>> steps{
      {{1, 1}, {2, 2}, {3, 3}},         {{3, 3}},        {}, {{5, 5}, {1, 1}}, {{1, 1}, {5, 5}},
      {{4, 0}, {1, 2}, {6, 1}, {5, 5}}, {{6, 2}, {4, 0}}};
  std::vector<Number> rows;
  Replay replay{rows, {}, {}};
  for (const std::vector<Number>& step : steps) {
    syncRows(rows, step, replay);
    EXPECT_EQ(rows, step);
    EXPECT_EQ(replay.mirror, step);
  }
}

class ClusterTreeTest : public ::testing::Test {
 protected:
  void show(const observe::ClusterSnapshot& cluster) { model.setSnapshot(cluster, 0ns); }
  QString note(const QModelIndex& index) { return index.data(ClusterTreeModel::NoteRole).toString(); }
  ClusterTreeModel model;
  Tester tester{&model, Tester::FailureReportingMode::Fatal};
};

TEST_F(ClusterTreeTest, SectionsHoldQuorumBrokersTopicsGroupsAndFaults) {
  show(fake::mockMoment(0));
  EXPECT_EQ(model.rowCount(model.section(ClusterTreeModel::Section::Cluster)), 4);
  EXPECT_EQ(model.rowCount(model.section(ClusterTreeModel::Section::Topics)), 5);
  EXPECT_EQ(model.rowCount(model.section(ClusterTreeModel::Section::Groups)), 4);
  EXPECT_EQ(model.rowCount(model.section(ClusterTreeModel::Section::Faults)), 3);
  EXPECT_EQ(note(model.broker(NodeId(3))), QStringLiteral("leads 19 · paused"));
  EXPECT_EQ(note(model.topic(QStringLiteral("audit"))), QStringLiteral("1 × RF 1  compact"));
}

TEST_F(ClusterTreeTest, AValueChangesInPlaceAndKeepsItsIndex) {
  show(fake::mockMoment(20));
  const QPersistentModelIndex third = model.broker(NodeId(3));
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  show(fake::mockMoment(0));
  EXPECT_TRUE(third.isValid());
  EXPECT_EQ(third, model.broker(NodeId(3)));
  EXPECT_GE(changed.count(), 1);
  EXPECT_EQ(reset.count(), 0);
  EXPECT_EQ(inserted.count(), 2) << "only two faults are new";
}

TEST_F(ClusterTreeTest, StatesHaveAShapeNotOnlyAColour) {
  show(fake::mockMoment(0));
  const auto shape = [this](int id) { return model.broker(NodeId(id)).data(ClusterTreeModel::ShapeRole).toInt(); };
  EXPECT_NE(shape(1), shape(3));
}

TEST_F(ClusterTreeTest, AnEmptyClusterLeavesTheSections) {
  show(fake::mockMoment(0));
  show({});
  EXPECT_EQ(model.rowCount(), ClusterTreeModel::kSections);
  for (int i = 0; i < ClusterTreeModel::kSections; ++i) EXPECT_EQ(model.rowCount(model.index(i, 0)), 0);
}

observe::ObservedEvent makeEvent(uint64_t number, events::Payload payload, const char* topic = "orders",
                                 int64_t wallMs = 0) {
  observe::ObservedEvent event;
  event.number = number;
  event.event.broker = NodeId(1);
  event.event.wall = platform::WallTime(platform::milliseconds(wallMs));
  event.event.payload = payload;
  event.topic = topic;
  event.partition = PartitionIndex(*topic == 0 ? -1 : 0);
  return event;
}

observe::EventBatch batchOf(std::vector<observe::ObservedEvent> events) {
  observe::EventBatch batch;
  batch.events = std::move(events);
  return batch;
}

class EventModelTest : public ::testing::Test {
 protected:
  EventModelTest() { filter.setSourceModel(&model); }
  void append(const observe::EventBatch& batch) { model.append(batch, cluster); }
  observe::SnapshotPtr cluster = std::make_shared<observe::ClusterSnapshot>();
  EventModel model;
  EventFilterModel filter;
  Tester tester{&model, Tester::FailureReportingMode::Fatal};
  Tester filterTester{&filter, Tester::FailureReportingMode::Fatal};
};

TEST_F(EventModelTest, TheNewestStandsAtTheTop) {
  append(
      batchOf({makeEvent(1, events::BrokerPaused{NodeId(1)}, ""), makeEvent(2, events::BrokerResumed{NodeId(1)}, "")}));
  EXPECT_EQ(model.index(0, EventModel::Event).data().toString(), QStringLiteral("BrokerResumed"));
  EXPECT_EQ(model.index(1, EventModel::Event).data().toString(), QStringLiteral("BrokerPaused"));
}

TEST_F(EventModelTest, NodesAreCalledWhatTheyAreInTheirCluster) {
  observe::ClusterSnapshot separate;
  for (int i = 1; i <= 4; ++i) separate.brokers.push_back({.id = NodeId(i), .isBroker = i < 4});
  cluster = std::make_shared<observe::ClusterSnapshot>(separate);
  append(
      batchOf({makeEvent(1, events::BrokerPaused{NodeId(4)}, ""), makeEvent(2, events::BrokerPaused{NodeId(3)}, "")}));
  EXPECT_EQ(model.index(1, EventModel::Where).data().toString(), QStringLiteral("controller 4"));
  EXPECT_EQ(model.index(0, EventModel::Where).data().toString(), QStringLiteral("broker 3"));
}

TEST_F(EventModelTest, WordsOfTheFilterMayStandAnywhereInTheRow) {
  append(batchOf(
      {makeEvent(1, events::BrokerPaused{NodeId(1)}, ""),
       makeEvent(2, events::LeaderElected{{}, NodeId(2), NodeId(1), LeaderEpoch(5), events::ElectionCause::Preferred}),
       makeEvent(3, events::LeaderElected{{}, NodeId(2), NodeId(1), LeaderEpoch(5), events::ElectionCause::Preferred},
                 "audit")}));
  filter.setWords(QStringLiteral("orders leader"));
  EXPECT_EQ(filter.rowCount(), 1);
  filter.setWords(QStringLiteral("PREFERRED"));
  EXPECT_EQ(filter.rowCount(), 2);
  filter.setWords(QStringLiteral("nowhere"));
  EXPECT_EQ(filter.rowCount(), 0);
  filter.setWords({});
  EXPECT_EQ(filter.rowCount(), 3);
}

TEST_F(EventModelTest, WhatAColumnMayCutIsInItsTooltip) {
  append(batchOf({makeEvent(1, events::SegmentRolled{}, "a<b")}));
  const auto tip = [this](int column) { return model.index(0, column).data(Qt::ToolTipRole).toString(); };
  EXPECT_EQ(tip(EventModel::Event), QStringLiteral("<p>SegmentRolled</p>"));
  EXPECT_EQ(tip(EventModel::Where), QStringLiteral("<p>a&lt;b-0</p>"));
  EXPECT_EQ(tip(EventModel::Source),
            QStringLiteral("<p>%1</p>").arg(model.index(0, EventModel::Source).data().toString()));
  EXPECT_FALSE(tip(EventModel::Detail).isEmpty());
}

TEST_F(EventModelTest, KindsCanBeChosen) {
  append(batchOf({makeEvent(1, events::BrokerPaused{NodeId(1)}, ""), makeEvent(2, events::SegmentRolled{})}));
  filter.setGroups({EventGroup::Log});
  ASSERT_EQ(filter.rowCount(), 1);
  EXPECT_EQ(filter.index(0, EventModel::Event).data().toString(), QStringLiteral("SegmentRolled"));
}

TEST_F(EventModelTest, WhileHeldNothingMovesAndWhatCameIsShownAfterwards) {
  append(batchOf({makeEvent(1, events::BrokerPaused{NodeId(1)}, "")}));
  model.setPaused(true);
  append(batchOf({makeEvent(2, events::BrokerResumed{NodeId(1)}, "")}));
  EXPECT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.heldBack(), 1u);
  model.setPaused(false);
  EXPECT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.heldBack(), 0u);
}

TEST_F(EventModelTest, ItForgetsTheOldest) {
  std::vector<observe::ObservedEvent> many;
  for (uint64_t i = 1; i <= EventModel::kCapacity + 10; ++i)
    many.push_back(makeEvent(i, events::BrokerPaused{NodeId(1)}, ""));
  append(batchOf(many));
  append(batchOf({makeEvent(9'999, events::BrokerResumed{NodeId(1)}, "")}));
  EXPECT_EQ(model.rowCount(), static_cast<int>(EventModel::kCapacity));
  EXPECT_EQ(model.index(0, 0).data(EventModel::NumberRole).toInt(), 9'999);
}

TEST_F(EventModelTest, ChattyKindsComeOnlyWhenWantedAndFrequentOnesAreThinned) {
  std::vector<observe::ObservedEvent> many;
  for (uint64_t i = 1; i <= 20; ++i)
    many.push_back(makeEvent(i, events::HighWatermarkAdvanced{{}, Offset(0), Offset(1), NodeId(2)}));
  many.push_back(makeEvent(21, events::BatchAppended{}));
  append(batchOf(many));
  append(batchOf({makeEvent(22, events::HighWatermarkAdvanced{}, "__cluster_metadata", 9'000)}));
  EXPECT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.leftOut(), 20u) << "nineteen of the watermark, an append";
  append(batchOf({makeEvent(22, events::IsrShrunk{})}));
  EXPECT_EQ(model.rowCount(), 2) << "what happens once is never left out";
  append(batchOf({makeEvent(23, events::HighWatermarkAdvanced{}, "orders", 5'000)}));
  EXPECT_EQ(model.rowCount(), 3) << "another moment";
  model.setChatty(true);
  append(batchOf(many));
  EXPECT_EQ(model.rowCount(), 3 + 21);
}

TEST_F(EventModelTest, WhatHappensToEachPartitionIsNotThinnedWithItsNeighbours) {
  const auto elected = [](uint64_t number, int partition) {
    observe::ObservedEvent event = makeEvent(
        number, events::LeaderElected{{}, NodeId(1), kNoNode, LeaderEpoch(0), events::ElectionCause::Created});
    event.partition = PartitionIndex(partition);
    return event;
  };
  append(batchOf({elected(1, 0), elected(2, 1), elected(3, 2)}));
  EXPECT_EQ(model.rowCount(), 3) << "each election has its row";
  observe::ObservedEvent parked = makeEvent(4, events::ProduceParked{});
  observe::ObservedEvent other = parked;
  other.partition = PartitionIndex(1);
  append(batchOf({parked, parked, other, other}));
  EXPECT_EQ(model.rowCount(), 5);
  EXPECT_EQ(model.leftOut(), 2u);
}

TEST_F(EventModelTest, ChatterNeverDrivesOutWhatHappensOnce) {
  model.setChatty(true);
  append(batchOf({makeEvent(1, events::BrokerPaused{NodeId(1)}, "")}));
  std::vector<observe::ObservedEvent> many;
  for (uint64_t i = 2; i < 2 + EventModel::kChatter + 100; ++i) many.push_back(makeEvent(i, events::BatchAppended{}));
  append(batchOf(many));
  EXPECT_EQ(model.rowCount(), static_cast<int>(EventModel::kChatter) + 1);
  EXPECT_EQ(model.index(model.rowCount() - 1, 0).data(EventModel::NumberRole).toInt(), 1);
  EXPECT_EQ(model.forgotten(), 100u) << "and it is told";
}

TEST_F(EventModelTest, LostAndMissedEventsAreCounted) {
  observe::EventBatch batch;
  batch.lost = 3;
  batch.missed = 4;
  QSignalSpy counts(&model, &EventModel::countsChanged);
  append(batch);
  EXPECT_EQ(model.lost(), 7u);
  EXPECT_EQ(counts.count(), 1);
}

TEST_F(EventModelTest, ExportsGiveOldestFirstAndQuoteWhatNeedsIt) {
  append(batchOf(
      {makeEvent(1, events::IsrShrunk{{}, {NodeId(1), NodeId(2)}, {NodeId(1)}, NodeId(2), PartitionEpoch(2), 3s}),
       makeEvent(2, events::BrokerPaused{NodeId(1)}, "")}));
  const QStringList csv = filter.toCsv().split(QLatin1Char('\n'));
  ASSERT_GE(csv.size(), 3);
  EXPECT_TRUE(csv[1].startsWith(QStringLiteral("1,"))) << csv[1].toStdString();
  const QRegularExpression zone(QStringLiteral("T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2}),"));
  EXPECT_TRUE(csv[1].contains(zone)) << csv[1].toStdString();
  EXPECT_TRUE(csv[1].contains(QStringLiteral("\"{1, 2} → {1}"))) << csv[1].toStdString();
  const QStringList json = filter.toJson().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(json.size(), 2);
  const QJsonObject second = QJsonDocument::fromJson(json[1].toUtf8()).object();
  EXPECT_EQ(second[QStringLiteral("event")].toString(), QStringLiteral("BrokerPaused"));
  EXPECT_EQ(second[QStringLiteral("fields")].toString(), QStringLiteral("node=1"));
}

class BeltTablesTest : public ::testing::Test {
 protected:
  void show(const observe::ClusterSnapshot& snapshot) {
    const auto* partition = observe::findPartition(snapshot, {"orders", PartitionIndex(0)});
    replicas.setPartition(snapshot, partition);
    batches.setPartition(partition);
  }
  ReplicaTableModel replicas;
  BatchTableModel batches;
  Tester replicaTester{&replicas, Tester::FailureReportingMode::Fatal};
  Tester batchTester{&batches, Tester::FailureReportingMode::Fatal};
};

TEST_F(BeltTablesTest, TellWhatTheBeltsShow) {
  show(fake::mockMoment(0));
  ASSERT_EQ(replicas.rowCount(), 3);
  EXPECT_EQ(replicas.index(2, ReplicaTableModel::Behind).data().toString(), QStringLiteral("23"));
  EXPECT_EQ(replicas.index(2, ReplicaTableModel::State).data().toString(), QStringLiteral("out of ISR"));
  EXPECT_EQ(batches.rowCount(), 20);
  EXPECT_EQ(batches.index(0, BatchTableModel::OnBrokers).data().toString(), QStringLiteral("1"));
  EXPECT_EQ(batches.index(0, BatchTableModel::Visible).data().toString(), QStringLiteral("not yet"));
  EXPECT_EQ(batches.index(2, BatchTableModel::OnBrokers).data().toString(), QStringLiteral("1, 2"));
  EXPECT_EQ(batches.index(2, BatchTableModel::Visible).data().toString(), QStringLiteral("yes"));
}

TEST_F(BeltTablesTest, FollowALiveClusterWithoutAReset) {
  fake::FakeCluster cluster;
  observe::LaunchOptions options;
  options.firstTopic = observe::TopicOptions{"orders", 1, -1, {}};
  cluster.launchNow(options);
  cluster.watch(TopicPartition{"orders", PartitionIndex(0)});
  cluster.setLoad(400);
  QSignalSpy reset(&batches, &QAbstractItemModel::modelReset);
  QSignalSpy removed(&batches, &QAbstractItemModel::rowsRemoved);
  for (int i = 0; i < 120; ++i) {
    cluster.advance(100ms);
    show(*cluster.snapshot());
  }
  EXPECT_EQ(reset.count(), 0);
  EXPECT_GT(removed.count(), 0) << "old batches leave";
  EXPECT_GT(batches.rowCount(), 300);
}

TEST_F(BeltTablesTest, ATruncatedLogLosesItsRows) {
  observe::ClusterSnapshot snapshot = fake::mockMoment(0);
  show(snapshot);
  for (observe::ReplicaSnapshot& replica : snapshot.topics[0].partitions[0].copies)
    while (!replica.batches.empty() && replica.batches.back().baseOffset >= Offset(1280)) replica.batches.pop_back();
  show(snapshot);
  EXPECT_EQ(batches.rowCount(), 17);
}

TEST(RecordModelTest, KeepsTheNewestAndShowsBytesThatAreNoText) {
  RecordModel model;
  Tester tester(&model, Tester::FailureReportingMode::Fatal);
  ReadRecord text;
  text.key = "k";
  text.keyIsNull = false;
  text.value = QByteArray("two\nlines");
  text.valueIsNull = false;
  ReadRecord binary;
  binary.value = QByteArray::fromHex("00ff10");
  binary.valueIsNull = false;
  model.append({text, binary});
  EXPECT_EQ(model.index(0, RecordModel::Value).data().toString(), QStringLiteral("two lines"));
  EXPECT_EQ(model.index(1, RecordModel::Value).data().toString(), QStringLiteral("00 ff 10"));
  EXPECT_EQ(model.index(1, RecordModel::Key).data().toString(), QStringLiteral("null"));
  model.append(std::vector<ReadRecord>(RecordModel::kCapacity));
  EXPECT_EQ(model.rowCount(), static_cast<int>(RecordModel::kCapacity));
  EXPECT_EQ(model.total(), static_cast<qint64>(RecordModel::kCapacity) + 2);
}

TEST(TimelinePastTest, RemembersWhoWasInTheIsrAndHowFarBehind) {
  TimelinePast past;
  for (int i = 240; i >= 0; --i) past.add(fake::mockMoment(i * 0.5), {});
  const TimelinePartition* orders = past.find({"orders", PartitionIndex(0)});
  ASSERT_NE(orders, nullptr);
  std::vector<TimelineStretch::State> states;
  for (const TimelineStretch& stretch : orders->copies.at(NodeId(1)).stretches) states.push_back(stretch.state);
  using State = TimelineStretch::State;
  EXPECT_THAT(states, ElementsAre(State::InSync, State::Down, State::Behind, State::InSync, State::InSync));
  EXPECT_TRUE(orders->copies.at(NodeId(1)).stretches.back().leader);
  const TimelineCopy& third = orders->copies.at(NodeId(3));
  EXPECT_EQ(third.stretches.back().state, State::Behind);
  EXPECT_EQ(third.lag.points().back().value, 23);
  const auto now = fake::mockMoment(0).wall;
  ASSERT_TRUE(third.leftIsr(now).has_value());
  EXPECT_NEAR(std::chrono::duration<double>(now - *third.leftIsr(now)).count(), 2.4, 0.6);
  EXPECT_FALSE(third.leftIsr(now - 10s).has_value()) << "not yet";
}

// A broker remembers where a consumer stood when another one led, for as long as their connection lives.
TEST(Readers, AConsumerThatWentToAnotherLeaderStandsOnce) {
  observe::ClusterSnapshot cluster;
  const TopicPartition orders{"orders", PartitionIndex(0)};
  const auto reads = [&](const char* client, int64_t at, platform::Duration since, const TopicPartition& partition) {
    observe::ReaderSnapshot reader;
    reader.client = client;
    reader.partition = partition;
    reader.fetchOffset = Offset(at);
    reader.sinceFetch = since;
    cluster.readers.push_back(reader);
  };
  reads("kcat", 100, 12s, orders);
  reads("kcat", 150, 20ms, orders);
  reads("slow", 90, 25s, orders);
  reads("kcat", 7, 12s, {"orders", PartitionIndex(1)});
  const auto offsets = [](const std::vector<const observe::ReaderSnapshot*>& readers) {
    std::vector<int64_t> all;
    for (const auto* reader : readers) all.push_back(reader->fetchOffset.value());
    return all;
  };
  EXPECT_THAT(offsets(readersOf(cluster, orders)), ElementsAre(150, 90));
  EXPECT_THAT(offsets(readersOf(cluster)), ElementsAre(150, 90, 7));
  // Two that bear one name and both read are two.
  reads("kcat", 40, 400ms, orders);
  EXPECT_THAT(offsets(readersOf(cluster, orders)), ElementsAre(150, 90, 40));
}

TEST(Bootstrap, AllBrokersAreToldAndTheFirstThatAnswersIsShown) {
  observe::ClusterSnapshot cluster = fake::mockMoment(0);
  ASSERT_EQ(cluster.brokers.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    cluster.brokers[i].listener = {"127.0.0.1", static_cast<uint16_t>(19'092 + i)};
    cluster.brokers[i].state = observe::BrokerState::Running;
  }
  EXPECT_EQ(allAddresses(cluster), QStringLiteral("127.0.0.1:19092,127.0.0.1:19093,127.0.0.1:19094"));
  EXPECT_EQ(firstAddress(cluster), QStringLiteral("127.0.0.1:19092"));
  cluster.brokers[0].state = observe::BrokerState::Killed;
  cluster.brokers[1].state = observe::BrokerState::Paused;
  EXPECT_EQ(firstAddress(cluster), QStringLiteral("127.0.0.1:19094"));
  EXPECT_EQ(allAddresses(cluster).count(QLatin1Char(',')), 2);
}

TEST(RememberedMemory, ManySnapshotsStayWithinTheBoundAndAreGivenBack) {
  observe::ClusterSnapshot cluster = fake::mockMoment(0);
  const size_t one = observe::bytesOf(cluster);
  observe::Recording recording({.bytes = 20 * one});
  for (int i = 0; i < 100; ++i) {
    cluster.at += 1s;
    cluster.wall += 1s;
    recording.add(cluster);
  }
  EXPECT_LE(recording.bytes(), 20 * one);
  EXPECT_GT(recording.snapshots().size(), 10u);
  EXPECT_EQ(recording.snapshots().back().cluster->at, cluster.at) << "the oldest go";
  recording.clear();
  EXPECT_EQ(recording.bytes(), 0u);
}

}  // namespace
}  // namespace tidemark::widgets
