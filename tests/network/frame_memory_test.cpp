#include "network/frame_memory.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace tidemark::network {
namespace {

class ByteBudgetTest : public testing::Test {
 protected:
  ~ByteBudgetTest() override {
    for (auto& claim : claims) budget.release(claim);
    EXPECT_EQ(budget.used(), 0u);
  }
  bool take(size_t who, uint64_t bytes, uint64_t whole = 100) {
    return budget.take(claims.at(who), bytes, whole, [this, who] { granted.push_back(who); });
  }
  void release(size_t who) { budget.release(claims.at(who)); }

  ByteBudget budget{100};
  std::deque<ByteBudget::Claim> claims{6};
  std::vector<size_t> granted;
};

TEST_F(ByteBudgetTest, GrantsUntilTheLimitIsReachedAndOneStepBeyond) {
  EXPECT_TRUE(take(0, 60));
  EXPECT_TRUE(take(1, 60));
  EXPECT_EQ(budget.used(), 120u);
  EXPECT_FALSE(take(2, 1));
  EXPECT_EQ(budget.used(), 120u);
}

TEST_F(ByteBudgetTest, SmallFramesAreServedWhileLargeOnesWait) {
  ASSERT_TRUE(take(0, 50));
  ASSERT_TRUE(take(1, 50));
  ASSERT_TRUE(take(0, 200)) << "on its way to its end, far over the limit";
  ASSERT_FALSE(take(1, 50));
  EXPECT_TRUE(take(2, 15, 1));
  EXPECT_TRUE(take(3, 15, 1)) << "a step beyond";
  EXPECT_FALSE(take(4, 1, 1)) << "a quarter of the limit, and no more";
  EXPECT_FALSE(take(5, 50, 50)) << "which is not small";
  release(2);
  EXPECT_EQ(granted, (std::vector<size_t>{4}));
  EXPECT_EQ(budget.used(), 316u);
  release(0);
  EXPECT_EQ(granted, (std::vector<size_t>{4, 1}));
  release(1);
  EXPECT_EQ(granted, (std::vector<size_t>{4, 1, 5}));
}

TEST_F(ByteBudgetTest, GrantsBeginnersInTheOrderTheyCame) {
  take(0, 100);
  EXPECT_FALSE(take(1, 60));
  EXPECT_FALSE(take(2, 60));
  EXPECT_FALSE(take(3, 60));
  release(0);
  EXPECT_EQ(granted, (std::vector<size_t>{1, 2}));
  release(1);
  EXPECT_EQ(granted, (std::vector<size_t>{1, 2, 3}));
}

TEST_F(ByteBudgetTest, LetsNoBeginnerOvertakeOneThatWaits) {
  take(0, 100);
  take(1, 50);
  release(0);
  ASSERT_EQ(granted, (std::vector<size_t>{1}));
  take(2, 50);
  EXPECT_FALSE(take(3, 50));
  EXPECT_FALSE(take(4, 1));
  release(1);
  EXPECT_EQ(granted, (std::vector<size_t>{1, 3}));
}

TEST_F(ByteBudgetTest, LetsOneGrowerGoOnWhenAllMemoryIsInHalfReadFrames) {
  take(0, 50);
  take(1, 50);
  EXPECT_TRUE(take(0, 50)) << "somebody must get to his end";
  EXPECT_FALSE(take(1, 50));
  EXPECT_TRUE(take(0, 50));
  release(0);
  EXPECT_EQ(granted, (std::vector<size_t>{1}));
}

TEST_F(ByteBudgetTest, PassesThePrivilegeOnWhenItsHolderIsDone) {
  take(0, 90);
  take(1, 90);
  EXPECT_TRUE(take(0, 10));
  EXPECT_FALSE(take(1, 90));
  EXPECT_FALSE(take(2, 10));
  release(0);  // 90 are still taken: room for the grower, which goes over the limit
  EXPECT_EQ(granted, (std::vector<size_t>{1}));
  EXPECT_TRUE(take(1, 10)) << "it waits for nobody now";
  release(1);
  EXPECT_EQ(granted, (std::vector<size_t>{1, 2}));
}

TEST_F(ByteBudgetTest, ForgetsAWaiterThatGivesUp) {
  take(0, 100);
  take(1, 10);
  take(2, 10);
  release(1);
  release(0);
  EXPECT_EQ(granted, (std::vector<size_t>{2}));
  EXPECT_EQ(budget.used(), 10u);
}

TEST(FramePoolTest, GivesABufferOfTheSameSizeAgain) {
  FramePool pool(1 << 20);
  const auto first = pool.get(70'000);
  EXPECT_GE(first.capacity, 70'000u);
  pool.put(first);
  const auto second = pool.get(80'000);
  EXPECT_EQ(second.data, first.data);
  pool.put(second);
}

TEST(FramePoolTest, KeepsNoMoreThanItMay) {
  FramePool pool(100'000);
  const auto first = pool.get(65'536);
  const auto second = pool.get(65'536);
  pool.put(first);
  pool.put(second);  // Freed: under AddressSanitizer a leak or a double free would show.
  const auto again = pool.get(65'536);
  EXPECT_EQ(again.data, first.data);
  pool.put(again);
}

TEST(IncomingFrameTest, TakesMemoryAsBytesArriveAndGivesItBackWhenDropped) {
  auto memory = std::make_shared<FrameMemory>(1 << 20, 0);
  auto frame = std::make_shared<IncomingFrame>(memory, 50 << 20);
  EXPECT_EQ(memory->budget.used(), 0u);
  ASSERT_TRUE(frame->needsClaim());
  ASSERT_TRUE(frame->claim([] {}));
  EXPECT_EQ(memory->budget.used(), 64u << 10) << "a frame that only announces itself costs little";
  size_t total = 0;
  while (!frame->complete()) {
    if (frame->needsClaim()) {
      ASSERT_TRUE(frame->claim([] {}));
    }
    const MutableBytes room = frame->room();
    for (size_t i = 0; i < room.size(); i += 4096) room[i] = static_cast<uint8_t>((total + i) >> 12);
    total += room.size();
    frame->filled(room.size());
  }
  frame->seal();
  EXPECT_EQ(frame->bytes().size(), 50u << 20);
  for (size_t i = 0; i < frame->bytes().size(); i += 4096) {
    ASSERT_EQ(frame->bytes()[i], static_cast<uint8_t>(i >> 12)) << "at " << i;
  }
  EXPECT_EQ(memory->budget.used(), 50u << 20);
  frame.reset();
  EXPECT_EQ(memory->budget.used(), 0u);
}

}  // namespace
}  // namespace tidemark::network
