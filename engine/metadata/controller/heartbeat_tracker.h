#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "metadata/image.h"
#include "platform/clock.h"

namespace tidemark::metadata {

/// What the active controller alone knows of brokers: when they were last heard of, and how far they have read the
/// metadata log. Not in the log, so a new controller starts anew and gives everybody a whole session.
class HeartbeatTracker {
 public:
  using MonotonicTime = platform::MonotonicTime;
  using Duration = platform::Duration;

  /// At activation: every broker of the image was heard of just now.
  void reset(const Image& image, MonotonicTime now, Offset committedEnd);
  void clear() noexcept { states_.clear(); }

  /// A registration whose record lies at `registrationOffset`; of a new incarnation if `isNew`.
  void registered(NodeId broker, bool isNew, MonotonicTime now, Offset registrationOffset);
  void removed(NodeId broker) { states_.erase(broker); }
  void touched(NodeId broker, MonotonicTime now, Offset metadataOffset);
  /// The broker may stop once all active brokers have read up to `offset`; only rises.
  void shutsDownAt(NodeId broker, Offset offset);
  /// It is fenced: a controlled shutdown is over.
  void fenced(NodeId broker);

  /// Whether a broker that is not fenced was heard of within the session timeout.
  bool hasValidSession(const BrokerRegistration& broker, MonotonicTime now, Duration timeout) const;
  /// A broker must have read its registration before it is unfenced.
  Offset registrationOffset(const BrokerRegistration& broker) const;
  std::optional<Offset> shutdownOffset(NodeId broker) const;
  /// How far the slowest active broker has read; the largest offset if there is none.
  Offset lowestActiveOffset(const ClusterImage& cluster) const;
  /// The broker whose session ran out first.
  std::optional<NodeId> staleBroker(const ClusterImage& cluster, MonotonicTime now, Duration timeout) const;
  /// When each broker was last heard of.
  std::vector<std::pair<NodeId, MonotonicTime>> contacts() const;
  /// When the next session would run out.
  std::optional<MonotonicTime> nextDeadline(const ClusterImage& cluster, Duration timeout) const;

 private:
  struct State {
    MonotonicTime lastContact;
    Offset metadataOffset;
    Offset registrationOffset;
    std::optional<Offset> shutdownOffset;
  };
  const State* find(NodeId broker) const;
  /// Of the brokers that are not fenced, the one that was silent for longest.
  std::optional<std::pair<NodeId, MonotonicTime>> oldestContact(const ClusterImage& cluster) const;

  std::map<NodeId, State> states_;
};

}  // namespace tidemark::metadata
