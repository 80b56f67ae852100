#include "observe/fault_check.h"

#include <gtest/gtest.h>

#include "faults/fault_json.h"

namespace tidemark::observe {
namespace {

using faults::Kind;

class FaultCheckTest : public testing::Test {
 protected:
  FaultCheckTest() {
    for (int id = 1; id <= 3; ++id) cluster.brokers.emplace_back().id = NodeId(id);
    for (BrokerSnapshot& broker : cluster.brokers) broker.state = BrokerState::Running;
    TopicSnapshot& topic = cluster.topics.emplace_back();
    topic.name = "orders";
    PartitionSnapshot& partition = topic.partitions.emplace_back();
    partition.index = PartitionIndex(0);
    partition.leader = NodeId(2);
    cluster.quorum.leader = NodeId(3);
  }
  std::string refusal(const char* json) const {
    const auto fault = faults::parseFault(json);
    if (!fault) return "malformed: " + fault.error().message;
    const auto possible = checkFault(*fault, cluster);
    return possible ? "" : possible.error().message;
  }
  ClusterSnapshot cluster;
};

/// What a cluster of so many brokers is told, of which the first `voters` are controllers as well, and of so many
/// controllers behind them.
struct Layout {
  int brokers;
  int voters;
  int separate;
};
constexpr Layout kCombined{.brokers = 3, .voters = 3, .separate = 0};
constexpr Layout kSeparate{.brokers = 2, .voters = 0, .separate = 2};
constexpr Layout kFewVoters{.brokers = 3, .voters = 1, .separate = 0};
constexpr Layout kAlone{.brokers = 1, .voters = 1, .separate = 0};

/// Broker 1 leads orders-0, the last of the controllers is active.
ClusterSnapshot clusterOf(const Layout& layout) {
  ClusterSnapshot cluster;
  for (int id = 1; id <= layout.brokers + layout.separate; ++id) {
    BrokerSnapshot& node = cluster.brokers.emplace_back();
    node.id = NodeId(id);
    node.state = BrokerState::Running;
    node.isBroker = id <= layout.brokers;
    node.isController = !node.isBroker || id <= layout.voters;
    if (node.isController) cluster.quorum.leader = node.id;
  }
  TopicSnapshot& topic = cluster.topics.emplace_back();
  topic.name = "orders";
  PartitionSnapshot& partition = topic.partitions.emplace_back();
  partition.index = PartitionIndex(0);
  partition.leader = NodeId(1);
  return cluster;
}

struct Row {
  Layout layout;
  const char* fault;
  /// Why it can never be; empty: it can.
  const char* refusal;
};

// Each kind at each sort of target: what can be, and what can never be.
constexpr Row kRows[] = {
    // Requests: to whom they are sent.
    {kCombined, R"({"kind":"request-drop","api":"Produce","target":"broker 1"})", ""},
    {kCombined, R"({"kind":"request-drop","api":"Vote","target":"broker 1"})", ""},
    {kCombined, R"({"kind":"request-drop","api":"Vote","target":"leader of orders-0"})", ""},
    {kSeparate, R"({"kind":"request-drop","api":"Produce","target":"broker 1"})", ""},
    {kSeparate, R"({"kind":"request-drop","api":"Vote","target":"controller 3"})", ""},
    {kSeparate, R"({"kind":"request-drop","api":"Fetch","target":"controller 3"})", ""},
    {kSeparate, R"({"kind":"request-drop","target":"controller 3"})", ""},
    {kSeparate, R"({"kind":"request-drop","api":"Produce"})", ""},
    {kSeparate, R"({"kind":"request-drop","api":"Vote","target":"clients named broker"})", ""},
    {kSeparate, R"({"kind":"request-drop","api":"Produce","target":"controller 3"})",
     "controller 3 takes no Produce requests: brokers do"},
    {kSeparate, R"({"kind":"request-error","api":"JoinGroup","error":"NOT_COORDINATOR","target":"controller 4"})",
     "controller 4 takes no JoinGroup requests: brokers do"},
    {kSeparate, R"({"kind":"request-delay","delayMs":1,"api":"BrokerHeartbeat","target":"broker 2"})",
     "broker 2 takes no BrokerHeartbeat requests: controllers do"},
    {kSeparate, R"({"kind":"request-disconnect","api":"Vote","target":"leader of orders-0"})",
     "the leader of orders-0 takes no Vote requests: controllers do"},
    {kSeparate, R"({"kind":"request-drop","api":"Produce","target":"the active controller"})",
     "the active controller takes no Produce requests: brokers do"},
    {kSeparate, R"({"kind":"request-drop","api":"Vote","target":"leader of orders-0","trigger":{"afterMs":9}})",
     "the leader of orders-0 takes no Vote requests: controllers do"},
    {kFewVoters, R"({"kind":"request-drop","api":"Vote","target":"broker 1"})", ""},
    {kFewVoters, R"({"kind":"request-drop","api":"Vote","target":"broker 2"})",
     "broker 2 takes no Vote requests: controllers do"},
    {kFewVoters, R"({"kind":"request-drop","api":"Vote","target":"leader of orders-0"})", ""},
    // Who is called what.
    {kCombined, R"({"kind":"kill","target":"broker 1"})", ""},
    {kCombined, R"({"kind":"kill","target":"the active controller"})", ""},
    {kCombined, R"({"kind":"kill","target":"controller 1"})",
     "node 1 is broker and controller in one process, so that nothing happens to controller 1 alone: write broker 1"},
    {kCombined, R"({"kind":"request-drop","api":"Vote","target":"controller 1"})",
     "node 1 is broker and controller in one process, so that nothing happens to controller 1 alone: write broker 1"},
    {kSeparate, R"({"kind":"kill","target":"controller 3"})", ""},
    {kSeparate, R"({"kind":"kill","target":"the active controller"})", ""},
    {kSeparate, R"({"kind":"kill","target":"controller 1"})",
     "there is no controller 1: node 1 is a broker, write broker 1"},
    {kSeparate, R"({"kind":"kill","target":"broker 3"})",
     "there is no broker 3: node 3 is a controller, write controller 3"},
    {kFewVoters, R"({"kind":"pause","target":"controller 2","trigger":{"afterMs":9}})",
     "there is no controller 2: node 2 is a broker, write broker 2"},
    {kSeparate, R"({"kind":"isolate","target":"broker 4"})",
     "there is no broker 4: node 4 is a controller, write controller 4"},
    {kSeparate, R"({"kind":"bridge","target":"controller 4"})", ""},
    // Who is not there, whatever it is.
    {kSeparate, R"({"kind":"kill","target":"broker 9"})",
     "there is no broker 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"kill","target":"controller 9"})",
     "there is no controller 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"slow","target":"controller 9","delayMs":1})",
     "there is no controller 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"slow-disk","target":"broker 9","delayMs":1})",
     "there is no broker 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"bit-flip","target":"broker 9","path":"*.log"})",
     "there is no broker 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"clock-drift","target":"broker 9","rate":2})",
     "there is no broker 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"request-drop","target":"broker 9"})",
     "there is no broker 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"cut","target":"link 1->9"})",
     "there is no node 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kAlone, R"({"kind":"cut","target":"link 1->2"})", "there is no node 2: the only node is broker 1"},
    {kSeparate, R"({"kind":"cut","target":"link 1->broker 9"})",
     "there is no broker 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"cut","target":"link controller 9->1"})",
     "there is no controller 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"halves","left":[1],"right":[9]})",
     "there is no node 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"kill","target":"leader of orders-7"})", "there is no partition orders-7"},
    {kSeparate, R"({"kind":"kill","target":"leader of orders-7","trigger":{"afterMs":9}})", ""},
    // Links: at which listener.
    {kCombined, R"({"kind":"cut","target":"link controller 1<->controller 2"})", ""},
    {kCombined, R"({"kind":"hold","target":"link controller 1->broker 2"})", ""},
    {kSeparate, R"({"kind":"delay","delayMs":1,"target":"link 1<->4"})", ""},
    {kSeparate, R"({"kind":"reset","target":"link broker 1->controller 3"})", ""},
    {kSeparate, R"({"kind":"throttle","bytesPerSecond":1,"target":"link controller 3->broker 1"})", ""},
    {kSeparate, R"({"kind":"cut","target":"link clients->controller 3"})", ""},
    {kSeparate, R"({"kind":"cut","target":"link 2->controller 1"})",
     "broker 1 is no controller, and has no listener of one"},
    {kSeparate, R"({"kind":"hold","target":"link broker 3->1"})",
     "controller 3 is no broker, and has no listener of one"},
    {kSeparate, R"({"kind":"cut","target":"link 2->controller leader of orders-0"})",
     "the leader of orders-0 is no controller, and has no listener of one"},
    {kFewVoters, R"({"kind":"cut","target":"link 2->controller leader of orders-0"})", ""},
    {kCombined, R"({"kind":"cut","target":"link 1->leader of orders-0"})", "both ends of the link are broker 1 now"},
    {kCombined, R"({"kind":"cut","target":"link 1->leader of orders-0","trigger":{"afterMs":9}})", ""},
    // Shapes: somebody must be cut off from somebody.
    {kAlone, R"({"kind":"isolate","target":"broker 1"})", ""},
    {kAlone, R"({"kind":"isolate","target":"broker 1","clients":false})",
     "there is nobody to isolate broker 1 from: it is the only node, and clients are let in"},
    {kCombined, R"({"kind":"isolate","target":"broker 1","clients":false})", ""},
    {kSeparate, R"({"kind":"ring"})", "a ring of majorities needs an odd number of brokers from 5 on, there are 4"},
    {kAlone, R"({"kind":"bridge","target":"broker 1"})", "a bridge needs at least 3 brokers, there are 1"},
    // Events: who tells them, and of what.
    {kSeparate, R"({"kind":"ring","trigger":{"event":"IsrShrunk","broker":9}})",
     "there is no node 9: the nodes are brokers 1, 2 and controllers 3, 4"},
    {kSeparate, R"({"kind":"kill","target":"broker 1","trigger":{"event":"IsrShrunk","broker":2}})", ""},
    {kSeparate, R"({"kind":"kill","target":"broker 1","trigger":{"event":"IsrShrunk","broker":3}})",
     "controller 3 never tells IsrShrunk: brokers do"},
    {kSeparate, R"({"kind":"kill","target":"broker 1","trigger":{"event":"ElectionStarted","broker":3}})", ""},
    {kSeparate, R"({"kind":"kill","target":"broker 1","trigger":{"event":"ElectionStarted","broker":1}})",
     "broker 1 never tells ElectionStarted: controllers do"},
    {kSeparate, R"({"kind":"kill","target":"broker 1","trigger":{"event":"BrokerDown","broker":4}})", ""},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"LeaderElected","broker":2}})", ""},
    {kFewVoters, R"({"kind":"kill","target":"broker 1","trigger":{"event":"LeaderElected","broker":2}})",
     "broker 2 never tells LeaderElected: controllers do"},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"FaultHealed","broker":2}})",
     "malformed: kill: the lab tells FaultHealed, and no broker: leave \"broker\" out"},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"FaultHealed"}})", ""},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"ConfigChanged"}})",
     "malformed: kill: nobody tells ConfigChanged"},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"IsrShrunk","partition":"orders-0"}})", ""},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"BrokerDown","partition":"orders-0"}})",
     "malformed: kill: BrokerDown is about no partition: leave \"partition\" out"},
    {kCombined, R"({"kind":"kill","target":"broker 1","trigger":{"event":"TopicCreated","partition":"orders-0"}})",
     "malformed: kill: TopicCreated is about no partition: leave \"partition\" out"},
    // The metadata log is no topic like others.
    {kCombined, R"({"kind":"request-drop","api":"Vote","topic":"__cluster_metadata","partition":0})", ""},
    {kCombined, R"({"kind":"request-drop","topic":"__cluster_metadata","partition":1})",
     "malformed: request-drop: __cluster_metadata has one partition, 0"},
    {kCombined,
     R"({"kind":"kill","target":"broker 1","trigger":{"event":"BatchAppended","partition":"__cluster_metadata-2"}})",
     "malformed: kill: __cluster_metadata has one partition, 0"},
    {kCombined, R"({"kind":"kill","target":"leader of __cluster_metadata-0"})",
     "malformed: kill: who leads __cluster_metadata is called the active controller"},
    {kCombined, R"({"kind":"cut","target":"link 1->leader of __cluster_metadata-0"})",
     "malformed: cut: who leads __cluster_metadata is called the active controller"},
};

TEST(FaultTable, WhatCanNeverBeIsRefusedWithTheReasonAndNothingElse) {
  for (const Row& row : kRows) {
    const auto fault = faults::parseFault(row.fault);
    const auto possible = fault ? checkFault(*fault, clusterOf(row.layout)) : fail(fault.error());
    const std::string said = possible ? "" : (fault ? "" : "malformed: ") + possible.error().message;
    EXPECT_EQ(said, row.refusal) << row.layout.brokers << " brokers, " << row.layout.voters
                                 << " of them controllers, and " << row.layout.separate << ": " << row.fault;
  }
}

TEST(FaultTable, WhoIsItNowDecidesOnlyAboutWhatBeginsNow) {
  ClusterSnapshot cluster = clusterOf(kFewVoters);
  cluster.topics[0].partitions[0].leader = NodeId(2);
  const auto refusal = [&](const char* json) {
    const auto possible = checkFault(*faults::parseFault(json), cluster);
    return possible ? "" : possible.error().message;
  };
  EXPECT_EQ(refusal(R"({"kind":"request-drop","api":"Vote","target":"leader of orders-0"})"),
            "the leader of orders-0, broker 2 now, takes no Vote requests: controllers do");
  EXPECT_EQ(refusal(R"({"kind":"request-drop","api":"Vote","target":"leader of orders-0","trigger":{"afterMs":9}})"),
            "");
  EXPECT_EQ(refusal(R"({"kind":"cut","target":"link 3->controller leader of orders-0"})"),
            "the leader of orders-0, broker 2 now, is no controller, and has no listener of one");
}

TEST_F(FaultCheckTest, WhatIsPossibleIsNotRefused) {
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "broker 2"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "kill", "target": "leader of orders-0"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "cut", "target": "link 1<->the active controller"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "request-drop", "target": "clients named billing"})"), "");
}

TEST_F(FaultCheckTest, WhoIsNotThereIsToldUnlessItBeginsLater) {
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "broker 9"})"),
            "there is no broker 9: the nodes are brokers 1, 2, 3");
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "broker 9", "trigger": {"afterMs": 5}})"),
            "there is no broker 9: the nodes are brokers 1, 2, 3")
      << "nor will there be";
  cluster.topics[0].partitions[0].leader = kNoNode;
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "leader of orders-0"})"), "orders-0 has no leader");
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "leader of orders-0", "trigger": {"afterMs": 5}})"), "");
  cluster.quorum.leader = NodeId(1);
  EXPECT_EQ(refusal(R"({"kind": "cut", "target": "link 1<->the active controller"})"),
            "both ends of the link are broker 1 now");
}

TEST_F(FaultCheckTest, TheClockOfWhoIsDownDoesNotJump) {
  constexpr const char* kJump = R"({"kind": "clock-jump", "target": "broker 2", "offsetMs": 5})";
  EXPECT_EQ(refusal(kJump), "");
  cluster.brokers[1].state = BrokerState::Stopped;
  EXPECT_EQ(refusal(kJump), "broker 2 does not run, and its clocks are right when it starts: restart it first");
  EXPECT_EQ(refusal(R"({"kind": "clock-offset", "target": "broker 2", "offsetMs": 5})"), "")
      << "it will be wrong when the broker comes back";
  EXPECT_TRUE(checkKind(Kind::ClockJump, cluster).has_value());
  for (BrokerSnapshot& broker : cluster.brokers) broker.state = BrokerState::Killed;
  EXPECT_FALSE(checkKind(Kind::ClockJump, cluster).has_value());
}

TEST_F(FaultCheckTest, AControllerThatIsNothingElseIsCalledOne) {
  cluster.brokers[2].isBroker = false;
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "controller 3"})"), "");
  cluster.brokers[2].state = BrokerState::Killed;
  EXPECT_EQ(refusal(R"({"kind": "kill", "target": "controller 3"})"), "controller 3 was killed: restart it");
  EXPECT_EQ(refusal(R"({"kind": "kill", "target": "the active controller"})"), "controller 3 was killed: restart it");
}

TEST_F(FaultCheckTest, TheStateOfABrokerDecidesWhatCanBeDoneToIt) {
  cluster.brokers[1].state = BrokerState::Killed;
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "leader of orders-0"})"), "broker 2 was killed: restart it");
  EXPECT_EQ(refusal(R"({"kind": "kill", "target": "broker 2"})"), "broker 2 was killed: restart it");
  EXPECT_EQ(refusal(R"({"kind": "wipe", "target": "broker 2"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "wipe", "target": "broker 1"})"), "broker 1 holds its files: kill or stop it first");
  EXPECT_EQ(refusal(R"({"kind": "full-disk", "target": "broker 2"})"), "")
      << "it will be full when the broker comes back";
  cluster.brokers[0].state = BrokerState::Paused;
  EXPECT_EQ(refusal(R"({"kind": "stop", "target": "broker 1"})"), "broker 1 is paused: resume it first");
  EXPECT_EQ(refusal(R"({"kind": "kill", "target": "broker 1"})"), "");
}

TEST_F(FaultCheckTest, AKindIsPossibleIfItIsForAnybody) {
  EXPECT_TRUE(checkKind(Kind::Bridge, cluster).has_value());
  EXPECT_FALSE(checkKind(Kind::Ring, cluster).has_value());
  EXPECT_FALSE(checkKind(Kind::Wipe, cluster).has_value());
  cluster.brokers[2].state = BrokerState::Stopped;
  EXPECT_TRUE(checkKind(Kind::Wipe, cluster).has_value());
  EXPECT_TRUE(checkKind(Kind::Pause, cluster).has_value());
  for (BrokerSnapshot& broker : cluster.brokers) broker.state = BrokerState::Stopped;
  EXPECT_EQ(checkKind(Kind::Pause, cluster).error().message, "broker 1 is stopped: restart it");
  cluster.brokers.clear();
  EXPECT_EQ(checkKind(Kind::Delay, cluster).error().message, "no cluster is running");
}

}  // namespace
}  // namespace tidemark::observe
