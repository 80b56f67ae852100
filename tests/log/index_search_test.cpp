#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "log/index_file.h"
#include "platform/simulated/world.h"

// What a search of an index finds and how many pages of the file it touches for it.

namespace tidemark::log {
namespace {

class IndexSearchTest : public testing::Test {
 protected:
  static constexpr size_t kEntries = 262'144;  // of a segment of 1 GiB, one for each 4 KiB

  uint64_t below(uint64_t bound) { return world_.random().below(bound); }

  /// An index whose entries rise by what `step` says; its file is whole.
  void write(const std::function<int64_t(size_t number)>& step) {
    offsets_.clear();
    file_ = *process_->files().open("/index", platform::OpenMode::Truncate);
    OffsetIndex index(file_, Offset(0), 0);
    int64_t offset = -1;
    for (size_t i = 0; i < kEntries; ++i) {
      offset += step(i);
      offsets_.push_back(offset);
      ASSERT_TRUE(index.append({Offset(offset), static_cast<int32_t>(i * 4096)}));
    }
    ASSERT_TRUE(index.writePending());
  }
  /// As opened now: no search has looked at it.
  std::unique_ptr<OffsetIndex> opened() const { return std::make_unique<OffsetIndex>(file_, Offset(0), kEntries); }

  int64_t anyTarget() { return static_cast<int64_t>(below(static_cast<uint64_t>(offsets_.back()) + 1000)); }

  /// Looks `target` up, compares with a search in the list, and counts the pages.
  size_t pagesOf(const OffsetIndex& index, int64_t target) {
    LookupTrace trace;
    const auto view = index.view();
    EXPECT_TRUE(view);
    const auto found = view->floor(target, &trace);
    const auto above = std::ranges::upper_bound(offsets_, target);
    EXPECT_EQ(found.has_value(), above != offsets_.begin());
    if (found) {
      EXPECT_EQ(found->offset.value(), *std::prev(above));
      EXPECT_EQ(found->position, (above - offsets_.begin() - 1) * 4096);
    }
    std::set<size_t> pages;
    size_t low = 0;
    size_t high = kEntries;
    for (const LookupStep& step : trace.steps()) {
      if (step.kind != LookupStep::Kind::Probe) continue;
      EXPECT_EQ(step.offset.value(), offsets_[step.entry]);
      EXPECT_EQ(step.low, low);
      EXPECT_EQ(step.high, high);
      (step.taken ? low : high) = step.taken ? step.entry + 1 : step.entry;
      if (!step.remembered) pages.insert(step.entry * OffsetIndexFormat::kSize / 4096);
    }
    EXPECT_EQ(low, high);
    return pages.size();
  }
  size_t mostPages(int lookups, bool fresh) {
    size_t most = 0;
    auto index = opened();
    for (int i = 0; i < lookups; ++i) {
      if (fresh) index = opened();
      most = std::max(most, pagesOf(*index, anyTarget()));
    }
    return most;
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("broker-1");
  std::shared_ptr<platform::File> file_;
  std::vector<int64_t> offsets_;
};

TEST_F(IndexSearchTest, threePagesAreEnoughWhereBatchesAreAlike) {
  write([](size_t) { return 40; });
  EXPECT_LE(mostPages(500, true), 3u);
  EXPECT_LE(mostPages(5000, false), 3u);
}

TEST_F(IndexSearchTest, threePagesAreEnoughWhereBatchesAreOfAnySize) {
  write([this](size_t) { return static_cast<int64_t>(1 + below(100)); });
  EXPECT_LE(mostPages(500, true), 3u);
  EXPECT_LE(mostPages(5000, false), 3u);
}

TEST_F(IndexSearchTest, aHoleThatCompactionLeftCostsOnlyTheFirstLookups) {
  write([this](size_t number) {
    return number == kEntries / 3 ? 500'000'000 : static_cast<int64_t>(1 + below(number < kEntries / 2 ? 10 : 1000));
  });
  EXPECT_LE(mostPages(500, true), 13u) << "guesses, then a binary search of 512 pages";
  const auto index = opened();
  for (int i = 0; i < 3000; ++i) pagesOf(*index, anyTarget());
  size_t most = 0;
  for (int i = 0; i < 3000; ++i) most = std::max(most, pagesOf(*index, anyTarget()));
  EXPECT_LE(most, 3u);
}

TEST_F(IndexSearchTest, theTailTakesNoPageBeforeItIsInTheFile) {
  write([](size_t) { return 40; });
  auto index = opened();
  int64_t last = offsets_.back();
  for (int i = 0; i < 40; ++i) {
    last += 40;
    ASSERT_TRUE(index->append({Offset(last), 0}));
  }
  LookupTrace trace;
  const auto view = index->view();
  ASSERT_TRUE(view);
  const auto found = view->floor(last + 7, &trace);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, Offset(last));
  ASSERT_EQ(trace.steps().size(), 2u) << "one look at the last entry, which is in memory";
  EXPECT_EQ(trace.steps()[0].entry, kEntries + 39);
}

TEST_F(IndexSearchTest, entriesThatDoNotRiseEndTheSearchAllTheSame) {
  write([this](size_t number) { return number == 1000 ? -30'000 : static_cast<int64_t>(1 + below(100)); });
  const auto index = opened();
  for (int i = 0; i < 5000; ++i) {
    const auto view = index->view();
    ASSERT_TRUE(view);
    static_cast<void>(view->floor(anyTarget()));
  }
}

}  // namespace
}  // namespace tidemark::log
