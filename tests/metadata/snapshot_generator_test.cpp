#include "metadata/snapshot_generator.h"

#include <gmock/gmock.h>

#include "metadata/loader.h"
#include "metadata/log_files.h"
#include "platform/simulated/world.h"
#include "raft/snapshot_files.h"

namespace tidemark::metadata {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class Snapshots : public testing::Test {
 protected:
  void begin(uint64_t maxBytes, platform::Duration maxInterval) {
    files_ = std::move(*raft::SnapshotFiles::open(process_->files(), "/data"));
    generator_ = std::make_unique<SnapshotGenerator>(SnapshotGenerator::Setup{
        .maxBytes = maxBytes,
        .maxInterval = maxInterval,
        .process = process_.get(),
        .executor = process_->createExecutor({.name = "background", .threads = 1}),
        .create = [this](OffsetAndEpoch id, int64_t timestampMs) -> Result<std::unique_ptr<raft::SnapshotWriter>> {
          if (refuse_) return fail(ErrorCode::OffsetOutOfRange, "not committed");
          TIDEMARK_ASSIGN(auto raw, files_->create(id));
          if (!raw) return nullptr;
          return raft::SnapshotWriter::create(std::move(raw),
                                              {.lastContainedLogTimestampMs = timestampMs, .kraftVersion = 0});
        }});
    loader_->addPublisher(*generator_);
  }
  /// One topic, in a batch of 100 bytes.
  void commitTopic(const std::string& name) {
    Uuid id({static_cast<uint8_t>(++topics_), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    const std::vector<ByteVector> bytes = *encodeRecords({{protocol::TopicRecord{.name = name, .topicId = id}}});
    raft::CommittedBatch batch = test::batchOf(next_, LeaderEpoch(3), bytes);
    batch.sizeInBytes = 100;
    next_ = batch.lastOffset.next();
    loader_->onCommit(std::span(&batch, 1));
  }
  void settle() { world_.runFor(std::chrono::milliseconds(100)); }
  std::vector<int64_t> offsets() {
    settle();
    std::vector<int64_t> all;
    for (const OffsetAndEpoch& id : files_->all()) all.push_back(id.offset.value());
    return all;
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("node");
  std::unique_ptr<raft::SnapshotFiles> files_;
  std::unique_ptr<Loader> loader_ = test::makeLoader();
  std::unique_ptr<SnapshotGenerator> generator_;
  bool refuse_ = false;
  Offset next_{0};
  int topics_ = 0;
};

TEST_F(Snapshots, OneIsCutWheneverEnoughOfTheLogWasRead) {
  begin(300, hours(1));
  commitTopic("a");
  commitTopic("b");
  EXPECT_THAT(offsets(), testing::IsEmpty());
  commitTopic("c");
  EXPECT_THAT(offsets(), testing::ElementsAre(3));
  commitTopic("d");
  commitTopic("e");
  EXPECT_THAT(offsets(), testing::ElementsAre(3));
  commitTopic("f");
  EXPECT_THAT(offsets(), testing::ElementsAre(3, 6));
}

TEST_F(Snapshots, ItGivesTheImageAgain) {
  begin(200, hours(1));
  commitTopic("a");
  commitTopic("b");
  ASSERT_THAT(offsets(), testing::ElementsAre(2));
  const auto raw = files_->read({Offset(2), LeaderEpoch(3)});
  ASSERT_TRUE(raw);
  const auto reader = raft::RecordsSnapshotReader::open(*raw);
  ASSERT_TRUE(reader);
  const auto again = test::makeLoader();
  again->onLoadSnapshot(**reader);
  EXPECT_TRUE(again->image()->sameContents(*loader_->image()));
  EXPECT_EQ(again->image()->provenance.lastContainedOffset, loader_->image()->provenance.lastContainedOffset);
  EXPECT_EQ(again->image()->provenance.lastContainedLogTimeMs, loader_->image()->provenance.lastContainedLogTimeMs);
}

TEST_F(Snapshots, OneIsCutWithTheNextCommitAfterTheInterval) {
  begin(1000000, hours(1));
  commitTopic("a");
  world_.runFor(minutes(59));
  commitTopic("b");
  EXPECT_THAT(offsets(), testing::IsEmpty());
  world_.runFor(minutes(2));
  commitTopic("c");
  EXPECT_THAT(offsets(), testing::ElementsAre(3));
  world_.runFor(minutes(2));
  commitTopic("d");
  EXPECT_THAT(offsets(), testing::ElementsAre(3));
}

TEST_F(Snapshots, AnIntervalOfZeroMeansNever) {
  begin(1000000, hours(0));
  world_.runFor(hours(48));
  commitTopic("a");
  EXPECT_THAT(offsets(), testing::IsEmpty());
}

TEST_F(Snapshots, OneThatWasLoadedCounts) {
  begin(300, hours(1));
  commitTopic("a");
  commitTopic("b");
  const auto writer =
      raft::SnapshotWriter::create(std::move(*files_->create({Offset(50), LeaderEpoch(3)})), {.kraftVersion = 0});
  ASSERT_TRUE(writer && (*writer)->freeze());
  const auto reader = raft::RecordsSnapshotReader::open(*files_->read({Offset(50), LeaderEpoch(3)}));
  ASSERT_TRUE(reader) << reader.error().message;
  loader_->onLoadSnapshot(**reader);
  next_ = Offset(50);
  commitTopic("c");
  commitTopic("d");
  EXPECT_THAT(offsets(), testing::ElementsAre(50));
  commitTopic("e");
  EXPECT_THAT(offsets(), testing::ElementsAre(50, 53));
}

TEST_F(Snapshots, OneThatCannotBeWrittenIsTriedWithTheNextOnesTurn) {
  begin(100, hours(1));
  refuse_ = true;
  commitTopic("a");
  EXPECT_THAT(offsets(), testing::IsEmpty());
  refuse_ = false;
  commitTopic("b");
  EXPECT_THAT(offsets(), testing::ElementsAre(2));
}

}  // namespace
}  // namespace tidemark::metadata
