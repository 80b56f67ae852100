#include <set>

#include "broker/broker_fixture.h"
#include "protocol/framing.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/assign_replicas_to_dirs_request.h"
#include "protocol/generated/assign_replicas_to_dirs_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/default_principal_data.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"
#include "protocol/generated/elect_leaders_request.h"
#include "protocol/generated/elect_leaders_response.h"
#include "protocol/generated/envelope_request.h"
#include "protocol/generated/envelope_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/unregister_controller_request.h"
#include "protocol/generated/unregister_controller_response.h"

namespace tidemark::broker {
namespace {

class Controllers : public BrokerTest {
 protected:
  /// The frame's length is not part of what an envelope holds.
  protocol::EnvelopeResponse inEnvelope(int controller, ByteVector bytes) {
    protocol::EnvelopeRequest envelope;
    envelope.requestData = protocol::Blob(ByteVector(bytes.begin() + protocol::kFrameLengthSize, bytes.end()));
    auto principal = protocol::encodeVersioned(
        protocol::DefaultPrincipalData{.type = "User", .name = "somebody", .tokenAuthenticated = false}, 0);
    EXPECT_TRUE(principal);
    envelope.requestPrincipal = protocol::Blob(*std::move(principal));
    envelope.clientHostAddress = protocol::Blob(ByteVector{127, 0, 0, 1});
    return askAt(controllerAt(controller), envelope, 0);
  }
  static protocol::CreateTopicsRequest creation(const std::string& name) {
    protocol::CreateTopicsRequest request{.timeoutMs = 10000};
    request.topics.push_back({.name = name, .numPartitions = 1, .replicationFactor = 1});
    return request;
  }
};

TEST_F(Controllers, TheirListenerTellsWhatItServesAndOnlyThat) {
  inEachVersion<protocol::ApiVersionsRequest>([&](int16_t version) {
    const auto answer = askController(
        protocol::ApiVersionsRequest{.clientSoftwareName = "test", .clientSoftwareVersion = "1"}, version);
    std::set<protocol::ApiKey> told;
    for (const auto& api : answer.apiKeys) {
      told.insert(static_cast<protocol::ApiKey>(api.apiKey));
      EXPECT_TRUE(protocol::apiInfo(static_cast<protocol::ApiKey>(api.apiKey)).onController) << api.apiKey;
    }
    using enum protocol::ApiKey;
    for (protocol::ApiKey key :
         {Fetch, CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs, AlterConfigs, IncrementalAlterConfigs,
          DescribeCluster, DescribeQuorum, AssignReplicasToDirs, UnregisterController, Envelope})
      EXPECT_TRUE(told.contains(key)) << protocol::apiName(key);
  });
}

TEST_F(Controllers, ABrokersApiIsNotServedThere) {
  EXPECT_FALSE(exchange(controllerAt(1), test::requestBytes(protocol::MetadataRequest(), 9, 7)));
}

TEST_F(Controllers, AssignReplicasToDirsIsHeard) {
  createTopic("orders", 1, 1);
  const int holder = leaderOf("orders");
  protocol::AssignReplicasToDirsRequest request{.brokerId = holder,
                                                .brokerEpoch = node(holder).broker()->epoch().value()};
  auto& directory = request.directories.emplace_back();
  directory.id = node(holder).shared().logs->directories().front().id;
  directory.topics.push_back({.topicId = topicId("orders"), .partitions = {{.partitionIndex = 0}}});
  const auto answer = askController(request);
  EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
  EXPECT_EQ(code(answer.directories.at(0).topics.at(0).partitions.at(0).errorCode), ErrorCode::None);
  request.brokerEpoch += 100;
  EXPECT_EQ(code(askController(request).errorCode), ErrorCode::StaleBrokerEpoch);
}

TEST_F(Controllers, AMemberOfTheQuorumIsNotUnregistered) {
  EXPECT_EQ(code(askController(protocol::UnregisterControllerRequest{.controllerId = 99}).errorCode),
            ErrorCode::ControllerIdNotRegistered);
}

TEST_F(Controllers, DescribeConfigsTellsWhatIsInForceOnTheNode) {
  inEachVersion<protocol::DescribeConfigsRequest>([&](int16_t version) {
    const int controller = activeController();
    protocol::DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resourceType = 4;
    resource.resourceName = std::to_string(controller);
    resource.configurationKeys.emplace();
    resource.configurationKeys->push_back("controller.quorum.append.linger.ms");
    const auto answer = askController(request, version);
    ASSERT_EQ(answer.results.at(0).configs.size(), 1u);
    EXPECT_EQ(answer.results[0].configs[0].value->str(), "0");
    request.resources[0].resourceName = "77";
    EXPECT_EQ(code(askController(request, version).results.at(0).errorCode), ErrorCode::InvalidRequest);
  });
}

TEST_F(Controllers, DescribeClusterTellsControllersAndSendsWhoAsksForBrokersAway) {
  const auto answer = askController(protocol::DescribeClusterRequest{.endpointType = 2});
  EXPECT_EQ(answer.brokers.size(), 3u);
  EXPECT_EQ(answer.controllerId, activeController());
  EXPECT_EQ(code(askController(protocol::DescribeClusterRequest()).errorCode), ErrorCode::MismatchedEndpointType);
}

TEST_F(Controllers, WhoAsksAStandbyHimselfIsToldSoInEachVersion) {
  const int standby = otherThan(activeController());
  inEachVersion<protocol::CreateTopicsRequest>([&](int16_t version) {
    EXPECT_EQ(code(askAt(controllerAt(standby), creation("a"), version).topics.at(0).errorCode),
              ErrorCode::NotController);
  });
  inEachVersion<protocol::ElectLeadersRequest>([&](int16_t version) {
    protocol::ElectLeadersRequest request{.timeoutMs = 10000};
    request.topicPartitions.emplace();
    request.topicPartitions->push_back({.topic = "a", .partitions = {0}});
    const auto answer = askAt(controllerAt(standby), request, version);
    EXPECT_EQ(code(answer.replicaElectionResults.at(0).partitionResult.at(0).errorCode), ErrorCode::NotController);
    if (version >= 1) {
      EXPECT_EQ(code(answer.errorCode), ErrorCode::NotController);
    }
  });
}

TEST_F(Controllers, ABrokerThatForwardsToAStandbyIsToldByTheEnvelope) {
  const int standby = otherThan(activeController());
  EXPECT_EQ(code(inEnvelope(standby, test::requestBytes(creation("a"), 7, 1)).errorCode), ErrorCode::NotController);
  protocol::ElectLeadersRequest elect{.timeoutMs = 10000};
  elect.topicPartitions = std::nullopt;
  EXPECT_EQ(code(inEnvelope(standby, test::requestBytes(elect, 2, 1)).errorCode), ErrorCode::NotController);
}

TEST_F(Controllers, AnEnvelopeGivesBackTheAnswerOfWhatIsInIt) {
  const auto answer = inEnvelope(activeController(), test::requestBytes(creation("a"), 7, 55));
  EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
  ASSERT_TRUE(answer.responseData);
  EXPECT_EQ(readBigEndian<int32_t>(answer.responseData->view().data()), 55);
  const auto inner = test::answerOf<protocol::CreateTopicsResponse>(answer.responseData->view(), 7);
  EXPECT_EQ(code(inner.topics.at(0).errorCode), ErrorCode::None);
}

TEST_F(Controllers, AnEnvelopeWithWhatCannotBeForwardedOrReadSaysWhich) {
  const int active = activeController();
  EXPECT_EQ(code(inEnvelope(active, test::requestBytes(protocol::MetadataRequest(), 9, 1)).errorCode),
            ErrorCode::InvalidRequest);
  ByteVector future = test::requestBytes(creation("a"), 7, 1);
  writeBigEndian(future.data() + 6, int16_t{99});
  EXPECT_EQ(code(inEnvelope(active, future).errorCode), ErrorCode::UnsupportedVersion);
  ByteVector nonsense = test::requestBytes(creation("a"), 7, 1);
  writeBigEndian(nonsense.data() + 4, int16_t{120});
  EXPECT_EQ(code(inEnvelope(active, nonsense).errorCode), ErrorCode::UnsupportedVersion);
  ByteVector cut = test::requestBytes(creation("a"), 7, 1);
  cut.resize(cut.size() - 4);
  EXPECT_EQ(code(inEnvelope(active, cut).errorCode), ErrorCode::InvalidRequest)
      << "not a reason to look for another controller";
}

TEST_F(Controllers, AnErrorAboutARequestWithBytesBehindItKillsNobody) {
  ByteVector bytes = test::requestBytes(protocol::ElectLeadersRequest{.electionType = 9, .timeoutMs = 1000}, 2, 7);
  bytes.insert(bytes.end(), 4, 0);
  writeBigEndian<int32_t>(bytes.data(), static_cast<int32_t>(bytes.size() - sizeof(int32_t)));
  exchange(controllerAt(activeController()), bytes);
  const auto answer = askController(protocol::ElectLeadersRequest{.timeoutMs = 1000});
  EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
}

}  // namespace
}  // namespace tidemark::broker
