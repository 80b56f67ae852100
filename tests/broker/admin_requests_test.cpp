#include "broker/broker_fixture.h"
#include "protocol/generated/alter_configs_request.h"
#include "protocol/generated/alter_configs_response.h"
#include "protocol/generated/alter_partition_reassignments_request.h"
#include "protocol/generated/alter_partition_reassignments_response.h"
#include "protocol/generated/create_partitions_request.h"
#include "protocol/generated/create_partitions_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"
#include "protocol/generated/describe_log_dirs_request.h"
#include "protocol/generated/describe_log_dirs_response.h"
#include "protocol/generated/elect_leaders_request.h"
#include "protocol/generated/elect_leaders_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/list_config_resources_request.h"
#include "protocol/generated/list_config_resources_response.h"
#include "protocol/generated/list_partition_reassignments_request.h"
#include "protocol/generated/list_partition_reassignments_response.h"

// What any broker takes and its controller decides, asked of each broker in turn; and what is in force.

namespace tidemark::broker {
namespace {

using protocol::AlterConfigsRequest;
using protocol::AlterPartitionReassignmentsRequest;
using protocol::CreatePartitionsRequest;
using protocol::CreateTopicsRequest;
using protocol::DeleteTopicsRequest;
using protocol::DescribeConfigsRequest;
using protocol::IncrementalAlterConfigsRequest;
using protocol::ListConfigResourcesRequest;

constexpr int8_t kTopic = 2;
constexpr int8_t kBroker = 4;

class AdminRequests : public BrokerTest {
 protected:
  static CreateTopicsRequest creation(const std::string& name, int16_t replicas = 3) {
    CreateTopicsRequest request{.timeoutMs = 10000};
    request.topics.push_back({.name = name, .numPartitions = 2, .replicationFactor = replicas});
    return request;
  }
  static DescribeConfigsRequest describing(int8_t type, const std::string& name, const std::string& key) {
    DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resourceType = type;
    resource.resourceName = name;
    resource.configurationKeys.emplace();
    resource.configurationKeys->push_back(key);
    return request;
  }
  std::string valueOf(int8_t type, const std::string& name, const std::string& key,
                      int16_t version = lastVersion<DescribeConfigsRequest>()) {
    const auto answer = ask(1, describing(type, name, key), version);
    EXPECT_EQ(code(answer.results.at(0).errorCode), ErrorCode::None);
    EXPECT_EQ(answer.results.at(0).configs.size(), 1u);
    const auto& value = answer.results.at(0).configs.at(0).value;
    return value ? value->str() : "null";
  }
  bool isThere(const std::string& topic) {
    for (int id = 1; id <= 3; ++id)
      if (node(id).broker()->image()->topics.find(topic) == nullptr) return false;
    return true;
  }
};

TEST_F(AdminRequests, CreateTopicsThroughAnyBrokerInEachVersion) {
  inEachVersion<CreateTopicsRequest>([&](int16_t version) {
    const std::string name = "topic-" + std::to_string(version);
    const auto answer = ask(version % 3 + 1, creation(name), version);
    EXPECT_EQ(code(answer.topics.at(0).errorCode), ErrorCode::None);
    EXPECT_TRUE(await([&] { return isThere(name); }));
    if (version >= 7) {
      EXPECT_EQ(answer.topics.at(0).topicId, topicId(name));
    }
    if (version >= 5) {
      EXPECT_EQ(answer.topics.at(0).numPartitions, 2);
    }
    EXPECT_EQ(code(ask(1, creation(name), version).topics.at(0).errorCode), ErrorCode::TopicAlreadyExists);
    EXPECT_EQ(code(ask(1, creation("bad/name"), version).topics.at(0).errorCode), ErrorCode::InvalidTopicException);
    EXPECT_EQ(code(ask(1, creation("wide", 9), version).topics.at(0).errorCode), ErrorCode::InvalidReplicationFactor);
    auto unknown = creation("odd");
    unknown.topics[0].configs.push_back({.name = "no.such.key", .value = protocol::Text("1")});
    EXPECT_EQ(code(ask(1, unknown, version).topics.at(0).errorCode), ErrorCode::InvalidConfig);
    auto only = creation("checked");
    only.validateOnly = true;
    EXPECT_EQ(code(ask(1, only, version).topics.at(0).errorCode), ErrorCode::None);
    EXPECT_FALSE(isThere("checked"));
  });
}

TEST_F(AdminRequests, DeleteTopicsByNameAndById) {
  inEachVersion<DeleteTopicsRequest>([&](int16_t version) {
    createTopic("gone");
    DeleteTopicsRequest request{.timeoutMs = 10000};
    DeleteTopicsRequest unknown{.timeoutMs = 10000};
    if (version < 6) {
      request.topicNames.push_back("gone");
      unknown.topicNames.push_back("none");
    } else {
      request.topics.push_back({.name = std::nullopt, .topicId = topicId("gone")});
      unknown.topics.push_back({.name = std::nullopt, .topicId = Uuid({1, 2, 3})});
    }
    EXPECT_EQ(code(ask(2, request, version).responses.at(0).errorCode), ErrorCode::None);
    EXPECT_TRUE(await([&] {
      for (int id = 1; id <= 3; ++id)
        if (node(id).broker()->image()->topics.find("gone") != nullptr) return false;
      return true;
    }));
    EXPECT_EQ(code(ask(2, unknown, version).responses.at(0).errorCode),
              version < 6 ? ErrorCode::UnknownTopicOrPartition : ErrorCode::UnknownTopicId);
  });
}

TEST_F(AdminRequests, CreatePartitionsGrowsAndNeverShrinks) {
  createTopic("orders", 1);
  int count = 1;
  inEachVersion<CreatePartitionsRequest>([&](int16_t version) {
    const auto growing = [](const std::string& topic, int to) {
      CreatePartitionsRequest request{.timeoutMs = 10000};
      auto& each = request.topics.emplace_back();
      each.name = topic;
      each.count = to;
      each.assignments = std::nullopt;
      return request;
    };
    ++count;
    EXPECT_EQ(code(ask(3, growing("orders", count), version).results.at(0).errorCode), ErrorCode::None);
    EXPECT_TRUE(await([&] {
      return node(1).broker()->image()->topics.find("orders")->partitions.size() == static_cast<size_t>(count);
    }));
    EXPECT_EQ(code(ask(3, growing("orders", 1), version).results.at(0).errorCode), ErrorCode::InvalidPartitions);
    EXPECT_EQ(code(ask(3, growing("none", 5), version).results.at(0).errorCode), ErrorCode::UnknownTopicOrPartition);
  });
}

TEST_F(AdminRequests, DescribeConfigsTellsValueAndSourceInEachVersion) {
  createTopic("orders");
  inEachVersion<DescribeConfigsRequest>([&](int16_t version) {
    const auto topic = ask(1, describing(kTopic, "orders", "retention.ms"), version);
    ASSERT_EQ(topic.results.at(0).configs.size(), 1u);
    EXPECT_EQ(topic.results[0].configs[0].value->str(), "604800000");
    EXPECT_EQ(topic.results[0].configs[0].configSource, 5) << "the default";
    EXPECT_EQ(valueOf(kBroker, "1", "num.io.threads", version), "4") << "of the lab's profile";
    EXPECT_EQ(code(ask(1, describing(kTopic, "none", "retention.ms"), version).results.at(0).errorCode),
              ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(code(ask(1, describing(kBroker, "2", "num.io.threads"), version).results.at(0).errorCode),
              ErrorCode::InvalidRequest);
    EXPECT_EQ(code(ask(1, describing(77, "x", "y"), version).results.at(0).errorCode), ErrorCode::InvalidRequest);
  });
}

TEST_F(AdminRequests, ListConfigResourcesNamesWhatHasAConfigurationAndWhatCouldHaveOne) {
  constexpr int8_t kClientMetrics = 16, kGroup = 32, kUser = 64;
  createTopic("orders");
  IncrementalAlterConfigsRequest setting;
  for (const auto& [type, name, key] : {std::tuple(kClientMetrics, "all-clients", "interval.ms"),
                                        std::tuple(kGroup, "billing", "consumer.heartbeat.interval.ms")}) {
    auto& resource = setting.resources.emplace_back();
    resource.resourceType = type;
    resource.resourceName = name;
    resource.configs.push_back({.name = key, .configOperation = 0, .value = protocol::Text("6000")});
  }
  for (const auto& set : ask(2, setting).responses) EXPECT_EQ(code(set.errorCode), ErrorCode::None);
  using Names = std::vector<std::pair<int8_t, std::string>>;
  const auto list = [this](std::vector<int8_t> types, int16_t version) {
    const auto answer = ask(1, ListConfigResourcesRequest{.resourceTypes = std::move(types)}, version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    Names names;
    for (const auto& one : answer.configResources) names.emplace_back(one.resourceType, one.resourceName.str());
    return names;
  };
  const Names subscriptions = {{kClientMetrics, "all-clients"}};
  EXPECT_TRUE(await([&] { return list({}, 0) == subscriptions; })) << "it was ListClientMetricsResources";
  EXPECT_EQ(list({kClientMetrics}, 1), subscriptions);
  EXPECT_EQ(list({kGroup}, 1), (Names{{kGroup, "billing"}}));
  EXPECT_EQ(list({kBroker}, 1), (Names{{kBroker, "1"}, {kBroker, "2"}, {kBroker, "3"}}));
  EXPECT_EQ(list({}, 1).size(), 9u) << "three loggers, three brokers, a topic, a group, a subscription";
  EXPECT_EQ(code(ask(1, ListConfigResourcesRequest{.resourceTypes = {kUser}}, 1).errorCode),
            ErrorCode::UnsupportedVersion);
  EXPECT_EQ(valueOf(kClientMetrics, "all-clients", "interval.ms"), "6000");
  EXPECT_EQ(valueOf(kClientMetrics, "another", "interval.ms"), "300000");
}

TEST_F(AdminRequests, IncrementalAlterConfigsChangesWhatItNamesInEachVersion) {
  createTopic("orders");
  int value = 1000;
  inEachVersion<IncrementalAlterConfigsRequest>([&](int16_t version) {
    const auto setting = [](const std::string& topic, const std::string& key, const std::string& to) {
      IncrementalAlterConfigsRequest request;
      auto& resource = request.resources.emplace_back();
      resource.resourceType = kTopic;
      resource.resourceName = topic;
      resource.configs.push_back({.name = key, .configOperation = 0, .value = protocol::Text(to)});
      return request;
    };
    ++value;
    EXPECT_EQ(code(ask(2, setting("orders", "retention.ms", std::to_string(value)), version).responses.at(0).errorCode),
              ErrorCode::None);
    EXPECT_TRUE(await([&] { return node(1).broker()->image()->configs.topic("orders").contains("retention.ms"); }));
    EXPECT_TRUE(await([&] {
      return node(1).broker()->image()->configs.topic("orders").find("retention.ms")->second == std::to_string(value);
    }));
    EXPECT_EQ(valueOf(kTopic, "orders", "retention.ms"), std::to_string(value));
    EXPECT_EQ(code(ask(2, setting("orders", "retention.ms", "x"), version).responses.at(0).errorCode),
              ErrorCode::InvalidConfig);
    EXPECT_EQ(code(ask(2, setting("none", "retention.ms", "1"), version).responses.at(0).errorCode),
              ErrorCode::UnknownTopicOrPartition);
  });
}

TEST_F(AdminRequests, AlterConfigsReplacesAllInEachVersion) {
  createTopic("orders");
  inEachVersion<AlterConfigsRequest>([&](int16_t version) {
    const auto setting = [](const std::string& topic, const std::string& key, const std::string& to) {
      AlterConfigsRequest request;
      auto& resource = request.resources.emplace_back();
      resource.resourceType = kTopic;
      resource.resourceName = topic;
      resource.configs.push_back({.name = key, .value = protocol::Text(to)});
      return request;
    };
    const auto has = [&](const char* key) { return node(1).broker()->image()->configs.topic("orders").contains(key); };
    EXPECT_EQ(code(ask(2, setting("orders", "retention.ms", "1000"), version).responses.at(0).errorCode),
              ErrorCode::None);
    EXPECT_TRUE(await([&] { return has("retention.ms"); }));
    EXPECT_EQ(code(ask(2, setting("orders", "segment.ms", "5000"), version).responses.at(0).errorCode),
              ErrorCode::None);
    EXPECT_TRUE(await([&] { return has("segment.ms") && !has("retention.ms"); }));
    EXPECT_EQ(code(ask(2, setting("orders", "no.such.key", "1"), version).responses.at(0).errorCode),
              ErrorCode::InvalidConfig);
    EXPECT_EQ(code(ask(2, setting("none", "retention.ms", "1"), version).responses.at(0).errorCode),
              ErrorCode::UnknownTopicOrPartition);
  });
}

TEST_F(AdminRequests, ElectLeadersAnswersForEachPartitionInEachVersion) {
  createTopic("orders");
  inEachVersion<protocol::ElectLeadersRequest>([&](int16_t version) {
    protocol::ElectLeadersRequest request{.timeoutMs = 10000};
    request.topicPartitions.emplace();
    request.topicPartitions->push_back({.topic = "orders", .partitions = {0}});
    request.topicPartitions->push_back({.topic = "none", .partitions = {0}});
    const auto answer = ask(1, request, version);
    ASSERT_EQ(answer.replicaElectionResults.size(), 2u);
    for (const auto& topic : answer.replicaElectionResults)
      EXPECT_EQ(code(topic.partitionResult.at(0).errorCode),
                topic.topic == "orders" ? ErrorCode::ElectionNotNeeded : ErrorCode::UnknownTopicOrPartition);
  });
}

TEST_F(AdminRequests, APartitionMovesToAnotherBrokerInEachVersion) {
  createTopic("orders", 1, 1);
  produce("orders", 0, {"a", "b"});
  inEachVersion<AlterPartitionReassignmentsRequest>([&](int16_t version) {
    const int from = leaderOf("orders");
    const int to = otherThan(from);
    AlterPartitionReassignmentsRequest request{.timeoutMs = 10000};
    request.topics.push_back({.name = "orders", .partitions = {}});
    request.topics[0].partitions.push_back({.partitionIndex = 0, .replicas = {{to}}});
    request.topics[0].partitions.push_back({.partitionIndex = 9, .replicas = {{to}}});
    const auto answer = ask(to, request, version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    ASSERT_EQ(answer.responses.at(0).partitions.size(), 2u);
    EXPECT_EQ(code(answer.responses[0].partitions[0].errorCode), ErrorCode::None);
    EXPECT_EQ(code(answer.responses[0].partitions[1].errorCode), ErrorCode::UnknownTopicOrPartition);
    EXPECT_TRUE(await([&] {
      const auto* partition = node(from).broker()->image()->topics.partition("orders", PartitionIndex(0));
      return partition->replicas == std::vector{NodeId(to)} && partition->leader == NodeId(to) &&
             !partition->isReassigning();
    }));
    EXPECT_EQ(node(to).broker()->replicas().find(TopicPartition{"orders", PartitionIndex(0)})->log()->logEndOffset(),
              Offset(2));
    EXPECT_TRUE(await(
        [&] { return node(from).broker()->replicas().find(TopicPartition{"orders", PartitionIndex(0)}) == nullptr; }));
  });
}

TEST_F(AdminRequests, WhatIsUnderWayIsListedUntilItIsCancelled) {
  createTopic("orders", 1, 1);
  const int from = leaderOf("orders");
  const int to = otherThan(from);
  const int third = otherThan(to);
  // Whoever is to get it hears nothing.
  lab_.world().network().cut("broker-" + std::to_string(from), "broker-" + std::to_string(to));
  AlterPartitionReassignmentsRequest request{.timeoutMs = 10000};
  request.topics.push_back({.name = "orders", .partitions = {}});
  request.topics[0].partitions.push_back({.partitionIndex = 0, .replicas = {{to}}});
  EXPECT_EQ(code(ask(third, request).responses.at(0).partitions.at(0).errorCode), ErrorCode::None);
  const auto list = ask(third, protocol::ListPartitionReassignmentsRequest{.timeoutMs = 10000});
  ASSERT_EQ(list.topics.size(), 1u);
  EXPECT_EQ(list.topics[0].partitions.at(0).replicas, (std::vector<int32_t>{to, from}));
  EXPECT_EQ(list.topics[0].partitions.at(0).addingReplicas, std::vector<int32_t>{to});
  EXPECT_EQ(list.topics[0].partitions.at(0).removingReplicas, std::vector<int32_t>{from});
  request.topics[0].partitions[0].replicas = std::nullopt;
  EXPECT_EQ(code(ask(third, request).responses.at(0).partitions.at(0).errorCode), ErrorCode::None);
  EXPECT_EQ(code(ask(third, request).responses.at(0).partitions.at(0).errorCode), ErrorCode::NoReassignmentInProgress);
  EXPECT_TRUE(ask(third, protocol::ListPartitionReassignmentsRequest{.timeoutMs = 10000}).topics.empty());
}

TEST_F(AdminRequests, DescribeLogDirsTellsSizesAndRoomInEachVersion) {
  createTopic("orders", 2);
  produce("orders", 0, {"a", "b"});
  inEachVersion<protocol::DescribeLogDirsRequest>([&](int16_t version) {
    protocol::DescribeLogDirsRequest request;
    request.topics->push_back({.topic = "orders", .partitions = {0}});
    const auto answer = ask(1, request, version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    ASSERT_EQ(answer.results.size(), 1u);
    const auto& directory = answer.results[0];
    EXPECT_EQ(code(directory.errorCode), ErrorCode::None);
    ASSERT_EQ(directory.topics.size(), 1u);
    ASSERT_EQ(directory.topics[0].partitions.size(), 1u);
    EXPECT_GT(directory.topics[0].partitions[0].partitionSize, 0);
    EXPECT_EQ(directory.topics[0].partitions[0].offsetLag, 0);
    EXPECT_FALSE(directory.topics[0].partitions[0].isFutureKey);
    if (version >= 4) {
      EXPECT_GT(directory.usableBytes, 0);
    }
    request.topics = std::nullopt;
    EXPECT_EQ(ask(1, request, version).results.at(0).topics.at(0).partitions.size(), 2u) << "all there are";
  });
}

}  // namespace
}  // namespace tidemark::broker
