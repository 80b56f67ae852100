#include "sim/scenario.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "cluster/cluster.h"
#include "platform/simulated/generator.h"
#include "platform/simulated/world.h"
#include "sim/applications.h"
#include "sim/faults.h"
#include "sim/journal.h"
#include "sim/quiet_checks.h"
#include "sim/quorum_checkers.h"
#include "sim/replica_logs.h"
#include "sim/replication_checkers.h"
#include "sim/sim_platform.h"
#include "sim/watch.h"

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMinInsyncReplicas = 2;
constexpr int kPartitions = 3;
const std::string kTopic = "orders";

class Scenario {
 public:
  explicit Scenario(const ScenarioOptions& options)
      : options_(options),
        choices_(platform::mix(options.seed, "scenario")),
        brokers_(choices_.chance(20) ? 5 : 3),
        world_(worldOptions()),
        platform_(new SimPlatform(world_)),
        cluster_(std::unique_ptr<cluster::ClusterPlatform>(platform_)),
        watch_(cluster_, brokers_),
        committed_(judge_, logs_),
        given_(judge_, committed_),
        highWatermarks_(judge_, kMinInsyncReplicas),
        quorum_(judge_, logs_, committed_, brokers_, [this](NodeId voter) { return voteIsDurable(voter); }),
        journal_(judge_, committed_),
        assignments_(judge_),
        faults_({.world = world_,
                 .platform = *platform_,
                 .cluster = cluster_,
                 .watch = watch_,
                 .judge = judge_,
                 .tally = tally_,
                 .brokers = brokers_,
                 .clients = {"writer-1", "writer-2", "writer-3", "reader-1", "member-1", "member-2"},
                 .seed = options.seed}) {
    for (Checker* checker :
         std::initializer_list<Checker*>{&logs_, &committed_, &given_, &highWatermarks_, &quorum_, &tally_, &faults_})
      watch_.add(*checker);
    cluster_.onNodeOptions([alter = options_.alter](broker::NodeOptions& node) {
      node.verifyImages = true;
      if (alter) alter(node);
    });
    world_.onStep([this] { afterStep(); });
  }

  ScenarioResult run() {
    try {
      phases();
    } catch (const Stop&) {
    }
    world_.onStep({});
    ScenarioResult result;
    result.breach = judge_.first();
    tally_.finish();
    tally_.count("record acknowledged by all", journal_.acknowledgedCount());
    result.tally = tally_;
    result.traceHash = world_.traceHash();
    result.steps = world_.stepsRun();
    result.settled = settled_;
    return result;
  }

 private:
  struct Stop {};

  platform::WorldOptions worldOptions() {
    platform::WorldOptions options;
    options.seed = options_.seed;
    options.trace = options_.trace;
    options.level = options_.log ? platform::Logger::Level::Info : platform::Logger::Level::Error;
    options.log = [this](platform::MonotonicTime at, platform::Logger::Level level, std::string_view process,
                         std::string_view component, std::string_view text) {
      if (options_.log)
        options_.log(fmt::format("{:>12.6f} {} {}: {}",
                                 std::chrono::duration<double>(at.time_since_epoch()).count() - 3600, process,
                                 component, text));
      // The last words of a process that was crashed in a file call tell nothing.
      if (level >= platform::Logger::Level::Error && platform_->alive(std::string(process)) && !Faults::explains(text))
        judge_.breach("error", fmt::format("{} {}: {}", process, component, text));
    };
    return options;
  }

  bool voteIsDurable(NodeId voter) {
    return world_.disk(fmt::format("broker-{}", voter))
        .isDurable(fmt::format("{}/__cluster_metadata-0/quorum-state", cluster::nodeFolder(kFolder, voter)));
  }

  void afterStep() {
    watch_.look();
    if (++steps_ % 8 == 0)
      for (int i = 1; i <= brokers_; ++i)
        if (broker::Node* node = watch_.node(NodeId(i))) highWatermarks_.look(*node);
    if (judge_.first()) throw Stop();
  }

  void runFor(platform::Duration duration) { world_.runFor(duration); }

  void phases() {
    launch();
    const auto writer = [&](const std::string& name, Writer::Options options) {
      writers_.push_back(
          std::make_unique<Writer>(world_, name, bootstrap_, kTopic, kPartitions, options, options_.seed, journal_));
    };
    writer("writer-1", {.producer = {}});
    writer("writer-2", {.producer = {.linger = milliseconds(5), .requestTimeout = milliseconds(1200)}});
    writer("writer-3", {.producer = {.acks = 1, .idempotent = false}, .pause = milliseconds(150), .burst = 3});
    reader_ = std::make_unique<Reader>(world_, "reader-1", bootstrap_, kTopic, kPartitions, journal_);
    for (const char* name : {"member-1", "member-2"})
      members_.push_back(std::make_unique<Member>(world_, name, bootstrap_, kTopic, journal_, assignments_));
    runFor(seconds(2));

    faults_.begin();
    // Readers that come later see the same.
    for (int i = 1; i <= 3; ++i) {
      runFor(options_.faultsFor / 3);
      late_ = std::make_unique<Reader>(world_, fmt::format("late-{}", i), bootstrap_, kTopic, kPartitions, journal_);
    }
    faults_.end();
    world_.note("everything is mended");
    settle();
  }

  void launch() {
    observe::LaunchOptions options;
    options.brokers = brokers_;
    options.dataFolder = kFolder;
    options.settings = {{"min.insync.replicas", std::to_string(kMinInsyncReplicas)},
                        {"offsets.topic.num.partitions", "2"},
                        {"group.initial.rebalance.delay.ms", "200"},
                        {"log.index.interval.bytes", "200"},
                        {"auto.create.topics.enable", "false"}};
    options.firstTopic =
        observe::TopicOptions{.name = kTopic, .partitions = kPartitions, .replicationFactor = 3, .configs = {}};
    std::optional<Result<void>> launched;
    cluster_.launch(options, [&](Result<void> result) { launched = std::move(result); });
    world_.runUntil([&] { return launched.has_value(); }, seconds(60));
    if (!launched || !*launched) {
      judge_.breach("launch", launched ? launched->error().message : "the cluster is not up after a minute");
      throw Stop();
    }
    for (int i = 0; i < brokers_; ++i) bootstrap_.push_back({options.host, static_cast<uint16_t>(options.port + i)});
  }

  // --- the second phase
  // -----------------------------------------------------------------------------------------------

  void settle() {
    const auto began = world_.now();
    for (const auto& writer : writers_) writer->stop();
    std::string wrong;
    const bool whole = awaitWhole(began + options_.settleWithin, [&] { return wrong = whatIsNotWhole(); });
    if (!whole) return late("L", wrong);
    settled_ = world_.now() - began;
    // Whoever reads from the beginning now sees everything that was acknowledged.
    late_ = std::make_unique<Reader>(world_, "reader-of-all", bootstrap_, kTopic, kPartitions, journal_);
    if (!awaitWhole(world_.now() + options_.settleWithin, [&] { return wrong = journal_.missing(late_->records()); }))
      return late("L5", wrong);
    quiet();
    if (judge_.first()) throw Stop();
  }

  bool awaitWhole(platform::MonotonicTime limit, const std::function<std::string()>& what) {
    while (!what().empty()) {
      if (world_.now() >= limit) return false;
      runFor(milliseconds(100));
    }
    return true;
  }

  void late(const std::string& invariant, const std::string& wrong) {
    judge_.breach(invariant == "L" ? wrong.substr(0, 2) : invariant,
                  fmt::format("{}, {} s after everything was mended", wrong,
                              std::chrono::duration_cast<seconds>(options_.settleWithin).count()));
    throw Stop();
  }

  std::string whatIsNotWhole() {
    std::optional<raft::LeaderAndEpoch> quorum;
    for (int i = 1; i <= brokers_; ++i) {
      broker::Node* node = watch_.node(NodeId(i));
      if (node == nullptr || !node->broker()->isRunning()) return fmt::format("L1: broker {} is not running", i);
      const raft::LeaderAndEpoch leader = node->shared().raft->leaderAndEpoch();
      if (leader.leader == kNoNode) return fmt::format("L1: node {} knows no leader of the quorum", i);
      if (quorum && (quorum->leader != leader.leader || quorum->epoch != leader.epoch))
        return fmt::format("L1: the quorum is led by {} and by {}", quorum->leader, leader.leader);
      quorum = leader;
      const metadata::ImagePtr image = node->broker()->image();
      for (const auto& [name, topic] : image->topics.byName) {
        for (const auto& [index, partition] : topic->partitions) {
          if (!partition->hasLeader())
            return fmt::format("L1: {}-{} has no leader, as broker {} sees it", name, index, i);
          if (partition->isr.size() < partition->replicas.size())
            return fmt::format("L3: the ISR of {}-{} is {{{}}}, as broker {} sees it", name, index,
                               fmt::join(partition->isr, ", "), i);
        }
      }
      if (const auto parked = node->broker()->replicas().parkedProduces(); !parked.empty())
        return fmt::format("L2: {} produce requests are parked at broker {}", parked.size(), i);
    }
    for (const auto& writer : writers_)
      if (writer->unanswered() > 0)
        return fmt::format("L2: {} records of {} are not answered", writer->unanswered(), writer->name());
    return whatOfTheGroup();
  }

  std::string whatOfTheGroup() const {
    std::vector<TopicPartition> assigned;
    for (const auto& member : members_) {
      if (!member->error().empty()) return fmt::format("L4: {}: {}", member->name(), member->error());
      if (member->generation() < 0 || member->generation() != members_.front()->generation())
        return fmt::format("L4: {} is in generation {}, {} in {}", member->name(), member->generation(),
                           members_.front()->name(), members_.front()->generation());
      for (const TopicPartition& partition : member->assignment()) assigned.push_back(partition);
    }
    std::ranges::sort(assigned);
    if (std::ranges::adjacent_find(assigned) != assigned.end() || assigned.size() != kPartitions)
      return fmt::format("L4: {} of {} partitions are assigned: {}", assigned.size(), kPartitions,
                         fmt::join(assigned, ", "));
    return {};
  }

  void quiet() {
    if (!late_->error().empty()) judge_.breach("L5", late_->error());
    for (const char* idempotent : {"writer-1", "writer-2"}) journal_.demandOnceAndInOrder(late_->records(), idempotent);
    std::vector<broker::Node*> nodes;
    for (int i = 1; i <= brokers_; ++i) nodes.push_back(watch_.node(NodeId(i)));
    checkWhenQuiet(judge_, nodes, logs_, committed_, world_.now());
  }

  inline static const std::string kFolder = "/data";

  const ScenarioOptions& options_;
  platform::Generator choices_;
  const int brokers_;
  Judge judge_;
  Tally tally_;
  platform::World world_;
  SimPlatform* const platform_;
  cluster::Cluster cluster_;
  Watch watch_;
  ReplicaLogs logs_;
  CommittedRecords committed_;
  GivenOffsets given_;
  HighWatermarks highWatermarks_;
  Quorum quorum_;
  Journal journal_;
  Assignments assignments_;
  Faults faults_;
  std::vector<platform::Endpoint> bootstrap_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Reader> late_;
  std::vector<std::unique_ptr<Member>> members_;
  uint64_t steps_ = 0;
  platform::Duration settled_{};
};

}  // namespace

ScenarioResult runScenario(const ScenarioOptions& options) {
  return Scenario(options).run();
}

}  // namespace tidemark::sim
