#include <gtest/gtest.h>

#include "protocol/generated/fetch_request.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/topic_record.h"
#include "protocol/message.h"
#include "protocol/records_field.h"

namespace tidemark::protocol::test {
namespace {

TEST(Reader, TakesNumbersInBigEndian) {
  const ByteVector bytes = {0xff, 0x00, 0x02, 0x80, 0x00, 0x00, 0x00, 0xac, 0x02};
  Reader reader(bytes);
  EXPECT_EQ(reader.int8(), -1);
  EXPECT_EQ(reader.int16(), 2);
  EXPECT_EQ(reader.int32(), INT32_MIN);
  EXPECT_EQ(reader.unsignedVarint(), 300u);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(Reader, KeepsItsFirstFailure) {
  const ByteVector bytes = {0x00, 0x01, 0x02};
  Reader reader(bytes);
  EXPECT_EQ(reader.int16(), 1);
  EXPECT_EQ(reader.int64(), 0);
  EXPECT_EQ(reader.int8(), 0) << "what could be read is not, after a failure";
  EXPECT_TRUE(reader.text(false).empty());
  EXPECT_EQ(reader.failure(), Reader::Failure::Truncated);
  EXPECT_EQ(reader.position(), 2u);
}

TEST(Reader, RefusesVarintsThatAreTooLong) {
  const ByteVector bytes = {0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  Reader reader(bytes);
  EXPECT_EQ(reader.unsignedVarint(), 0u);
  EXPECT_EQ(reader.failure(), Reader::Failure::BadVarint);
}

TEST(Reader, RefusesStringsBeyondKafkasLimitInFlexibleVersionsToo) {
  ByteVector bytes = {0x81, 0x80, 0x02};  // 32768 + 1
  bytes.resize(40000, 'x');
  Reader reader(bytes);
  EXPECT_TRUE(reader.text(true).empty());
  EXPECT_EQ(reader.failure(), Reader::Failure::BadLength);
}

TEST(Reader, ChecksTheLeastSizeOfAnArray) {
  ByteVector bytes = {0, 0, 0, 3};
  bytes.resize(4 + 3 * 8 - 1);
  Reader reader(bytes);
  EXPECT_EQ(reader.arrayLength(false, 8), 0u);
  EXPECT_EQ(reader.failure(), Reader::Failure::TooLong);
  EXPECT_EQ(reader.position(), 0u);
}

TEST(Reader, StringsAreViewsIntoTheFrame) {
  const ByteVector bytes = {0x00, 0x02, 'h', 'i'};
  Reader reader(bytes);
  const Text text = reader.text(false);
  EXPECT_EQ(static_cast<const void*>(text.view().data()), bytes.data() + 2);
  EXPECT_TRUE(text.isBorrowed());
}

TEST(TagSection, InsistsThatATagFillsItsSize) {
  const ByteVector bytes = {0x01, 0x00, 0x02, 0x07, 0x07, 0x55};
  Reader reader(bytes);
  for (TagSection tags(reader); tags.next();) EXPECT_EQ(reader.int8(), 7);
  EXPECT_EQ(reader.failure(), Reader::Failure::BadTagSize);
}

TEST(TagSection, EndsWhereItsFieldEnds) {
  const ByteVector bytes = {0x01, 0x00, 0x01, 0x07, 0x55};
  Reader reader(bytes);
  for (TagSection tags(reader); tags.next();)
    EXPECT_EQ(reader.int16(), 0) << "the byte behind belongs to somebody else";
  EXPECT_EQ(reader.failure(), Reader::Failure::Truncated);
}

TEST(Decode, NamesTheFieldThatFailed) {
  MetadataRequest request;
  request.topics = {{.name = "orders"}, {.name = "payments"}};
  ByteVector bytes = *encode(request, 1);
  bytes.resize(bytes.size() - 3);
  const Result<MetadataRequest> decoded = decode<MetadataRequest>(bytes, 1);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::InvalidRequest);
  EXPECT_EQ(decoded.error().message,
            "MetadataRequest version 1, topics[1].name: byte 12: its length is more than the bytes left");
}

TEST(Decode, CountsPositionsFromTheMessage) {
  ByteVector frame = {9, 9, 9};
  const ByteVector body = *encode(TopicRecord{.name = "t"}, 0);
  frame.insert(frame.end(), body.begin(), body.end() - 5);
  Reader reader(frame);
  (void)reader.bytes(3);
  const Result<TopicRecord> decoded = decode<TopicRecord>(reader, 0);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::CorruptMessage);
  EXPECT_EQ(decoded.error().message, "TopicRecord version 0, topicId: byte 2: the bytes end inside it");
}

TEST(Decode, RefusesVersionsThatDoNotExist) {
  const Result<FetchRequest> decoded = decode<FetchRequest>(ByteView(), 3);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::UnsupportedVersion);
  EXPECT_EQ(decoded.error().message, "FetchRequest has the versions 4 to 18, not 3");
}

TEST(Decode, LeavesWhatFollowsUnlessAskedToBeStrict) {
  ByteVector bytes = *encode(TopicRecord{.name = "t"}, 0);
  const size_t size = bytes.size();
  bytes.push_back(7);
  Reader reader(bytes);
  ASSERT_TRUE(decode<TopicRecord>(reader, 0));
  EXPECT_EQ(reader.remaining(), 1u);
  const Result<TopicRecord> strict = decode<TopicRecord>(bytes, 0);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().message, fmt::format("TopicRecord ends at byte {}, but 1 more follow", size));
}

TEST(Decode, RefusesNullWhereAVersionForbidsIt) {
  const ByteVector null = {0xff, 0xff, 0xff, 0xff};
  EXPECT_FALSE(decode<MetadataRequest>(null, 0));
  const Result<MetadataRequest> allowed = decode<MetadataRequest>(null, 1);
  ASSERT_TRUE(allowed);
  EXPECT_FALSE(allowed->topics.has_value());
}

}  // namespace
}  // namespace tidemark::protocol::test
