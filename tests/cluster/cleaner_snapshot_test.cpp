#include "cluster_fixture.h"
#include "records/batch_builder.h"

namespace tidemark::cluster {
namespace {

TEST_F(ClusterTest, ASnapshotTellsWhereACompactedLogStands) {
  ASSERT_LAUNCHED(options(1));
  ASSERT_TRUE(lab_.perform([&](auto done) {
    lab_.cluster().createTopic({.name = "table", .partitions = 1, .configs = {{"cleanup.policy", "compact"}}},
                               std::move(done));
  }));
  const auto partition = node(1).broker()->replicas().find(TopicPartition{"table", PartitionIndex(0)});
  ASSERT_TRUE(partition);
  observe::CleanerSnapshot now;
  const auto awaitPasses = [&](int64_t passes) {
    return lab_.awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto found =
          std::ranges::find(cluster.cleaners, "table", [](const auto& each) { return each.partition.topic; });
      if (found == cluster.cleaners.end() || found->passes < passes) return false;
      now = *found;
      return true;
    });
  };
  ASSERT_TRUE(awaitPasses(0));
  EXPECT_EQ(now.broker, NodeId(1));
  EXPECT_EQ(now.passes, 0);
  EXPECT_EQ(now.minDirtyRatio, 0.5);
  for (int i = 0; i < 4; ++i) {
    records::BatchBuilder builder;
    builder.append(0, asBytes(i == 3 ? "other" : "key"), asBytes("value"));
    ByteVector bytes = builder.build();
    ASSERT_TRUE(partition->appendAsLeader(bytes, 1, {}));
  }
  node(1).broker()->replicas().appended(*partition);
  auto log = node(1).shared().logs->get({"table", PartitionIndex(0)});
  ASSERT_TRUE(log->roll());
  ASSERT_TRUE(awaitPasses(1));
  EXPECT_EQ(now.firstDirty, Offset(4));
  EXPECT_EQ(now.dirtyBytes, 0);
  EXPECT_GT(now.cleanBytes, 0);
  EXPECT_EQ(now.lastPass->recordsRead, 4);
  EXPECT_EQ(now.lastPass->recordsDropped(), 2);
  EXPECT_TRUE(now.uncleanableReason.empty());
}

}  // namespace
}  // namespace tidemark::cluster
