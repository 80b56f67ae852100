#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "cluster/cluster.h"
#include "cluster/slot.h"
#include "config/properties.h"
#include "observe/fault_check.h"

// Breaks brokers on purpose and mends them: by hand, or as a fault of the list has it.

namespace tidemark::cluster {
namespace {

using faults::Ending;
using faults::FaultBook;
using faults::Kind;
using observe::BrokerState;

/// What takes a broker down until it is healed.
constexpr std::array kDown = {Kind::Kill, Kind::PowerLoss, Kind::Stop};

}  // namespace

/// Who is who, as the brokers that run believe.
class Cluster::View final : public faults::ClusterView {
 public:
  explicit View(const Cluster& cluster) : cluster_(cluster) {}

  std::vector<faults::Member> members() const override {
    std::vector<faults::Member> all;
    all.reserve(cluster_.slots_.size());
    for (const auto& [id, slot] : cluster_.slots_)
      all.push_back({.id = id, .isBroker = slot->place.isBroker, .isController = slot->place.isController});
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
  // A dead process is not paused any more.
  const std::string killed = slot.name() + " was killed";
  if (const int pause = faults_->find(Kind::Pause, slot.place.id); pause != 0)
    faults_->end(pause, Ending::Dropped, killed);
  killNode(slot, BrokerState::Killed);
  settle(slot, fail(ErrorCode::BrokerNotAvailable, killed));
}

void Cluster::pauseNow(Slot& slot) {
  slot.process->pause();
  tell(slot.place.id, events::BrokerPaused{slot.place.id});
  enter(slot, BrokerState::Paused);
}

Result<void> Cluster::resumeNow(Slot& slot) {
  if (slot.state != BrokerState::Paused) return fail(ErrorCode::InvalidRequest, slot.name() + " is not paused");
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
  fault.target =
      faults::NodeName{.by = {}, .id = broker, .partition = {}, .isController = !slots_.at(broker)->place.isBroker};
  const platform::MonotonicTime now = lab_->clock().monotonic();
  faults_->begin(faults_->add(std::move(fault), now), {.node = broker, .client = {}, .links = {}}, now);
}

void Cluster::noteRecovery(NodeId broker) {
  for (const Kind kind : kDown)
    for (int id = 0; (id = faults_->find(kind, broker)) != 0;) faults_->end(id, Ending::Healed);
  for (int id = 0; (id = faults_->find(Kind::Pause, broker)) != 0;) faults_->end(id, Ending::Healed);
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
    stopNode(**slot, patiently(broker, std::move(done)));
  });
}

void Cluster::restartBroker(NodeId broker, Done done) {
  run([this, broker, done = std::move(done)]() mutable {
    auto slot = find(broker);
    if (!slot) return done(fail(std::move(slot).error()));
    if (auto possible = checkBroker(Kind::Restart, **slot); !possible) return done(std::move(possible));
    restartNow(**slot, patiently(broker, std::move(done)));
  });
}

// --- how long somebody waits for a broker
// ----------------------------------------------------------------------------------

Cluster::Handler Cluster::patiently(NodeId broker, Handler done) {
  if (patience_ == platform::Duration{}) return done;
  struct Waiting {
    Handler done;
    platform::Timer timeout;
    void answer(Result<void> result) {
      timeout.cancel();
      if (done) std::exchange(done, nullptr)(std::move(result));
    }
  };
  auto waiting = std::make_shared<Waiting>();
  waiting->done = std::move(done);
  waiting->timeout = executor_->schedule(patience_, [this, broker, weak = std::weak_ptr(waiting)] {
    if (const auto late = weak.lock())
      late->answer(fail(ErrorCode::RequestTimedOut, whyNotYet(*slots_.at(broker), patience_)));
  });
  return [waiting](Result<void> result) { waiting->answer(std::move(result)); };
}

std::string Cluster::whyNotYet(const Slot& slot, platform::Duration waited) const {
  const std::string name = slot.name();
  const std::string after = fmt::format("after {} s", std::chrono::duration<double>(waited).count());
  if (slot.state == BrokerState::Stopping) return fmt::format("{} is still stopping {}", name, after);
  if (!slot.isOpen) return fmt::format("{} is still opening its logs {}", name, after);
  if (slot.node->broker() != nullptr && slot.node->broker()->state() == broker::LifecycleState::Recovery)
    return fmt::format(
        "{} is registered, but not taken into the cluster {}: it loads its logs, or its metadata is older than the "
        "controller's{}",
        name, after, whatIsUnusual());
  const auto [up, all] = controllersUp();
  // Who leads, not whom somebody believes to: that may be what it has read from its disk.
  std::string lacks = "no controller is active";
  for (const auto& [id, each] : slots_)
    if (each->isOpen && each->state != BrokerState::Paused && each->node->controller() != nullptr &&
        each->node->controller()->driver().status().active)
      lacks = fmt::format("it has not reached the active controller, {}", each->name());
  return fmt::format("{} is started and goes on trying, but is not registered {}: {}, {} of {} controllers run{}", name,
                     after, lacks, up, all, whatIsUnusual());
}

std::string Cluster::whatIsUnusual() const {
  std::string text;
  if (const size_t set = faults_->list(lab_->clock().monotonic()).size(); set > 0)
    text += fmt::format(", {} fault{} set", set, set == 1 ? " is" : "s are");
  const config::ConfigMap usual = config::labProfile(static_cast<int>(topology_->brokers()));
  config::ConfigMap settings = settings_;
  std::erase_if(settings, [&](const auto& each) {
    const auto known = usual.find(each.first);
    return known != usual.end() && known->second == each.second;
  });
  if (!settings.empty()) text += ", and it was launched with " + config::listed(settings);
  return text;
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
    auto set = setNow(fault);
    if (!set) return done(fail(std::move(set).error()));
    if (looking_) keepUnmatched(set->id, unmatched(fault, set->node));
    done(set->id);
  });
}

void Cluster::placeFault(faults::Fault fault, std::move_only_function<void(Result<PlacedFault>)> done) {
  run([this, fault = std::move(fault), done = std::move(done)]() mutable {
    auto set = setNow(fault);
    if (!set) return done(fail(std::move(set).error()));
    PlacedFault placed{.id = set->id,
                       .unmatched = unmatched(fault, set->node),
                       .who = set->node == kNoNode ? std::string() : slots_.at(set->node)->name()};
    if (looking_) keepUnmatched(placed.id, placed.unmatched);
    done(std::move(placed));
  });
}

void Cluster::keepUnmatched(int fault, std::vector<faults::Unmatched> unmatched) {
  if (unmatched.empty()) return;
  const FaultBook::Lists lists = faults_->lists(lab_->clock().monotonic());
  std::erase_if(unmatched_, [&lists](const auto& kept) {
    return std::ranges::find(lists.set, kept.first, &faults::FaultStatus::id) == lists.set.end() &&
           std::ranges::find(lists.over, kept.first, &faults::FaultOver::id) == lists.over.end();
  });
  unmatched_[fault] = std::move(unmatched);
}

Result<Cluster::SetFault> Cluster::setNow(const faults::Fault& fault) {
  if (!topology_) return fail(ErrorCode::BrokerNotAvailable, "no cluster is running");
  // A name that stands for nobody now may do so later; what is impossible is so now.
  auto place = faults::placeOf(fault, View(*this));
  if (!place && (fault.trigger.isNow() || place.error().code == ErrorCode::InvalidRequest))
    return fail(std::move(place).error());
  const NodeId node = place ? place->node : kNoNode;
  TIDEMARK_TRY(checkNames(fault, node));
  // What was told before is not waited for.
  hearEvents();
  const int id = faults_->add(fault, lab_->clock().monotonic());
  if (fault.trigger.isNow()) {
    if (auto begun = beginFault(id, fault); !begun) {
      faults_->unset(id);
      return fail(std::move(begun).error());
    }
  }
  changed();
  listenForFaults();
  advanceFaults();
  return SetFault{.id = id, .node = node};
}

void Cluster::listenForFaults() {
  const events::Kinds awaited = faults_->awaited();
  if (awaited == awaited_) return;
  const bool heard = !awaited_.empty() || news_.lost;
  awaited_ = awaited;
  listenToAll();
  // What was told while nobody heard it is not waited for.
  if (heard) return;
  collector_.collect();
  heardOf_ = collector_.eventsAfter(0, 0).last;
}

void Cluster::hearEvents() {
  if (awaited_.empty() && !news_.lost) return;
  collector_.collect();
  const observe::EventBatch batch = collector_.eventsAfter(heardOf_);
  heardOf_ = batch.last;
  for (const observe::ObservedEvent& each : batch.events) {
    tellLoss(each);
    faults_->occurred(each.event.broker, events::nameOf(each.event.payload), {each.topic, each.partition},
                      lab_->clock().monotonic());
  }
  if (batch.events.empty()) return;
  advanceFaults();
  listenForFaults();
}

void Cluster::tellLoss(const observe::ObservedEvent& event) {
  const auto* lost = std::get_if<events::RecordsLost>(&event.event.payload);
  if (lost == nullptr || !news_.lost) return;
  const TopicPartition partition{event.topic, event.partition};
  const std::pair known(lost->epoch, lost->to);
  // Its leader tells of an election before any replica follows that leader, so that a newer one ends an older.
  const auto [told, isNew] = lossesTold_.try_emplace(partition, known);
  if (!isNew && known <= told->second) return;
  told->second = known;
  news_.lost(partition, *lost);
}

observe::Healed Cluster::healed(size_t count) const {
  observe::Healed healed{.count = count, .down = {}};
  for (const auto& [id, slot] : slots_)
    if (slot->state == BrokerState::Stopped || (slot->state == BrokerState::Killed && !wasHarmed(id)))
      healed.down.push_back(id);
  return healed;
}

void Cluster::healFault(int id, FaultsHealed done) {
  run([this, id, done = std::move(done)]() mutable {
    endFault(id, Ending::Healed, [this, done = std::move(done)](Result<void> ended) mutable {
      if (!ended) return done(fail(std::move(ended).error()));
      done(healed(1));
    });
  });
}

void Cluster::healAll(FaultsHealed done) {
  run([this, done = std::move(done)]() mutable {
    struct Healing {
      size_t left = 1;
      size_t count = 0;
      Result<void> result;
      FaultsHealed done;
    };
    auto healing = std::make_shared<Healing>();
    healing->done = std::move(done);
    const auto part = [this, healing](Result<void> result) {
      if (!result && healing->result) healing->result = std::move(result);
      if (--healing->left > 0) return;
      if (!healing->result) return healing->done(fail(std::move(healing->result).error()));
      healing->done(healed(healing->count));
    };
    for (const faults::FaultStatus& fault : faults_->list(lab_->clock().monotonic())) {
      ++healing->left;
      ++healing->count;
      endFault(fault.id, Ending::Healed, part);
    }
    part({});
  });
}

void Cluster::stepFault(int id, size_t count, std::move_only_function<void(Result<size_t>)> done) {
  run([this, id, count, done = std::move(done)]() mutable { done(faults_->step(id, count)); });
}

void Cluster::listFaults(std::move_only_function<void(FaultBook::Lists)> done) {
  run([this, done = std::move(done)]() mutable { done(faults_->lists(lab_->clock().monotonic())); });
}

void Cluster::dropFaults() {
  faultTimer_.cancel();
  faults_->clear();
  unmatched_.clear();
  listenForFaults();
}

void Cluster::advanceFaults() {
  while (const auto due = faults_->due(lab_->clock().monotonic())) {
    if (!due->begins) {
      endFault(due->id, Ending::Expired, [this, text = faults::textOf(due->fault)](const Result<void>& ended) {
        if (!ended) lab_->log().warning("cluster", "{} is over, but: {}", text, ended.error().message);
      });
      continue;
    }
    if (auto begun = beginFault(due->id, due->fault); !begun) {
      lab_->log().warning("cluster", "{} does not begin: {}", faults::textOf(due->fault), begun.error().message);
      faults_->end(due->id, Ending::Dropped, begun.error().message);
    }
    changed();
  }
  faultTimer_.cancel();
  if (const auto next = faults_->nextDue())
    faultTimer_ = executor_->schedule(std::max(*next - lab_->clock().monotonic(), platform::Duration{}),
                                      [this] { advanceFaults(); });
}

Result<void> Cluster::checkBroker(Kind kind, const Slot& slot) const {
  const std::string who = slot.name();
  TIDEMARK_TRY(observe::checkState(kind, who, slot.state));
  // It starts, and does not run yet.
  if (kind == Kind::Stop && !slot.isOpen) return fail(ErrorCode::InvalidRequest, fmt::format("{} is starting", who));
  if (kind == Kind::Wipe && slot.process)
    return fail(ErrorCode::InvalidRequest, fmt::format("{} holds its files: kill or stop it first", who));
  return {};
}

Result<void> Cluster::beginFault(int id, const faults::Fault& fault) {
  TIDEMARK_ASSIGN(faults::Place place, faults::placeOf(fault, View(*this)));
  faults::Lasting lasting;
  if (place.node != kNoNode) {
    const Slot& slot = *slots_.at(place.node);
    TIDEMARK_TRY(checkBroker(fault.kind, slot));
    // What may fail comes before it is told.
    if (fault.kind == Kind::Wipe) TIDEMARK_TRY(wipe(slot, fault, lasting));
    if (fault.kind == Kind::BitFlip) TIDEMARK_TRY(flipBit(slot, fault, lasting));
  }
  faults_->begin(id, place, lab_->clock().monotonic(), std::move(lasting));
  if (faults::areaOf(fault.kind) == faults::Area::Brokers) harm(*slots_.at(place.node), fault.kind, id);
  return {};
}

void Cluster::harm(Slot& slot, Kind kind, int fault) {
  const auto report = [this, name = slot.name()](const Result<void>& result) {
    if (!result) lab_->log().warning("cluster", "{}: {}", name, result.error().message);
  };
  switch (kind) {
    case Kind::Kill:
      return killNow(slot);
    case Kind::PowerLoss: {
      const std::vector<faults::UnsyncedFile> files = slot.process->unsyncedFiles();
      killNow(slot);
      faults::Lasting lasting;
      report(loseUnsynced(slot, files, lasting));
      faults_->leaves(fault, std::move(lasting));
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

void Cluster::endFault(int id, Ending how, Handler done) {
  const auto ended = faults_->end(id, how);
  if (!ended) return done(fail(faults_->gone(id)));
  changed();
  listenForFaults();
  const auto found = ended->begun ? slots_.find(ended->place.node) : slots_.end();
  if (found == slots_.end()) return done({});
  Slot& slot = *found->second;
  if (ended->fault.kind == Kind::Pause && slot.state == BrokerState::Paused) return done(resumeNow(slot));
  if (std::ranges::find(kDown, ended->fault.kind) == kDown.end()) {
    // Whoever heals it is told in the answer.
    if (how == Ending::Expired && slot.state == BrokerState::Killed && !slot.diedOf.empty())
      lab_->log().warning("cluster", "{} is over, but {} died meanwhile and stays down: `restart {}` starts it",
                          faults::textOf(ended->fault), slot.name(), slot.place.id);
    return done({});
  }
  // Up already, or on its way: then whoever brings it up is answered.
  if (slot.state != BrokerState::Stopping && slot.process) return done({});
  done = patiently(slot.place.id, std::move(done));
  if (slot.state != BrokerState::Stopping) return startNode(slot, std::move(done));
  slot.waiting.push_back([this, broker = slot.place.id, done = std::move(done)](Result<void> stopped) mutable {
    if (!stopped) return done(std::move(stopped));
    startNode(*slots_.at(broker), std::move(done));
  });
}

}  // namespace tidemark::cluster
