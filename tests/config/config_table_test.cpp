#include "config/config_table.h"

#include <gmock/gmock.h>

namespace tidemark::config {
namespace {

std::string messageOf(ConfigLevel level, std::string_view key, std::optional<std::string_view> text) {
  const Result<ConfigValue> value = parseValue(level, key, text);
  return value ? "no error" : value.error().message;
}

TEST(ConfigTable, HasEveryKeyOfKafka) {
  EXPECT_EQ(configTable(ConfigLevel::Broker).all().size(), 379u);
  EXPECT_EQ(configTable(ConfigLevel::Topic).all().size(), 38u);
  EXPECT_EQ(configTable(ConfigLevel::Group).all().size(), 27u);
  EXPECT_EQ(configTable(ConfigLevel::ClientMetrics).all().size(), 3u);
  EXPECT_EQ(configTable(ConfigLevel::QuotaUserClient).all().size(), 4u);
}

TEST(ConfigTable, EveryDefaultIsValidForItsKey) {
  for (ConfigLevel level :
       {ConfigLevel::Broker, ConfigLevel::Topic, ConfigLevel::Group, ConfigLevel::ClientMetrics,
        ConfigLevel::QuotaBroker, ConfigLevel::QuotaIp, ConfigLevel::QuotaUserClient, ConfigLevel::User}) {
    for (const ConfigDefinition& key : configTable(level).all()) {
      if (!key.defaultValue) continue;
      const Result<ConfigValue> value = parseValue(key, *key.defaultValue);
      EXPECT_TRUE(value) << value.error().message;
    }
  }
}

TEST(ConfigTable, SynonymsNameKeysThatExistInTheOtherTable) {
  for (ConfigLevel level : {ConfigLevel::Topic, ConfigLevel::Group}) {
    for (const ConfigDefinition& key : configTable(level).all()) {
      for (const BrokerSynonym& synonym : key.brokerSynonyms) {
        EXPECT_TRUE(configTable(ConfigLevel::Broker).find(synonym.name)) << synonym.name;
      }
    }
  }
}

TEST(ConfigTable, KnowsWhatDescribesAKey) {
  const ConfigDefinition* key = configTable(ConfigLevel::Broker).find("log.segment.bytes");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->type, ConfigType::Int);
  EXPECT_EQ(key->defaultValue, "1073741824");
  EXPECT_EQ(key->topicSynonym, "segment.bytes");
  EXPECT_EQ(key->updateMode, UpdateMode::ClusterWide);
  EXPECT_TRUE(configTable(ConfigLevel::Broker).find("ssl.key.password")->isSensitive());
  EXPECT_TRUE(configTable(ConfigLevel::Broker).find("node.id")->isRequired);
  EXPECT_TRUE(configTable(ConfigLevel::Topic).find("internal.segment.bytes")->isInternal);
  EXPECT_EQ(configTable(ConfigLevel::Topic).find("no.such.key"), nullptr);
}

TEST(ConfigTable, ParsesEachType) {
  EXPECT_EQ(*parseValue(ConfigLevel::Broker, "auto.create.topics.enable", " TRUE "), ConfigValue(true));
  EXPECT_EQ(*parseValue(ConfigLevel::Broker, "node.id", " 7 "), ConfigValue(int64_t{7}));
  EXPECT_EQ(*parseValue(ConfigLevel::Topic, "retention.ms", "-1"), ConfigValue(int64_t{-1}));
  EXPECT_EQ(*parseValue(ConfigLevel::Topic, "min.cleanable.dirty.ratio", "1e-1"), ConfigValue(0.1));
  EXPECT_EQ(*parseValue(ConfigLevel::Topic, "cleanup.policy", "compact , delete"),
            ConfigValue(std::vector<std::string>{"compact", "delete"}));
  EXPECT_EQ(*parseValue(ConfigLevel::Broker, "advertised.listeners", std::nullopt), ConfigValue());
  EXPECT_EQ(*parseValue(ConfigLevel::Topic, "compression.gzip.level", "-1"), ConfigValue(int64_t{-1}));
}

TEST(ConfigTable, SaysInKafkasWordsWhatIsWrong) {
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "log.segment.bytes", "0"),
            "Invalid value 0 for configuration log.segment.bytes: Value must be at least 1048576");
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "segment.ms", "0"),
            "Invalid value 0 for configuration segment.ms: Value must be at least 1");
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "min.cleanable.dirty.ratio", "1.5"),
            "Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1");
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "node.id", "seven"),
            "Invalid value seven for configuration node.id: Not a number of type INT");
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "node.id", "2147483648"),
            "Invalid value 2147483648 for configuration node.id: Not a number of type INT");
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "auto.create.topics.enable", "yes"),
            "Invalid value yes for configuration auto.create.topics.enable: Expected value to be either true or false");
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "compression.type", "brotli"),
            "Invalid value brotli for configuration compression.type: String must be one of: uncompressed, zstd, lz4, "
            "snappy, gzip, producer");
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "cleanup.policy", "compact,shred"),
            "Invalid value shred for configuration cleanup.policy: String must be one of: compact, delete");
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "compression.gzip.level", "0"),
            "Invalid value 0 for configuration compression.gzip.level: Value must be in [1,...,9] or equal to -1");
  EXPECT_THAT(messageOf(ConfigLevel::Topic, "leader.replication.throttled.replicas", "0:1,x"),
              testing::HasSubstr("Must be the literal '*'"));
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "segment.bytes", std::nullopt),
            "Invalid value null for configuration segment.bytes: Value must be non-null");
  EXPECT_EQ(messageOf(ConfigLevel::Topic, "no.such.key", "1"), "Unknown configuration \"no.such.key\"");
}

TEST(ConfigTable, WhatKafkaLeavesOpenAndNoBrokerRunsWithIsRefusedAsWell) {
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "num.io.threads", "1000000"),
            "Invalid value 1000000 for configuration num.io.threads: Value must be no more than 1000");
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "controller.quorum.election.timeout.ms", "0"),
            "Invalid value 0 for configuration controller.quorum.election.timeout.ms: Value must be at least 1");
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "replica.lag.time.max.ms", "-5"),
            "Invalid value -5 for configuration replica.lag.time.max.ms: Value must be at least 1");
  EXPECT_EQ(messageOf(ConfigLevel::Broker, "default.replication.factor", "0"),
            "Invalid value 0 for configuration default.replication.factor: Value must be at least 1");
  EXPECT_TRUE(parseValue(ConfigLevel::Broker, "num.io.threads", "1000"));
  EXPECT_TRUE(parseValue(ConfigLevel::Broker, "replica.fetch.min.bytes", "0"));
}

TEST(ConfigTable, AcceptsCaseWhereKafkaDoes) {
  EXPECT_TRUE(parseValue(ConfigLevel::Broker, "group.consumer.migration.policy", "Upgrade"));
  EXPECT_FALSE(parseValue(ConfigLevel::Topic, "compression.type", "GZIP"));
}

}  // namespace
}  // namespace tidemark::config
