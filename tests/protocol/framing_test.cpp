#include <fstream>

#include <gtest/gtest.h>

#include "protocol/framing.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/generated/offset_commit_key.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/topic_record.h"
#include "protocol/wire_vectors.h"

namespace tidemark::protocol::test {
namespace {

TEST(Api, KnowsEachApi) {
  EXPECT_EQ(allApis().size(), 95u);
  const ApiInfo& fetch = apiInfo(ApiKey::Fetch);
  EXPECT_EQ(fetch.name, "Fetch");
  EXPECT_EQ(fetch.versions, (VersionRange{4, 18}));
  EXPECT_TRUE(fetch.onBroker && fetch.onController);
  EXPECT_EQ(apiInfo(ApiKey::InitProducerId).versions.last, 6);
  EXPECT_EQ(apiInfo(ApiKey::InitProducerId).maxStable, 5);
  EXPECT_TRUE(apiInfo(ApiKey::LeaderAndIsr).versions.empty());
  EXPECT_EQ(findApi(95), nullptr);
  EXPECT_EQ(findApi(-1), nullptr);
  EXPECT_EQ(findApi("Produce")->key, ApiKey::Produce);
  EXPECT_EQ(apiName(static_cast<ApiKey>(1000)), "unknown");
  EXPECT_TRUE(apiInfo(ApiKey::CreateTopics).forwardable);
  EXPECT_TRUE(apiInfo(ApiKey::BrokerHeartbeat).clusterAction);
}

TEST(Api, HeaderVersionsFollowTheVersion) {
  EXPECT_EQ(requestHeaderVersion(ApiKey::Produce, 8), 1);
  EXPECT_EQ(requestHeaderVersion(ApiKey::Produce, 9), 2);
  EXPECT_EQ(responseHeaderVersion(ApiKey::Produce, 8), 0);
  EXPECT_EQ(responseHeaderVersion(ApiKey::Produce, 9), 1);
  EXPECT_EQ(requestHeaderVersion(ApiKey::ApiVersions, 3), 2);
  EXPECT_EQ(requestHeaderVersion(ApiKey::ApiVersions, 99), 2) << "a version from the future has the newest header";
  EXPECT_EQ(responseHeaderVersion(ApiKey::ApiVersions, 4), 0);
  EXPECT_EQ(responseHeaderVersion(ApiKey::SaslHandshake, 1), 0);
}

TEST(Framing, ARequestComesBackFromItsFrame) {
  for (int16_t version = ApiVersionsRequest::kMinVersion; version <= ApiVersionsRequest::kMaxVersion; ++version) {
    ApiVersionsRequest request;
    if (version >= 3) request = {.clientSoftwareName = "tidemark", .clientSoftwareVersion = "1"};
    FrameWriter writer;
    ASSERT_TRUE(writeRequestFrame(writer, request, version, 7, "lab"));
    const ByteVector frame = *writer.takeBytes();
    EXPECT_EQ(readBigEndian<int32_t>(frame.data()), static_cast<int32_t>(frame.size() - 4));
    Reader reader(ByteView(frame).subspan(kFrameLengthSize));
    const Result<RequestHeader> header = decodeRequestHeader(reader);
    ASSERT_TRUE(header) << header.error().message;
    EXPECT_EQ(header->requestApiKey, 18);
    EXPECT_EQ(header->requestApiVersion, version);
    EXPECT_EQ(header->correlationId, 7);
    EXPECT_EQ(header->clientId, "lab");
    const Result<ApiVersionsRequest> again = decode<ApiVersionsRequest>(reader, version);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, request);
    EXPECT_EQ(reader.remaining(), 0u);
  }
}

TEST(Framing, TheClientIdKeepsItsOldLengthInTheFlexibleHeader) {
  FrameWriter writer;
  ASSERT_TRUE(
      writeRequestHeader(writer, {.requestApiKey = 18, .requestApiVersion = 4, .correlationId = 1, .clientId = "c"}));
  EXPECT_EQ(toHex(*writer.takeBytes()),
            "00120004"
            "00000001"
            "000163"
            "00");
}

TEST(Framing, TheAnswerToApiVersionsHasHeader0) {
  FrameWriter writer;
  ASSERT_TRUE(writeResponseFrame(writer, ApiVersionsResponse(), 4, 5));
  const ByteVector frame = *writer.takeBytes();
  EXPECT_EQ(toHex(ByteView(frame).subspan(4, 6)),
            "00000005"
            "0000")
      << "correlation id, then the error code at once";
}

TEST(Framing, AHeaderNeedsAnApiAndItsBytes) {
  const ByteVector unknown = {0x03, 0xe8, 0x00, 0x00, 0, 0, 0, 1, 0xff, 0xff};
  Reader reader(unknown);
  EXPECT_EQ(decodeRequestHeader(reader).error().message, "no API has the key 1000");
  const ByteVector brief = {0x00, 0x00, 0x00};
  Reader cut(brief);
  EXPECT_EQ(decodeRequestHeader(cut).error().code, ErrorCode::InvalidRequest);
}

TEST(Framing, AnUnservedVersionStillGivesItsHeader) {
  const ByteVector future = {0x00, 0x12, 0x00, 0x63, 0, 0, 0, 1, 0x00, 0x01, 'c', 0x00};
  Reader reader(future);
  const Result<RequestHeader> header = decodeRequestHeader(reader);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->requestApiVersion, 99);
  EXPECT_EQ(header->clientId, "c");
}

TEST(Framing, RecordsCarryTypeAndVersion) {
  const ByteVector value = *encodeMetadataRecord(TopicRecord{.name = "orders"}, 0);
  EXPECT_EQ(toHex(ByteView(value).first(3)), "010200");
  const Result<FramedRecord> framed = decodeMetadataFrame(value);
  ASSERT_TRUE(framed);
  EXPECT_EQ(framed->type, TopicRecord::kRecordType);
  EXPECT_EQ(decode<TopicRecord>(framed->body, framed->version)->name, "orders");
  EXPECT_EQ(recordSchema(MessageKind::Metadata, "metadata", framed->type), &TopicRecord::schema());

  const ByteVector key = *encodeCoordinatorKey(OffsetCommitKey{.group = "g", .topic = "t", .partition = 3});
  EXPECT_EQ(decodeCoordinatorKey(key)->type, OffsetCommitKey::kRecordType);
  EXPECT_EQ(decode<OffsetCommitKey>(decodeCoordinatorKey(key)->body, 0)->partition, 3);

  ConsumerProtocolSubscription subscription;
  subscription.topics = {"a", "b"};
  const ByteVector versioned = *encodeVersioned(subscription, 1);
  const Result<ConsumerProtocolSubscription> again = decodeVersionedAs<ConsumerProtocolSubscription>(versioned);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, subscription);
}

TEST(Framing, RefusesFramesThatAreNotOurs) {
  EXPECT_EQ(decodeMetadataFrame(ByteVector{2, 0, 0}).error().message, "a metadata record's frame has version 2, not 1");
  EXPECT_FALSE(decodeMetadataFrame(ByteVector{}));
  EXPECT_FALSE(decodeMetadataFrame(ByteVector{1, 0x80}));
  EXPECT_FALSE(decodeMetadataFrame(ByteVector{1, 0xff, 0xff, 0x03, 0}));
  EXPECT_FALSE(decodeCoordinatorKey(ByteVector{0}));
  EXPECT_FALSE(decodeVersioned(ByteVector{0xff, 0xff}));
}

}  // namespace
}  // namespace tidemark::protocol::test
