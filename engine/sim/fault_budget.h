#pragma once

#include <map>
#include <set>
#include <string>

#include "metadata/image.h"
#include "platform/simulated/world.h"
#include "sim/sim_platform.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// What must not be broken at the same time, so that R2 and R3 have to hold.
///
/// Fewer brokers than min.insync.replicas lose power until every ISR is full again: each when all others are in every
/// ISR and calm. Until then so many others may be harmed that each partition keeps a replica that was not. Nodes that
/// are controllers only may lose power at any time: what they have said is on their disks.
class FaultBudget {
 public:
  FaultBudget(const platform::World& world, const SimPlatform& platform, const Watch& watch, int brokers, int nodes,
              int minInsyncReplicas)
      : world_(world),
        platform_(platform),
        watch_(watch),
        brokers_(brokers),
        nodes_(nodes),
        minInsyncReplicas_(minInsyncReplicas) {}

  bool holdsReplicas(NodeId node) const noexcept { return node.value() <= brokers_; }
  /// May anything happen to it now? If so it counts as harmed.
  bool mayHarm(NodeId broker);
  bool mayHarmAll();
  /// If so it counts as having lost power.
  bool mayLosePower(NodeId broker);
  /// So many lost power and are not back yet.
  size_t withoutPower() const noexcept { return victims_.size(); }
  /// Something was done to the broker that may have effects for that long.
  void troubled(NodeId broker, platform::Duration length);

 private:
  void update();
  /// Everybody but these is in every ISR.
  bool areFull(const metadata::Image& image, const std::set<NodeId>& but) const;
  /// All nodes are up, and nothing is in the log of one that the others have yet to hear of: what a controller decided
  /// before it died may throw somebody out of an ISR later.
  bool isSettled(const metadata::Image& image) const;
  size_t smallestReplication(const metadata::Image& image) const;
  /// Runs, and what the image knows of it is of this life.
  bool isWell(NodeId broker, const metadata::Image& image) const;

  const platform::World& world_;
  const SimPlatform& platform_;
  const Watch& watch_;
  const int brokers_;
  /// Those that are controllers only come behind the brokers.
  const int nodes_;
  const int minInsyncReplicas_;
  std::map<NodeId, platform::MonotonicTime> calmAt_;
  /// Who lost power, and its registration before; empty again once all is well.
  std::map<NodeId, BrokerEpoch> victims_;
  std::set<NodeId> harmed_;
};

}  // namespace tidemark::sim
