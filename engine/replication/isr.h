#pragma once

#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/mutation.h"
#include "platform/clock.h"

// The arithmetic of replication without any effect: which offset the ISR has reached, who belongs to it. Tested as
// tables.

namespace tidemark::replication {

/// What the leader knows of one follower, from that follower's fetches alone.
struct FollowerState {
  /// Where its last fetch started: everything below is on its disk. -1: has not fetched in this leader epoch.
  Offset logEndOffset = kNoOffset;
  Offset logStartOffset = kNoOffset;
  /// The leader's log end when that fetch was answered.
  Offset leaderEndAtLastFetch = kNoOffset;
  platform::MonotonicTime lastFetch{};
  /// The last time at which it was known to hold all that the leader had.
  platform::MonotonicTime lastCaughtUp{};
  /// As told in its fetch; -1: not told.
  BrokerEpoch brokerEpoch{};

  friend bool operator==(const FollowerState&, const FollowerState&) = default;
};

/// After a fetch from `offset` at `now`, when the leader's log ended at `leaderEnd`. A follower is caught up as of now
/// if it reached the leader's end, as of its previous fetch if it reached the end that the leader had then.
FollowerState afterFetch(FollowerState state, Offset offset, Offset followerLogStart, Offset leaderEnd,
                         BrokerEpoch brokerEpoch, platform::MonotonicTime now);

/// At the leader's end, or there at most `lagMax` ago (replica.lag.time.max.ms).
bool isCaughtUp(const FollowerState& state, Offset leaderEnd, platform::MonotonicTime now, platform::Duration lagMax);

/// The ISR that the controller knows.
struct CommittedIsr {
  std::vector<NodeId> isr;
  friend bool operator==(const CommittedIsr&, const CommittedIsr&) = default;
};
/// The controller was asked to add `joining`; until it answers, `joining` holds the high watermark back as a member
/// does.
struct PendingExpand {
  std::vector<NodeId> isr;
  NodeId joining;
  friend bool operator==(const PendingExpand&, const PendingExpand&) = default;
};
/// The controller was asked to drop `leaving`; until it answers, they hold the high watermark back as members do.
struct PendingShrink {
  std::vector<NodeId> isr;
  std::vector<NodeId> leaving;
  friend bool operator==(const PendingShrink&, const PendingShrink&) = default;
};
using IsrState = std::variant<CommittedIsr, PendingExpand, PendingShrink>;

/// The ISR as the controller knows it, changes in flight left out.
const std::vector<NodeId>& committedIsr(const IsrState& state);
/// Whether `node` may be in the ISR, whatever the controller answers (invariant R6).
bool inMaximalIsr(const IsrState& state, NodeId node);
/// What the controller was asked for, or the committed ISR.
std::vector<NodeId> proposedIsr(const IsrState& state);
bool isInflight(const IsrState& state);

/// All that decides about the high watermark and the ISR of a partition at its leader.
struct LeaderFacts {
  NodeId self;
  Offset logEndOffset;
  Offset highWatermark;
  /// The leader's log end when its epoch began: a follower behind it may still hold another epoch's records.
  Offset epochStartOffset;
  IsrState isr;
  /// Every replica but the leader.
  std::map<NodeId, FollowerState> followers;
  /// min.insync.replicas of the topic.
  int minInsyncReplicas = 1;
  platform::Duration lagMax{};
};

/// min.insync.replicas, but never more than there are replicas (KIP-966).
int effectiveMinIsr(const LeaderFacts& facts);

/// The offset that the high watermark rises to now; nothing if it stays. `eligible` tells of a broker outside the ISR,
/// and of its epoch, whether it could join (alive, not fenced, not shutting down): such a one, if caught up, holds the
/// watermark back so that it can join. While the ISR that the controller knows is smaller than the effective minimum
/// nothing moves (KIP-966): a member that is only asked for does not count, since until the controller agrees it may
/// elect a leader without it.
template <class Eligible>
std::optional<Offset> nextHighWatermark(const LeaderFacts& facts, platform::MonotonicTime now,
                                        const Eligible& eligible) {
  if (static_cast<int>(committedIsr(facts.isr).size()) < effectiveMinIsr(facts) &&
      !isMutated(Mutation::MinIsrFreezeOff))
    return std::nullopt;
  Offset reached = facts.logEndOffset;
  for (const auto& [node, follower] : facts.followers) {
    if (follower.logEndOffset >= reached || isMutated(Mutation::HighWatermarkAlone)) continue;
    if (inMaximalIsr(facts.isr, node) ||
        (isCaughtUp(follower, facts.logEndOffset, now, facts.lagMax) && eligible(node, follower.brokerEpoch) &&
         !isMutated(Mutation::JoiningDoesNotHoldBack)))
      reached = follower.logEndOffset;
  }
  if (reached <= facts.highWatermark) return std::nullopt;
  return reached;
}

/// Whether a follower outside the ISR has reached what a member must hold: the high watermark, and the start of this
/// epoch.
bool reachedIsr(const LeaderFacts& facts, NodeId node);

/// Members of the committed ISR that are behind and have not caught up for `lagMax`. Empty while a change is in flight.
std::vector<NodeId> outOfSync(const LeaderFacts& facts, platform::MonotonicTime now);

/// When outOfSync() could next name somebody if nothing else happens; nothing if all members are at the leader's end.
std::optional<platform::MonotonicTime> nextLagDeadline(const LeaderFacts& facts);

}  // namespace tidemark::replication
