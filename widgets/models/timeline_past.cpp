#include "models/timeline_past.h"

#include <algorithm>
#include <utility>

#include "text/fault_words.h"
#include "text/format.h"

namespace tidemark::widgets {

namespace {

using observe::BrokerState;
using platform::WallTime;

template <class... Kinds>
bool holdsOne(const events::Payload& payload) noexcept {
  return (std::holds_alternative<Kinds>(payload) || ...);
}

bool isOfPartition(const events::Payload& payload) noexcept {
  return holdsOne<events::IsrShrunk, events::IsrExpanded, events::LeaderElected, events::LogTruncated,
                  events::RecordsLost, events::LogDiverged>(payload);
}

bool isOfCluster(const events::Payload& payload) noexcept {
  return holdsOne<events::BrokerFenced, events::BrokerUnfenced, events::BrokerDown, events::BrokerStarted,
                  events::BrokerPaused, events::BrokerResumed, events::LogDirectoryFailed, events::QuorumLeaderChanged>(
      payload);
}

void takeLook(TimelineFault& fault, const StateLook& look) {
  fault.shape = look.shape;
  fault.severe = look.shape == StateShape::Cross;
}

}  // namespace

bool isMarked(const events::Payload& payload) noexcept {
  return isOfPartition(payload) || isOfCluster(payload);
}

void TimelineSeries::add(WallTime at, int64_t value, platform::WallClock::duration step) {
  if (!m_points.empty()) {
    Point& last = m_points.back();
    if (last.value == value) return;
    if (m_points.size() > 1 && at - last.at < step) {
      last.value = value;
      return;
    }
  }
  m_points.push_back({at, value});
}

void TimelineSeries::addPeak(WallTime at, int64_t value, platform::WallClock::duration step) {
  if (!m_points.empty()) {
    Point& last = m_points.back();
    if (last.value == value) return;
    if (m_points.size() > 1 && at - last.at < step && value > last.value) {
      last.value = value;
      return;
    }
    if (m_points.size() > 1 && at - last.at < step) return;
  }
  m_points.push_back({at, value});
}

void TimelineSeries::forget(WallTime before) {
  // The value at that time is that of the last point before it.
  while (m_points.size() > 1 && m_points[1].at < before) m_points.pop_front();
}

std::optional<int64_t> TimelineSeries::at(WallTime time) const noexcept {
  const auto after = std::ranges::upper_bound(m_points, time, {}, &Point::at);
  if (after == m_points.begin()) return std::nullopt;
  return std::prev(after)->value;
}

const TimelineStretch* TimelineCopy::at(WallTime time) const noexcept {
  const auto after = std::ranges::upper_bound(stretches, time, {}, &TimelineStretch::begin);
  return after == stretches.begin() ? nullptr : &*std::prev(after);
}

std::optional<WallTime> TimelineCopy::leftIsr(WallTime by) const noexcept {
  for (size_t i = stretches.size(); i-- > 1;)
    if (stretches[i].begin <= by && stretches[i].state != TimelineStretch::State::InSync &&
        stretches[i - 1].state == TimelineStretch::State::InSync)
      return stretches[i].begin;
  return std::nullopt;
}

void TimelinePast::clear() {
  *this = TimelinePast(m_kept);
}

const TimelinePartition* TimelinePast::find(const TopicPartition& partition) const {
  const auto found = m_partitions.find(partition);
  return found == m_partitions.end() ? nullptr : &found->second;
}

size_t TimelinePast::size() const noexcept {
  size_t all = m_events.size() + m_faults.size();
  for (const auto& [name, partition] : m_partitions) {
    all += partition.highWatermark.points().size() + partition.events.size();
    for (const auto& [id, copy] : partition.copies)
      all += copy.stretches.size() + copy.logEnd.points().size() + copy.lag.points().size();
  }
  return all;
}

TimelineFault* TimelinePast::fault(int id) noexcept {
  // A number may come again in another cluster, never in one.
  const auto found = std::ranges::find(m_faults.rbegin(), m_faults.rend(), id, &TimelineFault::id);
  return found == m_faults.rend() ? nullptr : &*found;
}

void TimelinePast::addEvent(const observe::ObservedEvent& event) {
  const events::Payload& payload = event.event.payload;
  if (const auto* set = std::get_if<events::FaultInjected>(&payload)) {
    // A snapshot may have listed it before its event came.
    TimelineFault* known = fault(set->fault);
    if (known == nullptr || known->event != 0) known = &m_faults.emplace_back();
    TimelineFault& shown = *known;
    shown.id = set->fault;
    if (shown.title.isEmpty()) {
      // Until a snapshot tells all of it.
      shown.title = fromUtf8(set->target.view());
      if (set->kind == events::FaultKind::Kill) takeLook(shown, lookOf(faults::Kind::Kill));
      if (set->kind == events::FaultKind::Pause) takeLook(shown, lookOf(faults::Kind::Pause));
    }
    shown.begin = event.event.wall;
    if (set->duration > platform::Duration{})
      shown.expected = event.event.wall + std::chrono::duration_cast<std::chrono::milliseconds>(set->duration);
    shown.event = event.number;
    if (m_faults.size() > kFaults) m_faults.pop_front();
    return;
  }
  if (const auto* healed = std::get_if<events::FaultHealed>(&payload)) {
    if (TimelineFault* ended = fault(healed->fault); ended != nullptr && (!ended->end || ended->endIsGuessed)) {
      ended->end = std::max(ended->begin, event.event.wall);
      ended->endIsGuessed = false;
    }
    return;
  }
  std::deque<observe::ObservedEvent>* kept = nullptr;
  // Where an epoch began the belts show; the timeline has its election.
  if ((isOfPartition(payload) || std::holds_alternative<events::BecameLeader>(payload)) && !event.topic.empty() &&
      !event.topic.starts_with("__")) {
    TimelinePartition& past = m_partitions[{event.topic, event.partition}];
    correct(past, event);
    kept = &past.events;
  } else if (isOfCluster(payload))
    kept = &m_events;
  if (kept == nullptr) return;
  kept->push_back(event);
  if (kept->size() > kEvents) kept->pop_front();
}

void TimelinePast::correct(TimelinePartition& past, const observe::ObservedEvent& event) {
  using State = TimelineStretch::State;
  const auto enters = [&](NodeId broker, State state) {
    const auto found = past.copies.find(broker);
    if (found == past.copies.end() || found->second.stretches.empty()) return;
    auto& stretches = found->second.stretches;
    const WallTime at = event.event.wall;
    if (stretches.back().state == state) {
      // A snapshot was first.
      if (stretches.size() > 1 && std::chrono::abs(stretches.back().begin - at) < kSnapshotLag &&
          at > stretches[stretches.size() - 2].begin)
        stretches.back().begin = at;
      return;
    }
    // Whoever is away stays so.
    if (stretches.back().isAway() || at <= stretches.back().begin) return;
    TimelineStretch next = stretches.back();
    next.begin = at;
    next.state = state;
    next.leader = next.leader && state == State::InSync;
    stretches.push_back(next);
  };
  const auto leads = [&](const events::LeaderElected& elected) {
    const WallTime at = event.event.wall;
    for (auto& [broker, copy] : past.copies) {
      if (copy.stretches.empty()) continue;
      auto& stretches = copy.stretches;
      const bool leader = broker == elected.to;
      TimelineStretch& newest = stretches.back();
      TimelineStretch next = newest;
      next.leader = leader;
      next.epoch = elected.epoch;
      if (newest.sameAs(next)) {
        // A snapshot was first.
        if (stretches.size() > 1 && !stretches[stretches.size() - 2].sameAs(newest) &&
            newest.leader != stretches[stretches.size() - 2].leader &&
            std::chrono::abs(newest.begin - at) < kSnapshotLag && at > stretches[stretches.size() - 2].begin)
          newest.begin = at;
        continue;
      }
      if (newest.isAway() || at <= newest.begin) continue;
      next.begin = at;
      stretches.push_back(next);
    }
  };
  if (const auto* elected = std::get_if<events::LeaderElected>(&event.event.payload))
    leads(*elected);
  else if (const auto* shrunk = std::get_if<events::IsrShrunk>(&event.event.payload))
    enters(shrunk->removed, State::Behind);
  else if (const auto* grown = std::get_if<events::IsrExpanded>(&event.event.payload))
    enters(grown->added, State::InSync);
}

void TimelinePast::addFaults(const observe::ClusterSnapshot& cluster) {
  for (const observe::FaultSnapshot& now : cluster.faults) {
    if (now.waits) continue;
    TimelineFault* known = fault(now.id);
    if (known == nullptr) {
      // Set before anybody looked. One that waited at first was set earlier than it began.
      known = &m_faults.emplace_back();
      known->id = now.id;
      const platform::Duration acted = now.left ? now.fault.duration - *now.left : now.since;
      known->begin = cluster.wall - std::chrono::duration_cast<std::chrono::milliseconds>(acted);
      if (now.left) known->expected = cluster.wall + std::chrono::duration_cast<std::chrono::milliseconds>(*now.left);
      if (m_faults.size() > kFaults) m_faults.pop_front();
    }
    known->listed = true;
    if (known->endIsGuessed) known->end.reset();
    known->endIsGuessed = false;
    known->title = faultTitle(now.fault);
    takeLook(*known, lookOf(now));
  }
  // What is over at once was never in a list; of what was, nobody need have told the end.
  for (TimelineFault& known : m_faults)
    if (!known.end && cluster.wall - known.begin > kSnapshotLag &&
        std::ranges::find(cluster.faults, known.id, &observe::FaultSnapshot::id) == cluster.faults.end()) {
      known.end = known.listed ? cluster.wall : known.begin;
      known.endIsGuessed = true;
    }
}

void TimelinePast::addPartition(const observe::ClusterSnapshot& cluster, const observe::TopicSnapshot& topic,
                                const observe::PartitionSnapshot& partition, platform::WallClock::duration step) {
  TimelinePartition& past = m_partitions[{topic.name, partition.index}];
  const WallTime oldest = cluster.wall - m_kept;
  if (partition.highWatermark != kNoOffset) past.highWatermark.add(cluster.wall, partition.highWatermark.value(), step);
  past.highWatermark.forget(oldest);
  for (const observe::ReplicaSnapshot& replica : partition.copies) {
    TimelineCopy& copy = past.copies[replica.broker];
    const observe::BrokerSnapshot* broker = observe::findBroker(cluster, replica.broker);
    const BrokerState state = broker == nullptr ? BrokerState::Stopped : broker->state;
    const bool down = state == BrokerState::Killed || state == BrokerState::Stopped;
    const bool offline = isOffline(replica);
    TimelineStretch now{.begin = cluster.wall,
                        .state = down                           ? TimelineStretch::State::Down
                                 : offline                      ? TimelineStretch::State::Offline
                                 : replica.inSync               ? TimelineStretch::State::InSync
                                 : state == BrokerState::Fenced ? TimelineStretch::State::Fenced
                                                                : TimelineStretch::State::Behind,
                        .leader = replica.leader && !down && !offline,
                        .epoch = partition.leaderEpoch};
    // One that was made before what an event has told since says nothing new.
    const bool stale =
        !copy.stretches.empty() &&
        (now.begin < copy.stretches.back().begin ||
         (now.epoch < copy.stretches.back().epoch && now.begin - copy.stretches.back().begin < kSnapshotLag));
    if (copy.stretches.empty() || (!stale && !copy.stretches.back().sameAs(now))) copy.stretches.push_back(now);
    while (copy.stretches.size() > 1 && (copy.stretches[1].begin < oldest || copy.stretches.size() > kEvents))
      copy.stretches.pop_front();
    if (replica.logEnd != kNoOffset) copy.logEnd.add(cluster.wall, replica.logEnd.value(), step);
    if (const auto lag = observe::lagOf(partition, replica)) copy.lag.addPeak(cluster.wall, *lag, step);
    copy.logEnd.forget(oldest);
    copy.lag.forget(oldest);
  }
  while (!past.events.empty() && past.events.front().event.wall < oldest) past.events.pop_front();
}

void TimelinePast::add(const observe::ClusterSnapshot& cluster, const std::vector<observe::ObservedEvent>& events) {
  for (const observe::ObservedEvent& event : events) addEvent(event);
  if (cluster.clusterId.empty()) return;
  addFaults(cluster);
  size_t partitions = 0;
  for (const observe::TopicSnapshot& topic : cluster.topics)
    if (!topic.internal) partitions += topic.partitions.size();
  const auto step = std::max<platform::WallClock::duration>(kStep, kStepOfEach * static_cast<int64_t>(partitions));
  for (const observe::TopicSnapshot& topic : cluster.topics)
    if (!topic.internal)
      for (const observe::PartitionSnapshot& partition : topic.partitions)
        addPartition(cluster, topic, partition, step);
  const WallTime oldest = cluster.wall - m_kept;
  while (!m_events.empty() && m_events.front().event.wall < oldest) m_events.pop_front();
  while (!m_faults.empty() && m_faults.front().end && *m_faults.front().end < oldest) m_faults.pop_front();
}

}  // namespace tidemark::widgets
