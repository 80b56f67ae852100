#include "config/topic_config.h"

#include <gmock/gmock.h>

namespace tidemark::config {
namespace {

using std::chrono::milliseconds;

struct Layers {
  ConfigMap topic, perBroker, clusterDefault, file;
  BrokerLayers below() const { return {perBroker, clusterDefault, file}; }
  EffectiveConfig effective(std::string_view key) const {
    return effectiveTopicConfig(*configTable(ConfigLevel::Topic).find(key), topic, below());
  }
  TopicConfig resolve() const { return TopicConfig::resolve(topic, below()); }
};

TEST(TopicConfig, StartsFromKafkasDefaults) {
  const TopicConfig config = Layers().resolve();
  EXPECT_TRUE(config.cleanupDelete);
  EXPECT_FALSE(config.cleanupCompact);
  EXPECT_EQ(config.compressionType, "producer");
  EXPECT_EQ(config.retention, milliseconds(604800000));
  EXPECT_EQ(config.segmentRoll, milliseconds(604800000));
  EXPECT_EQ(config.segmentBytes, 1073741824);
  EXPECT_EQ(config.maxMessageBytes, 1048588);
  EXPECT_EQ(config.minInsyncReplicas, 1);
  EXPECT_EQ(config.flushInterval, milliseconds(INT64_MAX));
  EXPECT_EQ(config.timestampType, TimestampType::CreateTime);
  EXPECT_FALSE(config.uncleanLeaderElection);
}

TEST(TopicConfig, EachLayerCoversTheOneBelow) {
  Layers layers;
  const auto expect = [&](std::string_view value, ConfigSource source) {
    const EffectiveConfig effective = layers.effective("segment.bytes");
    EXPECT_EQ(effective.value, value);
    EXPECT_EQ(effective.source, source);
  };
  expect("1073741824", ConfigSource::DefaultConfig);
  layers.file["log.segment.bytes"] = "2000000";
  expect("2000000", ConfigSource::StaticBrokerConfig);
  layers.clusterDefault["log.segment.bytes"] = "3000000";
  expect("3000000", ConfigSource::DynamicDefaultBrokerConfig);
  layers.perBroker["log.segment.bytes"] = "4000000";
  expect("4000000", ConfigSource::DynamicBrokerConfig);
  layers.topic["segment.bytes"] = "5000000";
  expect("5000000", ConfigSource::TopicConfig);
  EXPECT_EQ(layers.effective("segment.bytes").synonyms.size(), 5u);
  EXPECT_EQ(layers.resolve().segmentBytes, 5000000);
}

TEST(TopicConfig, BrokerSynonymsAreScaledAndTheStrongestCounts) {
  Layers layers;
  layers.file["log.retention.hours"] = "2";
  EXPECT_EQ(layers.effective("retention.ms").value, "7200000");
  EXPECT_EQ(layers.effective("retention.ms").synonyms.front().value, "2");
  layers.file["log.retention.minutes"] = "3";
  EXPECT_EQ(layers.resolve().retention, milliseconds(180000));
  layers.file["log.retention.ms"] = "5";
  EXPECT_EQ(layers.resolve().retention, milliseconds(5));
  layers.file = {{"log.retention.hours", "-1"}};
  EXPECT_EQ(layers.resolve().retention, milliseconds(-1));
}

TEST(TopicConfig, AKeyWithoutSynonymsShowsItsDefault) {
  const EffectiveConfig effective = Layers().effective("remote.storage.enable");
  EXPECT_EQ(effective.value, "false");
  EXPECT_EQ(effective.source, ConfigSource::DefaultConfig);
  EXPECT_TRUE(effective.synonyms.empty());
}

TEST(TopicConfig, ValidationNamesWhatIsWrong) {
  EXPECT_TRUE(validateTopicConfig({{"cleanup.policy", "compact"}, {"retention.ms", "-1"}}));
  EXPECT_EQ(validateTopicConfig({{"retention.hours", "1"}}).error().message,
            "Unknown topic config name: retention.hours");
  EXPECT_EQ(validateTopicConfig({{"segment.ms", "0"}}).error().code, ErrorCode::InvalidConfig);
  EXPECT_EQ(validateTopicConfig({{"min.compaction.lag.ms", "9"}, {"max.compaction.lag.ms", "3"}}).error().message,
            "conflict topic config setting min.compaction.lag.ms (9) > max.compaction.lag.ms (3)");
  EXPECT_THAT(validateTopicConfig({{"remote.storage.enable", "true"}}).error().message,
              testing::HasSubstr("Tiered Storage functionality is disabled"));
}

TEST(GroupConfig, FallsBackToTheBrokersKey) {
  const ConfigMap none;
  const ConfigMap file{{"group.consumer.session.timeout.ms", "50000"}};
  const ConfigDefinition& key = *configTable(ConfigLevel::Group).find("consumer.session.timeout.ms");
  const EffectiveConfig effective = effectiveGroupConfig(key, none, {none, none, file});
  EXPECT_EQ(effective.value, "50000");
  EXPECT_EQ(effective.source, ConfigSource::StaticBrokerConfig);
  EXPECT_EQ(effectiveGroupConfig(key, {{"consumer.session.timeout.ms", "46000"}}, {none, none, file}).source,
            ConfigSource::GroupConfig);
}

}  // namespace
}  // namespace tidemark::config
