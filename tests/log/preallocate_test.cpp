#include <gmock/gmock.h>

#include "events/recorder.h"
#include "log/file_names.h"
#include "log_fixture.h"

// `preallocate`: a segment's file is as long as a segment may be until it is closed.

namespace tidemark::log {
namespace {

class Preallocate : public LogFixture {
 protected:
  Preallocate() {
    options_.config.preallocate = true;
    options_.config.segmentBytes = 4096;
  }
  std::string file(int64_t base) const { return offsetFilePath(options_.directory, Offset(base), kLogSuffix); }
  uint64_t length(int64_t base) { return bytes(file(base)).size(); }
  /// Opens the log and returns what it tells to have removed.
  int64_t removedByRecovery() {
    events::Recorder recorder(process_->clock(), NodeId(1));
    recorder.want(events::Kinds::all());
    LogContext told = context();
    told.recorder = &recorder;
    options_.cleanShutdown = false;
    const auto opened = PartitionLog::open(told, options_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    std::vector<events::Event> events;
    recorder.drain(events);
    if (opened) (*opened)->abandon();
    for (const events::Event& event : events)
      if (const auto* recovered = std::get_if<events::LogRecovered>(&event.payload)) return recovered->removedBytes;
    return -1;
  }
};

TEST_F(Preallocate, theActiveSegmentIsAsLongAsASegmentMayBeAndAClosedOneEndsWithItsBatches) {
  open();
  EXPECT_EQ(length(0), 4096u);
  const AppendInfo first = append({.count = 2});
  EXPECT_EQ(length(0), 4096u);
  EXPECT_EQ(log_->sizeInBytes(), first.sizeInBytes);
  ASSERT_TRUE(log_->roll());
  EXPECT_EQ(length(0), static_cast<uint64_t>(first.sizeInBytes));
  EXPECT_EQ(length(2), 4096u);
  const AppendInfo second = append();
  EXPECT_EQ(readHeaders(*log_, Offset(0)).size(), 2u);
  ASSERT_TRUE(log_->close());
  EXPECT_EQ(length(2), static_cast<uint64_t>(second.sizeInBytes));
}

TEST_F(Preallocate, withoutItAFileIsAsLongAsWhatWasAppended) {
  options_.config.preallocate = false;
  open();
  EXPECT_EQ(length(0), 0u);
}

TEST_F(Preallocate, theZerosLeftByAKillAreCutAndNoRecordWithThem) {
  open();
  const AppendInfo info = append({.count = 3});
  crashAndReopen();
  expectEnd(3);
  EXPECT_EQ(length(0), static_cast<uint64_t>(info.sizeInBytes));
  append();
  expectEnd(4);
  expectIndexesTrue();
}

TEST_F(Preallocate, zerosThatWereOnlySetAsideDoNotCountAsRemoved) {
  open();
  append({.count = 3});
  crash(Crash::Kill);
  restart();
  EXPECT_EQ(removedByRecovery(), 0);
}

TEST_F(Preallocate, aTornWriteBeforeTheZerosCountsAsRemovedAndTheZerosDoNot) {
  open();
  const AppendInfo info = append({.count = 3});
  crash(Crash::Kill);
  restart();
  {
    const ByteVector torn(30, 0x5a);
    const auto last = files().open(file(0), platform::OpenMode::ReadWrite);
    ASSERT_TRUE(last && (*last)->writeAt(static_cast<uint64_t>(info.sizeInBytes), ByteView(torn)));
  }
  EXPECT_EQ(removedByRecovery(), 30);
}

TEST_F(Preallocate, aClosedSegmentWhoseCutWasLostKeepsTheSegmentsBehindIt) {
  open();
  append({.count = 3});
  const ByteVector full = bytes(file(0));
  ASSERT_TRUE(log_->roll());
  append({.count = 2});
  crash(Crash::Kill);
  restart();
  {
    const auto closed = files().open(file(0), platform::OpenMode::ReadWrite);
    ASSERT_TRUE(closed && (*closed)->truncate(full.size()));
  }
  open();
  expectEnd(5);
  EXPECT_EQ(readHeaders(*log_, Offset(0)).size(), 2u);
  EXPECT_LT(length(0), full.size());
}

TEST_F(Preallocate, theCutOfAClosedSegmentIsOnDiskOnceItWasFlushed) {
  open();
  const AppendInfo info = append({.count = 3});
  ASSERT_TRUE(log_->flush());
  ASSERT_TRUE(log_->roll());
  append();
  ASSERT_TRUE(log_->flush());
  crash(Crash::PowerLoss);
  restart();
  EXPECT_EQ(length(0), static_cast<uint64_t>(info.sizeInBytes));
}

TEST_F(Preallocate, aTruncatedFileEndsWithItsBatches) {
  open();
  const AppendInfo info = append({.count = 3});
  append({.count = 2});
  ASSERT_TRUE(log_->truncateTo(Offset(3)));
  EXPECT_EQ(length(0), static_cast<uint64_t>(info.sizeInBytes));
  append({.count = 2});
  expectEnd(5);
  EXPECT_EQ(readHeaders(*log_, Offset(0)).size(), 2u);
}

}  // namespace
}  // namespace tidemark::log
