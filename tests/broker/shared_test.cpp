#include "broker/shared.h"

#include <gtest/gtest.h>

namespace tidemark::broker {
namespace {

using std::chrono::milliseconds;

NodeOptions withSettings(config::ConfigMap settings) {
  settings.merge(config::ConfigMap{{"process.roles", "broker,controller"},
                                   {"node.id", "1"},
                                   {"listeners", "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093"},
                                   {"controller.listener.names", "CONTROLLER"},
                                   {"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"},
                                   {"controller.quorum.bootstrap.servers", "localhost:9093"},
                                   {"log.dirs", "/data"}});
  auto config = config::BrokerConfig::create(std::move(settings));
  EXPECT_TRUE(config) << config.error().message;
  return {.config = *config};
}

TEST(RaftConfig, TakesEachSettingOfTheQuorum) {
  const raft::RaftConfig raft = raftConfig(withSettings({{"controller.quorum.election.timeout.ms", "11"},
                                                         {"controller.quorum.election.backoff.max.ms", "12"},
                                                         {"controller.quorum.fetch.timeout.ms", "13"},
                                                         {"controller.quorum.request.timeout.ms", "14"},
                                                         {"controller.quorum.retry.backoff.ms", "15"},
                                                         {"controller.quorum.append.linger.ms", "16"},
                                                         {"controller.quorum.fetch.max.bytes", "17"},
                                                         {"controller.quorum.fetch.snapshot.max.bytes", "18"},
                                                         {"metadata.max.retention.bytes", "19"},
                                                         {"metadata.max.retention.ms", "20"}}));
  EXPECT_EQ(raft.electionTimeout, milliseconds(11));
  EXPECT_EQ(raft.electionBackoffMax, milliseconds(12));
  EXPECT_EQ(raft.fetchTimeout, milliseconds(13));
  EXPECT_EQ(raft.requestTimeout, milliseconds(14));
  EXPECT_EQ(raft.retryBackoff, milliseconds(15));
  EXPECT_EQ(raft.appendLinger, milliseconds(16));
  EXPECT_EQ(raft.fetchMaxBytes, 17);
  EXPECT_EQ(raft.fetchSnapshotMaxBytes, 18);
  EXPECT_EQ(raft.retentionBytes, 19);
  EXPECT_EQ(raft.retention, milliseconds(20));
  ASSERT_EQ(raft.bootstrapServers.size(), 1u);
  EXPECT_EQ(raft.bootstrapServers[0].port, 9093);
}

TEST(RaftConfig, HasKafkasDefaults) {
  const raft::RaftConfig raft = raftConfig(withSettings({}));
  const raft::RaftConfig plain;
  EXPECT_EQ(raft.appendLinger, milliseconds(25));
  EXPECT_EQ(raft.fetchMaxBytes, plain.fetchMaxBytes);
  EXPECT_EQ(raft.fetchSnapshotMaxBytes, plain.fetchSnapshotMaxBytes);
  EXPECT_EQ(raft.retentionBytes, plain.retentionBytes);
  EXPECT_EQ(raft.retention, plain.retention);
  EXPECT_FALSE(raft.lowestVoterStartsAtOnce);
}

}  // namespace
}  // namespace tidemark::broker
