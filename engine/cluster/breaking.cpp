#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cluster/cluster.h"
#include "cluster/slot.h"
#include "observe/fault_check.h"

// Breaks brokers on purpose and mends them: by hand, or as a fault of the list has it.

namespace tidemark::cluster {
namespace {

using faults::FaultBook;
using faults::Kind;
using observe::BrokerState;

/// What takes a broker down until it is healed.
constexpr std::array kDown = {Kind::Kill, Kind::PowerLoss, Kind::Stop};

/// Files in a broker's folders, deepest folders included, sorted.
Result<void> collect(platform::FileSystem& files, const std::string& directory, std::vector<std::string>& into) {
  TIDEMARK_ASSIGN(const std::vector<platform::DirectoryEntry> entries, files.list(directory));
  for (const platform::DirectoryEntry& entry : entries) {
    const std::string path = fmt::format("{}/{}", directory, entry.name);
    if (entry.isDirectory) {
      TIDEMARK_TRY(collect(files, path, into));
    } else if (entry.size > 0) {
      into.push_back(path);
    }
  }
  return {};
}

}  // namespace

/// Who is who, as the brokers that run believe.
class Cluster::View final : public faults::ClusterView {
 public:
  explicit View(const Cluster& cluster) : cluster_(cluster) {}

  std::vector<NodeId> nodes() const override {
    std::vector<NodeId> all;
    all.reserve(cluster_.slots_.size());
    for (const auto& [id, slot] : cluster_.slots_) all.push_back(id);
    return all;
  }
  Result<NodeId> leaderOf(const TopicPartition& partition) const override { return cluster_.leaderNow(partition); }
  Result<NodeId> activeController() const override {
    raft::LeaderAndEpoch newest;
    for (const auto& [id, slot] : cluster_.slots_) {
      if (!slot->isOpen || slot->state == BrokerState::Paused) continue;
      const raft::LeaderAndEpoch known = slot->node->shared().raft->leaderAndEpoch();
      if (known.leader != kNoNode && known.epoch > newest.epoch) newest = known;
    }
    if (newest.leader == kNoNode) return fail(ErrorCode::BrokerNotAvailable, "no controller is active");
    return newest.leader;
  }

 private:
  const Cluster& cluster_;
};

// --- by hand
// --------------------------------------------------------------------------------------------------------

void Cluster::killNow(Slot& slot) {
  const NodeId id = slot.place.id;
  // A dead process is not paused any more.
  if (const int pause = faults_->find(Kind::Pause, id); pause != 0) faults_->end(pause, FaultBook::Why::Dropped);
  killNode(slot, BrokerState::Killed);
  settle(slot, fail(ErrorCode::BrokerNotAvailable, fmt::format("broker {} was killed", id)));
}

void Cluster::pauseNow(Slot& slot) {
  slot.process->pause();
  tell(slot.place.id, events::BrokerPaused{slot.place.id});
  enter(slot, BrokerState::Paused);
}

Result<void> Cluster::resumeNow(Slot& slot) {
  if (slot.state != BrokerState::Paused)
    return fail(ErrorCode::InvalidRequest, fmt::format("broker {} is not paused", slot.place.id));
  slot.process->resume();
  tell(slot.place.id, events::BrokerResumed{slot.place.id});
  enter(slot, BrokerState::Running);
  return {};
}

void Cluster::restartNow(Slot& slot, Handler done) {
  if (!slot.process) {
    noteRecovery(slot.place.id);
    startNode(slot, std::move(done));
    return;
  }
  stopNode(slot, [this, broker = slot.place.id, done = std::move(done)](Result<void> stopped) mutable {
    if (!stopped) return done(std::move(stopped));
    startNode(*slots_.at(broker), std::move(done));
  });
}

void Cluster::noteFault(Kind kind, NodeId broker) {
  faults::Fault fault;
  fault.kind = kind;
  fault.target = faults::NodeName{.by = {}, .id = broker, .partition = {}};
  const platform::MonotonicTime now = lab_->clock().monotonic();
  faults_->begin(faults_->add(std::move(fault), now), {.node = broker, .client = {}, .links = {}}, now);
}

void Cluster::noteRecovery(NodeId broker) {
  for (const Kind kind : kDown)
    for (int id = 0; (id = faults_->find(kind, broker)) != 0;) faults_->end(id, FaultBook::Why::Healed);
  for (int id = 0; (id = faults_->find(Kind::Pause, broker)) != 0;) faults_->end(id, FaultBook::Why::Healed);
}

bool Cluster::wasHarmed(NodeId broker) const {
  return std::ranges::any_of(kDown, [&](Kind kind) { return faults_->find(kind, broker) != 0; });
}

void Cluster::killBroker(NodeId broker, Done done) {
  run([this, broker, done = std::move(done)]() mutable {
    auto slot = find(broker);
    if (!slot) return done(fail(std::move(slot).error()));
    if (auto possible = checkBroker(Kind::Kill, **slot); !possible) return done(std::move(possible));
    noteFault(Kind::Kill, broker);
    killNow(**slot);
    done({});
  });
}

void Cluster::pauseBroker(NodeId broker, Done done) {
  run([this, broker, done = std::move(done)]() mutable {
    auto slot = find(broker);
    if (!slot) return done(fail(std::move(slot).error()));
    if (auto possible = checkBroker(Kind::Pause, **slot); !possible) return done(std::move(possible));
    noteFault(Kind::Pause, broker);
    pauseNow(**slot);
    done({});
  });
}

void Cluster::resumeBroker(NodeId broker, Done done) {
  run([this, broker, done = std::move(done)]() mutable {
    auto slot = find(broker);
    if (!slot) return done(fail(std::move(slot).error()));
    if (auto resumed = resumeNow(**slot); !resumed) return done(std::move(resumed));
    noteRecovery(broker);
    done({});
  });
}

void Cluster::stopBroker(NodeId broker, Done done) {
  run([this, broker, done = std::move(done)]() mutable {
    auto slot = find(broker);
    if (!slot) return done(fail(std::move(slot).error()));
    if (auto possible = checkBroker(Kind::Stop, **slot); !possible) return done(std::move(possible));
    stopNode(**slot, std::move(done));
  });
}

void Cluster::restartBroker(NodeId broker, Done done) {
  run([this, broker, done = std::move(done)]() mutable {
    auto slot = find(broker);
    if (!slot) return done(fail(std::move(slot).error()));
    if (auto possible = checkBroker(Kind::Restart, **slot); !possible) return done(std::move(possible));
    restartNow(**slot, std::move(done));
  });
}

// --- the list
// -------------------------------------------------------------------------------------------------------

void Cluster::tellListeners() {
  std::map<uint16_t, FaultBook::Listener> listeners;
  for (const NodePlace& node : topology_->nodes) {
    listeners[node.port] = {.node = node.id, .port = faults::Port::Broker};
    listeners[node.controllerPort] = {.node = node.id, .port = faults::Port::Controller};
  }
  faults_->setListeners(std::move(listeners));
}

void Cluster::setFault(faults::Fault fault, std::move_only_function<void(Result<int>)> done) {
  run([this, fault = std::move(fault), done = std::move(done)]() mutable {
    if (!topology_) return done(fail(ErrorCode::BrokerNotAvailable, "no cluster is running"));
    // A name that stands for nobody now may do so later; what is impossible is so now.
    if (auto place = faults::placeOf(fault, View(*this));
        !place && (fault.trigger.isNow() || place.error().code == ErrorCode::InvalidRequest))
      return done(fail(std::move(place).error()));
    const bool now = fault.trigger.isNow();
    const int id = faults_->add(fault, lab_->clock().monotonic());
    if (now) {
      if (auto begun = beginFault(id, fault); !begun) {
        faults_->end(id, FaultBook::Why::Dropped);
        return done(fail(std::move(begun).error()));
      }
    }
    changed();
    listenForFaults();
    advanceFaults();
    done(id);
  });
}

void Cluster::listenForFaults() {
  const bool awaits = faults_->awaitsEvents();
  if (awaits == awaitsEvents_) return;
  awaitsEvents_ = awaits;
  for (auto& [id, slot] : slots_)
    if (slot->recorder) lookAt(*slot, looking_ || awaitsEvents_);
  // What was told before is not waited for.
  if (!awaits) return;
  collector_.collect();
  heardOf_ = collector_.eventsAfter(0, 0).last;
}

void Cluster::hearEvents() {
  if (!awaitsEvents_) return;
  collector_.collect();
  const observe::EventBatch batch = collector_.eventsAfter(heardOf_);
  heardOf_ = batch.last;
  for (const observe::ObservedEvent& each : batch.events)
    faults_->occurred(each.event.broker, events::nameOf(each.event.payload), {each.topic, each.partition},
                      lab_->clock().monotonic());
  if (batch.events.empty()) return;
  advanceFaults();
  listenForFaults();
}

void Cluster::healFault(int id, Done done) {
  run([this, id, done = std::move(done)]() mutable { endFault(id, FaultBook::Why::Healed, std::move(done)); });
}

void Cluster::healAll(Done done) {
  healEach([done = std::move(done)](Result<size_t> healed) mutable {
    done(healed ? Result<void>{} : fail(std::move(healed).error()));
  });
}

void Cluster::healEach(std::move_only_function<void(Result<size_t>)> done) {
  run([this, done = std::move(done)]() mutable {
    struct Healing {
      size_t left = 1;
      size_t count = 0;
      Result<void> result;
      std::move_only_function<void(Result<size_t>)> done;
    };
    auto healing = std::make_shared<Healing>();
    healing->done = std::move(done);
    const auto part = [healing](Result<void> result) {
      if (!result && healing->result) healing->result = std::move(result);
      if (--healing->left > 0) return;
      healing->done(healing->result ? Result<size_t>(healing->count) : fail(std::move(healing->result).error()));
    };
    for (const faults::FaultStatus& fault : faults_->list(lab_->clock().monotonic())) {
      ++healing->left;
      ++healing->count;
      endFault(fault.id, FaultBook::Why::Healed, part);
    }
    part({});
  });
}

void Cluster::stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) {
  run([this, id, count, done = std::move(done)]() mutable { done(faults_->step(id, count)); });
}

void Cluster::listFaults(std::move_only_function<void(std::vector<faults::FaultStatus>)> done) {
  run([this, done = std::move(done)]() mutable { done(faults_->list(lab_->clock().monotonic())); });
}

void Cluster::dropFaults() {
  faultTimer_.cancel();
  for (const faults::FaultStatus& fault : faults_->list(lab_->clock().monotonic()))
    faults_->end(fault.id, FaultBook::Why::Dropped);
  listenForFaults();
}

void Cluster::advanceFaults() {
  while (const auto due = faults_->due(lab_->clock().monotonic())) {
    if (!due->begins) {
      endFault(due->id, FaultBook::Why::Expired, [this, text = faults::textOf(due->fault)](const Result<void>& ended) {
        if (!ended) lab_->log().warning("cluster", "{} is over, but: {}", text, ended.error().message);
      });
      continue;
    }
    if (auto begun = beginFault(due->id, due->fault); !begun) {
      lab_->log().warning("cluster", "{} does not begin: {}", faults::textOf(due->fault), begun.error().message);
      faults_->end(due->id, FaultBook::Why::Dropped);
    }
    changed();
  }
  faultTimer_.cancel();
  if (const auto next = faults_->nextDue())
    faultTimer_ = executor_->schedule(std::max(*next - lab_->clock().monotonic(), platform::Duration{}),
                                      [this] { advanceFaults(); });
}

Result<void> Cluster::checkBroker(Kind kind, const Slot& slot) const {
  const NodeId id = slot.place.id;
  TIDEMARK_TRY(observe::checkState(kind, id, slot.state));
  // It starts, and does not run yet.
  if (kind == Kind::Stop && !slot.isOpen)
    return fail(ErrorCode::InvalidRequest, fmt::format("broker {} is starting", id));
  if (kind == Kind::Wipe && slot.process)
    return fail(ErrorCode::InvalidRequest, fmt::format("broker {} holds its files: kill or stop it first", id));
  return {};
}

Result<void> Cluster::beginFault(int id, const faults::Fault& fault) {
  TIDEMARK_ASSIGN(faults::Place place, faults::placeOf(fault, View(*this)));
  if (place.node != kNoNode) {
    const Slot& slot = *slots_.at(place.node);
    TIDEMARK_TRY(checkBroker(fault.kind, slot));
    // What may fail comes before it is told.
    if (fault.kind == Kind::Wipe) TIDEMARK_TRY(wipe(slot, fault));
    if (fault.kind == Kind::BitFlip) TIDEMARK_TRY(flipBit(slot, fault));
  }
  faults_->begin(id, place, lab_->clock().monotonic());
  if (faults::areaOf(fault.kind) == faults::Area::Brokers) harm(*slots_.at(place.node), fault.kind);
  return {};
}

void Cluster::harm(Slot& slot, Kind kind) {
  const NodeId broker = slot.place.id;
  const auto report = [this, broker](const Result<void>& result) {
    if (!result) lab_->log().warning("cluster", "broker {}: {}", broker, result.error().message);
  };
  switch (kind) {
    case Kind::Kill:
      return killNow(slot);
    case Kind::PowerLoss: {
      const std::vector<faults::UnsyncedFile> files = slot.process->unsyncedFiles();
      killNow(slot);
      report(loseUnsynced(slot, files));
      return;
    }
    case Kind::Pause:
      return pauseNow(slot);
    case Kind::Stop:
      return stopNode(slot, report);
    case Kind::Restart:
      return restartNow(slot, report);
    default:
      return;
  }
}

void Cluster::endFault(int id, FaultBook::Why why, Handler done) {
  const auto ended = faults_->end(id, why);
  if (!ended) return done(fail(ErrorCode::InvalidRequest, fmt::format("there is no fault {}", id)));
  changed();
  listenForFaults();
  const auto found = ended->begun ? slots_.find(ended->place.node) : slots_.end();
  if (found == slots_.end()) return done({});
  Slot& slot = *found->second;
  if (ended->fault.kind == Kind::Pause && slot.state == BrokerState::Paused) return done(resumeNow(slot));
  if (std::ranges::find(kDown, ended->fault.kind) == kDown.end()) return done({});
  // Up already, or on its way: then whoever brings it up is answered.
  if (slot.state != BrokerState::Stopping) {
    if (slot.process) return done({});
    return startNode(slot, std::move(done));
  }
  slot.waiting.push_back([this, broker = slot.place.id, done = std::move(done)](Result<void> stopped) mutable {
    if (!stopped) return done(std::move(stopped));
    startNode(*slots_.at(broker), std::move(done));
  });
}

// --- files of a broker that is down
// ----------------------------------------------------------------------------------

Result<void> Cluster::withFiles(const Slot& slot, const std::function<Result<void>(platform::FileSystem&)>& use) {
  if (slot.process) return use(slot.process->files());
  // A name of an earlier process that died stands for the same machine.
  const auto machine = platform_->createProcess(machineOf(slot.place.id));
  Result<void> result = use(machine->files());
  machine->kill("its files were seen to");
  machine->awaitStopped();
  return result;
}

Result<void> Cluster::loseUnsynced(const Slot& slot, const std::vector<faults::UnsyncedFile>& lost) {
  return withFiles(slot, [&lost](platform::FileSystem& files) -> Result<void> {
    for (const faults::UnsyncedFile& each : lost) {
      if (!files.exists(each.path)) continue;
      TIDEMARK_ASSIGN(const auto file, files.open(each.path, platform::OpenMode::ReadWrite));
      TIDEMARK_ASSIGN(const uint64_t size, file->size());
      if (size > each.synced) TIDEMARK_TRY(file->truncate(each.synced));
      TIDEMARK_TRY(file->sync());
    }
    return {};
  });
}

Result<void> Cluster::wipe(const Slot& slot, const faults::Fault& fault) {
  return withFiles(slot, [&](platform::FileSystem& files) -> Result<void> {
    bool found = false;
    for (const std::string& directory : nodeDirectories(*topology_, dataFolder_, slot.place.id)) {
      if (fault.path.empty()) {
        TIDEMARK_TRY(files.removeTree(directory));
        found = true;
        continue;
      }
      TIDEMARK_ASSIGN(const std::vector<platform::DirectoryEntry> entries, files.list(directory));
      for (const platform::DirectoryEntry& entry : entries) {
        if (!entry.isDirectory || !faults::matchesPath(fault.path, entry.name)) continue;
        TIDEMARK_TRY(files.removeTree(fmt::format("{}/{}", directory, entry.name)));
        found = true;
      }
    }
    if (!found)
      return fail(ErrorCode::InvalidRequest, fmt::format("broker {} has no folder {}", slot.place.id, fault.path));
    return {};
  });
}

Result<void> Cluster::flipBit(const Slot& slot, const faults::Fault& fault) {
  return withFiles(slot, [&](platform::FileSystem& files) -> Result<void> {
    std::vector<std::string> paths;
    for (const std::string& directory : nodeDirectories(*topology_, dataFolder_, slot.place.id))
      TIDEMARK_TRY(collect(files, directory, paths));
    const auto found =
        std::ranges::find_if(paths, [&](const std::string& path) { return faults::matchesPath(fault.path, path); });
    if (found == paths.end())
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("broker {} has no file {} with a byte in it", slot.place.id, fault.path));
    TIDEMARK_ASSIGN(const auto file, files.open(*found, platform::OpenMode::ReadWrite));
    TIDEMARK_ASSIGN(const uint64_t size, file->size());
    // In the middle: of a log that is inside a batch, of an index an entry.
    const uint64_t position = size / 2;
    std::array<uint8_t, 1> byte{};
    TIDEMARK_TRY(file->readAt(position, byte));
    byte[0] ^= 1U;
    return file->writeAt(position, ByteView(byte));
  });
}

}  // namespace tidemark::cluster
