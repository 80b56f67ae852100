#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "cleaner/cleaner_list.h"
#include "cleaner/cleaner_page.h"
#include "views/cluster_page.h"
#include "window_fixture.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

observe::CleanerSnapshot compacted(const char* topic, int broker, int64_t clean, int64_t dirty) {
  observe::CleanerSnapshot log;
  log.broker = NodeId(broker);
  log.partition = {topic, PartitionIndex(0)};
  log.logStart = Offset(0);
  log.firstDirty = Offset(clean);
  log.firstUncleanable = Offset(clean + dirty);
  log.logEnd = Offset(clean + dirty + 10);
  log.minDirtyRatio = 0.5;
  log.cleanBytes = clean;
  log.dirtyBytes = dirty;
  log.uncleanableBytes = clean + dirty > 0 ? 100 : 0;
  log.dirtyRatio = clean + dirty > 0 ? static_cast<double>(dirty) / static_cast<double>(clean + dirty) : 0;
  return log;
}

observe::CleanerSnapshot cleaned(const char* topic, int broker) {
  observe::CleanerSnapshot log = compacted(topic, broker, 1000, 300);
  log.passes = 3;
  observe::CleanerPassSnapshot pass;
  pass.recordsRead = 5000;
  pass.recordsKept = 1200;
  pass.keys = 900;
  pass.mapSlots = 4000;
  pass.tombstonesKept = 40;
  pass.tombstonesDropped = 7;
  pass.bytesBefore = 500'000;
  pass.bytesAfter = 120'000;
  pass.segmentsBefore = 5;
  pass.segmentsAfter = 2;
  log.lastPass = pass;
  log.deleteRetention = 1h;
  return log;
}

TEST(CleanerRowsTest, SayWhatBecomesOfEachLog) {
  observe::ClusterSnapshot cluster;
  cluster.cleaners = {compacted("b", 1, 1000, 100), compacted("a", 2, 100, 900), compacted("a", 1, 0, 0)};
  cluster.cleaners.push_back(compacted("c", 1, 10, 10));
  cluster.cleaners.back().uncleanableReason = "a batch cannot be read";
  cluster.cleaners.push_back(compacted("d", 3, 10, 1));
  cluster.cleaners.back().running = true;
  cluster.cleaners.push_back(compacted("e", 3, 10, 1));
  cluster.cleaners.back().overdue = true;
  const auto rows = cleanerRows(cluster, kNoNode, false);
  ASSERT_EQ(rows.size(), 5u) << "the empty one is left out";
  EXPECT_EQ(rows[0].log.partition.topic, "a");
  EXPECT_EQ(rows[0].state, CleanerRow::State::Due) << "dirtier than it may be";
  EXPECT_EQ(rows[1].state, CleanerRow::State::Idle);
  EXPECT_EQ(rows[2].state, CleanerRow::State::SetAside);
  EXPECT_TRUE(cleanerStateText(rows[2]).contains(QStringLiteral("a batch cannot be read")));
  EXPECT_EQ(rows[3].state, CleanerRow::State::Running);
  EXPECT_EQ(rows[4].state, CleanerRow::State::Due) << "a record is too old";
  EXPECT_EQ(cleanerRows(cluster, kNoNode, true).size(), 6u);
  EXPECT_EQ(cleanerRows(cluster, NodeId(2), true).size(), 1u);
}

TEST(CleanerRowsTest, TellWhatTheLastPassDid) {
  CleanerRow row{.log = cleaned("orders", 1)};
  row.log.lastPass->earliestHorizon = platform::WallTime(100s);
  const auto has = [](const auto& facts, const char* value) {
    return std::ranges::any_of(facts, [&](const auto& fact) { return fact.second.contains(QString::fromUtf8(value)); });
  };
  const auto facts = passFacts(row, platform::WallTime(70s));
  EXPECT_TRUE(has(facts, "in 30.0 s")) << "what is left until the first tombstone may go";
  EXPECT_TRUE(has(facts, "5 → 2"));
  EXPECT_TRUE(has(passFacts(row, platform::WallTime(101s)), "over"));
  EXPECT_TRUE(passFacts(CleanerRow{.log = compacted("a", 1, 1, 1)}, {}).empty());
}

TEST(CleanerListTest, PaintsTheRowsInSightOfTenThousand) {
  CleanerList list;
  list.resize(900, 400);
  std::vector<CleanerRow> rows;
  for (int i = 0; i < 10'000; ++i) {
    rows.push_back({.log = compacted("orders", 1, 1000 + i, 500)});
    rows.back().log.partition.partition = PartitionIndex(i);
  }
  list.setRows(rows);
  list.grab();
  EXPECT_LE(list.rowsPainted(), 400 / CleanerList::kRow + 2);
  QTest::keyClick(&list, Qt::Key_End);
  EXPECT_EQ(list.current(), 9'999);
  list.grab();
  EXPECT_LE(list.rowsPainted(), 400 / CleanerList::kRow + 2);
  EXPECT_GT(list.barOf(9'999).width(), list.barOf(0).width() * 5) << "bars have one scale";
  // The row that is current stays so when others come before it.
  rows.insert(rows.begin(), {.log = compacted("audit", 1, 10, 10)});
  list.setRows(rows);
  EXPECT_EQ(list.current(), 10'000);
}

class CleanerPageTest : public WindowTest {
 protected:
  void SetUp() override {
    makeWindow();
    playMock();
    observe::ClusterSnapshot snapshot = fake::mockMoment(0);
    snapshot.cleaners = {cleaned("audit", 1), compacted("audit", 2, 800, 10), cleaned("orders", 1)};
    cluster.show(snapshot);
    window->bridge().refresh();
    QTest::keyClick(window.get(), Qt::Key_3);
  }
  CleanerPage& page() { return window->clusterPage().cleaner(); }
};

TEST_F(CleanerPageTest, ShowsEachLogAndWhatItsLastPassKept) {
  ASSERT_EQ(window->clusterPage().view(), ClusterPage::View::Cleaner);
  ASSERT_EQ(page().list().rows().size(), 3u);
  EXPECT_EQ(page().list().current(), 0);
  EXPECT_TRUE(page().asText().contains(QStringLiteral("audit-0")));
  EXPECT_GT(coloursIn(page().grab().toImage()), 30);
  keepPicture(*window, QStringLiteral("cleaner"));
  QTest::keyClick(&page().list(), Qt::Key_Down);
  QTest::keyClick(&page().list(), Qt::Key_Down);
  EXPECT_TRUE(page().asText().contains(QStringLiteral("orders-0")));
  QTest::keyClick(&page().list(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_TRUE(QGuiApplication::clipboard()->text().contains(QStringLiteral("tombstones kept\t40")));
}

TEST_F(CleanerPageTest, TShowsTheSameAsATable) {
  const QAbstractItemModelTester tester(page().table().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  QTest::keyClick(window.get(), Qt::Key_T);
  EXPECT_TRUE(page().showsTable());
  EXPECT_EQ(page().table().model()->rowCount(), 3);
  observe::ClusterSnapshot snapshot = fake::mockMoment(0);
  snapshot.cleaners = {cleaned("audit", 1), cleaned("orders", 1)};
  cluster.show(snapshot);
  window->bridge().refresh();
  EXPECT_EQ(page().table().model()->rowCount(), 2);
}

TEST_F(CleanerPageTest, ShowsTheLogsAsTheyWereAtAMomentOfThePast) {
  const auto showLater = [this](std::chrono::seconds by, std::vector<observe::CleanerSnapshot> cleaners) {
    observe::ClusterSnapshot snapshot = fake::mockMoment(0);
    snapshot.at += by;
    snapshot.wall += by;
    snapshot.cleaners = std::move(cleaners);
    cluster.show(snapshot);
    window->bridge().refresh();
    return snapshot.wall;
  };
  const auto before = showLater(2s, {cleaned("audit", 1), compacted("audit", 2, 800, 10), cleaned("orders", 1)}) + 1s;
  showLater(5s, {compacted("audit", 1, 2000, 10)});
  ASSERT_EQ(page().list().rows().size(), 1u);
  window->travel().lookAt(before);
  ASSERT_EQ(page().list().rows().size(), 3u);
  EXPECT_EQ(page().list().rows()[0].log.firstDirty, Offset(1000));
  EXPECT_EQ(page().list().rows()[0].log.passes, 3);
  // Nothing was told of any cleaner then.
  window->travel().lookAt(before - 60s);
  EXPECT_TRUE(page().list().rows().empty());
  window->travel().goLive();
  EXPECT_EQ(page().list().rows().size(), 1u);
}

TEST_F(CleanerPageTest, EnterOpensTheSegmentsWhereTheLogIsDirty) {
  QSignalSpy wanted(&page(), &CleanerPage::segmentsWanted);
  QTest::keyClick(&page().list(), Qt::Key_Return);
  ASSERT_EQ(wanted.count(), 1);
  EXPECT_EQ(wanted[0][2].value<Offset>(), Offset(1000));
  EXPECT_EQ(window->clusterPage().view(), ClusterPage::View::Segments);
}

}  // namespace
}  // namespace tidemark::widgets
