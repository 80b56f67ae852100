#include <gtest/gtest.h>

#include <QClipboard>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "belts/belts_view.h"
#include "dialogs/topic_dialog.h"
#include "views/cluster_page.h"
#include "views/event_panel.h"
#include "views/inspector.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

class MainWindowTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    cluster.setLoad(40);
    for (int i = 0; i < 20; ++i) run(100ms);
  }
  QPushButton* button(const QString& text) {
    for (QPushButton* one : window->inspector().findChildren<QPushButton*>())
      if (one->isVisible() && one->text().contains(text)) return one;
    return nullptr;
  }
  BeltsView& belts() { return window->clusterPage().belts(); }
};

TEST_F(MainWindowTest, ShowsTheFirstTopicAndItsLeader) {
  ASSERT_TRUE(window->showsCluster());
  ASSERT_TRUE(belts().partition().has_value());
  EXPECT_EQ(*belts().partition(), (TopicPartition{"orders", PartitionIndex(0)}));
  EXPECT_EQ(cluster.watched(), belts().partition()) << "only the partition that is shown is asked for in detail";
  EXPECT_EQ(window->inspector().picked().what, Picked::What::Broker);
}

TEST_F(MainWindowTest, ButtonsThatDoNotApplyAreAbsent) {
  window->pick({Picked::What::Broker, NodeId(2), {}});
  EXPECT_NE(button(QStringLiteral("Pause")), nullptr);
  EXPECT_EQ(button(QStringLiteral("Resume")), nullptr);
  QTest::mouseClick(button(QStringLiteral("Pause")), Qt::LeftButton);
  run(20ms);
  EXPECT_EQ(cluster.commands.back(), "pause 2");
  EXPECT_EQ(button(QStringLiteral("Pause")), nullptr);
  EXPECT_NE(button(QStringLiteral("Resume")), nullptr);
}

TEST_F(MainWindowTest, AKilledLeaderLeavesTheIsrAndAnotherLeads) {
  window->pick({Picked::What::Broker, NodeId(1), {}});
  QTest::mouseClick(button(QStringLiteral("Kill")), Qt::LeftButton);
  for (int i = 0; i < 30; ++i) run(100ms);
  const auto* partition = observe::findPartition(*window->bridge().snapshot(), *belts().partition());
  ASSERT_NE(partition, nullptr);
  EXPECT_NE(partition->leader, NodeId(1));
  EXPECT_EQ(partition->isr.size(), 2u);
  EXPECT_NE(button(QStringLiteral("Start again")), nullptr);
  bool told = false;
  const auto& events = window->events().model();
  for (int row = 0; row < events.rowCount(); ++row)
    told = told || events.index(row, EventModel::Event).data().toString() == QStringLiteral("BrokerDown");
  EXPECT_TRUE(told);
}

TEST_F(MainWindowTest, BracketsGoThroughThePartitions) {
  QTest::keyClick(window.get(), Qt::Key_BracketRight);
  EXPECT_EQ(belts().partition()->partition, PartitionIndex(1));
  QTest::keyClick(window.get(), Qt::Key_BracketLeft);
  QTest::keyClick(window.get(), Qt::Key_BracketLeft);
  EXPECT_EQ(belts().partition()->partition, PartitionIndex(2));
}

TEST_F(MainWindowTest, TShowsTheTableTwinAndBack) {
  QTest::keyClick(window.get(), Qt::Key_T);
  EXPECT_TRUE(window->clusterPage().showsTable());
  const auto tables = window->clusterPage().findChildren<QTableView*>();
  ASSERT_EQ(tables.size(), 2);
  EXPECT_EQ(tables[0]->model()->rowCount(), 3);
  EXPECT_GT(tables[1]->model()->rowCount(), 0);
  QTest::keyClick(window.get(), Qt::Key_T);
  EXPECT_FALSE(window->clusterPage().showsTable());
}

TEST_F(MainWindowTest, CtrlCCopiesTheReplicasOrTheSelectedBatch) {
  QTest::keyClick(&belts(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text().count(QLatin1Char('\n')), 4) << "heads and three replicas";
  QTest::qWait(200);
  const BeltsLayout layout = belts().layoutOfBelts();
  const double end =
      layout.beltLeft() +
      belts().viewport().x(
          static_cast<double>(
              observe::findPartition(*window->bridge().snapshot(), *belts().partition())->logEnd.value()) -
              1,
          1'000'000);
  QTest::mouseClick(&belts(), Qt::LeftButton, {}, QPoint(qRound(end), qRound(layout.lane(0).top() + 50)));
  QTest::keyClick(&belts(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text().count(QLatin1Char('\n')), 2) << "heads and one batch";
}

TEST_F(MainWindowTest, ScrollingBackStopsFollowingAndFFollowsAgain) {
  QTest::keyClick(&belts(), Qt::Key_Left);
  EXPECT_FALSE(belts().viewport().followsTail());
  QTest::keyClick(&belts(), Qt::Key_F);
  EXPECT_TRUE(belts().viewport().followsTail());
}

TEST_F(MainWindowTest, TheFrameTimerStopsWhenTheClusterIsIdle) {
  cluster.setLoad(0);
  for (int i = 0; i < 20; ++i) run(100ms);
  EXPECT_TRUE(waitFor([this] { return !window->bridge().isTicking(); }));
}

TEST_F(MainWindowTest, StoppingTheClusterShowsTheFirstPageAgain) {
  cluster.shutdown([](const Result<void>&) {});
  run(20ms);
  EXPECT_FALSE(window->showsCluster());
  for (const QDockWidget* dock : window->findChildren<QDockWidget*>()) EXPECT_FALSE(dock->isVisible());
  launch();
  run(20ms);
  EXPECT_TRUE(window->showsCluster());
  for (const QDockWidget* dock : window->findChildren<QDockWidget*>()) EXPECT_TRUE(dock->isVisible());
}

TEST_F(MainWindowTest, ATopicThatExistsIsRefusedBeforeItIsSent) {
  TopicDialog dialog(window->bridge(), window.get());
  auto* name = dialog.findChildren<QLineEdit*>().first();
  name->setText(QStringLiteral("orders"));
  EXPECT_FALSE(dialog.problem().isEmpty());
  name->setText(QStringLiteral("payments"));
  EXPECT_TRUE(dialog.problem().isEmpty());
  EXPECT_EQ(dialog.topic().replicationFactor, 3);
}

class LayoutTest : public WindowTest {
 protected:
  QTemporaryDir folder;
  QSettings settings{folder.filePath(QStringLiteral("window.ini")), QSettings::IniFormat};
  QDockWidget* dock(const QString& name) { return window->findChild<QDockWidget*>(name); }
};

TEST_F(LayoutTest, GeometryAndDocksSurviveARestart) {
  launch();
  makeWindow(&settings);
  run(20ms);
  window->resize(1500, 900);
  dock(QStringLiteral("inspector"))->hide();
  cluster.shutdown([](const Result<void>&) {});
  run(20ms);
  window->close();
  launch();
  window = std::make_unique<MainWindow>(cluster, &settings);
  window->show();
  run(20ms);
  EXPECT_EQ(window->size(), QSize(1500, 900));
  EXPECT_FALSE(dock(QStringLiteral("inspector"))->isVisible());
  EXPECT_TRUE(dock(QStringLiteral("events"))->isVisible());
  window->resetLayout();
  EXPECT_TRUE(dock(QStringLiteral("inspector"))->isVisible()) << "back to the first start";
}

TEST_F(LayoutTest, ADamagedLayoutIsIgnoredAndForgotten) {
  settings.setValue(QStringLiteral("layout"), QByteArray("rubbish"));
  settings.setValue(QStringLiteral("geometry"), QByteArray("rubbish"));
  launch();
  makeWindow(&settings);
  run(20ms);
  EXPECT_FALSE(settings.contains(QStringLiteral("layout")));
  EXPECT_FALSE(settings.contains(QStringLiteral("geometry")));
  for (const char* name : {"cluster", "inspector", "events"})
    EXPECT_TRUE(dock(QLatin1String(name))->isVisible()) << name;
}

TEST_F(LayoutTest, TheChosenColoursSurviveARestart) {
  makeWindow(&settings);
  Theme::instance().setChoice(ThemeChoice::Dark);
  window->close();
  Theme::instance().setChoice(ThemeChoice::Automatic);
  window = std::make_unique<MainWindow>(cluster, &settings);
  EXPECT_EQ(Theme::instance().choice(), ThemeChoice::Dark);
  Theme::instance().setChoice(ThemeChoice::Automatic);
}

}  // namespace
}  // namespace tidemark::widgets
