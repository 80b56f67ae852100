// Faults in the window: the list, the dialog, the menus, the tree.
#include <algorithm>

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "faults/fault_actions.h"
#include "faults/fault_cards.h"
#include "faults/fault_dialog.h"
#include "faults/fault_form.h"
#include "faults/fault_json.h"
#include "faults/fault_offers.h"
#include "faults/faults_panel.h"
#include "models/cluster_tree_model.h"
#include "models/fault_model.h"
#include "observe/fault_check.h"
#include "text/fault_words.h"
#include "text/format.h"
#include "views/cluster_tree.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

class FaultsTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    run(50ms);
  }
  static faults::Fault parsed(const char* json) {
    auto fault = faults::parseFault(json);
    EXPECT_TRUE(fault.has_value()) << json << ": " << (fault ? "" : fault.error().message);
    return fault.value_or(faults::Fault{});
  }
  int set(const char* json) {
    int number = 0;
    window->bridge().setFault(parsed(json), window.get(),
                              [&number](const Result<int>& result) { number = result.value_or(-1); });
    run(20ms);
    EXPECT_TRUE(waitFor([&number] { return number != 0; }));
    run(20ms);
    return number;
  }
  FaultModel& model() { return window->faults().model(); }
  static QAction* action(QMenu& menu, const QString& text) {
    for (QAction* one : menu.actions())
      if (one->text() == text) return one;
    return nullptr;
  }
};

TEST_F(FaultsTest, TheListTellsWhatWhereHowLongAndHowOften) {
  const QAbstractItemModelTester tester(&model());
  const int id =
      set(R"({"kind": "delay", "target": "link 1->3", "delayMs": 80, "durationMs": 10000, "trigger": {"every": 5}})");
  ASSERT_EQ(model().rowCount(), 1);
  EXPECT_EQ(model().index(0, FaultModel::What).data().toString(), QStringLiteral("Link 1 → 3 +80 ms"));
  EXPECT_EQ(model().index(0, FaultModel::Where).data().toString(), QStringLiteral("link 1 → 3"));
  EXPECT_TRUE(model().index(0, FaultModel::When).data().toString().endsWith(QStringLiteral("for 10.0 s · each 5th")));
  cluster.fire(id, 23);
  run(4100ms);
  EXPECT_EQ(model().index(0, FaultModel::Fired).data().toString(), QStringLiteral("23 transfers"));
  EXPECT_TRUE(model().index(0, FaultModel::Left).data().toString().startsWith(QStringLiteral("5.9")))
      << model().index(0, FaultModel::Left).data().toString().toStdString();
  run(7s);
  EXPECT_EQ(model().rowCount(), 0) << "its time is over";
}

TEST_F(FaultsTest, ALongTitleStandsInLinesAndHealStaysBelowThem) {
  FaultRow row{.title = QStringLiteral("Link 1 → 3 +80 ms"), .left = QStringLiteral("52.0 s left"), .part = 52};
  const QRectF place(0, 0, 236, 86);
  const QStringList lines = FaultCards::titleLines(row, place.width());
  EXPECT_GT(lines.size(), 1);
  EXPECT_EQ(lines.join(QLatin1Char(' ')), row.title) << "nothing is left out";
  for (int width = 236; width < 340; ++width)
    EXPECT_NE(FaultCards::titleLines(row, width).back(), QStringLiteral("ms")) << "a number and its unit stay together";
  const double below = FaultCards::healArea(row, place).top();
  row.title = QStringLiteral("Cut");
  EXPECT_EQ(FaultCards::titleLines(row, place.width()).size(), 1);
  EXPECT_GT(below, FaultCards::healArea(row, place).top());
}

TEST_F(FaultsTest, AFaultThatWaitsSaysWhenItBegins) {
  set(R"({"kind": "cut", "target": "link 1<->2", "trigger": {"afterMs": 5000}})");
  ASSERT_EQ(model().rowCount(), 1);
  EXPECT_TRUE(model().rows()[0].waits);
  EXPECT_TRUE(model().rows()[0].left.startsWith(QStringLiteral("in ")));
  EXPECT_EQ(model().rows()[0].shape, StateShape::Ring);
  run(6s);
  EXPECT_EQ(model().rows()[0].left, QStringLiteral("until healed"));
}

TEST_F(FaultsTest, AFaultThatWaitsForAnEventNamesIt) {
  observe::ClusterSnapshot waiting;
  faults::Fault fault{.kind = faults::Kind::Pause, .target = faults::NodeName{.id = NodeId(1), .partition = {}}};
  fault.trigger.event = "BecameLeader";
  fault.duration = 3s;
  waiting.faults.push_back({.id = 1, .fault = fault, .waits = true, .since = 5s});
  const FaultRow row = faultRows(waiting, {}).at(0);
  EXPECT_EQ(row.left, QStringLiteral("waits"));
  EXPECT_EQ(row.when, QStringLiteral("waits for BecameLeader, for 3.0 s"));
}

TEST_F(FaultsTest, ARowThatStaysIsChangedInPlaceAndOneThatDidNotChangeIsNotTold) {
  set(R"({"kind": "cut", "target": "link 1<->2"})");
  const int id = set(R"({"kind": "hold", "target": "link 2->3"})");
  QSignalSpy resets(&model(), &QAbstractItemModel::modelReset);
  QSignalSpy inserts(&model(), &QAbstractItemModel::rowsInserted);
  QSignalSpy changes(&model(), &QAbstractItemModel::dataChanged);
  const observe::SnapshotPtr snapshot = window->bridge().snapshot();
  model().setSnapshot(*snapshot, 1s);
  changes.clear();
  model().setSnapshot(*snapshot, 1s);
  EXPECT_EQ(changes.count(), 0);
  observe::ClusterSnapshot more = *snapshot;
  more.faults[1].fired = 9;
  model().setSnapshot(more, 1s);
  ASSERT_EQ(changes.count(), 1);
  EXPECT_EQ(changes[0][0].toModelIndex().row(), 1);
  EXPECT_EQ(model().find(id)->fired, QStringLiteral("9 transfers"));
  EXPECT_EQ(resets.count() + inserts.count(), 0);
}

TEST_F(FaultsTest, DelHealsTheOneThatIsPickedAndSStepsAHold) {
  const int cut = set(R"({"kind": "cut", "target": "link 1<->2"})");
  const int hold = set(R"({"kind": "hold", "target": "link 2->3"})");
  window->showFaults();
  QListView& list = window->faults().list();
  list.setCurrentIndex(model().index(1, 0));
  QTest::keyClick(&list, Qt::Key_S);
  EXPECT_EQ(cluster.commands.back(), "step " + std::to_string(hold) + " 1");
  list.setCurrentIndex(model().index(0, 0));
  QTest::keyClick(&list, Qt::Key_S);
  EXPECT_EQ(cluster.commands.back(), "step " + std::to_string(hold) + " 1") << "a cut has no steps";
  QTest::keyClick(&list, Qt::Key_Delete);
  EXPECT_EQ(cluster.commands.back(), "heal " + std::to_string(cut));
  run(20ms);
  ASSERT_EQ(model().rowCount(), 1);
  EXPECT_EQ(model().rows()[0].id, hold);
}

TEST_F(FaultsTest, TheListTellsHowMuchALinkKeepsBackAndWhatAStepLeaves) {
  const int hold = set(R"({"kind": "hold", "target": "link 2->3"})");
  const int cut = set(R"({"kind": "cut", "target": "link 1<->2"})");
  set(R"({"kind": "delay", "target": "link 1->3", "delayMs": 80})");
  const auto held = [this](int row) { return model().index(row, FaultModel::Held).data().toString(); };
  EXPECT_EQ(held(0), QStringLiteral("0 held")) << "there is nothing to step yet";
  EXPECT_EQ(held(1), QString());
  cluster.fire(hold, 23);
  cluster.hold(hold, 3);
  cluster.hold(cut, 1200);
  run(20ms);
  EXPECT_EQ(held(0), QStringLiteral("3 held"));
  EXPECT_EQ(held(1), grouped(1200) + QStringLiteral(" held"));
  EXPECT_EQ(held(2), QString()) << "what is late is not kept back";
  EXPECT_EQ(FaultCards::footText(model().rows()[0]), QStringLiteral("3 held · 23 transfers"));
  EXPECT_TRUE(model().index(0, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("3 held")));
  window->faultActions().step(hold);
  run(20ms);
  run(20ms);
  EXPECT_EQ(held(0), QStringLiteral("2 held"));
}

TEST_F(FaultsTest, ACardTellsWhatALossOfPowerTookWhileItIsStillSet) {
  observe::ClusterSnapshot now = *window->bridge().snapshot();
  observe::FaultSnapshot& loss = now.faults.emplace_back();
  loss.id = 1;
  loss.fault = parsed(R"({"kind": "power-loss", "target": "broker 2"})");
  loss.broker = NodeId(2);
  loss.fired = 1;
  model().setSnapshot(now, {});
  const auto height = [this] {
    return window->faults().list().itemDelegate()->sizeHint({}, model().index(0, 0)).height();
  };
  EXPECT_EQ(model().index(0, FaultModel::Note).data().toString(), QString());
  const int before = height();
  loss.lasting.addCut("/lab/broker-2/orders-0/00.log", 700);
  model().setSnapshot(now, {});
  const QString told = QStringLiteral("700 B lost that were not synced: 700 B of /lab/broker-2/orders-0/00.log");
  EXPECT_EQ(model().index(0, FaultModel::Note).data().toString().replace(QChar(0x2005), QLatin1Char(' ')), told);
  EXPECT_TRUE(model().index(0, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("/lab/broker-2")));
  EXPECT_GT(height(), before) << "the card has lines for it";
}

TEST_F(FaultsTest, TheTreeShowsTheSameFaultsAndDelHealsThere) {
  set(R"({"kind": "full-disk", "target": "broker 2"})");
  ClusterTreeModel& tree = window->tree().clusterModel();
  const QModelIndex section = tree.section(ClusterTreeModel::Section::Faults);
  ASSERT_EQ(tree.rowCount(section), 1);
  const QModelIndex row = tree.index(0, 0, section);
  EXPECT_EQ(row.data().toString(), model().index(0, FaultModel::What).data().toString());
  window->tree().setCurrentIndex(row);
  QTest::keyClick(&window->tree(), Qt::Key_Delete);
  EXPECT_EQ(cluster.commands.back(), "heal " + std::to_string(model().rows()[0].id));
}

TEST_F(FaultsTest, AFaultHasOneIconWhereverItIsListed) {
  set(R"({"kind": "cut", "target": "link 1<->3"})");
  set(R"({"kind": "delay", "target": "link 1->2", "delayMs": 80})");
  set(R"({"kind": "pause", "target": "broker 3"})");
  set(R"({"kind": "slow-disk", "target": "broker 2", "delayMs": 5})");
  set(R"({"kind": "cut", "target": "link 1<->2", "trigger": {"afterMs": 60000}})");
  const std::vector<StateShape> expected{StateShape::Cross, StateShape::Triangle, StateShape::Bars,
                                         StateShape::Triangle, StateShape::Ring};
  const ClusterTreeModel& tree = window->tree().clusterModel();
  const QModelIndex section = tree.section(ClusterTreeModel::Section::Faults);
  ASSERT_EQ(tree.rowCount(section), 5);
  ASSERT_EQ(model().rowCount(), 5);
  for (int i = 0; i < 5; ++i) {
    const QModelIndex inTree = tree.index(i, 0, section);
    const FaultRow& card = model().rows()[static_cast<size_t>(i)];
    EXPECT_EQ(card.shape, expected[static_cast<size_t>(i)]) << card.title.toStdString();
    EXPECT_EQ(static_cast<StateShape>(inTree.data(ClusterTreeModel::ShapeRole).toInt()), card.shape)
        << card.title.toStdString();
    EXPECT_EQ(inTree.data(ClusterTreeModel::ShapeColorRole).value<QColor>(), card.color) << card.title.toStdString();
  }
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(window->travel().past().faults()[static_cast<size_t>(i)].shape, expected[static_cast<size_t>(i)]);
}

TEST_F(FaultsTest, CtrlHHealsAll) {
  set(R"({"kind": "cut", "target": "link 1<->2"})");
  set(R"({"kind": "pause", "target": "broker 3"})");
  EXPECT_EQ(model().rowCount(), 2);
  QTest::keyClick(window.get(), Qt::Key_H, Qt::ControlModifier);
  EXPECT_EQ(cluster.commands.back(), "heal all");
  run(20ms);
  EXPECT_EQ(model().rowCount(), 0);
  const size_t before = cluster.commands.size();
  QTest::keyClick(window.get(), Qt::Key_H, Qt::ControlModifier);
  EXPECT_EQ(cluster.commands.size(), before) << "nothing is broken: the engine is not asked";
}

TEST_F(FaultsTest, EveryKindOfTheTableCanBeChosenAndFilledIn) {
  FaultDialog dialog(window->bridge());
  dialog.show();
  const observe::ClusterSnapshot& now = *window->bridge().snapshot();
  for (const faults::Kind kind : faults::allKinds()) {
    faults::Fault beginning;
    beginning.kind = kind;
    dialog.setFault(beginning);
    const std::string name(faults::nameOf(kind));
    EXPECT_EQ(dialog.form().kind(), kind) << name;
    if (kind == faults::Kind::BitFlip)
      qobject_cast<QComboBox*>(dialog.form().field(faults::kPath))->setEditText(QStringLiteral("*.log"));
    const auto fault = dialog.fault();
    ASSERT_TRUE(fault.has_value()) << name << ": " << fault.error().message;
    EXPECT_EQ(fault->kind, kind);
    EXPECT_EQ(observe::checkKind(kind, now).has_value(), observe::checkFault(*fault, now).has_value()) << name;
    EXPECT_FALSE(faultTitle(*fault).isEmpty()) << name;
    EXPECT_FALSE(faultKindMeaning(kind).isEmpty()) << name;
    for (const faults::Parameter each :
         {faults::kDelay, faults::kRate, faults::kError, faults::kPath, faults::kOccasions}) {
      const QWidget* field = dialog.form().field(each);
      EXPECT_EQ(field != nullptr, (faults::parametersOf(kind) & each) != 0) << name;
      if (field != nullptr) {
        EXPECT_TRUE(field->isVisibleTo(&dialog)) << name << " has a field that is not shown";
      }
    }
  }
}

TEST_F(FaultsTest, WhatTheDialogHoldsIsWhatItWasGiven) {
  FaultDialog dialog(window->bridge());
  for (
      const char* json :
      {R"({"kind": "delay", "target": "link 1->controller 3", "delayMs": 50, "jitterMs": 20, "durationMs": 10000, "trigger": {"afterMs": 1000, "probability": 0.1, "seed": 7}})",
       R"({"kind": "slow-disk", "target": "leader of orders-0", "delayMs": 9, "path": "orders-0/*.index", "calls": ["sync"], "trigger": {"nth": 3}})",
       R"({"kind": "halves", "left": [1, 2], "right": [3]})",
       R"({"kind": "isolate", "target": "the active controller", "clients": false})",
       R"({"kind": "clock-drift", "target": "broker 2", "rate": 1.25, "clocks": ["wall", "monotonic"]})",
       R"({"kind": "request-error", "target": "clients named billing", "api": "Fetch", "topic": "orders", "partition": 1, "error": "NOT_LEADER_OR_FOLLOWER", "trigger": {"every": 4}})"}) {
    const faults::Fault fault = parsed(json);
    dialog.setFault(fault);
    const auto read = dialog.fault();
    ASSERT_TRUE(read.has_value()) << json << ": " << read.error().message;
    EXPECT_EQ(faults::toJson(*read), faults::toJson(fault));
  }
}

TEST_F(FaultsTest, TheDialogSaysPreciselyWhatIsWrongAndSetsNothing) {
  FaultDialog dialog(window->bridge());
  dialog.show();
  QPushButton* set = nullptr;
  for (QPushButton* one : dialog.findChildren<QPushButton*>())
    if (one->isDefault()) set = one;
  ASSERT_NE(set, nullptr);
  dialog.setFault(parsed(R"({"kind": "slow", "target": "broker 2", "delayMs": 200})"));
  EXPECT_TRUE(set->isEnabled());
  qobject_cast<QSpinBox*>(dialog.form().field(faults::kDelay))->setValue(0);
  EXPECT_FALSE(set->isEnabled());
  EXPECT_EQ(dialog.note(), QStringLiteral("slow: delayMs is at least 1"));
  qobject_cast<QSpinBox*>(dialog.form().field(faults::kDelay))->setValue(5);
  qobject_cast<QComboBox*>(dialog.form().field(faults::kTarget))->setEditText(QStringLiteral("broker 9"));
  EXPECT_FALSE(set->isEnabled());
  EXPECT_EQ(dialog.note(), QStringLiteral("there is no broker 9: the nodes are brokers 1, 2, 3"));
}

TEST_F(FaultsTest, TheDialogSetsTheFaultAndTellsWhatTheEngineRefuses) {
  window->faultActions().openDialog(parsed(R"({"kind": "throttle", "target": "link 1<->2", "bytesPerSecond": 5000})"));
  QPointer<FaultDialog> dialog = window->faultActions().dialog();
  ASSERT_FALSE(dialog.isNull());
  cluster.failNext({ErrorCode::InvalidRequest, "not today"});
  QTest::keyClick(dialog, Qt::Key_Return);
  run(20ms);
  EXPECT_TRUE(waitFor([&] { return dialog->note().contains(QStringLiteral("not today")); }));
  EXPECT_TRUE(dialog->isVisible());
  QTest::keyClick(dialog, Qt::Key_Return);
  run(20ms);
  EXPECT_TRUE(waitFor([&] { return dialog.isNull() || !dialog->isVisible(); }));
  run(20ms);
  ASSERT_EQ(model().rowCount(), 1);
  EXPECT_EQ(model().rows()[0].title, QStringLiteral("Link 1 ↔ 2 at 5.0 KB/s"));
}

TEST_F(FaultsTest, WhatIsImpossibleIsGreyedAndItsTooltipSaysWhy) {
  FaultDialog dialog(window->bridge());
  const auto itemOf = [&dialog](faults::Kind kind) {
    for (int i = 0; i < dialog.kinds().count(); ++i)
      if (dialog.kinds().item(i)->text() == faultKindName(kind)) return dialog.kinds().item(i);
    return static_cast<QListWidgetItem*>(nullptr);
  };
  EXPECT_FALSE(itemOf(faults::Kind::Ring)->flags() & Qt::ItemIsEnabled);
  EXPECT_TRUE(itemOf(faults::Kind::Ring)->toolTip().contains(QStringLiteral("there are 3")));
  EXPECT_FALSE(itemOf(faults::Kind::Wipe)->flags() & Qt::ItemIsEnabled) << "every broker runs";
  EXPECT_TRUE(itemOf(faults::Kind::Bridge)->flags() & Qt::ItemIsEnabled);
  set(R"({"kind": "kill", "target": "broker 3"})");
  EXPECT_TRUE(itemOf(faults::Kind::Wipe)->flags() & Qt::ItemIsEnabled) << "now one is down";

  QMenu menu;
  window->faultActions().fillBroker(menu, NodeId(3));
  QAction* pause = action(menu, QStringLiteral("Pause for 5 s"));
  ASSERT_NE(pause, nullptr);
  EXPECT_FALSE(pause->isEnabled());
  EXPECT_EQ(pause->toolTip(), QStringLiteral("broker 3 was killed: restart it"));
}

TEST_F(FaultsTest, MenusSetTheCommonFaultsWithOneClickAndHealThem) {
  const auto trigger = [this](auto&& fill, const char* text) {
    QMenu menu;
    fill(menu);
    QAction* found = action(menu, QString::fromUtf8(text));
    ASSERT_NE(found, nullptr) << text;
    found->trigger();
    run(20ms);
    run(20ms);
  };
  FaultActions& actions = window->faultActions();
  trigger([&](QMenu& menu) { actions.fillBroker(menu, NodeId(2)); }, "Isolate");
  EXPECT_EQ(cluster.commands.back(), R"(fault {"kind":"isolate","target":"broker 2"})");
  trigger([&](QMenu& menu) { actions.fillLink(menu, endNamed(NodeId(1)), endNamed(NodeId(3))); },
          "Slow by 100 ms 3 → 1");
  EXPECT_EQ(cluster.commands.back(), R"(fault {"delayMs":100,"kind":"delay","target":"link 3->1"})");
  trigger([&](QMenu& menu) { actions.fillPartition(menu, {"orders", PartitionIndex(1)}); },
          "Refuse Produce to it for 10 s");
  EXPECT_EQ(
      cluster.commands.back(),
      R"(fault {"api":"Produce","durationMs":10000,"error":"NOT_ENOUGH_REPLICAS","kind":"request-error","partition":1,"topic":"orders"})");
  trigger([&](QMenu& menu) { actions.fillClients(menu, "billing"); }, "Requests 200 ms late");
  EXPECT_EQ(cluster.commands.back(),
            R"(fault {"delayMs":200,"kind":"request-delay","target":"clients named billing"})");
  ASSERT_EQ(model().rowCount(), 4);
  // Each of them can be healed where it was set.
  trigger([&](QMenu& menu) { actions.fillLink(menu, endNamed(NodeId(3)), endNamed(NodeId(1))); },
          "Heal: Link 3 → 1 +100 ms");
  EXPECT_EQ(model().rowCount(), 3);
  trigger([&](QMenu& menu) { actions.fillClients(menu, "billing"); }, "Heal: Requests · clients named billing +200 ms");
  EXPECT_EQ(model().rowCount(), 2);
}

class FaultsOfControllersTest : public FaultsTest {
 protected:
  void SetUp() override {
    launch(3, 3, 3);
    makeWindow();
    run(50ms);
  }
};

TEST_F(FaultsOfControllersTest, AControllerIsCalledOneAndOfferedWhatMakesSenseForIt) {
  QMenu menu;
  window->faultActions().fillBroker(menu, NodeId(5));
  EXPECT_EQ(action(menu, QStringLiteral("Refuse Produce for 10 s")), nullptr) << "clients do not produce to it";
  for (const char* text : {"Isolate", "Slow by 200 ms", "Pause for 5 s", "Disk full", "Clock jumps ahead by 1 h"})
    EXPECT_NE(action(menu, QString::fromUtf8(text)), nullptr) << text;
  action(menu, QStringLiteral("Slow by 200 ms"))->trigger();
  run(20ms);
  EXPECT_EQ(cluster.commands.back(), R"(fault {"delayMs":200,"kind":"slow","target":"controller 5"})");
  run(20ms);
  ASSERT_EQ(model().rowCount(), 1);
  EXPECT_EQ(model().index(0, 0).data().toString(), QStringLiteral("Controller 5 slow, +200 ms"));
  cluster.killBroker(NodeId(6), [](const Result<void>&) {});
  run(20ms);
  run(20ms);
  QMenu killed;
  window->faultActions().fillBroker(killed, NodeId(6));
  EXPECT_EQ(action(killed, QStringLiteral("Pause for 5 s"))->toolTip(),
            QStringLiteral("controller 6 was killed: restart it"));
}

TEST_F(FaultsOfControllersTest, TheFormNamesThemButNotForRequests) {
  FaultForm form;
  form.setCluster(*window->bridge().snapshot());
  const auto names = [&form](faults::Kind kind) {
    form.setKind(kind);
    QStringList found;
    const auto* box = qobject_cast<QComboBox*>(form.field(faults::kTarget));
    for (int i = 0; box != nullptr && i < box->count(); ++i) found << box->itemText(i);
    return found;
  };
  EXPECT_TRUE(names(faults::Kind::Pause).contains(QStringLiteral("controller 4")));
  EXPECT_TRUE(names(faults::Kind::Pause).contains(QStringLiteral("broker 3")));
  EXPECT_FALSE(names(faults::Kind::Pause).contains(QStringLiteral("broker 4")));
  EXPECT_TRUE(names(faults::Kind::RequestDrop).contains(QStringLiteral("broker 3")));
  EXPECT_FALSE(names(faults::Kind::RequestDrop).contains(QStringLiteral("controller 4")));
}

TEST_F(FaultsTest, EveryOfferIsAFaultThatTheEngineTakes) {
  std::vector<FaultOffer> offers = offersForBroker(nodeNamed(window->bridge().snapshot()->brokers.front()));
  const auto add = [&offers](std::vector<FaultOffer> more) { std::ranges::move(more, std::back_inserter(offers)); };
  add(offersForLink(endNamed(NodeId(1)), controllerEnd(NodeId(2))));
  add(offersForLink(endNamed(NodeId(1)), clientsEnd("kcat")));
  add(offersForPartition({"orders", PartitionIndex(0)}));
  add(offersForClients({}));
  for (const FaultOffer& offer : offers) {
    const auto possible = observe::checkFault(offer.fault, *window->bridge().snapshot());
    EXPECT_TRUE(possible.has_value()) << offer.text.toStdString() << ": " << (possible ? "" : possible.error().message);
    EXPECT_EQ(faults::toJson(*faults::parseFault(faults::toJson(offer.fault))), faults::toJson(offer.fault));
  }
}

TEST_F(FaultsTest, AnAnswerToAWindowThatIsGoneIsSwallowed) {
  bool called = false;
  auto context = std::make_unique<QObject>();
  window->bridge().setFault(parsed(R"({"kind": "ring"})"), context.get(),
                            [&called](const Result<int>&) { called = true; });
  context.reset();
  cluster.advance(20ms);
  QCoreApplication::processEvents();
  EXPECT_FALSE(called);
}

TEST_F(FaultsTest, KeysReachTheListAndTheDialog) {
  auto* dock = window->findChild<QDockWidget*>(QStringLiteral("faults"));
  ASSERT_NE(dock, nullptr);
  EXPECT_FALSE(dock->isVisible());
  set(R"({"kind": "cut", "target": "link 1<->2"})");
  QTest::keyClick(window.get(), Qt::Key_J, Qt::ControlModifier);
  EXPECT_TRUE(dock->isVisible());
  EXPECT_EQ(window->focusWidget(), &window->faults().list());
  QTest::keyClick(window.get(), Qt::Key_J, Qt::ControlModifier);
  EXPECT_FALSE(dock->isVisible());
  QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_NE(window->faultActions().dialog(), nullptr);
}

TEST_F(FaultsTest, AMenuBeginsWithNoLine) {
  QMenu menu;
  window->faultActions().fillLink(menu, endNamed(NodeId(1)), endNamed(NodeId(2)));
  ASSERT_FALSE(menu.actions().isEmpty());
  EXPECT_FALSE(menu.actions().front()->isSeparator());
  QMenu headed;
  headed.addSection(QStringLiteral("Link"));
  window->faultActions().fillLink(headed, endNamed(NodeId(1)), endNamed(NodeId(2)));
  EXPECT_FALSE(headed.actions()[1]->isSeparator());
}

}  // namespace
}  // namespace tidemark::widgets
