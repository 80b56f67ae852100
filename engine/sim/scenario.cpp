#include "sim/scenario.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "cluster/cluster.h"
#include "platform/simulated/world.h"
#include "sim/applications.h"
#include "sim/chronicle.h"
#include "sim/faults.h"
#include "sim/group_load.h"
#include "sim/journal.h"
#include "sim/losses.h"
#include "sim/quiet_checks.h"
#include "sim/quorum_checkers.h"
#include "sim/replica_logs.h"
#include "sim/replication_checkers.h"
#include "sim/scenario_topology.h"
#include "sim/share_load.h"
#include "sim/sim_platform.h"
#include "sim/stable_offsets.h"
#include "sim/streams_load.h"
#include "sim/sync_checkers.h"
#include "sim/tape.h"
#include "sim/told_faults.h"
#include "sim/transactional_load.h"
#include "sim/watch.h"

namespace tidemark::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kTopic = "orders";
/// Lines of the excerpt of a failure.
constexpr size_t kExcerptLines = 60;

class Scenario {
 public:
  explicit Scenario(const ScenarioOptions& options)
      : options_(options),
        topology_(drawTopology(options.seed, options.brokers)),
        brokers_(topology_.brokers),
        world_(worldOptions()),
        platform_(new SimPlatform(world_)),
        told_(world_, *platform_, topology_.members(), static_cast<bool>(options.record)),
        cluster_(std::unique_ptr<cluster::ClusterPlatform>(platform_)),
        watch_(cluster_, topology_.nodes()),
        sequences_(judge_),
        losses_([this](const Losses::Loss& loss) { lost(loss); }),
        committed_(judge_, logs_, watch_, losses_,
                   [this](const TopicPartition& partition, Offset base, const BatchKey& batch) {
                     sequences_.committed(partition, base, batch);
                   }),
        given_(judge_, committed_),
        highWatermarks_(judge_, losses_, topology_.minInsyncReplicas),
        inSync_(judge_, logs_, committed_, watch_),
        quorum_(judge_, logs_, committed_, topology_.firstController(), topology_.controllers,
                [this](NodeId voter) { return voteIsDurable(voter); }),
        stableOffsets_(judge_, logs_, watch_),
        journal_(judge_, committed_),
        groups_({.world = world_,
                 .judge = judge_,
                 .tally = tally_,
                 .journal = journal_,
                 .topic = kTopic,
                 .partitions = topology_.partitions},
                drawGroups(options.seed)),
        transactions_({.world = world_,
                       .watch = watch_,
                       .judge = judge_,
                       .tally = tally_,
                       .journal = journal_,
                       .seed = options.seed,
                       .topic = kTopic,
                       .partitions = topology_.partitions},
                      drawTransactions(options.seed, kTopic, topology_.partitions, options.allKinds)),
        shares_({.world = world_,
                 .judge = judge_,
                 .tally = tally_,
                 .journal = journal_,
                 .seed = options.seed,
                 .topic = kTopic,
                 .partitions = topology_.partitions},
                options.allKinds ? drawShares(options.seed) : SharePlan()),
        streams_({.world = world_,
                  .judge = judge_,
                  .tally = tally_,
                  .seed = options.seed,
                  .topic = kTopic,
                  .partitions = topology_.partitions,
                  .copies = topology_.copies,
                  .offsetsExpire = groups_.plan().offsetsExpire},
                 options.allKinds ? drawStreams(options.seed) : StreamsPlan()),
        chronicle_([this] { return world_.now(); }, topology_.nodes()),
        faults_({.world = world_,
                 .platform = *platform_,
                 .cluster = cluster_,
                 .watch = watch_,
                 .judge = judge_,
                 .losses = losses_,
                 .tally = tally_,
                 .told = told_,
                 .brokers = brokers_,
                 .members = topology_.members(),
                 .minInsyncReplicas = topology_.minInsyncReplicas,
                 .clients = clients(),
                 .further = {furtherClientsOfShares(shares_.plan().clients()),
                             furtherClientsOfStreams(streams_.plan().clients())},
                 .seed = options.seed,
                 .only = options.faults,
                 .note = [this](const std::string& text) { note(text); }}) {
    for (Checker* checker :
         std::initializer_list<Checker*>{&chronicle_, &logs_, &committed_, &given_, &highWatermarks_, &inSync_,
                                         &quorum_, &stableOffsets_, &groups_, &shares_, &streams_, &tally_, &faults_})
      watch_.add(*checker);
    if (options.record) watch_.add(tape_.emplace(cluster_, told_, options.record));
    cluster_.onNews(
        {.died = [this](NodeId node,
                        const std::string& reason) { complains(processOf(node), "cluster", "died: " + reason); },
         .late = {},
         .lost = {}});
    cluster_.onNodeOptions([](broker::NodeOptions& node) { node.verifyImages = true; });
    world_.onStep([this] { afterStep(); });
  }

  ScenarioResult run() {
    ScenarioResult result;
    try {
      phases();
    } catch (const Stop&) {
      result.cutShort = true;
    }
    world_.onStep({});
    result.breach = judge_.first();
    tally_.finish();
    tally_.count("record acknowledged by all", journal_.acknowledgedCount());
    result.tally = tally_;
    result.traceHash = world_.traceHash();
    result.steps = world_.stepsRun();
    result.brokers = brokers_;
    result.topology = textOf(topology_) + transactions_.plan().text();
    result.length = world_.now() - began_;
    result.settled = settled_;
    result.faults = faults_.done();
    for (const Losses::Loss& loss : losses_.all()) result.losses.push_back(textOf(loss));
    result.events = chronicle_.events();
    if (result.breach) result.excerpt = chronicle_.excerpt(kExcerptLines);
    return result;
  }

 private:
  struct Stop {};

  /// Whose links may break.
  std::vector<std::string> clients() const {
    std::vector<std::string> names = {"writer-1", "writer-2", "writer-3", "reader-1", "member-1", "member-2"};
    for (std::string& name : transactions_.plan().clients()) names.push_back(std::move(name));
    for (std::string& name : groups_.plan().clients()) names.push_back(std::move(name));
    return names;
  }

  platform::WorldOptions worldOptions() {
    platform::WorldOptions options;
    options.seed = options_.seed;
    options.trace = options_.trace;
    options.level = options_.log ? platform::Logger::Level::Info : platform::Logger::Level::Error;
    options.log = [this](platform::MonotonicTime at, platform::Logger::Level level, std::string_view process,
                         std::string_view component, std::string_view text) {
      if (options_.log) options_.log(fmt::format("{:>12.6f} {} {}: {}", secondsOf(at), process, component, text));
      // The last words of a process that was crashed in a file call tell nothing. Of a death the lab says as news whose
      // it is.
      if (level >= platform::Logger::Level::Error && platform_->alive(std::string(process)) && process != cluster::kLab)
        complains(process, component, text);
    };
    return options;
  }
  /// Unless it is known why, nothing may say so.
  void complains(std::string_view process, std::string_view component, std::string_view text) {
    if (!faults_.explains(process, text))
      judge_.breach(invariantOf(text), fmt::format("{} {}: {}", process, component, text));
  }

  bool voteIsDurable(NodeId voter) {
    // One that dies of the write that fails has told nobody of its vote.
    if (!platform_->alive(fmt::format("broker-{}", voter))) return true;
    return world_.disk(fmt::format("broker-{}", voter))
        .isDurable(fmt::format("{}/__cluster_metadata-0/quorum-state", cluster::nodeFolder(kFolder, voter)));
  }

  void afterStep() {
    watch_.look();
    stableOffsets_.look();
    if (tape_) tape_->look(world_.now());
    if (++steps_ % 8 == 0) {
      if (const metadata::ImagePtr image = watch_.newestImage()) losses_.look(*image);
      inSync_.look();
      for (int i = 1; i <= brokers_; ++i)
        if (broker::Node* node = watch_.node(NodeId(i))) highWatermarks_.look(*node);
    }
    faults_.act();
    if (judge_.first() || (options_.until && world_.now() - began_ >= *options_.until)) throw Stop();
  }

  void note(const std::string& text) {
    world_.note(text);
    chronicle_.note(text);
  }

  void lost(const Losses::Loss& loss) {
    note(fmt::format("lost, because nobody but the last leader could be elected: {}", textOf(loss)));
    tally_.count("records lost with the last leader");
    sequences_.lost(loss.partition, loss.batches);
    journal_.lost(loss.partition, loss.from, loss.to);
    groups_.lost();
    shares_.lost();
    streams_.lost();
    transactions_.lost();
  }

  void runFor(platform::Duration duration) { world_.runFor(duration); }

  void phases() {
    launch();
    const auto writer = [&](const std::string& name, Writer::Options options) {
      writers_.push_back(std::make_unique<Writer>(world_, name, bootstrap_, kTopic, topology_.partitions, options,
                                                  options_.seed, journal_));
    };
    writer("writer-1", {.producer = {}});
    writer("writer-2", {.producer = {.linger = milliseconds(5), .requestTimeout = milliseconds(1200)}});
    writer("writer-3", {.producer = {.acks = 1, .idempotent = false}, .pause = milliseconds(150), .burst = 3});
    reader_ = reader("reader-1");
    groups_.begin(bootstrap_);
    transactions_.begin(bootstrap_);
    shares_.begin(bootstrap_);
    streams_.begin(bootstrap_);
    runFor(seconds(2));

    faults_.begin();
    // Readers that come later see the same.
    for (int i = 1; i <= 3; ++i) {
      runFor(options_.faultsFor / 3);
      groups_.third(i);
      shares_.third(i);
      streams_.third(i);
      late_ = reader(fmt::format("late-{}", i));
      if (i == 1) transactions_.rivalsCome();
    }
    faults_.end();
    note("everything is mended");
    settle();
  }

  void launch() {
    observe::LaunchOptions options;
    options.brokers = brokers_;
    (topology_.separate ? options.separateControllers : options.controllers) = topology_.controllers;
    options.dataFolder = kFolder;
    options.settings = {{"min.insync.replicas", std::to_string(topology_.minInsyncReplicas)},
                        {"offsets.topic.replication.factor", std::to_string(topology_.copies)},
                        {"offsets.topic.num.partitions", "2"},
                        {"group.initial.rebalance.delay.ms", "200"},
                        {"offsets.retention.check.interval.ms", "2000"},
                        {"group.consumer.min.session.timeout.ms", "3000"},
                        {"group.consumer.session.timeout.ms", "3000"},
                        {"group.consumer.min.heartbeat.interval.ms", "500"},
                        {"group.consumer.heartbeat.interval.ms", "500"},
                        {"log.index.interval.bytes", "200"},
                        {"auto.create.topics.enable", "false"},
                        {"transaction.state.log.replication.factor", std::to_string(topology_.copies)},
                        {"transaction.state.log.min.isr", std::to_string(topology_.minInsyncReplicas)},
                        {"transaction.state.log.num.partitions", "2"},
                        {"transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000"}};
    options.features = {{"transaction.version", transactions_.plan().version}};
    // A group without members, which only has offsets, would lose them as well.
    if (groups_.plan().offsetsExpire && !transactions_.plan().hasSecondTopic())
      options.settings.push_back({"offsets.retention.minutes", "1"});
    for (const auto& [key, value] : shares_.plan().settings(topology_.copies, topology_.minInsyncReplicas))
      options.settings.push_back({key, value});
    for (const auto& [key, value] : streams_.plan().settings()) options.settings.push_back({key, value});
    options.firstTopic = observe::TopicOptions{
        .name = kTopic, .partitions = topology_.partitions, .replicationFactor = topology_.copies, .configs = {}};
    if (topology_.segmentBytes > 0)
      options.firstTopic->configs.push_back({"internal.segment.bytes", std::to_string(topology_.segmentBytes)});
    perform([&](auto done) { cluster_.launch(options, std::move(done)); });
    if (transactions_.plan().hasSecondTopic()) {
      observe::TopicOptions second = *options.firstTopic;
      second.name = kLedger;
      perform([&](auto done) { cluster_.createTopic(std::move(second), std::move(done)); });
    }
    for (int i = 0; i < brokers_; ++i) bootstrap_.push_back({options.host, static_cast<uint16_t>(options.port + i)});
  }

  void perform(const std::function<void(std::function<void(Result<void>)>)>& what) {
    std::optional<Result<void>> result;
    what([&](Result<void> told) { result = std::move(told); });
    world_.runUntil([&] { return result.has_value(); }, seconds(60));
    if (result && *result) return;
    judge_.breach("L1", result ? result->error().message : "the cluster is not up after a minute");
    throw Stop();
  }

  std::unique_ptr<Reader> reader(const std::string& name) {
    return std::make_unique<Reader>(world_, name, bootstrap_, transactions_.partitions(),
                                    client::IsolationLevel::ReadUncommitted, journal_, nullptr);
  }

  // --- the second phase
  // -----------------------------------------------------------------------------------------------

  void settle() {
    const auto began = world_.now();
    for (const auto& writer : writers_) writer->stop();
    transactions_.stop();
    shares_.calmDown();
    std::string wrong;
    const bool whole = awaitWhole(began + options_.settleWithin, [&] { return wrong = whatIsNotWhole(); });
    if (!whole) return late("L", wrong);
    settled_ = world_.now() - began;
    // Whoever reads from the beginning now sees everything that was acknowledged.
    late_ = reader("reader-of-all");
    transactions_.readAgain();
    groups_.askForOffsets();
    streams_.askForOffsets();
    if (!awaitWhole(world_.now() + options_.settleWithin, [&] { return wrong = journal_.missing(late_->records()); }))
      return late("L5", wrong);
    if (!awaitWhole(world_.now() + options_.settleWithin, [&] { return wrong = transactions_.whatIsNotRead(); }))
      return late("T3", wrong);
    if (!awaitWhole(world_.now() + options_.settleWithin, [&] { return wrong = groups_.whatIsNotTold(); }) ||
        !awaitWhole(world_.now() + options_.settleWithin, [&] { return wrong = streams_.whatIsNotTold(); }))
      return late("G5", wrong);
    if (!awaitWhole(world_.now() + options_.settleWithin,
                    [&] { return wrong = shares_.whatIsNotDone(late_->records()); }))
      return late("G9", wrong);
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
    // "L3: the ISR …"
    const bool named = invariant == "L";
    judge_.breach(named ? wrong.substr(0, 2) : invariant,
                  fmt::format("{}, {} s after everything was mended", named ? wrong.substr(4) : wrong,
                              std::chrono::duration_cast<seconds>(options_.settleWithin).count()));
    throw Stop();
  }

  std::string whatIsNotWhole() {
    std::optional<raft::LeaderAndEpoch> quorum;
    for (int i = 1; i <= topology_.nodes(); ++i) {
      broker::Node* node = watch_.node(NodeId(i));
      if (node == nullptr || (node->broker() != nullptr && !node->broker()->isRunning()))
        return fmt::format("L1: node {} is not running", i);
      const raft::LeaderAndEpoch leader = node->shared().raft->leaderAndEpoch();
      if (leader.leader == kNoNode) return fmt::format("L1: node {} knows no leader of the quorum", i);
      if (quorum && (quorum->leader != leader.leader || quorum->epoch != leader.epoch))
        return fmt::format("L1: the quorum is led by {} and by {}", quorum->leader, leader.leader);
      quorum = leader;
      if (node->broker() == nullptr) continue;
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
    if (std::string wrong = transactions_.whatIsNotWhole(); !wrong.empty()) return wrong;
    if (std::string wrong = shares_.whatIsNotWhole(); !wrong.empty()) return wrong;
    if (std::string wrong = streams_.whatIsNotWhole(); !wrong.empty()) return wrong;
    return groups_.whatIsNotWhole();
  }

  void quiet() {
    if (!late_->error().empty()) judge_.breach("L5", late_->error());
    for (const char* idempotent : {"writer-1", "writer-2"}) journal_.demandOnceAndInOrder(late_->records(), idempotent);
    std::vector<broker::Node*> nodes;
    for (int i = 1; i <= topology_.nodes(); ++i) nodes.push_back(watch_.node(NodeId(i)));
    checkWhenQuiet(judge_, nodes, logs_, committed_,
                   [this](NodeId broker, const std::string& path) { return faults_.flipped(broker, path); });
    for (const Losses::Loss& loss : losses_.all())
      if (!loss.told) judge_.breach("R2", fmt::format("nobody told that {} are lost", textOf(loss)));
    groups_.judgeAtRest();
    streams_.judgeAtRest();
    transactions_.judgeAtRest();
  }

  inline static const std::string kFolder = "/data";

  const ScenarioOptions& options_;
  const ScenarioTopology topology_;
  const int brokers_;
  Judge judge_;
  Tally tally_;
  platform::World world_;
  SimPlatform* const platform_;
  ToldFaults told_;
  cluster::Cluster cluster_;
  Watch watch_;
  ReplicaLogs logs_;
  ProducerSequences sequences_;
  Losses losses_;
  CommittedRecords committed_;
  GivenOffsets given_;
  HighWatermarks highWatermarks_;
  InSyncReplicas inSync_;
  Quorum quorum_;
  StableOffsets stableOffsets_;
  Journal journal_;
  GroupLoad groups_;
  TransactionalLoad transactions_;
  ShareLoad shares_;
  StreamsLoad streams_;
  Chronicle chronicle_;
  Faults faults_;
  std::optional<Tape> tape_;
  std::vector<platform::Endpoint> bootstrap_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Reader> late_;
  uint64_t steps_ = 0;
  const platform::MonotonicTime began_ = world_.now();
  platform::Duration settled_{};
};

}  // namespace

ScenarioResult runScenario(const ScenarioOptions& options) {
  return Scenario(options).run();
}

}  // namespace tidemark::sim
