#include <algorithm>

#include <gtest/gtest.h>

#include "base/varint.h"
#include "protocol/reflect.h"
#include "protocol/wire_vectors.h"

/// Bytes that nobody honest sends: cut off, with lengths that promise too much, with any byte changed.

/// The largest single allocation of this thread since it was set to 0.
static thread_local size_t largestAllocation = 0;
static void onAllocation(size_t size) {
  largestAllocation = std::max(largestAllocation, size);
}
#include "base/replaced_new.h"

namespace tidemark::protocol::test {
namespace {

/// More than any honest vector needs (the largest has some 10 KiB), less than any inflated length asks for.
constexpr size_t kMostAtOnce = 1 << 20;

/// Decodes with the generated code and with reflection; both must agree on whether it is a message.
bool isMessage(const WireVector& vector, const AnyMessage& any, ByteView bytes) {
  largestAllocation = 0;
  const Result<std::shared_ptr<void>> decoded = any.decode(bytes, vector.version);
  EXPECT_LE(largestAllocation, kMostAtOnce) << vector.title();
  Visitor nobody;
  const Result<size_t> walked = walk(bytes, *vector.schema, vector.version, nobody);
  EXPECT_EQ(decoded.has_value(), walked.has_value() && *walked == bytes.size())
      << vector.title() << ": " << (decoded ? "" : decoded.error().message) << toHex(bytes);
  if (!decoded) {
    EXPECT_FALSE(decoded.error().message.empty());
  }
  return decoded.has_value();
}

TEST(Hostile, AMessageCutOffAnywhereIsAnError) {
  for (const WireVector& vector : wireVectors()) {
    const AnyMessage& any = anyMessage(vector.message);
    for (size_t length = 0; length < vector.bytes.size(); ++length) {
      // A copy of its own, so that a sanitizer sees a byte read past the end.
      const ByteVector cut(vector.bytes.begin(), vector.bytes.begin() + static_cast<ptrdiff_t>(length));
      ASSERT_FALSE(isMessage(vector, any, cut)) << vector.title() << " cut at " << length;
    }
  }
}

TEST(Hostile, AByteTooManyIsAnError) {
  for (const WireVector& vector : wireVectors()) {
    ByteVector longer = vector.bytes;
    longer.push_back(0);
    EXPECT_FALSE(isMessage(vector, anyMessage(vector.message), longer)) << vector.title();
  }
}

/// Collects where lengths, counts and tag sizes stand.
class Lengths : public Visitor {
 public:
  void value(const FieldValue& value) override { add(value); }
  void enterArray(const FieldValue& value) override { add(value); }
  void tagCount(ByteRange range) override { places.push_back(range); }
  void tagHead(ByteRange, ByteRange size) override { places.push_back(size); }
  std::vector<ByteRange> places;

 private:
  void add(const FieldValue& value) {
    if (value.length.begin == value.length.end) return;
    const bool marker = value.field->type == FieldType::Struct && !value.field->isArray;
    if (!marker) places.push_back(value.length);
  }
};

ByteVector spliced(const ByteVector& bytes, ByteRange range, const ByteVector& with) {
  ByteVector result(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(range.begin));
  result.insert(result.end(), with.begin(), with.end());
  result.insert(result.end(), bytes.begin() + static_cast<ptrdiff_t>(range.end), bytes.end());
  return result;
}

ByteVector varint(uint32_t value) {
  ByteVector bytes(kMaxVarintSize);
  bytes.resize(static_cast<size_t>(writeUnsignedVarint(bytes.data(), value) - bytes.data()));
  return bytes;
}

TEST(Hostile, ALengthThatPromisesTooMuchIsAnErrorWithoutMemory) {
  size_t tried = 0;
  for (const WireVector& vector : wireVectors()) {
    const AnyMessage& any = anyMessage(vector.message);
    Lengths lengths;
    ASSERT_TRUE(walk(vector.bytes, *vector.schema, vector.version, lengths));
    const bool flexible = vector.version >= vector.schema->flexibleFrom;
    for (const ByteRange range : lengths.places) {
      const size_t left = vector.bytes.size() - range.end;
      std::vector<ByteVector> inflated;
      // The client id of a flexible request header alone keeps the old form.
      if (flexible && vector.message != "RequestHeader") {
        for (const uint32_t value :
             {UINT32_MAX, uint32_t{1} << 31, uint32_t{INT32_MAX}, uint32_t{1} << 24, static_cast<uint32_t>(left) + 8})
          inflated.push_back(varint(value));
        inflated.push_back({0xff, 0xff, 0xff, 0xff, 0xff, 0x01});
      } else if (range.end - range.begin == 2) {
        inflated = {{0x7f, 0xff}, {0x80, 0x00}, {0xff, 0xfe}};
        ByteVector little(2);
        writeBigEndian(little.data(), static_cast<int16_t>(left + 1));
        inflated.push_back(little);
      } else if (range.end - range.begin == 4) {
        inflated = {
            {0x7f, 0xff, 0xff, 0xff}, {0x80, 0x00, 0x00, 0x00}, {0xff, 0xff, 0xff, 0xfe}, {0x01, 0x00, 0x00, 0x00}};
        ByteVector little(4);
        writeBigEndian(little.data(), static_cast<int32_t>(left + 1));
        inflated.push_back(little);
      }
      for (const ByteVector& with : inflated) {
        ++tried;
        ASSERT_FALSE(isMessage(vector, any, spliced(vector.bytes, range, with)))
            << vector.title() << " at " << range.begin << ": " << toHex(with);
      }
    }
  }
  EXPECT_GT(tried, 50'000u);
}

TEST(Hostile, AnyByteMayBeAnything) {
  // One value for each byte, in turn: five for each would take a minute without optimisation.
  constexpr uint8_t kValues[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  size_t turn = 0;
  for (const WireVector& vector : wireVectors()) {
    const AnyMessage& any = anyMessage(vector.message);
    ByteVector bytes = vector.bytes;
    for (uint8_t& byte : bytes) {
      const uint8_t kept = byte;
      byte = kValues[turn++ % std::size(kValues)];
      (void)isMessage(vector, any, bytes);
      byte = kept;
    }
  }
}

TEST(Hostile, WhatDecodesAfterAChangeIsStable) {
  for (const WireVector& vector : wireVectors()) {
    const AnyMessage& any = anyMessage(vector.message);
    ByteVector bytes = vector.bytes;
    for (size_t i = 0; i < bytes.size(); i += 7) {
      const uint8_t kept = bytes[i];
      bytes[i] ^= 0x55;
      if (const Result<ByteVector> once = any.again(bytes, vector.version)) {
        const Result<ByteVector> twice = any.again(*once, vector.version);
        ASSERT_TRUE(twice) << vector.title() << ": " << twice.error().message;
        EXPECT_TRUE(*once == *twice) << vector.title();
      }
      bytes[i] = kept;
    }
  }
}

}  // namespace
}  // namespace tidemark::protocol::test
