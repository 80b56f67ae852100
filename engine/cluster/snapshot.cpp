#include <algorithm>
#include <span>
#include <tuple>

#include "broker/auto_topics.h"
#include "cluster/cluster.h"
#include "cluster/failed_directories.h"
#include "cluster/fates.h"
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
    disk.first += partition->log()->sizeInBytes();
    disk.second += static_cast<int>(partition->log()->segments().size());
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
    for (auto& [id, slot] : slots_)
      if (slot->recorder) lookAt(*slot, looks || awaitsEvents_);
    changed();
  });
}

void Cluster::lookAt(Slot& slot, bool looks) {
  if (looks == slot.observed) return;
  slot.observed = looks;
  if (looks) {
    collector_.attach(slot.recorder);
  } else {
    collector_.detach(slot.recorder);
  }
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
  if (const metadata::ImagePtr image = newestImage()) describeTopics(*image, failed, *cluster);
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

std::map<NodeId, FailedDirectories> Cluster::describeDirectories(observe::ClusterSnapshot& into) const {
  std::map<NodeId, FailedDirectories> all;
  for (observe::BrokerSnapshot& broker : into.brokers) {
    const Slot& slot = *slots_.at(broker.id);
    if (!slot.isOpen || !slot.place.isBroker) continue;
    const auto& failed = all.try_emplace(broker.id, *slot.node->shared().logs).first->second;
    broker.failedDirectories = failed.snapshots();
  }
  return all;
}

void Cluster::describeTopics(const metadata::Image& image, const std::map<NodeId, FailedDirectories>& failed,
                             observe::ClusterSnapshot& into) const {
  for (observe::BrokerSnapshot& broker : into.brokers) {
    const metadata::BrokerRegistration* registered = image.cluster.broker(broker.id);
    if (registered != nullptr && registered->fenced && broker.state == BrokerState::Running)
      broker.state = BrokerState::Fenced;
  }
  for (const auto& [name, topic] : image.topics.byName) {
    observe::TopicSnapshot& shown = into.topics.emplace_back();
    shown.id = topic->id;
    shown.name = name;
    shown.internal = broker::isInternalTopic(name);
    const config::ConfigMap& set = image.configs.topic(name);
    const auto policy = set.find("cleanup.policy");
    shown.compacted = policy != set.end() && policy->second.find("compact") != std::string::npos;
    const auto minIsr = set.find("min.insync.replicas");
    const auto clusterMin = settings_.find("min.insync.replicas");
    shown.minInSync = std::atoi((minIsr != set.end()             ? minIsr->second
                                 : clusterMin != settings_.end() ? clusterMin->second
                                                                 : "1")
                                    .c_str());
    for (const auto& [index, registration] : topic->partitions) {
      observe::PartitionSnapshot& partition = shown.partitions.emplace_back();
      partition.index = index;
      partition.leader = registration->leader;
      partition.leaderEpoch = registration->leaderEpoch;
      partition.partitionEpoch = registration->partitionEpoch;
      partition.replicas = registration->replicas;
      partition.isr = registration->isr;
      shown.replicationFactor = std::max(shown.replicationFactor, static_cast<int>(registration->replicas.size()));
      const TopicPartition key{name, index};
      const bool watched = watched_ && *watched_ == key;
      std::map<NodeId, replication::FollowerState> followers;
      for (NodeId node : registration->replicas) {
        observe::ReplicaSnapshot copy;
        copy.broker = node;
        if (const auto slot = slots_.find(node); slot != slots_.end()) {
          describeReplica(*slot->second, key, watched, copy);
          if (node == registration->leader && copy.online) {
            const auto leading = slot->second->node->broker()->replicas().find(key);
            if (leading) {
              followers = leading->view().followers;
              partition.lastStable = leading->log()->lastStableOffset();
              // Most logs have no transaction open: their producers are not even counted.
              if (partition.lastStable < leading->log()->highWatermark())
                partition.openTransactions = openTransactionsOf(*leading->log());
            }
          }
        }
        copy.leader = node == registration->leader;
        copy.inSync = registration->isInIsr(node);
        copy.eligible = std::ranges::find(registration->elr, node) != registration->elr.end();
        if (copy.leader) {
          partition.highWatermark = copy.highWatermark;
          partition.lastStable = copy.lastStable;
          partition.logStart = copy.logStart;
          partition.logEnd = copy.logEnd;
          ++std::ranges::find(into.brokers, node, &observe::BrokerSnapshot::id)->leaderCount;
        }
        if (const auto broker = std::ranges::find(into.brokers, node, &observe::BrokerSnapshot::id);
            broker != into.brokers.end()) {
          ++broker->replicaCount;
          if (const auto directories = failed.find(node); directories != failed.end())
            copy.offlineReason = directories->second.offlineReasonOf(key, registration->directoryOf(node));
        }
        partition.copies.push_back(std::move(copy));
      }
      std::ranges::sort(partition.copies, {}, &observe::ReplicaSnapshot::broker);
      for (observe::ReplicaSnapshot& copy : partition.copies) {
        const auto known = followers.find(copy.broker);
        if (known == followers.end()) continue;
        copy.sinceCaughtUp = into.at - known->second.lastCaughtUp;
        copy.fetchOffset = known->second.logEndOffset;
        if (known->second.lastFetch != platform::MonotonicTime{}) copy.sinceFetch = into.at - known->second.lastFetch;
      }
    }
  }
  std::ranges::stable_sort(into.topics, [](const auto& a, const auto& b) { return a.internal < b.internal; });
}

void Cluster::describeReplica(const Slot& slot, const TopicPartition& name, bool watched,
                              observe::ReplicaSnapshot& into) const {
  const auto partition = slot.isOpen && slot.place.isBroker ? slot.node->broker()->replicas().find(name) : nullptr;
  if (!partition) {
    // What was last seen of it, marked as old.
    if (const auto seen = slot.lastSeen.find(name); seen != slot.lastSeen.end()) into = seen->second;
    into.broker = slot.place.id;
    into.online = false;
    return;
  }
  const std::shared_ptr<const log::PartitionLog> held = partition->log();
  const log::PartitionLog& log = *held;
  const log::OffsetSnapshot ends = log.offsetSnapshot();
  into.online = slot.state != BrokerState::Paused;
  into.epoch = partition->leaderEpoch();
  into.logStart = ends.logStartOffset;
  into.logEnd = ends.logEndOffset.offset;
  into.highWatermark = ends.highWatermark.offset;
  into.lastStable = ends.lastStableOffset.offset;
  into.sizeInBytes = log.sizeInBytes();
  // Most logs of a cluster are empty: their files tell nothing.
  if (!watched && into.logEnd.value() <= 0) return;
  const std::vector<log::SegmentInfo> infos = log.segments();
  into.segmentCount = static_cast<int>(infos.size());
  const size_t older = watched ? 0 : infos.size() - std::min(infos.size(), observe::ReplicaSnapshot::kSegmentsKept);
  for (const log::SegmentInfo& segment : std::span(infos).subspan(older))
    into.segments.push_back({segment.baseOffset, segment.sizeInBytes});
  if (!watched) return;
  // The newest batches: from so far back that as many as are shown surely fit, at one record a batch; and if batches
  // hold more records, from so much further back.
  constexpr auto kMost = static_cast<int64_t>(observe::ReplicaSnapshot::kMaxBatches);
  const Offset from = std::max(into.logStart, into.logEnd - kMost);
  if (from < into.logEnd) {
    auto batches = log.batches(from, observe::ReplicaSnapshot::kMaxBatches);
    if (batches && !batches->empty() && from > into.logStart) {
      const int64_t count = static_cast<int64_t>(batches->size());
      const int64_t reach = kMost * 9 / 10 * ((into.logEnd - from) / count);
      if (count < kMost / 2)
        if (auto more =
                log.batches(std::max(into.logStart, into.logEnd - reach), observe::ReplicaSnapshot::kMaxBatches);
            more && !more->empty() && more->back().header.nextOffset() >= batches->back().header.nextOffset())
          batches = std::move(more);
    }
    if (batches) {
      for (const log::BatchInfo& batch : *batches)
        into.batches.push_back(
            {.baseOffset = batch.header.baseOffset,
             .lastOffset = batch.header.lastOffset(),
             .epoch = batch.header.leaderEpoch,
             .recordCount = batch.header.recordCount,
             .sizeInBytes = static_cast<int32_t>(batch.header.sizeInBytes()),
             .position = batch.position,
             .producer = batch.header.producerId,
             .baseSequence = batch.header.baseSequence,
             .codec = records::codecName(batch.header.codec()),
             .control = batch.header.isControl(),
             .transactional = batch.header.isTransactional(),
             .producerEpoch = batch.header.producerEpoch,
             .maxTimestamp = platform::WallTime(std::chrono::milliseconds(batch.header.maxTimestampMs))});
    }
  }
  if (into.batches.empty()) return;
  tellFates(log, into.batches);
  for (const observe::SegmentSnapshot& segment : into.segments) {
    const bool shown =
        &segment == &into.segments.back() || std::next(&segment)->baseOffset > into.batches.front().baseOffset;
    if (!shown) continue;
    const log::SegmentInfo* info = nullptr;
    for (const log::SegmentInfo& each : infos)
      if (each.baseOffset == segment.baseOffset) info = &each;
    if (info == nullptr) continue;
    const auto count = static_cast<size_t>(info->offsetIndexEntries);
    const size_t first =
        count > observe::ReplicaSnapshot::kMaxBatches ? count - observe::ReplicaSnapshot::kMaxBatches : 0;
    if (auto entries = log.offsetIndexEntries(segment.baseOffset, first, count - first))
      for (const log::OffsetIndexEntry& entry : *entries)
        if (entry.offset >= into.batches.front().baseOffset)
          into.indexEntries.push_back({entry.offset, entry.position});
  }
}

}  // namespace tidemark::cluster
