// Pictures of the views: not blank, in light and dark; written to $TIDEMARK_SHOTS if that is set, to be looked at.
#include <fmt/format.h>

#include <QDir>
#include <QPixmap>
#include <QPushButton>
#include <QTest>

#include "belts/belts_view.h"
#include "dialogs/consume_dialog.h"
#include "dialogs/produce_dialog.h"
#include "dialogs/topic_dialog.h"
#include "faults/fault_dialog.h"
#include "faults/fault_json.h"
#include "faults/faults_panel.h"
#include "launch/launch_page.h"
#include "map/map_page.h"
#include "map/map_view.h"
#include "timeline/timeline_page.h"
#include "views/cluster_page.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

class PictureTest : public WindowTest, public ::testing::WithParamInterface<ThemeChoice> {
 protected:
  void SetUp() override { Theme::instance().setChoice(GetParam()); }
  void TearDown() override {
    // Nobody looks at it in other colours any more.
    window.reset();
    Theme::instance().setChoice(ThemeChoice::Automatic);
  }
  void keep(QWidget& widget, const char* name) const {
    const QString folder = qEnvironmentVariable("TIDEMARK_SHOTS");
    if (folder.isEmpty()) return;
    QDir().mkpath(folder);
    const QString theme = GetParam() == ThemeChoice::Dark ? QStringLiteral("dark") : QStringLiteral("light");
    ASSERT_TRUE(widget.grab().save(QStringLiteral("%1/%2-%3.png").arg(folder, QLatin1String(name), theme)));
  }
};

TEST_P(PictureTest, OfTheDesignsMomentShowsItsBelts) {
  makeWindow();
  playMock();
  window->pick({Picked::What::Broker, NodeId(3), {}});
  QTest::qWait(150);
  keep(*window, "mock");
  EXPECT_GT(coloursIn(window->clusterPage().belts().grab().toImage()), 40);
}

TEST_P(PictureTest, OfTheFirstPageShowsWhatWillStart) {
  makeWindow();
  QCoreApplication::processEvents();
  keep(*window, "first-page");
  EXPECT_GT(coloursIn(window->launchPage().grab().toImage()), 40);
}

TEST_P(PictureTest, OfFiveReplicasFitsTheWindow) {
  observe::LaunchOptions options;
  options.brokers = 5;
  options.firstTopic = observe::TopicOptions{"orders", 12, 5, {}};
  cluster.launchNow(options);
  makeWindow();
  cluster.setLoad(300);
  for (int i = 0; i < 80; ++i) run(100ms);
  cluster.killBroker(NodeId(4), [](const Result<void>&) {});
  for (int i = 0; i < 30; ++i) run(100ms);
  window->pick({Picked::What::Partition, {}, {"orders", PartitionIndex(0)}});
  QTest::qWait(150);
  keep(*window, "five");
  EXPECT_GT(coloursIn(window->clusterPage().belts().grab().toImage()), 40);
}

TEST_P(PictureTest, OfTheTableTwinShowsRows) {
  makeWindow();
  playMock();
  window->clusterPage().showTable(true);
  window->resize(1280, 800);
  QTest::qWait(50);
  keep(*window, "table");
  EXPECT_GT(coloursIn(window->clusterPage().grab().toImage()), 20);
}

TEST_P(PictureTest, OfTheDialogsShowThemselves) {
  launch();
  makeWindow();
  run(50ms);
  TopicDialog topic(window->bridge());
  topic.show();
  keep(topic, "topic-dialog");
  EXPECT_GT(coloursIn(topic.grab().toImage()), 20);
  ProducerLoad load;
  ProduceDialog produce(window->bridge(), load);
  produce.show();
  keep(produce, "produce-dialog");
  EXPECT_GT(coloursIn(produce.grab().toImage()), 20);
  ConsumeDialog consume(window->bridge());
  ReadRecord record;
  record.offset = 1286;
  record.timestamp = 1'790'604'131'385;
  record.key = "key-17";
  record.value = "record 17 ....";
  record.keyIsNull = record.valueIsNull = false;
  consume.model().append({record, record});
  consume.show();
  keep(consume, "consume-dialog");
  EXPECT_GT(coloursIn(consume.grab().toImage()), 20);
}

TEST_P(PictureTest, OfASmallWindowStillHoldsTogether) {
  makeWindow();
  playMock();
  window->resize(1024, 700);
  QTest::qWait(50);
  keep(*window, "small");
  EXPECT_LE(window->width(), 1100);
}

TEST_P(PictureTest, OfTheMapShowsWhatIsBroken) {
  makeWindow();
  playMock();
  window->clusterPage().showView(ClusterPage::View::Map);
  QTest::qWait(50);
  keep(*window, "map");
  EXPECT_GT(coloursIn(window->clusterPage().map().map().grab().toImage()), 40);
  window->resize(1100, 760);
  QTest::qWait(50);
  keep(*window, "map-small");
}

TEST_P(PictureTest, OfControllersOfTheirOwnShowsThemApart) {
  launch(3, 3, 3);
  makeWindow();
  cluster.setLoad(40);
  pass(2s);
  for (const char* json :
       {R"({"kind": "cut", "target": "link 2<->4"})", R"({"kind": "pause", "target": "controller 6"})",
        R"({"kind": "slow", "target": "controller 5", "delayMs": 200})"})
    window->bridge().setFault(*faults::parseFault(json), window.get(), {});
  pass(1s);
  window->clusterPage().showView(ClusterPage::View::Map);
  window->pick({Picked::What::Broker, NodeId(4), {}});
  QTest::qWait(50);
  keep(*window, "controllers");
  window->resize(1280, 800);
  QTest::qWait(50);
  keep(*window, "controllers-1280");
  EXPECT_GT(coloursIn(window->clusterPage().map().map().grab().toImage()), 40);
}

TEST_P(PictureTest, OfEveryPageFitsAnUsualScreen) {
  makeWindow();
  playMock();
  window->resize(1280, 800);
  window->pick({Picked::What::Broker, NodeId(3), {}});
  using View = ClusterPage::View;
  for (const auto& [view, name] :
       {std::pair{View::Belts, "belts"}, std::pair{View::Segments, "segments"}, std::pair{View::Cleaner, "cleaner"},
        std::pair{View::Map, "map"}, std::pair{View::Timeline, "timeline"}, std::pair{View::Groups, "groups"},
        std::pair{View::Transactions, "transactions"}}) {
    window->clusterPage().showView(view);
    QTest::qWait(50);
    keep(*window, fmt::format("usual-{}", name).c_str());
    EXPECT_EQ(window->size(), QSize(1280, 800)) << name << " widens the window";
  }
}

TEST_P(PictureTest, OfTheTimelineShowsWhoLedAndWhatWasBroken) {
  makeWindow();
  playMock();
  window->clusterPage().showView(ClusterPage::View::Timeline);
  QTest::qWait(50);
  window->clusterPage().timeline().step(-1);
  QTest::qWait(50);
  keep(*window, "timeline");
  EXPECT_GT(coloursIn(window->clusterPage().timeline().grab().toImage()), 40);
}

TEST_P(PictureTest, OfTheFaultsShowsWhatMatchesNothingAndWhatIsOver) {
  makeWindow();
  playMock();
  const auto fault = [](const char* json) { return *faults::parseFault(json); };
  observe::ClusterSnapshot now = fake::mockMoment(0);
  now.faults.push_back({.id = 9,
                        .fault = fault(R"({"kind": "request-drop", "target": "clients named billing-export"})"),
                        .broker = kNoNode,
                        .links = {},
                        .since = 3s,
                        .left = {},
                        .unmatched = {{.what = faults::Unmatched::What::Client, .name = "billing-export"}}});
  const auto over = [&](const char* json, faults::Ending ending, std::chrono::milliseconds ago, uint64_t fired,
                        faults::Lasting lasting, const char* reason = "") {
    now.faultsOver.push_back({.id = 20 + static_cast<int>(now.faultsOver.size()),
                              .fault = fault(json),
                              .broker = NodeId(2),
                              .ending = ending,
                              .reason = reason,
                              .setAt = now.at - ago - 7500ms,
                              .endedAt = now.at - ago,
                              .fired = fired,
                              .lasting = std::move(lasting)});
  };
  over(R"({"kind": "kill", "target": "leader of payments-0", "trigger": {"afterMs": 7500}})", faults::Ending::Dropped,
       50s, 0, {}, "there is no partition payments-0");
  over(R"({"kind": "cut", "target": "link 1<->2", "durationMs": 7500})", faults::Ending::Expired, 31s, 118, {});
  over(R"({"kind": "clock-jump", "target": "broker 2", "offsetMs": 5000})", faults::Ending::FiredOut, 20s, 1,
       {.wall = 5s});
  over(R"({"kind": "bit-flip", "target": "broker 2", "path": "orders-0/*.log"})", faults::Ending::FiredOut, 8s, 1,
       {.flippedByte = 20480, .paths = {"/tmp/tidemark-a1/broker-2/orders-0/00000000000000000000.log"}});
  cluster.show(now);
  window->bridge().refresh();
  FaultsPanel& panel = window->faults();
  for (const bool withMap : {false, true}) {
    window->clusterPage().showView(withMap ? ClusterPage::View::Map : ClusterPage::View::Belts);
    if (panel.visibleRegion().isEmpty()) window->showFaults();
    for (const bool open : {false, true}) {
      panel.fold().setChecked(open);
      panel.fold().clearFocus();
      QTest::qWait(50);
      const std::string name = fmt::format("faults{}{}", withMap ? "-map" : "", open ? "-over" : "");
      keep(*window, name.c_str());
      EXPECT_GT(coloursIn(panel.grab().toImage()), 40);
    }
  }
  now.faults.clear();
  cluster.show(now);
  window->bridge().refresh();
  QTest::qWait(50);
  keep(*window, "faults-none");
}

TEST_P(PictureTest, OfTheFaultDialogShowsItsFields) {
  launch();
  makeWindow();
  run(50ms);
  faults::Fault fault;
  fault.kind = faults::Kind::Delay;
  FaultDialog dialog(window->bridge());
  dialog.setFault(fault);
  dialog.show();
  QTest::qWait(20);
  keep(dialog, "fault-dialog");
  EXPECT_GT(coloursIn(dialog.grab().toImage()), 20);
  fault.kind = faults::Kind::RequestError;
  dialog.setFault(fault);
  QTest::qWait(20);
  keep(dialog, "fault-dialog-requests");
}

INSTANTIATE_TEST_SUITE_P(Themes, PictureTest, ::testing::Values(ThemeChoice::Light, ThemeChoice::Dark));

}  // namespace
}  // namespace tidemark::widgets
