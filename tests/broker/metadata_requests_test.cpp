#include "broker/broker_apis.h"
#include "broker/broker_fixture.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"
#include "protocol/generated/describe_topic_partitions_request.h"
#include "protocol/generated/describe_topic_partitions_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"

namespace tidemark::broker {
namespace {

using protocol::MetadataRequest;

class MetadataRequests : public BrokerTest {
 protected:
  static MetadataRequest of(const std::string& topic, bool create = false) {
    MetadataRequest request;
    request.topics.emplace();
    request.topics->push_back({.name = protocol::Text(topic)});
    request.allowAutoTopicCreation = create;
    return request;
  }
};

TEST_F(MetadataRequests, ApiVersionsTellsTheSameRangesInEachVersion) {
  inEachVersion<protocol::ApiVersionsRequest>([&](int16_t version) {
    const auto answer =
        ask(1, protocol::ApiVersionsRequest{.clientSoftwareName = "test", .clientSoftwareVersion = "1"}, version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    EXPECT_EQ(answer.apiKeys.size(), brokerApis().served().size());
    for (const auto& api : answer.apiKeys) {
      const protocol::ApiInfo& info = protocol::apiInfo(static_cast<protocol::ApiKey>(api.apiKey));
      EXPECT_TRUE(info.onBroker) << info.name;
      EXPECT_EQ(api.minVersion, info.key == protocol::ApiKey::Produce ? 0 : info.versions.first) << info.name;
      EXPECT_EQ(api.maxVersion, info.maxStable) << info.name;
    }
  });
}

TEST_F(MetadataRequests, ApiVersionsOfTheFutureIsRefusedInVersionZeroWithTheRange) {
  ByteVector bytes = test::requestBytes(protocol::ApiVersionsRequest(), 3, 7);
  writeBigEndian(bytes.data() + 6, int16_t{99});
  const auto frame = exchange(brokerAt(1), std::move(bytes));
  ASSERT_TRUE(frame);
  const auto answer = test::answerOf<protocol::ApiVersionsResponse>(*frame, 0);
  EXPECT_EQ(code(answer.errorCode), ErrorCode::UnsupportedVersion);
  EXPECT_EQ(answer.apiKeys.at(0).apiKey, static_cast<int16_t>(protocol::ApiKey::ApiVersions));
}

TEST_F(MetadataRequests, ABrokerThatStartsAgainAnswersOnlyOnceItKnowsTheTopics) {
  createTopic("orders", 2);
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().killBroker(NodeId(2), std::move(done)); }));
  std::optional<Result<void>> restarted;
  lab_.cluster().restartBroker(NodeId(2), [&](Result<void> result) { restarted = std::move(result); });
  // Its port is open long before it has read the metadata.
  ASSERT_TRUE(await([&] { return lab_.cluster().node(NodeId(2)) != nullptr; }));
  ASSERT_FALSE(restarted);
  const auto answer = ask(2, of("orders"));
  EXPECT_EQ(code(answer.topics.at(0).errorCode), ErrorCode::None);
  EXPECT_EQ(answer.topics.at(0).partitions.size(), 2U);
  EXPECT_TRUE(await([&] { return restarted.has_value(); }));
  EXPECT_TRUE(*restarted);
}

TEST_F(MetadataRequests, AVersionThatIsNotServedClosesTheConnection) {
  ByteVector bytes = test::requestBytes(MetadataRequest(), 1, 7);
  writeBigEndian(bytes.data() + 6, int16_t{99});
  EXPECT_FALSE(exchange(brokerAt(1), std::move(bytes)));
}

TEST_F(MetadataRequests, MetadataTellsBrokersAndTheTopicInEachVersion) {
  createTopic("orders", 2);
  inEachVersion<MetadataRequest>([&](int16_t version) {
    const auto answer = ask(2, of("orders", version < 4), version);
    EXPECT_EQ(answer.brokers.size(), 3u);
    EXPECT_EQ(answer.brokers.at(0).host, "127.0.0.1");
    ASSERT_EQ(answer.topics.size(), 1u);
    EXPECT_EQ(code(answer.topics[0].errorCode), ErrorCode::None);
    ASSERT_EQ(answer.topics[0].partitions.size(), 2u);
    for (const auto& partition : answer.topics[0].partitions) {
      EXPECT_EQ(partition.leaderId, leaderOf("orders", partition.partitionIndex));
      EXPECT_EQ(partition.replicaNodes.size(), 3u);
      EXPECT_EQ(partition.isrNodes.size(), 3u);
    }
    if (version >= 10) {
      EXPECT_EQ(answer.topics[0].topicId, topicId("orders"));
    }
    if (version >= 2) {
      EXPECT_EQ(answer.clusterId->str(), node(1).shared().clusterId);
    }
  });
}

TEST_F(MetadataRequests, NoListMeansAllTopicsAndAnEmptyOneNone) {
  createTopic("a");
  createTopic("b");
  MetadataRequest empty;
  empty.topics.emplace();
  EXPECT_EQ(ask(1, empty, 0).topics.size(), 2u) << "version 0 has no null";
  for (int16_t version : {int16_t{1}, lastVersion<MetadataRequest>()}) {
    MetadataRequest all;
    all.topics = std::nullopt;
    EXPECT_EQ(ask(1, all, version).topics.size(), 2u);
    MetadataRequest none;
    none.topics.emplace();
    EXPECT_TRUE(ask(1, none, version).topics.empty());
    EXPECT_EQ(ask(1, none, version).brokers.size(), 3u);
  }
}

TEST_F(MetadataRequests, ATopicThatIsNotThereIsAnErrorUnlessItMayBeMade) {
  inEachVersion<MetadataRequest>([&](int16_t version) {
    if (version < 4) return;
    EXPECT_EQ(code(ask(1, of("none"), version).topics.at(0).errorCode), ErrorCode::UnknownTopicOrPartition);
  });
  EXPECT_EQ(code(ask(1, of("bad/name", true)).topics.at(0).errorCode), ErrorCode::InvalidTopicException);
  MetadataRequest byId;
  byId.topics.emplace();
  byId.topics->push_back({.topicId = Uuid({1, 2, 3}), .name = std::nullopt});
  EXPECT_EQ(code(ask(1, byId).topics.at(0).errorCode), ErrorCode::UnknownTopicId);
}

TEST_F(MetadataRequests, ATopicIsMadeOnFirstUse) {
  const auto first = ask(1, of("made", true), 4);
  EXPECT_THAT(code(first.topics.at(0).errorCode),
              testing::AnyOf(ErrorCode::UnknownTopicOrPartition, ErrorCode::LeaderNotAvailable));
  EXPECT_TRUE(await([&] { return node(1).broker()->image()->topics.find("made") != nullptr; }));
  EXPECT_EQ(code(ask(1, of("made", true), 4).topics.at(0).errorCode), ErrorCode::None);
}

TEST_F(MetadataRequests, DescribeTopicPartitionsGoesOnFromItsCursor) {
  createTopic("a", 3);
  createTopic("b", 2);
  protocol::DescribeTopicPartitionsRequest request;
  request.topics.push_back({.name = "a"});
  request.topics.push_back({.name = "b"});
  request.topics.push_back({.name = "none"});
  request.responsePartitionLimit = 4;
  const auto first = ask(1, request);
  ASSERT_TRUE(first.nextCursor);
  EXPECT_EQ(first.nextCursor->topicName, "b");
  EXPECT_EQ(first.nextCursor->partitionIndex, 1);
  size_t partitions = 0;
  for (const auto& topic : first.topics) partitions += topic.partitions.size();
  EXPECT_EQ(partitions, 4u);
  request.cursor = protocol::DescribeTopicPartitionsRequest::Cursor{.topicName = "b", .partitionIndex = 1};
  const auto second = ask(1, request);
  EXPECT_FALSE(second.nextCursor);
  ASSERT_FALSE(second.topics.empty());
  EXPECT_EQ(second.topics[0].name->str(), "b");
  ASSERT_EQ(second.topics[0].partitions.size(), 1u);
  EXPECT_EQ(second.topics[0].partitions[0].partitionIndex, 1);
  EXPECT_EQ(code(second.topics.back().errorCode), ErrorCode::UnknownTopicOrPartition);
}

TEST_F(MetadataRequests, DescribeClusterTellsBrokersAndSendsWhoAsksForControllersAway) {
  // A broker that runs hears of the others a moment later.
  ASSERT_TRUE(await([this] {
    const metadata::ImagePtr image = node(3).broker()->image();
    for (int id = 1; id <= 3; ++id)
      if (const auto* known = image->cluster.broker(NodeId(id)); known == nullptr || known->fenced) return false;
    return true;
  }));
  inEachVersion<protocol::DescribeClusterRequest>([&](int16_t version) {
    const auto answer = ask(3, protocol::DescribeClusterRequest(), version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    EXPECT_EQ(answer.clusterId.str(), node(1).shared().clusterId);
    EXPECT_EQ(answer.brokers.size(), 3u);
    if (version == 0) return;
    const auto refused = ask(3, protocol::DescribeClusterRequest{.endpointType = 2}, version);
    EXPECT_EQ(code(refused.errorCode), ErrorCode::MismatchedEndpointType);
    EXPECT_EQ(code(ask(3, protocol::DescribeClusterRequest{.endpointType = 9}, version).errorCode),
              ErrorCode::UnsupportedEndpointType);
  });
}

}  // namespace
}  // namespace tidemark::broker
