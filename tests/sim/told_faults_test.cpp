#include "sim/told_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/sim_platform.h"

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr NodeId kOne{1};
constexpr NodeId kController{4};

const std::vector<faults::Member> kNodes = {
    {.id = kOne}, {.id = NodeId(2)}, {.id = NodeId(3)}, {.id = kController, .isBroker = false}};

/// Processes of three brokers and a controller, and nothing in them.
class ToldFaultsTest : public testing::Test {
 protected:
  ToldFaultsTest() {
    for (const faults::Member& each : kNodes) start(each.id);
  }
  void start(NodeId broker) {
    platform_.createProcess(processOf(broker)).swap(processes_[broker]);
    executors_[broker] = processes_[broker]->createExecutor({.name = "main"});
  }
  std::shared_ptr<platform::SimulatedProcess> process(NodeId broker) { return platform_.alive(processOf(broker)); }
  void kill(NodeId broker) {
    told_.takesDown(broker, faults::Kind::Kill);
    process(broker)->kill("the test kills it");
  }
  /// So many file calls, as far as it gets.
  void makeCalls(NodeId broker, int count) {
    executors_[broker]->post([files = &processes_[broker]->files(), count] {
      for (int i = 0; i < count; ++i) static_cast<void>(files->exists("/a") || files->createDirectories("/a"));
    });
    pass();
  }
  void pass() {
    for (int i = 0; i < 20; ++i) {
      world_.runFor(milliseconds(5));
      told_.look();
    }
  }
  /// Since it was asked last; of numbers the last digit.
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const events::Event& event : told_.take()) {
      EXPECT_LE(event.at, world_.now());
      if (const auto* begun = std::get_if<events::FaultInjected>(&event.payload)) {
        EXPECT_EQ(event.broker, kNoNode);
        lines.push_back(fmt::format("{} {}", begun->fault - ToldFaults::kFirstNumber, begun->target.view()));
      } else if (const auto* over = std::get_if<events::FaultHealed>(&event.payload)) {
        lines.push_back(fmt::format("{} over", over->fault - ToldFaults::kFirstNumber));
      } else {
        lines.push_back(fmt::format("{} of {}", events::nameOf(event.payload), event.broker));
      }
    }
    return lines;
  }

  platform::World world_;
  SimPlatform platform_{world_};
  std::map<NodeId, std::shared_ptr<platform::Process>> processes_;
  std::map<NodeId, std::shared_ptr<platform::Executor>> executors_;
  ToldFaults told_{world_, platform_, kNodes, true};
};

TEST_F(ToldFaultsTest, WhoIsTakenDownIsSoUntilAnotherProcessRuns) {
  kill(kOne);
  EXPECT_THAT(told(), ElementsAre("0 kill broker 1"));
  pass();
  EXPECT_THAT(told(), IsEmpty());
  start(kOne);
  pass();
  EXPECT_THAT(told(), ElementsAre("0 over"));
  told_.takesDown(kOne, faults::Kind::Stop);
  pass();
  EXPECT_THAT(told(), ElementsAre("1 stop broker 1")) << "it takes a while";
  process(kOne)->kill("it has stopped");
  start(kOne);
  pass();
  EXPECT_THAT(told(), ElementsAre("1 over"));
}

TEST_F(ToldFaultsTest, WhoIsAControllerOnlyIsCalledOne) {
  kill(kController);
  EXPECT_THAT(told(), ElementsAre("0 kill controller 4"));
  start(kController);
  pass();
  told_.willCrash(kController, 1);
  process(kController)->crashAtFileCall(1, platform::SimulatedProcess::Crash::Kill);
  makeCalls(kController, 5);
  told_.cutsOff(kController);
  EXPECT_THAT(told(), ElementsAre("0 over", "1 kill controller 4 in a file call", "2 isolate controller 4"));
}

TEST_F(ToldFaultsTest, AStopThatIsRefusedIsOver) {
  told_.takesDown(kOne, faults::Kind::Stop);
  told_.doesNotStop(kOne);
  told_.look();
  EXPECT_THAT(told(), ElementsAre("0 stop broker 1", "0 over"));
}

TEST_F(ToldFaultsTest, APauseEndsWhenItGoesOnOrDies) {
  const auto pause = [this] {
    told_.pauses(kOne);
    process(kOne)->pause();
  };
  pause();
  pass();
  EXPECT_THAT(told(), ElementsAre("0 pause broker 1", "BrokerPaused of 1"));
  process(kOne)->resume();
  pass();
  EXPECT_THAT(told(), ElementsAre("BrokerResumed of 1", "0 over"));
  pause();
  kill(kOne);
  pass();
  EXPECT_THAT(told(), ElementsAre("1 pause broker 1", "BrokerPaused of 1", "2 kill broker 1", "1 over"));
}

TEST_F(ToldFaultsTest, ACrashIsToldOnceItHasComeToPass) {
  told_.willCrash(kOne, 5);
  process(kOne)->crashAtFileCall(5, platform::SimulatedProcess::Crash::Kill);
  makeCalls(kOne, 1);
  EXPECT_THAT(told(), IsEmpty());
  makeCalls(kOne, 20);
  ASSERT_FALSE(process(kOne));
  EXPECT_THAT(told(), ElementsAre("0 kill broker 1 in a file call"));
  start(kOne);
  pass();
  EXPECT_THAT(told(), ElementsAre("0 over"));
  told_.willCrash(kOne, 50);
  process(kOne)->crashAtFileCall(50, platform::SimulatedProcess::Crash::Kill);
  kill(kOne);
  pass();
  EXPECT_THAT(told(), ElementsAre("1 kill broker 1")) << "it has died of something else";
}

TEST_F(ToldFaultsTest, LinksAreBrokenUntilTheyAreMendedWhoeverDoesIt) {
  platform::SimulatedNetwork& network = world_.network();
  told_.cuts("broker-1", {"reader", "broker-2"}, true);
  network.cut("broker-1", "broker-2");
  network.cut("broker-1", "reader");
  told_.cutsOff(NodeId(3));
  network.isolate("broker-3");
  told_.slows("broker-1", {"writer"}, {.minDelay = milliseconds(1), .maxDelay = milliseconds(9)});
  network.setLink("broker-1", "writer", {.minDelay = milliseconds(1), .maxDelay = milliseconds(9)});
  told_.resets("broker-2", {});
  pass();
  EXPECT_THAT(told(), ElementsAre("0 cut link 1<->2", "1 isolate broker 3", "2 delay link 1->clients named writer",
                                  "3 reset link 2<->clients", "3 over"));
  network.heal("broker-1", "broker-2");
  pass();
  EXPECT_THAT(told(), IsEmpty()) << "the reader is cut off";
  network.heal("reader", "broker-1");
  network.setLink("broker-1", "writer", {});
  pass();
  EXPECT_THAT(told(), ElementsAre("0 over", "2 over"));
  network.heal();
  pass();
  EXPECT_THAT(told(), ElementsAre("1 over"));
}

TEST_F(ToldFaultsTest, SnapshotsListThem) {
  const platform::LinkOptions slow{.minDelay = milliseconds(2), .maxDelay = milliseconds(10)};
  told_.slows("broker-1", {"writer", "broker-2"}, slow);
  world_.network().setLink("broker-1", "broker-2", slow);
  told_.pauses(kOne);
  process(kOne)->pause();
  world_.runFor(milliseconds(300));
  told_.look();
  observe::ClusterSnapshot cluster;
  cluster.at = world_.now();
  cluster.brokers.resize(2);
  cluster.brokers[0].id = kOne;
  cluster.brokers[1].id = NodeId(2);
  told_.describe(cluster);
  ASSERT_EQ(cluster.faults.size(), 2u);
  const observe::FaultSnapshot& delay = cluster.faults[0];
  EXPECT_EQ(faults::textOf(delay.fault), "delay link 1->2");
  EXPECT_EQ(delay.fault.delay, milliseconds(6));
  EXPECT_EQ(delay.fault.jitter, milliseconds(4));
  ASSERT_EQ(delay.links.size(), 2u);
  EXPECT_EQ(delay.links[0].to.client, "writer");
  EXPECT_EQ(delay.links[1].to.node, NodeId(2));
  EXPECT_EQ(delay.since, milliseconds(300));
  EXPECT_EQ(cluster.faults[1].broker, kOne);
  for (const observe::FaultSnapshot& fault : cluster.faults) EXPECT_TRUE(faults::check(fault.fault));
  EXPECT_EQ(cluster.brokers[0].state, observe::BrokerState::Paused);
  EXPECT_EQ(cluster.brokers[0].inState, milliseconds(300));
  EXPECT_EQ(cluster.brokers[1].state, observe::BrokerSnapshot().state);
}

TEST_F(ToldFaultsTest, IfNobodyRecordsNothingIsKept) {
  ToldFaults told(world_, platform_, kNodes, false);
  told.pauses(kOne);
  told.willCrash(kOne, 1);
  told.cuts("broker-1", {"broker-2"}, true);
  told.resets("broker-1", {});
  told.takesDown(kOne, faults::Kind::Kill);
  process(kOne)->kill("the test kills it");
  told.look();
  EXPECT_THAT(told.take(), IsEmpty());
  observe::ClusterSnapshot cluster;
  told.describe(cluster);
  EXPECT_THAT(cluster.faults, IsEmpty());
}

}  // namespace
}  // namespace tidemark::sim
