#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "events/text.h"
#include "platform/clock.h"

namespace tidemark::events {

using platform::Duration;

/// Why the controller chose another leader.
enum class ElectionCause : uint8_t {
  Created,
  LeaderFenced,
  ControlledShutdown,
  Preferred,
  Unclean,
  Returned,
  Reassigned,
  /// Nobody was known to hold all that was committed, so the last leader was waited for (KIP-966).
  LastLeader
};
std::string_view nameOf(ElectionCause value) noexcept;

// Each kind of event: plain values, no owner, valid for ever. `fields(visit)` calls visit(name, value) for each of them
// in order, which is what text, JSON and tables are made of.

/// On the leader, and on each follower when it hears of it. `slowest`: the in-sync replica that holds it back, if any.
struct HighWatermarkAdvanced {
  static constexpr std::string_view kName = "HighWatermarkAdvanced";
  PartitionTag partition;
  Offset from;
  Offset to;
  NodeId slowest;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("from", from);
    visit("to", to);
    visit("slowest", slowest);
  }
};

/// The leader's committed ISR lost `removed`. `behindFor`: since it was last caught up.
struct IsrShrunk {
  static constexpr std::string_view kName = "IsrShrunk";
  PartitionTag partition;
  NodeList before;
  NodeList after;
  NodeId removed;
  PartitionEpoch epoch;
  Duration behindFor{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("before", before);
    visit("after", after);
    visit("removed", removed);
    visit("epoch", epoch);
    visit("behindFor", behindFor);
  }
};

/// The leader's committed ISR gained `added`.
struct IsrExpanded {
  static constexpr std::string_view kName = "IsrExpanded";
  PartitionTag partition;
  NodeList before;
  NodeList after;
  NodeId added;
  PartitionEpoch epoch;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("before", before);
    visit("after", after);
    visit("added", added);
    visit("epoch", epoch);
  }
};

/// By the controller. `to` may be none: no eligible replica is alive.
struct LeaderElected {
  static constexpr std::string_view kName = "LeaderElected";
  PartitionTag partition;
  NodeId from;
  NodeId to;
  LeaderEpoch epoch;
  ElectionCause cause{};
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("from", from);
    visit("to", to);
    visit("epoch", epoch);
    visit("cause", cause);
  }
};

/// A replica leads from `epochStart` on.
struct BecameLeader {
  static constexpr std::string_view kName = "BecameLeader";
  PartitionTag partition;
  LeaderEpoch epoch;
  Offset epochStart;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("epoch", epoch);
    visit("epochStart", epochStart);
  }
};

/// A replica follows `leader`.
struct BecameFollower {
  static constexpr std::string_view kName = "BecameFollower";
  PartitionTag partition;
  LeaderEpoch epoch;
  NodeId leader;
  Offset logEnd;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("epoch", epoch);
    visit("leader", leader);
    visit("logEnd", logEnd);
  }
};

/// After an election of a replica that need not hold all that was committed. At that leader: whatever others have from
/// `from` on will be lost; whether there is anything nobody knows yet, `to` and `gaveUpTo` are −1. At a replica that
/// follows it: it gave up [from, to), which it knew as committed, and all up to `gaveUpTo`, of which more may have been.
struct RecordsLost {
  static constexpr std::string_view kName = "RecordsLost";
  PartitionTag partition;
  NodeId leader;
  LeaderEpoch epoch;
  Offset from;
  Offset to;
  Offset gaveUpTo;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("leader", leader);
    visit("epoch", epoch);
    visit("from", from);
    visit("to", to);
    visit("gaveUpTo", gaveUpTo);
  }
};

/// A follower learnt from its fetch that its log parts from its leader's: there epoch `inEpoch` ends at `leaderEnd`. It
/// gives up what it has from `from` to `logEnd`, or part of it first, and asks again.
struct LogDiverged {
  static constexpr std::string_view kName = "LogDiverged";
  PartitionTag partition;
  NodeId leader;
  LeaderEpoch epoch;
  LeaderEpoch inEpoch;
  Offset leaderEnd;
  Offset from;
  Offset logEnd;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("leader", leader);
    visit("epoch", epoch);
    visit("inEpoch", inEpoch);
    visit("leaderEnd", leaderEnd);
    visit("from", from);
    visit("logEnd", logEnd);
  }
};

/// The leader learnt a follower's log end from its fetch.
struct FollowerFetched {
  static constexpr std::string_view kName = "FollowerFetched";
  PartitionTag partition;
  NodeId follower;
  Offset fetchOffset;
  Offset leaderLogEnd;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("follower", follower);
    visit("fetchOffset", fetchOffset);
    visit("leaderLogEnd", leaderLogEnd);
  }
};

/// A replica begins to be copied to another log directory of its broker (KIP-113).
struct ReplicaMoveStarted {
  static constexpr std::string_view kName = "ReplicaMoveStarted";
  PartitionTag partition;
  ShortText<36> from;
  ShortText<36> to;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("from", from);
    visit("to", to);
  }
};

/// The copy had everything and took the replica's place.
struct ReplicaMoved {
  static constexpr std::string_view kName = "ReplicaMoved";
  PartitionTag partition;
  ShortText<36> from;
  ShortText<36> to;
  Offset logEnd;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("from", from);
    visit("to", to);
    visit("logEnd", logEnd);
  }
};

/// The copy was given up; the replica stays where it is.
struct ReplicaMoveCancelled {
  static constexpr std::string_view kName = "ReplicaMoveCancelled";
  PartitionTag partition;
  ShortText<36> to;
  ShortText<36> reason;
  template <class Visit>
  void fields(Visit&& visit) const {
    visit("partition", partition);
    visit("to", to);
    visit("reason", reason);
  }
};

}  // namespace tidemark::events
