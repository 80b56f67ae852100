#include "broker/broker_fixture.h"
#include "protocol/generated/alter_replica_log_dirs_request.h"
#include "protocol/generated/alter_replica_log_dirs_response.h"
#include "protocol/generated/describe_log_dirs_request.h"
#include "protocol/generated/describe_log_dirs_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"

// AlterReplicaLogDirs and DescribeLogDirs, of brokers with two log directories.

namespace tidemark::broker {
namespace {

using protocol::AlterReplicaLogDirsRequest;
using protocol::DescribeLogDirsRequest;
using testing::ElementsAre;

class LogDirRequests : public BrokerTest {
 protected:
  LogDirRequests() : BrokerTest(2) {}

  static std::string path(int broker, int disk) {
    return disk == 1 ? fmt::format("/lab/broker-{}", broker) : fmt::format("/lab/broker-{}.disk-{}", broker, disk);
  }
  /// 1 or 2.
  int diskOf(int broker, const std::string& topic = "orders") {
    const log::LogManager& logs = *node(broker).shared().logs;
    return logs.pathOf(logs.directoryOf({topic, PartitionIndex(0)})) == path(broker, 1) ? 1 : 2;
  }
  static AlterReplicaLogDirsRequest moveTo(const std::string& path, const std::string& topic = "orders") {
    AlterReplicaLogDirsRequest request;
    auto& directory = request.dirs.emplace_back();
    directory.path = protocol::Text(path);
    directory.topics.push_back({.name = protocol::Text(topic), .partitions = {0}});
    return request;
  }
  ErrorCode move(int broker, const std::string& path, int16_t version, const std::string& topic = "orders") {
    const auto answer = ask(broker, moveTo(path, topic), version);
    EXPECT_EQ(answer.results.size(), 1u);
    if (answer.results.size() != 1) return ErrorCode::UnknownServerError;
    EXPECT_EQ(answer.results[0].topicName.view(), topic);
    return code(answer.results[0].partitions.at(0).errorCode);
  }
  /// That every broker says of the replica of `broker`.
  bool allBelieve(int broker, int disk) {
    const auto ids = node(broker).shared().logs->directories();
    for (int id = 1; id <= 3; ++id) {
      const auto* partition = node(id).broker()->image()->topics.partition("orders", PartitionIndex(0));
      if (partition->directoryOf(NodeId(broker)) != ids.at(static_cast<size_t>(disk) - 1).id) return false;
    }
    return true;
  }
};

TEST_F(LogDirRequests, AReplicaIsMovedThereAndBackInEachVersion) {
  createTopic("orders");
  const int leader = leaderOf("orders");
  int64_t next = 0;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(produce("orders", 0, {"before"}), next++);
  inEachVersion<AlterReplicaLogDirsRequest>([&](int16_t version) {
    const int to = 3 - diskOf(leader);
    ASSERT_EQ(move(leader, path(leader, to), version), ErrorCode::None);
    ASSERT_TRUE(await([&] { return diskOf(leader) == to && allBelieve(leader, to); }));
    EXPECT_EQ(produce("orders", 0, {"after"}), next++);
  });
  // The followers were not touched by it, and follow.
  const int follower = otherThan(leader);
  EXPECT_TRUE(await([&] {
    return node(follower).shared().logs->get({"orders", PartitionIndex(0)})->logEndOffset() == Offset(next);
  }));
  ASSERT_EQ(move(follower, path(follower, 3 - diskOf(follower)), 2), ErrorCode::None);
  EXPECT_EQ(produce("orders", 0, {"meanwhile"}), next++);
  EXPECT_TRUE(await([&] { return !node(follower).shared().logs->future({"orders", PartitionIndex(0)}); }));
  EXPECT_TRUE(await([&] {
    return node(follower).shared().logs->get({"orders", PartitionIndex(0)})->logEndOffset() == Offset(next);
  }));
}

TEST_F(LogDirRequests, EachPartitionHasItsOwnErrorInEachVersion) {
  createTopic("orders");
  inEachVersion<AlterReplicaLogDirsRequest>([&](int16_t version) {
    EXPECT_EQ(move(1, "/nowhere", version), ErrorCode::LogDirNotFound);
    EXPECT_EQ(move(1, path(1, 2), version, "none"), ErrorCode::ReplicaNotAvailable);
    EXPECT_EQ(move(1, path(1, diskOf(1)), version), ErrorCode::None) << "it lies there";
    AlterReplicaLogDirsRequest both = moveTo(path(1, diskOf(1)));
    both.dirs[0].topics.push_back({.name = "none", .partitions = {0, 1}});
    const auto answer = ask(1, both, version);
    ASSERT_EQ(answer.results.size(), 2u);
    EXPECT_EQ(answer.results[0].topicName.view(), "none");
    EXPECT_EQ(answer.results[0].partitions.size(), 2u);
    EXPECT_EQ(code(answer.results[1].partitions.at(0).errorCode), ErrorCode::None);
  });
}

TEST_F(LogDirRequests, ATopicThatIsNotThereYetIsMadeInTheDirectoryItWasToBeMovedTo) {
  for (int broker = 1; broker <= 3; ++broker)
    EXPECT_EQ(move(broker, path(broker, 2), 2, "later"), ErrorCode::ReplicaNotAvailable);
  createTopic("later");
  for (int broker = 1; broker <= 3; ++broker) EXPECT_EQ(diskOf(broker, "later"), 2);
}

TEST_F(LogDirRequests, ACopyIsDescribedWithWhatItLacks) {
  createTopic("orders");
  const int leader = leaderOf("orders");
  for (int i = 0; i < 5; ++i) produce("orders", 0, {"before"});
  // So slow that it waits before the swap.
  node(leader).broker()->replicas().setMoveLimit(1);
  const int from = diskOf(leader);
  ASSERT_EQ(move(leader, path(leader, 3 - from), 2), ErrorCode::None);
  ASSERT_TRUE(await([&] {
    const auto copy = node(leader).shared().logs->future({"orders", PartitionIndex(0)});
    return copy && copy->logEndOffset() == Offset(5);
  }));
  for (int i = 0; i < 3; ++i) produce("orders", 0, {"meanwhile"});
  inEachVersion<DescribeLogDirsRequest>([&](int16_t version) {
    DescribeLogDirsRequest request;
    request.topics = std::nullopt;
    const auto answer = ask(leader, request, version);
    ASSERT_EQ(answer.results.size(), 2u);
    for (const auto& directory : answer.results) {
      const bool isOld = directory.logDir.view() == path(leader, from);
      ASSERT_EQ(directory.topics.size(), 1u) << directory.logDir.view();
      const auto& partition = directory.topics[0].partitions.at(0);
      EXPECT_EQ(partition.isFutureKey, !isOld);
      EXPECT_EQ(partition.offsetLag, isOld ? 0 : 3);
    }
  });
  node(leader).broker()->replicas().setMoveLimit(INT64_MAX);
  produce("orders", 0, {"and on"});
  EXPECT_TRUE(await([&] { return diskOf(leader) == 3 - from; }));
}

TEST_F(LogDirRequests, ACordonedDirectoryIsToldAndGetsNothingNew) {
  createTopic("orders");
  const auto cordon = [this](int broker, const std::string& paths) {
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resourceType = 4;
    resource.resourceName = std::to_string(broker);
    resource.configs.push_back({.name = "cordoned.log.dirs", .configOperation = 0, .value = protocol::Text(paths)});
    EXPECT_EQ(code(ask(1, request, 1).responses.at(0).errorCode), ErrorCode::None);
  };
  const auto toldTo = [this](int broker, size_t count) {
    return await([&] {
      for (int id = 1; id <= 3; ++id) {
        const auto& cordoned = node(id).broker()->image()->cluster.broker(NodeId(broker))->cordonedDirectories;
        if (!cordoned || cordoned->size() != count) return false;
      }
      return true;
    });
  };
  const int other = 3 - diskOf(1);
  cordon(1, path(1, other));
  ASSERT_TRUE(toldTo(1, 1));
  EXPECT_EQ(move(1, path(1, other), 2), ErrorCode::InvalidReplicaAssignment);
  inEachVersion<DescribeLogDirsRequest>([&](int16_t version) {
    DescribeLogDirsRequest request;
    request.topics = std::nullopt;
    for (const auto& directory : ask(1, request, version).results)
      EXPECT_EQ(directory.isCordoned, version >= 5 && directory.logDir.view() == path(1, other));
  });
  // Without it, the next log would lie where none is yet.
  createTopic("more");
  EXPECT_EQ(diskOf(1, "more"), diskOf(1, "orders"));
  cordon(1, "*");
  ASSERT_TRUE(toldTo(1, 2));
  createTopic("elsewhere", 4, 2);
  for (int index = 0; index < 4; ++index)
    EXPECT_FALSE(node(2).broker()->image()->topics.partition("elsewhere", PartitionIndex(index))->isReplica(NodeId(1)));
  cordon(1, "");
  ASSERT_TRUE(toldTo(1, 0));
  EXPECT_EQ(move(1, path(1, other), 2), ErrorCode::None);
}

TEST_F(LogDirRequests, BrokersTellTheControllerWhereTheirReplicasLie) {
  createTopic("orders");
  EXPECT_TRUE(await([&] {
    for (int broker = 1; broker <= 3; ++broker)
      if (!allBelieve(broker, diskOf(broker))) return false;
    return true;
  }));
}

}  // namespace
}  // namespace tidemark::broker
