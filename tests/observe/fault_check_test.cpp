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

TEST_F(FaultCheckTest, WhatIsPossibleIsNotRefused) {
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "broker 2"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "kill", "target": "leader of orders-0"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "cut", "target": "link 1<->the active controller"})"), "");
  EXPECT_EQ(refusal(R"({"kind": "request-drop", "target": "clients named billing"})"), "");
}

TEST_F(FaultCheckTest, WhoIsNotThereIsToldUnlessItBeginsLater) {
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "broker 9"})"), "there is no broker 9");
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "broker 9", "trigger": {"afterMs": 5}})"), "there is no broker 9")
      << "nor will there be";
  cluster.topics[0].partitions[0].leader = kNoNode;
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "leader of orders-0"})"), "orders-0 has no leader");
  EXPECT_EQ(refusal(R"({"kind": "pause", "target": "leader of orders-0", "trigger": {"afterMs": 5}})"), "");
  cluster.quorum.leader = NodeId(1);
  EXPECT_EQ(refusal(R"({"kind": "cut", "target": "link 1<->the active controller"})"),
            "both ends of the link are broker 1 now");
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
