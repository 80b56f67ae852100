#include "cluster_fixture.h"
#include "records/batch_builder.h"

namespace tidemark::cluster {
namespace {

class FailedDirectoriesTest : public ClusterTest {
 protected:
  /// Three brokers with two directories each, and a follower of orders-0 whose log is not beside the quorum's.
  void SetUp() override {
    observe::LaunchOptions two = options(3);
    two.logDirectories = 2;
    ASSERT_LAUNCHED(two);
    // Which directory a log comes to lie in is the broker's choice.
    for (int i = 0; i < 8 && follower_ == 0; ++i) {
      const std::string name = "orders" + (i == 0 ? std::string() : std::to_string(i));
      ASSERT_TRUE(lab_.perform([&](auto done) {
        lab_.cluster().createTopic({.name = name, .partitions = 1, .replicationFactor = 3, .configs = {}},
                                   std::move(done));
      }));
      partition_ = {name, PartitionIndex(0)};
      ASSERT_TRUE(lab_.awaitCluster([&](const observe::ClusterSnapshot& cluster) {
        const auto* found = observe::findPartition(cluster, partition_);
        if (found == nullptr || found->isr.size() != 3 || found->leader == kNoNode) return false;
        leader_ = found->leader.value();
        return std::ranges::all_of(found->copies, &observe::ReplicaSnapshot::online);
      }));
      for (int id = 1; id <= 3; ++id)
        if (id != leader_ && directoryOf(id).ends_with("disk-2")) follower_ = id;
    }
    ASSERT_NE(follower_, 0);
  }
  log::LogManager& logs(int id) { return *node(id).shared().logs; }
  std::string directoryOf(int id) { return logs(id).pathOf(logs(id).directoryOf(partition_)); }
  void append() {
    const auto log = node(leader_).broker()->replicas().find(partition_);
    records::BatchBuilder builder;
    builder.append(0, asBytes("key"), asBytes("value"));
    ByteVector bytes = builder.build();
    ASSERT_TRUE(log->appendAsLeader(bytes, 1, {}));
    node(leader_).broker()->replicas().appended(*log);
  }
  /// The disk of the follower takes no more writes into that directory.
  void breakDisk() {
    const std::string folder = directoryOf(follower_);
    lab_.world()
        .disk("broker-" + std::to_string(follower_))
        .failWhen([folder](platform::FileCall, const std::string& path) { return path.starts_with(folder); });
    append();
  }
  /// The follower's copy once it is offline, or is not any more.
  observe::ReplicaSnapshot await(bool offline) {
    observe::ReplicaSnapshot copy;
    EXPECT_TRUE(lab_.awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      copy = *observe::findReplica(*observe::findPartition(cluster, partition_), NodeId(follower_));
      broker_ = *observe::findBroker(cluster, NodeId(follower_));
      return copy.offlineReason.empty() != offline && broker_.state == observe::BrokerState::Running;
    }));
    return copy;
  }

  TopicPartition partition_;
  int leader_ = 0;
  int follower_ = 0;
  observe::BrokerSnapshot broker_;
};

TEST_F(FailedDirectoriesTest, ACopyWhoseDirectoryFailedIsOfflineAndSaysWhy) {
  EXPECT_TRUE(await(false).offlineReason.empty());
  EXPECT_TRUE(broker_.failedDirectories.empty());
  breakDisk();
  const observe::ReplicaSnapshot copy = await(true);
  EXPECT_FALSE(copy.leader);
  EXPECT_TRUE(copy.online) << "its broker goes on";
  ASSERT_EQ(broker_.failedDirectories.size(), 1u);
  EXPECT_TRUE(broker_.failedDirectories[0].path.ends_with("disk-2"));
  EXPECT_EQ(copy.offlineReason, broker_.failedDirectories[0].reason);
  EXPECT_FALSE(copy.offlineReason.empty());
}

TEST_F(FailedDirectoriesTest, ADirectoryThatFailsAtTheStartTellsItsReason) {
  breakDisk();
  await(true);
  ASSERT_TRUE(restart(follower_));
  EXPECT_FALSE(await(true).offlineReason.empty()) << "the disk is broken still";
  lab_.world().disk("broker-" + std::to_string(follower_)).failWhen({});
  ASSERT_TRUE(restart(follower_));
  EXPECT_TRUE(await(false).offlineReason.empty());
  EXPECT_TRUE(broker_.failedDirectories.empty());
}

}  // namespace
}  // namespace tidemark::cluster
