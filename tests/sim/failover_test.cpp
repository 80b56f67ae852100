#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

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

}  // namespace
}  // namespace tidemark::sim
