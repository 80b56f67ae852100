#include "broker/leader_hint.h"

#include <gtest/gtest.h>

#include "protocol/generated/produce_response.h"

namespace tidemark::broker {
namespace {

metadata::Image imageOf(bool fenced) {
  metadata::Image image;
  metadata::BrokerRegistration broker;
  broker.id = NodeId(2);
  broker.endpoints = {{.name = "EXTERNAL", .host = "outside", .port = 9192},
                      {.name = "INTERNAL", .host = "inside", .port = 9092}};
  broker.fenced = fenced;
  image.cluster.brokers.set(broker.id, std::make_shared<const metadata::BrokerRegistration>(broker));
  return image;
}

metadata::PartitionRegistration ledByTwo() {
  metadata::PartitionRegistration registration;
  registration.leader = NodeId(2);
  registration.leaderEpoch = LeaderEpoch(7);
  return registration;
}

// A client outside cannot reach where brokers reach each other.
TEST(LeaderHint, NamesTheLeaderAtTheListenerOverWhichIsAsked) {
  const metadata::Image image = imageOf(false);
  const auto registration = ledByTwo();
  protocol::ProduceResponse response;
  protocol::ProduceResponse::PartitionProduceResponse partition;
  addLeaderHint(image, &registration, "EXTERNAL", partition, response);
  addLeaderHint(image, &registration, "EXTERNAL", partition, response);
  EXPECT_EQ(partition.currentLeader.leaderId, 2);
  EXPECT_EQ(partition.currentLeader.leaderEpoch, 7);
  ASSERT_EQ(response.nodeEndpoints.size(), 1u);
  EXPECT_EQ(response.nodeEndpoints[0].host, "outside");
  EXPECT_EQ(response.nodeEndpoints[0].port, 9192);
}

TEST(LeaderHint, NamesNoPlaceWhereNobodyServes) {
  const auto registration = ledByTwo();
  protocol::ProduceResponse response;
  protocol::ProduceResponse::PartitionProduceResponse partition;
  addLeaderHint(imageOf(true), &registration, "EXTERNAL", partition, response);
  addLeaderHint(imageOf(false), &registration, "CONTROLLER", partition, response);
  EXPECT_EQ(partition.currentLeader.leaderId, 2);
  EXPECT_TRUE(response.nodeEndpoints.empty());
}

}  // namespace
}  // namespace tidemark::broker
