#include "observe/replay.h"

#include <algorithm>

namespace tidemark::observe {
namespace {

BrokerSnapshot* brokerOf(ClusterSnapshot& cluster, NodeId id) {
  const auto found = std::ranges::find(cluster.brokers, id, &BrokerSnapshot::id);
  return found == cluster.brokers.end() ? nullptr : &*found;
}

/// One event brought into a snapshot.
struct Step {
  ClusterSnapshot& cluster;
  const ObservedEvent& event;

  NodeId self() const { return event.event.broker; }
  TopicPartition name() const { return {event.topic, event.partition}; }

  PartitionSnapshot* partition() const {
    if (event.topic.empty()) return nullptr;
    const auto topic = std::ranges::find(cluster.topics, event.topic, &TopicSnapshot::name);
    if (topic == cluster.topics.end()) return nullptr;
    const auto found = std::ranges::find(topic->partitions, event.partition, &PartitionSnapshot::index);
    return found == topic->partitions.end() ? nullptr : &*found;
  }
  ReplicaSnapshot* copy(NodeId broker) const {
    PartitionSnapshot* found = partition();
    if (found == nullptr) return nullptr;
    const auto replica = std::ranges::find(found->copies, broker, &ReplicaSnapshot::broker);
    return replica == found->copies.end() ? nullptr : &*replica;
  }

  void logEnds(Offset end) const {
    ReplicaSnapshot* mine = copy(self());
    if (mine == nullptr) return;
    mine->logEnd = end;
    if (PartitionSnapshot* found = partition(); found->leader == self()) found->logEnd = end;
  }
  /// A segment that begins here; nothing if it is known.
  static void begins(ReplicaSnapshot& mine, Offset base) {
    if (!mine.segments.empty() && mine.segments.back().baseOffset >= base) return;
    mine.segments.push_back({base, 0});
    ++mine.segmentCount;
  }
  void operator()(const events::BatchAppended& e) const {
    logEnds(e.lastOffset.next());
    if (ReplicaSnapshot* mine = copy(self())) {
      mine->sizeInBytes += e.sizeInBytes;
      // Where a segment begins is known only if its beginning was seen.
      if (e.position == 0) begins(*mine, e.baseOffset);
      if (!mine->segments.empty()) mine->segments.back().sizeInBytes = e.position + e.sizeInBytes;
    }
    if (CleanerSnapshot* log = cleaner()) {
      log->logEnd = e.lastOffset.next();
      log->uncleanableBytes += e.sizeInBytes;
    }
  }
  void operator()(const events::SegmentRolled& e) const {
    ReplicaSnapshot* mine = copy(self());
    if (mine == nullptr) return;
    if (!mine->segments.empty() && mine->segments.back().baseOffset == e.closedBaseOffset)
      mine->segments.back().sizeInBytes = e.closedSizeInBytes;
    begins(*mine, e.baseOffset);
  }
  void operator()(const events::SegmentDeleted& e) const {
    ReplicaSnapshot* mine = copy(self());
    if (mine == nullptr) return;
    mine->sizeInBytes = std::max<int64_t>(0, mine->sizeInBytes - e.sizeInBytes);
    mine->segmentCount = std::max(0, mine->segmentCount - 1);
    std::erase_if(mine->segments, [&e](const SegmentSnapshot& one) { return one.baseOffset == e.baseOffset; });
  }
  void operator()(const events::LogTruncated& e) const {
    logEnds(e.to);
    ReplicaSnapshot* mine = copy(self());
    if (mine == nullptr) return;
    mine->segmentCount -= static_cast<int>(
        std::erase_if(mine->segments, [&e](const SegmentSnapshot& one) { return one.baseOffset > e.to; }));
  }
  void operator()(const events::LogRecovered& e) const {
    logEnds(e.logEnd);
    if (ReplicaSnapshot* mine = copy(self())) mine->lostTo = kNoOffset;
  }
  void operator()(const events::LogStartAdvanced& e) const {
    ReplicaSnapshot* mine = copy(self());
    if (mine == nullptr) return;
    mine->logStart = e.to;
    if (PartitionSnapshot* found = partition(); found->leader == self()) found->logStart = e.to;
    if (CleanerSnapshot* log = cleaner()) log->logStart = e.to;
  }

  CleanerSnapshot* cleaner() const {
    const auto found = std::ranges::find_if(cluster.cleaners, [this](const CleanerSnapshot& one) {
      return one.broker == self() && one.partition.partition == event.partition && one.partition.topic == event.topic;
    });
    return found == cluster.cleaners.end() ? nullptr : &*found;
  }
  void operator()(const events::CleanerPassStarted& e) const {
    CleanerSnapshot* log = cleaner();
    if (log == nullptr) return;
    log->running = true;
    log->firstDirty = e.firstDirty;
    log->firstUncleanable = e.firstUncleanable;
    log->cleanBytes = e.cleanBytes;
    log->dirtyBytes = e.dirtyBytes;
  }
  void operator()(const events::CleanerPassFinished& e) const {
    CleanerSnapshot* log = cleaner();
    if (log == nullptr) return;
    // What the event does not tell the next snapshot does.
    log->lastPass = CleanerPassSnapshot{
        .startedAt = event.event.wall - std::chrono::duration_cast<platform::WallClock::duration>(e.took),
        .took = e.took,
        .firstDirty = log->firstDirty,
        .endOffset = e.endOffset,
        .recordsRead = e.recordsRead,
        .recordsKept = e.recordsKept,
        .tombstonesKept = e.tombstonesKept,
        .tombstonesDropped = e.tombstonesDropped,
        .bytesBefore = e.bytesBefore,
        .bytesAfter = e.bytesAfter,
        .earliestHorizon = {}};
    log->running = false;
    ++log->passes;
    log->firstDirty = e.endOffset;
    log->cleanBytes = e.bytesAfter;
    log->dirtyBytes = 0;
    log->dirtyRatio = 0;
  }
  void operator()(const events::CleanerSetAside& e) const {
    CleanerSnapshot* log = cleaner();
    if (log == nullptr) return;
    log->running = false;
    log->uncleanableReason = e.reason.view();
  }

  /// The oldest open transaction holds it back.
  static Offset lastStableOf(const PartitionSnapshot& found, Offset highWatermark) {
    return found.openTransactions.empty() ? highWatermark
                                          : std::min(highWatermark, found.openTransactions.front().first);
  }
  static void settleLastStable(PartitionSnapshot& found) {
    found.lastStable = lastStableOf(found, found.highWatermark);
    for (ReplicaSnapshot& each : found.copies) each.lastStable = lastStableOf(found, each.highWatermark);
  }
  void operator()(const events::HighWatermarkAdvanced& e) const {
    ReplicaSnapshot* mine = copy(self());
    if (mine == nullptr) return;
    mine->highWatermark = e.to;
    PartitionSnapshot* found = partition();
    mine->lastStable = lastStableOf(*found, e.to);
    if (found->leader != self()) return;
    found->highWatermark = e.to;
    settleLastStable(*found);
  }
  void operator()(const events::TransactionOpened& e) const {
    PartitionSnapshot* found = partition();
    if (found == nullptr || found->leader != self()) return;
    const auto known = std::ranges::find(found->openTransactions, e.producer, &OpenTransactionSnapshot::producer);
    if (known != found->openTransactions.end()) return;
    found->openTransactions.push_back(
        {.producer = e.producer, .epoch = e.epoch, .first = e.first, .lastWrite = event.event.wall});
    std::ranges::sort(found->openTransactions, {}, &OpenTransactionSnapshot::first);
    settleLastStable(*found);
  }
  void operator()(const events::MarkerWritten& e) const {
    PartitionSnapshot* found = partition();
    if (found == nullptr || found->leader != self()) return;
    std::erase_if(found->openTransactions,
                  [&e](const OpenTransactionSnapshot& one) { return one.producer == e.producer; });
    settleLastStable(*found);
  }
  void becomes(const events::NodeList& isr, PartitionEpoch epoch) const {
    PartitionSnapshot* found = partition();
    // Of more than a NodeList holds the next snapshot tells.
    if (found == nullptr || static_cast<size_t>(isr.total()) > isr.view().size()) return;
    found->isr.assign(isr.view().begin(), isr.view().end());
    found->partitionEpoch = epoch;
    for (ReplicaSnapshot& replica : found->copies)
      replica.inSync = std::ranges::find(found->isr, replica.broker) != found->isr.end();
  }
  void operator()(const events::IsrShrunk& e) const { becomes(e.after, e.epoch); }
  void operator()(const events::IsrExpanded& e) const { becomes(e.after, e.epoch); }
  void operator()(const events::LeaderElected& e) const {
    PartitionSnapshot* found = partition();
    if (found == nullptr) return;
    found->leader = e.to;
    found->leaderEpoch = e.epoch;
    for (ReplicaSnapshot& replica : found->copies) {
      replica.leader = replica.broker == e.to;
      if (!replica.leader) continue;
      found->highWatermark = replica.highWatermark;
      settleLastStable(*found);
      found->logStart = replica.logStart;
      found->logEnd = replica.logEnd;
    }
    for (BrokerSnapshot& broker : cluster.brokers) broker.leaderCount += (broker.id == e.to) - (broker.id == e.from);
  }
  void operator()(const events::FollowerFetched& e) const {
    ReplicaSnapshot* follower = copy(e.follower);
    if (follower == nullptr) return;
    follower->fetchOffset = e.fetchOffset;
    follower->sinceFetch = Duration{};
    if (e.fetchOffset >= e.leaderLogEnd) follower->sinceCaughtUp = Duration{};
  }
  void enters(NodeId node, BrokerState state) const {
    BrokerSnapshot* broker = brokerOf(cluster, node);
    if (broker == nullptr || broker->state == state) return;
    broker->state = state;
    broker->inState = Duration{};
    // A failed directory is tried again at the next start.
    const bool ends = state == BrokerState::Killed || state == BrokerState::Stopped;
    if (ends) broker->failedDirectories.clear();
    const bool online = state == BrokerState::Running || state == BrokerState::Fenced;
    for (TopicSnapshot& topic : cluster.topics)
      for (PartitionSnapshot& each : topic.partitions)
        for (ReplicaSnapshot& replica : each.copies)
          if (replica.broker == node) {
            replica.online = online;
            if (ends) replica.offlineReason.clear();
          }
  }
  /// Which copies it took with it the next snapshot tells.
  void operator()(const events::LogDirectoryFailed& e) const {
    BrokerSnapshot* broker = brokerOf(cluster, self());
    if (broker == nullptr) return;
    const std::string path(e.directory.view());
    // An event holds the beginning of a long path.
    const auto same = [&path](const FailedDirectorySnapshot& one) { return one.path.starts_with(path); };
    if (std::ranges::none_of(broker->failedDirectories, same))
      broker->failedDirectories.push_back({path, std::string(e.reason.view())});
  }
  void operator()(const events::BrokerStarted& e) const { enters(e.node, BrokerState::Running); }
  void operator()(const events::BrokerDown& e) const {
    enters(e.node, e.cause == events::DownCause::Stopped ? BrokerState::Stopped : BrokerState::Killed);
    std::erase_if(cluster.parked, [&e](const ParkedSnapshot& one) { return one.broker == e.node; });
    std::erase_if(cluster.connections, [&e](const ConnectionSnapshot& one) { return one.broker == e.node; });
  }
  void operator()(const events::BrokerPaused& e) const { enters(e.node, BrokerState::Paused); }
  void operator()(const events::BrokerResumed& e) const { enters(e.node, BrokerState::Running); }
  void operator()(const events::BrokerFenced& e) const {
    if (BrokerSnapshot* broker = brokerOf(cluster, e.node); broker != nullptr && broker->state == BrokerState::Running)
      enters(e.node, BrokerState::Fenced);
  }
  void operator()(const events::BrokerUnfenced& e) const {
    if (BrokerSnapshot* broker = brokerOf(cluster, e.node); broker != nullptr && broker->state == BrokerState::Fenced)
      enters(e.node, BrokerState::Running);
  }
  void operator()(const events::QuorumLeaderChanged& e) const {
    if (e.epoch < cluster.quorum.epoch) return;
    cluster.quorum.leader = e.leader;
    cluster.quorum.epoch = e.epoch;
  }
  void operator()(const events::FaultInjected& e) const {
    const auto found = std::ranges::find(cluster.faults, e.fault, &FaultSnapshot::id);
    if (found == cluster.faults.end()) return;
    found->waits = false;
    found->broker = e.node;
    found->left = e.duration > Duration{} ? std::optional(e.duration) : std::nullopt;
  }
  void operator()(const events::FaultHealed& e) const {
    std::erase_if(cluster.faults, [&e](const FaultSnapshot& one) { return one.id == e.fault; });
  }
  void parks(ParkedKind kind, std::string_view client, int32_t correlation, Offset needs, Duration timeout,
             NodeId follower) const {
    leaves(kind, client, correlation);
    cluster.parked.push_back({.broker = self(),
                              .kind = kind,
                              .client = std::string(client),
                              .correlation = correlation,
                              .partition = name(),
                              .needs = needs,
                              .follower = follower,
                              .timeout = timeout,
                              .left = timeout});
  }
  void leaves(ParkedKind kind, std::string_view client, int32_t correlation) const {
    std::erase_if(cluster.parked, [&](const ParkedSnapshot& one) {
      return one.kind == kind && one.broker == self() && one.correlation == correlation && one.client == client;
    });
  }
  void operator()(const events::ProduceParked& e) const {
    parks(ParkedKind::Produce, e.client.view(), e.correlation, e.needs, e.timeout, kNoNode);
  }
  void operator()(const events::ProduceCompleted& e) const {
    leaves(ParkedKind::Produce, e.client.view(), e.correlation);
  }
  void operator()(const events::ProduceExpired& e) const {
    leaves(ParkedKind::Produce, e.client.view(), e.correlation);
  }
  void operator()(const events::FetchParked& e) const {
    parks(ParkedKind::Fetch, e.client.view(), e.correlation, e.needs, e.timeout, e.follower);
  }
  void operator()(const events::FetchCompleted& e) const { leaves(ParkedKind::Fetch, e.client.view(), e.correlation); }
  void operator()(const events::FetchExpired& e) const { leaves(ParkedKind::Fetch, e.client.view(), e.correlation); }
  /// What is not in a snapshot.
  template <class Other>
  void operator()(const Other&) const {}
};

/// One event brought into the details of a copy.
struct Detail {
  ReplicaSnapshot& copy;

  void ends(Offset end) const {
    std::erase_if(copy.batches, [end](const BatchSnapshot& one) { return one.lastOffset >= end; });
    std::erase_if(copy.indexEntries, [end](const IndexEntrySnapshot& one) { return one.offset >= end; });
  }
  void operator()(const events::BatchAppended& e) const {
    copy.batches.push_back({.baseOffset = e.baseOffset,
                            .lastOffset = e.lastOffset,
                            .epoch = e.epoch,
                            .recordCount = e.recordCount,
                            .sizeInBytes = e.sizeInBytes,
                            .position = e.position,
                            .producer = e.producer,
                            .codec = {},
                            .control = e.control,
                            .transactional = e.transactional});
  }
  void operator()(const events::IndexEntryAdded& e) const { copy.indexEntries.push_back({e.offset, e.position}); }
  void operator()(const events::LogTruncated& e) const { ends(e.to); }
  void operator()(const events::LogRecovered& e) const { ends(e.logEnd); }
  template <class Other>
  void operator()(const Other&) const {}
};

void age(std::optional<Duration>& since, Duration gone) {
  if (since) *since += gone;
}

}  // namespace

void advance(ClusterSnapshot& cluster, const ObservedEvent& event) {
  std::visit(Step{cluster, event}, event.event.payload);
}

void advance(ClusterSnapshot& cluster, Duration gone) {
  cluster.at += gone;
  cluster.wall += std::chrono::duration_cast<platform::WallClock::duration>(gone);
  for (BrokerSnapshot& broker : cluster.brokers) {
    broker.inState += gone;
    // A running broker's heartbeats come all the time.
    if (broker.state != BrokerState::Running) age(broker.sinceHeartbeat, gone);
    if (broker.fencedIn)
      broker.fencedIn = *broker.fencedIn > gone ? std::optional(*broker.fencedIn - gone) : std::nullopt;
  }
  for (TopicSnapshot& topic : cluster.topics)
    for (PartitionSnapshot& partition : topic.partitions)
      for (ReplicaSnapshot& copy : partition.copies) {
        age(copy.sinceFetch, gone);
        if (copy.logEnd < partition.logEnd) age(copy.sinceCaughtUp, gone);
      }
  for (ParkedSnapshot& parked : cluster.parked) parked.left = std::max(parked.left - gone, Duration{});
  for (FaultSnapshot& fault : cluster.faults) {
    fault.since += gone;
    if (fault.left) fault.left = std::max(*fault.left - gone, Duration{});
  }
}

namespace {

/// What became of the transactions of these batches, as their markers tell.
void addFates(std::vector<BatchSnapshot>& batches, const std::vector<events::MarkerWritten>& markers) {
  for (BatchSnapshot& batch : batches) {
    if (!batch.transactional) continue;
    batch.fate = batch.control ? TransactionFate::Unknown : TransactionFate::Open;
    // The newest ones are at the end, and so are most batches that are asked about.
    for (auto marker = markers.rbegin(); marker != markers.rend() && marker->marker >= batch.baseOffset; ++marker) {
      const bool itself = batch.control && marker->marker == batch.baseOffset;
      const bool of = !batch.control && marker->producer == batch.producer && marker->first <= batch.baseOffset;
      if (itself || of) batch.fate = marker->committed ? TransactionFate::Committed : TransactionFate::Aborted;
    }
  }
}

}  // namespace

void addDetails(PartitionSnapshot& partition, const std::string& topic, const std::deque<ObservedEvent>& events,
                uint64_t last) {
  std::vector<events::MarkerWritten> markers;
  for (const ObservedEvent& event : events) {
    if (event.number > last) break;
    if (event.partition != partition.index || event.topic != topic) continue;
    const auto copy = std::ranges::find(partition.copies, event.event.broker, &ReplicaSnapshot::broker);
    if (copy == partition.copies.end()) continue;
    std::visit(Detail{*copy}, event.event.payload);
    if (const auto* marker = std::get_if<events::MarkerWritten>(&event.event.payload)) markers.push_back(*marker);
    // Twice as many, then half of them go: each is moved once.
    if (copy->batches.size() >= 2 * ReplicaSnapshot::kMaxBatches)
      copy->batches.erase(copy->batches.begin(),
                          copy->batches.end() - static_cast<std::ptrdiff_t>(ReplicaSnapshot::kMaxBatches));
  }
  for (ReplicaSnapshot& copy : partition.copies) {
    if (copy.batches.size() > ReplicaSnapshot::kMaxBatches)
      copy.batches.erase(copy.batches.begin(),
                         copy.batches.end() - static_cast<std::ptrdiff_t>(ReplicaSnapshot::kMaxBatches));
    // No event tells what a loss of power took.
    if (copy.lostTo != kNoOffset) Detail{copy}.ends(copy.logEnd);
    addFates(copy.batches, markers);
    if (!copy.batches.empty())
      std::erase_if(copy.indexEntries,
                    [&copy](const IndexEntrySnapshot& one) { return one.offset < copy.batches.front().baseOffset; });
  }
}

}  // namespace tidemark::observe
