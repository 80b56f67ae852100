// Each kind of fault once, on real brokers and in the simulator: somebody writes while it is set, it is seen to have
// struck, and once it is healed the partition is whole and nothing that was acknowledged is missing.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "client/producer.h"
#include "faults/fault_json.h"
#include "sim/lab.h"

namespace tidemark::faults {
namespace {

using observe::BrokerState;

struct FaultCase {
  /// `{F}` is a broker that follows, `{L}` the leader.
  std::string_view json;
  /// The state by which it is seen; nothing: that it fired.
  std::optional<BrokerState> brings = {};
  /// The follower is killed before; healing starts it.
  bool isDown = false;
  int brokers = 3;
};

const std::map<Kind, FaultCase>& casesOfFaults() {
  static const std::map<Kind, FaultCase> kCases = {
      {Kind::Cut, {R"("target":"link {L}<->{F}")"}},
      {Kind::Delay, {R"("target":"link {L}<->{F}","delayMs":40,"jitterMs":20)"}},
      {Kind::Reset, {R"("target":"link {L}<->{F}","trigger":{"every":4})"}},
      {Kind::Throttle, {R"("target":"link {L}<->{F}","bytesPerSecond":50000)"}},
      {Kind::Hold, {R"("target":"link {L}->{F}")"}},
      {Kind::Isolate, {R"("target":"broker {L}")"}},
      {Kind::Halves, {R"("left":[{F}],"right":[{L}])"}},
      {Kind::Bridge, {R"("target":"broker {F}")"}},
      {Kind::Ring, {.json = R"("durationMs":600000)", .brokers = 5}},
      {Kind::Kill, {R"("target":"broker {L}")", BrokerState::Killed}},
      {Kind::PowerLoss, {R"("target":"broker {F}")", BrokerState::Killed}},
      {Kind::Pause, {R"("target":"broker {L}")", BrokerState::Paused}},
      {Kind::Slow, {R"("target":"broker {L}","delayMs":3)"}},
      {Kind::Stop, {R"("target":"broker {L}")", BrokerState::Stopped}},
      {Kind::Restart, {R"("target":"broker {F}")", BrokerState::Running}},
      {Kind::Wipe, {R"("target":"broker {F}","path":"orders-*")", BrokerState::Killed, true}},
      {Kind::SlowDisk, {R"("target":"broker {F}","delayMs":5,"path":"*.log","calls":["write"])"}},
      {Kind::DiskError, {R"("target":"broker {F}","path":"orders-0/*.log","calls":["write"])", BrokerState::Killed}},
      {Kind::FullDisk, {R"("target":"broker {F}","path":"orders-0/*.log")", BrokerState::Killed}},
      {Kind::TornWrite, {R"("target":"broker {F}","path":"orders-0/*.log")", BrokerState::Killed}},
      {Kind::BitFlip, {R"("target":"broker {F}","path":"orders-0/*.log")", BrokerState::Killed, true}},
      {Kind::ClockOffset, {R"("target":"broker {L}","offsetMs":-3600000)", BrokerState::Running}},
      {Kind::ClockJump, {R"("target":"broker {L}","offsetMs":3600000)", BrokerState::Running}},
      {Kind::ClockDrift, {R"("target":"broker {F}","rate":1.5)", BrokerState::Running}},
      {Kind::RequestError,
       {R"("target":"broker {L}","api":"Produce","error":"NOT_LEADER_OR_FOLLOWER","trigger":{"every":2})"}},
      {Kind::RequestDelay, {R"("target":"broker {L}","api":"Fetch","delayMs":20)"}},
      {Kind::RequestDrop, {R"("target":"broker {L}","api":"Fetch","trigger":{"every":3})"}},
      {Kind::RequestDisconnect, {R"("target":"broker {L}","api":"Produce","trigger":{"every":2})"}},
  };
  return kCases;
}

class EveryFault : public testing::TestWithParam<std::tuple<Kind, bool>> {
 protected:
  EveryFault() {
    observe::LaunchOptions options;
    options.port = 0;
    options.brokers = case_.brokers;
    options.firstTopic =
        observe::TopicOptions{.name = "orders", .partitions = 1, .replicationFactor = 3, .configs = {}};
    const auto launched = lab_->perform([&](auto done) { lab_->cluster().launch(options, std::move(done)); });
    EXPECT_TRUE(launched) << launched.error().message;
    EXPECT_TRUE(awaitWhole(0));
    leader_ = lab_->leaderOf({"orders", PartitionIndex(0)});
    EXPECT_TRUE(lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* partition = orders(cluster);
      if (partition == nullptr) return false;
      for (NodeId member : partition->isr)
        if (member != leader_) follower_ = member;
      return follower_ != kNoNode;
    }));
  }
  ~EveryFault() override {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  static const observe::PartitionSnapshot* orders(const observe::ClusterSnapshot& cluster) {
    return observe::findPartition(cluster, {"orders", PartitionIndex(0)});
  }
  /// Three copies in sync, each with so many records at least.
  bool awaitWhole(int records) {
    return lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* partition = orders(cluster);
      return partition != nullptr && partition->leader != kNoNode && partition->isr.size() == 3 &&
             std::ranges::all_of(partition->isr, [&](NodeId member) {
               const auto* copy = observe::findReplica(*partition, member);
               return copy != nullptr && copy->logEnd >= Offset(records);
             });
    });
  }
  bool awaitState(NodeId broker, BrokerState state) {
    return lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto* found = observe::findBroker(cluster, broker);
      return found != nullptr && found->state == state;
    });
  }
  bool awaitFired(int id) {
    return lab_->awaitCluster([&](const observe::ClusterSnapshot& cluster) {
      const auto found = std::ranges::find(cluster.faults, id, &observe::FaultSnapshot::id);
      return found != cluster.faults.end() && found->fired > 0;
    });
  }
  int set() {
    std::string json = fmt::format(R"({{"kind":"{}",{}}})", nameOf(kind_), case_.json);
    for (const auto& [name, id] : {std::pair("{L}", leader_), std::pair("{F}", follower_)})
      for (size_t at = json.find(name); at != json.npos; at = json.find(name))
        json.replace(at, 3, std::to_string(id.value()));
    auto fault = parseFault(json);
    EXPECT_TRUE(fault) << json << ": " << fault.error().message;
    if (!fault) return 0;
    std::optional<Result<int>> answer;
    lab_->cluster().setFault(*fault, [&](Result<int> id) { lab_->change([&] { answer = std::move(id); }); });
    EXPECT_TRUE(lab_->await([&] { return answer.has_value(); }));
    EXPECT_TRUE(*answer) << answer->error().message;
    return answer->value_or(0);
  }
  void write(int count) {
    sent_ += count;
    lab_->run(*executor_, [&] {
      if (!producer_) {
        client::ClientOptions options;
        options.bootstrap = bootstrap_;
        client_ = std::make_unique<client::Client>(*process_, executor_, std::move(options));
        producer_ = std::make_unique<client::Producer>(*client_, client::ProducerOptions{.batchBytes = 1});
      }
      for (int i = 0; i < count; ++i)
        producer_->send({.topic = "orders", .partition = 0, .value = ByteVector(100)},
                        [this](const Result<client::Delivered>& result) {
                          lab_->change([&] { (result ? delivered_ : failed_) += 1; });
                        });
    });
  }
  void perform(const std::function<void(observe::ClusterSource::Done)>& command) {
    const auto done = lab_->perform(command);
    EXPECT_TRUE(done) << done.error().message;
  }

  const Kind kind_ = std::get<0>(GetParam());
  const FaultCase case_ = casesOfFaults().at(kind_);
  const std::unique_ptr<sim::Lab> lab_ = std::get<1>(GetParam())
                                             ? std::unique_ptr<sim::Lab>(std::make_unique<sim::NativeLab>())
                                             : std::make_unique<sim::SimulatedLab>(platform::WorldOptions{.seed = 17});
  const std::shared_ptr<platform::Process> process_ = lab_->createProcess("writer");
  const std::shared_ptr<platform::Executor> executor_ = process_->createExecutor({.name = "writer"});
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::Producer> producer_;
  std::vector<platform::Endpoint> bootstrap_;
  NodeId leader_;
  NodeId follower_;
  int sent_ = 0;
  int delivered_ = 0;
  int failed_ = 0;
};

TEST_P(EveryFault, StrikesAndCostsNothingThatWasAcknowledged) {
  std::optional<cluster::Ready> ready;
  lab_->cluster().whenReady([&](cluster::Ready now) { lab_->change([&] { ready = std::move(now); }); });
  ASSERT_TRUE(lab_->await([&] { return ready.has_value(); }));
  bootstrap_ = {{ready->host, ready->port}};
  write(10);
  ASSERT_TRUE(lab_->await([&] { return delivered_ == 10; }));
  if (case_.isDown) perform([&](auto done) { lab_->cluster().killBroker(follower_, std::move(done)); });
  const int id = set();
  write(20);
  const NodeId struck = case_.json.contains("{L}") ? leader_ : follower_;
  if (case_.brings) {
    EXPECT_TRUE(awaitState(struck, *case_.brings));
  } else {
    EXPECT_TRUE(awaitFired(id));
  }
  const auto healed = lab_->healAll();
  ASSERT_TRUE(healed) << healed.error().message;
  // Who has died of its disk is not started by healing, and whoever heals is told so.
  const bool diesOfDisk = areaOf(kind_) == Area::Disks && case_.brings && !case_.isDown;
  EXPECT_EQ(healed->down, diesOfDisk ? std::vector{follower_} : std::vector<NodeId>{});
  if (diesOfDisk) perform([&](auto done) { lab_->cluster().restartBroker(follower_, std::move(done)); });
  EXPECT_TRUE(lab_->await([&] { return delivered_ + failed_ == sent_; }));
  EXPECT_EQ(failed_, 0);
  EXPECT_TRUE(awaitWhole(sent_));
}

TEST(EveryFaultTable, NamesEachKind) {
  for (Kind kind : allKinds()) EXPECT_TRUE(casesOfFaults().contains(kind)) << nameOf(kind);
}

INSTANTIATE_TEST_SUITE_P(Table, EveryFault, testing::Combine(testing::ValuesIn(allKinds()), testing::Bool()),
                         [](const auto& each) {
                           std::string name(nameOf(std::get<0>(each.param)));
                           std::ranges::replace(name, '-', '_');
                           return name + (std::get<1>(each.param) ? "_Native" : "_Simulated");
                         });

}  // namespace
}  // namespace tidemark::faults
