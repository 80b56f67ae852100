#include "cluster/topology.h"

#include <gmock/gmock.h>

#include "broker/listeners.h"

namespace tidemark::cluster {
namespace {

using testing::HasSubstr;

Topology topology(const std::string& host = "127.0.0.1") {
  Topology topology{.clusterId = "MkU3OEVBNTcwNTJENDM2Qg", .host = host, .advertisedHost = host, .nodes = {}};
  for (int i = 1; i <= 3; ++i) {
    std::array<uint8_t, 16> id{};
    id[15] = static_cast<uint8_t>(i);
    topology.nodes.push_back({.id = NodeId(i),
                              .port = static_cast<uint16_t>(19091 + i),
                              .controllerPort = static_cast<uint16_t>(19191 + i),
                              .directoryId = Uuid(id)});
  }
  return topology;
}

TEST(Topology, IsReadAsItWasWritten) {
  const std::string text = encodeTopology(topology("host-a"));
  const auto again = decodeTopology(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(encodeTopology(*again), text);
  EXPECT_EQ(again->bootstrap(), "host-a:19092");
}

TEST(Topology, AHostThatIsNoUtf8IsWrittenWithoutHarm) {
  EXPECT_TRUE(decodeTopology(encodeTopology(topology("host-\xff"))));
}

TEST(Topology, ADamagedFileIsNamedWithWhatIsWrong) {
  const std::string good = encodeTopology(topology());
  const auto reason = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto decoded = decodeTopology(text);
    EXPECT_FALSE(decoded) << to;
    EXPECT_EQ(decoded ? ErrorCode::None : decoded.error().code, ErrorCode::InvalidConfig);
    return decoded ? std::string() : decoded.error().message;
  };
  EXPECT_THAT(reason("{", "["), HasSubstr("JSON object"));
  EXPECT_THAT(reason("\"version\": 1", "\"version\": 2"), HasSubstr("version 2"));
  EXPECT_THAT(reason("19092", "70000"), HasSubstr("70000"));
  EXPECT_THAT(reason("19092", "1e999"), HasSubstr("JSON object"));
  EXPECT_THAT(reason("19092", "18446744073709551615"),
              HasSubstr("\"port\" is 18446744073709551615, it can be 1 to 65535"));
  EXPECT_THAT(reason("\"version\": 1", "\"version\": 18446744073709551615"),
              HasSubstr("\"version\" is 18446744073709551615"));
  EXPECT_THAT(reason("19192", "\"x\""), HasSubstr("controllerPort"));
  EXPECT_THAT(reason("\"clusterId\"", "\"cluster\""), HasSubstr("clusterId"));
  EXPECT_THAT(reason("\"nodes\"", "\"brokers\""), HasSubstr("nodes"));
  for (size_t length = 0; length + 2 < good.size(); ++length)
    EXPECT_FALSE(decodeTopology(good.substr(0, length))) << length;
}

TEST(Topology, GivesEachNodeItsConfiguration) {
  const Topology three = topology();
  const auto config = nodeConfig(three, three.nodes[1], "/data", labSettings(3, {{"num.io.threads", "7"}}));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->nodeId(), NodeId(2));
  EXPECT_TRUE(config->isBroker());
  EXPECT_TRUE(config->isController());
  EXPECT_EQ(config->logDirs(), std::vector<std::string>{"/data/broker-2"});
  EXPECT_EQ(config->quorumBootstrapServers().size(), 3u);
  EXPECT_EQ(config->getInt("num.io.threads"), 7) << "--set has the last word";
  EXPECT_EQ(config->getInt("controller.quorum.append.linger.ms"), 0) << "of the lab's profile";
}

TEST(Topology, ANodeThatIsNoControllerOnlyKnowsThem) {
  Topology mixed = topology();
  mixed.nodes[2].isController = false;
  const auto again = decodeTopology(encodeTopology(mixed));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->voters().size(), 2u);
  const auto config = nodeConfig(*again, again->nodes[2], "/data", {});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->isBroker());
  EXPECT_FALSE(config->isController());
  EXPECT_EQ(config->quorumBootstrapServers().size(), 2u);
  for (NodePlace& node : mixed.nodes) node.isController = false;
  EXPECT_FALSE(decodeTopology(encodeTopology(mixed))) << "nobody leads it";
}

TEST(Topology, AControllerOfItsOwnIsNoBroker) {
  Topology apart = topology();
  apart.nodes[0].isController = apart.nodes[1].isController = false;
  apart.nodes[2].isBroker = false;
  const auto again = decodeTopology(encodeTopology(apart));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->brokers(), 2u);
  EXPECT_EQ(again->voters().size(), 1u);
  const auto config = nodeConfig(*again, again->nodes[2], "/data", labSettings(2, {}));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->isBroker());
  EXPECT_TRUE(config->isController());
  EXPECT_EQ(config->listeners().size(), 1u);
  const auto refused = [&](NodePlace& node) {
    const NodePlace before = node;
    node.isBroker = node.isController = false;
    EXPECT_FALSE(decodeTopology(encodeTopology(apart)))
        << "it is nothing, or nobody tells clients where the cluster is";
    node = before;
  };
  refused(apart.nodes[1]);
  apart.nodes[0].isController = true;
  apart.nodes[0].isBroker = false;
  EXPECT_FALSE(decodeTopology(encodeTopology(apart))) << "the bootstrap address is that of the first";
}

TEST(Topology, GivesEachNodeAsManyLogDirectoriesAsWereAskedFor) {
  Topology two = topology();
  EXPECT_THAT(encodeTopology(two), testing::Not(HasSubstr("logDirectories"))) << "as before there were several";
  two.logDirectories = 2;
  const auto again = decodeTopology(encodeTopology(two));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->logDirectories, 2);
  const auto config = nodeConfig(*again, again->nodes[1], "/data", {});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->logDirs(), (std::vector<std::string>{"/data/broker-2", "/data/broker-2.disk-2"}));
  EXPECT_EQ(config->metadataLogDir(), "/data/broker-2");
}

TEST(Topology, AnIPv6AddressIsBracketedWhereItMustBe) {
  const Topology six = topology("::1");
  EXPECT_EQ(six.bootstrap(), "[::1]:19092");
  const auto config = nodeConfig(six, six.nodes[0], "/data", {});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listeners()[0].host, "::1");
  Topology every = topology("::");
  every.advertisedHost = "lab-machine";
  const auto both = nodeConfig(every, every.nodes[0], "/data", {});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(broker::bindHost(both->listeners()[0].host), "")
      << "every address, IPv4 as well, as from a configuration file";
  EXPECT_EQ(broker::bindHost("::1"), "::1");
  EXPECT_EQ(both->advertisedListeners()[0].host, "lab-machine");
}

}  // namespace
}  // namespace tidemark::cluster
