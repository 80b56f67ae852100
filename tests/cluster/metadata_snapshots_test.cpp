#include "cluster/cluster_fixture.h"

#include <algorithm>

#include "log/partition_log.h"

// The metadata log in a running cluster: snapshots are cut, the log below them goes, and nodes start from them.

namespace tidemark::cluster {
namespace {

class MetadataSnapshots : public ClusterTest {
 protected:
  observe::LaunchOptions often(int brokers) {
    auto launched = options(brokers);
    launched.settings = {{"metadata.log.max.record.bytes.between.snapshots", "3000"},
                         {"metadata.max.retention.bytes", "4000"}};
    return launched;
  }
  void createTopics(int from, int to) {
    for (int i = from; i < to; ++i) ASSERT_TRUE(createTopic("topic-" + std::to_string(i)));
  }
  Offset logStart(int id) { return node(id).shared().metadataLog->logStartOffset(); }
  std::vector<std::string> checkpoints(int id) {
    auto all = names("broker-" + std::to_string(id), nodeFolder(kFolder, NodeId(id)) + "/__cluster_metadata-0");
    std::erase_if(all, [](const std::string& name) { return !name.ends_with(".checkpoint"); });
    return all;
  }
  bool sameImages(int a, int b) {
    const auto one = node(a).shared().loader->image();
    const auto other = node(b).shared().loader->image();
    return one->provenance.lastContainedOffset == other->provenance.lastContainedOffset && one->sameContents(*other);
  }
};

TEST_F(MetadataSnapshots, EveryNodeCutsThemAndDropsTheLogBelow) {
  ASSERT_LAUNCHED(often(3));
  createTopics(0, 40);
  for (int id = 1; id <= 3; ++id) {
    EXPECT_TRUE(await([&] { return logStart(id) > Offset(0); })) << id;
    EXPECT_LT(checkpoints(id).size(), 4u) << "old ones are deleted";
    EXPECT_FALSE(std::ranges::count(checkpoints(id), "00000000000000000000-0000000000.checkpoint"));
  }
}

TEST_F(MetadataSnapshots, WithoutASettingNoneIsCutThatSoon) {
  ASSERT_TRUE(launch(options(1)));
  createTopics(0, 10);
  EXPECT_EQ(checkpoints(1), std::vector<std::string>{"00000000000000000000-0000000000.checkpoint"});
}

TEST_F(MetadataSnapshots, ARestartedClusterGoesOnFromThem) {
  ASSERT_LAUNCHED(often(3));
  createTopics(0, 40);
  ASSERT_TRUE(await([&] { return logStart(1) > Offset(0) && logStart(2) > Offset(0) && logStart(3) > Offset(0); }));
  ASSERT_TRUE(shutdown());
  ASSERT_LAUNCHED(often(3));
  for (int id = 1; id <= 3; ++id) {
    EXPECT_EQ(node(id).shared().loader->image()->topics.byId.size(), 40u) << id;
    EXPECT_GT(logStart(id), Offset(0));
  }
  EXPECT_TRUE(createTopic("after"));
}

TEST_F(MetadataSnapshots, AKilledNodeComesBackFromItsOwn) {
  ASSERT_TRUE(launch(often(1)));
  createTopics(0, 40);
  ASSERT_TRUE(await([&] { return logStart(1) > Offset(0); }));
  ASSERT_TRUE(kill(1));
  ASSERT_TRUE(restart(1));
  EXPECT_EQ(node(1).shared().loader->image()->topics.byId.size(), 40u);
}

TEST_F(MetadataSnapshots, ANodeThatWasAwayFetchesTheLeaders) {
  ASSERT_LAUNCHED(often(3));
  createTopics(0, 3);
  ASSERT_TRUE(kill(3));
  const Offset end = Offset(50);
  createTopics(3, 60);
  // What node 3 would ask for next is no longer in the leader's log.
  ASSERT_TRUE(await([&] { return logStart(1) > end && logStart(2) > end; }));
  ASSERT_TRUE(restart(3));
  EXPECT_GT(logStart(3), end);
  EXPECT_TRUE(await([&] { return sameImages(1, 3) && sameImages(2, 3); }));
  EXPECT_EQ(node(3).shared().loader->image()->topics.byId.size(), 60u);
  EXPECT_TRUE(createTopic("after"));
  EXPECT_TRUE(node(3).broker()->replicas().find(TopicPartition{"after", PartitionIndex(0)}));
}

}  // namespace
}  // namespace tidemark::cluster
