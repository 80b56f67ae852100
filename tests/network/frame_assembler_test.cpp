#include "network/frame_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tidemark::network {
namespace {

using Next = FrameAssembler::Next;

ByteVector frameOf(size_t size, uint8_t seed) {
  ByteVector bytes(4 + size);
  writeBigEndian(bytes.data(), static_cast<int32_t>(size));
  for (size_t i = 0; i < size; ++i) bytes[4 + i] = static_cast<uint8_t>(seed + i * 7);
  return bytes;
}

class FrameAssemblerTest : public testing::Test {
 protected:
  Next next() {
    return frames.next([] { return platform::Task([] {}); });
  }
  /// Feeds the stream in portions of at most `portion` bytes and collects what comes out.
  std::vector<ByteVector> feed(ByteView stream, size_t portion) {
    std::vector<ByteVector> out;
    for (;;) {
      const Next what = next();
      if (what == Next::Complete) {
        const auto frame = frames.take();
        out.emplace_back(frame->bytes().begin(), frame->bytes().end());
        continue;
      }
      if (what != Next::NeedsBytes || stream.empty()) {
        last = what;
        return out;
      }
      const MutableBytes room = frames.room();
      const size_t count = std::min({portion, stream.size(), room.size()});
      EXPECT_GT(room.size(), 0u);
      std::memcpy(room.data(), stream.data(), count);
      frames.received(count);
      stream = stream.subspan(count);
    }
  }

  std::shared_ptr<FrameMemory> memory = std::make_shared<FrameMemory>(8 << 20, 1 << 20);
  FrameAssembler frames{memory, 4 << 20};
  Next last = Next::Complete;
};

TEST_F(FrameAssemblerTest, CutsAnyPortioningOfAStreamIntoTheSameFrames) {
  const std::vector<size_t> sizes = {1, 5, 4092, 4093, 4096, 70'000, 2, 3 << 20, 8, 8, 8, 5000};
  ByteVector stream;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ByteVector frame = frameOf(sizes[i], static_cast<uint8_t>(i));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  for (const size_t portion : {size_t{1}, size_t{3}, size_t{4}, size_t{1000}, size_t{4096}, size_t{1} << 22}) {
    const auto out = feed(stream, portion);
    ASSERT_EQ(out.size(), sizes.size()) << "in portions of " << portion;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const ByteVector expected = frameOf(sizes[i], static_cast<uint8_t>(i));
      ASSERT_TRUE(std::equal(out[i].begin(), out[i].end(), expected.begin() + 4, expected.end())) << "frame " << i;
    }
    EXPECT_FALSE(frames.insideFrame());
  }
  EXPECT_EQ(memory->budget.used(), 0u);
}

TEST_F(FrameAssemblerTest, AFrameLikeTheLastOneIsReadAtOnceAndNotCopied) {
  const ByteVector stream = frameOf(16'000, 1);
  ASSERT_EQ(feed(stream, 1 << 20).size(), 1u);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(next(), Next::NeedsBytes);
    const MutableBytes room = frames.room();
    ASSERT_EQ(room.size(), stream.size()) << "not a byte of what follows";
    std::memcpy(room.data(), stream.data(), stream.size());
    frames.received(stream.size());
    ASSERT_EQ(next(), Next::Complete);
    const auto frame = frames.take();
    EXPECT_EQ(frame->bytes().data(), room.data() + 4);
    EXPECT_TRUE(std::equal(frame->bytes().begin(), frame->bytes().end(), stream.begin() + 4, stream.end()));
    EXPECT_EQ(memory->budget.used(), 16'000u);
  }
  EXPECT_EQ(memory->budget.used(), 0u);
}

TEST_F(FrameAssemblerTest, ManyThatWaitDoNotHoldLargeBuffers) {
  const ByteVector stream = frameOf(100'000, 1);
  std::vector<std::unique_ptr<FrameAssembler>> connections;
  size_t waiting = 0;
  for (int i = 0; i < 40; ++i) {
    auto& one = *connections.emplace_back(std::make_unique<FrameAssembler>(memory, 4 << 20));
    ByteView left = stream;
    while (one.next([] { return platform::Task([] {}); }) == Next::NeedsBytes && !left.empty()) {
      const size_t count = std::min(left.size(), one.room().size());
      std::memcpy(one.room().data(), left.data(), count);
      one.received(count);
      left = left.subspan(count);
    }
    ASSERT_TRUE(left.empty());
    one.take();
    ASSERT_EQ(one.next([] { return platform::Task([] {}); }), Next::NeedsBytes);
    waiting += one.room().size();
  }
  EXPECT_LE(waiting, (8U << 20) / 16 + 40 * 4096);
  connections.clear();
  // What they had is there for others again.
  ASSERT_EQ(feed(stream, 1 << 20).size(), 1u);
  ASSERT_EQ(next(), Next::NeedsBytes);
  EXPECT_EQ(frames.room().size(), stream.size());
}

TEST_F(FrameAssemblerTest, AWholeFrameInTheBufferWaitsForMemoryToo) {
  const ByteVector stream = frameOf(16'000, 1);
  ASSERT_EQ(feed(stream, 1 << 20).size(), 1u);
  ByteBudget::Claim other;
  ByteBudget::Claim small;
  ASSERT_TRUE(memory->budget.take(other, 8 << 20, 8 << 20, {}));
  ASSERT_TRUE(memory->budget.take(small, 2 << 20, 1, {}));
  ASSERT_EQ(next(), Next::NeedsBytes);
  std::memcpy(frames.room().data(), stream.data(), stream.size());
  frames.received(stream.size());
  bool granted = false;
  ASSERT_EQ(frames.next([&] { return platform::Task([&] { granted = true; }); }), Next::NeedsMemory);
  memory->budget.release(other);
  memory->budget.release(small);
  ASSERT_TRUE(granted);
  frames.memoryGranted();
  ASSERT_EQ(next(), Next::Complete);
  const auto frame = frames.take();
  EXPECT_TRUE(std::equal(frame->bytes().begin(), frame->bytes().end(), stream.begin() + 4, stream.end()));
}

TEST_F(FrameAssemblerTest, FramesOfChangingSizesThatComeTogetherAreCutRight) {
  ByteVector stream;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < 60; ++i) sizes.push_back((i * 7919 + 13) % 40'000 + 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ByteVector frame = frameOf(sizes[i], static_cast<uint8_t>(i));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  const auto out = feed(stream, 1 << 20);
  ASSERT_EQ(out.size(), sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ByteVector expected = frameOf(sizes[i], static_cast<uint8_t>(i));
    ASSERT_TRUE(std::equal(out[i].begin(), out[i].end(), expected.begin() + 4, expected.end())) << "frame " << i;
  }
}

TEST_F(FrameAssemblerTest, RefusesLengthsThatAreZeroNegativeOrTooLarge) {
  for (const int32_t length : {0, -1, INT32_MIN, (4 << 20) + 1, INT32_MAX}) {
    FrameAssembler fresh(memory, 4 << 20);
    ASSERT_EQ(fresh.next([] { return platform::Task(); }), Next::NeedsBytes);
    writeBigEndian(fresh.room().data(), length);
    fresh.received(4);
    EXPECT_EQ(fresh.next([] { return platform::Task(); }), Next::BadLength) << length;
    EXPECT_EQ(fresh.badLength(), length);
    EXPECT_EQ(memory->budget.used(), 0u);
  }
}

TEST_F(FrameAssemblerTest, WaitsForMemoryAndGoesOnWhenItIsGranted) {
  ByteBudget::Claim other;
  ByteBudget::Claim small;
  ASSERT_TRUE(memory->budget.take(other, 8 << 20, 8 << 20, {}));
  ASSERT_TRUE(memory->budget.take(small, 2 << 20, 1, {}));
  const ByteVector stream = frameOf(100'000, 1);
  bool granted = false;
  ASSERT_EQ(next(), Next::NeedsBytes);
  std::memcpy(frames.room().data(), stream.data(), 100);
  frames.received(100);
  ASSERT_EQ(frames.next([&] { return platform::Task([&] { granted = true; }); }), Next::NeedsMemory);
  EXPECT_FALSE(granted);
  memory->budget.release(other);
  memory->budget.release(small);
  ASSERT_TRUE(granted);
  frames.memoryGranted();
  const auto out = feed(ByteView(stream).subspan(100), 1 << 20);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(std::equal(out[0].begin(), out[0].end(), stream.begin() + 4, stream.end()));
}

}  // namespace
}  // namespace tidemark::network
