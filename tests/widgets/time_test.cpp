// One time for all views: live or a moment of the past, stepped, played, recorded and opened again; and what the belts
// show of logs that broke off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QMouseEvent>
#include <QPushButton>
#include <QRegularExpression>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include "belts/belts_view.h"
#include "models/event_model.h"
#include "models/log_breaks.h"
#include "timeline/timeline_lanes.h"
#include "timeline/timeline_marks.h"
#include "timeline/timeline_page.h"
#include "views/cluster_page.h"
#include "views/event_panel.h"
#include "views/fact_list.h"
#include "views/inspector.h"
#include "views/isr_strip.h"
#include "views/time_bar.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const TopicPartition kFirstOfOrders{"orders", PartitionIndex(0)};
constexpr platform::WallTime kLongAgo{1'000'000s};

class TimeTest : public WindowTest {
 protected:
  void SetUp() override {
    launch();
    makeWindow();
    cluster.setLoad(40);
    pass(2s);
  }
  TimeTravel& travel() { return window->travel(); }
  const observe::PartitionSnapshot& shown() {
    return *observe::findPartition(*window->bridge().snapshot(), kFirstOfOrders);
  }
  const observe::PartitionSnapshot& newest() {
    return *observe::findPartition(*window->bridge().newest(), kFirstOfOrders);
  }
  void press(Qt::Key key) { QTest::keyClick(window.get(), key); }
  template <class Kind>
  const observe::ObservedEvent* last() {
    const observe::ObservedEvent* found = nullptr;
    for (const observe::ObservedEvent& one : window->bridge().recording().events())
      if (std::holds_alternative<Kind>(one.event.payload) && one.topic == kFirstOfOrders.topic &&
          one.partition == kFirstOfOrders.partition)
        found = &one;
    return found;
  }
  void lose(int64_t from, int64_t to, LeaderEpoch epoch = LeaderEpoch(5)) {
    events::Event event;
    event.at = window->bridge().newest()->at;
    event.wall = window->bridge().newest()->wall;
    event.broker = NodeId(2);
    event.payload = events::RecordsLost{{}, NodeId(2), epoch, Offset(from), Offset(to)};
    cluster.append(event, kFirstOfOrders.topic, kFirstOfOrders.partition);
    run(50ms);
  }
};

TEST_F(TimeTest, TheWindowSaysLiveAndAnEventThatIsPickedShowsItsMomentInEveryView) {
  EXPECT_EQ(window->clusterPage().moment().text(), QStringLiteral("LIVE"));
  EXPECT_FALSE(window->clusterPage().timeBar().isVisible());
  cluster.killBroker(shown().leader, [](const Result<void>&) {});
  pass(4s);
  const observe::ObservedEvent* elected = last<events::LeaderElected>();
  ASSERT_NE(elected, nullptr);
  const auto after = std::get<events::LeaderElected>(elected->event.payload);
  // As somebody would who goes through the table with the keys.
  const QAbstractItemModel* table = window->events().table()->model();
  for (int row = 0; row < table->rowCount(); ++row)
    if (table->index(row, 0).data(EventModel::NumberRole).toULongLong() == elected->number)
      window->events().table()->setCurrentIndex(table->index(row, 0));
  EXPECT_FALSE(travel().isLive());
  EXPECT_THAT(window->clusterPage().moment().text().toStdString(), HasSubstr("HISTORY"));
  EXPECT_TRUE(window->clusterPage().timeBar().isVisible());
  EXPECT_EQ(shown().leader, after.to);
  EXPECT_LT(shown().logEnd, newest().logEnd);
  EXPECT_EQ(travel().axis().held(), elected->event.wall);
  EXPECT_EQ(window->bridge().snapshot()->wall, elected->event.wall);
  // Just before it nobody had been elected.
  travel().step(-1);
  EXPECT_EQ(shown().leader, after.from);
  // Time goes on, what is shown does not.
  const Offset then = shown().logEnd;
  pass(500ms);
  EXPECT_EQ(shown().logEnd, then);
  press(Qt::Key_L);
  EXPECT_TRUE(travel().isLive());
  EXPECT_EQ(shown().logEnd, newest().logEnd);
  EXPECT_FALSE(window->clusterPage().timeBar().isVisible());
}

TEST_F(TimeTest, KeysStepFromEventToEvent) {
  press(Qt::Key_Comma);
  ASSERT_FALSE(travel().isLive());
  const uint64_t newest = *travel().eventNumber();
  for (int i = 0; i < 6; ++i) press(Qt::Key_Comma);
  const uint64_t older = *travel().eventNumber();
  EXPECT_LT(older, newest);
  press(Qt::Key_Period);
  EXPECT_GT(*travel().eventNumber(), older);
  // The table stands at the same moment.
  const QModelIndex current = window->events().table()->currentIndex();
  ASSERT_TRUE(current.isValid());
  EXPECT_LE(current.data(EventModel::NumberRole).toULongLong(), *travel().eventNumber());
  // Behind the newest one is the present.
  for (int i = 0; i < 20; ++i) press(Qt::Key_Period);
  EXPECT_TRUE(travel().isLive());
  press(Qt::Key_Period);
  EXPECT_TRUE(travel().isLive());
}

TEST_F(TimeTest, AClickOnTheStripAndOnTheTimelineShowsThatMoment) {
  IsrStrip* strip = window->findChild<IsrStrip*>();
  ASSERT_NE(strip, nullptr);
  travel().axis().setSpan(4s);
  const QPoint left(60, 40);
  QTest::mouseClick(strip, Qt::LeftButton, {}, left);
  ASSERT_FALSE(travel().isLive());
  const auto first = window->bridge().snapshot()->wall;
  EXPECT_LT(first, window->bridge().newest()->wall);
  window->clusterPage().showView(ClusterPage::View::Timeline);
  QCoreApplication::processEvents();
  TimelineLanes& lanes = window->clusterPage().timeline().lanes();
  QTest::mouseClick(&lanes, Qt::LeftButton, {},
                    QPoint(lanes.width() - static_cast<int>(kTimelineRight) - 40, lanes.height() - 60));
  EXPECT_GT(window->bridge().snapshot()->wall, first);
  EXPECT_EQ(travel().axis().held(), window->bridge().snapshot()->wall);
}

TEST_F(TimeTest, PlayedToItsEndThePastBecomesThePresent) {
  travel().lookAt(window->bridge().newest()->wall - 900ms);
  const Offset then = shown().logEnd;
  travel().setSpeed(4);
  press(Qt::Key_Space);
  EXPECT_TRUE(travel().isPlaying());
  ASSERT_TRUE(waitFor([this, then] { return travel().isLive() || shown().logEnd > then; }));
  ASSERT_TRUE(waitFor([this] { return travel().isLive(); }));
  EXPECT_FALSE(travel().isPlaying());
}

TEST_F(TimeTest, TheBarsSliderAndButtonsAreInReachOfTheKeyboard) {
  press(Qt::Key_Comma);
  TimeBar& bar = window->clusterPage().timeBar();
  bar.slider().setFocus();
  const auto before = window->bridge().snapshot()->wall;
  QTest::keyClick(&bar.slider(), Qt::Key_PageDown);
  EXPECT_LT(window->bridge().snapshot()->wall, before);
  EXPECT_NE(bar.playButton().focusPolicy(), Qt::NoFocus);
  EXPECT_NE(bar.speeds().focusPolicy(), Qt::NoFocus);
  bar.speeds().setCurrentIndex(0);
  EXPECT_DOUBLE_EQ(travel().speed(), 0.01);
}

TEST_F(TimeTest, WhatIsDoneToABrokerIsDoneNow) {
  press(Qt::Key_Comma);
  window->command(EngineBridge::BrokerCommand::Pause, NodeId(2));
  EXPECT_TRUE(travel().isLive());
  run(50ms);
  EXPECT_EQ(cluster.commands.back(), "pause 2");
}

TEST_F(TimeTest, AnotherClusterIsLive) {
  press(Qt::Key_Comma);
  ASSERT_FALSE(travel().isLive());
  cluster.shutdown([](const Result<void>&) {});
  run(20ms);
  EXPECT_TRUE(travel().isLive());
  EXPECT_TRUE(window->bridge().recording().empty());
}

TEST_F(TimeTest, ARecordingIsShownAtTheMomentThatIsAskedFor) {
  pass(4s);
  ASSERT_NO_FATAL_FAILURE(reopenRecording());
  const auto begin = replay->travel().begin();
  const auto lasts = replay->bridge().newest()->wall - begin;
  ASSERT_GE(lasts, 4s);
  for (const auto& [text, since] : {std::pair{"1.5s", 1500ms}, {"2", 2000ms}, {"700 ms", 700ms}, {"0s", 0ms}}) {
    EXPECT_EQ(replay->lookAt(QString::fromUtf8(text)), QString());
    EXPECT_LE(replay->travel().at(), begin + since) << text;
    EXPECT_GT(replay->travel().at(), begin + since - 200ms) << text << ": a snapshot was taken each tenth of a second";
  }
  const auto shown = replay->travel().at();
  EXPECT_EQ(replay->lookAt(QStringLiteral("soon")),
            QStringLiteral("“soon” is no time since the beginning, like 12.5s, 800ms or 1m08s"));
  EXPECT_EQ(replay->lookAt(QStringLiteral("-3s")), QStringLiteral("-3s is before the beginning of the recording"));
  EXPECT_EQ(replay->lookAt(QStringLiteral("1h")),
            QStringLiteral("1h is after the end of the recording, which lasts %1s")
                .arg(std::chrono::duration<double>(lasts).count()));
  EXPECT_EQ(replay->travel().at(), shown) << "nothing moved";
  EXPECT_EQ(replay->lookAt(QStringLiteral("%1ms").arg(lasts.count())), QString()) << "its end belongs to it";
}

TEST_F(TimeTest, ARecordingIsSavedOpenedAndReplayed) {
  cluster.killBroker(shown().leader, [](const Result<void>&) {});
  pass(4s);
  ASSERT_NO_FATAL_FAILURE(reopenRecording());
  replay->resize(1500, 950);
  replay->show();
  QCoreApplication::processEvents();
  EXPECT_TRUE(replay->showsCluster());
  EXPECT_TRUE(replay->travel().isRecorded());
  EXPECT_THAT(replay->clusterPage().moment().text().toStdString(), HasSubstr("RECORDING"));
  EXPECT_TRUE(replay->clusterPage().timeBar().isVisible());
  // It begins at the beginning, and its end is what was.
  const auto begin = replay->bridge().snapshot()->wall;
  const TimelinePartition* past = replay->travel().past().find(kFirstOfOrders);
  ASSERT_NE(past, nullptr);
  EXPECT_TRUE(std::ranges::any_of(
      past->events, [](const auto& one) { return std::holds_alternative<events::LeaderElected>(one.event.payload); }));
  replay->travel().goLive();
  EXPECT_GT(replay->bridge().snapshot()->wall, begin);
  EXPECT_EQ(observe::findPartition(*replay->bridge().snapshot(), kFirstOfOrders)->leader, newest().leader);
  EXPECT_EQ(observe::findPartition(*replay->bridge().snapshot(), kFirstOfOrders)->logEnd, newest().logEnd);
  EXPECT_GT(observe::findPartition(*replay->bridge().snapshot(), kFirstOfOrders)->copies[0].batches.size(), 5u);
  EXPECT_GT(replay->events().model().rowCount(), 5);
  // Played from its beginning.
  replay->travel().setSpeed(16);
  replay->travel().play();
  ASSERT_TRUE(waitFor([&] { return !replay->travel().isPlaying(); }));
  EXPECT_FALSE(replay->travel().isLive());
  // Nothing can be done about it.
  replay->command(EngineBridge::BrokerCommand::Kill, NodeId(2));
  QCoreApplication::processEvents();
  EXPECT_FALSE(replay->travel().isLive());
  keepPicture(*replay, QStringLiteral("recording"));
}

TEST_F(TimeTest, ARecordingOpensAtAPartitionThatIsThereWhereItBegins) {
  // By name it comes first, and is there at the end only.
  cluster.createTopic({.name = "audit", .partitions = 1}, [](const Result<void>&) {});
  pass(3s);
  ASSERT_NE(observe::findTopic(*window->bridge().newest(), "audit"), nullptr);
  ASSERT_EQ(window->bridge().newest()->topics.front().name, "audit");
  ASSERT_NO_FATAL_FAILURE(reopenRecording());
  ASSERT_TRUE(replay->clusterPage().partition());
  EXPECT_EQ(*replay->clusterPage().partition(), kFirstOfOrders);
  EXPECT_NE(observe::findPartition(*replay->bridge().snapshot(), kFirstOfOrders), nullptr);
}

TEST_F(TimeTest, OfADiskThatIsNotRecordedNothingIsTold) {
  ASSERT_NO_FATAL_FAILURE(saveRecording());
  const auto facts = [this] { return replay->inspector().findChild<FactList*>()->toText().toStdString(); };
  ASSERT_NO_FATAL_FAILURE(openRecording());
  replay->pick({Picked::What::Broker, NodeId(1), {}});
  EXPECT_THAT(facts(), HasSubstr("Disk"));
  QFile file(recordingPath());
  ASSERT_TRUE(file.open(QIODevice::ReadWrite));
  QString text = QString::fromUtf8(file.readAll());
  text.remove(QRegularExpression(QStringLiteral("\"diskBytes\":[0-9]+,?")));
  ASSERT_TRUE(file.resize(0) && file.seek(0));
  file.write(text.toUtf8());
  file.close();
  ASSERT_NO_FATAL_FAILURE(openRecording());
  replay->pick({Picked::What::Broker, NodeId(1), {}});
  EXPECT_THAT(facts(), testing::Not(HasSubstr("Disk")));
  EXPECT_THAT(facts(), HasSubstr("Threads"));
}

// Its writer was killed, or its disk was full.
TEST_F(TimeTest, ARecordingThatBreaksOffIsOpenedUpToThere) {
  pass(2s);
  ASSERT_NO_FATAL_FAILURE(saveRecording());
  QFile file(recordingPath());
  ASSERT_TRUE(file.resize(file.size() - 5));
  ASSERT_NO_FATAL_FAILURE(openRecording());
  EXPECT_THAT(replay->windowTitle().toStdString(), HasSubstr("breaks off"));
}

TEST_F(TimeTest, WhatIsNoRecordingIsRefusedInWords) {
  QFile file(recordingPath());
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("hello\n");
  file.close();
  QString error;
  EXPECT_EQ(MainWindow::openRecording(recordingPath(), &error), nullptr);
  EXPECT_THAT(error.toStdString(), HasSubstr("line 1"));
  EXPECT_EQ(MainWindow::openRecording(recordings.filePath(QStringLiteral("none")), &error), nullptr);
  EXPECT_THAT(error.toStdString(), HasSubstr("cannot be read"));
}

// What broke a log off.

TEST_F(TimeTest, LostRecordsStandInABannerUntilSomebodyHasTakenNote) {
  BeltsView& belts = window->clusterPage().belts();
  const double top = belts.layoutOfBelts().laneTop;
  const int64_t high = shown().highWatermark.value();
  // The new leader does not know how much there was; the window does.
  lose(high - 12, -1);
  ASSERT_EQ(belts.lostRecords().size(), 1u);
  EXPECT_EQ(belts.lostRecords()[0].from, Offset(high - 12));
  EXPECT_GE(belts.lostRecords()[0].count(), 12);
  EXPECT_GT(belts.layoutOfBelts().laneTop, top);
  // Whatever view is shown, and whatever partition.
  EXPECT_TRUE(window->clusterPage().lostButton().isVisible());
  window->clusterPage().showView(ClusterPage::View::Map);
  window->showPartition({"orders", PartitionIndex(1)});
  EXPECT_TRUE(belts.lostRecords().empty());
  window->clusterPage().lostButton().click();
  EXPECT_EQ(window->clusterPage().view(), ClusterPage::View::Belts);
  EXPECT_EQ(window->clusterPage().partition(), kFirstOfOrders);
  run(50ms);
  ASSERT_EQ(belts.lostRecords().size(), 1u);
  keepPicture(*window, QStringLiteral("lost"));
  belts.setFocus();
  QTest::keyClick(&belts, Qt::Key_Return);
  EXPECT_FALSE(travel().isLive()) << "its event is shown";
  press(Qt::Key_L);
  run(50ms);
  QTest::keyClick(&belts, Qt::Key_Escape);
  EXPECT_TRUE(belts.lostRecords().empty());
  EXPECT_FALSE(window->clusterPage().lostButton().isVisible());
  EXPECT_EQ(belts.layoutOfBelts().laneTop, top);
  // Where it happened stays marked.
  EXPECT_EQ(std::ranges::count(belts.breaks(), LogBreak::What::Lost, &LogBreak::what), 1);
}

TEST_F(TimeTest, WhatFollowersGiveUpIsMarkedOnTheBelts) {
  cluster.pauseBroker(NodeId(3), [](const Result<void>&) {});
  run(300ms);
  events::Event event;
  event.at = window->bridge().newest()->at;
  event.wall = window->bridge().newest()->wall;
  event.broker = NodeId(3);
  event.payload = events::LogTruncated{{}, Offset(40), Offset(36)};
  cluster.append(event, kFirstOfOrders.topic, kFirstOfOrders.partition);
  run(50ms);
  const auto& breaks = window->clusterPage().belts().breaks();
  const auto cut = std::ranges::find(breaks, LogBreak::What::Truncated, &LogBreak::what);
  ASSERT_NE(cut, breaks.end());
  EXPECT_EQ(cut->broker, NodeId(3));
  EXPECT_EQ(cut->from, Offset(36));
  EXPECT_EQ(cut->count(), 4);
  EXPECT_NE(std::ranges::find(breaks, LogBreak::What::EpochBegan, &LogBreak::what), breaks.end());
}

TEST(LogBreaksTest, SeveralWhoTellOfOneLossAreOneLoss) {
  TimelinePartition past;
  past.highWatermark.add(kLongAgo, 20, 1ms);
  auto add = [&past, number = uint64_t{0}](const events::Payload& payload, std::chrono::seconds after) mutable {
    observe::ObservedEvent one;
    one.number = ++number;
    one.event.wall = kLongAgo + after;
    one.event.broker = NodeId(1);
    one.event.payload = payload;
    past.events.push_back(one);
  };
  add(events::RecordsLost{{}, NodeId(3), LeaderEpoch(6), Offset(15), kNoOffset}, 1s);
  add(events::RecordsLost{{}, NodeId(3), LeaderEpoch(6), Offset(15), Offset(22)}, 5s);
  add(events::LogTruncated{{}, Offset(9), Offset(9)}, 6s);
  auto breaks = breaksOf(past, kLongAgo + 2s);
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].broker, NodeId(3));
  EXPECT_EQ(breaks[0].to, Offset(20)) << "what had been seen as committed";
  breaks = breaksOf(past, kLongAgo + 10s);
  ASSERT_EQ(breaks.size(), 1u) << "nothing is given up by a cut at the end";
  EXPECT_EQ(breaks[0].to, Offset(22)) << "somebody knew better";
  EXPECT_TRUE(breaksOf(past, kLongAgo).empty());
}

class PartsTest : public ::testing::Test {
 protected:
  observe::ReplicaSnapshot& copy(int broker, const std::vector<std::array<int, 3>>& batches) {
    observe::ReplicaSnapshot& one = partition.copies.emplace_back();
    one.broker = NodeId(broker);
    for (const auto& [base, last, epoch] : batches) {
      observe::BatchSnapshot& batch = one.batches.emplace_back();
      batch.baseOffset = Offset(base);
      batch.lastOffset = Offset(last);
      batch.epoch = LeaderEpoch(epoch);
      one.logEnd = batch.lastOffset.next();
    }
    return one;
  }
  std::optional<Offset> parts() { return partsFrom(partition, partition.copies[1]); }
  observe::PartitionSnapshot partition;
  PartsTest() {
    partition.leader = NodeId(1);
    partition.leaderEpoch = LeaderEpoch(5);
    partition.copies.reserve(2);
  }
};

TEST_F(PartsTest, AFollowerThatIsOnlyBehindDoesNotPart) {
  copy(1, {{0, 3, 4}, {4, 6, 5}, {7, 9, 5}});
  copy(2, {{0, 3, 4}, {4, 6, 5}});
  EXPECT_EQ(parts(), std::nullopt);
}

TEST_F(PartsTest, OneThatWasReadAMomentLaterThanItsLeaderDoesNotPart) {
  copy(1, {{0, 3, 5}});
  copy(2, {{0, 3, 5}, {4, 6, 5}});
  EXPECT_EQ(parts(), std::nullopt);
}

TEST_F(PartsTest, WhatAnOlderEpochHasBehindTheLeadersEndIsNotTheLeaders) {
  copy(1, {{0, 3, 4}});
  copy(2, {{0, 3, 4}, {4, 6, 4}, {7, 7, 4}});
  EXPECT_EQ(parts(), Offset(4));
}

TEST_F(PartsTest, WhereTheLeaderHasANewerEpochAnOlderOneIsNotItsOwn) {
  copy(1, {{0, 3, 4}, {4, 9, 5}});
  copy(2, {{0, 3, 4}, {4, 6, 4}, {7, 7, 4}});
  EXPECT_EQ(parts(), Offset(4));
}

TEST_F(PartsTest, BatchesThatTheCleanerMergedDoNotPart) {
  copy(1, {{0, 3, 4}, {8, 9, 4}});
  copy(2, {{0, 3, 4}, {4, 6, 4}, {8, 9, 4}});
  EXPECT_EQ(parts(), std::nullopt);
}

TEST(TimelineMomentTest, AChangeIsAtItsEventsTimeWheneverASnapshotTellsIt) {
  TimelinePast past;
  observe::ClusterSnapshot now = fake::mockMoment(60);
  past.add(now, {});
  const TimelineCopy& third = past.find(kFirstOfOrders)->copies.at(NodeId(3));
  ASSERT_EQ(third.stretches.back().state, TimelineStretch::State::InSync);
  observe::ObservedEvent left;
  left.number = 1;
  left.event.wall = now.wall + 137ms;
  left.topic = kFirstOfOrders.topic;
  left.partition = kFirstOfOrders.partition;
  left.event.payload = events::IsrShrunk{
      {}, {NodeId(1), NodeId(2), NodeId(3)}, {NodeId(1), NodeId(2)}, NodeId(3), PartitionEpoch(9), 3s};
  // The event comes with a snapshot that does not know of it yet.
  now.wall += 100ms;
  past.add(now, {left});
  EXPECT_EQ(third.stretches.back().state, TimelineStretch::State::Behind);
  EXPECT_EQ(third.stretches.back().begin, left.event.wall);
  EXPECT_EQ(third.at(left.event.wall)->state, TimelineStretch::State::Behind) << "at that very moment";
  EXPECT_EQ(third.at(left.event.wall - 1ms)->state, TimelineStretch::State::InSync);
  now.wall += 60ms;
  auto& partition = now.topics[0].partitions[0];
  std::erase(partition.isr, NodeId(3));
  for (auto& copy : partition.copies)
    if (copy.broker == NodeId(3)) copy.inSync = false;
  past.add(now, {});
  EXPECT_EQ(third.stretches.back().begin, left.event.wall);
}

}  // namespace
}  // namespace tidemark::widgets
