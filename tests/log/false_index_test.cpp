#include <gtest/gtest.h>

#include <functional>

#include "log/file_names.h"
#include "log_fixture.h"

// Indexes that a clean stop left and that somebody else damaged since: nothing looks at all of them at a start, but no
// reader is misled by them, and they are built anew once one was found to be false.

namespace tidemark::log {
namespace {

constexpr int kBatches = 110;
constexpr int64_t kFirstTimestampMs = 1'700'000'000'000;

class FalseIndexTest : public LogFixture {
 protected:
  /// Three segments or more, two records a batch, every other batch indexed; stopped cleanly.
  FalseIndexTest() {
    options_.config.segmentBytes = 8000;
    options_.config.indexIntervalBytes = 250;
    open();
    for (int i = 0; i < kBatches; ++i)
      append({.count = 2, .valueSize = 50, .firstTimestampMs = kFirstTimestampMs + i * 10});
    segments_ = log_->segments();
    EXPECT_GE(segments_.size(), 3u);
    EXPECT_TRUE(log_->close());
    restart();
  }
  std::string file(size_t segment, std::string_view suffix) const {
    return offsetFilePath("/data/orders-0", segments_[segment].baseOffset, suffix);
  }
  /// Writes big-endian numbers over every entry of an index but the last.
  template <class Integer>
  void falsify(size_t segment, std::string_view suffix, size_t entrySize, size_t at,
               const std::function<Integer(Integer)>& how) {
    const std::string path = file(segment, suffix);
    ByteVector all = bytes(path);
    for (size_t entry = 0; (entry + 2) * entrySize <= all.size(); ++entry) {
      uint8_t* const field = all.data() + entry * entrySize + at;
      writeBigEndian(field, how(readBigEndian<Integer>(field)));
    }
    const auto opened = files().open(path, platform::OpenMode::ReadWrite);
    ASSERT_TRUE(opened && (*opened)->writeAt(0, ByteView(all)));
  }
  /// Each record is found by its offset and by its time.
  void expectAllFound() {
    for (int64_t offset = 0; offset < kBatches * 2; ++offset) {
      const auto read = log_->read(Offset(offset), 1, FetchIsolation::LogEnd, true);
      ASSERT_TRUE(read) << offset << ": " << read.error().message;
      uint8_t header[records::kBatchHeaderSize];
      ASSERT_TRUE(read->slice.file->readAt(read->slice.position, header));
      EXPECT_EQ(records::BatchHeader::read(header).baseOffset, Offset(offset / 2 * 2));
      const auto found = log_->offsetForTimestamp(kFirstTimestampMs + offset / 2 * 10 + offset % 2);
      ASSERT_TRUE(found && *found) << offset;
      EXPECT_EQ((*found)->offset, Offset(offset));
    }
  }

  std::vector<SegmentInfo> segments_;
};

TEST_F(FalseIndexTest, aSoundIndexIsLeftAsItIs) {
  const ByteVector before = bytes(file(1, kOffsetIndexSuffix));
  open(true);
  expectAllFound();
  EXPECT_EQ(bytes(file(1, kOffsetIndexSuffix)), before);
}

TEST_F(FalseIndexTest, entriesThatLeadIntoTheMiddleOfABatchMisleadNobodyAndAreBuiltAnew) {
  const ByteVector before = bytes(file(1, kOffsetIndexSuffix));
  falsify<int32_t>(1, kOffsetIndexSuffix, 8, 4, [](int32_t position) { return position + 7; });
  open(true);
  expectAllFound();
  EXPECT_EQ(bytes(file(1, kOffsetIndexSuffix)), before);
  expectIndexesTrue();
}

TEST_F(FalseIndexTest, entriesThatLeadTooFarHideNoRecord) {
  const ByteVector before = bytes(file(1, kOffsetIndexSuffix));
  // Each names the batch of the one behind it: a search would begin behind what it looks for.
  const int32_t one = readBigEndian<int32_t>(before.data() + 8 + 4) - readBigEndian<int32_t>(before.data() + 4);
  falsify<int32_t>(1, kOffsetIndexSuffix, 8, 4, [one](int32_t position) { return position + one; });
  open(true);
  expectAllFound();
  EXPECT_EQ(bytes(file(1, kOffsetIndexSuffix)), before);
}

TEST_F(FalseIndexTest, entriesThatLeadBehindTheEndHideNoRecord) {
  for (const int32_t position : {1'000'000, -5}) {
    falsify<int32_t>(1, kOffsetIndexSuffix, 8, 4, [position](int32_t) { return position; });
    open(true);
    expectAllFound();
    expectIndexesTrue();
    ASSERT_TRUE(log_->close());
    restart();
  }
}

TEST_F(FalseIndexTest, aTimeIndexWithOtherOffsetsHidesNoRecord) {
  const ByteVector before = bytes(file(1, kTimeIndexSuffix));
  falsify<int32_t>(1, kTimeIndexSuffix, 12, 8, [](int32_t offset) { return offset + 6; });
  open(true);
  expectAllFound();
  EXPECT_EQ(bytes(file(1, kTimeIndexSuffix)), before);
}

TEST_F(FalseIndexTest, aTimeIndexWithOtherTimesHidesNoRecord) {
  falsify<int64_t>(1, kTimeIndexSuffix, 12, 0, [](int64_t time) { return time - 45; });
  open(true);
  expectAllFound();
  expectIndexesTrue();
}

TEST_F(FalseIndexTest, aLargestTimeThatNoBatchHasIsNotAnswered) {
  const std::string path = file(1, kTimeIndexSuffix);
  ByteVector all = bytes(path);
  writeBigEndian<int64_t>(all.data() + all.size() - 12, kFirstTimestampMs + 1'000'000);
  const auto opened = files().open(path, platform::OpenMode::ReadWrite);
  ASSERT_TRUE(opened && (*opened)->writeAt(0, ByteView(all)));
  open(true);
  for (const char* when : {"as it is", "built anew"})
    EXPECT_EQ(log_->offsetForTimestamp(kMaxTimestamp).value()->offset, Offset(kBatches * 2 - 1)) << when;
  expectIndexesTrue();
}

TEST_F(FalseIndexTest, anActiveSegmentWhoseLastEntryIsFalseIsReadWhenItIsOpened) {
  const size_t last = segments_.size() - 1;
  const std::string path = file(last, kOffsetIndexSuffix);
  const ByteVector before = bytes(path);
  ASSERT_GE(before.size(), 16u);
  // The batch before is one, too; the next offset would still be right, the search not.
  ByteVector wrong = before;
  writeBigEndian<int32_t>(wrong.data() + wrong.size() - 8,
                          readBigEndian<int32_t>(before.data() + before.size() - 8) - 3);
  const auto opened = files().open(path, platform::OpenMode::ReadWrite);
  ASSERT_TRUE(opened && (*opened)->writeAt(0, ByteView(wrong)));
  open(true);
  expectEnd(kBatches * 2);
  ASSERT_TRUE(log_->flush());
  EXPECT_EQ(bytes(path), before);
  expectAllFound();
}

TEST_F(FalseIndexTest, falseEntriesOfTheActiveSegmentMisleadNobodyAndGoWhenItIsClosed) {
  const size_t last = segments_.size() - 1;
  falsify<int32_t>(last, kOffsetIndexSuffix, 8, 4, [](int32_t position) { return position + 7; });
  open(true);
  expectAllFound();
  ASSERT_TRUE(log_->roll());
  expectAllFound();
  expectIndexesTrue();
}

}  // namespace
}  // namespace tidemark::log
