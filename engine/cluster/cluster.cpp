#include "cluster/cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "cluster/errands.h"
#include "cluster/slot.h"
#include "faults/faulty_handler.h"
#include "log/checkpoints.h"

namespace tidemark::cluster {
namespace {

using observe::BrokerState;

/// How long a stopping broker waits for the controller to move its partitions, and a stopping controller for a
/// successor.
constexpr platform::Duration kHandOver = std::chrono::seconds(10);
constexpr platform::Duration kResign = std::chrono::seconds(2);
constexpr std::string_view kNobodyKnows = "no broker runs that knows the topics";
/// In the data folder, held while its cluster runs.
constexpr std::string_view kLockFile = ".lock";
/// How long metadata may take to reach every broker.
constexpr platform::Duration kMetadataArrives = std::chrono::seconds(30);

}  // namespace

Cluster::Cluster(std::unique_ptr<ClusterPlatform> platform)
    : platform_(std::move(platform)),
      lab_(platform_->createProcess("lab")),
      executor_(lab_->createExecutor({.name = "cluster", .threads = 1})),
      faults_(std::make_shared<faults::FaultBook>([this](const events::Payload& what) { tell(kNoNode, what); },
                                                  [this](int, uint64_t) { run([this] { changed(); }); })),
      newest_(std::make_shared<const observe::ClusterSnapshot>()) {
  collector_.onWake([this] {
    run([this] {
      hearEvents();
      changed();
    });
  });
}

Cluster::~Cluster() {
  // Nothing of ours runs any more, so that nobody takes the end of the brokers for news; then the brokers.
  lab_->kill("the cluster is closed");
  lab_->awaitStopped();
  for (auto& [id, slot] : slots_)
    if (slot->process) slot->process->kill("the cluster is closed");
  for (auto& [id, slot] : slots_)
    if (slot->process) slot->process->awaitStopped();
  for (auto& [id, slot] : slots_)
    if (slot->recorder) lookAt(*slot, false);
  slots_.clear();
  errands_.reset();
  client_.reset();
  if (!temporary_ || dataFolder_.empty()) return;
  folderLock_.reset();
  // A new one on the same machine: ours is dead. What cannot be removed now goes at the next launch.
  const auto remover = platform_->createProcess("lab");
  static_cast<void>(remover->files().removeTree(dataFolder_));
}

void Cluster::run(std::move_only_function<void()> task) {
  executor_->post(std::move(task));
}

void Cluster::advertise(std::string host) {
  run([this, host = std::move(host)]() mutable { advertised_ = std::move(host); });
}

std::vector<observe::Setting> Cluster::profile(int brokers) const {
  std::vector<observe::Setting> settings;
  for (const auto& [key, value] : config::labProfile(brokers)) settings.push_back({key, value});
  return settings;
}

// --- launch ---------------------------------------------------------------------------------------------------------

void Cluster::launch(observe::LaunchOptions options, Done done) {
  run([this, options = std::move(options), done = std::move(done)]() mutable {
    launchNow(std::move(options), std::move(done));
  });
}

Result<std::optional<Topology>> Cluster::storedTopology(const std::string& folder) const {
  platform::FileSystem& files = lab_->files();
  const std::string path = fmt::format("{}/{}", folder, kTopologyFile);
  if (files.exists(path)) {
    TIDEMARK_ASSIGN(const ByteVector contents, files.readFile(path, 1 << 20));
    auto topology = decodeTopology(asText(contents));
    if (!topology) return fail(topology.error().code, fmt::format("{}: {}", path, topology.error().message));
    return *std::move(topology);
  }
  if (!files.exists(folder)) return std::nullopt;
  TIDEMARK_ASSIGN(const std::vector<platform::DirectoryEntry> entries, files.list(folder));
  if (std::ranges::any_of(entries, [](const auto& entry) { return entry.name != kLockFile; }))
    return fail(ErrorCode::InvalidConfig,
                fmt::format("{} is neither empty nor a cluster of Tidemark's: it has no {}", folder, kTopologyFile));
  return std::nullopt;
}

Result<std::optional<observe::StoredCluster>> Cluster::stored(const std::string& folder) const {
  TIDEMARK_ASSIGN(const std::optional<Topology> topology, storedTopology(folder));
  if (!topology) return std::nullopt;
  observe::StoredCluster stored{.brokers = static_cast<int>(topology->brokers()), .host = topology->host, .ports = {}};
  for (const NodePlace& node : topology->nodes) stored.ports.push_back(node.port);
  for (const NodePlace& node : topology->nodes) stored.ports.push_back(node.controllerPort);
  return stored;
}

Result<void> Cluster::prepare(const observe::LaunchOptions& options) {
  if (options.brokers < 1 || options.brokers > kMostBrokers)
    return fail(ErrorCode::InvalidConfig,
                fmt::format("{} brokers cannot be launched: it can be 1 to {}", options.brokers, kMostBrokers));
  if (options.controllers < 0 || options.controllers > options.brokers)
    return fail(ErrorCode::InvalidConfig,
                fmt::format("{} of {} brokers cannot be controllers", options.controllers, options.brokers));
  if (options.separateControllers < 0 || options.separateControllers > kMostSeparateControllers)
    return fail(ErrorCode::InvalidConfig,
                fmt::format("{} controllers of their own cannot be launched: it can be 0 to {}",
                            options.separateControllers, kMostSeparateControllers));
  if (options.separateControllers > 0 && options.controllers > 0)
    return fail(ErrorCode::InvalidConfig, "either brokers are the controllers or nodes of their own, not both");
  if (options.logDirectories < 1 || options.logDirectories > kMostLogDirectories)
    return fail(ErrorCode::InvalidConfig, fmt::format("a broker cannot have {} log directories: it can be 1 to {}",
                                                      options.logDirectories, kMostLogDirectories));
  temporary_ = options.dataFolder.empty();
  dataFolder_ = options.dataFolder;
  if (temporary_) {
    TIDEMARK_ASSIGN(dataFolder_, platform_->temporaryFolder());
  }
  platform::FileSystem& files = lab_->files();
  TIDEMARK_TRY(checkOverrides(options.settings));
  TIDEMARK_TRY(storedTopology(dataFolder_));
  TIDEMARK_TRY(files.createDirectories(dataFolder_));
  // Held from before the folder is looked at: of two first launches on it one is refused.
  if (auto locked = files.lock(fmt::format("{}/{}", dataFolder_, kLockFile)); locked)
    folderLock_ = *std::move(locked);
  else
    // Held by somebody, or out of reach.
    return fail(locked.error().code,
                fmt::format("{} {}: {}", dataFolder_,
                            locked.error().code == ErrorCode::InvalidConfig ? "is in use" : "cannot be written",
                            locked.error().message));
  settings_ = labSettings(options.brokers, options.settings);
  const std::string path = fmt::format("{}/{}", dataFolder_, kTopologyFile);
  TIDEMARK_ASSIGN(topology_, storedTopology(dataFolder_));
  fresh_ = !topology_;
  if (topology_) {
    if (static_cast<int>(topology_->brokers()) != options.brokers)
      return fail(ErrorCode::InvalidConfig,
                  fmt::format("{} holds a cluster of {} broker{}, not of {}", dataFolder_, topology_->brokers(),
                              topology_->brokers() == 1 ? "" : "s", options.brokers));
  } else {
    Topology topology{.clusterId = lab_->random().uuid().toString(),
                      .host = options.host,
                      .advertisedHost = advertised_.empty() ? options.host : advertised_,
                      .logDirectories = options.logDirectories,
                      .nodes = {}};
    const auto brokers = static_cast<size_t>(options.brokers);
    const auto count = brokers + static_cast<size_t>(options.separateControllers);
    const auto voters = static_cast<size_t>(options.controllers == 0 ? options.brokers : options.controllers);
    std::vector<uint16_t> ports;
    if (options.port == 0) {
      TIDEMARK_ASSIGN(ports, platform_->pickPorts(options.host, 2 * count));
    } else {
      if (options.port + 100 + count > 65536)
        return fail(ErrorCode::InvalidConfig,
                    fmt::format("port {} leaves no room for the controllers' ports above it", options.port));
      for (size_t i = 0; i < count; ++i) ports.push_back(static_cast<uint16_t>(options.port + i));
      for (size_t i = 0; i < count; ++i) ports.push_back(static_cast<uint16_t>(options.port + 100 + i));
    }
    for (size_t i = 0; i < count; ++i)
      topology.nodes.push_back({.id = NodeId(static_cast<int32_t>(i + 1)),
                                .port = ports[i],
                                .controllerPort = ports[count + i],
                                .isBroker = i < brokers,
                                .isController = options.separateControllers > 0 ? i >= brokers : i < voters,
                                .directoryId = lab_->random().uuid()});
    topology_ = std::move(topology);
  }
  for (const NodePlace& place : topology_->nodes) {
    // Whatever is wrong with a setting is said before anything is written.
    TIDEMARK_TRY(nodeConfig(*topology_, place, dataFolder_, settings_));
    auto slot = std::make_unique<Slot>();
    slot->place = place;
    slots_.emplace(place.id, std::move(slot));
  }
  tellListeners();
  return files.replaceFile(path, asBytes(encodeTopology(*topology_)));
}

void Cluster::launchNow(observe::LaunchOptions options, Handler done) {
  if (topology_) {
    done(fail(ErrorCode::InvalidRequest, "a cluster is running already: shut it down first"));
    return;
  }
  if (auto prepared = prepare(options); !prepared) {
    undoPrepare();
    forgetCluster();
    done(std::move(prepared));
    return;
  }
  client::ClientOptions clientOptions;
  clientOptions.clientId = "tidemark-lab";
  for (const NodePlace& place : topology_->nodes)
    if (place.isBroker) clientOptions.bootstrap.push_back({topology_->advertisedHost, place.port});
  clientOptions.allowAutoTopicCreation = false;
  client_ = std::make_unique<client::Client>(*lab_, executor_, std::move(clientOptions));
  errands_ = std::make_unique<Errands>(*client_);

  struct Launch {
    size_t left;
    std::optional<Error> error;
    std::optional<observe::TopicOptions> topic;
  };
  auto launch =
      std::make_shared<Launch>(Launch{.left = slots_.size(), .error = {}, .topic = std::move(options.firstTopic)});
  launching_ = std::move(done);
  for (auto& [id, slot] : slots_) {
    startNode(*slot, [this, launch, broker = id](Result<void> started) {
      // Who kills a broker while it starts wants to see the others go on.
      if (const auto slotOf = slots_.find(broker); slotOf != slots_.end() && wasHarmed(broker)) started = {};
      if (!started && !launch->error) launch->error = started.error();
      // A launch that was ended meanwhile has been answered.
      if (--launch->left > 0 || !launching_) return;
      if (launch->error) {
        killAll(BrokerState::Killed);
        removeFresh();
        forgetCluster();
        finishLaunch(fail(*std::move(launch->error)));
      } else {
        // Whoever bootstraps from one of them finds all. A partition that stays without a leader does not hold the
        // launch up.
        awaitMetadata([this] { return isSettled(); },
                      [this, topic = std::move(launch->topic)](Result<void> settled) {
                        const bool ended = !settled && settled.error().code != ErrorCode::RequestTimedOut;
                        if (ended) return finishLaunch(std::move(settled));
                        createFirstTopic(topic);
                      });
      }
    });
  }
  changed();
}

void Cluster::createFirstTopic(const std::optional<observe::TopicOptions>& topic) {
  if (!topic || !launching_) return finishLaunch({});
  createTopicNow(*topic, true, [this](Result<void> created) {
    if (!created && created.error().code == ErrorCode::TopicAlreadyExists) created = {};
    finishLaunch(std::move(created));
  });
}

void Cluster::finishLaunch(Result<void> result) {
  if (launching_) std::exchange(launching_, nullptr)(std::move(result));
}

void Cluster::startNode(Slot& slot, Handler done) {
  auto config = nodeConfig(*topology_, slot.place, dataFolder_, settings_);
  if (!config) {
    done(fail(std::move(config).error()));
    return;
  }
  const NodeId id = slot.place.id;
  const uint64_t incarnation = slot.incarnation = ++incarnations_;
  slot.transactions.clear();
  slot.process = std::make_shared<faults::FaultyProcess>(platform_->createProcess(machineOf(id)), faults_, id);
  slot.process->onDeath([this, id, incarnation](const std::string& reason) {
    run([this, id, incarnation, reason] { died(id, incarnation, reason); });
  });
  slot.recorder = std::make_shared<events::Recorder>(slot.process->clock(), id);
  collector_.prepare(*slot.recorder);
  lookAt(slot, looking_ || awaitsEvents_);
  slot.main = slot.process->createExecutor({.name = "main", .threads = 1});
  broker::NodeOptions options{.config = *config, .lowestVoterStartsAtOnce = true};
  options.betweenRequests = [book = faults_, id](network::RequestHandler& below, platform::Process& process,
                                                 std::function<std::string(const Uuid&)> topicName) {
    return std::make_unique<faults::FaultyHandler>(below, process, book, id, std::move(topicName));
  };
  if (alterOptions_) alterOptions_(options);
  slot.node = std::make_unique<broker::Node>(*slot.process, *slot.recorder, std::move(options));
  slot.waiting.push_back(std::move(done));
  slot.isOpen = false;
  enter(slot, BrokerState::Starting);
  broker::FormatNode format{.config = *std::move(config),
                            .clusterId = topology_->clusterId,
                            .voters = topology_->voters(),
                            .directoryId = slot.place.directoryId};
  // Each broker reads and writes its own files on its own thread: they start side by side.
  slot.main->post([this, id, incarnation, node = slot.node.get(), process = slot.process.get(),
                   format = std::move(format)] {
    const auto openNode = [&]() -> Result<void> {
      if (!process->files().exists(fmt::format("{}/{}", format.config.metadataLogDir(), log::kMetaPropertiesFile)))
        TIDEMARK_TRY(broker::formatNode(*process, format));
      TIDEMARK_TRY(node->open());
      if (broker::BrokerServer* broker = node->broker()) {
        broker->onStateChanged([this, id, incarnation](broker::LifecycleState state) {
          run([this, id, incarnation, state] { stateChanged(id, incarnation, state); });
        });
        broker->onMetadataApplied([this] { run([this] { metadataApplied(); }); });
      }
      return {};
    };
    Result<void> result = openNode();
    if (result) node->start();
    run([this, id, incarnation, result = std::move(result)]() mutable { opened(id, incarnation, std::move(result)); });
  });
}

void Cluster::opened(NodeId id, uint64_t incarnation, Result<void> result) {
  const auto found = slots_.find(id);
  if (found == slots_.end() || found->second->incarnation != incarnation || !found->second->node) return;
  Slot& slot = *found->second;
  if (!result) {
    killNode(slot, BrokerState::Stopped);
    settle(slot, std::move(result));
    return;
  }
  slot.isOpen = true;
  // Nobody unfences a lone controller: it runs once it listens.
  if (slot.node->broker() == nullptr || slot.node->broker()->isRunning())
    stateChanged(id, incarnation, broker::LifecycleState::Running);
}

void Cluster::stateChanged(NodeId id, uint64_t incarnation, broker::LifecycleState state) {
  const auto found = slots_.find(id);
  if (found == slots_.end() || found->second->incarnation != incarnation || !found->second->isOpen) return;
  Slot& slot = *found->second;
  if (state == broker::LifecycleState::Running && slot.state == BrokerState::Starting) {
    tell(id, events::BrokerStarted{id});
    enter(slot, BrokerState::Running);
    settle(slot, {});
  }
  changed();
}

void Cluster::died(NodeId id, uint64_t incarnation, const std::string& reason) {
  const auto found = slots_.find(id);
  if (found == slots_.end() || found->second->incarnation != incarnation || !found->second->process) return;
  const bool full = reason.contains("No space left on device");
  lab_->log().error("cluster", "broker {} died: {}; {}, then `restart {}`", id, reason,
                    full ? "free space on its disk (or heal the fault that fills it)" : "mend that", id);
  found->second->diedOf = reason;
  killNode(*found->second, BrokerState::Killed);
  settle(*found->second, fail(ErrorCode::BrokerNotAvailable, fmt::format("broker {} died: {}", id, reason)));
}

void Cluster::enter(Slot& slot, BrokerState state) {
  slot.state = state;
  if (state != BrokerState::Killed) slot.diedOf.clear();
  slot.since = lab_->clock().monotonic();
  changed();
}

void Cluster::settle(Slot& slot, Result<void> result) {
  std::vector<Handler> waiting = std::exchange(slot.waiting, {});
  for (Handler& handler : waiting) handler(result);
}

// --- stop -----------------------------------------------------------------------------------------------------------

void Cluster::killNode(Slot& slot, BrokerState state) {
  if (!slot.process) return;
  remember(slot);
  slot.isOpen = false;
  slot.process->kill(state == BrokerState::Stopped ? "stopped in control" : "killed by the lab");
  slot.process->awaitStopped();
  slot.node.reset();
  slot.main.reset();
  slot.looker.reset();
  lookAt(slot, false);
  slot.recorder.reset();
  slot.process.reset();
  tell(slot.place.id, events::BrokerDown{slot.place.id, state == BrokerState::Stopped ? events::DownCause::Stopped
                                                                                      : events::DownCause::Killed});
  enter(slot, state);
}

void Cluster::killAll(BrokerState state) {
  for (auto& [id, slot] : slots_) killNode(*slot, state);
}

void Cluster::stopNode(Slot& slot, Handler done) {
  const NodeId id = slot.place.id;
  const uint64_t incarnation = slot.incarnation;
  slot.waiting.push_back(std::move(done));
  remember(slot);
  enter(slot, BrokerState::Stopping);
  broker::Node* node = slot.node.get();
  node->shutdownBroker(kHandOver, [this, node, id, incarnation] {
    node->shutdownController(kResign, [this, id, incarnation] {
      run([this, id, incarnation] {
        Slot& stopped = *slots_.at(id);
        if (stopped.incarnation != incarnation || !stopped.process) return;
        killNode(stopped, BrokerState::Stopped);
        settle(stopped, {});
      });
    });
  });
}

void Cluster::undoPrepare() {
  if (!folderLock_ || temporary_ || (topology_ && !fresh_)) return;
  // Nothing but the lock is there yet.
  if (auto removed = lab_->files().remove(fmt::format("{}/{}", dataFolder_, kLockFile)); !removed)
    lab_->log().warning("cluster", "{} stays: {}", kLockFile, removed.error().message);
}

bool Cluster::hasMajority() const {
  size_t voters = 0;
  size_t up = 0;
  for (const auto& [id, slot] : slots_) {
    if (!slot->place.isController) continue;
    ++voters;
    if (slot->isOpen && isAlive(slot->state)) ++up;
  }
  return 2 * up > voters;
}

void Cluster::removeFresh() {
  if (!fresh_ || temporary_ || !topology_) return;
  // Or the next launch would find a cluster that never ran, with addresses that nobody can have.
  platform::FileSystem& files = lab_->files();
  for (const NodePlace& place : topology_->nodes)
    for (const std::string& directory : nodeDirectories(*topology_, dataFolder_, place.id))
      if (auto removed = files.removeTree(directory); !removed)
        lab_->log().warning("cluster", "{} stays: {}", directory, removed.error().message);
  if (auto removed = files.remove(fmt::format("{}/{}", dataFolder_, kTopologyFile)); !removed)
    lab_->log().warning("cluster", "{} stays: {}", kTopologyFile, removed.error().message);
  undoPrepare();
}

void Cluster::forgetCluster() {
  // Whoever still waits for a broker or a topic hears that nothing comes any more, once nothing is left.
  std::vector<Handler> waiting;
  for (auto& [id, slot] : slots_)
    for (Handler& handler : slot->waiting) waiting.push_back(std::move(handler));
  for (MetadataWait& wait : metadataAwaited_) waiting.push_back(std::move(wait.done));
  metadataAwaited_.clear();
  errands_.reset();
  client_.reset();
  slots_.clear();
  dropFaults();
  topology_.reset();
  if (temporary_ && !dataFolder_.empty()) {
    if (auto removed = lab_->files().removeTree(dataFolder_); !removed)
      lab_->log().warning("cluster", "the temporary folder {} stays: {}", dataFolder_, removed.error().message);
  }
  dataFolder_.clear();
  folderLock_.reset();
  fresh_ = false;
  changed();
  for (Handler& handler : waiting) handler(fail(ErrorCode::BrokerNotAvailable, "the cluster was shut down"));
}

void Cluster::shutdown(Done done) {
  run([this, done = std::move(done)]() mutable { shutdownNow(std::move(done)); });
}

void Cluster::shutdownNow(Handler done) {
  if (!topology_) {
    done({});
    return;
  }
  if (launching_) {
    // Nobody has used it yet: what is half started ends at once.
    finishLaunch(fail(ErrorCode::BrokerNotAvailable, "the launch was cancelled"));
    killAll(BrokerState::Killed);
    forgetCluster();
    done({});
    return;
  }
  // First every broker hands over and closes its logs, while all controllers still vote; then the controllers go.
  // Nobody can take anything over without a majority, and nobody is left to where all go: neither is waited for.
  const platform::Duration handOver = hasMajority() ? kHandOver : platform::Duration::zero();
  struct Stop {
    size_t left = 1;
    Handler done;
    bool second = false;
  };
  auto stop = std::make_shared<Stop>();
  stop->done = std::move(done);
  auto arrived = std::make_shared<std::function<void()>>();
  *arrived = [this, stop, weak = std::weak_ptr(arrived)] {
    if (--stop->left > 0) return;
    const auto self = weak.lock();
    if (!stop->second) {
      stop->second = true;
      stop->left = 1;
      for (auto& [id, slot] : slots_) {
        if (!slot->isOpen || slot->state != BrokerState::Stopping) continue;
        ++stop->left;
        slot->node->shutdownController(platform::Duration::zero(), [this, self] { run([self] { (*self)(); }); });
      }
      (*self)();
      return;
    }
    killAll(BrokerState::Stopped);
    forgetCluster();
    stop->done({});
  };
  for (auto& [id, slot] : slots_) {
    if (!slot->isOpen || !isAlive(slot->state)) continue;
    ++stop->left;
    remember(*slot);
    enter(*slot, BrokerState::Stopping);
    slot->node->shutdownBroker(handOver, [this, arrived] { run([arrived] { (*arrived)(); }); });
  }
  (*arrived)();
}

void Cluster::abandon(Done done) {
  run([this, done = std::move(done)]() mutable {
    finishLaunch(fail(ErrorCode::BrokerNotAvailable, "the launch was cancelled"));
    killAll(BrokerState::Killed);
    forgetCluster();
    done({});
  });
}

// --- one broker
// -------------------------------------------------------------------------------------------------------

Result<Cluster::Slot*> Cluster::find(NodeId id) {
  const auto found = slots_.find(id);
  if (found == slots_.end()) return fail(ErrorCode::BrokerNotAvailable, fmt::format("there is no broker {}", id));
  return found->second.get();
}

void Cluster::tell(NodeId broker, const events::Payload& payload) {
  collector_.append({.sequence = 0,
                     .at = lab_->clock().monotonic(),
                     .wall = lab_->clock().wall(),
                     .broker = broker,
                     .payload = payload});
  run([this] { hearEvents(); });
}

// --- topics ---------------------------------------------------------------------------------------------------------

metadata::ImagePtr Cluster::newestImage() const {
  metadata::ImagePtr newest;
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || slot->state == BrokerState::Paused || !slot->place.isBroker) continue;
    metadata::ImagePtr image = slot->node->broker()->image();
    if (!newest || image->provenance.lastContainedOffset > newest->provenance.lastContainedOffset)
      newest = std::move(image);
  }
  return newest;
}

void Cluster::createTopic(observe::TopicOptions topic, Done done) {
  run([this, topic = std::move(topic), done = std::move(done)]() mutable {
    createTopicNow(topic, false, std::move(done));
  });
}

void Cluster::createTopicNow(const observe::TopicOptions& topic, bool inOrder, Handler done) {
  if (!errands_) {
    done(fail(ErrorCode::BrokerNotAvailable, "no cluster is running"));
    return;
  }
  client::NewTopic created{.name = topic.name,
                           .partitions = topic.partitions,
                           .replicationFactor = static_cast<int16_t>(
                               topic.replicationFactor > 0 ? topic.replicationFactor
                                                           : std::min<int>(3, static_cast<int>(topology_->brokers()))),
                           .configs = {},
                           .assignments = {}};
  for (const observe::Setting& setting : topic.configs) created.configs[setting.key] = setting.value;
  // Else where partitions begin is drawn by lot.
  if (inOrder) {
    std::vector<NodeId> nodes;
    nodes.reserve(slots_.size());
    for (const auto& [id, slot] : slots_)
      if (slot->place.isBroker) nodes.push_back(id);
    const auto copies = std::min<size_t>(static_cast<size_t>(created.replicationFactor), nodes.size());
    created.assignments.resize(static_cast<size_t>(std::max(topic.partitions, 0)));
    for (size_t partition = 0; partition < created.assignments.size(); ++partition)
      for (size_t copy = 0; copy < copies; ++copy)
        created.assignments[partition].push_back(nodes[(partition + copy) % nodes.size()]);
  }
  errands_->topics.createTopic(
      std::move(created), [this, name = topic.name, done = std::move(done)](Result<Uuid> id) mutable {
        if (!id) {
          done(fail(std::move(id).error()));
          return;
        }
        // The topic is committed; each broker takes it up a moment later.
        awaitMetadata([this, name] { return isEverywhere(name); },
                      [name, done = std::move(done)](Result<void> arrived) mutable {
                        if (arrived) return done({});
                        done(fail(ErrorCode::RequestTimedOut,
                                  fmt::format("topic {} is created, but not every broker has taken it up", name)));
                      });
      });
}

void Cluster::awaitMetadata(std::function<bool()> holds, Handler done) {
  const uint64_t number = ++metadataWaits_;
  platform::Timer timeout = executor_->schedule(kMetadataArrives, [this, number] {
    const auto late = std::ranges::find(metadataAwaited_, number, &MetadataWait::number);
    if (late == metadataAwaited_.end()) return;
    MetadataWait wait = std::move(*late);
    metadataAwaited_.erase(late);
    wait.done(fail(ErrorCode::RequestTimedOut, "not every broker has taken up the metadata"));
  });
  metadataAwaited_.push_back(
      {.number = number, .holds = std::move(holds), .timeout = std::move(timeout), .done = std::move(done)});
  metadataApplied();
}

bool Cluster::isSettled() const {
  const auto runs = [](const Slot& slot) {
    return slot.place.isBroker && slot.isOpen && slot.state == BrokerState::Running;
  };
  return std::ranges::all_of(slots_, [&](const auto& entry) {
    if (!runs(*entry.second)) return true;
    const metadata::ImagePtr image = entry.second->node->broker()->image();
    for (const auto& [id, slot] : slots_)
      if (runs(*slot) && !image->cluster.isActive(id)) return false;
    for (const auto& [id, topic] : image->topics.byId)
      for (const auto& [index, partition] : topic->partitions) {
        const auto mayLead = [&](NodeId replica) { return image->cluster.isActive(replica); };
        if (partition->leader == kNoNode && std::ranges::any_of(partition->electable(), mayLead)) return false;
      }
    return true;
  });
}

bool Cluster::isEverywhere(const std::string& topic) const {
  return std::ranges::all_of(slots_, [&](const auto& entry) {
    const auto& [id, slot] = entry;
    if (!slot->place.isBroker || !slot->isOpen || slot->state != BrokerState::Running) return true;
    const metadata::ImagePtr image = slot->node->broker()->image();
    const metadata::TopicImage* known = image->topics.find(topic);
    if (known == nullptr) return false;
    for (const auto& [index, partition] : known->partitions)
      if (partition->isReplica(id) && slot->node->broker()->replicas().find(TopicPartition{topic, index}) == nullptr)
        return false;
    return true;
  });
}

void Cluster::metadataApplied() {
  for (auto wait = metadataAwaited_.begin(); wait != metadataAwaited_.end();) {
    if (!wait->holds()) {
      ++wait;
      continue;
    }
    Handler done = std::move(wait->done);
    metadataAwaited_.erase(wait);
    done({});
    // Who was told may have asked for more, or ended the cluster.
    wait = metadataAwaited_.begin();
  }
  changed();
}

void Cluster::findLeader(TopicPartition partition, std::move_only_function<void(Result<NodeId>)> done) {
  run([this, partition = std::move(partition), done = std::move(done)]() mutable { done(leaderNow(partition)); });
}

Result<NodeId> Cluster::leaderNow(const TopicPartition& partition) const {
  const metadata::ImagePtr image = newestImage();
  if (!image) return fail(ErrorCode::BrokerNotAvailable, std::string(kNobodyKnows));
  const metadata::PartitionRegistration* registration = image->topics.partition(partition.topic, partition.partition);
  if (registration == nullptr)
    return fail(ErrorCode::UnknownTopicOrPartition, fmt::format("there is no partition {}", partition));
  if (registration->leader != kNoNode) return registration->leader;
  std::string last;
  for (const NodeId node : registration->electable()) last += fmt::format("{}{}", last.empty() ? "" : ", ", node);
  return fail(
      ErrorCode::LeaderNotAvailable,
      fmt::format("{} has no leader: nobody who may lead it runs, in sync last was broker {}", partition, last));
}

void Cluster::listTopics(std::move_only_function<void(Result<std::vector<std::string>>)> done) {
  run([this, done = std::move(done)]() mutable {
    const metadata::ImagePtr image = newestImage();
    if (!image) return done(fail(ErrorCode::BrokerNotAvailable, std::string(kNobodyKnows)));
    std::vector<std::string> names;
    for (const auto& [name, topic] : image->topics.byName) names.push_back(name);
    done(std::move(names));
  });
}

void Cluster::whenReady(std::move_only_function<void(const Ready&)> done) {
  run([this, done = std::move(done)]() mutable {
    Ready ready;
    if (topology_) {
      ready.bootstrap = topology_->bootstrap();
      ready.host = topology_->host;
      ready.advertisedHost = topology_->advertisedHost;
      ready.logDirectories = topology_->logDirectories;
      ready.port = topology_->nodes.front().port;
      ready.clusterId = topology_->clusterId;
      for (const NodePlace& node : topology_->nodes)
        if (node.isBroker) ready.brokers.push_back(node.id.value());
    }
    for (const auto& [key, value] : settings_)
      ready.profile += fmt::format("{}{}={}", ready.profile.empty() ? "" : ", ", key, value);
    done(ready);
  });
}

broker::Node* Cluster::node(NodeId id) {
  const auto found = slots_.find(id);
  return found != slots_.end() && found->second->isOpen ? found->second->node.get() : nullptr;
}

Cluster::Started Cluster::started(NodeId id) const {
  const auto found = slots_.find(id);
  if (found == slots_.end() || !found->second->process) return {};
  return {found->second->recorder, found->second->node.get()};
}

}  // namespace tidemark::cluster
