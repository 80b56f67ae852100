// Acknowledged records that an unclean election loses, as news for whoever does not look at the cluster.
#include "cluster/cluster_fixture.h"

#include <gmock/gmock.h>

#include "client/client.h"
#include "client/producer.h"

namespace tidemark::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Losses : public ClusterTest {
 protected:
  ~Losses() override {
    if (executor_ == nullptr) return;
    lab_.run(*executor_, [&] {
      producer_.reset();
      client_.reset();
    });
  }

  /// Three brokers whose quorum is elsewhere, and two partitions with a copy on each.
  void start() {
    observe::LaunchOptions launched = options(3);
    launched.separateControllers = 1;
    launched.settings = {{"unclean.leader.election.enable", "true"}, {"min.insync.replicas", "1"}};
    lab_.cluster().onNews({.died = {}, .late = {}, .lost = [this](const auto& partition, const auto& lost) {
                             lab_.change([&] {
                               told.push_back(fmt::format("{} {}..{} leader {} epoch {}", partition, lost.from, lost.to,
                                                          lost.leader, lost.epoch));
                             });
                           }});
    ASSERT_LAUNCHED(launched);
    ASSERT_TRUE(createTopic("orders", 2));
    process_ = lab_.createProcess("application");
    executor_ = process_->createExecutor({.name = "application", .threads = 1});
    const Ready now = ready();
    lab_.run(*executor_, [&] {
      client::ClientOptions to;
      for (int i = 0; i < 3; ++i) to.bootstrap.push_back({now.host, static_cast<uint16_t>(now.port + i)});
      client_ = std::make_unique<client::Client>(*process_, executor_, std::move(to));
      producer_ = std::make_unique<client::Producer>(*client_, client::ProducerOptions{});
    });
  }
  void produce(int partition, int records) {
    int delivered = 0;
    lab_.run(*executor_, [&] {
      for (int i = 0; i < records; ++i)
        producer_->send({.topic = "orders", .partition = partition, .value = ByteVector(8)},
                        [&](const auto& result) { lab_.change([&] { delivered += result ? 1 : 0; }); });
    });
    ASSERT_TRUE(lab_.await([&] { return delivered == records; }));
  }
  bool awaitPartitions(const std::function<bool(const observe::PartitionSnapshot&)>& holds) {
    return lab_.awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const observe::TopicSnapshot* orders = observe::findTopic(cluster, "orders");
      return orders != nullptr && std::ranges::all_of(orders->partitions, holds);
    });
  }
  /// Broker `first` has written three records to one partition and two to the other, which nobody else has, and is
  /// down.
  void writeAlone(int first, int second, int third) {
    ASSERT_TRUE(kill(second));
    ASSERT_TRUE(kill(third));
    ASSERT_TRUE(
        awaitPartitions([&](const auto& each) { return each.leader == NodeId(first) && each.isr.size() == 1; }));
    produce(0, 3);
    produce(1, 2);
    // Until its high watermarks are on its disk: what it does not know as committed when it comes back it just gives
    // up.
    const auto until = lab_.world().now() + std::chrono::seconds(10);
    ASSERT_TRUE(await([&] { return lab_.world().now() >= until; }));
    ASSERT_TRUE(kill(first));
  }
  /// Of an election, without its epoch.
  static std::string of(int partition, int from, int to, int leader) {
    return fmt::format("orders-{} {}..{} leader {} epoch ", partition, from, to, leader);
  }

  std::vector<std::string> told;
  std::shared_ptr<platform::Process> process_;
  std::shared_ptr<platform::Executor> executor_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::Producer> producer_;
};

TEST_F(Losses, AreToldAtTheElectionAndOnceItIsKnownHowMuch) {
  using testing::StartsWith;
  start();
  writeAlone(1, 2, 3);
  EXPECT_THAT(told, IsEmpty());
  ASSERT_TRUE(restart(2));
  ASSERT_TRUE(lab_.await([&] { return told.size() == 2; })) << told.size();
  EXPECT_THAT(told, UnorderedElementsAre(StartsWith(of(0, 0, -1, 2)), StartsWith(of(1, 0, -1, 2))));
  told.clear();
  // Nothing that it knew is lost.
  ASSERT_TRUE(restart(3));
  ASSERT_TRUE(restart(1));
  ASSERT_TRUE(lab_.await([&] { return told.size() == 2; })) << told.size();
  EXPECT_THAT(told, UnorderedElementsAre(StartsWith(of(0, 0, 3, 2)), StartsWith(of(1, 0, 2, 2))));
  told.clear();
  // A later election is another loss, whatever was told of this one.
  ASSERT_TRUE(awaitPartitions([](const auto& each) { return each.isr.size() == 3; }));
  writeAlone(2, 1, 3);
  ASSERT_TRUE(restart(3));
  ASSERT_TRUE(lab_.await([&] { return told.size() == 2; })) << told.size();
  EXPECT_THAT(told, UnorderedElementsAre(StartsWith(of(0, 0, -1, 3)), StartsWith(of(1, 0, -1, 3))));
}

TEST_F(Losses, CostNobodyAnEventForEachRecordOrRequest) {
  start();
  const events::Recorder& recorder = *lab_.cluster().started(NodeId(1)).recorder;
  EXPECT_TRUE((recorder.wants<events::RecordsLost>()));
  EXPECT_FALSE(recorder.isWatched());
  EXPECT_FALSE((recorder.wants<events::BatchAppended, events::HighWatermarkAdvanced, events::FetchCompleted,
                               events::ProduceCompleted, events::ConnectionOpened>()));
  produce(0, 3);
  EXPECT_EQ(recorder.sequence(), 0U) << "nothing was told";
  // As long as somebody looks all is told.
  lab_.cluster().onChange([] {});
  ASSERT_TRUE(await([&] { return recorder.isWatched(); }));
  lab_.cluster().onChange({});
  ASSERT_TRUE(await([&] { return !recorder.isWatched(); }));
  EXPECT_TRUE((recorder.wants<events::RecordsLost>()));
}

}  // namespace
}  // namespace tidemark::cluster
