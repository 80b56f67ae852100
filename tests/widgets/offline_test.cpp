// A copy whose log directory failed: its broker runs, its log does not, and every view says so and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belts/belts_view.h"
#include "map/map_page.h"
#include "map/map_view.h"
#include "models/belt_tables.h"
#include "models/cluster_tree_model.h"
#include "timeline/timeline_page.h"
#include "views/cluster_page.h"
#include "views/cluster_tree.h"
#include "views/fact_list.h"
#include "views/inspector.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using State = TimelineStretch::State;

const TopicPartition kBroken{"orders", PartitionIndex(0)};
constexpr const char* kReason =
    "writing /data/broker-2.disk-2/orders-0/00000000000000001263.log failed: Input/output error";

class OfflineTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
  }
  /// As the design's picture, but that the copy on broker 2 is offline, after the two minutes that led to it.
  void goOffline() {
    for (int i = 240; i > 0; --i) {
      cluster.show(fake::mockMoment(i * 0.5));
      window->bridge().refresh();
    }
    observe::ClusterSnapshot now = fake::mockMoment(0);
    for (observe::BrokerSnapshot& broker : now.brokers)
      if (broker.id == NodeId(2)) broker.failedDirectories.push_back({"/data/broker-2.disk-2", kReason});
    for (observe::ReplicaSnapshot& copy : now.topics[0].partitions[0].copies)
      if (copy.broker == NodeId(2)) copy.offlineReason = kReason;
    events::Event event;
    event.at = now.at;
    event.wall = now.wall - 20ms;
    event.broker = NodeId(2);
    event.payload = events::LogDirectoryFailed{"/data/broker-2.disk-2", kReason};
    cluster.append(event, {}, PartitionIndex());
    cluster.show(std::move(now));
    window->bridge().refresh();
    QCoreApplication::processEvents();
  }
  QString facts() { return window->inspector().findChild<FactList*>()->toText(); }
};

TEST_F(OfflineTest, TheBeltsShowItAsDownWithTheReason) {
  goOffline();
  BeltsView& belts = window->clusterPage().belts();
  const QRectF lane = belts.layoutOfBelts().lane(1);
  const QImage image = belts.grab().toImage();
  const double ratio = image.devicePixelRatio();
  // The shape of its state stands at the left.
  const QPointF shape = QPointF(lane.left() + 14 + 5, lane.top() + 72) * ratio;
  EXPECT_EQ(QColor(image.pixel(shape.toPoint())), colors().bad) << "a cross";
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("offline-belts"));
  ReplicaTableModel table;
  const observe::SnapshotPtr now = window->bridge().snapshot();
  table.setPartition(*now, observe::findPartition(*now, kBroken));
  const std::string state = table.index(1, ReplicaTableModel::State).data().toString().toStdString();
  EXPECT_THAT(state, HasSubstr("offline"));
  EXPECT_THAT(state, HasSubstr(kReason));
  EXPECT_EQ(table.index(0, ReplicaTableModel::State).data().toString(), QStringLiteral("in sync"));
}

TEST_F(OfflineTest, TheInspectorTellsItOfTheBrokerAndOfThePartition) {
  goOffline();
  window->pick({Picked::What::Broker, NodeId(2), {}});
  EXPECT_EQ(window->inspector().findChild<StatePill*>()->accessibleName(), QStringLiteral("dir offline"));
  EXPECT_THAT(facts().toStdString(), HasSubstr("Log directory offline\t/data/broker-2.disk-2"));
  EXPECT_THAT(facts().toStdString(), HasSubstr(kReason));
  EXPECT_THAT(facts().toStdString(), HasSubstr("orders-0\toffline"));
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("offline-broker"));
  window->pick({Picked::What::Partition, {}, kBroken});
  EXPECT_THAT(facts().toStdString(), HasSubstr(std::string("Offline on broker 2\t") + kReason));
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("offline-partition"));
  window->pick({Picked::What::Broker, NodeId(1), {}});
  EXPECT_THAT(facts().toStdString(), testing::Not(HasSubstr("offline")));
}

TEST_F(OfflineTest, TheTreeDoesNotCallTheBrokerFine) {
  run(50ms);
  const QModelIndex before = window->tree().clusterModel().broker(NodeId(2));
  EXPECT_EQ(static_cast<StateShape>(before.data(ClusterTreeModel::ShapeRole).toInt()), StateShape::Disc);
  goOffline();
  const QModelIndex row = window->tree().clusterModel().broker(NodeId(2));
  EXPECT_EQ(static_cast<StateShape>(row.data(ClusterTreeModel::ShapeRole).toInt()), StateShape::HalfDisc);
  EXPECT_THAT(row.data(ClusterTreeModel::NoteRole).toString().toStdString(), HasSubstr("dir offline"));
}

TEST_F(OfflineTest, TheMapMarksTheBrokerWithAShapeAWordAndTheReason) {
  goOffline();
  window->clusterPage().showView(ClusterPage::View::Map);
  QCoreApplication::processEvents();
  MapView& map = window->clusterPage().map().map();
  const MapPick broken{MapPick::What::Broker, NodeId(2), {}, {}};
  const std::string told = map.textOf(broken).toStdString();
  EXPECT_THAT(told, HasSubstr(std::string("log directory /data/broker-2.disk-2 failed: ") + kReason));
  EXPECT_THAT(map.textOf({MapPick::What::Broker, NodeId(1), {}, {}}).toStdString(), testing::Not(HasSubstr("failed")));
  map.pick(broken);
  EXPECT_EQ(map.accessibleDescription().toStdString(), told);
  map.pick({});
  const QImage image = map.grab().toImage();
  const auto has = [&](NodeId id, const QRectF& place, const QColor& color) {
    const QRectF area = place.translated(map.layoutOfMap().broker(id).topLeft());
    const double ratio = image.devicePixelRatio();
    for (int y = qRound(area.top() * ratio); y < area.bottom() * ratio; ++y)
      for (int x = qRound(area.left() * ratio); x < area.right() * ratio; ++x)
        if (QColor(image.pixel(x, y)) == color) return true;
    return false;
  };
  const QRectF state(12, 15, 16, 16);
  const QRectF icon(12, 38, 14, 14);
  const QRectF word(28, 38, 120, 16);
  EXPECT_TRUE(has(NodeId(1), state, colors().ok));
  EXPECT_FALSE(has(NodeId(2), state, colors().ok)) << "it is not called fine";
  EXPECT_TRUE(has(NodeId(2), state, colors().warn));
  EXPECT_TRUE(has(NodeId(2), icon, colors().bad));
  EXPECT_TRUE(has(NodeId(2), word, colors().badText));
  EXPECT_FALSE(has(NodeId(1), icon, colors().bad));
  EXPECT_FALSE(has(NodeId(1), word, colors().badText));
  keepPicture(*window, QStringLiteral("offline-map"));
  window->resize(1100, 760);
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("offline-map-small"));
}

TEST_F(OfflineTest, TheTimelineShowsSinceWhenAndWhy) {
  goOffline();
  window->clusterPage().showView(ClusterPage::View::Timeline);
  const TimelinePast& past = window->travel().past();
  const TimelineCopy& copy = past.find(kBroken)->copies.at(NodeId(2));
  EXPECT_EQ(copy.stretches.back().state, State::Offline);
  EXPECT_EQ(copy.stretches.back().begin, window->bridge().newest()->wall);
  EXPECT_EQ(past.find(kBroken)->copies.at(NodeId(1)).stretches.back().state, State::InSync);
  std::optional<CauseWords> words;
  for (const TimelineMark& mark : marksOf(past, kBroken))
    if (mark.broker == NodeId(2) && !mark.ofPartition && mark.fault == 0)
      words = causeOf(mark, past, kBroken, *window->bridge().snapshot());
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(words->title, QStringLiteral("A log directory of 2 failed"));
  EXPECT_EQ(words->shape, StateShape::Cross);
  EXPECT_THAT(words->lines.join(QLatin1Char('\n')).toStdString(), HasSubstr(kReason))
      << "the event holds the beginning of it only";
  QCoreApplication::processEvents();
  keepPicture(*window, QStringLiteral("offline-timeline"));
}

}  // namespace
}  // namespace tidemark::widgets
