#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "protocol/framing.h"
#include "protocol/reflect.h"
#include "protocol/wire_vectors.h"

/// Every vector that Apache Kafka wrote: decoding, encoding, size, reflection, framing.
namespace tidemark::protocol::test {
namespace {

TEST(Wire, HasVectorsForEveryMessageInEveryVersion) {
  std::set<std::pair<std::string, int16_t>> seen;
  for (const WireVector& vector : wireVectors()) seen.emplace(vector.message, vector.version);
  for (const MessageSchema* schema : allMessages())
    for (int16_t version = schema->versions.first; version <= schema->versions.last; ++version)
      EXPECT_TRUE(seen.contains({std::string(schema->name), version})) << schema->name << " version " << version;
  EXPECT_EQ(allMessages().size(), 278u);
  EXPECT_GE(wireVectors().size(), 2580u);
}

TEST(Wire, EveryVectorEncodesToTheSameBytesAgain) {
  for (const WireVector& vector : wireVectors()) {
    const Result<ByteVector> again = anyMessage(vector.message).again(vector.bytes, vector.version);
    ASSERT_TRUE(again) << vector.title() << ": " << again.error().message;
    // Tags that nobody knows are skipped, so they are not there again.
    if (vector.variant == "unknownTags") {
      EXPECT_LT(again->size(), vector.bytes.size()) << vector.title();
    } else {
      EXPECT_EQ(toHex(*again), toHex(vector.bytes)) << vector.title();
    }
  }
}

TEST(Wire, UnknownTagsLeaveTheMessageOfDefaults) {
  size_t count = 0;
  for (const WireVector& unknown : wireVectors()) {
    if (unknown.variant != "unknownTags") continue;
    for (const WireVector& plain : wireVectors()) {
      if (plain.message != unknown.message || plain.version != unknown.version || plain.variant != "default") continue;
      ++count;
      EXPECT_EQ(toHex(*anyMessage(unknown.message).again(unknown.bytes, unknown.version)), toHex(plain.bytes))
          << plain.title();
    }
  }
  EXPECT_GT(count, 200u);
}

TEST(Wire, SizeIsKnownWithoutWriting) {
  for (const WireVector& vector : wireVectors()) {
    if (vector.variant == "unknownTags") continue;
    const Result<size_t> size = anyMessage(vector.message).size(vector.bytes, vector.version);
    ASSERT_TRUE(size) << vector.title() << ": " << size.error().message;
    EXPECT_EQ(*size, vector.bytes.size()) << vector.title();
  }
}

TEST(Wire, CopiesOutliveTheFrame) {
  for (const WireVector& vector : wireVectors()) {
    if (vector.variant == "unknownTags") continue;
    EXPECT_EQ(toHex(*anyMessage(vector.message).copied(vector.bytes, vector.version)), toHex(vector.bytes))
        << vector.title();
  }
}

TEST(Wire, EqualityFollowsTheBytes) {
  for (const WireVector& vector : wireVectors()) {
    if (vector.variant == "unknownTags") continue;
    const Result<bool> equal = anyMessage(vector.message).equal(vector.bytes, vector.version);
    EXPECT_TRUE(equal && *equal) << vector.title();
  }
}

TEST(Wire, ReflectionGivesKafkasJson) {
  for (const WireVector& vector : wireVectors()) {
    const Result<std::string> json = toJson(vector.bytes, *vector.schema, vector.version);
    ASSERT_TRUE(json) << vector.title() << ": " << json.error().message;
    EXPECT_EQ(nlohmann::json::parse(*json), nlohmann::json::parse(vector.json)) << vector.title();
  }
}

/// Counts how often each byte belongs to a value without children, or to what stands between values.
class Coverage : public Visitor {
 public:
  explicit Coverage(size_t size) : hits_(size) {}
  void value(const FieldValue& value) override { mark(value.range); }
  void enterStruct(const FieldValue& value) override { mark(value.length); }
  void enterArray(const FieldValue& value) override { mark(value.length); }
  void tagCount(ByteRange range) override { mark(range); }
  void tagHead(ByteRange number, ByteRange size) override {
    mark(number);
    mark(size);
  }
  const std::vector<int>& hits() const { return hits_; }

 private:
  void mark(ByteRange range) {
    for (size_t i = range.begin; i < range.end; ++i) ++hits_.at(i);
  }
  std::vector<int> hits_;
};

TEST(Wire, ReflectionAccountsForEveryByteOnce) {
  for (const WireVector& vector : wireVectors()) {
    Coverage coverage(vector.bytes.size());
    const Result<size_t> taken = walk(vector.bytes, *vector.schema, vector.version, coverage);
    ASSERT_TRUE(taken) << vector.title();
    EXPECT_EQ(*taken, vector.bytes.size()) << vector.title();
    EXPECT_EQ(coverage.hits(), std::vector<int>(vector.bytes.size(), 1)) << vector.title();
  }
}

TEST(Wire, FramesAreKafkas) {
  size_t count = 0;
  for (const WireVector& vector : wireVectors()) {
    if (vector.framed.empty()) continue;
    ++count;
    const MessageSchema& schema = *vector.schema;
    const bool key = schema.kind == MessageKind::CoordinatorKey;
    const bool metadata = schema.kind == MessageKind::Metadata;
    FrameWriter writer;
    if (metadata)
      writeMetadataFrame(writer, schema.key, vector.version);
    else
      writer.int16(key ? schema.key : vector.version);
    writer.bytes(vector.bytes);
    EXPECT_EQ(toHex(*writer.takeBytes()), toHex(vector.framed)) << vector.title();
    const Result<FramedRecord> apart = key        ? decodeCoordinatorKey(vector.framed)
                                       : metadata ? decodeMetadataFrame(vector.framed)
                                                  : decodeVersioned(vector.framed);
    ASSERT_TRUE(apart) << vector.title();
    EXPECT_EQ(apart->type, key || metadata ? schema.key : 0) << vector.title();
    EXPECT_EQ(apart->version, vector.version) << vector.title();
    EXPECT_EQ(toHex(apart->body), toHex(vector.bytes)) << vector.title();
    if (key || metadata) {
      EXPECT_EQ(recordSchema(schema.kind, schema.module, apart->type), &schema) << vector.title();
    }
  }
  EXPECT_GE(count, 353u);
}

}  // namespace
}  // namespace tidemark::protocol::test
