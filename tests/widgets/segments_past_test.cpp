// The Segments view at a moment of the past: what was told of a log, without its files.
#include <gmock/gmock.h>

#include <QTableView>
#include <QTest>

#include "segments/batch_panel.h"
#include "segments/index_plot.h"
#include "segments/lookup_panel.h"
#include "segments/past_panel.h"
#include "segments/segment_strip.h"
#include "segments_fixture.h"
#include "text/format.h"
#include "timeline/time_travel.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class SegmentsPastTest : public SegmentsTest {
 protected:
  void SetUp() override {
    launch(3, 1);
    makeWindow();
    window->clusterPage().showView(ClusterPage::View::Segments);
    window->showPartition(m_orders);
    cluster.setLoad(900);
    // Until it has rolled twice.
    while (leader().segments.size() < 3) run(100ms);
    ASSERT_EQ(controller().place()->broker, leader().broker);
  }
  const observe::ReplicaSnapshot& leader() {
    const auto& partition = *observe::findPartition(*window->bridge().newest(), m_orders);
    return *observe::findReplica(partition, partition.leader);
  }
  void tell(const events::Payload& payload) {
    events::Event event;
    event.at = window->bridge().newest()->at;
    event.wall = window->bridge().newest()->wall;
    event.broker = leader().broker;
    event.payload = payload;
    cluster.append(event, m_orders.topic, m_orders.partition);
    run(50ms);
  }
  /// Right after the first roll.
  void lookAtFirstRoll() {
    const auto& events = window->bridge().recording().events();
    const auto roll = std::ranges::find_if(events, [](const observe::ObservedEvent& one) {
      return std::holds_alternative<events::SegmentRolled>(one.event.payload);
    });
    ASSERT_NE(roll, events.end());
    window->travel().lookAtEvent(roll->number, roll->event.wall);
  }
  /// Right after the newest event.
  void lookAtEnd() {
    const observe::ObservedEvent& last = window->bridge().recording().events().back();
    window->travel().lookAtEvent(last.number, last.event.wall);
  }
  std::vector<std::pair<int64_t, int64_t>> segments() {
    std::vector<std::pair<int64_t, int64_t>> found;
    for (const SegmentEntry& one : *controller().partition()->segments) found.emplace_back(one.base.value(), one.bytes);
    return found;
  }

  const TopicPartition m_orders{"orders", PartitionIndex(0)};
};

TEST_F(SegmentsPastTest, ShowsTheSegmentsOfThenAndReadsNoFile) {
  const int64_t firstRoll = leader().segments[1].baseOffset.value();
  const int64_t closedWith = leader().segments[0].sizeInBytes;
  lookAtFirstRoll();
  const int looks = cluster.looks;
  ASSERT_TRUE(controller().isPast());
  ASSERT_TRUE(controller().partition()) << controller().problem().toStdString();
  EXPECT_THAT(segments(), ElementsAre(std::pair(int64_t{0}, closedWith), std::pair(firstRoll, int64_t{0})));
  EXPECT_EQ(controller().segment()->base, Offset(firstRoll)) << "the active one is opened";
  EXPECT_TRUE(page().pastPanel().isVisible());
  EXPECT_FALSE(page().batchPanel().isVisible()) << "there are no bytes of then";
  for (int i = 0; i < 10; ++i) run(100ms);
  EXPECT_EQ(cluster.looks, looks);
  EXPECT_EQ(segments().size(), 2u) << "the past stands still";
  keepPicture(*window, QStringLiteral("segments-past"));
  page().showTable(true);
  keepPicture(*window, QStringLiteral("segments-past-table"));
  page().showTable(false);
  // Back in the present the files are opened again.
  window->travel().goLive();
  run(100ms);
  EXPECT_FALSE(controller().isPast());
  EXPECT_GT(cluster.looks, looks);
}

TEST_F(SegmentsPastTest, TellsWhatTheLogDidUpToThenAndLeadsThere) {
  cluster.setLoad(0);
  run(500ms);
  ASSERT_EQ(leader().segments.size(), 3u);
  tell(events::LogStartAdvanced{{}, Offset(0), Offset(10)});
  tell(events::SegmentDeleted{{}, Offset(0), leader().segments[0].sizeInBytes});
  lookAtEnd();
  const auto names = [this] {
    std::vector<std::string> all;
    for (const LogDeed& one : page().pastPanel().deeds()) all.push_back(one.what.toStdString());
    return all;
  };
  EXPECT_THAT(names(), ElementsAre("SegmentDeleted", "LogStartAdvanced", "SegmentRolled", "SegmentRolled"));
  const auto& then = *observe::findPartition(*window->bridge().snapshot(), m_orders);
  EXPECT_TRUE(page().pastPanel().asText().contains(QStringLiteral("high watermark\t") + offsetText(then.highWatermark)))
      << page().pastPanel().asText().toStdString();
  // The first of the rolls.
  QTableView& table = page().pastPanel().table();
  table.setCurrentIndex(table.model()->index(3, 0));
  table.setFocus();
  QTest::keyClick(&table, Qt::Key_Return);
  EXPECT_THAT(names(), ElementsAre("SegmentRolled"));
  EXPECT_EQ(segments().size(), 2u);
}

TEST_F(SegmentsPastTest, AnOffsetLeadsToItsSegmentAndToWhatWasToldOfItsBatch) {
  lookAtEnd();
  const int64_t wanted = leader().segments[1].baseOffset.value() + 3;
  page().search(QString::number(wanted));
  EXPECT_EQ(controller().segment()->base, leader().segments[1].baseOffset);
  ASSERT_TRUE(controller().foundBatch());
  EXPECT_LE(controller().foundBatch()->base, wanted);
  EXPECT_GE(controller().foundBatch()->last, wanted);
  EXPECT_GT(page().plot().pointsDrawn(), 5u) << "batches as they were told";
  // What it cannot know it says.
  QString told;
  QObject::connect(&page(), &SegmentsPage::told, [&told](const QString& text) { told = text; });
  page().search(QStringLiteral("14:01:08"));
  EXPECT_THAT(told.toStdString(), HasSubstr("no time index"));
}

TEST_F(SegmentsPastTest, ACopyThatWasNotThereThenIsSaidNotToBe) {
  lookAtEnd();
  controller().open({.broker = NodeId(9), .partition = m_orders, .path = {}});
  EXPECT_FALSE(controller().partition());
  EXPECT_THAT(controller().problem().toStdString(), HasSubstr("no copy of this partition"));
}

TEST_F(SegmentsPastTest, ARecordingFromAFileHasThem) {
  ASSERT_NO_FATAL_FAILURE(reopenRecording());
  replay->resize(1500, 950);
  replay->show();
  replay->travel().goLive();
  replay->clusterPage().showView(ClusterPage::View::Segments);
  SegmentsController& shown = replay->clusterPage().segments().controller();
  ASSERT_TRUE(shown.isPast());
  ASSERT_TRUE(shown.partition()) << shown.problem().toStdString();
  EXPECT_EQ(shown.partition()->segments->size(), leader().segments.size());
}

}  // namespace
}  // namespace tidemark::widgets
