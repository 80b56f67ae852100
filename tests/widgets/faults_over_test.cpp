// What the list of faults says beside them: why one meets nothing, and what is over and left something behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QTest>

#include "faults/fault_actions.h"
#include "faults/fault_dialog.h"
#include "faults/fault_form.h"
#include "faults/fault_json.h"
#include "faults/faults_panel.h"
#include "text/fault_notes.h"
#include "text/format.h"
#include "views/status_line.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FaultsOverTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    run(50ms);
    window->showFaults();
  }
  int set(const char* json) {
    auto fault = faults::parseFault(json);
    EXPECT_TRUE(fault.has_value()) << json;
    window->faultActions().set(fault.value_or(faults::Fault{}));
    const auto number = [this] {
      const observe::ClusterSnapshot& now = *window->bridge().newest();
      int last = now.faults.empty() ? 0 : now.faults.back().id;
      for (const auto& one : now.faultsOver) last = std::max(last, one.id);
      return last;
    };
    const int before = number();
    run(20ms);
    EXPECT_TRUE(waitFor([&] {
      run(1ms);
      return number() > before;
    }));
    QCoreApplication::processEvents();
    return number();
  }
  void heal(int id) {
    window->faultActions().heal(id);
    run(20ms);
    run(20ms);
    QCoreApplication::processEvents();
  }
  FaultsPanel& panel() { return window->faults(); }
  std::vector<std::string> titlesOver() {
    std::vector<std::string> all;
    for (const FaultOverRow& row : panel().overModel().rows()) all.push_back(row.title.toStdString());
    return all;
  }
  int heightOf(int row) { return panel().list().visualRect(panel().model().index(row, 0)).height(); }
  std::string said() { return window->findChild<StatusLine*>()->accessibleDescription().toStdString(); }
  static constexpr const char* kNote = "Matches nothing yet: no client named billing is connected";
};

TEST_F(FaultsOverTest, AFaultThatMatchesNothingSaysSoOnItsCardUntilWhomItNamesIsThere) {
  set(R"({"kind": "cut", "target": "link 1<->2"})");
  cluster.unmatched = {{.what = faults::Unmatched::What::Client, .name = "billing"}};
  set(R"({"kind": "request-drop", "target": "clients named billing"})");
  EXPECT_THAT(said(), HasSubstr(kNote)) << "the list may be out of sight";
  const auto note = [this] { return panel().model().index(1, FaultModel::Note).data().toString().toStdString(); };
  EXPECT_EQ(note(), kNote);
  EXPECT_EQ(panel().model().index(0, FaultModel::Note).data().toString(), QString());
  const QModelIndex card = panel().model().index(1, 0);
  EXPECT_THAT(card.data(Qt::AccessibleTextRole).toString().toStdString(), HasSubstr(kNote));
  const int noted = heightOf(1);
  QTest::keyClick(&panel().list(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_THAT(QApplication::clipboard()->text().toStdString(), HasSubstr(kNote));
  observe::ClusterSnapshot now = *window->bridge().snapshot();
  now.connections.push_back({.broker = NodeId(1),
                             .listener = {},
                             .client = "billing",
                             .softwareName = {},
                             .softwareVersion = {},
                             .peer = {}});
  cluster.show(now);
  window->bridge().refresh();
  QCoreApplication::processEvents();
  EXPECT_EQ(note(), "") << "it has come";
  EXPECT_LT(heightOf(1), noted) << "it was written on the card";
  now.connections.clear();
  now.faults[1].fired = 3;
  cluster.show(now);
  window->bridge().refresh();
  EXPECT_EQ(note(), "") << "it has met something";
}

TEST_F(FaultsOverTest, TopicsPartitionsAndBrokersThatComeAreNotMissedAnyMore) {
  using What = faults::Unmatched::What;
  observe::ClusterSnapshot now = *window->bridge().snapshot();
  now.brokers[1].state = observe::BrokerState::Killed;
  const auto note = [&](faults::Unmatched unmatched) {
    observe::FaultSnapshot fault;
    fault.unmatched = {std::move(unmatched)};
    return faultNote(fault, now).toStdString();
  };
  EXPECT_THAT(note({.what = What::Topic, .name = "payments"}), HasSubstr("there is no topic payments"));
  EXPECT_EQ(note({.what = What::Topic, .name = "orders"}), "");
  EXPECT_THAT(note({.what = What::Partition, .name = "orders-7"}), HasSubstr("there is no partition orders-7"));
  EXPECT_EQ(note({.what = What::Partition, .name = "orders-2"}), "");
  EXPECT_THAT(note({.what = What::Path, .name = "*.x", .node = NodeId(2)}),
              HasSubstr("broker 2 has no file or folder *.x"));
}

TEST_F(FaultsOverTest, TheFoldIsThereOnceSomethingIsOverAndKeysOpenIt) {
  EXPECT_TRUE(panel().fold().isHidden());
  EXPECT_TRUE(panel().overList().isHidden());
  EXPECT_THAT(panel().emptyText().toStdString(), HasSubstr("Brokers, links and clients have a menu"));
  heal(set(R"({"kind": "cut", "target": "link 1<->2"})"));
  EXPECT_FALSE(panel().fold().isHidden());
  EXPECT_TRUE(panel().overList().isHidden()) << "closed at first";
  EXPECT_EQ(panel().fold().text(), QStringLiteral("OVER  1"));
  EXPECT_THAT(panel().emptyText().toStdString(), HasSubstr("listed below"));
  panel().fold().setFocus();
  QTest::keyClick(&panel().fold(), Qt::Key_Return);
  EXPECT_FALSE(panel().overList().isHidden());
  QTest::keyClick(&panel().fold(), Qt::Key_Space);
  EXPECT_TRUE(panel().overList().isHidden());
  set(R"({"kind": "cut", "target": "link 1<->3"})");
  EXPECT_EQ(panel().emptyText(), QString()) << "the list is there";
}

TEST_F(FaultsOverTest, WhatIsOverTellsWhenHowOftenWhyAndWhatItLeft) {
  const QAbstractItemModelTester tester(&panel().overModel());
  const int delay = set(R"({"kind": "delay", "target": "link 1->3", "delayMs": 80})");
  cluster.fire(delay, 23);
  run(2s);
  const platform::WallTime healedAt = window->bridge().newest()->wall;
  heal(delay);
  set(R"({"kind": "cut", "target": "link 1<->2", "durationMs": 400})");
  run(1s);
  cluster.lasting.flippedByte = 2048;
  cluster.lasting.add("/tmp/lab/broker-2/orders-0/00000000000000000000.log");
  set(R"({"kind": "bit-flip", "target": "broker 2", "path": "orders-0/*.log"})");
  EXPECT_THAT(titlesOver(),
              ElementsAre("Broker 2: bit flipped in orders-0/*.log", "Link 1 ↔ 2 cut", "Link 1 → 3 +80 ms"));
  const FaultOverModel& model = panel().overModel();
  const auto cell = [&model](int row, FaultOverModel::Column column) {
    return model.index(row, column).data().toString().toStdString();
  };
  EXPECT_EQ(cell(0, FaultOverModel::Why), "happened");
  EXPECT_EQ(cell(1, FaultOverModel::Why), "time over");
  EXPECT_EQ(cell(2, FaultOverModel::Why), "healed");
  EXPECT_EQ(cell(2, FaultOverModel::Met), "23 transfers");
  EXPECT_EQ(cell(1, FaultOverModel::Met), "met nothing");
  EXPECT_THAT(cell(2, FaultOverModel::Ended), HasSubstr(timeText(healedAt).left(8).toStdString()));
  EXPECT_THAT(cell(1, FaultOverModel::After), HasSubstr("400 ms"));
  EXPECT_THAT(cell(0, FaultOverModel::Left), HasSubstr("/tmp/lab/broker-2/orders-0/00000000000000000000.log"));
  EXPECT_EQ(model.rows()[0].lasting.join(QLatin1Char('|')).replace(QChar(0x2005), QLatin1Char(' ')),
            QStringLiteral("lowest bit of byte 2 048 flipped in broker-2/orders-0/00000000000000000000.log"));
  EXPECT_EQ(cell(1, FaultOverModel::Left), "");
  const std::string spoken = model.index(0, 0).data(Qt::AccessibleTextRole).toString().toStdString();
  EXPECT_THAT(spoken, HasSubstr("Left behind: lowest bit of byte"));
  EXPECT_THAT(spoken, HasSubstr("written over since"));
  EXPECT_THAT(panel().fold().text().toStdString(), HasSubstr("1 left something behind"));
  panel().fold().setChecked(true);
  QCoreApplication::processEvents();
  const auto height = [this](int row) {
    return panel().overList().visualRect(panel().overModel().index(row, 0)).height();
  };
  EXPECT_GT(height(0), height(1)) << "what stays is written on the card";
}

TEST_F(FaultsOverTest, OneThatCouldNotBeginSaysWhyAndOneThatWasInVainSaysForWhom) {
  observe::ClusterSnapshot now = *window->bridge().snapshot();
  now.faultsOver.push_back({.id = 1,
                            .fault = *faults::parseFault(R"({"kind": "kill", "target": "leader of payments-0"})"),
                            .broker = kNoNode,
                            .ending = faults::Ending::Dropped,
                            .reason = "there is no partition payments-0"});
  now.faultsOver.push_back(
      {.id = 2,
       .fault = *faults::parseFault(R"({"kind": "disk-error", "target": "broker 2", "path": "*.x"})"),
       .broker = NodeId(2),
       .ending = faults::Ending::Healed,
       .unmatched = {{.what = faults::Unmatched::What::Path, .name = "*.x", .node = NodeId(2)}}});
  cluster.show(now);
  window->bridge().refresh();
  const std::vector<FaultOverRow>& rows = panel().overModel().rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].note.toStdString(), HasSubstr("broker 2 has no file or folder *.x"));
  EXPECT_EQ(panel().overModel().index(1, FaultOverModel::Why).data().toString(),
            QStringLiteral("dropped: there is no partition payments-0"));
}

TEST_F(FaultsOverTest, WhatStaysIsNamedByItsKind) {
  observe::FaultOverSnapshot over;
  const auto text = [&over](bool whole) {
    return lastingTexts(over.fault.kind, over.lasting, whole).join(QStringLiteral("; ")).toStdString();
  };
  EXPECT_EQ(text(false), "");
  over.fault.kind = faults::Kind::Wipe;
  over.lasting.add("/data/broker-1/orders-0");
  over.lasting.add("/data/broker-1/orders-1");
  EXPECT_EQ(text(false), "wiped: data/broker-1/orders-0 and 1 more");
  EXPECT_EQ(text(true), "wiped: /data/broker-1/orders-0, /data/broker-1/orders-1");
  over.lasting.morePaths = 4;
  EXPECT_EQ(text(true), "wiped: /data/broker-1/orders-0, /data/broker-1/orders-1 and 4 more");
  EXPECT_EQ(text(false), "wiped: data/broker-1/orders-0 and 5 more");
  over.fault.kind = faults::Kind::PowerLoss;
  EXPECT_THAT(text(false), HasSubstr("cut off where it was last synced: "));
  over.lasting = {};
  over.lasting.addCut("/data/broker-1/orders-0/00.log", 700);
  over.lasting.addCut("/data/broker-1/orders-0/00.index", 16);
  EXPECT_EQ(text(false), "716 B lost that were not synced: 700 B of orders-0/00.log and 1 more");
  EXPECT_EQ(text(true),
            "716 B lost that were not synced: 700 B of /data/broker-1/orders-0/00.log, 16 B of "
            "/data/broker-1/orders-0/00.index");
  over.fault.kind = faults::Kind::ClockDrift;
  over.lasting = {.wall = -5s, .monotonic = 700us};
  EXPECT_EQ(text(false), "wall clock −5.0 s until it starts anew; monotonic clock +700 µs until it starts anew");
}

TEST_F(FaultsOverTest, InTheListOfThoseThatAreOverKeysDoNotMeanTheOthers) {
  heal(set(R"({"kind": "cut", "target": "link 1<->2"})"));
  set(R"({"kind": "hold", "target": "link 2->3"})");
  panel().fold().setChecked(true);
  panel().overList().setFocus();
  panel().overList().setCurrentIndex(panel().overModel().index(0, 0));
  const size_t before = cluster.commands.size();
  for (const Qt::Key key : {Qt::Key_Delete, Qt::Key_Backspace, Qt::Key_S}) QTest::keyClick(&panel().overList(), key);
  panel().fold().setFocus();
  QTest::keyClick(&panel().fold(), Qt::Key_Delete);
  EXPECT_EQ(cluster.commands.size(), before) << cluster.commands.back();
  panel().overList().setFocus();
  QTest::keyClick(&panel().overList(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_THAT(QApplication::clipboard()->text().toStdString(), HasSubstr("left behind\nLink 1 ↔ 2 cut\t"));
}

TEST_F(FaultsOverTest, OneThatIsOverCanBeSetAgain) {
  heal(set(R"({"kind": "delay", "target": "link 1->3", "delayMs": 80})"));
  QMenu menu;
  window->faultActions().fillOver(menu, panel().overModel().rows()[0].fault);
  ASSERT_EQ(menu.actions().size(), 1);
  menu.actions().front()->trigger();
  ASSERT_NE(window->faultActions().dialog(), nullptr);
  EXPECT_EQ(faults::toJson(*window->faultActions().dialog()->fault()),
            R"({"delayMs":80,"kind":"delay","target":"link 1->3"})");
  window->travel().lookAt(window->bridge().newest()->wall);
  QMenu then;
  window->faultActions().fillOver(then, panel().overModel().rows()[0].fault);
  EXPECT_FALSE(then.actions().front()->isEnabled()) << "a moment of the past is shown";
}

/// As the engine answers once its patience is at its end.
const Error kLate{ErrorCode::RequestTimedOut,
                  "broker 2 is started and goes on trying, but is not registered after 30 s: no controller is active"};

TEST_F(FaultsOverTest, WhoStartsABrokerHearsWhatItLacks) {
  cluster.killBroker(NodeId(2), [](const Result<void>&) {});
  run(20ms);
  cluster.failNext(kLate);
  window->command(EngineBridge::BrokerCommand::Restart, NodeId(2));
  run(20ms);
  EXPECT_TRUE(waitFor([this] { return said().starts_with("Not yet: broker 2 is started and goes on trying"); }))
      << said();
  cluster.failNext({ErrorCode::InvalidRequest, "not today"});
  window->command(EngineBridge::BrokerCommand::Restart, NodeId(2));
  run(20ms);
  EXPECT_TRUE(waitFor([this] { return said().starts_with("Broker 2 did not start: not today"); })) << said();
}

TEST_F(FaultsOverTest, AFaultIsHealedEvenIfItsBrokerDoesNotComeBack) {
  const int kill = set(R"({"kind": "kill", "target": "broker 2"})");
  cluster.failNext(kLate);
  window->faultActions().heal(kill);
  run(20ms);
  EXPECT_TRUE(waitFor([this] { return said().starts_with("Broker 2 killed: healed, but broker 2 is started"); }))
      << said();
}

TEST_F(FaultsOverTest, WhoHealsHearsHowManyThereWereAndWhoStaysDownAllTheSame) {
  const int cut = set(R"({"kind": "cut", "target": "link 1<->2"})");
  heal(cut);
  EXPECT_TRUE(waitFor([this] { return said() == "Link 1 ↔ 2 cut: healed"; })) << said();
  const int pause = set(R"({"kind": "pause", "target": "broker 1"})");
  set(R"({"kind": "kill", "target": "broker 3"})");
  cluster.die(NodeId(2));
  heal(pause);
  EXPECT_TRUE(waitFor([this] {
    return said() == "Broker 1 paused: healed. Broker 2 stays down: start it from its menu";
  })) << said();
  set(R"({"kind": "cut", "target": "link 1<->3"})");
  cluster.die(NodeId(1));
  window->faultActions().healAll();
  run(20ms);
  EXPECT_TRUE(waitFor([this] {
    return said() == "2 faults healed. Broker 1, broker 2 stay down: start each from its menu";
  })) << said();
}

class ControllersOverTest : public FaultsOverTest {
 protected:
  void SetUp() override {
    launch(3, 3, 3);
    makeWindow();
    run(50ms);
  }
};

TEST_F(ControllersOverTest, WhatAControllerHasNotIsSaidOfAController) {
  using What = faults::Unmatched::What;
  observe::ClusterSnapshot now = *window->bridge().snapshot();
  now.brokers[4].state = observe::BrokerState::Killed;
  observe::FaultSnapshot fault;
  observe::FaultOverSnapshot over;
  for (const NodeId node : {NodeId(2), NodeId(5)}) {
    fault.unmatched.push_back({.what = What::Path, .name = "*.x", .node = node});
  }
  over.unmatched = fault.unmatched;
  EXPECT_EQ(faultNote(fault, now).toStdString(),
            "Matches nothing yet: broker 2 has no file or folder *.x; controller 5 has no file or folder *.x");
  EXPECT_EQ(faultNote(over, now).toStdString(),
            "Matched nothing when it was set: broker 2 has no file or folder *.x; controller 5 has no file or folder "
            "*.x");
}

TEST_F(ControllersOverTest, AControllerThatStaysDownIsNamedAsOne) {
  set(R"({"kind": "cut", "target": "link 1<->2"})");
  cluster.die(NodeId(2));
  cluster.die(NodeId(5));
  window->faultActions().healAll();
  run(20ms);
  EXPECT_TRUE(waitFor([this] {
    return said() == "1 fault healed. Broker 2, controller 5 stay down: start each from its menu";
  })) << said();
}

}  // namespace
}  // namespace tidemark::widgets
