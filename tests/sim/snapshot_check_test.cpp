#include "sim/snapshot_check.h"

#include <gmock/gmock.h>

#include "log/file_names.h"
#include "log/log_fixture.h"

// T9 once a run is quiet: what producer snapshots say, and what they must not say.

namespace tidemark::sim {
namespace {

const NodeId kHolder(2);
constexpr ProducerId kProducer{7};

class SnapshotCheck : public log::LogFixture {
 protected:
  /// Three segments of one producer, with a snapshot at the beginning of the second and of the third.
  SnapshotCheck() {
    options_.config.segmentBytes = 4000;
    open();
    int32_t sequence = 0;
    while (log_->segments().size() < 3) {
      append({.count = 2, .valueSize = 50, .producer = kProducer, .baseSequence = sequence});
      sequence += 2;
    }
    second_ = log_->segments()[1].baseOffset;
    third_ = log_->segments()[2].baseOffset;
  }
  std::string pathOf(Offset offset) const {
    return log::offsetFilePath("/data/orders-0", offset, log::kSnapshotSuffix);
  }
  /// What the checker tells; empty if nothing.
  std::string told() {
    Judge judge;
    const auto batches = log_->batches(Offset(0), SIZE_MAX);
    EXPECT_TRUE(batches);
    checkSnapshots(judge, kHolder, files(), *log_, *batches);
    if (!judge.first()) return {};
    EXPECT_EQ(judge.first()->invariant, "T9");
    return judge.first()->text;
  }

  Offset second_;
  Offset third_;
};

TEST_F(SnapshotCheck, FindsNothingInASoundLog) {
  ASSERT_TRUE(files().exists(pathOf(second_)) && files().exists(pathOf(third_)));
  EXPECT_EQ(told(), "");
}

TEST_F(SnapshotCheck, StateAboveItsOffsetIsABreach) {
  ASSERT_TRUE(files().rename(pathOf(third_), pathOf(second_)));
  EXPECT_THAT(told(), testing::HasSubstr("has its last batch end at offset"));
}

TEST_F(SnapshotCheck, StateThatLacksABatchIsABreach) {
  ASSERT_TRUE(files().rename(pathOf(second_), pathOf(third_)));
  EXPECT_THAT(told(), testing::HasSubstr("in the log it ends at"));
}

TEST_F(SnapshotCheck, ASnapshotAboveTheLogEndIsABreach) {
  ASSERT_TRUE(files().rename(pathOf(third_), pathOf(log_->logEndOffset() + 1)));
  EXPECT_THAT(told(), testing::HasSubstr("lies above the log end"));
}

TEST_F(SnapshotCheck, ADamagedSnapshotHoldsNoState) {
  ASSERT_TRUE(files().rename(pathOf(third_), pathOf(second_)));
  ByteVector all = bytes(pathOf(second_));
  all.back() ^= 1;
  const auto opened = files().open(pathOf(second_), platform::OpenMode::ReadWrite);
  ASSERT_TRUE(opened && (*opened)->writeAt(0, ByteView(all)));
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace tidemark::sim
