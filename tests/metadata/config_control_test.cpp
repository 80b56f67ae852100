#include <gmock/gmock.h>

#include "metadata/controller_fixture.h"

namespace tidemark::metadata {
namespace {

using config::ResourceType;
using protocol::IncrementalAlterConfigsRequest;
using test::codeOf;
using test::ControllerFixture;

constexpr int8_t kSet = 0, kDelete = 1, kAppend = 2, kSubtract = 3;

class ConfigControl : public testing::Test, public ControllerFixture {
 protected:
  ConfigControl() {
    startBrokers({1});
    createTopic("t", {{1}});
  }
  std::pair<ErrorCode, std::string> alter(ResourceType type, const std::string& name, const std::string& key,
                                          int8_t operation, std::optional<std::string> value,
                                          bool validateOnly = false) {
    IncrementalAlterConfigsRequest request{.validateOnly = validateOnly};
    auto& resource = request.resources.emplace_back();
    resource.resourceType = static_cast<int8_t>(type);
    resource.resourceName = name;
    auto& config = resource.configs.emplace_back();
    config.name = key;
    config.configOperation = operation;
    config.value.reset();
    if (value) config.value = protocol::Text(*value);
    const auto response = expect(request);
    const auto& answer = response.responses.at(0);
    return {codeOf(answer.errorCode), answer.errorMessage ? answer.errorMessage->str() : ""};
  }
  ErrorCode set(ResourceType type, const std::string& name, const std::string& key, const std::string& value) {
    return alter(type, name, key, kSet, value).first;
  }
};

TEST_F(ConfigControl, SetsAndDeletes) {
  EXPECT_EQ(set(ResourceType::Topic, "t", "retention.ms", "7"), ErrorCode::None);
  EXPECT_EQ(image().configs.topic("t").at("retention.ms"), "7");
  EXPECT_EQ(alter(ResourceType::Topic, "t", "retention.ms", kDelete, std::nullopt).first, ErrorCode::None);
  EXPECT_TRUE(image().configs.topic("t").empty());
}

TEST_F(ConfigControl, WhatIsSetAlreadyNeedsNoRecordButForBrokers) {
  set(ResourceType::Topic, "t", "retention.ms", "7");
  set(ResourceType::Topic, "t", "retention.ms", "7");
  EXPECT_TRUE(lastRecords.empty());
  set(ResourceType::Broker, "1", "num.io.threads", "7");
  set(ResourceType::Broker, "1", "num.io.threads", "7");
  EXPECT_EQ(lastRecords.size(), 1u);
}

TEST_F(ConfigControl, AppendsToAndSubtractsFromLists) {
  EXPECT_EQ(alter(ResourceType::Topic, "t", "cleanup.policy", kAppend, "compact").first, ErrorCode::None);
  EXPECT_EQ(image().configs.topic("t").at("cleanup.policy"), "delete,compact");
  EXPECT_EQ(alter(ResourceType::Topic, "t", "cleanup.policy", kSubtract, "delete").first, ErrorCode::None);
  EXPECT_EQ(image().configs.topic("t").at("cleanup.policy"), "compact");
  EXPECT_EQ(alter(ResourceType::Topic, "t", "retention.ms", kAppend, "1"),
            std::pair(ErrorCode::InvalidConfig,
                      std::string("Can't APPEND to key retention.ms because its type is not LIST.")));
}

TEST_F(ConfigControl, ValidateOnlyChecksAndDoesNothing) {
  EXPECT_EQ(alter(ResourceType::Topic, "t", "retention.ms", kSet, "7", true).first, ErrorCode::None);
  EXPECT_TRUE(image().configs.topic("t").empty());
  EXPECT_EQ(alter(ResourceType::Topic, "t", "retention.ms", kSet, "x", true).first, ErrorCode::InvalidConfig);
}

TEST_F(ConfigControl, NamesOfResourcesAreChecked) {
  EXPECT_EQ(set(ResourceType::Topic, "nope", "retention.ms", "7"), ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(set(ResourceType::Topic, "", "retention.ms", "7"), ErrorCode::InvalidRequest);
  EXPECT_EQ(set(ResourceType::Broker, "one", "num.io.threads", "7"), ErrorCode::InvalidRequest);
  EXPECT_EQ(set(ResourceType::Broker, "9", "num.io.threads", "7"), ErrorCode::BrokerIdNotRegistered);
  EXPECT_EQ(set(ResourceType::Group, "", "consumer.session.timeout.ms", "45000"), ErrorCode::InvalidRequest);
  EXPECT_EQ(set(ResourceType::BrokerLogger, "1", "a", "b"), ErrorCode::InvalidRequest);
}

TEST_F(ConfigControl, ValuesAreCheckedForEachKindOfResource) {
  EXPECT_EQ(alter(ResourceType::Topic, "t", "segment.ms", kSet, "0"),
            std::pair(ErrorCode::InvalidConfig,
                      std::string("Invalid value 0 for configuration segment.ms: Value must be at least 1")));
  EXPECT_EQ(set(ResourceType::Broker, "", "num.io.threads", "0"), ErrorCode::InvalidConfig);
  EXPECT_EQ(set(ResourceType::Broker, "", "num.io.threads", "4"), ErrorCode::None);
  EXPECT_EQ(set(ResourceType::Broker, "", "listeners", "PLAINTEXT://:1"),
            ErrorCode::InvalidRequest);                                                  // per broker only
  EXPECT_EQ(set(ResourceType::Broker, "1", "node.id", "4"), ErrorCode::InvalidRequest);  // read only
  EXPECT_EQ(set(ResourceType::Group, "g", "consumer.session.timeout.ms", "x"), ErrorCode::InvalidConfig);
  EXPECT_EQ(set(ResourceType::ClientMetrics, "s", "interval.ms", "1"), ErrorCode::InvalidConfig);
  EXPECT_EQ(alter(ResourceType::Topic, "t", "retention.ms", kSet, std::nullopt).first, ErrorCode::InvalidRequest);
  EXPECT_EQ(alter(ResourceType::Topic, "t", "retention.ms", 9, "1").first, ErrorCode::InvalidRequest);
}

TEST_F(ConfigControl, TheOldRequestReplacesEverything) {
  set(ResourceType::Topic, "t", "retention.ms", "7");
  set(ResourceType::Topic, "t", "segment.ms", "8");
  protocol::AlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resourceType = static_cast<int8_t>(ResourceType::Topic);
  resource.resourceName = "t";
  auto& config = resource.configs.emplace_back();
  config.name = "flush.ms";
  config.value = protocol::Text("9");
  EXPECT_EQ(codeOf(expect(request).responses.at(0).errorCode), ErrorCode::None);
  EXPECT_EQ(image().configs.topic("t"), (config::ConfigMap{{"flush.ms", "9"}}));
}

TEST_F(ConfigControl, AResourceNamedTwiceIsRefused) {
  IncrementalAlterConfigsRequest request;
  for (int i = 0; i < 2; ++i) {
    auto& resource = request.resources.emplace_back();
    resource.resourceType = static_cast<int8_t>(ResourceType::Topic);
    resource.resourceName = "t";
  }
  const auto response = expect(request);
  ASSERT_EQ(response.responses.size(), 1u);
  EXPECT_EQ(codeOf(response.responses[0].errorCode), ErrorCode::InvalidRequest);
}

TEST_F(ConfigControl, AMinimumOfOneBrokerIsRefusedAndThatOfAllIsNotTakenAwayWhileReplicasAreEligibleByIt) {
  EXPECT_EQ(alter(ResourceType::Broker, "1", "min.insync.replicas", kSet, "2"),
            std::pair(ErrorCode::InvalidConfig,
                      std::string("Broker-level min.insync.replicas cannot be altered while ELR is enabled.")));
  EXPECT_EQ(set(ResourceType::Broker, "", "min.insync.replicas", "2"), ErrorCode::None);
  EXPECT_EQ(alter(ResourceType::Broker, "", "min.insync.replicas", kDelete, std::nullopt),
            std::pair(ErrorCode::InvalidConfig,
                      std::string("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")));
  commit({{protocol::FeatureLevelRecord{.name = kEligibleLeaderReplicasFeature, .featureLevel = 0}}});
  EXPECT_EQ(set(ResourceType::Broker, "1", "min.insync.replicas", "2"), ErrorCode::None);
  EXPECT_EQ(alter(ResourceType::Broker, "", "min.insync.replicas", kDelete, std::nullopt).first, ErrorCode::None);
}

TEST_F(ConfigControl, WhoWasEligibleByAnotherMinimumIsSoNoMore) {
  startBrokers({2, 3});
  createTopic("e", {{1, 2, 3}}, {{"min.insync.replicas", "3"}});
  createTopic("f", {{1, 2, 3}}, {{"min.insync.replicas", "3"}});
  fence(3);
  ASSERT_EQ(partition("e").elr, test::nodes({3}));
  EXPECT_EQ(set(ResourceType::Topic, "e", "min.insync.replicas", "2"), ErrorCode::None);
  EXPECT_TRUE(partition("e").elr.empty());
  EXPECT_EQ(partition("f").elr, test::nodes({3}));
  EXPECT_EQ(set(ResourceType::Broker, "", "min.insync.replicas", "2"), ErrorCode::None);
  EXPECT_TRUE(partition("f").elr.empty());
}

class FeatureControl : public testing::Test, public ControllerFixture {
 protected:
  protocol::UpdateFeaturesResponse update(std::string_view feature, int16_t level, int8_t type = 1) {
    protocol::UpdateFeaturesRequest request;
    request.featureUpdates.push_back({.feature = feature, .maxVersionLevel = level, .upgradeType = type});
    return expect(request);
  }
};

TEST_F(FeatureControl, ANewClusterStartsAtTheLevelsThatAreImplemented) {
  const Records records = bootstrapRecords();
  ASSERT_FALSE(records.empty());
  const auto* first = records[0].as<protocol::FeatureLevelRecord>();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, kMetadataVersionFeature);
  EXPECT_EQ(first->featureLevel, kLatestMetadataVersion);
  EXPECT_EQ(image().features.metadataVersion(), kLatestMetadataVersion);
  EXPECT_EQ(image().features.level(kGroupVersionFeature), findFeature(kGroupVersionFeature)->finalizedAtFormat);
}

TEST_F(FeatureControl, AClusterMayBeFormattedAtOtherLevels) {
  const auto levelIn = [](const Records& records) -> std::optional<int16_t> {
    for (const Record& record : records)
      if (const auto* level = record.as<protocol::FeatureLevelRecord>();
          level != nullptr && level->name == kTransactionVersionFeature)
        return level->featureLevel;
    return std::nullopt;
  };
  EXPECT_EQ(levelIn(bootstrapRecords()), 2);
  EXPECT_EQ(levelIn(bootstrapRecords({{"transaction.version", 1}})), 1);
  // A level of 0 is no record.
  EXPECT_EQ(levelIn(bootstrapRecords({{"transaction.version", 0}})), std::nullopt);
  EXPECT_TRUE(checkFormatLevels({{"transaction.version", 0}, {"group.version", 1}}));
  EXPECT_FALSE(checkFormatLevels({{"transaction.version", 3}}));
  EXPECT_FALSE(checkFormatLevels({{"no.such.feature", 0}}));
  EXPECT_FALSE(checkFormatLevels({{"kraft.version", 0}}));
}

TEST_F(FeatureControl, LevelsThatSomebodyDoesNotKnowAreRefused) {
  EXPECT_EQ(codeOf(update("metadata.version", 34).errorCode), ErrorCode::InvalidUpdateVersion);
  EXPECT_EQ(codeOf(update("no.such.feature", 1).errorCode), ErrorCode::InvalidUpdateVersion);
  EXPECT_EQ(codeOf(update("metadata.version", 33).errorCode), ErrorCode::None);
}

TEST_F(FeatureControl, DowngradesThatLoseMetadataAreRefused) {
  EXPECT_EQ(codeOf(update("metadata.version", 32).errorCode), ErrorCode::InvalidUpdateVersion);
  EXPECT_EQ(codeOf(update("metadata.version", 32, 2).errorCode), ErrorCode::InvalidUpdateVersion);
  EXPECT_EQ(image().features.metadataVersion(), 33);
  commit({{protocol::FeatureLevelRecord{.name = kMetadataVersionFeature, .featureLevel = 31}}});
  EXPECT_EQ(codeOf(update("metadata.version", 30, 2).errorCode), ErrorCode::None);
  EXPECT_EQ(image().features.metadataVersion(), 30);
}

TEST_F(FeatureControl, ProducerIdsComeInBlocksThatNeverRepeat) {
  startBrokers({1, 2});
  const auto allocate = [&](int id) {
    return expect(protocol::AllocateProducerIdsRequest{
        .brokerId = id, .brokerEpoch = image().cluster.broker(NodeId(id))->epoch.value()});
  };
  EXPECT_EQ(allocate(1).producerIdStart, 0);
  EXPECT_EQ(allocate(2).producerIdStart, 1000);
  EXPECT_EQ(allocate(1).producerIdLen, 1000);
  EXPECT_EQ(image().nextProducerId, ProducerId(3000));
  EXPECT_EQ(handle(protocol::AllocateProducerIdsRequest{.brokerId = 1, .brokerEpoch = 99}).error().code,
            ErrorCode::StaleBrokerEpoch);
}

TEST_F(FeatureControl, ActivationWritesOnlyWhatIsMissing) {
  const Image empty;
  const Records bootstrap = bootstrapRecords();
  const Records written = activationRecords(empty, false, bootstrap, 2);
  // The transaction's ends, and the minimum that the ELR feature goes by.
  ASSERT_EQ(written.size(), bootstrap.size() + 3);
  const auto* minimum = written[written.size() - 2].as<protocol::ConfigRecord>();
  ASSERT_TRUE(minimum);
  EXPECT_EQ(minimum->name, "min.insync.replicas");
  EXPECT_EQ(minimum->resourceName, "");
  EXPECT_EQ(minimum->value->view(), "2");
  EXPECT_EQ(recordName(activationRecords(empty, true, bootstrap, 2).front()), "AbortTransactionRecord");
  EXPECT_TRUE(activationRecords(image(), false, bootstrap, 2).empty());
  EXPECT_EQ(activationRecords(image(), true, bootstrap, 2).size(), 1u);
}

TEST_F(FeatureControl, EligibleLeaderReplicasNeedOneMinimumForAllBrokers) {
  startBrokers({1});
  commit({{protocol::FeatureLevelRecord{.name = kEligibleLeaderReplicasFeature, .featureLevel = 0}}});
  protocol::ConfigRecord own{.resourceType = 4, .resourceName = "1", .name = "min.insync.replicas"};
  own.value = protocol::Text(std::string("3"));
  commit({{std::move(own)}});
  EXPECT_EQ(codeOf(update(kEligibleLeaderReplicasFeature, 1).errorCode), ErrorCode::None);
  EXPECT_EQ(image().features.level(kEligibleLeaderReplicasFeature), 1);
  EXPECT_FALSE(image().configs.broker(NodeId(1)).contains("min.insync.replicas"));
  EXPECT_EQ(image().configs.clusterDefault().at("min.insync.replicas"), "1");
  EXPECT_EQ(codeOf(update(kEligibleLeaderReplicasFeature, 0, 2).errorCode), ErrorCode::None);
  commit({{protocol::FeatureLevelRecord{.name = kMetadataVersionFeature, .featureLevel = 22}}});
  EXPECT_EQ(codeOf(update(kEligibleLeaderReplicasFeature, 1).errorCode), ErrorCode::InvalidUpdateVersion);
}

}  // namespace
}  // namespace tidemark::metadata
