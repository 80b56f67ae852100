#include "segments_fixture.h"

#include "log/partition_log.h"
#include "platform/simulated/world.h"
#include "records/batch_builder.h"
#include "segments/check_line.h"
#include "segments/segment_strip.h"

namespace tidemark::widgets {
namespace {

using namespace std::chrono_literals;

/// The copy of a broker that runs: a log of ours on a simulated disk, which rolls and deletes while the view is open.
class RollingTest : public SegmentsTest {
 protected:
  static constexpr auto kDeleteDelay = 60'000ms;

  void SetUp() override {
    log::PartitionLogOptions options;
    options.partition = m_partition;
    options.directory = "/data/orders-0";
    options.config.segmentBytes = 4'000;
    options.config.indexIntervalBytes = 256;
    options.config.retentionMs = -1;
    options.config.fileDeleteDelayMs = kDeleteDelay.count();
    m_log = value(log::PartitionLog::open({.files = &m_process->files(),
                                           .clock = &m_process->clock(),
                                           .logger = &m_process->log(),
                                           .background = m_process->createExecutor({.name = "background"}),
                                           .handles = std::make_shared<log::HandleCache>(8)},
                                          options));
    m_log->assignEpochStartOffset(LeaderEpoch(0), Offset(0));
    launch(3, 1);
    cluster.liveCopies[{NodeId(1), m_partition}] = {m_process, m_log, "/data/orders-0"};
    append(5);
    makeWindow();
    tell();
    window->clusterPage().showView(ClusterPage::View::Segments);
    page().setPartition(m_partition);
    ASSERT_TRUE(seen([this] { return controller().partition() != nullptr; })) << controller().problem().toStdString();
  }
  void TearDown() override {
    window.reset();
    cluster.liveCopies.clear();
  }

  template <class Value>
  static Value value(Result<Value> result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result.value_or(Value());
  }
  /// Batches of some 600 bytes.
  void append(int batches) {
    for (int i = 0; i < batches; ++i) {
      records::BatchBuilder builder{records::BatchOptions{}};
      builder.append(m_time += 1000, asBytes("key"), asBytes(std::string(500, 'v')));
      ByteVector batch = builder.build();
      ASSERT_TRUE(m_log->appendAsLeader(batch, LeaderEpoch(0)));
    }
  }
  /// The cluster's snapshot says what the log is like now, as that of a real one does.
  void tell() {
    observe::ClusterSnapshot snapshot = *cluster.snapshot();
    for (observe::TopicSnapshot& topic : snapshot.topics)
      for (observe::PartitionSnapshot& partition : topic.partitions)
        for (observe::ReplicaSnapshot& copy : partition.copies)
          if (topic.name == m_partition.topic && copy.broker == NodeId(1)) {
            copy.logStart = m_log->logStartOffset();
            copy.logEnd = m_log->logEndOffset();
            copy.sizeInBytes = m_log->sizeInBytes();
          }
    cluster.show(std::move(snapshot));
  }
  bool seen(const std::function<bool()>& what) {
    return waitFor([&] {
      cluster.advance({});
      return what();
    });
  }
  const std::vector<SegmentEntry>& segments() { return *controller().partition()->segments; }
  size_t deleted() {
    return static_cast<size_t>(std::ranges::count(segments(), SegmentEntry::State::Deleted, &SegmentEntry::state));
  }

  const TopicPartition m_partition{"orders", PartitionIndex(0)};
  platform::World m_world;
  std::shared_ptr<platform::SimulatedProcess> m_process = m_world.createProcess("broker");
  std::shared_ptr<log::PartitionLog> m_log;
  int64_t m_time = 1'700'000'000'000;
};

TEST_F(RollingTest, ANewSegmentComesInAtTheRightAndIsFollowed) {
  ASSERT_EQ(segments().size(), 1u);
  EXPECT_EQ(segments().back().state, SegmentEntry::State::Active);
  append(10);
  tell();
  ASSERT_TRUE(seen([this] { return segments().size() == 3; }));
  EXPECT_EQ(segments()[0].state, SegmentEntry::State::Sealed);
  EXPECT_EQ(segments()[2].state, SegmentEntry::State::Active);
  EXPECT_EQ(segments()[2].base, m_log->segments().back().baseOffset);
  EXPECT_EQ(controller().segment()->base, segments()[2].base) << "whoever watches the active one goes on with the next";
  EXPECT_EQ(page().strip().layoutOfSegments().count(), 3u);
  // The ones that are sealed now are checked as well, behind what is shown.
  EXPECT_TRUE(seen([this] { return page().checkLine().text() == QStringLiteral("✓ 3 segments checked"); }))
      << page().checkLine().text().toStdString();
  keepPicture(*window, QStringLiteral("segments-rolled"));
}

TEST_F(RollingTest, WhoLooksAtAnOlderSegmentStaysThere) {
  append(10);
  tell();
  ASSERT_TRUE(seen([this] { return segments().size() == 3; }));
  controller().pickSegment(Offset(0));
  ASSERT_TRUE(seen([this] { return controller().segment()->base == Offset(0); }));
  append(10);
  tell();
  ASSERT_TRUE(seen([this] { return segments().size() > 3; }));
  EXPECT_EQ(controller().segment()->base, Offset(0));
}

TEST_F(RollingTest, ADeletedSegmentIsHatchedUntilItsFileIsGone) {
  append(20);
  m_log->updateHighWatermark(m_log->logEndOffset());
  tell();
  ASSERT_TRUE(seen([this] { return segments().size() >= 4; }));
  const size_t before = segments().size();
  const Offset second = segments()[1].base;
  ASSERT_TRUE(m_log->deleteRecords(segments()[2].base));
  ASSERT_EQ(m_log->deleteOldSegments(), 2);
  tell();
  ASSERT_TRUE(seen([this] { return deleted() == 2; }));
  EXPECT_EQ(segments().size(), before) << "its files are there still";
  EXPECT_EQ(segments()[1].base, second);
  EXPECT_GT(segments()[1].bytes, 0);
  keepPicture(*window, QStringLiteral("segments-deleted"));
  m_world.runFor(kDeleteDelay + 1s);
  EXPECT_TRUE(seen([this] { return deleted() == 0; }));
  EXPECT_EQ(segments().size(), before - 2);
  EXPECT_EQ(segments().front().base, m_log->segments().front().baseOffset);
}

TEST_F(RollingTest, AnOpenedSegmentThatIsDeletedGivesWayToTheActiveOne) {
  append(20);
  m_log->updateHighWatermark(m_log->logEndOffset());
  tell();
  ASSERT_TRUE(seen([this] { return segments().size() >= 4; }));
  controller().pickSegment(Offset(0));
  ASSERT_TRUE(seen([this] { return controller().segment()->base == Offset(0); }));
  ASSERT_TRUE(m_log->deleteRecords(segments()[1].base));
  ASSERT_EQ(m_log->deleteOldSegments(), 1);
  tell();
  ASSERT_TRUE(seen([this] { return controller().segment()->base != Offset(0); }));
  EXPECT_EQ(controller().segment()->base, m_log->segments().back().baseOffset);
}

}  // namespace
}  // namespace tidemark::widgets
