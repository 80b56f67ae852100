#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "cluster/topology.h"
#include "sim/lab.h"

namespace tidemark::sim {
namespace {

/// Three brokers in the simulator, by what each one's metadata says.
class FailoverTest : public testing::Test {
 protected:
  FailoverTest() {
    observe::LaunchOptions options;
    options.firstTopic =
        observe::TopicOptions{.name = "orders", .partitions = 3, .replicationFactor = 3, .configs = {}};
    const auto launched = lab.perform([&](auto done) { lab.cluster().launch(options, std::move(done)); });
    EXPECT_TRUE(launched) << launched.error().message;
  }
  NodeId controller() { return lab.cluster().node(NodeId(1))->shared().raft->leaderAndEpoch().leader; }
  std::vector<NodeId> othersThan(NodeId broker) {
    std::vector<NodeId> others;
    for (int i = 1; i <= 3; ++i)
      if (NodeId(i) != broker) others.emplace_back(i);
    return others;
  }

  SimulatedLab lab{{.seed = 1}};
};

// Heartbeats on their way to the old controller were waited for, and the new one fenced everybody.
TEST_F(FailoverTest, aControllerThatFallsSilentTakesNobodyWithIt) {
  const NodeId gone = controller();
  const std::vector<NodeId> others = othersThan(gone);
  bool fenced = false;
  lab.world().onStep([&] {
    for (NodeId broker : others)
      for (NodeId other : others)
        fenced = fenced || !lab.cluster().node(broker)->broker()->image()->cluster.isActive(other);
  });
  lab.world().network().isolate(fmt::format("broker-{}", gone));
  lab.world().runFor(std::chrono::seconds(10));
  lab.world().onStep({});
  EXPECT_FALSE(fenced);
  const metadata::ImagePtr image = lab.cluster().node(others.front())->broker()->image();
  EXPECT_FALSE(image->cluster.isActive(gone));
  for (int i = 0; i < 3; ++i) {
    const NodeId leader = image->topics.partition("orders", PartitionIndex(i))->leader;
    EXPECT_TRUE(leader != gone && leader != kNoNode) << "orders-" << i;
  }
}

// It went on as a leader that could write nothing, and nobody took over.
TEST_F(FailoverTest, aBrokerWithoutALogDirectoryEndsAndSaysWhy) {
  const NodeId ill(2);
  lab.world().disk(fmt::format("broker-{}", ill)).failWhen([](platform::FileCall, const std::string& path) {
    return path.contains("/late-");
  });
  const auto created = lab.perform([&](auto done) {
    lab.cluster().createTopic({.name = "late", .partitions = 1, .replicationFactor = 3, .configs = {}},
                              std::move(done));
  });
  EXPECT_TRUE(created) << created.error().message;
  EXPECT_TRUE(lab.awaitCluster([&](const observe::ClusterSnapshot& snapshot) {
    return std::ranges::any_of(snapshot.brokers, [&](const observe::BrokerSnapshot& broker) {
      return broker.id == ill && broker.state == observe::BrokerState::Killed &&
             broker.diedOf.contains("it cannot go on without the log directory");
    });
  }));
  EXPECT_TRUE(
      lab.world().runUntil([&] { return !lab.cluster().node(NodeId(1))->broker()->image()->cluster.isActive(ill); },
                           std::chrono::seconds(10)));
}

// Its log was offline, and it went on as leader of the quorum: the others could not elect another one.
TEST_F(FailoverTest, whoseMetadataLogFailsInTheBackgroundDiesOfIt) {
  const NodeId gone = controller();
  const NodeId ill = othersThan(gone).front();
  faults::Fault broken{.kind = faults::Kind::DiskError,
                       .target = faults::NodeName{.by = {}, .id = ill, .partition = {}}};
  broken.fileCalls = faults::kWrites;
  broken.path = "__cluster_metadata-0/leader-epoch-checkpoint.tmp";
  std::optional<Result<int>> set;
  lab.cluster().setFault(broken, [&](Result<int> id) { lab.change([&] { set = std::move(id); }); });
  ASSERT_TRUE(lab.await([&] { return set.has_value(); }));
  // Whoever leads next, the epoch is another one.
  ASSERT_TRUE(lab.perform([&](auto done) { lab.cluster().killBroker(gone, std::move(done)); }));
  EXPECT_TRUE(lab.awaitCluster([&](const observe::ClusterSnapshot& snapshot) {
    const auto* broker = observe::findBroker(snapshot, ill);
    return broker != nullptr && broker->state == observe::BrokerState::Killed &&
           broker->diedOf.contains("the metadata log cannot be written: ");
  }));
}

/// Five brokers, so that two may be away and there is still a quorum; one partition on two of them, which needs both.
class EligibilityTest : public testing::Test {
 protected:
  EligibilityTest() {
    observe::LaunchOptions options;
    options.brokers = 5;
    options.dataFolder = kFolder;
    options.firstTopic = observe::TopicOptions{
        .name = "safe", .partitions = 1, .replicationFactor = 2, .configs = {{"min.insync.replicas", "2"}}};
    const auto launched = lab.perform([&](auto done) { lab.cluster().launch(options, std::move(done)); });
    EXPECT_TRUE(launched) << launched.error().message;
    replicas = now().replicas;
    for (int id = 1; id <= 5; ++id)
      if (std::ranges::find(replicas, NodeId(id)) == replicas.end()) witness = NodeId(id);
  }

  /// As a broker sees it that holds no replica.
  const metadata::PartitionRegistration& now() {
    image = lab.cluster().node(witness)->broker()->image();
    return *image->topics.partition("safe", PartitionIndex(0));
  }
  bool becomes(const std::function<bool(const metadata::PartitionRegistration&)>& state) {
    return lab.world().runUntil([&] { return state(now()); }, std::chrono::seconds(60));
  }
  void kill(NodeId broker) {
    EXPECT_TRUE(lab.perform([&](auto done) { lab.cluster().killBroker(broker, std::move(done)); }));
  }
  void stop(NodeId broker) {
    EXPECT_TRUE(lab.perform([&](auto done) { lab.cluster().stopBroker(broker, std::move(done)); }));
  }
  void start(NodeId broker) {
    EXPECT_TRUE(lab.perform([&](auto done) { lab.cluster().restartBroker(broker, std::move(done)); }));
  }

  SimulatedLab lab{{.seed = 3}};
  static constexpr const char* kFolder = "/lab/five";
  NodeId witness{1};
  metadata::ImagePtr image;
  std::vector<NodeId> replicas;
};

TEST_F(EligibilityTest, whoLeftTheIsrBelowTheMinimumLeadsWhenItComesBackUnlessItStoppedUncleanly) {
  const NodeId first = replicas[0];
  const NodeId second = replicas[1];
  stop(second);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr == std::vector{first}; }));
  EXPECT_EQ(now().elr, std::vector{second});
  kill(first);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr.empty(); }));
  EXPECT_FALSE(now().hasLeader());
  EXPECT_EQ(now().elr.size(), 2u);
  EXPECT_EQ(now().lastKnownElr, std::vector{first});
  // Its page cache may be gone, so it is not trusted.
  start(first);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.elr == std::vector{second}; }));
  lab.world().runFor(std::chrono::seconds(5));
  EXPECT_FALSE(now().hasLeader());
  start(second);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.hasLeader(); }));
  EXPECT_EQ(now().leader, second);
  EXPECT_EQ(now().leaderRecoveryState, metadata::LeaderRecoveryState::Recovered);
  EXPECT_TRUE(becomes([&](const auto& partition) { return partition.isr.size() == 2 && partition.elr.empty(); }));
}

// It had stopped cleanly, and then a file of it was cut: the controller counted on it, and all others gave up what it
// lacked.
TEST_F(EligibilityTest, whoComesBackWithLessThanAtItsCleanStopDoesNotLead) {
  const NodeId first = replicas[0];
  const NodeId second = replicas[1];
  stop(second);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr == std::vector{first}; }));
  stop(first);
  ASSERT_TRUE(becomes([&](const auto& partition) { return !partition.hasLeader(); }));
  const auto disk = lab.world().createProcess({.name = "hand", .disk = fmt::format("broker-{}", second)});
  const std::string folder = cluster::nodeFolder(kFolder, second);
  // As if its log had held five records.
  const std::string_view held = "0\n1\nsafe 0 5\n";
  ASSERT_TRUE(disk->files().replaceFile(folder + "/recovery-point-offset-checkpoint", asBytes(held)));
  start(second);
  lab.world().runFor(std::chrono::seconds(10));
  EXPECT_FALSE(now().hasLeader());
  EXPECT_EQ(std::ranges::count(now().elr, second), 0) << "nor is it eligible";
  start(first);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.hasLeader(); }));
  EXPECT_EQ(now().leader, first);
  EXPECT_TRUE(becomes([&](const auto& partition) { return partition.isr.size() == 2; })) << "it copies what it lacks";
}

// A bit of its topic id turned while it was stopped: its log was set aside as nobody's, and with an empty one it was
// still counted on.
TEST_F(EligibilityTest, whoseLogIsTakenForAnotherTopicsAfterACleanStopDoesNotLead) {
  const NodeId first = replicas[0];
  const NodeId second = replicas[1];
  stop(second);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.isr == std::vector{first}; }));
  stop(first);
  ASSERT_TRUE(becomes([&](const auto& partition) { return !partition.hasLeader(); }));
  ASSERT_EQ(std::ranges::count(now().elr, second), 1);
  faults::Fault flip{.kind = faults::Kind::BitFlip,
                     .target = faults::NodeName{.by = {}, .id = second, .partition = {}}};
  flip.path = "safe-0/partition.metadata";
  std::optional<Result<int>> set;
  lab.cluster().setFault(flip, [&](Result<int> id) { lab.change([&] { set = std::move(id); }); });
  ASSERT_TRUE(lab.await([&] { return set.has_value(); }));
  ASSERT_TRUE(*set) << set->error().message;
  start(second);
  lab.world().runFor(std::chrono::seconds(10));
  EXPECT_FALSE(now().hasLeader());
  EXPECT_EQ(std::ranges::count(now().elr, second), 0);
  start(first);
  ASSERT_TRUE(becomes([&](const auto& partition) { return partition.hasLeader(); }));
  EXPECT_EQ(now().leader, first);
  EXPECT_TRUE(becomes([&](const auto& partition) { return partition.isr.size() == 2; })) << "it copies all of it";
}

}  // namespace
}  // namespace tidemark::sim
