#include "raft/roles.h"

#include <algorithm>

namespace tidemark::raft {

Ballot::Ballot(const VoterSet& voters, NodeId self) : majority_(voters.majority()) {
  for (const Voter& voter : voters.all())
    if (voter.key.id != self) outstanding_.insert(voter.key.id);
  granting_.push_back(self);
}

void Ballot::record(NodeId voter, bool granted) {
  if (outstanding_.erase(voter) == 0) return;
  if (granted)
    granting_.push_back(voter);
  else
    ++rejections_;
}

std::optional<Offset> majorityOffset(std::vector<std::optional<Offset>> endOffsets) {
  if (endOffsets.empty()) return std::nullopt;
  // Descending, unknown ones last: the one in the middle is reached by more than half.
  std::ranges::sort(endOffsets, [](const auto& a, const auto& b) { return a > b; });
  return endOffsets[endOffsets.size() / 2];
}

}  // namespace tidemark::raft
