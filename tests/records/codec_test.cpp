#include "records/codec.h"

#include <random>

#include <gtest/gtest.h>
#include <snappy.h>

namespace tidemark::records {
namespace {

constexpr Codec kCompressing[] = {Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd};

ByteVector noise(size_t size) {
  std::mt19937 random(7);
  ByteVector bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

ByteVector repetitive(size_t size) {
  ByteVector bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>("high water "[i % 11]);
  return bytes;
}

ByteVector compressed(Codec codec, ByteView input, int level = kDefaultLevel) {
  ByteVector output;
  EXPECT_TRUE(compress(codec, level, input, output).has_value());
  return output;
}

ByteVector owned(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(Codecs, ReturnWhatWasCompressedForAnySizeAndLevel) {
  for (const Codec codec : kCompressing) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{32 << 10}, size_t{65537}, size_t{1} << 20}) {
      for (const ByteVector& input : {noise(size), repetitive(size)}) {
        ByteVector buffer;
        const ByteVector packed = compressed(codec, input);
        const Result<ByteView> output = decompress(codec, packed, kDefaultDecompressedLimit, buffer);
        ASSERT_TRUE(output.has_value()) << codecName(codec) << " of " << size << ": " << output.error().message;
        EXPECT_EQ(owned(*output), input) << codecName(codec) << " of " << size;
      }
    }
  }
  for (const auto& [codec, levels] :
       {std::pair{Codec::Gzip, std::vector{1, 9, -1}}, {Codec::Lz4, {1, 9, 17}}, {Codec::Zstd, {-131072, 1, 22}}}) {
    for (const int level : levels) {
      const ByteVector input = repetitive(100000);
      ByteVector buffer;
      const ByteVector packed = compressed(codec, input, level);
      const Result<ByteView> output = decompress(codec, packed, input.size(), buffer);
      ASSERT_TRUE(output.has_value()) << codecName(codec) << " level " << level;
      EXPECT_EQ(owned(*output), input);
    }
  }
}

TEST(Codecs, StopAtTheLimitAndTakeNoMoreMemoryThanThat) {
  const ByteVector input = repetitive(4 << 20);
  for (const Codec codec : kCompressing) {
    const ByteVector packed = compressed(codec, input);
    ByteVector buffer;
    EXPECT_TRUE(decompress(codec, packed, input.size(), buffer).has_value()) << codecName(codec);
    ByteVector small;
    const Result<ByteView> refused = decompress(codec, packed, 100000, small);
    ASSERT_FALSE(refused.has_value()) << codecName(codec);
    EXPECT_EQ(refused.error().code, ErrorCode::RecordListTooLarge) << codecName(codec);
    EXPECT_LE(small.capacity(), 262144u) << codecName(codec);
    ByteVector justTooSmall;
    EXPECT_FALSE(decompress(codec, packed, input.size() - 1, justTooSmall).has_value()) << codecName(codec);
  }
}

TEST(Codecs, ReuseTheBufferThatWasGrownBefore) {
  ByteVector buffer;
  const ByteVector large = repetitive(1 << 20);
  const ByteVector small = repetitive(10);
  for (const Codec codec : kCompressing) {
    ASSERT_TRUE(decompress(codec, compressed(codec, large), 2 << 20, buffer).has_value());
    const uint8_t* before = buffer.data();
    const Result<ByteView> output = decompress(codec, compressed(codec, small), 2 << 20, buffer);
    ASSERT_TRUE(output.has_value());
    EXPECT_EQ(owned(*output), small);
    EXPECT_EQ(buffer.data(), before);
  }
}

TEST(Codecs, ReadSnappyWithoutFraming) {
  const ByteVector input = repetitive(5000);
  std::string raw;
  snappy::Compress(reinterpret_cast<const char*>(input.data()), input.size(), &raw);
  ByteVector buffer;
  const Result<ByteView> output = decompress(Codec::Snappy, asBytes(raw), 5000, buffer);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(owned(*output), input);
}

TEST(Codecs, TakeNoMemoryForASnappyLengthThatCannotBeTrue) {
  const ByteVector lie{0xff, 0xff, 0xff, 0xff, 0x07, 0x00};  // "2 GiB follow"
  ByteVector buffer;
  const Result<ByteView> output = decompress(Codec::Snappy, lie, INT32_MAX, buffer);
  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::CorruptMessage);
  EXPECT_LT(buffer.capacity(), 100000u);
}

TEST(Codecs, ReadGzipAndZstdStreamsThatFollowOneAnother) {
  for (const Codec codec : {Codec::Gzip, Codec::Zstd}) {
    ByteVector twice = compressed(codec, asBytes("one "));
    ASSERT_TRUE(compress(codec, kDefaultLevel, asBytes("two"), twice).has_value());
    ByteVector buffer;
    const Result<ByteView> output = decompress(codec, twice, 100, buffer);
    ASSERT_TRUE(output.has_value()) << output.error().message;
    EXPECT_EQ(asText(*output), "one two");
  }
}

TEST(Codecs, RefuseInputThatIsCutOffAtAnyByte) {
  const ByteVector input = noise(2000);
  for (const Codec codec : kCompressing) {
    const ByteVector whole = compressed(codec, input);
    for (size_t size = 0; size < whole.size(); ++size) {
      ByteVector buffer;
      const ByteVector cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      const Result<ByteView> output = decompress(codec, cut, 1 << 20, buffer);
      // A xerial stream cut between two blocks is a shorter stream; the records inside tell.
      if (output.has_value()) {
        EXPECT_EQ(codec, Codec::Snappy) << size;
        EXPECT_LT(output->size(), input.size());
      }
    }
  }
}

TEST(Codecs, SurviveAnyFlippedByte) {
  const ByteVector input = repetitive(3000);
  for (const Codec codec : kCompressing) {
    const ByteVector whole = compressed(codec, input);
    for (size_t i = 0; i < whole.size(); ++i) {
      for (const uint8_t flip : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xff}}) {
        ByteVector damaged = whole;
        damaged[i] ^= flip;
        ByteVector buffer;
        const Result<ByteView> output = decompress(codec, damaged, 1 << 20, buffer);
        EXPECT_TRUE(!output.has_value() || output->size() <= 1 << 20);
      }
    }
  }
}

TEST(Codecs, HaveTheNamesOfCompressionType) {
  for (const Codec codec : {Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd}) {
    EXPECT_EQ(codecByName(codecName(codec)), codec);
    EXPECT_EQ(codecByNumber(static_cast<int>(codec)), codec);
  }
  EXPECT_EQ(codecByName("uncompressed"), Codec::None);
  EXPECT_FALSE(codecByName("producer").has_value());
  EXPECT_FALSE(codecByNumber(5).has_value());
}

TEST(Codecs, RefuseLevelsThatTheyDoNotHave) {
  ByteVector output;
  EXPECT_FALSE(compress(Codec::Gzip, 10, {}, output).has_value());
  EXPECT_FALSE(compress(Codec::Lz4, 18, {}, output).has_value());
  EXPECT_FALSE(compress(Codec::Zstd, 23, {}, output).has_value());
  EXPECT_TRUE(output.empty());
}

}  // namespace
}  // namespace tidemark::records
