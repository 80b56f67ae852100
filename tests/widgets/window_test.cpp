#include <gtest/gtest.h>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QDialog>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "belts/belts_view.h"
#include "dialogs/topic_dialog.h"
#include "launch/launch_page.h"
#include "models/cluster_tree_model.h"
#include "views/cluster_page.h"
#include "views/event_panel.h"
#include "views/fact_list.h"
#include "views/inspector.h"
#include "views/status_line.h"
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
    pass(2s);
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

TEST_F(MainWindowTest, ButtonsOfABrokerKeepTheirPlaceAndAreWhollyInSight) {
  window->resize(1440, 900);
  QCoreApplication::processEvents();
  window->pick({Picked::What::Broker, NodeId(2), {}});
  const auto placeOf = [this](const char* text) {
    const QPushButton* one = button(QLatin1String(text));
    return one == nullptr ? QRect() : QRect(one->mapTo(&window->inspector(), QPoint(0, 0)), one->size());
  };
  const QRect kill = placeOf("Kill");
  const QRect stop = placeOf("Stop");
  const QRect pause = placeOf("Pause");
  const QRect restart = placeOf("Restart");
  ASSERT_FALSE(kill.isNull());
  for (const QRect& place : {kill, stop, pause, restart}) EXPECT_TRUE(window->inspector().rect().contains(place));
  cluster.pauseBroker(NodeId(2), [](const Result<void>&) {});
  pass(4s);
  EXPECT_EQ(placeOf("Kill"), kill);
  EXPECT_EQ(placeOf("Resume"), pause) << "opposites share a place";
  EXPECT_EQ(placeOf("Stop"), stop);
  EXPECT_FALSE(button(QStringLiteral("Stop"))->isEnabled());
  window->pick({Picked::What::Broker, NodeId(1), {}});
  EXPECT_EQ(placeOf("Kill"), kill) << "another broker, the same place";
  cluster.killBroker(NodeId(1), [](const Result<void>&) {});
  run(20ms);
  EXPECT_EQ(placeOf("Start again"), restart);
}

TEST_F(MainWindowTest, TheFocusStaysWithTheBrokerAfterACommand) {
  window->pick({Picked::What::Broker, NodeId(2), {}});
  button(QStringLiteral("Pause"))->setFocus(Qt::TabFocusReason);
  QTest::keyClick(button(QStringLiteral("Pause")), Qt::Key_Space);
  run(20ms);
  EXPECT_EQ(QApplication::focusWidget(), button(QStringLiteral("Resume")));
  button(QStringLiteral("Kill"))->setFocus(Qt::TabFocusReason);
  QTest::keyClick(button(QStringLiteral("Kill")), Qt::Key_Space);
  run(20ms);
  EXPECT_EQ(QApplication::focusWidget(), button(QStringLiteral("Start again")));
}

TEST_F(MainWindowTest, ThePurgatoryIsInSightOnAnUsualScreen) {
  window->resize(1440, 900);
  QCoreApplication::processEvents();
  run(20ms);
  EXPECT_LE(belts().height(), belts().parentWidget()->height()) << "nothing of the belts lies below the fold";
  EXPECT_LE(belts().layoutOfBelts().purgatory().bottom(), belts().height());
}

TEST_F(MainWindowTest, TooFewReplicasInSyncAreToldInWords) {
  for (const int broker : {2, 3}) cluster.killBroker(NodeId(broker), [](const Result<void>&) {});
  pass(6s);
  const auto* topic = observe::findTopic(*window->bridge().snapshot(), "orders");
  ASSERT_NE(topic, nullptr);
  ASSERT_TRUE(std::ranges::any_of(topic->partitions,
                                  [&](const auto& partition) { return observe::isBelowMinInSync(*topic, partition); }));
  bool told = false;
  for (const QWidget* widget : window->findChildren<QWidget*>())
    told = told || widget->accessibleName().contains(QStringLiteral("below min.insync"));
  EXPECT_TRUE(told);
}

TEST_F(MainWindowTest, AnEndFromOutsideAsksNothingAndStopsTheBrokersInControl) {
  bool ended = false;
  window->endInControl([&ended] { ended = true; });
  EXPECT_EQ(cluster.commands.back(), "shutdown");
  EXPECT_FALSE(ended) << "the brokers hand over first";
  cluster.advance(20ms);
  EXPECT_TRUE(waitFor([&ended] { return ended; }));
}

TEST_F(MainWindowTest, AnEventThatIsReadKeepsItsPlaceAndTheNewestComeBackOnceItIsGone) {
  window->events().model().setChatty(true);
  uint64_t sequence = 0;
  const auto append = [&](int count) {
    for (int i = 0; i < count; ++i)
      cluster.append(
          {.sequence = ++sequence, .at = {}, .wall = {}, .broker = NodeId(1), .payload = events::BatchAppended{}},
          "orders", PartitionIndex(0));
    window->bridge().refresh();
  };
  append(500);
  QTableView* table = window->events().table();
  QCoreApplication::processEvents();
  const int height = table->verticalHeader()->defaultSectionSize();
  table->verticalScrollBar()->setValue(10 * height);
  const QModelIndex read = table->model()->index(10, 0);
  const auto number = read.data(EventModel::NumberRole);
  table->setCurrentIndex(read);
  append(7);
  const int top = table->verticalScrollBar()->value() / height;
  EXPECT_EQ(table->model()->index(top, 0).data(EventModel::NumberRole), number);
  for (int i = 0; i < 10; ++i) append(500);
  EXPECT_EQ(table->verticalScrollBar()->value(), 0) << "it has fallen off: the newest are shown again";
  table->verticalScrollBar()->setValue(50 * height);
  QTest::keyClick(table, Qt::Key_Home);
  EXPECT_EQ(table->verticalScrollBar()->value(), 0);
}

TEST_F(MainWindowTest, AKilledLeaderLeavesTheIsrAndAnotherLeads) {
  window->pick({Picked::What::Broker, NodeId(1), {}});
  QTest::mouseClick(button(QStringLiteral("Kill")), Qt::LeftButton);
  pass(3s);
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
  // The other views have tables as well, out of sight.
  QList<QTableView*> tables;
  for (QTableView* table : window->clusterPage().findChildren<QTableView*>())
    if (table->isVisible()) tables << table;
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
  pass(2s);
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
  for (const QDockWidget* dock : window->findChildren<QDockWidget*>())
    EXPECT_EQ(dock->isVisible(), dock->objectName() != QStringLiteral("faults")) << dock->objectName().toStdString();
}

TEST_F(MainWindowTest, EveryCommandOfABrokerIsInReachOfTheKeyboard) {
  window->pick({Picked::What::Broker, NodeId(3), {}});
  for (const char* text : {"Pause", "Kill", "Restart", "Stop"}) {
    ASSERT_NE(button(QLatin1String(text)), nullptr) << text;
    EXPECT_NE(button(QLatin1String(text))->focusPolicy() & Qt::TabFocus, 0) << text;
  }
  button(QStringLiteral("Stop"))->setFocus(Qt::TabFocusReason);
  QTest::keyClick(button(QStringLiteral("Stop")), Qt::Key_Space);
  EXPECT_EQ(cluster.commands.back(), "stop 3");
  run(20ms);
  ASSERT_NE(button(QStringLiteral("Start again")), nullptr);
  QTest::keyClick(button(QStringLiteral("Start again")), Qt::Key_Space);
  EXPECT_EQ(cluster.commands.back(), "restart 3");
  run(20ms);
  // The same from the tree, by its menu key.
  QStringList offered;
  QTimer::singleShot(0, window.get(), [&offered] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_NE(menu, nullptr);
    for (QAction* action : menu->actions()) offered << action->text();
    QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, Qt::Key_Return);
  });
  window->tree().selectBroker(NodeId(2));
  QContextMenuEvent byKey(QContextMenuEvent::Keyboard, QPoint(40, 40), window->tree().mapToGlobal(QPoint(40, 40)));
  QApplication::sendEvent(&window->tree(), &byKey);
  for (const char* text : {"Pause", "Restart", "Stop", "Kill", "Copy address"})
    EXPECT_TRUE(offered.contains(QLatin1String(text))) << text;
  EXPECT_EQ(cluster.commands.back(), "pause 2");
}

TEST_F(MainWindowTest, TheTreeListsQuorumBrokersTopicsAndWhatIsBroken) {
  cluster.killBroker(NodeId(1), [](const Result<void>&) {});
  cluster.pauseBroker(NodeId(3), [](const Result<void>&) {});
  run(20ms);
  const QAbstractItemModel& tree = *window->tree().model();
  QStringList texts;
  for (int section = 0; section < tree.rowCount(); ++section)
    for (int row = 0; row < tree.rowCount(tree.index(section, 0)); ++row)
      texts << tree.index(row, 0, tree.index(section, 0)).data().toString();
  for (const char* text :
       {"Quorum", "Broker 1", "Broker 2", "Broker 3", "orders", "Broker 1 killed", "Broker 3 paused"})
    EXPECT_TRUE(texts.contains(QLatin1String(text))) << text;
  cluster.resumeBroker(NodeId(3), [](const Result<void>&) {});
  run(20ms);
  EXPECT_EQ(tree.rowCount(tree.index(tree.rowCount() - 1, 0)), 1) << "what is healed goes";
}

/// Three brokers and three nodes that are controllers and nothing else.
class ControllersTest : public WindowTest {
 protected:
  void SetUp() override {
    launch(3, 3, 3);
    makeWindow();
    run(50ms);
  }
};

TEST_F(ControllersTest, TheTreeListsThemBelowTheQuorum) {
  const QAbstractItemModel& tree = *window->tree().model();
  const QModelIndex section = tree.index(0, 0);
  QStringList texts;
  for (int row = 0; row < tree.rowCount(section); ++row) {
    const QModelIndex at = tree.index(row, 0, section);
    texts << at.data().toString() + QStringLiteral(": ") + at.data(ClusterTreeModel::NoteRole).toString();
  }
  EXPECT_EQ(texts.join(QLatin1Char('\n')).toStdString(),
            "Quorum: epoch 1 · leader 4\nController 4: active\nController 5: voter\nController 6: voter\n"
            "Broker 1: leads 1\nBroker 2: leads 1\nBroker 3: leads 1");
}

TEST_F(ControllersTest, CountsAndChoicesOfBrokersLeaveThemOut) {
  const auto status = [this] { return window->findChild<StatusLine*>()->accessibleName(); };
  EXPECT_TRUE(status().startsWith(QStringLiteral("3 brokers · 3 controllers · 3 partitions")))
      << status().toStdString();
  TopicDialog dialog(window->bridge(), window.get());
  int threes = 0;
  for (const auto* box : dialog.findChildren<QSpinBox*>()) threes += box->maximum() == 3;
  EXPECT_EQ(threes, 2) << "replication factor and min.insync.replicas";
  cluster.killBroker(NodeId(5), [](const Result<void>&) {});
  run(20ms);
  run(20ms);
  EXPECT_TRUE(status().startsWith(QStringLiteral("3 brokers · 2 of 3 controllers up"))) << status().toStdString();
}

TEST_F(ControllersTest, TheInspectorTellsOfAControllerWhatItHas) {
  window->pick({Picked::What::Broker, NodeId(5), {}});
  run(20ms);
  QStringList shown;
  for (const auto* label : window->inspector().findChildren<QLabel*>()) shown << label->text();
  EXPECT_TRUE(shown.contains(QStringLiteral("Controller 5"))) << shown.join(QLatin1Char('|')).toStdString();
  const QString facts = window->inspector().findChild<FactList*>()->toText();
  EXPECT_TRUE(facts.contains(QStringLiteral("voter"))) << facts.toStdString();
  EXPECT_FALSE(facts.contains(QStringLiteral("Leads"))) << "it leads no partition";
  EXPECT_FALSE(facts.contains(QStringLiteral("Threads")));
}

TEST_F(MainWindowTest, LanesStandByBrokerWhoeverLeads) {
  window->showPartition({"orders", PartitionIndex(1)});
  run(20ms);
  const auto* partition = observe::findPartition(*window->bridge().snapshot(), *belts().partition());
  ASSERT_NE(partition, nullptr);
  EXPECT_EQ(partition->leader, NodeId(2));
  EXPECT_EQ(partition->replicas.front(), NodeId(2)) << "the preferred one comes first in the assignment";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(partition->copies[static_cast<size_t>(i)].broker, NodeId(i + 1));
}

TEST_F(MainWindowTest, ClosingAsksForWhatWouldBeLostAndStopsTheBrokersInControl) {
  const auto answerWith = [this](const QString& text) {
    QTimer::singleShot(0, window.get(), [text] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      ASSERT_NE(box, nullptr);
      for (QAbstractButton* one : box->buttons())
        if (one->text().contains(text)) return one->click();
      FAIL() << "no button " << text.toStdString();
    });
  };
  answerWith(QStringLiteral("Cancel"));
  window->close();
  EXPECT_TRUE(window->isVisible()) << "the reader would rather keep it";
  EXPECT_TRUE(std::ranges::find(cluster.commands, "shutdown") == cluster.commands.end());
  answerWith(QStringLiteral("Close and remove"));
  window->close();
  EXPECT_TRUE(window->isVisible()) << "the brokers hand over first";
  EXPECT_EQ(cluster.commands.back(), "shutdown");
  cluster.advance(20ms);
  EXPECT_TRUE(waitFor([this] { return !window->isVisible(); }));
}

TEST_F(MainWindowTest, ExternalClientsAreToldByTheirSoftware) {
  observe::ClusterSnapshot snapshot = *window->bridge().snapshot();
  const auto connect = [&snapshot](const char* client, const char* software, int broker, bool own) {
    snapshot.connections.push_back({.id = 0,
                                    .broker = NodeId(broker),
                                    .listener = "PLAINTEXT",
                                    .client = client,
                                    .softwareName = software,
                                    .softwareVersion = "1.0",
                                    .peer = {"127.0.0.1", static_cast<uint16_t>(40'000 + broker)},
                                    .own = own});
  };
  connect("rdkafka", "librdkafka", 1, false);
  connect("rdkafka", "librdkafka", 2, false);
  connect("billing", "apache-kafka-java", 1, false);
  connect("tidemark-window-producer", "librdkafka", 1, true);
  cluster.show(std::move(snapshot));
  window->bridge().refresh();
  QStringList names;
  for (const QWidget* widget : window->findChildren<QWidget*>())
    if (widget->accessibleName().contains(QStringLiteral("external client"))) names << widget->accessibleName();
  ASSERT_EQ(names.size(), 1);
  EXPECT_EQ(names[0], QStringLiteral("2 external clients apache-kafka-java · librdkafka"));
}

TEST_F(MainWindowTest, AFetchThatIsAskedAgainRepaintsNothing) {
  cluster.setLoad(0);
  pass(2s);
  observe::ClusterSnapshot snapshot = *window->bridge().snapshot();
  const auto park = [&](int correlation) {
    snapshot.version += 1;
    snapshot.parked = {{.broker = NodeId(1),
                        .kind = observe::ParkedKind::Fetch,
                        .client = "broker-2-fetcher",
                        .correlation = correlation,
                        .partition = *belts().partition(),
                        .needs = Offset(7),
                        .minBytes = 1,
                        .follower = NodeId(2),
                        .timeout = 500ms,
                        .left = 500ms}};
    cluster.show(snapshot);
    window->bridge().refresh();
  };
  struct Counter : QObject {
    int paints = 0;
    bool eventFilter(QObject*, QEvent* event) override {
      paints += event->type() == QEvent::Paint;
      return false;
    }
  } counter;
  belts().installEventFilter(&counter);
  // What came before fades and is forgotten first.
  int correlation = 0;
  ASSERT_TRUE(waitFor([&] {
    counter.paints = 0;
    park(++correlation);
    QCoreApplication::processEvents();
    return counter.paints == 0 && !belts().isMoving() && !window->bridge().isTicking();
  }));
  for (int i = 0; i < 10; ++i) park(++correlation);
  QCoreApplication::processEvents();
  EXPECT_EQ(counter.paints, 0);
  snapshot.parked.clear();
  snapshot.topics[0].partitions[0].highWatermark = snapshot.topics[0].partitions[0].highWatermark.next();
  snapshot.version += 1;
  cluster.show(snapshot);
  window->bridge().refresh();
  EXPECT_TRUE(waitFor([&counter] { return counter.paints > 0; })) << "a change is painted";
  belts().removeEventFilter(&counter);
}

TEST_F(MainWindowTest, TheThemeChangesWhileItRuns) {
  const auto middle = [this] {
    const QImage image = window->grab().toImage();
    return image.pixelColor(window->clusterPage().mapTo(window.get(), QPoint(4, window->clusterPage().height() - 4)));
  };
  Theme::instance().setChoice(ThemeChoice::Light);
  QCoreApplication::processEvents();
  EXPECT_EQ(middle(), Palette::light().background);
  Theme::instance().setChoice(ThemeChoice::Dark);
  QCoreApplication::processEvents();
  EXPECT_EQ(middle(), Palette::darkOne().background);
  Theme::instance().setChoice(ThemeChoice::Automatic);
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

class CrowdTest : public WindowTest {
 protected:
  void launchCrowd(int partitions = 200) {
    observe::LaunchOptions options;
    observe::TopicOptions topic;
    topic.name = std::string(120, 'a') + ".orders-of-every-country";
    topic.partitions = partitions;
    options.firstTopic = topic;
    cluster.launchNow(options);
    makeWindow();
    cluster.setLoad(1);
    pass(500ms);
  }
};

/// A window with so many partitions.
class CrowdOf final : public CrowdTest {
 public:
  explicit CrowdOf(int partitions) {
    launchCrowd(partitions);
    frames();
  }
  /// What some frames cost this thread; the least of several tries is disturbed least.
  std::chrono::nanoseconds frames() {
    timespec before{}, after{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < 20; ++i) run(20ms);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return std::chrono::seconds(after.tv_sec - before.tv_sec) +
           std::chrono::nanoseconds(after.tv_nsec - before.tv_nsec);
  }

 private:
  void TestBody() override {}
};

TEST_F(CrowdTest, TwoHundredPartitionsOfALongNameFitASmallWindow) {
  launchCrowd();
  window->resize(800, 500);
  QCoreApplication::processEvents();
  run(20ms);
  EXPECT_LE(window->width(), 800);
  EXPECT_LE(window->height(), 500);
  EXPECT_GT(coloursIn(window->clusterPage().grab().toImage()), 20);
  window->showPartition({cluster.launched().firstTopic->name, PartitionIndex(199)});
  run(20ms);
  EXPECT_EQ(window->clusterPage().belts().partition()->partition, PartitionIndex(199));
  EXPECT_LE(window->width(), 800);
}

TEST(FramesTest, WhatAFrameCostsGrowsNoFasterThanThePartitions) {
  CrowdOf few(10);
  CrowdOf many(200);
  auto ofFew = few.frames();
  auto ofMany = many.frames();
  for (int i = 0; i < 4; ++i) {
    ofFew = std::min(ofFew, few.frames());
    ofMany = std::min(ofMany, many.frames());
  }
  // Twenty times the partitions; a comparison of each with each would be four hundred times the work.
  EXPECT_LT(ofMany.count(), 60 * ofFew.count()) << ofFew.count() << " and " << ofMany.count() << " ns";
}

class LayoutTest : public WindowTest {
 protected:
  QTemporaryDir folder;
  QSettings settings{folder.filePath(QStringLiteral("window.ini")), QSettings::IniFormat};
  QDockWidget* dock(const QString& name) { return window->findChild<QDockWidget*>(name); }
};

TEST_F(LayoutTest, ASmallWindowInBetweenLeavesNoDamage) {
  launch();
  makeWindow(&settings);
  run(20ms);
  const auto sizes = [this] {
    QCoreApplication::processEvents();
    return std::vector<int>{dock(QStringLiteral("cluster"))->width(), dock(QStringLiteral("inspector"))->width(),
                            dock(QStringLiteral("events"))->height()};
  };
  const std::vector<int> before = sizes();
  window->resize(1000, 700);
  QCoreApplication::processEvents();
  window->resize(600, 477);
  QCoreApplication::processEvents();
  EXPECT_GE(window->width(), 800) << "no smaller than its views can be";
  EXPECT_GE(window->height(), 500);
  window->resize(1680, 1020);
  EXPECT_EQ(sizes(), before);
}

TEST_F(LayoutTest, TheFolderIsRemembered) {
  makeWindow(&settings);
  observe::LaunchOptions options = window->launchPage().options();
  options.dataFolder = folder.filePath(QStringLiteral("cluster")).toStdString();
  window->launchPage().setOptions(options);
  window->close();
  makeWindow(&settings);
  EXPECT_EQ(window->launchPage().options().dataFolder, options.dataFolder);
}

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

TEST_F(WindowTest, TheShortcutsFitASmallWindow) {
  launch();
  makeWindow();
  window->resize(1000, 560);
  QTest::keyClick(window.get(), Qt::Key_F1);
  auto* dialog = window->findChild<QDialog*>(QStringLiteral("shortcuts"));
  ASSERT_NE(dialog, nullptr);
  EXPECT_LE(dialog->height(), 560);
  keepPicture(*dialog, QStringLiteral("shortcuts"));
  dialog->close();
}

TEST_F(WindowTest, TheTreeIsAsWideInAllViews) {
  launch();
  makeWindow();
  QCoreApplication::processEvents();
  auto* tree = window->findChild<QDockWidget*>(QStringLiteral("cluster"));
  const int width = tree->width();
  for (int view = 0; view < ClusterPage::kViews; ++view) {
    window->clusterPage().showView(static_cast<ClusterPage::View>(view));
    QCoreApplication::processEvents();
    EXPECT_NEAR(tree->width(), width, 2) << view;
  }
}

}  // namespace
}  // namespace tidemark::widgets
