// Faults of a whole cluster, on real brokers and in the simulator.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "client/producer.h"
#include "faults/fault_json.h"
#include "observe/fault_check.h"
#include "sim/lab.h"

namespace tidemark::faults {
namespace {

using observe::BrokerState;
using testing::HasSubstr;

std::unique_ptr<sim::Lab> makeLab(bool native) {
  if (native) return std::make_unique<sim::NativeLab>();
  return std::make_unique<sim::SimulatedLab>(platform::WorldOptions{.seed = 11});
}

class ClusterFaultsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    observe::LaunchOptions options;
    options.firstTopic =
        observe::TopicOptions{.name = "orders", .partitions = 1, .replicationFactor = 3, .configs = {}};
    launch(std::move(options), 3);
  }
  void launch(observe::LaunchOptions options, size_t copies) {
    options.port = 0;
    options.settings = {{"log.index.interval.bytes", "1"}};
    const auto launched = lab_->perform([&](auto done) { lab_->cluster().launch(options, std::move(done)); });
    ASSERT_TRUE(launched) << launched.error().message;
    ASSERT_TRUE(awaitIsr(copies));
  }

  template <class T, class Command>
  T answerOf(Command&& command) {
    auto answer = std::make_shared<std::optional<T>>();
    command([this, answer](T result) { lab_->change([&] { *answer = std::move(result); }); });
    EXPECT_TRUE(lab_->await([&] { return answer->has_value(); }));
    return **answer;
  }
  Result<int> trySet(std::string_view json) {
    auto fault = parseFault(json);
    EXPECT_TRUE(fault) << fault.error().message;
    return answerOf<Result<int>>([&](auto done) { lab_->cluster().setFault(*fault, std::move(done)); });
  }
  int set(std::string_view json) {
    const auto id = trySet(json);
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or(0);
  }
  std::string refused(std::string_view json) {
    const auto id = trySet(json);
    return id ? "it was set" : id.error().message;
  }
  void heal(int id) {
    const auto healed = lab_->heal(id);
    ASSERT_TRUE(healed) << healed.error().message;
    EXPECT_EQ(healed->count, 1U);
  }
  FaultBook::Lists lists() {
    return answerOf<FaultBook::Lists>([&](auto done) { lab_->cluster().listFaults(std::move(done)); });
  }
  std::vector<FaultStatus> list() { return lists().set; }
  static const observe::PartitionSnapshot* orders(const observe::ClusterSnapshot& cluster) {
    return observe::findPartition(cluster, {"orders", PartitionIndex(0)});
  }
  bool awaitIsr(size_t size) {
    return lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* partition = orders(cluster);
      return partition != nullptr && partition->isr.size() == size && partition->leader != kNoNode;
    });
  }
  bool awaitState(NodeId broker, BrokerState state) {
    return lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* found = observe::findBroker(cluster, broker);
      return found != nullptr && found->state == state;
    });
  }
  /// Each in a batch of its own, and acknowledged by all.
  void produce(int count) {
    const auto ready = answerOf<cluster::Ready>([&](auto done) { lab_->cluster().whenReady(std::move(done)); });
    const auto process = lab_->createProcess("client");
    const auto executor = process->createExecutor({.name = "client"});
    std::unique_ptr<client::Client> client;
    std::unique_ptr<client::Producer> producer;
    int delivered = 0;
    lab_->run(*executor, [&] {
      client::ClientOptions options;
      options.bootstrap = {{ready.host, ready.port}};
      client = std::make_unique<client::Client>(*process, executor, std::move(options));
      producer = std::make_unique<client::Producer>(*client, client::ProducerOptions{.batchBytes = 1});
      for (int i = 0; i < count; ++i)
        producer->send(
            {.topic = "orders", .partition = 0, .value = ByteVector(100)},
            [&](const Result<client::Delivered>& result) { lab_->change([&] { delivered += result ? 1 : 0; }); });
    });
    EXPECT_TRUE(lab_->await([&] { return delivered == count; }));
    process->kill("it is done");
    process->awaitStopped();
  }
  NodeId leader() { return lab_->leaderOf({"orders", PartitionIndex(0)}); }
  NodeId follower() { return NodeId(leader().value() % 3 + 1); }
  template <class... Arguments>
  static std::string text(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return fmt::format(format, std::forward<Arguments>(arguments)...);
  }

  const std::unique_ptr<sim::Lab> lab_ = makeLab(GetParam());
};

TEST_P(ClusterFaultsTest, AnIsolatedFollowerLeavesTheIsrAndComesBackWhenItIsHealed) {
  const NodeId cutOff = follower();
  const int id = set(text(R"({{"kind":"isolate","target":"broker {}","clients":false}})", cutOff));
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* partition = orders(cluster);
    return partition != nullptr && std::ranges::find(partition->isr, cutOff) == partition->isr.end();
  }));
  const auto all = list();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().id, id);
  EXPECT_GT(all.front().fired, 0U);
  heal(id);
  EXPECT_TRUE(awaitIsr(3));
  EXPECT_TRUE(list().empty());
}

// Others have connected to it, and they are whom the links are faulted at.
TEST_P(ClusterFaultsTest, AnIsolatedActiveControllerIsReplacedAndFenced) {
  NodeId before = kNoNode;
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    before = cluster.quorum.leader;
    return before != kNoNode;
  }));
  const int id = set(R"({"kind":"isolate","target":"the active controller"})");
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* partition = orders(cluster);
    return cluster.quorum.leader != before && cluster.quorum.leader != kNoNode && partition != nullptr &&
           partition->leader != before && std::ranges::find(partition->isr, before) == partition->isr.end();
  }));
  heal(id);
  EXPECT_TRUE(awaitIsr(3));
}

TEST_P(ClusterFaultsTest, ABridgeIsTheOnlyOneThatSeesBothSides) {
  const NodeId bridge = follower();
  const int id = set(text(R"({{"kind":"bridge","target":"broker {}"}})", bridge));
  // The other follower does not reach the leader, and the bridge does.
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* partition = orders(cluster);
    return partition != nullptr && partition->isr.size() == 2 &&
           std::ranges::find(partition->isr, bridge) != partition->isr.end();
  }));
  heal(id);
  EXPECT_TRUE(awaitIsr(3));
}

TEST_P(ClusterFaultsTest, LinksCutBetweenOneFollowerAndTheLeaderAreEnough) {
  const NodeId cutOff = follower();
  const int id = set(text(R"({{"kind":"cut","target":"link {}->leader of orders-0"}})", cutOff));
  EXPECT_TRUE(awaitIsr(2));
  heal(id);
  EXPECT_TRUE(awaitIsr(3));
}

TEST_P(ClusterFaultsTest, ASnapshotListsItWithTheLinksThatItsNamesMean) {
  const NodeId cutOff = follower();
  const LinkRule meant{.from = {.node = cutOff, .port = {}, .client = {}},
                       .to = {.node = leader(), .port = {}, .client = {}}};
  const int id = set(text(R"({{"kind":"cut","target":"link {}->leader of orders-0","durationMs":3600000}})", cutOff));
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    return cluster.faults.size() == 1 && cluster.faults[0].id == id && cluster.faults[0].links == std::vector{meant} &&
           cluster.faults[0].left.has_value() && !cluster.faults[0].waits;
  }));
  heal(id);
  EXPECT_TRUE(lab_->awaitCluster([](const observe::ClusterSnapshot& cluster) { return cluster.faults.empty(); }));
}

TEST_P(ClusterFaultsTest, WhatIsRefusedIsKnownFromASnapshotInTheSameWords) {
  // Who leads may change when the machine is busy.
  const NodeId running = leader();
  const NodeId down = NodeId(running.value() % 3 + 1);
  set(text(R"({{"kind":"kill","target":"broker {}"}})", down));
  ASSERT_TRUE(awaitState(down, BrokerState::Killed));
  for (const std::string& json :
       {text(R"({{"kind":"pause","target":"broker {}"}})", down),
        text(R"({{"kind":"wipe","target":"broker {}"}})", running), std::string(R"({"kind":"ring"})"),
        std::string(R"({"kind":"stop","target":"broker 9"})")}) {
    const std::string said = refused(json);
    EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto known = observe::checkFault(*parseFault(json), cluster);
      return !known && known.error().message == said;
    })) << json
        << ": " << said;
  }
}

TEST_P(ClusterFaultsTest, AKilledLeaderIsReplacedAndStartsAgainWhenItsTimeIsOver) {
  const NodeId victim = leader();
  const int id = set(R"({"kind":"kill","target":"leader of orders-0","durationMs":1500})");
  EXPECT_TRUE(awaitState(victim, BrokerState::Killed));
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    return orders(cluster)->leader != victim && orders(cluster)->leader != kNoNode;
  }));
  EXPECT_TRUE(awaitState(victim, BrokerState::Running));
  EXPECT_TRUE(awaitIsr(3));
  EXPECT_TRUE(list().empty());
  EXPECT_EQ(lab_->heal(id).error().message, text("fault {} is over already: time over", id));
  EXPECT_EQ(lab_->heal(99).error().message, "there is no fault 99; `faults` lists those that there are");
}

TEST_P(ClusterFaultsTest, WhatAHandKillsAndPausesIsInTheListAndHealAllMendsIt) {
  ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().killBroker(NodeId(1), std::move(done)); }));
  ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().pauseBroker(NodeId(2), std::move(done)); }));
  set(R"({"kind":"delay","target":"link 2<->3","delayMs":1,"trigger":{"afterMs":3600000}})");
  std::vector<std::string> shown;
  for (const FaultStatus& each : list()) shown.push_back(textOf(each.fault) + (each.waits ? " waits" : ""));
  EXPECT_THAT(shown, testing::ElementsAre("kill broker 1", "pause broker 2", "delay link 2<->3 waits"));
  EXPECT_THAT(refused(R"({"kind":"kill","target":"broker 1"})"), HasSubstr("broker 1 was killed: restart it"));
  const auto healed = lab_->healAll();
  ASSERT_TRUE(healed) << healed.error().message;
  EXPECT_EQ(healed->count, 3U);
  EXPECT_THAT(healed->down, testing::IsEmpty());
  EXPECT_TRUE(list().empty());
  EXPECT_TRUE(awaitState(NodeId(1), BrokerState::Running));
  EXPECT_TRUE(awaitState(NodeId(2), BrokerState::Running));
  EXPECT_TRUE(awaitIsr(3));
}

TEST_P(ClusterFaultsTest, ABrokerThatLosesPowerAndAWipedOneComeBack) {
  const NodeId first = follower();
  const int loss = set(text(R"({{"kind":"power-loss","target":"broker {}"}})", first));
  EXPECT_TRUE(awaitState(first, BrokerState::Killed));
  heal(loss);
  EXPECT_TRUE(awaitIsr(3));
  EXPECT_THAT(refused(text(R"({{"kind":"wipe","target":"broker {}"}})", first)),
              HasSubstr("holds its files: kill or stop it first"));
  const int stop = set(text(R"({{"kind":"stop","target":"broker {}"}})", first));
  EXPECT_TRUE(awaitState(first, BrokerState::Stopped));
  EXPECT_THAT(refused(text(R"({{"kind":"wipe","target":"broker {}","path":"payments-*"}})", first)),
              HasSubstr("has no folder payments-*"));
  set(text(R"({{"kind":"wipe","target":"broker {}"}})", first));
  for (const char* gone : {R"("kind":"bit-flip","path":"*.log")", R"("kind":"wipe","path":"orders-*")"})
    EXPECT_EQ(refused(text(R"({{{},"target":"broker {}"}})", gone, first)),
              text("broker {0} has no files any more, they were wiped: `restart {0}` makes new ones", first));
  heal(stop);
  EXPECT_TRUE(awaitState(first, BrokerState::Running));
  EXPECT_TRUE(awaitIsr(3));
  const int again = set(text(R"({{"kind":"stop","target":"broker {}"}})", first));
  EXPECT_TRUE(awaitState(first, BrokerState::Stopped));
  set(text(R"({{"kind":"wipe","target":"broker {}","path":"orders-*"}})", first));
  heal(again);
  EXPECT_TRUE(awaitState(first, BrokerState::Running));
  EXPECT_TRUE(awaitIsr(3));
}

TEST_P(ClusterFaultsTest, ALossOfPowerIsToldAtOnceAndItsCopiesAreSeenAsTheyLieOnTheDisk) {
  produce(10);
  const NodeId broker = follower();
  const auto copyIn = [broker](const observe::ClusterSnapshot& cluster) -> const observe::ReplicaSnapshot* {
    const auto* partition = orders(cluster);
    return partition == nullptr ? nullptr : observe::findReplica(*partition, broker);
  };
  int64_t before = 0;
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* copy = copyIn(cluster);
    if (copy == nullptr || copy->logEnd != Offset(10)) return false;
    before = copy->sizeInBytes;
    return true;
  }));
  lab_->cluster().onChange([] {});
  const int loss = set(text(R"({{"kind":"power-loss","target":"broker {}"}})", broker));
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* copy = copyIn(cluster);
    return copy != nullptr && !copy->online && copy->logEnd == Offset(0) && copy->lostTo == Offset(10) &&
           copy->sizeInBytes == 0 && copy->segments.size() == 1 && copy->segments[0].sizeInBytes == 0;
  })) << "nothing of it was synced";
  const Lasting lasting = list().front().lasting;
  const auto log = std::ranges::find_if(
      lasting.paths, [](const std::string& path) { return path.ends_with("/orders-0/00000000000000000000.log"); });
  ASSERT_NE(log, lasting.paths.end());
  EXPECT_EQ(lasting.lostBytes.at(static_cast<size_t>(log - lasting.paths.begin())), static_cast<uint64_t>(before));
  EXPECT_TRUE(std::ranges::is_sorted(lasting.lostBytes, std::ranges::greater()));
  EXPECT_GE(lasting.lostInAll, static_cast<uint64_t>(before));
  heal(loss);
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* copy = copyIn(cluster);
    return copy != nullptr && copy->online && copy->logEnd == Offset(10) && copy->lostTo == kNoOffset;
  }));
  EXPECT_EQ(lists().over.back().lasting, lasting);
}

TEST_P(ClusterFaultsTest, WhatWasSyncedOfALogIsStillSeenAfterALossOfPower) {
  produce(4);
  const NodeId broker = follower();
  EXPECT_TRUE(awaitIsr(3));
  const auto restarted = lab_->perform([&](auto done) { lab_->cluster().restartBroker(broker, std::move(done)); });
  ASSERT_TRUE(restarted) << restarted.error().message;
  EXPECT_TRUE(awaitIsr(3));
  produce(6);
  const auto shows = [&](Offset end, Offset lostTo) {
    return lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* partition = orders(cluster);
      const auto* copy = partition == nullptr ? nullptr : observe::findReplica(*partition, broker);
      return copy != nullptr && copy->logEnd == end && copy->lostTo == lostTo;
    });
  };
  EXPECT_TRUE(shows(Offset(10), kNoOffset));
  lab_->cluster().onChange([] {});
  set(text(R"({{"kind":"power-loss","target":"broker {}"}})", broker));
  EXPECT_TRUE(shows(Offset(4), Offset(10))) << "a controlled stop syncs";
}

TEST_P(ClusterFaultsTest, ItBeginsWithItsEvent) {
  EXPECT_THAT(refused(R"({"kind":"pause","target":"broker 9","trigger":{"event":"BecameLeader"}})"),
              HasSubstr("there is no broker 9"));
  const NodeId before = leader();
  set(R"({"kind":"delay","target":"link clients->2","delayMs":1,"trigger":{"event":"BecameLeader","partition":"orders-1"}})");
  set(text(
      R"({{"kind":"delay","target":"link clients->3","delayMs":1,"trigger":{{"event":"BecameLeader","broker":{}}}}})",
      before));
  const int awaited = set(
      R"({"kind":"slow","target":"leader of orders-0","delayMs":1,"trigger":{"event":"BecameLeader","partition":"orders-0"}})");
  for (const FaultStatus& each : list()) {
    EXPECT_TRUE(each.waits);
    EXPECT_FALSE(each.left) << "nobody knows when";
  }
  ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().killBroker(before, std::move(done)); }));
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto found = std::ranges::find(cluster.faults, awaited, &observe::FaultSnapshot::id);
    return found != cluster.faults.end() && !found->waits && found->broker != before &&
           found->broker == orders(cluster)->leader;
  }));
  for (const FaultStatus& each : list())
    EXPECT_EQ(each.waits, areaOf(each.fault.kind) == Area::Links)
        << "those wait for another partition, or another broker";
}

TEST_P(ClusterFaultsTest, AnEventIsHeardOfThoughNobodyLooks) {
  const NodeId paused = leader();
  const NodeId victim = NodeId(paused.value() % 3 + 1);
  set(text(R"({{"kind":"pause","target":"broker {}","trigger":{{"event":"BrokerDown","afterMs":1}}}})", paused));
  ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().killBroker(victim, std::move(done)); }));
  EXPECT_TRUE(awaitState(paused, BrokerState::Paused));
}

TEST_P(ClusterFaultsTest, ABitThatTurnedInALogOrItsIndexCostsNothingThatOthersHave) {
  constexpr int kRecords = 40;
  produce(kRecords);
  const NodeId broken = follower();
  for (const char* path :
       {"orders-0/*.log", "orders-0/*.index", "orders-0/*.timeindex", "__cluster_metadata-0/*.log"}) {
    ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().killBroker(broken, std::move(done)); }));
    set(text(R"({{"kind":"bit-flip","target":"broker {}","path":"{}"}})", broken, path));
    const auto started = lab_->perform([&](auto done) { lab_->cluster().restartBroker(broken, std::move(done)); });
    ASSERT_TRUE(started) << path << ": " << started.error().message;
    EXPECT_TRUE(awaitIsr(3)) << path;
    EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* copy = observe::findReplica(*orders(cluster), broken);
      return copy != nullptr && copy->logEnd == Offset(kRecords);
    })) << path;
  }
}

TEST_P(ClusterFaultsTest, ABitThatTurnedInATextFileCostsNothingThatOthersHave) {
  constexpr int kRecords = 40;
  produce(kRecords);
  const NodeId broken = follower();
  const auto start = [&] {
    return lab_->perform([&](auto done) { lab_->cluster().restartBroker(broken, std::move(done)); });
  };
  for (const char* path : {"orders-0/leader-epoch-checkpoint", "orders-0/partition.metadata",
                           "replication-offset-checkpoint", "recovery-point-offset-checkpoint", ".kafka_cleanshutdown",
                           "__cluster_metadata-0/leader-epoch-checkpoint", "__cluster_metadata-0/quorum-state"}) {
    // What its controlled stop leaves is complete, and it is believed.
    ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().stopBroker(broken, std::move(done)); }));
    const auto flip = [&] { set(text(R"({{"kind":"bit-flip","target":"broker {}","path":"{}"}})", broken, path)); };
    flip();
    auto started = start();
    if (!started && std::string_view(path).ends_with("quorum-state")) {
      // Who does not know for whom it has voted must not vote (K2).
      EXPECT_THAT(started.error().message, HasSubstr("quorum-state"));
      flip();
      started = start();
    }
    ASSERT_TRUE(started) << path << ": " << started.error().message;
    EXPECT_TRUE(awaitIsr(3)) << path;
    EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* copy = observe::findReplica(*orders(cluster), broken);
      return copy != nullptr && copy->logEnd == Offset(kRecords);
    })) << path;
  }
}

TEST_P(ClusterFaultsTest, ABrokenDiskIsNoticed) {
  const NodeId broken = follower();
  // A bit of a file whose sums tell, while nobody reads it.
  EXPECT_THAT(refused(text(R"({{"kind":"bit-flip","target":"broker {}","path":"no-such-file"}})", broken)),
              HasSubstr("has no file no-such-file"));
  set(text(R"({{"kind":"bit-flip","target":"broker {}","path":"__cluster_metadata-0/*.checkpoint"}})", broken));
  ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().killBroker(broken, std::move(done)); }));
  const auto started = lab_->perform([&](auto done) { lab_->cluster().restartBroker(broken, std::move(done)); });
  EXPECT_FALSE(started);
  // The same bit once more, and all is well.
  set(text(R"({{"kind":"bit-flip","target":"broker {}","path":"__cluster_metadata-0/*.checkpoint"}})", broken));
  const auto again = lab_->perform([&](auto done) { lab_->cluster().restartBroker(broken, std::move(done)); });
  EXPECT_TRUE(again) << again.error().message;
  EXPECT_TRUE(awaitIsr(3));
}

TEST_P(ClusterFaultsTest, NothingKeepsTheLabFromABrokersDisk) {
  const NodeId slow = follower();
  set(text(R"({{"kind":"slow-disk","target":"broker {}","delayMs":600000}})", slow));
  // Else it would be read and written in that time, and whatever is asked for meanwhile would wait.
  set(text(R"({{"kind":"bit-flip","target":"broker {}","path":"__cluster_metadata-0/*.checkpoint"}})", slow));
  EXPECT_EQ(list().size(), 1U);
}

TEST_P(ClusterFaultsTest, WhatIsOverStaysInTheListWithWhatItLeavesBehind) {
  produce(4);
  const NodeId broken = follower();
  set(text(R"({{"kind":"bit-flip","target":"broker {}","path":"orders-0/*.log"}})", broken));
  set(text(R"({{"kind":"clock-jump","target":"broker {}","offsetMs":60000}})", broken));
  const auto jumped = lists().over;
  ASSERT_EQ(jumped.size(), 2U);
  EXPECT_EQ(jumped[0].node, broken);
  EXPECT_EQ(jumped[0].ending, Ending::FiredOut);
  ASSERT_EQ(jumped[0].lasting.paths.size(), 1U);
  EXPECT_THAT(jumped[0].lasting.paths[0], testing::EndsWith("/orders-0/00000000000000000000.log"));
  EXPECT_GT(jumped[0].lasting.flippedByte.value_or(0), 100U) << "in the middle of it";
  EXPECT_EQ(jumped[1].lasting.wall, milliseconds(60000));
  const int kill = set(text(R"({{"kind":"kill","target":"broker {}"}})", broken));
  set(text(R"({{"kind":"wipe","target":"broker {}","path":"orders-*"}})", broken));
  heal(kill);
  std::vector<std::string> over;
  const FaultBook::Lists all = lists();
  for (const FaultOver& each : all.over)
    over.push_back(fmt::format("{} {}", nameOf(each.fault.kind), nameOf(each.ending)));
  EXPECT_THAT(over,
              testing::ElementsAre("bit-flip fired out", "clock-jump fired out", "wipe fired out", "kill healed"));
  EXPECT_EQ(all.over[1].lasting.wall, milliseconds{}) << "its clock is right since it started anew";
  EXPECT_THAT(all.over[2].lasting.paths, testing::ElementsAre(testing::EndsWith("/orders-0")));
  EXPECT_TRUE(all.set.empty());
}

TEST_P(ClusterFaultsTest, WhatABrokerWithAWrongClockDoesIsToldInTheOrderOfTheLab) {
  lab_->cluster().onChange([] {});
  const NodeId wrong = leader();
  set(text(R"({{"kind":"clock-jump","target":"broker {}","offsetMs":3600000}})", wrong));
  produce(1);
  std::map<bool, platform::WallTime> appended;
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot&) {
    for (const observe::ObservedEvent& event : lab_->cluster().drainEvents(0, SIZE_MAX).events)
      if (std::holds_alternative<events::BatchAppended>(event.event.payload) && event.topic == "orders")
        appended[event.event.broker == wrong] = event.event.wall;
    return appended.size() == 2;
  }));
  EXPECT_LT(std::chrono::abs(appended[true] - appended[false]), std::chrono::minutes(1));
  lab_->cluster().onChange({});
}

TEST_P(ClusterFaultsTest, OneThatCannotBeginWhenItIsDueIsOverAndSaysWhy) {
  set(R"({"kind":"kill","target":"leader of payments-0","trigger":{"afterMs":1}})");
  const NodeId after = follower();
  set(text(R"({{"kind":"kill","target":"broker {}","trigger":{{"afterMs":50}}}})", after));
  EXPECT_TRUE(awaitState(after, BrokerState::Killed));
  const auto over = lists().over;
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].ending, Ending::Dropped);
  EXPECT_EQ(over[0].reason, "there is no partition payments-0");
}

TEST_P(ClusterFaultsTest, WhatNobodyIsIsToldWithTheFaultThatNamesIt) {
  const auto notes = [&](std::string_view json) {
    const auto placed = answerOf<Result<cluster::Cluster::PlacedFault>>(
        [&](auto done) { lab_->cluster().placeFault(parseFault(json).value(), std::move(done)); });
    EXPECT_TRUE(placed) << json << ": " << placed.error().message;
    std::vector<std::string> all;
    if (placed)
      for (const Unmatched& each : placed->unmatched) all.push_back(textOf(each, placed->who));
    return all;
  };
  using testing::ElementsAre;
  const NodeId victim = follower();
  const std::string who = text("broker {}", victim);
  EXPECT_THAT(notes(R"({"kind":"delay","target":"link clients named billing->1","delayMs":1})"),
              ElementsAre("no client named billing is connected"));
  EXPECT_THAT(notes(R"({"kind":"request-drop","target":"clients named billing","topic":"payments"})"),
              ElementsAre("no client named billing is connected", "there is no topic payments"));
  EXPECT_THAT(notes(R"({"kind":"request-drop","target":"clients named tidemark-lab","topic":"orders","partition":0})"),
              ElementsAre());
  EXPECT_THAT(
      notes(R"({"kind":"kill","target":"leader of orders-7","trigger":{"event":"IsrShrunk","partition":"orders-1"}})"),
      ElementsAre("there is no partition orders-1", "there is no partition orders-7"));
  EXPECT_THAT(notes(text(R"({{"kind":"disk-error","target":"{}","path":"orders-9/*.log"}})", who)),
              ElementsAre(who + " has no file or folder orders-9/*.log"));
  EXPECT_THAT(notes(text(R"({{"kind":"slow-disk","target":"{}","path":"orders-0/*.log","delayMs":1}})", who)),
              ElementsAre());
  EXPECT_THAT(refused(text(R"({{"kind":"disk-error","target":"{}","path":"/etc/*.log"}})", who)),
              HasSubstr("/etc/*.log is no path of the brokers': their files are in /"));
  EXPECT_THAT(notes(R"({"kind":"request-drop","topic":"orders","partition":7})"),
              ElementsAre("there is no partition orders-7"));
  ASSERT_TRUE(lab_->perform([&](auto done) { lab_->cluster().killBroker(victim, std::move(done)); }));
  EXPECT_EQ(refused(text(R"({{"kind":"clock-jump","target":"{}","offsetMs":1}})", who)),
            who + " does not run, and its clocks are right when it starts: restart it first");
  EXPECT_THAT(notes(R"({"kind":"request-delay","delayMs":1,"topic":"__cluster_metadata","partition":0})"),
              ElementsAre())
      << "it is no topic like others, and is there";
}

TEST_P(ClusterFaultsTest, WhoLooksIsShownWhatNobodyIsAndWhatIsOver) {
  lab_->cluster().onChange([] {});
  const NodeId flipped = follower();
  const std::string who = text("broker {}", flipped);
  const int drop = set(R"({"kind":"request-drop","target":"clients named billing"})");
  const int cut = set(R"({"kind":"cut","target":"link 1<->2"})");
  const int flip = set(text(R"({{"kind":"bit-flip","target":"{}","path":"meta.properties"}})", who));
  heal(cut);
  const auto shown = answerOf<observe::SnapshotPtr>([&](auto done) { lab_->cluster().describeNow(std::move(done)); });
  lab_->cluster().onChange({});
  ASSERT_EQ(shown->faults.size(), 1U);
  EXPECT_EQ(shown->faults[0].id, drop);
  EXPECT_THAT(shown->faults[0].unmatched,
              testing::ElementsAre(Unmatched{.what = Unmatched::What::Client, .name = "billing"}));
  ASSERT_EQ(shown->faultsOver.size(), 2U);
  const observe::FaultOverSnapshot& first = shown->faultsOver[0];
  EXPECT_EQ(first.id, flip);
  EXPECT_EQ(first.ending, Ending::FiredOut);
  EXPECT_EQ(first.broker, flipped);
  EXPECT_TRUE(first.lasting.flippedByte);
  EXPECT_EQ(shown->faultsOver[1].id, cut);
  EXPECT_EQ(shown->faultsOver[1].ending, Ending::Healed);
  for (const observe::FaultOverSnapshot& each : shown->faultsOver) {
    EXPECT_LE(each.setAt, each.endedAt);
    EXPECT_LE(each.endedAt, shown->at);
  }
  // Nobody looks: nothing is looked up.
  set(R"({"kind":"request-drop","target":"clients named billing"})");
  const auto later = answerOf<observe::SnapshotPtr>([&](auto done) { lab_->cluster().describeNow(std::move(done)); });
  EXPECT_TRUE(later->faults.back().unmatched.empty());
}

/// The lab waits for brokers only so long.
class ImpatientTest : public ClusterFaultsTest {
 protected:
  void SetUp() override {
    lab_->cluster().setPatience(milliseconds(1500));
    ClusterFaultsTest::SetUp();
  }
};

TEST_P(ImpatientTest, WhoHealsABrokerThatNobodyRegistersIsToldWhatItLacks) {
  for (const char* link : {"1<->2", "1<->3", "2<->3"}) set(text(R"({{"kind":"cut","target":"link {}"}})", link));
  EXPECT_TRUE(
      lab_->awaitCluster([](const observe::ClusterSnapshot& cluster) { return cluster.quorum.leader == kNoNode; }));
  const int kill = set(R"({"kind":"kill","target":"broker 1"})");
  const auto healed = lab_->heal(kill);
  EXPECT_EQ(
      healed.error().message,
      "broker 1 is started and goes on trying, but is not registered after 1.5 s: no controller is active, 3 of 3 "
      "controllers run, 3 faults are set, and it was launched with log.index.interval.bytes=1");
  EXPECT_EQ(list().size(), 3U);
  // Of links nobody waits for anybody.
  const auto rest = lab_->healAll();
  EXPECT_EQ(rest.value().count, 3U);
  EXPECT_TRUE(awaitState(NodeId(1), BrokerState::Running));
  EXPECT_TRUE(awaitIsr(3));
}

INSTANTIATE_TEST_SUITE_P(Platforms, ImpatientTest, testing::Values(true, false),
                         [](const auto& which) { return which.param ? "Native" : "Simulated"; });

/// Two brokers and, on nodes of their own, three controllers.
class SeparateControllersTest : public ClusterFaultsTest {
 protected:
  void SetUp() override {
    observe::LaunchOptions options;
    options.brokers = 2;
    options.separateControllers = 3;
    options.firstTopic = observe::TopicOptions{
        .name = "orders", .partitions = 1, .replicationFactor = 2, .configs = {{"min.insync.replicas", "1"}}};
    launch(std::move(options), 2);
  }
  /// The quorum's leader, once there is one among the others than `but`.
  NodeId controller(NodeId but = kNoNode) {
    NodeId found = kNoNode;
    EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      found = cluster.quorum.leader;
      return found != kNoNode && found != but;
    }));
    return found;
  }
  NodeId otherBroker() { return NodeId(3 - leader().value()); }
};

TEST_P(SeparateControllersTest, OneThatIsKilledIsReplacedAndTheBrokersGoOn) {
  const NodeId first = controller();
  EXPECT_GE(first, NodeId(3));
  EXPECT_TRUE(lab_->awaitCluster([](const observe::ClusterSnapshot& cluster) {
    return cluster.brokers.size() == 5 && std::ranges::all_of(cluster.brokers, [](const auto& node) {
             return node.isBroker == (node.id < NodeId(3)) && node.state == BrokerState::Running;
           });
  }));
  const int kill = set(R"({"kind":"kill","target":"the active controller"})");
  EXPECT_TRUE(awaitState(first, BrokerState::Killed));
  const NodeId second = controller(first);
  EXPECT_GE(second, NodeId(3));
  // It decides: who leads is gone.
  const NodeId before = leader();
  const int stop = set(text(R"({{"kind":"kill","target":"broker {}"}})", before));
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    return orders(cluster)->leader != before && orders(cluster)->leader != kNoNode;
  }));
  heal(stop);
  heal(kill);
  EXPECT_TRUE(awaitState(first, BrokerState::Running));
  EXPECT_TRUE(awaitIsr(2));
}

TEST_P(SeparateControllersTest, WhatIsSaidOfAControllerCallsItOne) {
  const auto resumed = [this](int id) {
    return lab_->perform([&](auto done) { lab_->cluster().resumeBroker(NodeId(id), std::move(done)); }).error().message;
  };
  EXPECT_EQ(resumed(2), "broker 2 is not paused");
  EXPECT_EQ(resumed(4), "controller 4 is not paused");
  set(R"({"kind":"pause","target":"controller 4"})");
  const int kill = set(R"({"kind":"kill","target":"controller 4"})");
  EXPECT_EQ(lists().over.back().reason, "controller 4 was killed");
  EXPECT_THAT(refused(R"({"kind":"wipe","target":"controller 4","path":"orders-*"})"),
              HasSubstr("controller 4 has no folder orders-*"));
  heal(kill);
}

TEST_P(SeparateControllersTest, ShapesAreMadeOfAllNodes) {
  for (const char* shape : {R"({"kind":"ring"})", R"({"kind":"bridge","target":"broker 1"})"}) {
    const int id = set(shape);
    EXPECT_TRUE(lab_->awaitCluster([](const observe::ClusterSnapshot& cluster) {
      return !cluster.faults.empty() && cluster.faults.front().fired > 0;
    })) << shape;
    heal(id);
    EXPECT_TRUE(awaitIsr(2)) << shape;
  }
  // The controllers hear one of the brokers only.
  const int id = set(R"({"kind":"halves","left":[1],"right":[2,3,4,5]})");
  EXPECT_TRUE(lab_->awaitCluster([](const observe::ClusterSnapshot& cluster) {
    return orders(cluster)->leader == NodeId(2) && orders(cluster)->isr == std::vector{NodeId(2)};
  }));
  heal(id);
  EXPECT_TRUE(awaitIsr(2));
}

TEST_P(SeparateControllersTest, RequestsToAControllerMeetFaultsAsWell) {
  const NodeId behind = otherBroker();
  set(R"({"kind":"request-drop","api":"BrokerHeartbeat","durationMs":4000})");
  EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
    const auto* broker = observe::findBroker(cluster, behind);
    return broker != nullptr && broker->state == BrokerState::Fenced;
  })) << "nobody heard of it";
  EXPECT_TRUE(awaitIsr(2));
}

INSTANTIATE_TEST_SUITE_P(Platforms, SeparateControllersTest, testing::Values(true, false),
                         [](const auto& which) { return which.param ? "Native" : "Simulated"; });

INSTANTIATE_TEST_SUITE_P(Platforms, ClusterFaultsTest, testing::Values(true, false),
                         [](const auto& which) { return which.param ? "Native" : "Simulated"; });

}  // namespace
}  // namespace tidemark::faults
