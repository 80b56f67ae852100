#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "platform/clock.h"

// Which replica a consumer should read from (KIP-392, replica.selector.class). A pure decision of the leader's.

namespace tidemark::replication {

/// A follower that a consumer may be sent to: in sync, with the records that are asked for.
struct ReadableReplica {
  NodeId node;
  Offset logEndOffset;
  /// Since it was known to hold all that the leader had.
  platform::Duration behindFor{};
};

/// The rack of a broker that can be reached; nothing if it has none or is fenced.
using RackOf = std::function<std::optional<std::string>(NodeId)>;

/// Kafka's RackAwareReplicaSelector: the leader if it stands in the consumer's rack or no replica does, else the one
/// there that is furthest. Nothing: the leader.
std::optional<NodeId> closestReplica(const std::string& rack, NodeId leader, std::span<const ReadableReplica> followers,
                                     const RackOf& rackOf);

}  // namespace tidemark::replication
