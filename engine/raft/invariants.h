#pragma once

#include <map>
#include <optional>

#include "raft/state_machine.h"

namespace tidemark::raft {

/// What holds of one node at any moment, checked after every step everywhere: role, epoch and vote agree with what is
/// persisted, the log with the epoch, the high watermark with the log. Throws InvariantBroken.
void checkInvariants(const StateMachine& node);

/// What holds of one node over time, restarts included (K1–K3 as seen from it). One observer a node.
class NodeHistory {
 public:
  /// After each step; `stored`: what quorum-state holds.
  void observe(const StateMachine& node, const ElectionState& stored);
  /// The process is gone; the high watermark may start anew.
  void restarted() { highWatermark_.reset(); }

 private:
  LeaderEpoch epoch_{0};
  std::map<LeaderEpoch, ReplicaKey> votes_;
  std::optional<Offset> highWatermark_;
};

}  // namespace tidemark::raft
