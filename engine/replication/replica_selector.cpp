#include "replication/replica_selector.h"

#include <tuple>

namespace tidemark::replication {

std::optional<NodeId> closestReplica(const std::string& rack, NodeId leader, std::span<const ReadableReplica> followers,
                                     const RackOf& rackOf) {
  if (rack.empty() || rackOf(leader) == rack) return std::nullopt;
  const ReadableReplica* best = nullptr;
  const auto rank = [](const ReadableReplica& replica) {
    return std::tuple(replica.logEndOffset, -replica.behindFor, replica.node);
  };
  for (const ReadableReplica& replica : followers)
    if (rackOf(replica.node) == rack && (best == nullptr || rank(*best) < rank(replica))) best = &replica;
  return best == nullptr ? std::nullopt : std::optional(best->node);
}

}  // namespace tidemark::replication
