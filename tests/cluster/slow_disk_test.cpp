#include "cluster_fixture.h"
#include "records/batch_builder.h"

// A cluster is looked at while a disk holds up an append: on the same thread, which never gets a lock that the append
// has.

namespace tidemark::cluster {
namespace {

class SlowDiskTest : public ClusterTest {
 protected:
  const TopicPartition partition_{"orders", PartitionIndex(0)};

  const observe::ReplicaSnapshot* copy(const observe::ClusterSnapshot& cluster) const {
    const auto* found = observe::findPartition(cluster, partition_);
    return found == nullptr ? nullptr : observe::findReplica(*found, NodeId(1));
  }
};

TEST_F(SlowDiskTest, ADescriptionWaitsForNoAppend) {
  ASSERT_LAUNCHED(options(1));
  ASSERT_TRUE(createTopic("orders"));
  ASSERT_TRUE(lab_.awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* found = observe::findPartition(cluster, partition_);
    return found != nullptr && found->leader == NodeId(1) && copy(cluster)->online;
  }));
  const auto partition = node(1).broker()->replicas().find(partition_);
  const int64_t diskBefore = observe::findBroker(*lab_.cluster().describeNow(), NodeId(1))->diskBytes;
  observe::SnapshotPtr during;
  lab_.world().disk("broker-1").failWhen([&](platform::FileCall call, const std::string& path) {
    if (!during && call == platform::FileCall::Write && path.ends_with(".log") && path.contains("orders-0/"))
      during = lab_.cluster().describeNow();
    return false;
  });
  records::BatchBuilder builder;
  builder.append(0, asBytes("key"), asBytes("value"));
  ByteVector bytes = builder.build();
  ASSERT_TRUE(partition->appendAsLeader(bytes, 1, {}));
  ASSERT_NE(during, nullptr);
  EXPECT_EQ(copy(*during)->logEnd, Offset(0)) << "it has not happened yet";
  EXPECT_EQ(observe::findBroker(*during, NodeId(1))->diskBytes, diskBefore);
  const observe::SnapshotPtr after = lab_.cluster().describeNow();
  EXPECT_EQ(copy(*after)->logEnd, Offset(1));
  EXPECT_GT(copy(*after)->sizeInBytes, 0);
}

}  // namespace
}  // namespace tidemark::cluster
