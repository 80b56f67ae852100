#include "log_fixture.h"

// Somebody looks at a log while the disk holds up a change of it, which has the log's lock.

namespace tidemark::log {
namespace {

class LookMeanwhile : public LogFixture {
 protected:
  LookMeanwhile() {
    open();
    append({.count = 2});
    log_->updateHighWatermark(Offset(1));
  }

  /// Looks in the first such call on a file of that ending.
  void lookDuring(platform::FileCall call, const std::string& suffix) {
    process_->disk().failWhen([this, call, suffix](platform::FileCall made, const std::string& path) {
      if (looked_ || made != call || !path.ends_with(suffix)) return false;
      looked_ = true;
      seen_ = log_->look();
      EXPECT_EQ(log_->logStartOffset(), seen_.ends.logStartOffset);
      EXPECT_EQ(log_->logEndOffset(), seen_.ends.logEndOffset.offset);
      EXPECT_EQ(log_->highWatermark(), seen_.ends.highWatermark.offset);
      EXPECT_EQ(log_->lastStableOffset(), seen_.ends.lastStableOffset.offset);
      EXPECT_EQ(log_->sizeInBytes(), seen_.sizeInBytes);
      EXPECT_EQ(log_->firstSegmentBase(), seen_.segments.front().baseOffset);
      EXPECT_EQ(log_->cleanView(false).logEnd, seen_.ends.logEndOffset.offset);
      return false;
    });
  }

  bool looked_ = false;
  LogLook seen_;
};

TEST_F(LookMeanwhile, AnAppendThatTheDiskHoldsUpHasNotHappenedYet) {
  const LogLook before = log_->look();
  lookDuring(platform::FileCall::Write, ".log");
  append({.count = 3});
  ASSERT_TRUE(looked_);
  EXPECT_EQ(seen_.ends.logEndOffset, before.ends.logEndOffset);
  EXPECT_EQ(seen_.sizeInBytes, before.sizeInBytes);
  const LogLook after = log_->look();
  EXPECT_EQ(after.ends.logEndOffset.offset, Offset(5));
  EXPECT_GT(after.sizeInBytes, before.sizeInBytes);
  EXPECT_EQ(after.ends.logEndOffset.position, after.segments.back().sizeInBytes);
}

TEST_F(LookMeanwhile, ATruncationThatTheDiskHoldsUpHasNotHappenedYet) {
  ASSERT_TRUE(log_->roll());
  append({.count = 3});
  const LogLook before = log_->look();
  ASSERT_EQ(before.segments.size(), 2U);
  lookDuring(platform::FileCall::Rename, ".log");
  ASSERT_TRUE(log_->truncateTo(Offset(1)));
  ASSERT_TRUE(looked_);
  EXPECT_EQ(seen_.ends.logEndOffset, before.ends.logEndOffset);
  EXPECT_EQ(seen_.segments.size(), 2U);
  const LogLook after = log_->look();
  EXPECT_EQ(after.segments.size(), 1U);
  EXPECT_EQ(after.ends.logEndOffset.offset, Offset(0));
  EXPECT_EQ(after.sizeInBytes, 0);
}

}  // namespace
}  // namespace tidemark::log
