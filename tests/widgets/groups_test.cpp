#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "faults/fault_actions.h"
#include "groups/group_scene.h"
#include "groups/group_view.h"
#include "groups/group_words.h"
#include "groups/groups_page.h"
#include "groups/offsets_dialog.h"
#include "testing/mock_groups.h"
#include "views/cluster_page.h"
#include "views/cluster_tree.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using events::GroupCause;
using events::GroupKind;
using events::GroupState;
using events::MemberStep;

/// What a coordinator tells, at milliseconds since a moment.
class GroupPastTest : public testing::Test {
 protected:
  void tell(int ms, const events::Payload& payload) {
    observe::ObservedEvent observed;
    observed.number = ++number;
    observed.event.wall = GroupTime(std::chrono::milliseconds(1'000'000 + ms));
    observed.event.payload = payload;
    EXPECT_TRUE(past.add(cluster, std::span(&observed, 1)));
  }
  void state(int ms, GroupState from, GroupState to, GroupCause cause) {
    tell(ms, events::GroupStateChanged{
                 .group = "g", .from = from, .to = to, .cause = cause, .generation = 4, .members = 2});
  }
  void start(int ms, GroupCause cause, const char* member) {
    tell(ms, events::RebalanceStarted{.group = "g", .member = member, .cause = cause, .generation = 4, .members = 2});
  }
  void step(int ms, const char* member, MemberStep what, int partitions = 0) {
    tell(ms, events::MemberProgressed{.group = "g", .member = member, .step = what, .partitions = partitions});
  }
  const GroupRecord& record() { return *past.find("g"); }

  GroupPast past;
  observe::ClusterSnapshot cluster;
  uint64_t number = 0;
};

TEST_F(GroupPastTest, ARebalanceIsWhoJoinedWaitedAndGotWhat) {
  tell(0, events::MemberJoined{.group = "g", .member = "b", .epoch = 4});
  state(1, GroupState::Stable, GroupState::PreparingRebalance, GroupCause::MemberJoined);
  start(1, GroupCause::MemberJoined, "b");
  step(900, "a", MemberStep::Rejoined, 3);
  state(900, GroupState::PreparingRebalance, GroupState::CompletingRebalance, GroupCause::AllJoined);
  step(1000, "a", MemberStep::Synced, 2);
  step(1100, "b", MemberStep::Synced, 1);
  tell(1100, events::RebalanceCompleted{.group = "g", .generation = 5, .members = 2, .took = 1100ms});
  ASSERT_EQ(record().rebalances.size(), 1u);
  const Rebalance& rebalance = record().rebalances.front();
  EXPECT_EQ(rebalance.by, "b");
  EXPECT_EQ(rebalance.completedGeneration, 5);
  ASSERT_TRUE(rebalance.gathered && rebalance.completed);
  ASSERT_EQ(rebalance.members.size(), 2u);
  EXPECT_TRUE(rebalance.members[0].isNew) << "b, who was told of just before";
  EXPECT_FALSE(rebalance.members[1].isNew);
  EXPECT_EQ(rebalance.members[1].partitions, 2);
  // b waited from 0 to 1100, a from 900 to 1000.
  EXPECT_EQ(rebalance.idle(GroupTime()), 1200ms);

  const SequenceScene scene = sequenceScene(rebalance, nullptr, GroupTime());
  ASSERT_EQ(scene.lanes.size(), 3u) << "and the coordinator";
  EXPECT_EQ(scene.lanes[0].name, QStringLiteral("a")) << "who was there before stands first";
  ASSERT_EQ(scene.lanes[0].bars.size(), 3u);
  EXPECT_EQ(scene.lanes[0].bars[1].kind, SequenceBar::Kind::Waits);
  EXPECT_NEAR(scene.lanes[0].bars[1].from, 0.899, 0.002);
  EXPECT_NEAR(scene.lanes[0].bars[1].to, 0.999, 0.002);
  EXPECT_TRUE(scene.lanes[2].coordinator);
  EXPECT_FALSE(scene.now);
}

TEST_F(GroupPastTest, WhoMissedItsSessionIsToldWithHowMuch) {
  tell(0, events::MemberLeft{
              .group = "g", .member = "c-2", .cause = GroupCause::SessionMissed, .silent = 46'300ms, .allowed = 45s});
  state(0, GroupState::Stable, GroupState::PreparingRebalance, GroupCause::SessionMissed);
  start(0, GroupCause::SessionMissed, "c-2");
  const auto& happenings = record().happenings;
  EXPECT_EQ(happeningText(happenings[0], record()), QStringLiteral("c-2 missed its session by 1.3 s"));
  EXPECT_EQ(happeningText(happenings[1], record()),
            QStringLiteral("Stable → PreparingRebalance: c-2 missed its session by 1.3 s"));
  EXPECT_EQ(record().rebalances.front().members.front().late, 1300ms);
  const SequenceScene scene =
      sequenceScene(record().rebalances.front(), nullptr, GroupTime(std::chrono::milliseconds(1'003'000)));
  ASSERT_TRUE(scene.now) << "it goes on";
  EXPECT_NEAR(*scene.now, 3.0, 0.01);
  EXPECT_TRUE(scene.lanes[0].says.contains(QStringLiteral("1.3 s")));
}

TEST_F(GroupPastTest, IsBounded) {
  for (int i = 0; i < 1000; ++i) {
    start(i * 10, GroupCause::TopicsChanged, "");
    tell(i * 10 + 5, events::RebalanceCompleted{.group = "g", .generation = i, .members = 1});
  }
  EXPECT_EQ(record().rebalances.size(), GroupRecord::kRebalances);
  EXPECT_LE(record().happenings.size(), GroupRecord::kHappenings);
  EXPECT_EQ(record().rebalances.back().completedGeneration, 999);
}

TEST(GroupWordsTest, TheCommandLineIsWhatAShellTakes) {
  observe::OffsetResetRequest request{
      .group = "it's mine", .kind = observe::OffsetResetRequest::Kind::ShiftBy, .value = -5};
  request.partitions = {{"orders", PartitionIndex(0)}, {"orders", PartitionIndex(2)}, {"audit", PartitionIndex(1)}};
  EXPECT_EQ(resetCommand(QStringLiteral("h:1"), request, true),
            QStringLiteral("tidemark groups reset-offsets --bootstrap h:1 'it'\\''s mine' --topic audit:1 --topic "
                           "orders:0,2 --shift-by -5 --execute"));
  request.partitions.clear();
  request.kind = observe::OffsetResetRequest::Kind::Datetime;
  request.value = 1'790'604'131'385;
  EXPECT_TRUE(resetCommand(QStringLiteral("h:1"), request, false)
                  .endsWith(QStringLiteral("--all-topics --to-datetime 2026-09-28T14:02:11.385Z")))
      << resetCommand(QStringLiteral("h:1"), request, false).toStdString();
}

TEST(GroupSceneTest, OfAConsumerGroupTellsTargetFromWhatIsOwned) {
  observe::ClusterSnapshot cluster = fake::mockMoment(0);
  const observe::GroupSnapshot& search = cluster.groups[1];
  const GroupScene scene = groupScene(search, nullptr, 0, cluster.wall);
  ASSERT_EQ(scene.assignment.rows.size(), 3u);
  ASSERT_EQ(scene.assignment.columns.size(), 6u);
  EXPECT_TRUE(scene.assignment.hasTarget);
  const AssignmentRow& second = scene.assignment.rows[1];
  EXPECT_TRUE(second.behind) << "epoch 11 of 12";
  EXPECT_TRUE(second.cells[4].revoking);
  EXPECT_FALSE(second.cells[4].target);
  const AssignmentRow& third = scene.assignment.rows[2];
  EXPECT_TRUE(third.cells[4].waits);
  EXPECT_TRUE(third.says.contains(QStringLiteral("s-2"))) << third.says.toStdString();
  EXPECT_TRUE(scene.stateNote.contains(QStringLiteral("2 of 3 at epoch 12"))) << scene.stateNote.toStdString();
}

TEST(GroupSceneTest, OfAStreamsGroupTellsItsTopologyAndWhoRunsWhichTask) {
  observe::ClusterSnapshot cluster = fake::mockMoment(0);
  observe::GroupSnapshot& words = cluster.groups[3];
  const GroupScene scene = groupScene(words, nullptr, 0, cluster.wall);
  ASSERT_EQ(scene.topology.size(), 2u);
  EXPECT_TRUE(scene.topology[0].feedsNext) << "through its repartition topic";
  EXPECT_TRUE(scene.topology[1].title.contains(QStringLiteral("3 task")));
  const AssignmentScene& tasks = scene.assignment;
  ASSERT_EQ(tasks.columns.size(), 6u) << "three of each part, whoever has them, and no partition";
  EXPECT_EQ(tasks.columns[4], QStringLiteral("1_1"));
  EXPECT_EQ(tasks.rows[0].cells[5].role, observe::TaskRole::Standby);
  EXPECT_EQ(tasks.rows[1].cells[3].role, observe::TaskRole::Warmup);
  EXPECT_TRUE(tasks.rows[0].cells[4].revoking);
  EXPECT_TRUE(tasks.rows[1].cells[4].waits);
  EXPECT_TRUE(tasks.rows[1].says.contains(QStringLiteral("1_1 of t-1"))) << tasks.rows[1].says.toStdString();
  EXPECT_FALSE(tasks.rows[0].cells[3].waits) << "a standby beside it takes nothing away";
  words.problem = "Source topics orders are missing.";
  EXPECT_TRUE(groupScene(words, nullptr, 0, cluster.wall).stateNote.contains(QStringLiteral("are missing")));
}

TEST(GroupSceneTest, LagIsToldInRecordsAndSeconds) {
  observe::ClusterSnapshot cluster = fake::mockMoment(0);
  observe::GroupSnapshot& billing = cluster.groups[0];
  const GroupScene scene = groupScene(billing, nullptr, 0, cluster.wall);
  ASSERT_EQ(scene.lag.size(), 3u);
  EXPECT_EQ(scene.lag[2].lag, QStringLiteral("26"));
  EXPECT_EQ(scene.lag[2].seconds, QStringLiteral("14.2"));
  EXPECT_TRUE(scene.lag[2].behind);
  billing.partitions[2].committed = billing.partitions[2].highWatermark;
  billing.partitions[2].firstPending.reset();
  EXPECT_EQ(groupScene(billing, nullptr, 0, cluster.wall).lag[2].seconds, QStringLiteral("0"));
  billing.partitions[2].committed.reset();
  EXPECT_EQ(groupScene(billing, nullptr, 0, cluster.wall).lag[2].lag, QStringLiteral("–")) << "nothing is committed";
}

class GroupsPageTest : public WindowTest {
 protected:
  void SetUp() override {
    makeWindow();
    const observe::ClusterSnapshot now = fake::mockMoment(0);
    for (int i = 30; i >= 1; --i) {
      cluster.show(fake::mockMoment(i * 2.0));
      window->bridge().refresh();
    }
    cluster.show(now);
    fake::appendMockGroupEvents(cluster, now);
    window->bridge().refresh();
    QTest::keyClick(window.get(), Qt::Key_6);
  }
  GroupsPage& page() { return window->clusterPage().groups(); }
};

TEST_F(GroupsPageTest, DrawsAGroupOfEachKind) {
  ASSERT_EQ(window->clusterPage().view(), ClusterPage::View::Groups);
  EXPECT_EQ(page().shown(), "billing");
  EXPECT_EQ(page().view().scene().state, QStringLiteral("PreparingRebalance"));
  EXPECT_TRUE(page().view().scene().sequence.shown);
  EXPECT_TRUE(page().view().scene().stateNote.contains(QStringLiteral("waits for c-2")))
      << page().view().scene().stateNote.toStdString();
  // Nothing is heard of c-2, which is why it has a lane.
  const SequenceScene& sequence = page().view().scene().sequence;
  ASSERT_EQ(sequence.lanes.size(), 4u);
  EXPECT_EQ(sequence.lanes[1].name, QStringLiteral("c-2"));
  EXPECT_TRUE(sequence.lanes[1].says.contains(QStringLiteral("no JoinGroup yet")));
  EXPECT_EQ(sequence.facts[1].second, QStringLiteral("c-2"));
  EXPECT_GT(coloursIn(page().view().grab().toImage()), 30);
  keepPicture(*window, QStringLiteral("groups-classic"));
  QTest::keyClick(&page().view(), Qt::Key_Down);
  EXPECT_EQ(page().shown(), "search-index");
  keepPicture(*window, QStringLiteral("groups-consumer"));
  QTest::keyClick(&page().view(), Qt::Key_Down);
  EXPECT_EQ(page().shown(), "thumbnails");
  ASSERT_EQ(page().view().scene().shared.size(), 1u);
  EXPECT_EQ(page().view().scene().shared[0].batches.size(), 5u);
  keepPicture(*window, QStringLiteral("groups-share"));
  QTest::keyClick(&page().view(), Qt::Key_Down);
  EXPECT_EQ(page().shown(), "word-count");
  keepPicture(*window, QStringLiteral("groups-streams"));
  QTest::keyClick(&page().view(), Qt::Key_Up);
  QTest::keyClick(&page().view(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(QStringLiteral("thumbnails")));
}

TEST_F(GroupsPageTest, ArrowsGoThroughTheRebalances) {
  EXPECT_EQ(page().rebalance(), 0u);
  EXPECT_TRUE(page().view().scene().sequence.now) << "the newest runs";
  QTest::keyClick(&page().view(), Qt::Key_Left);
  EXPECT_EQ(page().rebalance(), 1u);
  EXPECT_FALSE(page().view().scene().sequence.now);
  QStringList said;
  for (const SequenceLane& lane : page().view().scene().sequence.lanes) said << lane.says;
  EXPECT_TRUE(said.contains(QStringLiteral("c-2 missed its session by 1.3 s")))
      << said.join(QStringLiteral(" | ")).toStdString();
  QTest::keyClick(&page().view(), Qt::Key_Left);
  EXPECT_EQ(page().rebalance(), 1u) << "there are two";
  QTest::keyClick(&page().view(), Qt::Key_Right);
  EXPECT_EQ(page().rebalance(), 0u);
}

TEST_F(GroupsPageTest, AMomentOfThePastKnowsNothingOfWhatCameLater) {
  ASSERT_EQ(page().view().scene().rebalances.size(), 2u);
  window->travel().lookAt(window->bridge().newest()->wall - 30s);
  const GroupScene& then = page().view().scene();
  EXPECT_EQ(then.rebalances.size(), 1u) << "the second began later";
  for (const HappenedRow& row : then.happened)
    EXPECT_FALSE(row.text.contains(QStringLiteral("c-3"))) << row.text.toStdString();
  ASSERT_FALSE(then.lag.empty());
  EXPECT_GT(then.lag[0].history.size(), 3u) << "lag of then";
  // What would change the present is not offered, and says why.
  const auto button = [this](const QString& text) {
    const auto all = page().findChildren<QPushButton*>();
    return *std::ranges::find(all, text, &QPushButton::text);
  };
  QPushButton* offsets = button(QStringLiteral("Offsets…"));
  EXPECT_FALSE(offsets->isEnabled());
  EXPECT_FALSE(button(QStringLiteral("Delete…"))->isEnabled());
  EXPECT_EQ(offsets->toolTip(), window->bridge().hindrance());
  EXPECT_EQ(page().openOffsets(), nullptr);
  window->faultActions().openDialog();
  EXPECT_EQ(window->faultActions().dialog(), nullptr);
  window->travel().goLive();
  EXPECT_EQ(page().view().scene().rebalances.size(), 2u);
  EXPECT_TRUE(offsets->isEnabled());
  EXPECT_NE(offsets->toolTip(), QString());
}

TEST_F(GroupsPageTest, TShowsTheSameAsTables) {
  const QAbstractItemModelTester members(page().members().model(),
                                         QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester lags(page().lags().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  QTest::keyClick(window.get(), Qt::Key_T);
  ASSERT_TRUE(page().showsTable());
  EXPECT_EQ(page().members().model()->rowCount(), 3);
  EXPECT_EQ(page().lags().model()->rowCount(), 3);
  EXPECT_GT(page().happenings().model()->rowCount(), 8);
  EXPECT_EQ(page().members().model()->index(0, 4).data().toString(), QStringLiteral("librdkafka 2.0.2"));
  keepPicture(*window, QStringLiteral("groups-table"));
}

TEST_F(GroupsPageTest, IsNotPaintedWhileNothingChanges) {
  page().view().grab();
  QCoreApplication::processEvents();
  const int before = page().view().paintings();
  GroupScene same = page().view().scene();
  page().view().setScene(std::move(same));
  QCoreApplication::sendPostedEvents();
  EXPECT_EQ(page().view().paintings(), before);
  EXPECT_TRUE(waitFor([&] { return !window->bridge().isTicking(); })) << "the frame timer stops";
}

TEST_F(GroupsPageTest, OffsetsAreShownBeforeTheyAreWritten) {
  QTest::keyClick(&page().view(), Qt::Key_Down);
  QTest::keyClick(&page().view(), Qt::Key_Down);
  observe::ClusterSnapshot still = *window->bridge().snapshot();
  for (observe::GroupSnapshot& group : still.groups) {
    group.members.clear();
    group.kind = GroupKind::Classic;
  }
  cluster.show(still);
  window->bridge().refresh();
  OffsetsDialog* dialog = page().openOffsets();
  ASSERT_NE(dialog, nullptr);
  const auto settle = [&] {
    run(0ms);
    QCoreApplication::processEvents();
  };
  settle();
  ASSERT_EQ(dialog->preview().size(), 1u);
  EXPECT_EQ(dialog->preview()[0].to, Offset(0)) << "to the beginning, at first";
  dialog->setAction(OffsetsDialog::Action::Offset);
  dialog->setValue(5000);
  settle();
  ASSERT_EQ(dialog->preview().size(), 1u);
  EXPECT_EQ(dialog->preview()[0].from, Offset(1250));
  EXPECT_EQ(dialog->preview()[0].to, Offset(1286));
  EXPECT_TRUE(dialog->preview()[0].clipped);
  EXPECT_EQ(dialog->commandLine(), QStringLiteral("tidemark groups reset-offsets --bootstrap 127.0.0.1:19092 "
                                                  "thumbnails --topic orders:0 --to-offset 5000 --execute"));
  keepPicture(*dialog, QStringLiteral("groups-offsets"));
  EXPECT_TRUE(cluster.edited.empty()) << "nothing is written before it is asked for";
  ASSERT_TRUE(dialog->canApply());
  dialog->apply();
  settle();
  ASSERT_EQ(cluster.edited.size(), 1u);
  EXPECT_EQ(cluster.edited[0].to, Offset(1286));
}

TEST_F(GroupsPageTest, AGroupWithMembersKeepsItsOffsets) {
  OffsetsDialog* dialog = page().openOffsets();
  ASSERT_NE(dialog, nullptr);
  run(0ms);
  QCoreApplication::processEvents();
  EXPECT_EQ(dialog->preview().size(), 3u) << "what would change is shown nevertheless";
  EXPECT_FALSE(dialog->canApply());
  EXPECT_TRUE(dialog->note().contains(QStringLiteral("stop its clients first"))) << dialog->note().toStdString();
  dialog->setPartitions({});
  EXPECT_TRUE(dialog->preview().empty());
  dialog->setAction(OffsetsDialog::Action::Forget);
  dialog->setPartitions({{"orders", PartitionIndex(1)}});
  ASSERT_EQ(dialog->preview().size(), 1u);
  EXPECT_FALSE(dialog->preview()[0].to);
  EXPECT_TRUE(dialog->commandLine().contains(QStringLiteral("delete-offsets"))) << dialog->commandLine().toStdString();
}

}  // namespace
}  // namespace tidemark::widgets
