#include <gtest/gtest.h>

#include "protocol/generated/fetch_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/message.h"
#include "protocol/records_field.h"
#include "protocol/reflect.h"

namespace tidemark::protocol::test {
namespace {

TEST(Reflect, FindsSchemas) {
  EXPECT_EQ(findMessage("FetchResponse"), &FetchResponse::schema());
  EXPECT_EQ(findMessage("Nonsense"), nullptr);
  EXPECT_EQ(requestSchema(ApiKey::Metadata), &MetadataRequest::schema());
  EXPECT_EQ(responseSchema(ApiKey::Fetch), &FetchResponse::schema());
  EXPECT_EQ(requestSchema(ApiKey::StopReplica), nullptr);
  EXPECT_EQ(recordSchema(MessageKind::CoordinatorValue, "share-coordinator", 1)->name, "ShareUpdateValue");
  EXPECT_EQ(recordSchema(MessageKind::CoordinatorKey, "group-coordinator", 1)->name, "OffsetCommitKey");
}

TEST(Reflect, DescribesAFrameFieldByField) {
  MetadataRequest request;
  request.topics = {{.name = "orders"}, {.name = std::nullopt}};
  const ByteVector bytes = *encode(request, 12);
  const Result<std::vector<FieldNode>> nodes = describe(bytes, MetadataRequest::schema(), 12);
  ASSERT_TRUE(nodes) << nodes.error().message;
  ASSERT_EQ(nodes->size(), 3u);
  const FieldNode& topics = (*nodes)[0];
  EXPECT_EQ(topics.name, "topics");
  EXPECT_EQ(topics.type, "[]MetadataRequestTopic");
  EXPECT_EQ(topics.value, "2 elements");
  ASSERT_EQ(topics.children.size(), 2u);
  EXPECT_EQ(topics.children[1].name, "[1]");
  EXPECT_EQ(topics.children[1].type, "MetadataRequestTopic");
  const FieldNode& name = topics.children[0].children[1];
  EXPECT_EQ(name.name, "name");
  EXPECT_EQ(name.value, "orders");
  EXPECT_EQ(name.entity, Entity::TopicName);
  EXPECT_EQ(name.range, (ByteRange{17, 24}));
  EXPECT_EQ(topics.children[1].children[1].value, "null");
  EXPECT_EQ((*nodes)[1].name, "allowAutoTopicCreation");
  EXPECT_EQ((*nodes)[1].value, "true");
}

TEST(Reflect, BoundsItsTree) {
  OffsetCommitRequest request;
  request.topics.push_back({.name = "t"});
  request.topics[0].partitions.resize(1000);
  const ByteVector bytes = *encode(request, 8);
  const auto count = [](const std::vector<FieldNode>& nodes, auto& self) -> size_t {
    size_t sum = nodes.size();
    for (const FieldNode& node : nodes) sum += self(node.children, self);
    return sum;
  };
  EXPECT_GT(count(*describe(bytes, OffsetCommitRequest::schema(), 8), count), 4000u);
  EXPECT_LE(count(*describe(bytes, OffsetCommitRequest::schema(), 8, 50), count), 50u);
}

TEST(Reflect, JsonEscapesAndReplacesWhatIsNotUtf8) {
  MetadataRequest request;
  request.topics = {{.name = "a\"\\\n\xff\xc3\xa9"}};
  const ByteVector bytes = *encode(request, 1);
  EXPECT_EQ(*toJson(bytes, MetadataRequest::schema(), 1),
            "{\"topics\":[{\"name\":\"a\\\"\\\\\\u000a\xef\xbf\xbd\xc3\xa9\"}]}");
}

TEST(Reflect, JsonRefusesWhatFollows) {
  ByteVector bytes = *encode(MetadataRequest(), 1);
  bytes.push_back(0);
  EXPECT_FALSE(toJson(bytes, MetadataRequest::schema(), 1));
}

}  // namespace
}  // namespace tidemark::protocol::test
