#include "broker/node_directories.h"

#include <gmock/gmock.h>

#include "broker/shared.h"
#include "events/recorder.h"
#include "platform/simulated/world.h"

namespace tidemark::broker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Uuid kDirectory1 = *Uuid::parse("AAAAAAAAQACAAAAAAAAAEQ");
const Uuid kDirectory2 = *Uuid::parse("AAAAAAAAQACAAAAAAAAAEg");

FoundDirectory ours(const std::string& path, const Uuid& id) {
  return {.path = path,
          .meta = log::MetaProperties{.clusterId = "cluster", .nodeId = NodeId(1), .directoryId = id},
          .holdsMetadataLog = path == "/a"};
}

/// What is said of two directories, the first of which has the metadata log, once `change` was made to the second.
Error refusal(const std::function<void(FoundDirectory&)>& change) {
  std::vector<FoundDirectory> both{ours("/a", kDirectory1), ours("/b", kDirectory2)};
  change(both[1]);
  const auto verified = verifyDirectories(both, NodeId(1), "/a");
  EXPECT_FALSE(verified);
  return verified ? Error{} : verified.error();
}

TEST(NodeDirectoriesTest, OursAreTaken) {
  const auto verified =
      verifyDirectories(std::vector{ours("/a", kDirectory1), ours("/b", kDirectory2)}, NodeId(1), "/a");
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->clusterId, "cluster");
  EXPECT_EQ(verified->metadataDirectory, kDirectory1);
  EXPECT_FALSE(verified->someWithoutId);
}

TEST(NodeDirectoriesTest, OneOfAnotherClusterIsRefused) {
  const Error error = refusal([](FoundDirectory& second) { second.meta->clusterId = "other"; });
  EXPECT_EQ(error.code, ErrorCode::InconsistentClusterId);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/b/meta.properties"), HasSubstr("other"), HasSubstr("cluster")));
}

TEST(NodeDirectoriesTest, OneOfAnotherNodeIsRefused) {
  const Error error = refusal([](FoundDirectory& second) { second.meta->nodeId = NodeId(7); });
  EXPECT_EQ(error.code, ErrorCode::InvalidConfig);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/b/meta.properties"), HasSubstr("7"), HasSubstr("says 1")));
}

TEST(NodeDirectoriesTest, OneThatIsNotFormattedIsRefused) {
  const Error error = refusal([](FoundDirectory& second) { second.meta.reset(); });
  EXPECT_THAT(error.message, AllOf(HasSubstr("/b is not formatted"), HasSubstr("tidemark format")));
}

TEST(NodeDirectoriesTest, OneThatFailedIsLeftOut) {
  std::vector<FoundDirectory> both{ours("/a", kDirectory1), {.path = "/b", .failed = true}};
  EXPECT_TRUE(verifyDirectories(both, NodeId(1), "/a"));
  EXPECT_FALSE(verifyDirectories(both, NodeId(1), "/b")) << "not that of the metadata log";
}

TEST(NodeDirectoriesTest, AnIdTwiceOrAReservedOneIsRefused) {
  EXPECT_THAT(refusal([](FoundDirectory& second) { second.meta->directoryId = kDirectory1; }).message,
              AllOf(HasSubstr("/b/meta.properties"), HasSubstr("/a")));
  EXPECT_THAT(refusal([](FoundDirectory& second) { second.meta->directoryId = metadata::kLostDirectory; }).message,
              HasSubstr("reserved"));
}

TEST(NodeDirectoriesTest, AMetadataLogElsewhereIsRefused) {
  EXPECT_THAT(refusal([](FoundDirectory& second) { second.holdsMetadataLog = true; }).message,
              HasSubstr("metadata.log.dir"));
}

TEST(NodeDirectoriesTest, OneWithoutIdGetsOne) {
  std::vector<FoundDirectory> both{ours("/a", kDirectory1), ours("/b", Uuid())};
  const auto verified = verifyDirectories(both, NodeId(1), "/a");
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->someWithoutId);
}

/// A node on a simulated disk, with two log directories.
class NodeStart : public testing::Test {
 protected:
  NodeStart() {
    const auto formatted = format("AAAAAAAAQACAAAAAAAAAAQ", "/data/a,/data/b");
    EXPECT_TRUE(formatted) << formatted.error().message;
  }
  static config::BrokerConfig settings(const std::string& directories) {
    auto config = config::BrokerConfig::create(
        config::ConfigMap{{"process.roles", "broker,controller"},
                          {"node.id", "1"},
                          {"listeners", "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093"},
                          {"controller.listener.names", "CONTROLLER"},
                          {"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"},
                          {"controller.quorum.bootstrap.servers", "localhost:9093"},
                          {"log.dirs", directories}});
    EXPECT_TRUE(config) << config.error().message;
    return *config;
  }
  Result<void> format(const std::string& cluster, const std::string& directories) {
    return formatNode(*process_, {.config = settings(directories),
                                  .clusterId = cluster,
                                  .voters = {},
                                  .directoryId = process_->random().uuid()});
  }
  void write(const std::string& path, const log::MetaProperties& meta) {
    ASSERT_TRUE(log::writeMetaProperties(process_->files(), path, meta));
  }
  log::MetaProperties meta(const std::string& path) { return **log::readMetaProperties(process_->files(), path); }
  Result<void> start() {
    events::Recorder recorder(process_->clock(), NodeId(1));
    Shared shared(*process_, recorder, {.config = settings("/data/a,/data/b")});
    return shared.open();
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess("node");
};

TEST_F(NodeStart, StartsOnItsOwnDirectories) {
  const auto started = start();
  EXPECT_TRUE(started) << started.error().message;
}

TEST_F(NodeStart, RefusesTheDirectoryOfAnotherClusterAndLeavesIt) {
  log::MetaProperties foreign = meta("/data/b");
  foreign.clusterId = "WUPcycz9SQuWa1bKSlm43w";
  write("/data/b", foreign);
  const auto started = start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::InconsistentClusterId);
  EXPECT_THAT(started.error().message, HasSubstr("/data/b/meta.properties"));
  EXPECT_EQ(meta("/data/b").clusterId, foreign.clusterId);
}

TEST_F(NodeStart, RefusesTheDirectoryOfAnotherNodeAndLeavesIt) {
  log::MetaProperties foreign = meta("/data/b");
  foreign.nodeId = NodeId(2);
  write("/data/b", foreign);
  const auto started = start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/data/b/meta.properties"));
  EXPECT_EQ(meta("/data/b").nodeId, NodeId(2));
}

TEST_F(NodeStart, RefusesADirectoryThatAnotherBrokerHas) {
  const auto intruder = world_.createProcess({.name = "intruder", .disk = "node"});
  const auto held = intruder->files().lock("/data/b/.lock");
  ASSERT_TRUE(held) << held.error().message;
  const auto started = start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, AllOf(HasSubstr("/data/b"), HasSubstr("in use")));
}

TEST_F(NodeStart, GoesOnWithoutADirectoryWhoseMetaPropertiesCannotBeRead) {
  const auto file = process_->files().open("/data/b/meta.properties", platform::OpenMode::Truncate);
  ASSERT_TRUE((*file)->writeAt(0, asBytes("version=17\n")));
  EXPECT_TRUE(start());
}

TEST_F(NodeStart, WritesAnIdIntoADirectoryThatHasNone) {
  log::MetaProperties without = meta("/data/b");
  without.directoryId = Uuid();
  write("/data/b", without);
  const auto started = start();
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_FALSE(meta("/data/b").directoryId.isZero());
}

TEST_F(NodeStart, FormattingLeavesWhatBelongsToAnotherAlone) {
  const log::MetaProperties before = meta("/data/b");
  const auto formatted = format("WUPcycz9SQuWa1bKSlm43w", "/data/c,/data/b");
  ASSERT_FALSE(formatted);
  EXPECT_THAT(formatted.error().message, HasSubstr("/data/b belongs to node 1 of cluster AAAAAAAAQACAAAAAAAAAAQ"));
  EXPECT_EQ(meta("/data/b").directoryId, before.directoryId);
  EXPECT_FALSE(process_->files().exists("/data/c/meta.properties"));
}

}  // namespace
}  // namespace tidemark::broker
