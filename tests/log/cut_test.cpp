#include <gmock/gmock.h>

#include "events/recorder.h"
#include "log_fixture.h"

// What opening a log gives up is told: in which file, from which byte on, how many, and which offsets.

namespace tidemark::log {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class Cut : public LogFixture {
 protected:
  Cut() {
    open();
    for (int i = 0; i < 6; ++i) {
      if (i == 3) roll();
      positions_.push_back(log_->segments().back().sizeInBytes);
      append({.count = 2, .valueSize = 100});
    }
    sizes_ = {log_->segments()[0].sizeInBytes, log_->segments()[1].sizeInBytes};
  }
  void roll() { ASSERT_TRUE(log_->roll()); }
  /// Damages the file, opens the log again and returns what is told.
  std::vector<events::LogCut> reopen(const std::string& path, int64_t position, bool clean) {
    if (clean) {
      EXPECT_TRUE(log_->close());
    }
    crash(Crash::Kill);
    restart();
    const auto file = files().open(path, platform::OpenMode::Create);
    const uint8_t wrong = 0xa5;
    EXPECT_TRUE((*file)->writeAt(static_cast<uint64_t>(position), ByteView(&wrong, 1)));
    events::Recorder recorder(process_->clock(), NodeId(1));
    recorder.want(events::Kinds::all());
    LogContext told = context();
    told.recorder = &recorder;
    options_.cleanShutdown = clean;
    auto opened = PartitionLog::open(told, options_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    end_ = opened ? (*opened)->logEndOffset() : Offset();
    if (opened) (*opened)->abandon();
    std::vector<events::Event> events;
    recorder.drain(events);
    std::vector<events::LogCut> cuts;
    for (const events::Event& event : events)
      if (const auto* cut = std::get_if<events::LogCut>(&event.payload)) cuts.push_back(*cut);
    return cuts;
  }

  std::vector<int64_t> positions_;
  std::vector<int64_t> sizes_;
  Offset end_;
};

TEST_F(Cut, ABadBatchAndWhatIsBehindItAreToldByFileAndOffsets) {
  const auto cuts = reopen(kFirstLog, positions_[1] + 80, false);
  EXPECT_EQ(end_, Offset(2));
  ASSERT_EQ(cuts.size(), 2u);
  EXPECT_EQ(cuts[0].segmentBaseOffset, Offset(0));
  EXPECT_EQ(cuts[0].position, positions_[1]);
  EXPECT_EQ(cuts[0].bytes, sizes_[0] - positions_[1]);
  EXPECT_EQ(cuts[0].from, Offset(2));
  EXPECT_EQ(cuts[0].lastOffset, Offset(5)) << "the headers behind it tell";
  EXPECT_EQ(cuts[0].reason.view(), records::describe(records::CorruptReason::BadChecksum));
  EXPECT_EQ(cuts[1].segmentBaseOffset, Offset(6));
  EXPECT_EQ(cuts[1].position, 0);
  EXPECT_EQ(cuts[1].bytes, sizes_[1]);
  EXPECT_EQ(cuts[1].lastOffset, Offset(11));
}

// Base offset and leader epoch lie outside a batch's checksum: a bit in them is known by the batch behind.
TEST_F(Cut, ABatchWithARaisedOffsetIsGivenUpIfTheNextOneGoesOnBeforeIt) {
  // Where a gap alone tells nothing.
  options_.config.compact = true;
  const auto cuts = reopen(kFirstLog, positions_[1] + 5, false);
  EXPECT_EQ(end_, Offset(2));
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(cuts[0].position, positions_[1]);
  EXPECT_TRUE(records::describe(records::CorruptReason::OutOfOrder).starts_with(cuts[0].reason.view()));
}

TEST_F(Cut, ABatchWithARaisedEpochIsGivenUpIfTheNextOneGoesOnBeforeIt) {
  const auto cuts = reopen(kFirstLog, positions_[1] + static_cast<int64_t>(records::kLeaderEpochAt) + 2, false);
  EXPECT_EQ(end_, Offset(2));
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(cuts[0].position, positions_[1]);
}

TEST_F(Cut, TheLastBatchLeavesNoGapInALogThatWasNeverCleaned) {
  const auto cuts = reopen("/data/orders-0/00000000000000000006.log", positions_[5] + 5, false);
  EXPECT_EQ(end_, Offset(10));
  EXPECT_EQ(cuts.size(), 1u);
}

TEST_F(Cut, InALogThatIsCleanedTheLastBatchMayStandBehindAGap) {
  options_.config.compact = true;
  const auto cuts = reopen("/data/orders-0/00000000000000000006.log", positions_[5] + 5, false);
  EXPECT_GT(end_, Offset(12));
  EXPECT_TRUE(cuts.empty());
}

TEST_F(Cut, TheQuorumsLogHasNoGapsWhateverItsSettings) {
  options_.config.compact = true;
  options_.contiguous = true;
  const auto cuts = reopen("/data/orders-0/00000000000000000006.log", positions_[5] + 5, false);
  EXPECT_EQ(end_, Offset(10));
  EXPECT_EQ(cuts.size(), 1u);
}

TEST_F(Cut, ATailThatIsNoBatchIsToldAfterACleanStopAsWell) {
  const auto cuts = reopen("/data/orders-0/00000000000000000006.log", sizes_[1] + 99, true);
  EXPECT_EQ(end_, Offset(12));
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].segmentBaseOffset, Offset(6));
  EXPECT_EQ(cuts[0].position, sizes_[1]);
  EXPECT_EQ(cuts[0].bytes, 100);
  EXPECT_EQ(cuts[0].from, Offset(12));
  EXPECT_EQ(cuts[0].lastOffset, kNoOffset) << "nothing in it can be read";
}

TEST_F(Cut, NothingIsToldOfAWholeLog) {
  // The byte is the one that is there.
  crash(Crash::Kill);
  restart();
  events::Recorder recorder(process_->clock(), NodeId(1));
  recorder.want(events::Kinds::all());
  LogContext told = context();
  told.recorder = &recorder;
  options_.cleanShutdown = false;
  const auto opened = PartitionLog::open(told, options_);
  ASSERT_TRUE(opened);
  (*opened)->abandon();
  std::vector<events::Event> events;
  recorder.drain(events);
  for (const events::Event& event : events) EXPECT_FALSE(std::holds_alternative<events::LogCut>(event.payload));
}

}  // namespace
}  // namespace tidemark::log
