#include "cluster/cluster_fixture.h"

#include <algorithm>
#include <set>
#include <utility>

#include <gmock/gmock.h>

#include "events/event.h"
#include "log/checkpoints.h"

namespace tidemark::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(ClusterTest, AFolderIsGoneOnWithUnderItsOwnIdAndPorts) {
  auto first = options(3);
  first.port = 20000;
  ASSERT_TRUE(launch(first));
  ASSERT_TRUE(createTopic("orders"));
  const Ready before = ready();
  EXPECT_EQ(before.bootstrap, "127.0.0.1:20000");
  ASSERT_TRUE(shutdown());
  auto second = options(3);
  second.port = 30000;
  ASSERT_LAUNCHED(second);
  const Ready after = ready();
  EXPECT_EQ(after.bootstrap, before.bootstrap);
  EXPECT_EQ(after.clusterId, before.clusterId);
  EXPECT_TRUE(node(1).broker()->image()->topics.find("orders"));
}

TEST_F(ClusterTest, PickedPortsAreKeptAsWell) {
  auto picked = options(1);
  picked.port = 0;
  ASSERT_LAUNCHED(picked);
  const std::string before = ready().bootstrap;
  ASSERT_TRUE(shutdown());
  ASSERT_LAUNCHED(picked);
  EXPECT_EQ(ready().bootstrap, before);
}

TEST_F(ClusterTest, ADamagedBrokerDoesNotKeepTheOthersFromStarting) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(createTopic("orders"));
  const Ready whole = ready();
  EXPECT_THAT(whole.missing, testing::IsEmpty());
  ASSERT_TRUE(shutdown());
  const std::string path = fmt::format("{}/broker-1/meta.properties", kFolder);
  const auto before = files("broker-1").readFile(path, 1000);
  ASSERT_TRUE(before);
  ASSERT_TRUE(files("broker-1").replaceFile(path, asBytes("rubbish")));
  ASSERT_LAUNCHED(options(3));
  const Ready now = ready();
  EXPECT_THAT(now.missing, testing::ElementsAre(1));
  EXPECT_THAT(now.brokers, testing::ElementsAre(1, 2, 3));
  EXPECT_NE(now.bootstrap, whole.bootstrap) << "nobody listens there";
  const auto refused = restart(1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(path));
  ASSERT_TRUE(files("broker-1").replaceFile(path, *before));
  ASSERT_TRUE(restart(1));
  EXPECT_THAT(ready().missing, testing::IsEmpty());
  EXPECT_EQ(ready().bootstrap, whole.bootstrap);
}

TEST_F(ClusterTest, ABrokerOfAnotherClusterIsLeftOutAtOnce) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(shutdown());
  const std::string directory = fmt::format("{}/broker-2", kFolder);
  auto meta = log::readMetaProperties(files("broker-2"), directory);
  ASSERT_TRUE(meta && *meta);
  const std::string own = std::exchange((*meta)->clusterId, "AAAAAAAAAAAAAAAAAAAAAA");
  ASSERT_TRUE(log::writeMetaProperties(files("broker-2"), directory, **meta));
  ASSERT_LAUNCHED(options(3));
  EXPECT_THAT(ready().missing, testing::ElementsAre(2));
  const auto refused = restart(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            fmt::format("{}/meta.properties: cluster.id is AAAAAAAAAAAAAAAAAAAAAA, but {}/tidemark.json says {}: the "
                        "directory belongs to another cluster",
                        directory, kFolder, own));
  (*meta)->clusterId = own;
  ASSERT_TRUE(log::writeMetaProperties(files("broker-2"), directory, **meta));
  EXPECT_TRUE(restart(2));
}

TEST_F(ClusterTest, ABrokerWhoseMetaPropertiesAreGoneIsNotFormattedAgain) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(shutdown());
  ASSERT_TRUE(files("broker-2").remove(fmt::format("{}/broker-2/meta.properties", kFolder)));
  ASSERT_LAUNCHED(options(3));
  EXPECT_THAT(ready().missing, testing::ElementsAre(2));
  const auto refused = restart(2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("without its meta.properties it is neither started nor formatted"));
}

TEST_F(ClusterTest, AClusterWhoseMetadataLogsAreAllGoneIsRefusedAndLeftAlone) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(createTopic("orders"));
  ASSERT_TRUE(shutdown());
  for (const int broker : {1, 2, 3}) ASSERT_TRUE(removeMetadataLog(broker));
  for (const bool again : {false, true}) {
    const auto refused = launch(options(3));
    ASSERT_FALSE(refused) << again;
    EXPECT_EQ(refused.error().code, ErrorCode::KafkaStorageError);
    EXPECT_EQ(
        refused.error().message,
        fmt::format("no controller of the cluster in {0} has a metadata log ({0}/broker-1/__cluster_metadata-0, "
                    "{0}/broker-2/__cluster_metadata-0, {0}/broker-3/__cluster_metadata-0): without one nobody can "
                    "be elected, and which topics there are is unknown; restore these folders from a backup, or "
                    "launch a new cluster in an empty folder",
                    kFolder));
    EXPECT_THAT(names("broker-1", nodeFolder(kFolder, NodeId(1))),
                testing::Not(testing::Contains("__cluster_metadata-0")));
  }
}

TEST_F(ClusterTest, BrokersAloneKnowingTheTopicsDoNotMakeAQuorum) {
  observe::LaunchOptions apart = options(1);
  apart.separateControllers = 1;
  ASSERT_LAUNCHED(apart);
  ASSERT_TRUE(shutdown());
  // Its meta.properties as well: it would be formatted, and begin a log that is not the one the broker has.
  ASSERT_TRUE(files("broker-2").removeTree(nodeFolder(kFolder, NodeId(2))));
  const auto refused = launch(apart);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("(/lab/cluster/broker-2/__cluster_metadata-0): "));
  EXPECT_THAT(refused.error().message, HasSubstr("restore that folder"));
}

TEST_F(ClusterTest, WhenMostMetadataLogsAreGoneItIsTold) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(createTopic("orders"));
  ASSERT_TRUE(shutdown());
  // The others have all that was acknowledged.
  ASSERT_TRUE(removeMetadataLog(2));
  ASSERT_LAUNCHED(options(3));
  ASSERT_TRUE(shutdown());
  EXPECT_THAT(told_, testing::IsEmpty());
  for (const int broker : {2, 3}) ASSERT_TRUE(removeMetadataLog(broker));
  ASSERT_LAUNCHED(options(3));
  EXPECT_THAT(
      told_, testing::ElementsAre(
                 AllOf(HasSubstr("2 of 3 controllers have no metadata log (/lab/cluster/broker-2/__cluster_metadata-0, "
                                 "/lab/cluster/broker-3/__cluster_metadata-0)"),
                       HasSubstr("restore these folders from a backup"))));
  EXPECT_TRUE(node(2).broker()->image()->topics.find("orders"));
}

TEST_F(ClusterTest, AFirstLaunchThatWasKilledAmongItsNodesIsGoneOnWith) {
  lab_.cluster().launch(options(3), [](const Result<void>&) {});
  const std::string formatted = fmt::format("{}/meta.properties", nodeFolder(kFolder, NodeId(1)));
  ASSERT_TRUE(await([&] { return files("broker-1").exists(formatted); }));
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().abandon(std::move(done)); }));
  for (const int broker : {2, 3})
    ASSERT_TRUE(files(fmt::format("broker-{}", broker)).removeTree(nodeFolder(kFolder, NodeId(broker))));
  ASSERT_LAUNCHED(options(3));
  EXPECT_THAT(told_, testing::IsEmpty());
}

TEST_F(ClusterTest, ABrokerThatDoesNotGetReadyIsToldWithWhatItWaitsFor) {
  observe::LaunchOptions given = options(3);
  given.settings = {{"socket.request.max.bytes", "1"}};
  bool answered = false;
  lab_.cluster().launch(std::move(given), [&](const Result<void>&) { answered = true; });
  ASSERT_TRUE(await([&] { return told_.size() >= 3; }));
  EXPECT_FALSE(answered);
  EXPECT_THAT(told_.front(),
              AllOf(HasSubstr("broker 1 is started and goes on trying, but is not registered after 10 s: no "
                              "controller is active, 3 of 3 controllers run"),
                    HasSubstr("it was launched with socket.request.max.bytes=1")));
  lab_.world().runFor(std::chrono::minutes(1));
  EXPECT_THAT(told_, testing::SizeIs(3)) << "once each";
}

TEST_F(ClusterTest, MoreCopiesThanBrokersAreRefused) {
  for (const char* key : {"default.replication.factor", "offsets.topic.replication.factor"}) {
    observe::LaunchOptions given = options(3);
    given.settings = {{key, "9"}};
    const auto refused = launch(std::move(given));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              fmt::format("Invalid value 9 for configuration {}: the cluster has 3 brokers, so it can be 1 to 3", key));
  }
}

TEST_F(ClusterTest, PartitionsThatWaitForABrokerThatWasLeftOutAreTold) {
  observe::LaunchOptions given = options(3);
  given.separateControllers = 1;
  ASSERT_TRUE(launch(given));
  ASSERT_TRUE(createTopic("orders", 5));
  // Only broker 1 is in sync in the end, and nobody stopped cleanly.
  const auto inSync = [&] {
    const metadata::ImagePtr image = node(1).broker()->image();
    return image->topics.partition("orders", PartitionIndex(0))->isr.size();
  };
  ASSERT_TRUE(kill(2));
  ASSERT_TRUE(await([&] { return inSync() == 2; }));
  ASSERT_TRUE(kill(3));
  ASSERT_TRUE(await([&] { return inSync() == 1; }));
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().abandon(std::move(done)); }));
  const std::string path = fmt::format("{}/broker-1/meta.properties", kFolder);
  ASSERT_TRUE(files("broker-1").replaceFile(path, asBytes("rubbish")));
  ASSERT_LAUNCHED(given);
  EXPECT_THAT(told_, testing::Contains(HasSubstr("version is missing")));
  EXPECT_THAT(told_, testing::Contains(AllOf(HasSubstr("5 partitions (orders-"), HasSubstr(" and 2 more"),
                                             HasSubstr("no leader until broker 1 is back"))));
}

TEST_F(ClusterTest, WithoutAMajorityOfTheVotersALaunchFails) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(shutdown());
  for (const int broker : {2, 3})
    ASSERT_TRUE(files(fmt::format("broker-{}", broker))
                    .replaceFile(fmt::format("{}/broker-{}/meta.properties", kFolder, broker), asBytes("rubbish")));
  const auto refused = launch(options(3));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("broker-2/meta.properties"));
}

TEST_F(ClusterTest, ATemporaryFolderIsRemovedAtTheEnd) {
  ASSERT_TRUE(launch(options(1, "")));
  EXPECT_THAT(names("lab", "/tmp"), testing::SizeIs(1));
  ASSERT_TRUE(shutdown());
  EXPECT_THAT(names("lab", "/tmp"), testing::IsEmpty());
}

TEST_F(ClusterTest, AFolderWhoseFirstLaunchWasKilledIsLaunchedAnew) {
  auto& disk = files("lab");
  ASSERT_TRUE(disk.createDirectories(kFolder));
  ASSERT_TRUE(disk.replaceFile(fmt::format("{}/tidemark.json.tmp", kFolder), asBytes("{")));
  ASSERT_LAUNCHED(options(1));
}

TEST_F(ClusterTest, AFolderOfTheUsersStays) {
  ASSERT_TRUE(launch(options(1)));
  ASSERT_TRUE(shutdown());
  EXPECT_THAT(names("lab", kFolder), testing::Contains("tidemark.json"));
}

TEST_F(ClusterTest, AFolderOfAnotherSizeOrOfSomebodyElseIsRefusedAndLeftAlone) {
  ASSERT_TRUE(launch(options(1)));
  ASSERT_TRUE(shutdown());
  const auto other = launch(options(3));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::InvalidConfig);
  EXPECT_THAT(other.error().message, HasSubstr("a cluster of 1 broker, not of 3"));
  auto& disk = files("lab");
  ASSERT_TRUE(disk.createDirectories("/lab/photos"));
  ASSERT_TRUE(disk.replaceFile("/lab/photos/cat.jpg", asBytes("meow")));
  const auto foreign = launch(options(1, "/lab/photos"));
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("neither empty nor a cluster"));
  EXPECT_THAT(names("lab", "/lab/photos"), testing::ElementsAre("cat.jpg"));
  // What was refused leaves room for what is right.
  EXPECT_TRUE(launch(options(1)));
}

TEST_F(ClusterTest, ABadSettingIsNamedWithItsValueAndReasonAndNothingIsWritten) {
  auto bad = options(1);
  bad.settings = {{"num.io.threads", "none"}};
  const auto refused = launch(bad);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidConfig);
  EXPECT_THAT(refused.error().message, HasSubstr("num.io.threads"));
  EXPECT_THAT(refused.error().message, HasSubstr("none"));
  EXPECT_THAT(names("lab", kFolder), testing::IsEmpty());
}

TEST_F(ClusterTest, WhatTheLabDecidesItselfCannotBeSet) {
  for (const char* key : {"node.id", "log.dirs", "listeners", "advertised.listeners", "process.roles"}) {
    auto bad = options(1);
    bad.settings = {{key, "7"}};
    const auto refused = launch(bad);
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidConfig);
    EXPECT_THAT(refused.error().message, HasSubstr(std::string("7 for configuration ") + key));
  }
}

TEST_F(ClusterTest, ALaunchThatFailsLeavesNoClusterInAFreshFolder) {
  // Somebody has the port of broker 1 on this machine.
  const auto squatter = lab_.world().createProcess({.name = "squatter"});
  const auto executor = squatter->createExecutor({.name = "main", .threads = 1});
  Result<std::unique_ptr<platform::Acceptor>> taken = fail(ErrorCode::None);
  lab_.run(*executor, [&] { taken = squatter->network().listen(*executor, {"127.0.0.1", 20000}); });
  ASSERT_TRUE(taken) << taken.error().message;
  auto fixed = options(1);
  fixed.port = 20000;
  const auto refused = launch(fixed);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("20000"));
  EXPECT_THAT(names("lab", kFolder), testing::IsEmpty());
  fixed.port = 21000;
  ASSERT_LAUNCHED(fixed);
  EXPECT_EQ(ready().bootstrap, "127.0.0.1:21000");
}

TEST_F(ClusterTest, KillingABrokerThatIsStillStartingLeavesTheOthersToStart) {
  bool launched = false;
  lab_.cluster().launch(options(3), [&](Result<void> done) {
    EXPECT_TRUE(done) << done.error().message;
    lab_.change([&] { launched = true; });
  });
  ASSERT_TRUE(kill(2));
  EXPECT_TRUE(await([&] { return launched; }));
  EXPECT_FALSE(lab_.cluster().node(NodeId(2)));
  EXPECT_TRUE(restart(2));
  EXPECT_TRUE(node(2).broker()->isRunning());
}

TEST_F(ClusterTest, WhoeverWaitsForABrokerIsAnsweredWhenTheClusterIsAbandoned) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(kill(2));
  std::optional<Result<void>> restarted;
  lab_.cluster().restartBroker(NodeId(2),
                               [&](Result<void> done) { lab_.change([&] { restarted = std::move(done); }); });
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().abandon(std::move(done)); }));
  ASSERT_TRUE(restarted);
  EXPECT_FALSE(*restarted);
}

TEST_F(ClusterTest, ANumberOfBrokersThatCannotBeIsRefused) {
  for (int brokers : {-1, 0, 8}) EXPECT_FALSE(launch(options(brokers))) << brokers;
  for (int controllers : {-1, 4}) {
    observe::LaunchOptions impossible = options(3);
    impossible.controllers = controllers;
    EXPECT_FALSE(launch(impossible)) << controllers;
  }
}

TEST_F(ClusterTest, AFolderInUseIsRefused) {
  ASSERT_TRUE(launch(options(1)));
  // A second program on the same machine finds the broker's folder locked.
  const auto intruder = lab_.world().createProcess({.name = "intruder", .disk = "broker-1"});
  const auto lock = intruder->files().lock(nodeFolder(kFolder, NodeId(1)) + "/.lock");
  EXPECT_FALSE(lock);
  ASSERT_TRUE(shutdown());
  EXPECT_TRUE(intruder->files().lock(nodeFolder(kFolder, NodeId(1)) + "/.lock"));
}

TEST_F(ClusterTest, OfTwoFirstLaunchesOnOneFolderOneIsRefused) {
  // Another program has begun on the same folder, and written nothing yet.
  const auto other = lab_.world().createProcess({.name = "other", .disk = "lab"});
  ASSERT_TRUE(other->files().createDirectories(kFolder));
  auto lock = other->files().lock(std::string(kFolder) + "/.lock");
  ASSERT_TRUE(lock);
  const auto refused = launch(options(1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(std::string(kFolder) + " is in use"));
  EXPECT_THAT(names("lab", kFolder), testing::ElementsAre(".lock")) << "the other's lock is left alone";
  lock->reset();
  EXPECT_TRUE(launch(options(1)));
  EXPECT_FALSE(other->files().lock(std::string(kFolder) + "/.lock")) << "held while the cluster runs";
  ASSERT_TRUE(shutdown());
  EXPECT_TRUE(other->files().lock(std::string(kFolder) + "/.lock"));
}

TEST_F(ClusterTest, TopicsOfTheirFirstUseHaveCopiesOnEveryBroker) {
  ASSERT_TRUE(launch(options(3)));
  const config::BrokerConfig& config = node(1).shared().config();
  EXPECT_EQ(config.getInt("default.replication.factor"), 3);
  EXPECT_EQ(config.getInt("min.insync.replicas"), 2);
  EXPECT_EQ(config.getInt("num.partitions"), 3);
  ASSERT_TRUE(shutdown());
  auto plain = options(3);
  plain.settings = {{"default.replication.factor", "1"}};
  ASSERT_LAUNCHED(plain);
  EXPECT_EQ(node(1).shared().config().getInt("default.replication.factor"), 1) << "--set has the last word";
}

TEST_F(ClusterTest, TheFirstTopicIsLedInTheOrderThatTheFirstPageDraws) {
  auto first = options(3);
  first.firstTopic = observe::TopicOptions{.name = "orders", .partitions = 4, .configs = {}};
  ASSERT_LAUNCHED(first);
  const auto image = node(1).broker()->image();
  for (int i = 0; i < 4; ++i) {
    const auto* partition = image->topics.partition("orders", PartitionIndex(i));
    ASSERT_NE(partition, nullptr) << i;
    EXPECT_EQ(partition->replicas, (std::vector{NodeId(i % 3 + 1), NodeId((i + 1) % 3 + 1), NodeId((i + 2) % 3 + 1)}));
  }
}

TEST_F(ClusterTest, WhoHearsThatTheClusterRunsFindsAllBrokersAndEveryLeaderAtEachOfThem) {
  const auto expectSettled = [&](int partitions) {
    for (int asked = 1; asked <= 3; ++asked) {
      const auto image = node(asked).broker()->image();
      for (int known = 1; known <= 3; ++known)
        EXPECT_TRUE(image->cluster.isActive(NodeId(known))) << "broker " << asked << " of " << known;
      for (int i = 0; i < partitions; ++i) {
        const auto* partition = image->topics.partition("orders", PartitionIndex(i));
        ASSERT_NE(partition, nullptr) << "broker " << asked << ", partition " << i;
        EXPECT_NE(partition->leader, kNoNode) << "broker " << asked << ", partition " << i;
      }
    }
  };
  ASSERT_LAUNCHED(options(3));
  expectSettled(0);
  ASSERT_TRUE(createTopic("orders", 6));
  expectSettled(6);
  ASSERT_TRUE(shutdown());
  ASSERT_LAUNCHED(options(3));
  expectSettled(6);
}

TEST_F(ClusterTest, AStoppedBrokerStillTellsWhatLiesOnItsDisk) {
  lab_.cluster().onChange([] {});
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(createTopic("orders"));
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().stopBroker(NodeId(3), std::move(done)); }));
  const auto shown = [&] {
    const auto snapshot = lab_.cluster().snapshot();
    const auto* broker = observe::findBroker(*snapshot, NodeId(3));
    if (broker == nullptr || broker->state != observe::BrokerState::Stopped) return false;
    const auto* partition = observe::findPartition(*snapshot, {"orders", PartitionIndex(0)});
    const auto* copy = partition == nullptr ? nullptr : observe::findReplica(*partition, NodeId(3));
    return copy != nullptr && copy->logEnd == Offset(0) && broker->segmentCount > 0;
  };
  EXPECT_TRUE(await(shown)) << "no dash for what is known";
}

TEST_F(ClusterTest, WhyThereIsNoLeaderIsSaid) {
  ASSERT_TRUE(launch(options(1)));
  ASSERT_TRUE(createTopic("orders"));
  const auto leader = [&](const char* topic) {
    std::optional<Result<NodeId>> found;
    lab_.cluster().findLeader({topic, PartitionIndex(0)},
                              [&](Result<NodeId> now) { lab_.change([&] { found = now; }); });
    EXPECT_TRUE(lab_.await([&] { return found.has_value(); }));
    return *found;
  };
  EXPECT_TRUE(leader("orders"));
  EXPECT_THAT(leader("nope").error().message, HasSubstr("there is no partition nope-0"));
  ASSERT_TRUE(kill(1));
  EXPECT_THAT(leader("orders").error().message, HasSubstr("no broker runs"));
}

TEST_F(ClusterTest, CommandsThatDoNotFitTheStateOfABrokerSaySo) {
  ASSERT_TRUE(launch(options(1)));
  const auto resumed = lab_.perform([&](auto done) { lab_.cluster().resumeBroker(NodeId(1), std::move(done)); });
  ASSERT_FALSE(resumed);
  EXPECT_THAT(resumed.error().message, HasSubstr("not paused"));
  EXPECT_THAT(kill(7).error().message, HasSubstr("no broker 7"));
  ASSERT_TRUE(kill(1));
  EXPECT_THAT(kill(1).error().message, HasSubstr("was killed"));
}

TEST_F(ClusterTest, TheControllersDecisionsReachTheTableOfEvents) {
  lab_.cluster().onChange([] {});
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(kill(3));
  std::set<std::string> kinds;
  uint64_t since = 0;
  const auto drained = [&] {
    lab_.cluster().snapshot();  // asks for news
    const observe::EventBatch batch = lab_.cluster().drainEvents(since, 100000);
    for (const auto& event : batch.events) {
      kinds.emplace(events::nameOf(event.event.payload));
      since = batch.last;
    }
    return kinds.contains("BrokerFenced");
  };
  EXPECT_TRUE(await(drained));
  EXPECT_THAT(kinds,
              testing::IsSupersetOf({"ControllerActivated", "BrokerRegistered", "BrokerUnfenced", "BrokerFenced"}));
  EXPECT_THAT(kinds, testing::IsSupersetOf({"ConnectionOpened", "ConnectionIdentified", "ConnectionClosed"}));
  // What the lab's hands do is told as well.
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().pauseBroker(NodeId(2), std::move(done)); }));
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().resumeBroker(NodeId(2), std::move(done)); }));
  drained();
  EXPECT_THAT(kinds, testing::IsSupersetOf({"BrokerPaused", "BrokerResumed"}));
}

TEST_F(ClusterTest, ControllersMayBeNodesOfTheirOwn) {
  observe::LaunchOptions apart = options(2);
  apart.separateControllers = 3;
  ASSERT_LAUNCHED(apart);
  EXPECT_EQ(ready().brokers, (std::vector<int>{1, 2})) << "clients are told of brokers only";
  EXPECT_EQ(node(1).controller(), nullptr);
  EXPECT_EQ(node(3).broker(), nullptr);
  ASSERT_TRUE(createTopic("orders", 4));
  for (const auto& [index, partition] : node(1).broker()->image()->topics.find("orders")->partitions)
    EXPECT_THAT(partition->replicas, testing::UnorderedElementsAre(NodeId(1), NodeId(2)));
  ASSERT_TRUE(kill(3));
  ASSERT_TRUE(restart(3));
  ASSERT_TRUE(shutdown());
  // What a folder holds decides.
  const auto stored = lab_.cluster().stored(options(2).dataFolder);
  ASSERT_TRUE(stored && *stored);
  EXPECT_EQ((*stored)->brokers, 2);
  EXPECT_EQ((*stored)->separateControllers, 3);
  EXPECT_EQ((*stored)->ports.size(), 10U);
  ASSERT_LAUNCHED(options(2));
  EXPECT_EQ(node(3).broker(), nullptr);
  EXPECT_TRUE(await([&] { return node(1).broker()->image()->topics.find("orders") != nullptr; }));
}

TEST_F(ClusterTest, ControllersOfTheirOwnExcludeBrokersThatAreOnes) {
  observe::LaunchOptions both = options(3);
  both.separateControllers = 3;
  both.controllers = 1;
  EXPECT_THAT(launch(both).error().message, HasSubstr("not both"));
  both.controllers = 0;
  both.separateControllers = 6;
  EXPECT_THAT(launch(both).error().message, HasSubstr("it can be 0 to 5"));
}

TEST_F(ClusterTest, ABrokerLoadsItsLogsByTheNewestMetadataAndSetsNothingAside) {
  ASSERT_TRUE(launch(options(3)));
  ASSERT_TRUE(createTopic("kept"));
  ASSERT_TRUE(createTopic("deleted"));
  ASSERT_TRUE(kill(3));
  ASSERT_TRUE(createTopic("while-away"));
  ASSERT_TRUE(restart(3));
  EXPECT_TRUE(await([&] { return node(3).broker()->image()->topics.find("while-away") != nullptr; }));
  EXPECT_TRUE(node(3).broker()->replicas().find(TopicPartition{"kept", PartitionIndex(0)}));
  for (const std::string& name : names("broker-3", nodeFolder(kFolder, NodeId(3))))
    EXPECT_THAT(name, testing::Not(HasSubstr("-stray"))) << name;
}

}  // namespace
}  // namespace tidemark::cluster
