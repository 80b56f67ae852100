#include <algorithm>
#include <tuple>

#include "cluster/cluster.h"
#include "cluster/failed_directories.h"
#include "cluster/slot.h"
#include "raft/types.h"

// How a cluster is read: from the running nodes' own numbers, on the cluster's executor, when somebody looks.

namespace tidemark::cluster {
namespace {

using observe::BrokerState;

/// At most 60 snapshots a second.
constexpr platform::Duration kShortest = std::chrono::microseconds(16'600);

/// Heartbeats come several times in this time.
constexpr platform::Duration kSilent = std::chrono::seconds(1);

/// Bytes and segments of all replicas of a broker.
std::pair<int64_t, int> diskOf(const replication::ReplicaManager& replicas) {
  std::pair<int64_t, int> disk{0, 0};
  for (const auto& partition : replicas.all()) {
    const log::LogLook look = partition->log()->look();
    disk.first += look.sizeInBytes;
    disk.second += static_cast<int>(look.segments.size());
  }
  return disk;
}

}  // namespace

// --- when -----------------------------------------------------------------------------------------------------------

observe::SnapshotPtr Cluster::snapshot() {
  observe::SnapshotPtr newest;
  bool again = false;
  {
    Lock lock(mutex_);
    newest = newest_;
    wanted_ = true;
    wakeArmed_ = true;
    again = std::exchange(dirty_, false);
  }
  if (again) run([this] { changed(); });
  return newest;
}

void Cluster::describeNow(std::move_only_function<void(observe::SnapshotPtr)> done) {
  run([this, done = std::move(done)]() mutable { done(describe()); });
}

observe::SnapshotPtr Cluster::describeNow() {
  for (auto& [id, slot] : slots_) {
    // A paused broker tells nothing: what it told last is what is known.
    if (!slot->isOpen || !slot->place.isBroker || slot->state == BrokerState::Paused) continue;
    takeGroupsNow(*slot);
    takeSharesNow(*slot, lab_->clock().monotonic());
    takeTransactionsNow(*slot);
  }
  return describe();
}

observe::EventBatch Cluster::drainEvents(uint64_t since, size_t limit) {
  return collector_.eventsAfter(since, limit);
}

void Cluster::onChange(std::function<void()> wake) {
  const bool looks = static_cast<bool>(wake);
  {
    Lock lock(mutex_);
    wake_ = std::move(wake);
    wakeArmed_ = true;
    wanted_ = true;
  }
  run([this, looks] {
    looking_ = looks;
    listenToAll();
    changed();
  });
}

events::Kinds Cluster::wantedEvents() const {
  if (looking_) return events::Kinds::all();
  events::Kinds kinds = awaited_;
  if (news_.lost) kinds |= events::Kinds::of<events::RecordsLost>();
  return kinds;
}

void Cluster::listenTo(Slot& slot, const events::Kinds& kinds) {
  // Of a recorder that somebody else drains we want nothing, and leave it alone.
  if (kinds == slot.heard) return;
  slot.heard = kinds;
  collector_.listen(slot.recorder, kinds);
}

void Cluster::listenToAll() {
  for (auto& [id, slot] : slots_)
    if (slot->recorder) listenTo(*slot, wantedEvents());
}

void Cluster::watch(std::optional<TopicPartition> partition) {
  run([this, partition = std::move(partition)]() mutable {
    watched_ = std::move(partition);
    changed();
  });
}

void Cluster::changed() {
  if (refreshDue_ || !looking_) return;
  {
    Lock lock(mutex_);
    // Nobody took the last one: the next is made when it is asked for.
    if (!wanted_) {
      dirty_ = true;
      return;
    }
  }
  refreshDue_ = true;
  const auto due = lastRefresh_ + kShortest - lab_->clock().monotonic();
  refreshTimer_ = executor_->schedule(std::max(due, platform::Duration(0)), [this] { refresh(); });
}

void Cluster::refresh() {
  refreshDue_ = false;
  lastRefresh_ = lab_->clock().monotonic();
  collector_.collect();
  hearEvents();
  observe::SnapshotPtr next = describe();
  askGroups();
  askForTransactions();
  Lock lock(mutex_);
  newest_ = std::move(next);
  wanted_ = false;
  if (wakeArmed_ && wake_) {
    wakeArmed_ = false;
    wake_();
  }
}

void Cluster::remember(Slot& slot) {
  // Once it stops its logs close one by one: what was seen before is what lies on its disk.
  if (!slot.place.isBroker || !slot.isOpen || !looking_ || slot.state == BrokerState::Stopping) return;
  slot.lastSeen.clear();
  std::tie(slot.lastDiskBytes, slot.lastSegmentCount) = diskOf(slot.node->broker()->replicas());
  for (const auto& partition : slot.node->broker()->replicas().all())
    describeReplica(slot, partition->name(), watched_ && *watched_ == partition->name(),
                    slot.lastSeen[partition->name()]);
}

// --- what -----------------------------------------------------------------------------------------------------------

std::shared_ptr<observe::ClusterSnapshot> Cluster::describe() {
  auto cluster = std::make_shared<observe::ClusterSnapshot>();
  cluster->version = ++version_;
  cluster->at = lab_->clock().monotonic();
  cluster->wall = lab_->clock().wall();
  cluster->lostEvents = collector_.lost();
  if (!topology_) return cluster;
  cluster->clusterId = topology_->clusterId;
  cluster->bootstrap = topology_->bootstrap();
  if (!temporary_) cluster->dataFolder = dataFolder_;
  for (const auto& [key, value] : settings_) cluster->settings.push_back({key, value});
  for (const auto& [id, slot] : slots_) describeBroker(*slot, *cluster);
  describeFaults(*cluster);
  describeQuorum(*cluster);
  describeCleaners(*cluster);
  describeTransactions(*cluster);
  const auto failed = describeDirectories(*cluster);
  metadata::ImagePtr image = newestImage();
  // Without any broker a controller still knows what there is.
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || slot->state == BrokerState::Paused || slot->place.isBroker) continue;
    metadata::ImagePtr known = slot->node->shared().loader->image();
    if (!image || known->provenance.lastContainedOffset > image->provenance.lastContainedOffset)
      image = std::move(known);
  }
  if (image) describeTopics(*image, failed, *cluster);
  describeGroups(*cluster);
  return cluster;
}

void Cluster::describeFaults(observe::ClusterSnapshot& into) const {
  const auto unmatchedOf = [this](int fault) {
    const auto found = unmatched_.find(fault);
    return found == unmatched_.end() ? std::vector<faults::Unmatched>{} : found->second;
  };
  faults::FaultBook::Lists lists = faults_->lists(into.at);
  for (faults::FaultStatus& fault : lists.set)
    into.faults.push_back({.id = fault.id,
                           .fault = std::move(fault.fault),
                           .broker = fault.node,
                           .links = std::move(fault.links),
                           .waits = fault.waits,
                           .since = fault.since,
                           .left = fault.left,
                           .fired = fault.fired,
                           .held = fault.held,
                           .lasting = std::move(fault.lasting),
                           .unmatched = unmatchedOf(fault.id)});
  for (faults::FaultOver& fault : lists.over)
    into.faultsOver.push_back({.id = fault.id,
                               .fault = std::move(fault.fault),
                               .broker = fault.node,
                               .ending = fault.ending,
                               .reason = std::move(fault.reason),
                               .setAt = into.at - fault.since,
                               .endedAt = into.at - fault.ago,
                               .fired = fault.fired,
                               .lasting = std::move(fault.lasting),
                               .unmatched = unmatchedOf(fault.id)});
}

void Cluster::describeBroker(const Slot& slot, observe::ClusterSnapshot& into) const {
  observe::BrokerSnapshot& broker = into.brokers.emplace_back();
  broker.id = slot.place.id;
  broker.state = slot.state;
  broker.isBroker = slot.place.isBroker;
  broker.isController = slot.place.isController;
  broker.listener = {topology_->advertisedHost, slot.place.port};
  broker.controller = {topology_->advertisedHost, slot.place.controllerPort};
  broker.inState = into.at - slot.since;
  broker.diedOf = slot.diedOf;
  std::tie(broker.diskBytes, broker.segmentCount) = std::tuple(slot.lastDiskBytes, slot.lastSegmentCount);
  if (!slot.isOpen || !slot.place.isBroker) return;
  broker::BrokerServer& server = *slot.node->broker();
  broker.epoch = server.epoch();
  const config::BrokerConfig& config = slot.node->shared().config();
  broker.networkThreads = config.getInt("num.network.threads");
  broker.handlerThreads = config.getInt("num.io.threads");
  broker.fetcherThreads = server.replicas().fetcherCount();
  std::tie(broker.diskBytes, broker.segmentCount) = diskOf(server.replicas());
  broker.producedBytes = server.traffic().producedBytes();
  broker.fetchedBytes = server.traffic().fetchedBytes();
  for (const network::ConnectionInfo& connection : server.server().connections()) {
    const std::string& client = connection.client->clientId;
    // Brokers among each other, and the lab's own errands.
    if (client.starts_with("broker-") || client == "tidemark-lab") continue;
    into.connections.push_back(
        {.id = 0,
         .broker = slot.place.id,
         .listener = connection.peer->listener,
         .client = client,
         .softwareName = connection.client->softwareName == "unknown" ? "" : connection.client->softwareName,
         .softwareVersion = connection.client->softwareVersion == "unknown" ? "" : connection.client->softwareVersion,
         .peer = connection.peer->address,
         .own = client.starts_with("tidemark-")});
  }
  const auto park = [&](const std::vector<replication::ParkedView>& views, observe::ParkedKind kind) {
    for (const replication::ParkedView& view : views)
      into.parked.push_back({.broker = slot.place.id,
                             .kind = kind,
                             .client = view.label.client,
                             .correlation = view.label.correlation,
                             .partition = view.partition,
                             .needs = view.needs,
                             .minBytes = view.minBytes,
                             .follower = view.follower,
                             .timeout = view.timeout,
                             .left = std::max(view.deadline - into.at, platform::Duration(0))});
  };
  park(server.replicas().parkedProduces(), observe::ParkedKind::Produce);
  park(server.replicas().parkedFetches(watched_ ? &*watched_ : nullptr), observe::ParkedKind::Fetch);
  for (const broker::Traffic::Reader& reader : server.traffic().readers(into.at))
    into.readers.push_back({.client = reader.client,
                            .group = {},
                            .softwareName = reader.software,
                            .partition = reader.partition,
                            .fetchOffset = reader.fetchOffset,
                            .sinceFetch = into.at - reader.at,
                            .external = !reader.client.starts_with("tidemark-")});
}

void Cluster::describeQuorum(observe::ClusterSnapshot& into) const {
  // The leader knows most; failing that, whoever knows the newest epoch.
  std::optional<raft::QuorumDescription> best;
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || slot->state == BrokerState::Paused) continue;
    raft::QuorumDescription description = slot->node->shared().raft->describe();
    const bool leads = description.leader.leader == id;
    if (!best || description.leader.epoch > best->leader.epoch ||
        (leads && description.leader.epoch == best->leader.epoch))
      best = std::move(description);
  }
  // The active controller knows who is silent.
  for (const auto& [id, slot] : slots_) {
    if (!slot->isOpen || slot->state == BrokerState::Paused || slot->node->controller() == nullptr) continue;
    const metadata::ControllerStatus status = slot->node->controller()->driver().status();
    if (!status.active) continue;
    for (const auto& [node, contact] : status.contacts) {
      const auto broker = std::ranges::find(into.brokers, node, &observe::BrokerSnapshot::id);
      if (broker == into.brokers.end()) continue;
      broker->sinceHeartbeat = std::max(into.at - contact, platform::Duration(0));
      const bool alive = broker->state == BrokerState::Running || broker->state == BrokerState::Paused ||
                         broker->state == BrokerState::Killed;
      const platform::Duration left = status.sessionTimeout - *broker->sinceHeartbeat;
      if (alive && *broker->sinceHeartbeat > kSilent && left > platform::Duration(0)) broker->fencedIn = left;
    }
  }
  if (!best) return;
  into.quorum.leader = best->leader.leader;
  into.quorum.epoch = best->leader.epoch;
  into.quorum.highWatermark = best->highWatermark;
  const int64_t wall = into.wall.time_since_epoch().count();
  const auto age = [wall](int64_t timestampMs) -> std::optional<platform::Duration> {
    if (timestampMs < 0) return std::nullopt;
    return std::chrono::milliseconds(std::max<int64_t>(wall - timestampMs, 0));
  };
  const auto add = [&](const raft::ReplicaDescription& replica, bool observer) {
    into.quorum.voters.push_back({.id = replica.key.id,
                                  .logEnd = replica.logEndOffset,
                                  .sinceFetch = age(replica.lastFetchTimestampMs),
                                  .sinceCaughtUp = age(replica.lastCaughtUpTimestampMs),
                                  .observer = observer});
  };
  for (const raft::ReplicaDescription& voter : best->voters) add(voter, false);
  for (const raft::ReplicaDescription& observer : best->observers) add(observer, true);
}

}  // namespace tidemark::cluster
