// The timeline: what is remembered, one time axis, causes, the way to the event.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "faults/fault_json.h"
#include "models/event_model.h"
#include "models/timeline_past.h"
#include "theme/draw.h"
#include "theme/theme.h"
#include "timeline/cause_card.h"
#include "timeline/moment_steps.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_lanes.h"
#include "timeline/timeline_page.h"
#include "timeline/timeline_plot.h"
#include "views/cluster_page.h"
#include "views/event_panel.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using State = TimelineStretch::State;

const TopicPartition kOrders{"orders", PartitionIndex(0)};
constexpr platform::WallTime kStart{1'000'000s};

TEST(TimelineSeriesTest, HoldsTheValueUntilTheNextPoint) {
  TimelineSeries series;
  EXPECT_FALSE(series.at(kStart).has_value());
  series.add(kStart, 5, 100ms);
  series.add(kStart + 1s, 9, 100ms);
  EXPECT_FALSE(series.at(kStart - 1ms).has_value());
  EXPECT_EQ(series.at(kStart), 5);
  EXPECT_EQ(series.at(kStart + 999ms), 5);
  EXPECT_EQ(series.at(kStart + 5h), 9);
}

TEST(TimelineSeriesTest, WithinAStepTheNewestIsKeptOfLagsTheGreatest) {
  TimelineSeries ends;
  TimelineSeries lags;
  for (const auto& [ms, value] : {std::pair(0, 1), {200, 2}, {210, 8}, {220, 4}}) {
    ends.add(kStart + std::chrono::milliseconds(ms), value, 100ms);
    lags.addPeak(kStart + std::chrono::milliseconds(ms), value, 100ms);
  }
  ASSERT_EQ(ends.points().size(), 2u);
  EXPECT_EQ(ends.points().back().value, 4);
  ASSERT_EQ(lags.points().size(), 2u);
  EXPECT_EQ(lags.points().back().value, 8);
  lags.addPeak(kStart + 400ms, 0, 100ms);
  EXPECT_EQ(lags.points().back().value, 0) << "and then it is caught up";
}

TEST(TimelineSeriesTest, WhatIsForgottenLeavesTheValueAtTheEdge) {
  TimelineSeries series;
  for (int i = 0; i < 10; ++i) series.add(kStart + std::chrono::seconds(i), i, 1ms);
  series.forget(kStart + 5500ms);
  EXPECT_EQ(series.at(kStart + 5500ms), 5);
  EXPECT_EQ(series.points().size(), 5u);
}

class TimelineTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    window->clusterPage().showView(ClusterPage::View::Timeline);
    cluster.setLoad(40);
    pass(1s);
  }
  TimelinePage& page() { return window->clusterPage().timeline(); }
  const TimelinePartition& past() { return *page().past().find(kOrders); }
  void inject(const char* json) {
    window->bridge().setFault(*faults::parseFault(json), window.get(), {});
    run(20ms);
  }
  NodeId leader() { return observe::findPartition(*window->bridge().snapshot(), kOrders)->leader; }
  template <class Kind>
  std::optional<TimelineMark> markOf() {
    for (const TimelineMark& mark : marksOf(page().past(), kOrders))
      for (const observe::ObservedEvent& event : past().events)
        if (event.number == mark.event && std::holds_alternative<Kind>(event.event.payload)) return mark;
    return std::nullopt;
  }
};

TEST_F(TimelineTest, RemembersLeadersIsrAndEpochs) {
  const NodeId first = leader();
  cluster.killBroker(first, [](const Result<void>&) {});
  pass(3s);
  const NodeId second = leader();
  ASSERT_NE(second, first);
  const auto& old = past().copies.at(first).stretches;
  EXPECT_TRUE(old.front().leader);
  EXPECT_EQ(old.back().state, State::Down);
  const auto& next = past().copies.at(second).stretches;
  EXPECT_TRUE(next.back().leader);
  EXPECT_GT(next.back().epoch, old.front().epoch);
  EXPECT_FALSE(next.front().leader);
  ASSERT_TRUE(markOf<events::LeaderElected>().has_value());
}

TEST_F(TimelineTest, RemembersOffsetsAndLags) {
  const auto before = past().highWatermark.points().size();
  EXPECT_GT(before, 3u);
  cluster.pauseBroker(NodeId(3), [](const Result<void>&) {});
  pass(2s);
  const auto lag = past().copies.at(NodeId(3)).lag.points().back().value;
  EXPECT_GT(lag, 10);
  EXPECT_EQ(past().copies.at(leader()).lag.points().back().value, 0);
  const auto end = past().copies.at(NodeId(3)).logEnd.points().back().value;
  EXPECT_EQ(end + lag, past().copies.at(leader()).logEnd.points().back().value);
}

TEST_F(TimelineTest, FaultsHaveABeginningAndAnEnd) {
  inject(R"({"kind": "delay", "target": "link 1->2", "delayMs": 80, "durationMs": 2000})");
  run(500ms);
  ASSERT_EQ(page().past().faults().size(), 1u);
  const TimelineFault& fault = page().past().faults().front();
  EXPECT_EQ(fault.title, QStringLiteral("Link 1 → 2 +80 ms"));
  EXPECT_FALSE(fault.end.has_value());
  ASSERT_TRUE(fault.expected.has_value());
  EXPECT_EQ(*fault.expected - fault.begin, 2s);
  pass(2s);
  ASSERT_TRUE(fault.end.has_value());
  EXPECT_EQ(*fault.end - fault.begin, 2s);
  inject(R"({"kind": "clock-jump", "target": "broker 1", "offsetMs": 1000})");
  pass(600ms);
  ASSERT_EQ(page().past().faults().size(), 2u);
  EXPECT_EQ(page().past().faults().back().end, page().past().faults().back().begin) << "at once over";
}

// Snapshots of a recording are a second apart: faults that began after one were drawn as over at once.
TEST(TimelinePastTest, AFaultThatARecordingListsLateIsNotOverAtOnce) {
  observe::ClusterSnapshot cluster;
  cluster.clusterId = "recorded";
  uint64_t number = 0;
  TimelinePast past;
  const auto add = [&](std::chrono::milliseconds at, std::vector<events::Payload> payloads = {}) {
    cluster.wall = kStart + at;
    std::vector<observe::ObservedEvent> told;
    for (const events::Payload& payload : payloads)
      told.push_back({.number = ++number,
                      .event = {.sequence = 0, .at = {}, .wall = cluster.wall, .broker = kNoNode, .payload = payload},
                      .topic = {},
                      .partition = {}});
    past.add(cluster, told);
  };
  const auto injected = [](int id) { return events::FaultInjected{.fault = id, .target = "kill broker 1"}; };
  add(100ms, {injected(1), injected(2), injected(3)});
  for (auto at = 200ms; at < 700ms; at += 100ms) add(at);
  const auto& faults = past.faults();
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].end, faults[0].begin) << "as far as can be seen";
  add(700ms, {events::FaultHealed{.fault = 2}});
  EXPECT_EQ(faults[1].end, kStart + 700ms) << "before a snapshot came";
  observe::FaultSnapshot& listed = cluster.faults.emplace_back();
  listed.id = 1;
  listed.fault.kind = faults::Kind::Kill;
  listed.fault.target = faults::NodeName{.by = {}, .id = NodeId(1), .partition = {}};
  add(1000ms);
  EXPECT_FALSE(faults[0].end.has_value());
  EXPECT_EQ(faults[0].title, QStringLiteral("Broker 1 killed"));
  cluster.faults.clear();
  add(1700ms, {events::FaultHealed{.fault = 1}});
  EXPECT_EQ(faults[0].end, kStart + 1700ms);
  EXPECT_EQ(faults[2].end, faults[2].begin) << "this one was";
}

TEST_F(TimelineTest, TheCauseOfALeftIsrIsTold) {
  playMock();
  const auto mark = markOf<events::IsrShrunk>();
  ASSERT_TRUE(mark.has_value());
  EXPECT_EQ(mark->broker, NodeId(3));
  const auto words = causeOf(*mark, page().past(), kOrders, *window->bridge().snapshot());
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(words->title, QStringLiteral("3 left the ISR"));
  EXPECT_TRUE(words->lines[0].startsWith(QStringLiteral("last caught up 10.2 s ago, replica.lag.time.max.ms 10")));
  EXPECT_TRUE(words->lines[1].startsWith(QStringLiteral("ISR {1, 2, 3} → {1, 2} · partition epoch")));
  EXPECT_GT(words->part, 0.99);
}

TEST_F(TimelineTest, HoverShowsTheCauseAndAClickFindsTheEvent) {
  playMock();
  const auto mark = markOf<events::IsrShrunk>();
  ASSERT_TRUE(mark.has_value());
  QCoreApplication::processEvents();
  TimelineLanes& lanes = page().lanes();
  const QPointF place = lanes.placeOf(*mark);
  QMouseEvent move(QEvent::MouseMove, place, lanes.mapToGlobal(place), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&lanes, &move);
  EXPECT_TRUE(waitFor([this] { return page().card().isVisible(); }));
  EXPECT_TRUE(page().card().asText().startsWith(QStringLiteral("3 left the ISR")))
      << page().card().asText().toStdString();
  // Even if a filter hides it.
  window->events().filter().setWords(QStringLiteral("nothing like it"));
  for (QLineEdit* line : window->findChildren<QLineEdit*>())
    if (line->placeholderText() == QStringLiteral("Filter events")) line->setText(QStringLiteral("nothing like it"));
  QTest::mouseClick(&lanes, Qt::LeftButton, {}, place.toPoint());
  const QModelIndex current = window->events().table()->currentIndex();
  ASSERT_TRUE(current.isValid());
  EXPECT_EQ(current.data(EventModel::NumberRole).toULongLong(), mark->event);
  EXPECT_TRUE(window->events().table()->isVisible());
}

TEST_F(TimelineTest, KeysGoFromChangeToChange) {
  cluster.killBroker(leader(), [](const Result<void>&) {});
  pass(3s);
  const auto marks = marksOf(page().past(), kOrders);
  ASSERT_GT(marks.size(), 2u);
  page().setFocus();
  QTest::keyClick(&page(), Qt::Key_Left);
  ASSERT_TRUE(page().current().has_value());
  EXPECT_EQ(*page().current(), marks.back());
  EXPECT_TRUE(page().card().isVisible());
  EXPECT_EQ(page().axis().cursor(), marks.back().at);
  QTest::keyClick(&page(), Qt::Key_Left);
  EXPECT_EQ(*page().current(), marks[marks.size() - 2]);
  for (int i = 0; i < 100; ++i) QTest::keyClick(&page(), Qt::Key_Left);
  EXPECT_EQ(*page().current(), marks.front());
  QTest::keyClick(&page(), Qt::Key_Right);
  EXPECT_EQ(*page().current(), marks[1]);
  QSignalSpy wanted(&page(), &TimelinePage::eventWanted);
  QTest::keyClick(&page(), Qt::Key_Return);
  ASSERT_EQ(wanted.count(), 1);
  EXPECT_EQ(wanted[0][0].toULongLong(), marks[1].event);
}

TEST_F(TimelineTest, FollowsUntilItIsMovedAndAgainWhenTold) {
  const auto end = page().axis().end();
  run(500ms);
  EXPECT_GT(page().axis().end(), end);
  QTest::keyClick(&page(), Qt::Key_PageUp);
  EXPECT_FALSE(page().axis().follows());
  const auto held = page().axis().end();
  run(500ms);
  EXPECT_EQ(page().axis().end(), held);
  QTest::keyClick(&page(), Qt::Key_L);
  EXPECT_TRUE(page().axis().follows());
  run(500ms);
  EXPECT_EQ(page().axis().end(), page().axis().now());
}

TEST_F(TimelineTest, WhatIsPastIsNotDrawnAgain) {
  QTest::keyClick(&page(), Qt::Key_PageUp);
  // Whoever wants a drawing gets it at once, or it is due from then on: nothing else has to be waited for.
  const auto allDrawn = [this] { return !page().plot().isDue(); };
  ASSERT_TRUE(waitFor(allDrawn));
  const int drawn = page().plot().drawings();
  EXPECT_GT(drawn, 0);
  pass(1s);
  ASSERT_TRUE(waitFor(allDrawn));
  EXPECT_EQ(page().plot().drawings(), drawn);
}

TEST_F(TimelineTest, TheDrawingTakesNoMorePointsThanPixels) {
  cluster.setLoad(500);
  page().axis().setSpan(TimeAxis::kLongest);
  pass(90s);
  const int drawn = page().plot().drawings();
  run(2s);
  ASSERT_TRUE(waitFor([&] { return page().plot().drawings() > drawn; }));
  EXPECT_GT(past().highWatermark.points().size(), 500u);
  EXPECT_GT(page().plot().points(), 100);
  // Three log ends, three lags, one high watermark; a tenth of the view holds what there is.
  EXPECT_LT(page().plot().points(), 7 * (2 * page().plot().width() / 10 + 10));
}

TEST_F(TimelineTest, WhatIsRememberedIsBounded) {
  observe::ClusterSnapshot now = *window->bridge().snapshot();
  TimelinePast past;
  for (int i = 0; i < 40'000; ++i) {
    now.wall += 40ms;
    auto& partition = now.topics[0].partitions[0];
    partition.highWatermark = partition.highWatermark + 1;
    partition.logEnd = partition.logEnd + 1;
    for (auto& copy : partition.copies) copy.logEnd = copy.logEnd + 1 + i % 2;
    observe::ObservedEvent event;
    event.number = static_cast<uint64_t>(i + 1);
    event.event.wall = now.wall;
    event.topic = "orders";
    event.partition = PartitionIndex(0);
    event.event.payload = events::IsrExpanded{};
    past.add(now, {event});
  }
  const TimelinePartition* found = past.find(kOrders);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->events.size(), TimelinePast::kEvents);
  EXPECT_GE(found->highWatermark.points().front().at, now.wall - TimelinePast::kKept - 1s);
  EXPECT_LE(found->highWatermark.points().size(), static_cast<size_t>(TimelinePast::kKept / TimelinePast::kStep) + 2);
}

TEST(TimeAxisTest, ZoomsAroundATimeAndNeverIntoTheFuture) {
  TimeAxis axis;
  axis.setNow(kStart);
  EXPECT_TRUE(axis.follows());
  axis.zoom(0.5, kStart - 30s);
  EXPECT_EQ(axis.span(), 60s);
  EXPECT_EQ(axis.end(), kStart) << "whoever follows goes on following";
  axis.pan(-40s);
  EXPECT_FALSE(axis.follows());
  const auto around = axis.at(0.25);
  axis.zoom(0.5, around);
  EXPECT_NEAR(axis.part(around), 0.25, 0.001);
  axis.pan(10min);
  EXPECT_EQ(axis.end(), kStart);
  EXPECT_TRUE(axis.follows());
  axis.zoom(1e-9, kStart);
  EXPECT_EQ(axis.span(), TimeAxis::kShortest);
  axis.zoom(1e9, kStart);
  EXPECT_EQ(axis.span(), TimeAxis::kLongest);
}

TEST_F(TimelineTest, TheTableTwinTellsTheChangesWithTheirCauses) {
  playMock();
  QTest::keyClick(window.get(), Qt::Key_T);
  ASSERT_TRUE(window->clusterPage().showsTable());
  const QAbstractItemModel* table = page().table().model();
  bool told = false;
  for (int row = 0; row < table->rowCount(); ++row)
    told = told || table->index(row, 1).data().toString() == QStringLiteral("3 left the ISR");
  EXPECT_TRUE(told);
}

TEST_F(TimelineTest, AnotherClusterBeginsAnew) {
  EXPECT_GT(page().past().size(), 0u);
  cluster.shutdown([](const Result<void>&) {});
  run(20ms);
  EXPECT_EQ(page().past().size(), 0u);
}

TEST(TimelinePast, AnElectionCountsFromItsEventAndNotFromTheNextSnapshot) {
  observe::ClusterSnapshot cluster = fake::mockMoment(0);
  observe::PartitionSnapshot& partition = cluster.topics[0].partitions[0];
  const TopicPartition name{cluster.topics[0].name, partition.index};
  const NodeId before = partition.leader;
  const NodeId after = before == NodeId(1) ? NodeId(2) : NodeId(1);
  TimelinePast past;
  past.add(cluster, {});
  observe::ObservedEvent elected;
  elected.number = 1;
  elected.topic = name.topic;
  elected.partition = name.partition;
  elected.event.wall = cluster.wall + 20ms;
  elected.event.payload = events::LeaderElected{
      {}, before, after, LeaderEpoch(partition.leaderEpoch.value() + 1), events::ElectionCause::Preferred};
  past.add(cluster, {elected});
  const TimelinePartition& told = *past.find(name);
  EXPECT_TRUE(told.copies.at(after).at(elected.event.wall)->leader);
  EXPECT_FALSE(told.copies.at(before).at(elected.event.wall)->leader);
  EXPECT_TRUE(told.copies.at(before).at(elected.event.wall - 1ms)->leader);
  // The snapshot that shows it says nothing new; one that was late says nothing at all.
  cluster.wall += 30ms;
  past.add(cluster, {});
  EXPECT_TRUE(told.copies.at(after).stretches.back().leader);
  partition.leader = after;
  partition.leaderEpoch = LeaderEpoch(partition.leaderEpoch.value() + 1);
  for (observe::ReplicaSnapshot& copy : partition.copies) copy.leader = copy.broker == after;
  cluster.wall += 70ms;
  past.add(cluster, {});
  EXPECT_EQ(told.copies.at(after).stretches.back().begin, elected.event.wall);
  EXPECT_EQ(told.copies.at(before).stretches.size(), 2u);
}

TEST(MomentSteps, LabelsDifferAndHaveRoom) {
  for (const double range : {20.0, 2e3, 9e3, 120e3, 900e3, 86400e3}) {
    for (const double pixels : {220.0, 600.0, 1400.0}) {
      const double step = momentStep(range, pixels);
      const QString one = momentText(step * 1000, step);
      EXPECT_NE(one, momentText(step * 1001, step)) << range << " ms on " << pixels;
      EXPECT_GT(step / range * pixels, textWidth(one, Theme::mono(11.5)) + 6) << range << " ms on " << pixels;
    }
  }
}

}  // namespace
}  // namespace tidemark::widgets
