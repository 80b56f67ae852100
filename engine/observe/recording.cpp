#include "observe/recording.h"

#include <algorithm>

#include "observe/passing_faults.h"
#include "observe/replay.h"

namespace tidemark::observe {
namespace {

platform::WallClock::duration wallOf(Duration duration) {
  return std::chrono::duration_cast<platform::WallClock::duration>(duration);
}

}  // namespace

void Recording::add(const ObservedEvent& event) {
  if (!events_.empty() && event.number <= events_.back().number) return;
  events_.push_back(event);
  if (events_.size() > bounds_.events) events_.pop_front();
}

uint64_t Recording::lastBy(MonotonicTime time) const {
  // Events of different brokers may be a little out of order: the last one counts.
  auto found = std::ranges::upper_bound(events_, time, {}, [](const ObservedEvent& one) { return one.event.at; });
  return found == events_.begin() ? (events_.empty() ? 0 : events_.front().number - 1) : std::prev(found)->number;
}

void Recording::add(const ClusterSnapshot& cluster) {
  if (cluster.clusterId.empty()) return;
  if (!snapshots_.empty() && cluster.at - snapshots_.back().cluster->at < kApart) return;
  auto kept = std::make_shared<ClusterSnapshot>(cluster);
  for (TopicSnapshot& topic : kept->topics)
    for (PartitionSnapshot& partition : topic.partitions)
      for (ReplicaSnapshot& copy : partition.copies) {
        if (copy.segments.size() > ReplicaSnapshot::kSegmentsKept)
          copy.segments.erase(copy.segments.begin(),
                              copy.segments.end() - static_cast<std::ptrdiff_t>(ReplicaSnapshot::kSegmentsKept));
        copy.segments.shrink_to_fit();
        copy.batches = {};
        copy.indexEntries = {};
      }
  const size_t bytes = bytesOf(*kept);
  snapshots_.push_back({std::move(kept), lastBy(cluster.at), bytes});
  snapshotBytes_ += bytes;
  while (snapshots_.size() > bounds_.snapshots || (snapshots_.size() > 1 && snapshotBytes_ > bounds_.bytes)) {
    snapshotBytes_ -= snapshots_.front().bytes;
    snapshots_.pop_front();
  }
}

size_t bytesOf(const ClusterSnapshot& cluster) noexcept {
  // Each vector has a block of its own, with the allocator's head.
  constexpr size_t kBlock = 16;
  const auto of = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]) + kBlock; };
  size_t bytes = sizeof cluster + of(cluster.brokers) + of(cluster.topics) + of(cluster.parked) +
                 of(cluster.connections) + of(cluster.readers) + of(cluster.groups) + of(cluster.transactions) +
                 of(cluster.faults) + of(cluster.faultsOver) + of(cluster.cleaners);
  for (const TopicSnapshot& topic : cluster.topics) {
    bytes += of(topic.partitions);
    for (const PartitionSnapshot& partition : topic.partitions) {
      bytes += of(partition.replicas) + of(partition.isr) + of(partition.openTransactions) + of(partition.copies);
      for (const ReplicaSnapshot& copy : partition.copies)
        bytes += of(copy.segments) + of(copy.batches) + of(copy.indexEntries);
    }
  }
  for (const GroupSnapshot& group : cluster.groups) bytes += of(group.members) + of(group.partitions);
  return bytes;
}

void Recording::clear() {
  // With their memory.
  events_ = {};
  snapshots_ = {};
  snapshotBytes_ = 0;
}

std::deque<Recording::Kept>::const_iterator Recording::baseOf(WallTime wall, uint64_t event) const {
  auto found = std::ranges::upper_bound(snapshots_, wall, {}, [](const Kept& one) { return one.cluster->wall; });
  while (found != snapshots_.begin() && std::prev(found)->event > event) --found;
  return found == snapshots_.begin() ? found : std::prev(found);
}

Recording::Moment Recording::at(WallTime wall) const {
  if (empty()) return {};
  const ClusterSnapshot& base = *baseOf(wall, UINT64_MAX)->cluster;
  return {lastBy(base.at + (wall - base.wall)), wall};
}

std::optional<Recording::Moment> Recording::after(uint64_t event) const {
  const auto found = std::ranges::lower_bound(events_, event, {}, &ObservedEvent::number);
  if (empty() || found == events_.end() || found->number != event) return std::nullopt;
  // A broker's own clock may be wrong on purpose: what the whole cluster's said counts.
  auto base =
      std::ranges::upper_bound(snapshots_, found->event.at, {}, [](const Kept& one) { return one.cluster->at; });
  if (base != snapshots_.begin()) --base;
  return Moment{event, base->cluster->wall + wallOf(found->event.at - base->cluster->at)};
}

void Recording::settleIsr(ClusterSnapshot& cluster, std::deque<ObservedEvent>::const_iterator election,
                          std::deque<Kept>::const_iterator after) const {
  const TopicPartition name{election->topic, election->partition};
  const auto topic = std::ranges::find(cluster.topics, name.topic, &TopicSnapshot::name);
  if (topic == cluster.topics.end()) return;
  const auto partition = std::ranges::find(topic->partitions, name.partition, &PartitionSnapshot::index);
  if (partition == topic->partitions.end()) return;
  const auto becomes = [&partition](std::vector<NodeId> isr) {
    partition->isr = std::move(isr);
    for (ReplicaSnapshot& copy : partition->copies)
      copy.inSync = std::ranges::find(partition->isr, copy.broker) != partition->isr.end();
  };
  const auto becomesAll = [&becomes](const events::NodeList& isr) {
    if (static_cast<size_t>(isr.total()) == isr.view().size()) becomes({isr.view().begin(), isr.view().end()});
  };
  const uint64_t last = after == snapshots_.end() ? UINT64_MAX : after->event;
  for (auto next = std::next(election); next != events_.end() && next->number <= last; ++next) {
    if (next->partition != name.partition || next->topic != name.topic) continue;
    const events::Payload& payload = next->event.payload;
    if (const auto* shrunk = std::get_if<events::IsrShrunk>(&payload)) return becomesAll(shrunk->before);
    if (const auto* grown = std::get_if<events::IsrExpanded>(&payload)) return becomesAll(grown->before);
    // What this one left is told by nobody.
    if (std::holds_alternative<events::LeaderElected>(payload)) return;
  }
  if (after == snapshots_.end()) return;
  if (const PartitionSnapshot* then = findPartition(*after->cluster, name)) {
    becomes(then->isr);
    partition->partitionEpoch = then->partitionEpoch;
  }
}

SnapshotPtr Recording::show(const Moment& moment, const std::optional<TopicPartition>& watched) const {
  if (empty()) return nullptr;
  const auto kept = baseOf(moment.wall, moment.event);
  const ClusterSnapshot& base = *kept->cluster;
  auto cluster = std::make_shared<ClusterSnapshot>(base);
  auto next = std::ranges::upper_bound(events_, kept->event, {}, &ObservedEvent::number);
  // Ages count from the event that set them: time passes from event to event.
  const auto pass = [&cluster](MonotonicTime until) {
    if (until > cluster->at) advance(*cluster, until - cluster->at);
  };
  const MonotonicTime end = base.at + (moment.wall - base.wall);
  std::optional<PassingFaults> faults;
  if (const auto after = std::next(kept); after != snapshots_.end()) faults.emplace(base, *after->cluster, end);
  if (faults) faults->set(*cluster);
  for (; next != events_.end() && next->number <= moment.event; ++next) {
    pass(std::min(next->event.at, end));
    advance(*cluster, *next);
    if (std::holds_alternative<events::LeaderElected>(next->event.payload)) settleIsr(*cluster, next, std::next(kept));
  }
  pass(end);
  if (faults) faults->settle(*cluster);
  cluster->wall = moment.wall;
  if (!watched) return cluster;
  const auto topic = std::ranges::find(cluster->topics, watched->topic, &TopicSnapshot::name);
  if (topic == cluster->topics.end()) return cluster;
  const auto partition = std::ranges::find(topic->partitions, watched->partition, &PartitionSnapshot::index);
  if (partition != topic->partitions.end()) addDetails(*partition, watched->topic, events_, moment.event);
  return cluster;
}

}  // namespace tidemark::observe
