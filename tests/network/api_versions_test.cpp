#include "network/api_versions.h"

#include <gtest/gtest.h>

#include <array>

#include "base/invariant.h"
#include "network/authorizer.h"
#include "protocol/api.h"

namespace tidemark::network {
namespace {

using protocol::ApiKey;
using protocol::ApiVersionsRequest;
using protocol::ApiVersionsResponse;

ApiVersionsRequest requestOf(std::string_view name, std::string_view version) {
  ApiVersionsRequest request;
  request.clientSoftwareName = name;
  request.clientSoftwareVersion = version;
  return request;
}

TEST(ApiTableTest, ServesOnlyWhatIsListed) {
  const ApiTable table{{ApiKey::Fetch, 4, 18}, {ApiKey::Metadata, 0, 13}};
  EXPECT_TRUE(table.serves(ApiKey::Fetch, 4));
  EXPECT_TRUE(table.serves(ApiKey::Fetch, 18));
  EXPECT_FALSE(table.serves(ApiKey::Fetch, 3));
  EXPECT_FALSE(table.serves(ApiKey::Fetch, 19));
  EXPECT_FALSE(table.serves(ApiKey::Produce, 3));
  EXPECT_FALSE(table.serves(static_cast<ApiKey>(-1), 0));
  EXPECT_FALSE(table.serves(static_cast<ApiKey>(INT16_MAX), 0));
}

TEST(ApiTableTest, RefusesAnApiThatIsListedTwice) {
  EXPECT_THROW((ApiTable{{ApiKey::Fetch, 4, 18}, {ApiKey::Fetch, 0, 1}}), InvariantBroken);
}

TEST(ApiTableTest, TakesVersionsAndListenersFromTheProtocol) {
  constexpr std::array kImplemented = {ApiKey::Produce, ApiKey::Fetch, ApiKey::Vote, ApiKey::InitProducerId};
  const ApiTable broker = ApiTable::broker(kImplemented);
  const ApiTable controller = ApiTable::controller(kImplemented);
  EXPECT_TRUE(broker.serves(ApiKey::Produce, 13));
  EXPECT_EQ(broker.find(ApiKey::Vote), nullptr) << "a controller's API";
  EXPECT_TRUE(controller.serves(ApiKey::Vote, 2));
  EXPECT_EQ(controller.find(ApiKey::Produce), nullptr);
  EXPECT_TRUE(broker.serves(ApiKey::Fetch, 18) && controller.serves(ApiKey::Fetch, 18));
  EXPECT_EQ(broker.find(ApiKey::InitProducerId)->max, 5) << "version 6 is not stable";
}

TEST(ApiVersionsTest, ShowsProduceFromZero) {
  const ApiTable table{{ApiKey::Produce, 3, 13}, {ApiKey::ApiVersions, 0, 5}};
  const ApiVersionsResponse response = answerApiVersions(requestOf("kcat", "1.7.1"), 3, table, {});
  ASSERT_EQ(response.errorCode, 0);
  ASSERT_EQ(response.apiKeys.size(), 2u);
  EXPECT_EQ(response.apiKeys[0].apiKey, 0);
  EXPECT_EQ(response.apiKeys[0].minVersion, 0);
  EXPECT_EQ(response.apiKeys[0].maxVersion, 13);
  EXPECT_EQ(response.finalizedFeaturesEpoch, -1);
}

TEST(ApiVersionsTest, HidesFeaturesFromLevelZeroBeforeVersionFour) {
  const ApiTable table{{ApiKey::ApiVersions, 0, 5}};
  FeatureInfo features;
  features.supported = {{"metadata.version", 7, 33}, {"group.version", 0, 1}};
  features.finalized = {{"metadata.version", 33}};
  features.finalizedEpoch = 12;
  const auto old = answerApiVersions(requestOf("a", "1"), 3, table, features);
  ASSERT_EQ(old.supportedFeatures.size(), 1u);
  EXPECT_EQ(old.supportedFeatures[0].name, "metadata.version");
  const auto fresh = answerApiVersions(requestOf("a", "1"), 4, table, features);
  EXPECT_EQ(fresh.supportedFeatures.size(), 2u);
  ASSERT_EQ(fresh.finalizedFeatures.size(), 1u);
  EXPECT_EQ(fresh.finalizedFeatures[0].maxVersionLevel, 33);
  EXPECT_EQ(fresh.finalizedFeaturesEpoch, 12);
}

TEST(ApiVersionsTest, RefusesSoftwareNamesThatKafkaRefuses) {
  EXPECT_TRUE(isValidSoftwareName("a"));
  EXPECT_TRUE(isValidSoftwareName("apache-kafka-java"));
  EXPECT_TRUE(isValidSoftwareName("4.4.0"));
  for (const char* bad : {"", "-a", "a-", "a b", ".", "a_b", "ä"}) EXPECT_FALSE(isValidSoftwareName(bad)) << bad;
  const ApiTable table{{ApiKey::ApiVersions, 0, 5}};
  EXPECT_EQ(answerApiVersions(requestOf("a b", "1"), 3, table, {}).errorCode,
            static_cast<int16_t>(ErrorCode::InvalidRequest));
  EXPECT_EQ(answerApiVersions(requestOf("", ""), 2, table, {}).errorCode, 0) << "older versions have no name";
}

TEST(ApiVersionsTest, SendsAwayAClientThatWantedAnotherClusterOrNode) {
  const ApiTable table{{ApiKey::ApiVersions, 0, 5}};
  FeatureInfo features;
  features.clusterId = "this";
  features.nodeId = 2;
  auto request = requestOf("a", "1");
  request.clusterId = "this";
  request.nodeId = 2;
  EXPECT_EQ(answerApiVersions(request, 5, table, features).errorCode, 0);
  request.nodeId = 3;
  EXPECT_EQ(answerApiVersions(request, 5, table, features).errorCode,
            static_cast<int16_t>(ErrorCode::RebootstrapRequired));
  request.nodeId = -1;
  request.clusterId = "other";
  EXPECT_EQ(answerApiVersions(request, 5, table, features).errorCode,
            static_cast<int16_t>(ErrorCode::RebootstrapRequired));
}

TEST(AuthorizerTest, AllowAllAllowsWhatKafkaListsForAResource) {
  AllowAll authorizer;
  RequestContext context;
  EXPECT_TRUE(authorizer.allows(context, AclOperation::Write, ResourceType::Topic, "t"));
  // As Kafka 4.4 answers Metadata 10 and DescribeCluster without an authorizer.
  EXPECT_EQ(authorizer.allowedOperations(context, ResourceType::Topic, "t"), 3576);
  EXPECT_EQ(authorizer.allowedOperations(context, ResourceType::Group, "g"), 3400);
}

class DenyWrite final : public Authorizer {
 public:
  void authorize(const RequestContext& /*context*/, std::span<const Action> actions, std::span<bool> allowed) override {
    for (size_t i = 0; i < actions.size(); ++i) allowed[i] = actions[i].operation != AclOperation::Write;
  }
};

TEST(AuthorizerTest, LeavesOutWhatIsDenied) {
  DenyWrite authorizer;
  RequestContext context;
  EXPECT_FALSE(authorizer.allows(context, AclOperation::Write, ResourceType::Topic, "t"));
  EXPECT_EQ(authorizer.allowedOperations(context, ResourceType::Topic, "t"), 3576 & ~(1 << 4));
}

}  // namespace
}  // namespace tidemark::network
