#include "broker/broker_fixture.h"
#include "protocol/generated/alter_configs_request.h"
#include "protocol/generated/alter_configs_response.h"
#include "protocol/generated/create_partitions_request.h"
#include "protocol/generated/create_partitions_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"
#include "protocol/generated/elect_leaders_request.h"
#include "protocol/generated/elect_leaders_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"

// What any broker takes and its controller decides, asked of each broker in turn; and what is in force.

namespace tidemark::broker {
namespace {

using protocol::AlterConfigsRequest;
using protocol::CreatePartitionsRequest;
using protocol::CreateTopicsRequest;
using protocol::DeleteTopicsRequest;
using protocol::DescribeConfigsRequest;
using protocol::IncrementalAlterConfigsRequest;

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

}  // namespace
}  // namespace tidemark::broker
