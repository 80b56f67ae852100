#include "replication/isr.h"

#include <algorithm>

#include "base/mutation.h"

namespace tidemark::replication {
namespace {

template <class... Lambdas>
struct Match : Lambdas... {
  using Lambdas::operator()...;
};
template <class... Lambdas>
Match(Lambdas...) -> Match<Lambdas...>;

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

}  // namespace

FollowerState afterFetch(FollowerState state, Offset offset, Offset followerLogStart, Offset leaderEnd,
                         BrokerEpoch brokerEpoch, platform::MonotonicTime now) {
  if (offset >= leaderEnd) {
    state.lastCaughtUp = std::max(state.lastCaughtUp, now);
  } else if (state.leaderEndAtLastFetch != kNoOffset && offset >= state.leaderEndAtLastFetch) {
    state.lastCaughtUp = std::max(state.lastCaughtUp, state.lastFetch);
  }
  state.logEndOffset = offset;
  state.logStartOffset = followerLogStart;
  state.leaderEndAtLastFetch = leaderEnd;
  state.lastFetch = now;
  state.brokerEpoch = brokerEpoch;
  return state;
}

bool isCaughtUp(const FollowerState& state, Offset leaderEnd, platform::MonotonicTime now, platform::Duration lagMax) {
  return state.logEndOffset == leaderEnd || now - state.lastCaughtUp <= lagMax;
}

const std::vector<NodeId>& committedIsr(const IsrState& state) {
  return std::visit([](const auto& alternative) -> const std::vector<NodeId>& { return alternative.isr; }, state);
}

bool inMaximalIsr(const IsrState& state, NodeId node) {
  if (isMutated(Mutation::LeavingDoesNotHoldBack) && std::holds_alternative<PendingShrink>(state))
    return contains(proposedIsr(state), node);
  if (contains(committedIsr(state), node)) return true;
  const auto* expand = std::get_if<PendingExpand>(&state);
  return expand != nullptr && expand->joining == node && !isMutated(Mutation::JoiningDoesNotHoldBack);
}

std::vector<NodeId> proposedIsr(const IsrState& state) {
  return std::visit(Match{[](const CommittedIsr& committed) { return committed.isr; },
                          [](const PendingExpand& expand) {
                            std::vector<NodeId> isr = expand.isr;
                            isr.push_back(expand.joining);
                            return isr;
                          },
                          [](const PendingShrink& shrink) {
                            std::vector<NodeId> isr;
                            std::ranges::copy_if(shrink.isr, std::back_inserter(isr),
                                                 [&](NodeId node) { return !contains(shrink.leaving, node); });
                            return isr;
                          }},
                    state);
}

bool isInflight(const IsrState& state) {
  return !std::holds_alternative<CommittedIsr>(state);
}

int effectiveMinIsr(const LeaderFacts& facts) {
  return std::min(facts.minInsyncReplicas, static_cast<int>(facts.followers.size()) + 1);
}

bool reachedIsr(const LeaderFacts& facts, NodeId node) {
  const auto follower = facts.followers.find(node);
  if (isMutated(Mutation::JoinsBeforeCaughtUp))
    return follower != facts.followers.end() && follower->second.logEndOffset != kNoOffset;
  return follower != facts.followers.end() && follower->second.logEndOffset >= facts.highWatermark &&
         follower->second.logEndOffset >= facts.epochStartOffset;
}

std::vector<NodeId> outOfSync(const LeaderFacts& facts, platform::MonotonicTime now) {
  std::vector<NodeId> behind;
  if (isInflight(facts.isr)) return behind;
  for (NodeId node : committedIsr(facts.isr)) {
    const auto follower = facts.followers.find(node);
    if (follower != facts.followers.end() && !isCaughtUp(follower->second, facts.logEndOffset, now, facts.lagMax))
      behind.push_back(node);
  }
  return behind;
}

std::optional<platform::MonotonicTime> nextLagDeadline(const LeaderFacts& facts) {
  std::optional<platform::MonotonicTime> deadline;
  for (NodeId node : committedIsr(facts.isr)) {
    const auto follower = facts.followers.find(node);
    if (follower == facts.followers.end() || follower->second.logEndOffset == facts.logEndOffset) continue;
    // Strictly later than lagMax: at exactly lagMax a follower still counts as caught up.
    const auto due = follower->second.lastCaughtUp + facts.lagMax + platform::Duration(1);
    if (!deadline || due < *deadline) deadline = due;
  }
  return deadline;
}

}  // namespace tidemark::replication
