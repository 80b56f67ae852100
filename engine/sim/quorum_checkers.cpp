#include "sim/quorum_checkers.h"

#include <fmt/format.h>

namespace tidemark::sim {

void Quorum::opened(NodeId /*broker*/, broker::Node& /*node*/) {
  majority();
}

void Quorum::on(const Seen& seen) {
  if (const auto* changed = as<events::QuorumLeaderChanged>(seen)) {
    epoch(seen.broker, changed->epoch);
    if (changed->leader == kNoNode) return;
    const auto [known, first] = leaders_.try_emplace(changed->epoch, changed->leader);
    if (!first && known->second != changed->leader)
      judge_.breach("K1", fmt::format("epoch {} is led by {} and, as node {} sees it, by {}", changed->epoch,
                                      known->second, seen.broker, changed->leader));
  } else if (const auto* asks = as<events::PreVoteStarted>(seen)) {
    epoch(seen.broker, asks->epoch);
  } else if (const auto* stands = as<events::ElectionStarted>(seen)) {
    epoch(seen.broker, stands->epoch);
    vote(seen.broker, stands->epoch, seen.broker);
  } else if (const auto* granted = as<events::VoteGranted>(seen)) {
    if (granted->preVote) return;
    epoch(seen.broker, granted->epoch);
    vote(seen.broker, granted->epoch, granted->candidate);
  } else if (as<events::HighWatermarkAdvanced>(seen) != nullptr && seen.partition == metadataPartition()) {
    majority();
  }
}

void Quorum::epoch(NodeId broker, LeaderEpoch epoch) {
  const auto [known, first] = epochs_.try_emplace(broker, epoch);
  if (first) return;
  if (epoch < known->second)
    judge_.breach("K3", fmt::format("the quorum epoch of node {} fell from {} to {}", broker, known->second, epoch));
  known->second = epoch;
}

void Quorum::vote(NodeId voter, LeaderEpoch epoch, NodeId candidate) {
  const auto [known, first] = votes_.try_emplace({voter, epoch}, candidate);
  if (!first && known->second != candidate)
    judge_.breach("K2",
                  fmt::format("node {} votes for {} and for {} in epoch {}", voter, known->second, candidate, epoch));
  if (!voteIsDurable_(voter))
    judge_.breach("K2", fmt::format("the vote of node {} for {} in epoch {} is not on disk", voter, candidate, epoch));
}

void Quorum::majority() {
  const auto found = committed_.all().find(metadataPartition());
  if (found == committed_.all().end() || found->second.empty()) return;
  // By log matching the last batch stands for those before it.
  const auto last = std::prev(found->second.end());
  int holders = 0;
  for (int i = 0; i < voters_; ++i) {
    const Batches& held = logs_.of(NodeId(first_.value() + i), metadataPartition());
    const auto own = held.find(last->first);
    if ((own != held.end() && own->second == last->second) || (!held.empty() && held.begin()->first > last->first))
      ++holders;
  }
  if (holders <= voters_ / 2)
    judge_.breach("K4", fmt::format("only {} of {} voters hold {} of the quorum's log, which are committed", holders,
                                    voters_, describe(last->first, last->second)));
}

}  // namespace tidemark::sim
