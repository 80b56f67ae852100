#include "cluster/cluster.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/errands.h"
#include "cluster/slot.h"
#include "faults/faulty_files.h"
#include "faults/faulty_handler.h"
#include "log/checkpoints.h"
#include "metadata/features.h"
#include "raft/format.h"

namespace tidemark::cluster {
namespace {

using observe::BrokerState;

/// So far above the brokers' ports are those of the controllers.
constexpr size_t kControllersAbove = 100;
/// A start that takes longer is told with what it waits for: much more than it takes.
constexpr platform::Duration kUsualStart = std::chrono::seconds(10);

const std::string kRackKey = "broker.rack";

Result<void> checkRacks(const observe::LaunchOptions& options) {
  const auto& racks = options.racks;
  if (racks.empty()) return {};
  if (racks.size() != static_cast<size_t>(options.brokers))
    return fail(
        ErrorCode::InvalidConfig,
        fmt::format("{} rack{} for {} broker{}: name one for each broker, the same one for those that share it",
                    racks.size(), racks.size() == 1 ? "" : "s", options.brokers, options.brokers == 1 ? "" : "s"));
  if (const auto empty = std::ranges::find(racks, std::string()); empty != racks.end())
    return fail(ErrorCode::InvalidConfig, fmt::format("the rack of broker {} has no name", empty - racks.begin() + 1));
  if (std::ranges::find(options.settings, kRackKey, &observe::Setting::key) != options.settings.end())
    return fail(ErrorCode::InvalidConfig,
                fmt::format("each broker has its own rack, and {} says one for all: leave out either", kRackKey));
  return {};
}

/// A topic cannot have more copies than there are brokers: none would ever come into being.
Result<void> checkCopies(const config::BrokerConfig& config, int brokers) {
  static constexpr std::array kCopies = {"default.replication.factor", "offsets.topic.replication.factor",
                                         "share.coordinator.state.topic.replication.factor",
                                         "transaction.state.log.replication.factor"};
  for (const char* key : kCopies)
    if (const int copies = config.getInt(key); copies > brokers)
      return fail(
          ErrorCode::InvalidConfig,
          fmt::format("Invalid value {} for configuration {}: the cluster has {} broker{}, so it can be 1 to {}",
                      copies, key, brokers, brokers == 1 ? "" : "s", brokers));
  return {};
}

/// A node on the directories of another cluster would look for its quorum without end. What cannot be read is the
/// node's own to refuse.
Result<void> checkCluster(platform::FileSystem& files, const config::BrokerConfig& config, const std::string& clusterId,
                          const std::string& dataFolder) {
  for (const std::string& directory : config.logDirs()) {
    const auto meta = log::readMetaProperties(files, directory);
    if (!meta || !*meta || (*meta)->clusterId.empty() || (*meta)->clusterId == clusterId) continue;
    return fail(
        ErrorCode::InconsistentClusterId,
        fmt::format("{}/{}: cluster.id is {}, but {}/{} says {}: the directory belongs to another cluster", directory,
                    log::kMetaPropertiesFile, (*meta)->clusterId, dataFolder, kTopologyFile, clusterId));
  }
  return {};
}

}  // namespace

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
  // A first launch may be at its beginning, or have been killed there.
  const auto isOfALaunch = [](const platform::DirectoryEntry& entry) {
    return entry.name == log::kLockFile || entry.name.starts_with(kTopologyFile);
  };
  if (!std::ranges::all_of(entries, isOfALaunch))
    return fail(ErrorCode::InvalidConfig,
                fmt::format("{} is neither empty nor a cluster of Tidemark's: it has no {}", folder, kTopologyFile));
  return std::nullopt;
}

Result<std::optional<observe::StoredCluster>> Cluster::stored(const std::string& folder) const {
  TIDEMARK_ASSIGN(const std::optional<Topology> topology, storedTopology(folder));
  if (!topology) return std::nullopt;
  const size_t brokers = topology->brokers();
  observe::StoredCluster stored{.brokers = static_cast<int>(brokers),
                                .host = topology->host,
                                .ports = {},
                                .separateControllers = static_cast<int>(topology->nodes.size() - brokers)};
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
  TIDEMARK_TRY(checkRacks(options));
  temporary_ = options.dataFolder.empty();
  dataFolder_ = options.dataFolder;
  if (temporary_) {
    TIDEMARK_ASSIGN(dataFolder_, platform_->temporaryFolder());
  }
  platform::FileSystem& files = lab_->files();
  TIDEMARK_TRY(checkOverrides(options.settings));
  TIDEMARK_TRY(metadata::checkFormatLevels(options.features));
  TIDEMARK_TRY(storedTopology(dataFolder_));
  TIDEMARK_TRY(files.createDirectories(dataFolder_));
  // Held from before the folder is looked at: of two first launches on it one is refused.
  if (auto locked = files.lock(fmt::format("{}/{}", dataFolder_, log::kLockFile)); locked)
    folderLock_ = *std::move(locked);
  else
    // Held by somebody, or out of reach.
    return fail(locked.error().code,
                fmt::format("{} {}: {}", dataFolder_,
                            locked.error().code == ErrorCode::InvalidConfig ? "is in use" : "cannot be written",
                            locked.error().message));
  settings_ = labSettings(options.brokers, options.settings);
  racks_ = options.racks;
  features_ = options.features;
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
      if (options.port + kControllersAbove + count > 65536)
        return fail(ErrorCode::InvalidConfig,
                    fmt::format("port {} is too high: {} the ports from it on, and as many from {} above it; "
                                "up to {} they fit, and 0 takes free ones",
                                options.port, count == 1 ? "1 node takes" : fmt::format("{} nodes take", count),
                                kControllersAbove, 65536 - kControllersAbove - count));
      for (size_t i = 0; i < count; ++i) ports.push_back(static_cast<uint16_t>(options.port + i));
      for (size_t i = 0; i < count; ++i) ports.push_back(static_cast<uint16_t>(options.port + kControllersAbove + i));
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
    TIDEMARK_ASSIGN(const config::BrokerConfig config, nodeConfig(*topology_, place, dataFolder_, settingsOf(place)));
    TIDEMARK_TRY(checkCopies(config, options.brokers));
    auto slot = std::make_unique<Slot>();
    slot->place = place;
    slots_.emplace(place.id, std::move(slot));
  }
  if (!fresh_) TIDEMARK_TRY(checkMetadataLogs());
  tellListeners();
  return files.replaceFile(path, asBytes(encodeTopology(*topology_)));
}

Result<void> Cluster::checkMetadataLogs() {
  bool hasRun = false;
  size_t voters = 0;
  std::vector<std::string> gone;
  for (const auto& [id, slot] : slots_) {
    const std::string directory = nodeFolder(dataFolder_, id);
    auto held = raft::StoredMetadata::None;
    bool isFormatted = false;
    const auto looked = withFiles(*slot, [&](platform::FileSystem& files) -> Result<void> {
      isFormatted = files.exists(fmt::format("{}/{}", directory, log::kMetaPropertiesFile));
      TIDEMARK_ASSIGN(held, raft::storedMetadata(files, directory));
      return {};
    });
    // What cannot be read is there, and the node's own to refuse.
    if (!looked) held = raft::StoredMetadata::Records;
    // A first launch that was killed while it formatted them has begun with the metadata log.
    hasRun |= held == raft::StoredMetadata::Records || (isFormatted && held == raft::StoredMetadata::None);
    if (!slot->place.isController) continue;
    ++voters;
    if (held == raft::StoredMetadata::None) gone.push_back(fmt::format("{}/{}-0", directory, raft::kMetadataTopic));
  }
  if (!hasRun || 2 * gone.size() <= voters) return {};
  if (gone.size() == voters)
    return fail(
        ErrorCode::KafkaStorageError,
        fmt::format(
            "no controller of the cluster in {} has a metadata log ({}): without one nobody can be elected, and "
            "which topics there are is unknown; restore {} from a backup, or launch a new cluster in an empty "
            "folder",
            dataFolder_, fmt::join(gone, ", "), voters == 1 ? "that folder" : "these folders"));
  lab_->log().error(
      "cluster",
      "{} of {} controllers have no metadata log ({}): what only they had of topics and settings is lost, "
      "although it was acknowledged; to have that again, end the cluster and restore these folders from a "
      "backup",
      gone.size(), voters, fmt::join(gone, ", "));
  return {};
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
    std::map<NodeId, Error> failed;
    bool over = false;
    std::optional<observe::TopicOptions> topic;
  };
  auto launch =
      std::make_shared<Launch>(Launch{.left = slots_.size(), .failed = {}, .topic = std::move(options.firstTopic)});
  launching_ = std::move(done);
  for (auto& [id, slot] : slots_) {
    startNode(*slot, [this, launch, broker = id](Result<void> started) {
      // A launch that was ended meanwhile has been answered.
      if (launch->over || !launching_) return;
      // Who kills a broker while it starts wants to see the others go on.
      if (const auto slotOf = slots_.find(broker); slotOf != slots_.end() && wasHarmed(broker)) started = {};
      if (!started) launch->failed.emplace(broker, started.error());
      --launch->left;
      // Without them the others would wait for a quorum for ever.
      const bool hopeless = !launch->failed.empty() && !canDoWithout(launch->failed);
      if (launch->left > 0 && !hopeless) return;
      launch->over = true;
      if (hopeless) {
        // It is this that is answered, and not that the cluster ends.
        Handler answer = std::exchange(launching_, nullptr);
        killAll(BrokerState::Killed);
        removeFresh();
        forgetCluster();
        answer(fail(launch->failed.begin()->second));
      } else {
        for (const auto& [node, error] : launch->failed) leaveOut(node, error);
        // Whoever bootstraps from one of them finds all. A partition that stays without a leader does not hold the
        // launch up.
        awaitMetadata([this] { return isSettled(); },
                      [this, topic = std::move(launch->topic)](Result<void> settled) {
                        const bool ended = !settled && settled.error().code != ErrorCode::RequestTimedOut;
                        if (ended) return finishLaunch(std::move(settled));
                        tellLeaderless();
                        createFirstTopic(topic);
                      });
      }
    });
  }
  changed();
}

bool Cluster::canDoWithout(const std::map<NodeId, Error>& failed) const {
  // In a new folder it is not what the folder holds; and who has the ports of one may have those of the others.
  const auto isOfThePlace = [](const auto& each) { return each.second.code == ErrorCode::NetworkException; };
  if (fresh_ || std::ranges::any_of(failed, isOfThePlace)) return false;
  size_t voters = 0;
  size_t votersLeft = 0;
  bool brokerLeft = false;
  for (const auto& [id, slot] : slots_) {
    const bool starts = !failed.contains(id);
    voters += slot->place.isController ? 1 : 0;
    votersLeft += slot->place.isController && starts ? 1 : 0;
    brokerLeft |= slot->place.isBroker && starts;
  }
  return brokerLeft && 2 * votersLeft > voters;
}

void Cluster::leaveOut(NodeId id, const Error& error) {
  std::string folders;
  for (const std::string& directory : nodeDirectories(*topology_, dataFolder_, id)) folders += " " + directory;
  lab_->log().error(
      "cluster",
      "{} does not start, the others do without it: {}; mend that (`tidemark verify{}` says what else is "
      "damaged), or empty its folder, so that it has a copy made of what the others have; then `restart {}`",
      slots_.at(id)->name(), error.message, folders, id);
  slots_.at(id)->diedOf = error.message;
  changed();
}

void Cluster::tellLeaderless() const {
  constexpr size_t kNamed = 3;
  const metadata::ImagePtr image = newestImage();
  if (!image) return;
  const auto isLeftOut = [this](NodeId node) {
    const auto found = slots_.find(node);
    return found != slots_.end() && found->second->isLeftOut();
  };
  size_t count = 0;
  std::string named;
  std::set<NodeId> awaited;
  for (const auto& [id, topic] : image->topics.byId)
    for (const auto& [index, partition] : topic->partitions) {
      if (partition->leader != kNoNode || !std::ranges::any_of(partition->electable(), isLeftOut)) continue;
      std::ranges::copy_if(partition->electable(), std::inserter(awaited, awaited.end()), isLeftOut);
      if (++count <= kNamed) named += fmt::format("{}{}-{}", named.empty() ? "" : ", ", topic->name, index);
    }
  if (count == 0) return;
  if (count > kNamed) named += fmt::format(" and {} more", count - kNamed);
  lab_->log().error(
      "cluster",
      "{} ({}) {} no leader until broker {} is back: nobody else has all that was acknowledged there, so do "
      "not empty its folder",
      count == 1 ? "1 partition" : fmt::format("{} partitions", count), named, count == 1 ? "has" : "have",
      fmt::join(awaited, " or "));
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

config::ConfigMap Cluster::settingsOf(const NodePlace& place) const {
  config::ConfigMap settings = settings_;
  // Brokers come first.
  const auto at = std::ranges::find(topology_->nodes, place.id, &NodePlace::id) - topology_->nodes.begin();
  if (static_cast<size_t>(at) < racks_.size()) settings[kRackKey] = racks_[static_cast<size_t>(at)];
  return settings;
}

void Cluster::startNode(Slot& slot, Handler done) {
  auto config = nodeConfig(*topology_, slot.place, dataFolder_, settingsOf(slot.place));
  if (!config) {
    done(fail(std::move(config).error()));
    return;
  }
  const NodeId id = slot.place.id;
  const uint64_t incarnation = slot.incarnation = ++incarnations_;
  slot.transactions.clear();
  const std::shared_ptr<platform::Process> sound = platform_->createProcess(machineOf(id));
  slot.process = std::make_shared<faults::FaultyProcess>(sound, faults_, id);
  faults_->lives(id, true);
  slot.process->onDeath([this, id, incarnation](const std::string& reason) {
    run([this, id, incarnation, reason] { died(id, incarnation, reason); });
  });
  // Whatever its own clocks say: what happens on all of them is looked at on one axis of time.
  slot.recorder = std::make_shared<events::Recorder>(sound->clock(), id);
  collector_.prepare(*slot.recorder);
  listenTo(slot, wantedEvents());
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
  slot.notReady = executor_->schedule(kUsualStart, [this, id, incarnation] {
    const auto found = slots_.find(id);
    if (found == slots_.end() || found->second->incarnation != incarnation) return;
    if (found->second->state != BrokerState::Starting) return;
    lab_->log().warning("cluster", "{}", whyNotYet(*found->second, kUsualStart));
    if (news_.late) news_.late(id);
  });
  broker::FormatNode format{.config = *std::move(config),
                            .clusterId = topology_->clusterId,
                            .voters = topology_->voters(),
                            .directoryId = slot.place.directoryId,
                            .features = features_};
  // Each broker reads and writes its own files on its own thread: they start side by side.
  slot.main->post([this, id, incarnation, node = slot.node.get(), process = slot.process.get(),
                   format = std::move(format), dataFolder = dataFolder_, isNew = fresh_] {
    const auto openNode = [&]() -> Result<void> {
      if (!isNew) TIDEMARK_TRY(checkCluster(process->files(), format.config, format.clusterId, dataFolder));
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
    // died() says of what.
    if (slot.process->state() == platform::Process::State::Dead) return;
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
    slot.notReady.cancel();
    enter(slot, BrokerState::Running);
    settle(slot, {});
  }
  changed();
}

void Cluster::died(NodeId id, uint64_t incarnation, const std::string& reason) {
  const auto found = slots_.find(id);
  if (found == slots_.end() || found->second->incarnation != incarnation || !found->second->process) return;
  const bool full = reason.contains("No space left on device");
  const bool torn = reason.starts_with(faults::kTornReason);
  lab_->log().error("cluster", "{} died: {}; {}`restart {}`{}", found->second->name(), reason,
                    full   ? "free space on its disk (or heal the fault that fills it), then "
                    : torn ? ""
                           : "mend that, then ",
                    id, torn ? " has it recover its logs" : "");
  found->second->diedOf = reason;
  killNode(*found->second, BrokerState::Killed);
  if (news_.died) news_.died(id, reason);
  settle(*found->second,
         fail(ErrorCode::BrokerNotAvailable, fmt::format("{} died: {}", found->second->name(), reason)));
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

}  // namespace tidemark::cluster
