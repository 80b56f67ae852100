#include "cluster/cluster.h"

#include <fmt/format.h>

#include "cluster/errands.h"
#include "cluster/slot.h"
#include "log/checkpoints.h"

namespace tidemark::cluster {
namespace {

using observe::BrokerState;

/// How long a stopping broker waits for the controller to move its partitions, and a stopping controller for a
/// successor.
constexpr platform::Duration kHandOver = std::chrono::seconds(10);
constexpr platform::Duration kResign = std::chrono::seconds(2);

}  // namespace

void Cluster::killNode(Slot& slot, BrokerState state) {
  if (!slot.process) return;
  remember(slot);
  slot.notReady.cancel();
  slot.isOpen = false;
  slot.process->kill(state == BrokerState::Stopped ? "stopped in control" : "killed by the lab");
  slot.process->awaitStopped();
  slot.node.reset();
  slot.main.reset();
  slot.looker.reset();
  listenTo(slot, {});
  slot.recorder.reset();
  slot.process.reset();
  faults_->lives(slot.place.id, false);
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
  if (auto removed = lab_->files().remove(fmt::format("{}/{}", dataFolder_, log::kLockFile)); !removed)
    lab_->log().warning("cluster", "{} stays: {}", log::kLockFile, removed.error().message);
}

std::pair<size_t, size_t> Cluster::controllersUp() const {
  size_t up = 0;
  size_t all = 0;
  for (const auto& [id, slot] : slots_) {
    if (!slot->place.isController) continue;
    ++all;
    if (slot->isOpen && isAlive(slot->state)) ++up;
  }
  return {up, all};
}

bool Cluster::hasMajority() const {
  const auto [up, all] = controllersUp();
  return 2 * up > all;
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
  lossesTold_.clear();
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

}  // namespace tidemark::cluster
