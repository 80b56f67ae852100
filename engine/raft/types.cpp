#include "raft/types.h"

#include <algorithm>

namespace tidemark::raft {

VoterSet::VoterSet(std::vector<Voter> voters) : voters_(std::move(voters)) {
  std::ranges::stable_sort(voters_, {}, [](const Voter& voter) { return voter.key.id; });
  const auto doubled = std::ranges::unique(voters_, {}, [](const Voter& voter) { return voter.key.id; });
  voters_.erase(doubled.begin(), doubled.end());
}

const Voter* VoterSet::find(NodeId id) const noexcept {
  const auto at = std::ranges::lower_bound(voters_, id, {}, [](const Voter& voter) { return voter.key.id; });
  return at != voters_.end() && at->key.id == id ? &*at : nullptr;
}

bool VoterSet::isVoter(const ReplicaKey& key) const noexcept {
  const Voter* voter = find(key.id);
  return voter != nullptr && voter->key.matches(key);
}

std::string_view roleName(RoleName role) noexcept {
  switch (role) {
    case RoleName::Unattached:
      return "unattached";
    case RoleName::Prospective:
      return "prospective";
    case RoleName::Candidate:
      return "candidate";
    case RoleName::Leader:
      return "leader";
    case RoleName::Follower:
      return "follower";
    case RoleName::Resigned:
      return "resigned";
  }
  return "unknown";
}

}  // namespace tidemark::raft
