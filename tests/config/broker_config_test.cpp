#include "config/broker_config.h"

#include <gmock/gmock.h>

#include "config/config_table.h"

namespace tidemark::config {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

ConfigMap combined() {
  return {{"process.roles", "broker,controller"},
          {"node.id", "1"},
          {"controller.listener.names", "CONTROLLER"},
          {"listeners", "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"},
          {"controller.quorum.voters", "1@127.0.0.1:9093,2@[::1]:9193"},
          {"log.dirs", "/a,/b"}};
}

std::string errorWith(std::string key, std::string value) {
  ConfigMap map = combined();
  map[key] = value;
  const Result<BrokerConfig> config = BrokerConfig::create(map);
  return config ? "no error" : config.error().message;
}

TEST(BrokerConfig, CordonedDirectoriesAreSomeOfItsOwn) {
  const BrokerConfig config = *BrokerConfig::create(combined());
  EXPECT_THAT(config.cordonedLogDirs(), ElementsAre());
  const auto dynamic = [&](const std::string& value) {
    return config.withDynamic({{"cordoned.log.dirs", value}}, {}).cordonedLogDirs();
  };
  EXPECT_THAT(dynamic("/b,/elsewhere"), ElementsAre("/b"));
  EXPECT_THAT(dynamic("*"), ElementsAre("/a", "/b"));
  EXPECT_EQ(errorWith("cordoned.log.dirs", "/b"), "no error");
  EXPECT_EQ(errorWith("cordoned.log.dirs", "*"), "no error");
  EXPECT_THAT(errorWith("cordoned.log.dirs", "/b,/c"), HasSubstr("/c for configuration cordoned.log.dirs"));
  EXPECT_THAT(errorWith("cordoned.log.dirs", "*,/b"), HasSubstr("a single *"));
}

TEST(BrokerConfig, ReadsACombinedNode) {
  const Result<BrokerConfig> config = BrokerConfig::create(combined());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->nodeId(), NodeId(1));
  EXPECT_TRUE(config->isBroker());
  EXPECT_TRUE(config->isController());
  EXPECT_THAT(config->listeners(), ElementsAre(Listener{"PLAINTEXT", "127.0.0.1", 9092, SecurityProtocol::Plaintext},
                                               Listener{"CONTROLLER", "127.0.0.1", 9093, SecurityProtocol::Plaintext}));
  EXPECT_THAT(config->advertisedListeners(),
              ElementsAre(Listener{"PLAINTEXT", "127.0.0.1", 9092, SecurityProtocol::Plaintext}));
  EXPECT_THAT(config->controllerListeners(),
              ElementsAre(Listener{"CONTROLLER", "127.0.0.1", 9093, SecurityProtocol::Plaintext}));
  EXPECT_EQ(config->interBrokerListenerName(), "PLAINTEXT");
  EXPECT_THAT(config->quorumVoters(),
              ElementsAre(QuorumAddress{NodeId(1), "127.0.0.1", 9093}, QuorumAddress{NodeId(2), "::1", 9193}));
  EXPECT_THAT(config->logDirs(), ElementsAre("/a", "/b"));
  EXPECT_EQ(config->metadataLogDir(), "/a");
  EXPECT_EQ(config->getInt("num.io.threads"), 8);
  EXPECT_EQ(config->getMs("broker.session.timeout.ms"), milliseconds(9000));
  EXPECT_EQ(config->rack(), std::nullopt);
}

TEST(BrokerConfig, AdvertisedListenersMayDiffer) {
  ConfigMap map = combined();
  map["listeners"] = "INSIDE://:9092,OUTSIDE://0.0.0.0:9094,CONTROLLER://h:9093";
  map["advertised.listeners"] = "INSIDE://inner:9092,OUTSIDE://outer:19094";
  map["listener.security.protocol.map"] = "INSIDE:PLAINTEXT,OUTSIDE:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT";
  map["inter.broker.listener.name"] = "INSIDE";
  const Result<BrokerConfig> config = BrokerConfig::create(map);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->advertisedListeners(),
              ElementsAre(Listener{"INSIDE", "inner", 9092, SecurityProtocol::Plaintext},
                          Listener{"OUTSIDE", "outer", 19094, SecurityProtocol::SaslPlaintext}));
  EXPECT_EQ(config->controllerListeners().size(), 1u);
  EXPECT_EQ(config->protocolOf("OUTSIDE"), SecurityProtocol::SaslPlaintext);
}

TEST(BrokerConfig, NamesKeyValueAndReason) {
  EXPECT_EQ(errorWith("log.segment.bytes", "0"),
            "Invalid value 0 for configuration log.segment.bytes: Value must be at least 1048576");
  EXPECT_THAT(errorWith("listeners", "PLAINTEXT:9092"),
              HasSubstr("Invalid value PLAINTEXT:9092 for configuration listeners"));
  EXPECT_THAT(errorWith("listeners", "PLAINTEXT://h:1,PLAINTEXT://h:2"), HasSubstr("different name"));
  EXPECT_THAT(errorWith("listeners", "PLAINTEXT://h:1,CONTROLLER://h:1"), HasSubstr("different port"));
  EXPECT_THAT(errorWith("listeners", "FOO://h:1,CONTROLLER://h:2"),
              HasSubstr("No security protocol defined for listener FOO"));
  EXPECT_THAT(errorWith("controller.quorum.voters", "127.0.0.1:9093"), HasSubstr("{id}@host:port"));
  EXPECT_THAT(errorWith("controller.quorum.voters", "5@h:1"), HasSubstr("the node id 1 must be included"));
  EXPECT_THAT(errorWith("process.roles", "broker"), HasSubstr("must not be included in the set of voters"));
  EXPECT_THAT(errorWith("process.roles", "zookeeper"), HasSubstr("String must be one of: broker, controller"));
  EXPECT_THAT(errorWith("inter.broker.listener.name", "CONTROLLER"), HasSubstr("The valid options based on"));
  EXPECT_THAT(errorWith("advertised.listeners", "PLAINTEXT://0.0.0.0:9092"), HasSubstr("nonroutable meta-address"));
  EXPECT_THAT(errorWith("replica.lag.time.max.ms", "100"),
              HasSubstr("Invalid value 500 for configuration replica.fetch.wait"));
  EXPECT_THAT(errorWith("log.retention.hours", "0"),
              HasSubstr("Invalid value 0 for configuration log.retention.hours"));
  EXPECT_THAT(errorWith("socket.send.buffer.bytes", "0"),
              HasSubstr("Invalid value 0 for configuration socket.send.buffer.bytes: It must be -1"));
  EXPECT_THAT(errorWith("socket.receive.buffer.bytes", "-2"), HasSubstr("at least 1"));
  EXPECT_THAT(errorWith("connections.max.idle.ms", "0"),
              HasSubstr("configuration connections.max.idle.ms: It must be"));
  EXPECT_EQ(errorWith("connections.max.idle.ms", "-1"), "no error");
  EXPECT_THAT(errorWith("broker.id", "2"), HasSubstr("same value as `broker.id`"));
}

TEST(BrokerConfig, MissesWhatIsRequired) {
  for (const char* key : {"process.roles", "node.id", "controller.listener.names"}) {
    ConfigMap map = combined();
    map.erase(key);
    EXPECT_EQ(BrokerConfig::create(map).error().message,
              "Missing required configuration \"" + std::string(key) + "\" which has no default value.");
  }
}

TEST(BrokerConfig, KeepsUnknownKeys) {
  ConfigMap map = combined();
  map["my.plugin.key"] = "x";
  map["listener.name.plaintext.ssl.key.password"] = "y";
  EXPECT_THAT(BrokerConfig::create(map)->unknownKeys(), ElementsAre("my.plugin.key"));
}

TEST(BrokerConfig, DynamicValuesCoverTheFileWhereTheKeyAllows) {
  const BrokerConfig before = *BrokerConfig::create(combined());
  const BrokerConfig after = before.withDynamic({{"num.io.threads", "3"}, {"node.id", "9"}},
                                                {{"num.io.threads", "5"}, {"num.network.threads", "0"}});
  EXPECT_EQ(after.getInt("num.io.threads"), 3);
  EXPECT_EQ(after.getInt("num.network.threads"), 3);
  EXPECT_EQ(after.getInt("node.id"), 1);
  EXPECT_EQ(before.getInt("num.io.threads"), 8);
  EXPECT_EQ(after.effective("num.io.threads").source, ConfigSource::DynamicBrokerConfig);
  EXPECT_EQ(after.effective("num.io.threads").synonyms.size(), 3u);
}

Result<BrokerConfig> inLab(int brokers) {
  ConfigMap map = combined();
  map.merge(labProfile(brokers));
  return BrokerConfig::create(map);
}

TEST(LabProfile, ScalesTheCopiesOfTopicsWithTheCluster) {
  struct Expected {
    int brokers, copies, minimum;
  };
  for (const auto& [brokers, copies, minimum] : {Expected{1, 1, 1}, Expected{3, 3, 2}, Expected{5, 3, 2}}) {
    const Result<BrokerConfig> config = inLab(brokers);
    ASSERT_TRUE(config) << config.error().message;
    for (const char* key :
         {"default.replication.factor", "num.partitions", "offsets.topic.replication.factor",
          "share.coordinator.state.topic.replication.factor", "transaction.state.log.replication.factor"})
      EXPECT_EQ(config->getInt(key), copies) << key << " of " << brokers;
    for (const char* key :
         {"min.insync.replicas", "share.coordinator.state.topic.min.isr", "transaction.state.log.min.isr"})
      EXPECT_EQ(config->getInt(key), minimum) << key << " of " << brokers;
  }
}

TEST(LabProfile, NamesOnlyWhatDiffersFromKafkasDefaults) {
  for (const int brokers : {1, 3, 5})
    for (const auto& [key, value] : labProfile(brokers))
      EXPECT_NE(configTable(ConfigLevel::Broker).find(key)->defaultValue, value) << key << " of " << brokers;
}

TEST(LabProfile, IsAValidConfiguration) {
  const Result<BrokerConfig> config = inLab(3);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->getMs("controller.quorum.election.timeout.ms"), milliseconds(250));
  EXPECT_EQ(config->getMs("controller.quorum.fetch.timeout.ms"), milliseconds(1000));
  EXPECT_EQ(config->getMs("controller.quorum.append.linger.ms"), milliseconds(0));
  EXPECT_EQ(config->getMs("broker.heartbeat.interval.ms"), milliseconds(250));
  EXPECT_EQ(config->getMs("broker.session.timeout.ms"), milliseconds(1500));
  EXPECT_EQ(config->getMs("replica.lag.time.max.ms"), milliseconds(3000));
  EXPECT_EQ(config->getMs("metadata.max.idle.interval.ms"), milliseconds(5000));
  EXPECT_EQ(config->getInt("num.network.threads"), 2);
  EXPECT_EQ(config->getInt("num.io.threads"), 4);
}

}  // namespace
}  // namespace tidemark::config
