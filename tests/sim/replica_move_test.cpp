#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "client/consumer.h"
#include "client/producer.h"
#include "log/file_names.h"
#include "network/channel_codec.h"
#include "protocol/generated/alter_replica_log_dirs_request.h"
#include "protocol/generated/alter_replica_log_dirs_response.h"
#include "sim/lab.h"

// A replica is moved to another directory of its broker under load, and the broker dies at some file call of it.

namespace tidemark::sim {
namespace {

using Crash = platform::SimulatedProcess::Crash;
const TopicPartition kOrders{"orders", PartitionIndex(0)};

class MovedCluster {
 public:
  MovedCluster(uint64_t seed, int replicas) : lab_({.seed = seed}) {
    observe::LaunchOptions options;
    options.dataFolder = "/lab";
    options.logDirectories = 2;
    options.firstTopic = observe::TopicOptions{
        .name = "orders",
        .partitions = 1,
        .replicationFactor = replicas,
        .configs = {{"min.insync.replicas", replicas > 1 ? "2" : "1"}, {"segment.bytes", "1048576"}}};
    const auto launched = lab_.perform([&](auto done) { lab_.cluster().launch(options, std::move(done)); });
    EXPECT_TRUE(launched) << launched.error().message;
    process_ = lab_.createProcess("client");
    executor_ = process_->createExecutor({.name = "client"});
    lab_.run(*executor_, [&] {
      client::ClientOptions to;
      to.bootstrap = {endpointOf(NodeId(1)), endpointOf(NodeId(2)), endpointOf(NodeId(3))};
      client_ = std::make_unique<client::Client>(*process_, executor_, std::move(to));
      producer_ = std::make_unique<client::Producer>(*client_, client::ProducerOptions{});
    });
  }
  ~MovedCluster() {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  SimulatedLab& lab() { return lab_; }
  broker::Node& node(NodeId id) { return *lab_.cluster().node(id); }
  bool isGone(NodeId id) { return lab_.cluster().node(id) == nullptr; }
  platform::SimulatedProcess& process(NodeId id) { return *lab_.alive(id); }
  log::LogManager& logs(NodeId id) { return *node(id).shared().logs; }
  static platform::Endpoint endpointOf(NodeId id) { return {"127.0.0.1", static_cast<uint16_t>(19091 + id.value())}; }
  static std::string folderOf(NodeId id, int disk) {
    return disk == 1 ? fmt::format("/lab/broker-{}", id) : fmt::format("/lab/broker-{}.disk-{}", id, disk);
  }
  /// 1 or 2.
  int diskOf(NodeId id) { return logs(id).pathOf(logs(id).directoryOf(kOrders)) == folderOf(id, 1) ? 1 : 2; }

  void produce(int count) {
    lab_.run(*executor_, [&] {
      for (int i = 0; i < count; ++i) {
        const std::string value = fmt::format("record-{}-{}", next_++, std::string(100, 'x'));
        ++unanswered_;
        const ByteView bytes = asBytes(value);
        producer_->send({.topic = "orders", .partition = 0, .value = ByteVector(bytes.begin(), bytes.end())},
                        [this, value](const Result<client::Delivered>& delivered) {
                          lab_.change([&] {
                            --unanswered_;
                            if (delivered) acknowledged_.insert(value);
                          });
                        });
      }
    });
  }
  bool awaitAnswers() {
    return lab_.await([&] { return unanswered_ == 0; });
  }
  /// Asks the broker; what it answers is of no interest, since it may die over it.
  void requestMove(NodeId broker, int disk) {
    lab_.run(*executor_, [&] {
      channel_ =
          std::make_unique<network::Channel>(*process_, executor_, endpointOf(broker), network::ChannelOptions{});
      protocol::AlterReplicaLogDirsRequest request;
      auto& directory = request.dirs.emplace_back();
      directory.path = protocol::Text(folderOf(broker, disk));
      directory.topics.push_back({.name = "orders", .partitions = {0}});
      channel_->send(std::move(request), {},
                     [this](Result<network::Received<protocol::AlterReplicaLogDirsResponse>> response) {
                       if (!response) return;
                       for (const auto& topic : response->message.results)
                         for (const auto& partition : topic.partitions)
                           moveError_ = static_cast<ErrorCode>(partition.errorCode);
                     });
    });
  }
  std::optional<ErrorCode> moveError() const { return moveError_; }

  bool isSettled(NodeId id) {
    if (isGone(id)) return false;
    const metadata::ImagePtr image = node(id).broker()->image();
    const auto* registration = image->topics.partition("orders", PartitionIndex(0));
    return node(id).broker()->isRunning() && registration != nullptr && registration->hasLeader() &&
           !logs(id).future(kOrders) && registration->directoryOf(id) == logs(id).directoryOf(kOrders);
  }
  /// What lies in the broker's directories for the partition.
  std::vector<std::string> folders(NodeId id) {
    std::vector<std::string> names;
    for (int disk = 1; disk <= 2; ++disk) {
      const auto entries = process(id).files().list(folderOf(id, disk));
      for (const auto& entry : entries.value())
        if (entry.name.starts_with("orders-0")) names.push_back(folderOf(id, disk) + "/" + entry.name);
    }
    return names;
  }
  std::set<std::string> readAll() {
    std::set<std::string> values;
    lab_.run(*executor_, [&] {
      consumer_ = std::make_unique<client::Consumer>(
          *client_, client::ConsumerOptions{},
          [&](const client::ConsumedRecord& consumed) {
            lab_.change([&] { values.emplace(asText(*consumed.record.value)); });
          },
          [](const TopicPartition&, const Error& error) { ADD_FAILURE() << error.message; });
      consumer_->assign({{.where = kOrders}});
    });
    lab_.await([&] { return std::ranges::includes(values, acknowledged_); });
    lab_.run(*executor_, [&] { consumer_.reset(); });
    return values;
  }
  const std::set<std::string>& acknowledged() const { return acknowledged_; }

 private:
  SimulatedLab lab_;
  std::shared_ptr<platform::Process> process_;
  std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::Producer> producer_;
  std::unique_ptr<client::Consumer> consumer_;
  std::unique_ptr<network::Channel> channel_;
  std::optional<ErrorCode> moveError_;
  std::set<std::string> acknowledged_;
  int unanswered_ = 0;
  int next_ = 0;
};

/// Whether the broker died of it.
bool moveAndCrash(uint64_t point, int replicas, Crash how) {
  MovedCluster cluster(point, replicas);
  platform::World& world = cluster.lab().world();
  const NodeId leader = cluster.lab().leaderOf(kOrders);
  cluster.produce(60);
  EXPECT_TRUE(cluster.awaitAnswers());
  // Also the other two have their copies.
  world.runFor(std::chrono::seconds(1));
  const int from = cluster.diskOf(leader);
  const int to = 3 - from;
  cluster.process(leader).crashAtFileCall(point, how);
  cluster.produce(20);
  cluster.requestMove(leader, to);
  bool dead = false;
  for (int i = 0; i < 30 && !dead; ++i) {
    cluster.produce(2);
    world.runFor(std::chrono::milliseconds(50));
    dead = cluster.isGone(leader);
  }
  if (dead) {
    const auto restarted =
        cluster.lab().perform([&](auto done) { cluster.lab().cluster().restartBroker(leader, std::move(done)); });
    EXPECT_TRUE(restarted) << restarted.error().message;
  } else {
    // The move is over; the calls of whoever looks at its files are not meant.
    cluster.process(leader).crashAtFileCall(UINT32_MAX, how);
  }
  EXPECT_TRUE(cluster.awaitAnswers()) << "a record has no answer";
  EXPECT_TRUE(world.runUntil([&] { return cluster.isSettled(leader); }, std::chrono::minutes(1)))
      << "the move does not end";
  cluster.produce(10);
  EXPECT_TRUE(cluster.awaitAnswers());
  world.runFor(std::chrono::seconds(2));
  EXPECT_EQ(cluster.folders(leader),
            std::vector<std::string>{MovedCluster::folderOf(leader, cluster.diskOf(leader)) + "/orders-0"});
  const std::set<std::string> read = cluster.readAll();
  EXPECT_TRUE(std::ranges::includes(read, cluster.acknowledged())) << "an acknowledged record is gone";
  if (!dead) {
    EXPECT_EQ(cluster.moveError(), ErrorCode::None);
    EXPECT_EQ(cluster.diskOf(leader), to);
  }
  return dead;
}

void crashAtEachPoint(int replicas, Crash how, uint64_t stride) {
  int deaths = 0;
  // Closer together at the beginning: that is where the copy is made.
  for (uint64_t point = 1;; point += stride + point / 8) {
    SCOPED_TRACE(fmt::format("{} at file call {} of a move", how == Crash::Kill ? "killed" : "without power", point));
    const bool died = moveAndCrash(point, replicas, how);
    if (testing::Test::HasFailure()) return;
    if (!died) break;
    ++deaths;
  }
  EXPECT_GT(deaths, 10) << "most points lie before the move is over";
}

TEST(ReplicaMove, NoAcknowledgedRecordIsLostWhereverTheOnlyReplicasBrokerIsKilled) {
  crashAtEachPoint(1, Crash::Kill, 3);
}

TEST(ReplicaMove, NoAcknowledgedRecordIsLostWhereverTheLeadersBrokerLosesItsPower) {
  crashAtEachPoint(3, Crash::PowerLoss, 7);
}

// What controllers believe decides who leads when a disk fails.
TEST(ReplicaMove, ALogDirectoryThatFailsIsToldAndItsLeadersMoveToOtherBrokers) {
  MovedCluster cluster(5, 3);
  platform::World& world = cluster.lab().world();
  const NodeId leader = cluster.lab().leaderOf(kOrders);
  cluster.produce(10);
  ASSERT_TRUE(cluster.awaitAnswers());
  // The first directory holds the metadata: without it the broker ends.
  if (cluster.diskOf(leader) == 1) {
    cluster.requestMove(leader, 2);
    ASSERT_TRUE(world.runUntil([&] { return cluster.diskOf(leader) == 2 && cluster.isSettled(leader); },
                               std::chrono::seconds(30)));
  }
  const Uuid failed = cluster.logs(leader).directoryOf(kOrders);
  world.disk(fmt::format("broker-{}", leader)).failWhen([&](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Write && path.starts_with(MovedCluster::folderOf(leader, 2));
  });
  cluster.produce(10);
  EXPECT_TRUE(cluster.awaitAnswers());
  const NodeId other(leader.value() % 3 + 1);
  EXPECT_TRUE(world.runUntil(
      [&] {
        const metadata::ImagePtr image = cluster.node(other).broker()->image();
        const auto* broker = image->cluster.broker(leader);
        const auto* partition = image->topics.partition("orders", PartitionIndex(0));
        return broker != nullptr && !broker->hasOnlineDirectory(failed) && partition->leader != leader &&
               partition->hasLeader() && !partition->isInIsr(leader);
      },
      std::chrono::seconds(30)));
  EXPECT_EQ(cluster.process(leader).state(), platform::Process::State::Running);
  cluster.produce(10);
  EXPECT_TRUE(cluster.awaitAnswers());
  EXPECT_TRUE(std::ranges::includes(cluster.readAll(), cluster.acknowledged()));
}

TEST(ReplicaMove, ABrokerThatCannotTellOfAFailedDirectoryEnds) {
  MovedCluster cluster(6, 3);
  platform::World& world = cluster.lab().world();
  const NodeId leader = cluster.lab().leaderOf(kOrders);
  if (cluster.diskOf(leader) == 1) {
    cluster.requestMove(leader, 2);
    ASSERT_TRUE(world.runUntil([&] { return cluster.diskOf(leader) == 2 && cluster.isSettled(leader); },
                               std::chrono::seconds(30)));
  }
  world.network().isolate(fmt::format("broker-{}", leader));
  world.disk(fmt::format("broker-{}", leader)).failWhen([&](platform::FileCall call, const std::string& path) {
    return call != platform::FileCall::List && path.starts_with(MovedCluster::folderOf(leader, 2));
  });
  const auto log = cluster.logs(leader).get(kOrders);
  EXPECT_FALSE(log->roll());
  const auto from = world.now();
  // log.dir.failure.timeout.ms
  EXPECT_TRUE(world.runUntil([&] { return cluster.isGone(leader); }, std::chrono::seconds(60)));
  EXPECT_GE(world.now() - from, std::chrono::seconds(29));
}

}  // namespace
}  // namespace tidemark::sim
