#include <set>

#include <gmock/gmock.h>

#include "metadata/controller/replica_placer.h"
#include "metadata/controller_fixture.h"

namespace tidemark::metadata {
namespace {

using protocol::CreateTopicsRequest;
using test::codeOf;
using test::ControllerFixture;
using test::nodes;

class TopicControl : public testing::Test, public ControllerFixture {
 protected:
  TopicControl() { startBrokers({1, 2, 3}); }

  static CreateTopicsRequest creation(const std::string& name, int partitions = 1, int16_t replicationFactor = 1) {
    CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.numPartitions = partitions;
    topic.replicationFactor = replicationFactor;
    return request;
  }
  std::pair<ErrorCode, std::string> errorOf(const CreateTopicsRequest& request) {
    const auto response = expect(request);
    EXPECT_EQ(response.topics.size(), 1u);
    const auto& topic = response.topics.at(0);
    return {codeOf(topic.errorCode), topic.errorMessage ? topic.errorMessage->str() : ""};
  }
  ErrorCode codeOfCreating(const CreateTopicsRequest& request) { return errorOf(request).first; }
};

TEST_F(TopicControl, CreatesPartitionsWithReplicasLeadersAndDirectories) {
  auto request = creation("orders", 6, 3);
  auto& config = request.topics[0].configs.emplace_back();
  config.name = "retention.ms";
  config.value = protocol::Text("1000");
  const auto response = expect(request);
  const auto& result = response.topics.at(0);
  EXPECT_EQ(codeOf(result.errorCode), ErrorCode::None);
  EXPECT_EQ(result.numPartitions, 6);
  EXPECT_EQ(result.replicationFactor, 3);
  const TopicImage* topic = image().topics.find("orders");
  ASSERT_TRUE(topic);
  EXPECT_EQ(topic->id, result.topicId);
  EXPECT_EQ(image().configs.topic("orders").at("retention.ms"), "1000");
  std::map<NodeId, int> leaders;
  for (const auto& [index, partition] : topic->partitions) {
    EXPECT_EQ(std::set(partition->replicas.begin(), partition->replicas.end()).size(), 3u);
    EXPECT_EQ(partition->isr, partition->replicas);
    EXPECT_EQ(partition->leader, partition->replicas.front());
    for (NodeId node : partition->replicas) {
      EXPECT_EQ(partition->directoryOf(node), image().cluster.broker(node)->directories.front());
    }
    ++leaders[partition->leader];
  }
  EXPECT_THAT(leaders, testing::ElementsAre(testing::Pair(NodeId(1), 2), testing::Pair(NodeId(2), 2),
                                            testing::Pair(NodeId(3), 2)));
  const auto shown = std::ranges::find_if(*result.configs, [](const auto& one) { return one.name == "retention.ms"; });
  ASSERT_NE(shown, result.configs->end());
  EXPECT_EQ(shown->value->view(), "1000");
  EXPECT_EQ(shown->configSource, static_cast<int8_t>(config::ConfigSource::TopicConfig));
}

TEST_F(TopicControl, ABrokerWhoseDirectoriesAreAllCordonedGetsNoNewReplica) {
  const auto cordon = [this](int id, std::vector<Uuid> directories) {
    auto request = heartbeatOf(id);
    request.cordonedLogDirs = std::move(directories);
    expect(request);
  };
  cordon(2, {test::uuid(2)});
  cordon(3, {test::uuid(9)});
  EXPECT_EQ(codeOfCreating(creation("orders", 6, 2)), ErrorCode::None);
  for (const auto& [index, partition] : image().topics.find("orders")->partitions)
    EXPECT_FALSE(partition->isReplica(NodeId(2)));
  EXPECT_EQ(codeOfCreating(creation("wide", 1, 3)), ErrorCode::InvalidReplicationFactor);
  cordon(1, {test::uuid(1)});
  cordon(3, {test::uuid(3)});
  EXPECT_THAT(errorOf(creation("none")),
              testing::Pair(ErrorCode::InvalidReplicationFactor, testing::HasSubstr("cordoned")));
  cordon(1, {});
  EXPECT_EQ(codeOfCreating(creation("none")), ErrorCode::None);
}

TEST_F(TopicControl, RecordsComeInKafkasOrder) {
  auto request = creation("orders", 1, 1);
  auto& config = request.topics[0].configs.emplace_back();
  config.name = "retention.ms";
  config.value = protocol::Text("1000");
  expect(request);
  ASSERT_EQ(lastRecords.size(), 3u);
  EXPECT_EQ(recordName(lastRecords[0]), "TopicRecord");
  EXPECT_EQ(recordName(lastRecords[1]), "ConfigRecord");
  EXPECT_EQ(recordName(lastRecords[2]), "PartitionRecord");
  EXPECT_EQ(lastRecords[2].version, 2);
}

TEST_F(TopicControl, DefaultsComeFromTheBroker) {
  settings().defaultPartitions = 4;
  settings().defaultReplicationFactor = 2;
  expect(creation("orders", -1, -1));
  EXPECT_EQ(image().topics.find("orders")->partitions.size(), 4u);
  EXPECT_EQ(partition("orders").replicas.size(), 2u);
}

TEST_F(TopicControl, ValidateOnlyTellsAndDoesNothing) {
  auto request = creation("orders", 3, 2);
  request.validateOnly = true;
  EXPECT_EQ(expect(request).topics[0].numPartitions, 3);
  EXPECT_FALSE(image().topics.find("orders"));
}

TEST_F(TopicControl, NamesAreChecked) {
  expect(creation("a.b"));
  const auto reason = [&](const std::string& name) { return errorOf(creation(name)); };
  const ErrorCode bad = ErrorCode::InvalidTopicException;
  EXPECT_EQ(reason(""), std::pair(bad, std::string("Topic name is invalid: the empty string is not allowed")));
  EXPECT_EQ(reason(".."), std::pair(bad, std::string("Topic name is invalid: '..' is not allowed")));
  EXPECT_EQ(reason("a/b").first, bad);
  EXPECT_EQ(reason(std::string(250, 'x')).first, bad);
  EXPECT_EQ(reason(std::string(249, 'x')).first, ErrorCode::None);
  EXPECT_EQ(reason("a_b"), std::pair(bad, std::string("Topic 'a_b' collides with existing topic: a.b")));
  EXPECT_EQ(reason("a.b"), std::pair(ErrorCode::TopicAlreadyExists, std::string("Topic 'a.b' already exists.")));
  EXPECT_EQ(reason("__cluster_metadata").first, ErrorCode::InvalidRequest);
}

TEST_F(TopicControl, NumbersAreChecked) {
  EXPECT_EQ(codeOfCreating(creation("t", 0, 1)), ErrorCode::InvalidPartitions);
  EXPECT_EQ(codeOfCreating(creation("t", -2, 1)), ErrorCode::InvalidPartitions);
  EXPECT_EQ(codeOfCreating(creation("t", 1, 0)), ErrorCode::InvalidReplicationFactor);
  EXPECT_EQ(codeOfCreating(creation("t", 1, 4)), ErrorCode::InvalidReplicationFactor);
  EXPECT_EQ(codeOfCreating(creation("t", 1000000, 1)), ErrorCode::PolicyViolation);
  fence(1);
  fence(2);
  fence(3);
  EXPECT_EQ(codeOfCreating(creation("t", 1, 1)), ErrorCode::InvalidReplicationFactor);
}

TEST_F(TopicControl, ConfigurationsAreChecked) {
  auto request = creation("t");
  auto& config = request.topics[0].configs.emplace_back();
  config.name = "retention.ms";
  config.value.reset();
  EXPECT_EQ(errorOf(request), std::pair(ErrorCode::InvalidConfig,
                                        std::string("Null value not supported for topic configs: retention.ms")));
  request.topics[0].configs[0].value = protocol::Text("soon");
  EXPECT_EQ(errorOf(request),
            std::pair(ErrorCode::InvalidConfig,
                      std::string("Invalid value soon for configuration retention.ms: Not a number of type LONG")));
  request.topics[0].configs[0].name = "retention.centuries";
  EXPECT_EQ(codeOfCreating(request), ErrorCode::InvalidConfig);
}

TEST_F(TopicControl, DuplicatesInOneRequestAreRefusedOnce) {
  auto request = creation("a");
  request.topics.push_back(request.topics[0]);
  request.topics.push_back(creation("b").topics[0]);
  const auto response = expect(request);
  ASSERT_EQ(response.topics.size(), 2u);
  EXPECT_EQ(response.topics[0].name, "b");
  EXPECT_EQ(codeOf(response.topics[0].errorCode), ErrorCode::None);
  EXPECT_EQ(response.topics[1].name, "a");
  EXPECT_EQ(response.topics[1].errorMessage->view(), "Duplicate topic name.");
  EXPECT_FALSE(image().topics.find("a"));
}

TEST_F(TopicControl, ManualAssignmentsAreChecked) {
  const auto code = [&](std::vector<std::pair<int32_t, std::vector<int32_t>>> assignments, int partitions = -1,
                        int16_t replicationFactor = -1) {
    auto request = creation("m", partitions, replicationFactor);
    for (auto& [index, brokers] : assignments) {
      request.topics[0].assignments.push_back({.partitionIndex = index, .brokerIds = brokers});
    }
    return codeOfCreating(request);
  };
  EXPECT_EQ(code({{0, {1}}}, 1), ErrorCode::InvalidRequest);
  EXPECT_EQ(code({{0, {1}}}, -1, 1), ErrorCode::InvalidRequest);
  EXPECT_EQ(code({{0, {}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code({{0, {1, 1}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code({{0, {1, 9}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code({{0, {1, 2}}, {1, {1}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code({{1, {1}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code({{0, {1}}, {0, {2}}}), ErrorCode::InvalidReplicaAssignment);
  fence(3);
  EXPECT_EQ(code({{0, {3}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code({{0, {3, 2}}, {1, {1, 2}}}), ErrorCode::None);
  EXPECT_EQ(partition("m", 0).isr, nodes({2}));
  EXPECT_EQ(partition("m", 0).leader, NodeId(2));
}

TEST_F(TopicControl, DeletesByNameAndById) {
  for (const char* name : {"a", "b", "c"}) createTopic(name, {{1}}, {{"retention.ms", "5"}});
  protocol::DeleteTopicsRequest request;
  auto& byName = request.topics.emplace_back();
  byName.name = protocol::Text("a");
  auto& byId = request.topics.emplace_back();
  byId.topicId = image().topics.find("b")->id;
  auto& unknownName = request.topics.emplace_back();
  unknownName.name = protocol::Text("x");
  auto& unknownId = request.topics.emplace_back();
  unknownId.topicId = test::uuid(200);
  request.topics.emplace_back();
  std::map<std::string, ErrorCode> byKey;
  for (const auto& one : expect(request).responses) {
    byKey[one.name ? one.name->str() : one.topicId.toString()] = codeOf(one.errorCode);
  }
  EXPECT_EQ(byKey["a"], ErrorCode::None);
  EXPECT_EQ(byKey["b"], ErrorCode::None);
  EXPECT_EQ(byKey["x"], ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(byKey[test::uuid(200).toString()], ErrorCode::UnknownTopicId);
  EXPECT_EQ(byKey[Uuid().toString()], ErrorCode::InvalidRequest);
  EXPECT_EQ(image().topics.byName.size(), 1u);
  EXPECT_TRUE(image().configs.topic("a").empty());
  EXPECT_FALSE(image().configs.topic("c").empty());
}

TEST_F(TopicControl, OldVersionsDeleteByListOfNames) {
  createTopic("a", {{1}});
  protocol::DeleteTopicsRequest request;
  request.topicNames = {protocol::Text("a"), protocol::Text("b"), protocol::Text("b")};
  const auto response = expect(request, 3);
  EXPECT_EQ(response.responses.size(), 2u);
  EXPECT_FALSE(image().topics.find("a"));
  settings().deleteTopicEnable = false;
  EXPECT_EQ(handle(request, 3).error().code, ErrorCode::TopicDeletionDisabled);
  EXPECT_EQ(handle(request, 2).error().code, ErrorCode::InvalidRequest);
}

TEST_F(TopicControl, ATopicCreatedAgainHasAnotherId) {
  createTopic("a", {{1}});
  const Uuid first = image().topics.find("a")->id;
  protocol::DeleteTopicsRequest request;
  request.topicNames = {protocol::Text("a")};
  expect(request, 3);
  createTopic("a", {{1}});
  EXPECT_NE(image().topics.find("a")->id, first);
}

TEST_F(TopicControl, PartitionsAreOnlyAdded) {
  createTopic("a", {{1, 2}});
  const auto code = [&](int32_t count, std::optional<std::vector<std::vector<int32_t>>> assignments = {}) {
    protocol::CreatePartitionsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = "a";
    topic.count = count;
    topic.assignments.reset();
    if (assignments) {
      topic.assignments.emplace();
      for (auto& one : *assignments) topic.assignments->push_back({.brokerIds = one});
    }
    return codeOf(expect(request).results.at(0).errorCode);
  };
  EXPECT_EQ(code(1), ErrorCode::InvalidPartitions);
  EXPECT_EQ(code(0), ErrorCode::InvalidPartitions);
  EXPECT_EQ(code(3), ErrorCode::None);
  EXPECT_EQ(image().topics.find("a")->partitions.size(), 3u);
  EXPECT_EQ(partition("a", 2).replicas.size(), 2u);
  EXPECT_EQ(code(4, {{{1, 2}, {2, 3}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code(4, {{{1}}}), ErrorCode::InvalidReplicaAssignment);
  EXPECT_EQ(code(4, {{{3, 1}}}), ErrorCode::None);
  EXPECT_EQ(partition("a", 3).leader, NodeId(3));
  protocol::CreatePartitionsRequest unknown;
  unknown.topics.emplace_back().name = "zz";
  EXPECT_EQ(codeOf(expect(unknown).results.at(0).errorCode), ErrorCode::UnknownTopicOrPartition);
}

TEST(ReplicaPlacer, SpreadsEachPartitionOverRacks) {
  ControllerFixture fixture;
  for (int id = 1; id <= 6; ++id) {
    auto request = fixture.registration(id);
    request.rack = protocol::Text(id <= 2 ? "A" : id <= 4 ? "B" : "C");
    fixture.expect(request);
    fixture.heartbeat(id);
  }
  const auto placed = placeReplicas(fixture.image().cluster, 12, 3, fixture.random());
  ASSERT_TRUE(placed);
  std::map<NodeId, int> leaders;
  for (const auto& replicas : *placed) {
    std::set<std::string> racks;
    for (NodeId node : replicas) racks.insert(*fixture.image().cluster.broker(node)->rack);
    EXPECT_EQ(racks.size(), 3u);
    ++leaders[replicas.front()];
  }
  for (const auto& [node, count] : leaders) EXPECT_EQ(count, 2) << node.value();
}

TEST(ReplicaPlacer, FencedBrokersComeLastAndNeverLead) {
  ControllerFixture fixture;
  fixture.startBrokers({1, 2});
  fixture.registerBroker(3);
  const auto placed = placeReplicas(fixture.image().cluster, 8, 3, fixture.random());
  ASSERT_TRUE(placed);
  for (const auto& replicas : *placed) EXPECT_EQ(replicas.back(), NodeId(3));
  const auto pairs = placeReplicas(fixture.image().cluster, 8, 2, fixture.random());
  for (const auto& replicas : *pairs) EXPECT_THAT(replicas, testing::UnorderedElementsAre(NodeId(1), NodeId(2)));
  EXPECT_EQ(placeReplicas(fixture.image().cluster, 1, 4, fixture.random()).error().code,
            ErrorCode::InvalidReplicationFactor);
}

}  // namespace
}  // namespace tidemark::metadata
