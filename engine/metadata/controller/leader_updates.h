#pragma once

#include <functional>

#include "base/ids.h"
#include "metadata/controller/view.h"

namespace tidemark::metadata {

/// A broker leaves or comes; kNoNode: none.
struct BrokerMove {
  /// Leaves every ISR and leads no more.
  NodeId remove;
  /// May lead although the image still shows it fenced.
  NodeId add;
  /// Stopped without closing its logs: leaves ISR and ELR.
  NodeId uncleanShutdown;
};

using PartitionFilter = std::function<bool(const PartitionRegistration&)>;

/// Adds a change record for each partition that `filter` picks and whose ISR or leader changes by `move`. Partitions go
/// in the order of topic ids, so the result depends on the image alone.
void generateLeaderAndIsrUpdates(const ControllerView& view, const BrokerMove& move, const PartitionFilter& filter,
                                 Records& records);

/// What follows when a broker is fenced: out of every ISR, its partitions led by others, then the record that says so.
void fenceBroker(const ControllerView& view, const BrokerRegistration& broker, Records& records);
void unfenceBroker(const ControllerView& view, const BrokerRegistration& broker, Records& records);
void beginControlledShutdown(const ControllerView& view, const BrokerRegistration& broker, Records& records);
/// Before a new incarnation registers: what the last one was part of.
void cleanUpIncarnation(const ControllerView& view, NodeId broker, bool wasClean, Records& records);

/// Gives leadership back to preferred replicas that are in sync, of `limit` partitions at most.
void electPreferredLeaders(const ControllerView& view, size_t limit, Records& records);

/// Partitions that have no leader although unclean election is allowed for them: elects one where any replica lives.
void electUncleanLeaders(const ControllerView& view, Records& records);

}  // namespace tidemark::metadata
