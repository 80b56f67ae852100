// What the lab's own hands do to a cluster, and what is told of it.
#include <gmock/gmock.h>

#include <algorithm>

#include <fmt/format.h>

#include "sim/lab.h"

namespace tidemark::sim {
namespace {

class ClusterTest : public testing::Test {
 protected:
  // Somebody looks: events are gathered.
  ClusterTest() {
    lab.cluster().onChange([] {});
  }
  ~ClusterTest() override { lab.cluster().onChange({}); }
  static observe::LaunchOptions options() {
    observe::LaunchOptions options;
    options.firstTopic =
        observe::TopicOptions{.name = "orders", .partitions = 1, .replicationFactor = 3, .configs = {}};
    return options;
  }
  void launch() {
    const auto launched = lab.perform([&](auto done) { lab.cluster().launch(options(), std::move(done)); });
    ASSERT_TRUE(launched) << launched.error().message;
  }
  template <class Command>
  void expectDone(Command&& command) {
    const auto done = lab.perform(std::forward<Command>(command));
    EXPECT_TRUE(done) << done.error().message;
  }
  /// Those among `names` that happened since the last call, with the broker they are about.
  std::vector<std::string> told(const std::vector<std::string_view>& names) {
    lab.world().runFor(std::chrono::milliseconds(100));
    lab.cluster().snapshot();
    lab.world().runFor(std::chrono::milliseconds(100));
    std::vector<std::string> lines;
    const observe::EventBatch batch = lab.cluster().drainEvents(last, SIZE_MAX);
    last = batch.last;
    for (const observe::ObservedEvent& event : batch.events) {
      const std::string_view name = events::nameOf(event.event.payload);
      if (std::ranges::find(names, name) == names.end()) continue;
      const NodeId node = std::visit(
          []<class Kind>(const Kind& kind) {
            if constexpr (requires { kind.node; })
              return kind.node;
            else
              return kNoNode;
          },
          event.event.payload);
      lines.push_back(node == kNoNode ? fmt::format("{} {}", name, event.topic) : fmt::format("{} {}", name, node));
    }
    return lines;
  }

  SimulatedLab lab{{.seed = 1}};
  uint64_t last = 0;
};

TEST_F(ClusterTest, WhatIsDoneToABrokerIsTold) {
  launch();
  EXPECT_THAT(told({"BrokerStarted", "TopicCreated", "LeaderElected"}),
              testing::UnorderedElementsAre("BrokerStarted 1", "BrokerStarted 2", "BrokerStarted 3",
                                            "TopicCreated orders", "LeaderElected orders"));
  const std::vector<std::string_view> kinds = {"BrokerStarted", "BrokerDown", "FaultInjected", "FaultHealed"};
  expectDone([&](auto done) { lab.cluster().killBroker(NodeId(2), std::move(done)); });
  EXPECT_THAT(told(kinds), testing::ElementsAre("FaultInjected 2", "BrokerDown 2"));
  expectDone([&](auto done) { lab.cluster().restartBroker(NodeId(2), std::move(done)); });
  EXPECT_THAT(told(kinds), testing::ElementsAre("FaultHealed 2", "BrokerStarted 2"));
  expectDone([&](auto done) { lab.cluster().pauseBroker(NodeId(3), std::move(done)); });
  expectDone([&](auto done) { lab.cluster().resumeBroker(NodeId(3), std::move(done)); });
  EXPECT_THAT(told(kinds), testing::ElementsAre("FaultInjected 3", "FaultHealed 3"));
  expectDone([&](auto done) { lab.cluster().stopBroker(NodeId(3), std::move(done)); });
  EXPECT_THAT(told(kinds), testing::ElementsAre("BrokerDown 3")) << "nothing is broken";
}

TEST_F(ClusterTest, ALaunchThatIsNotWantedAnyMoreIsAnsweredAndAnotherCanFollow) {
  std::optional<Result<void>> answer;
  lab.cluster().launch(options(), [&answer](Result<void> result) { answer = std::move(result); });
  expectDone([&](auto done) { lab.cluster().shutdown(std::move(done)); });
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().message, "the launch was cancelled");
  launch();
}

TEST_F(ClusterTest, WhoWaitsForABrokerHearsOfTheEndOfTheCluster) {
  launch();
  std::optional<Result<void>> answer;
  lab.cluster().stopBroker(NodeId(1), [&answer](Result<void> result) { answer = std::move(result); });
  expectDone([&](auto done) { lab.cluster().shutdown(std::move(done)); });
  lab.world().runFor(std::chrono::milliseconds(100));
  EXPECT_TRUE(answer.has_value());
}

TEST_F(ClusterTest, AFolderTellsWhichClusterItHolds) {
  observe::LaunchOptions there = options();
  there.dataFolder = "/home/lab/cluster";
  there.port = 20'000;
  EXPECT_EQ(lab.cluster().stored(there.dataFolder)->has_value(), false);
  expectDone([&](auto done) { lab.cluster().launch(there, std::move(done)); });
  expectDone([&](auto done) { lab.cluster().shutdown(std::move(done)); });
  const auto stored = lab.cluster().stored(there.dataFolder);
  ASSERT_TRUE(stored && *stored);
  EXPECT_EQ((*stored)->brokers, 3);
  EXPECT_EQ((*stored)->host, "127.0.0.1");
  EXPECT_THAT((*stored)->ports, testing::ElementsAre(20'000, 20'001, 20'002, 20'100, 20'101, 20'102));
  const auto above = lab.cluster().stored("/home/lab");
  ASSERT_FALSE(above);
  EXPECT_THAT(above.error().message, testing::HasSubstr("neither empty nor a cluster"));
}

TEST_F(ClusterTest, BrokersThatAreNoControllersFollowThoseThatAre) {
  observe::LaunchOptions mixed = options();
  mixed.brokers = 4;
  mixed.controllers = 3;
  expectDone([&](auto done) { lab.cluster().launch(mixed, std::move(done)); });
  EXPECT_NE(lab.cluster().node(NodeId(3))->controller(), nullptr);
  EXPECT_EQ(lab.cluster().node(NodeId(4))->controller(), nullptr);
  for (int i = 1; i <= 4; ++i)
    EXPECT_TRUE(lab.cluster().node(NodeId(i))->broker()->image()->cluster.isActive(NodeId(4)))
        << "as broker " << i << " sees it";
}

TEST_F(ClusterTest, AClusterOfEightIsRefused) {
  observe::LaunchOptions many = options();
  many.brokers = 8;
  const auto launched = lab.perform([&](auto done) { lab.cluster().launch(many, std::move(done)); });
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().message, "8 brokers cannot be launched: it can be 1 to 7");
}

TEST_F(ClusterTest, ASilentBrokerIsToldWithTheTimeItHasLeft) {
  launch();
  const NodeId controller = lab.cluster().node(NodeId(1))->shared().raft->leaderAndEpoch().leader;
  const NodeId silent(controller == NodeId(3) ? 2 : 3);
  expectDone([&](auto done) { lab.cluster().pauseBroker(silent, std::move(done)); });
  EXPECT_TRUE(lab.awaitCluster([&](const observe::ClusterSnapshot& snapshot) {
    const auto* broker = observe::findBroker(snapshot, silent);
    return broker != nullptr && broker->fencedIn && broker->sinceHeartbeat > std::chrono::seconds(1) &&
           *broker->fencedIn + *broker->sinceHeartbeat == std::chrono::milliseconds(1500);
  }));
}

}  // namespace
}  // namespace tidemark::sim
