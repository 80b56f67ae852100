#include "sim/index_check.h"

#include <gmock/gmock.h>

#include "log/file_names.h"
#include "log/log_fixture.h"

// S2 once a run is quiet: what lies in an index, and what may be false in it.

namespace tidemark::sim {
namespace {

using log::BatchSpec;

const NodeId kBroker(2);

class IndexCheck : public log::LogFixture {
 protected:
  /// Two segments; each batch but the first of a segment has an entry.
  IndexCheck() {
    options_.config.segmentBytes = 4000;
    options_.config.indexIntervalBytes = 50;
    open();
    for (int i = 0; i < 40; ++i) append({.count = 2, .valueSize = 50, .firstTimestampMs = 1'700'000'000'000 + i * 10});
    EXPECT_GE(log_->segments().size(), 2u);
    EXPECT_TRUE(log_->close());
    restart();
  }
  std::string pathOf(std::string_view suffix) const { return log::offsetFilePath("/data/orders-0", Offset(0), suffix); }
  /// Flips the lowest bit of a byte of an index of the first segment.
  void flip(std::string_view suffix, size_t at) {
    ByteVector all = bytes(pathOf(suffix));
    ASSERT_LT(at, all.size());
    all[at] ^= 1;
    const auto opened = files().open(pathOf(suffix), platform::OpenMode::ReadWrite);
    ASSERT_TRUE(opened && (*opened)->writeAt(0, ByteView(all)));
  }
  /// What the checker tells; empty if nothing.
  std::string told(const std::optional<std::string>& flipped) {
    Judge judge;
    const auto batches = log_->batches(Offset(0), SIZE_MAX);
    EXPECT_TRUE(batches);
    checkIndexes(judge, kBroker, *log_, *batches, [&](NodeId broker, const std::string& path) {
      EXPECT_EQ(broker, kBroker);
      return path == flipped;
    });
    if (!judge.first()) return {};
    EXPECT_EQ(judge.first()->invariant, "S2");
    return judge.first()->text;
  }
};

// A byte of the fourth entry: its offset is 8 to the left, its position 4.
constexpr size_t kEntry = 3 * 8;

TEST_F(IndexCheck, FindsNothingInASoundLog) {
  open(true);
  EXPECT_EQ(told({}), "");
}

TEST_F(IndexCheck, AFlippedEntryThatNobodyHasLookedUpIsNoBreachWhereTheBitWasFlipped) {
  // The top byte of the position, the last one, and of the offset.
  for (const size_t at : {kEntry + 4, kEntry + 7, kEntry, kEntry + 3}) {
    flip(log::kOffsetIndexSuffix, at);
    open(true);
    EXPECT_EQ(told(pathOf(log::kOffsetIndexSuffix)), "") << at;
    ASSERT_TRUE(log_->close());
    restart();
  }
}

TEST_F(IndexCheck, AFalseEntryIsABreachWhereNobodyFlippedABit) {
  flip(log::kOffsetIndexSuffix, kEntry + 4);
  open(true);
  EXPECT_THAT(told({}), testing::HasSubstr("no batch begins there"));
  // Nor is it enough that another file has one.
  EXPECT_THAT(told(pathOf(log::kTimeIndexSuffix)), testing::HasSubstr("no batch begins there"));
}

TEST_F(IndexCheck, ALookupThatIsMisledIsABreachAlthoughABitWasFlipped) {
  flip(log::kOffsetIndexSuffix, kEntry + 4);
  open(true);
  auto batches = log_->batches(Offset(0), SIZE_MAX);
  ASSERT_TRUE(batches);
  // As if the scan had found the batch elsewhere than the lookup does.
  (*batches)[1].position += 1;
  Judge judge;
  checkIndexes(judge, kBroker, *log_, *batches, [](NodeId, const std::string&) { return true; });
  ASSERT_TRUE(judge.first());
  EXPECT_THAT(judge.first()->text, testing::HasSubstr("a bit of it was flipped, but a lookup of offset 2 finds byte"));
}

TEST_F(IndexCheck, ATimeIndexIsLookedAtAsWell) {
  flip(log::kTimeIndexSuffix, 2 * 12 + 7);
  open(true);
  EXPECT_THAT(told({}), testing::HasSubstr("the largest time up to offset"));
  EXPECT_EQ(told(pathOf(log::kTimeIndexSuffix)), "");
}

}  // namespace
}  // namespace tidemark::sim
