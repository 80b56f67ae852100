#include "metadata/controller/heartbeat_tracker.h"

#include <algorithm>

namespace tidemark::metadata {

void HeartbeatTracker::reset(const Image& image, MonotonicTime now, Offset committedEnd) {
  states_.clear();
  for (const auto& [id, broker] : image.cluster.brokers) {
    State& state = states_[id];
    state.lastContact = now;
    state.registrationOffset = Offset(broker->epoch.value());
    if (broker->inControlledShutdown) state.shutdownOffset = committedEnd;
  }
}

void HeartbeatTracker::registered(NodeId broker, bool isNew, MonotonicTime now, Offset registrationOffset) {
  if (isNew) states_.erase(broker);
  State& state = states_[broker];
  state.lastContact = now;
  state.registrationOffset = registrationOffset;
}

void HeartbeatTracker::touched(NodeId broker, MonotonicTime now, Offset metadataOffset) {
  State& state = states_[broker];
  state.lastContact = now;
  state.metadataOffset = metadataOffset;
}

void HeartbeatTracker::shutsDownAt(NodeId broker, Offset offset) {
  State& state = states_[broker];
  state.shutdownOffset = std::max(state.shutdownOffset.value_or(offset), offset);
}

void HeartbeatTracker::fenced(NodeId broker) {
  if (const auto at = states_.find(broker); at != states_.end()) at->second.shutdownOffset.reset();
}

const HeartbeatTracker::State* HeartbeatTracker::find(NodeId broker) const {
  const auto at = states_.find(broker);
  return at == states_.end() ? nullptr : &at->second;
}

bool HeartbeatTracker::hasValidSession(const BrokerRegistration& broker, MonotonicTime now, Duration timeout) const {
  const State* state = find(broker.id);
  return state && !broker.fenced && state->lastContact + timeout >= now;
}

Offset HeartbeatTracker::registrationOffset(const BrokerRegistration& broker) const {
  const State* state = find(broker.id);
  return state && state->registrationOffset != kNoOffset ? state->registrationOffset : Offset(broker.epoch.value());
}

std::optional<Offset> HeartbeatTracker::shutdownOffset(NodeId broker) const {
  const State* state = find(broker);
  return state ? state->shutdownOffset : std::nullopt;
}

Offset HeartbeatTracker::lowestActiveOffset(const ClusterImage& cluster) const {
  Offset lowest(INT64_MAX);
  for (const auto& [id, broker] : cluster.brokers) {
    if (!broker->isActive()) continue;
    const State* state = find(id);
    lowest = std::min(lowest, state ? state->metadataOffset : kNoOffset);
  }
  return lowest;
}

std::optional<std::pair<NodeId, platform::MonotonicTime>> HeartbeatTracker::oldestContact(
    const ClusterImage& cluster) const {
  std::optional<std::pair<NodeId, MonotonicTime>> oldest;
  for (const auto& [id, broker] : cluster.brokers) {
    const State* state = find(id);
    if (broker->fenced || !state) continue;
    if (!oldest || state->lastContact < oldest->second) oldest = {id, state->lastContact};
  }
  return oldest;
}

std::optional<NodeId> HeartbeatTracker::staleBroker(const ClusterImage& cluster, MonotonicTime now,
                                                    Duration timeout) const {
  const auto oldest = oldestContact(cluster);
  if (!oldest || oldest->second + timeout >= now) return std::nullopt;
  return oldest->first;
}

std::vector<std::pair<NodeId, platform::MonotonicTime>> HeartbeatTracker::contacts() const {
  std::vector<std::pair<NodeId, MonotonicTime>> contacts;
  contacts.reserve(states_.size());
  for (const auto& [id, state] : states_) contacts.emplace_back(id, state.lastContact);
  return contacts;
}

std::optional<platform::MonotonicTime> HeartbeatTracker::nextDeadline(const ClusterImage& cluster,
                                                                      Duration timeout) const {
  const auto oldest = oldestContact(cluster);
  if (!oldest) return std::nullopt;
  // A session is over once more than the timeout has passed.
  return oldest->second + timeout + Duration(1);
}

}  // namespace tidemark::metadata
