// Pictures of states that are rare and must not be ugly: a partition without a leader, a copy that is offline, a record
// with several headers; what a designer would object to is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <QDialog>
#include <QFile>
#include <QListView>
#include <QTableView>
#include <QTest>

#include "belts/belts_view.h"
#include "faults/fault_json.h"
#include "faults/faults_panel.h"
#include "models/belt_tables.h"
#include "records/batch_builder.h"
#include "segments/batch_panel.h"
#include "segments/field_flow.h"
#include "segments_fixture.h"
#include "text/format.h"
#include "timeline/timeline_page.h"
#include "views/fact_list.h"
#include "views/inspector.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class StatesPictureTest : public SegmentsTest, public ::testing::WithParamInterface<ThemeChoice> {
 protected:
  void SetUp() override { Theme::instance().setChoice(GetParam()); }
  void TearDown() override {
    // Nobody looks at it in other colours any more.
    window.reset();
    Theme::instance().setChoice(ThemeChoice::Automatic);
  }
  void keep(QWidget& widget, const char* name) {
    const QString theme = GetParam() == ThemeChoice::Dark ? QStringLiteral("dark") : QStringLiteral("light");
    const QString scale = widget.devicePixelRatio() > 1 ? QStringLiteral("@2x") : QString();
    keepPicture(widget, QStringLiteral("%1-%2%3").arg(QLatin1String(name), theme, scale));
  }
  std::string facts() { return window->inspector().findChild<FactList*>()->toText().toStdString(); }
  /// A folder with the log of a partition: one batch, its second record has four headers.
  QString logWithHeaders() {
    const auto header = [](const char* key, const char* value) {
      return records::RecordHeader{asBytes(key), value == nullptr ? std::nullopt : std::optional(asBytes(value))};
    };
    const std::vector<records::RecordHeader> several{
        header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        header("content-type", "application/json"), header("retry", nullptr), header("tenant", "berlin")};
    records::BatchBuilder builder({.baseOffset = Offset(0), .leaderEpoch = LeaderEpoch(4)});
    builder.append(1'790'000'000'000, asBytes("cust-17"), asBytes(R"({"order":88031,"total":42.10})"));
    builder.append(1'790'000'000'004, asBytes("cust-03"), asBytes(R"({"order":88032,"total":9.99})"), several);
    builder.append(1'790'000'000'009, asBytes("cust-44"), asBytes(R"({"order":88033,"total":120.00})"));
    const ByteVector bytes = builder.build();
    const QString folder = m_copies.filePath(QStringLiteral("orders-0"));
    QDir().mkpath(folder);
    QFile file(folder + QStringLiteral("/00000000000000000000.log"));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size()));
    return folder;
  }
};

TEST_P(StatesPictureTest, APartitionWithoutALeaderTellsWhoHasHowMuchOfIt) {
  launch();
  makeWindow();
  playMock();
  observe::ClusterSnapshot now = fake::mockMoment(0);
  for (observe::BrokerSnapshot& broker : now.brokers)
    if (broker.id != NodeId(2)) broker.state = observe::BrokerState::Killed;
  observe::PartitionSnapshot& partition = now.topics[0].partitions[0];
  partition.leader = kNoNode;
  partition.isr.clear();
  partition.highWatermark = partition.lastStable = partition.logStart = partition.logEnd = kNoOffset;
  for (observe::ReplicaSnapshot& copy : partition.copies) {
    copy.leader = copy.inSync = false;
    copy.online = copy.broker == NodeId(2);
    copy.eligible = copy.broker == NodeId(1);
  }
  cluster.show(std::move(now));
  window->bridge().refresh();
  window->pick({Picked::What::Partition, {}, {"orders", PartitionIndex(0)}});
  QCoreApplication::processEvents();
  keep(*window, "leaderless");
  EXPECT_THAT(facts(), HasSubstr("Leader\tnone"));
  EXPECT_THAT(facts(), HasSubstr("Eligible leader replicas\t{1}"));
  EXPECT_THAT(facts(), HasSubstr("Log end on broker 1, killed\t" + offsetText(Offset(1291)).toStdString()));
  EXPECT_THAT(facts(), HasSubstr("Log end on broker 2\t" + offsetText(Offset(1289)).toStdString()));
  EXPECT_THAT(facts(), Not(HasSubstr("On the leader"))) << "there is none";
  // What was committed is drawn as committed: a batch is filled with the colour of its epoch.
  BeltsView& belts = window->clusterPage().belts();
  ASSERT_TRUE(waitFor([&belts] { return belts.isSettled(); }));
  const QImage image = belts.grab().toImage();
  const BeltsLayout layout = belts.layoutOfBelts();
  const auto& first = observe::findPartition(*window->bridge().snapshot(), {"orders", PartitionIndex(0)})->copies[0];
  const auto xOf = [&](Offset offset) {
    return layout.beltLeft() + belts.viewport().x(beltPlace(offset), 1'000'000'000);
  };
  const auto seen = std::ranges::find_if(
      first.batches, [&](const observe::BatchSnapshot& one) { return xOf(one.baseOffset) > layout.beltLeft() + 10; });
  ASSERT_NE(seen, first.batches.end());
  ASSERT_LT(seen->lastOffset, first.highWatermark);
  // Between its frame and its first record.
  const QPointF inside = QPointF(xOf(seen->baseOffset) + 4, layout.lane(0).top() + 37) * image.devicePixelRatio();
  EXPECT_EQ(QColor(image.pixel(inside.toPoint())), colors().epoch(seen->epoch));
}

TEST_P(StatesPictureTest, WhatABrokerLostWithItsPowerIsSeenOnItsBeltAndInWords) {
  launch();
  makeWindow();
  playMock();
  observe::ClusterSnapshot now = fake::mockMoment(0);
  std::ranges::find(now.brokers, NodeId(2), &observe::BrokerSnapshot::id)->state = observe::BrokerState::Killed;
  observe::FaultSnapshot& loss = now.faults.emplace_back();
  loss.id = 40;
  loss.fault = *faults::parseFault(R"({"kind": "power-loss", "target": "broker 2"})");
  loss.broker = NodeId(2);
  loss.since = 4s;
  loss.fired = 1;
  loss.lasting.addCut("/tmp/tidemark-a1/broker-2/orders-0/00000000000000001263.log", 18'240);
  loss.lasting.addCut("/tmp/tidemark-a1/broker-2/orders-0/00000000000000001263.timeindex", 36);
  observe::ReplicaSnapshot& copy = now.topics[0].partitions[0].copies[1];
  copy.online = copy.inSync = false;
  copy.lostTo = copy.logEnd;
  copy.logEnd = Offset(1275);
  std::erase_if(copy.batches, [&copy](const observe::BatchSnapshot& one) { return one.lastOffset >= copy.logEnd; });
  const observe::ReplicaSnapshot cut = copy;
  cluster.show(std::move(now));
  window->bridge().refresh();
  window->showFaults();
  window->pick({Picked::What::Partition, {}, {"orders", PartitionIndex(0)}});
  window->faults().list().scrollToBottom();
  BeltsView& belts = window->clusterPage().belts();
  ASSERT_TRUE(waitFor([&belts] { return belts.isSettled(); }));
  keep(*window, "power-loss");
  const std::string lost = fmt::format("{} – {}, 14 records", offsetText(Offset(1275)).toStdString(),
                                       offsetText(Offset(1288)).toStdString());
  EXPECT_THAT(facts(), HasSubstr("Broker 2 lost with its power\t" + lost));
  ReplicaTableModel table;
  const observe::SnapshotPtr shown = window->bridge().snapshot();
  table.setPartition(*shown, observe::findPartition(*shown, {"orders", PartitionIndex(0)}));
  EXPECT_EQ(table.index(1, ReplicaTableModel::State).data().toString().toStdString(),
            "killed, lost with its power: " + lost);
  // A line goes through what is gone.
  const QImage image = belts.grab().toImage();
  const BeltsLayout layout = belts.layoutOfBelts();
  const auto xOf = [&](Offset offset) {
    return layout.beltLeft() + belts.viewport().x(beltPlace(offset), 1'000'000'000);
  };
  const auto colourAt = [&](double x, double down) {
    return QColor(image.pixel((QPointF(x, layout.lane(1).top() + down) * image.devicePixelRatio()).toPoint()));
  };
  EXPECT_EQ(colourAt((xOf(cut.logEnd) + xOf(cut.lostTo)) / 2, 51), colors().bad);
  EXPECT_NE(colourAt(xOf(cut.logEnd) - 6, 51), colors().bad);
  // Wherever one looks, it is told.
  belts.viewport().scrollBy(-900, 1'000'000'000, 0);
  window->resize(1280, 800);
  QCoreApplication::processEvents();
  keep(*window, "power-loss-elsewhere");
}

TEST_P(StatesPictureTest, ARecordWithSeveralHeadersIsShownWithAllOfThem) {
  makeWindow();
  for (const QSize size : {QSize(1280, 800), QSize(1680, 1020)}) {
    window->resize(size);
    open(logWithHeaders());
    search("1");
    QCoreApplication::processEvents();
    settle();
    keep(*window, size.width() == 1280 ? "headers-narrow" : "headers");
    // The records are in sight beside all those fields.
    const QTableView& records = page().batchPanel().records();
    if (size.width() < 1680) continue;
    EXPECT_LE(records.mapTo(window.get(), QPoint(0, records.rowViewportPosition(1) + 24)).y(), window->height())
        << size.width();
  }
  BatchPanel& panel = page().batchPanel();
  panel.showAll(1);
  auto* dialog = panel.findChild<QDialog*>(QStringLiteral("value"));
  ASSERT_NE(dialog, nullptr);
  QCoreApplication::processEvents();
  keep(*dialog, "headers-dialog");
  const auto* headers = dialog->findChild<QTableView*>(QStringLiteral("headers"));
  ASSERT_NE(headers, nullptr);
  QStringList told;
  for (int row = 0; row < headers->model()->rowCount(); ++row)
    told << headers->model()->index(row, 0).data().toString() + QLatin1Char('=') +
                headers->model()->index(row, 1).data().toString();
  EXPECT_EQ(told.join(QLatin1Char(' ')).toStdString(),
            "traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 content-type=application/json "
            "retry=null tenant=berlin");
}

INSTANTIATE_TEST_SUITE_P(Themes, StatesPictureTest, ::testing::Values(ThemeChoice::Light, ThemeChoice::Dark));

}  // namespace
}  // namespace tidemark::widgets
