#include "raft/invariants.h"

#include "base/invariant.h"

namespace tidemark::raft {
namespace {

/// Epochs whose votes are remembered.
constexpr size_t kEpochsKept = 100;

}  // namespace

void checkInvariants(const StateMachine& node) {
  const ElectionState& stored = node.election();
  TIDEMARK_INVARIANT(stored.epoch == node.epoch(),
                     fmt::format("epoch {} in memory, {} in quorum-state", node.epoch(), stored.epoch));
  TIDEMARK_INVARIANT(node.log().lastEpoch() <= node.epoch(),
                     fmt::format("the log has epoch {}, the node {}", node.log().lastEpoch(), node.epoch()));
  TIDEMARK_INVARIANT(node.log().syncedEndOffset() <= node.log().endOffset(),
                     fmt::format("synced to {}, log end {}", node.log().syncedEndOffset(), node.log().endOffset()));
  if (const auto hw = node.highWatermark())
    TIDEMARK_INVARIANT(*hw <= node.log().endOffset(),
                       fmt::format("high watermark {} above the log end {}", *hw, node.log().endOffset()));
  const NodeId self = node.identity().self.id;
  switch (node.roleName()) {
    case RoleName::Leader: {
      const auto& leader = std::get<Leader>(node.role());
      TIDEMARK_INVARIANT(stored.leader == self, std::string("a leader that quorum-state does not name"));
      TIDEMARK_INVARIANT(!leader.highWatermark || leader.highWatermark <= node.highWatermark(),
                         std::string("the leader's high watermark is above the node's"));
      break;
    }
    case RoleName::Candidate:
      TIDEMARK_INVARIANT(stored.voted && stored.voted->matches(node.identity().self) && stored.leader == kNoNode,
                         std::string("a candidate without its own vote"));
      break;
    case RoleName::Follower:
      TIDEMARK_INVARIANT(stored.leader == std::get<Follower>(node.role()).leader && stored.leader != self,
                         std::string("a follower of somebody else than quorum-state names"));
      break;
    case RoleName::Resigned:
      TIDEMARK_INVARIANT(stored.leader == self, std::string("resigned from what it did not lead"));
      break;
    case RoleName::Unattached:
      TIDEMARK_INVARIANT(std::get<Unattached>(node.role()).voted == stored.voted,
                         std::string("a vote that quorum-state does not hold"));
      break;
    case RoleName::Prospective:
      TIDEMARK_INVARIANT(std::get<Prospective>(node.role()).voted == stored.voted,
                         std::string("a vote that quorum-state does not hold"));
      break;
  }
}

void NodeHistory::observe(const StateMachine& node, const ElectionState& stored) {
  TIDEMARK_INVARIANT(node.epoch() >= epoch_, fmt::format("K3: node {} fell from epoch {} to {}",
                                                         node.identity().self.id, epoch_, node.epoch()));
  epoch_ = node.epoch();
  if (stored.voted) {
    const auto [at, isNew] = votes_.emplace(stored.epoch, *stored.voted);
    TIDEMARK_INVARIANT(isNew || at->second.matches(*stored.voted),
                       fmt::format("K2: node {} voted for {} and {} in epoch {}", node.identity().self.id, at->second,
                                   *stored.voted, stored.epoch));
    if (votes_.size() > kEpochsKept) votes_.erase(votes_.begin());
  }
  const auto highWatermark = node.highWatermark();
  TIDEMARK_INVARIANT(!highWatermark_ || (highWatermark && *highWatermark >= *highWatermark_),
                     fmt::format("the high watermark of node {} fell", node.identity().self.id));
  highWatermark_ = highWatermark;
}

}  // namespace tidemark::raft
