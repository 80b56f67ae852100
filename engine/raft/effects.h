#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "platform/network.h"
#include "raft/messages.h"
#include "raft/types.h"

// What the state machine asks its driver to do. The driver carries effects out in their order, each fully before the
// next, and all of them before it hands out the answer that came with them.

namespace tidemark::raft {

/// Write quorum-state and sync it. Before any effect that tells somebody of it (K2, K3).
struct PersistElection {
  ElectionState state;
};

/// Send a request; report its outcome with onResponse(to, correlation, …). Ids from −2 down are bootstrap servers.
struct Send {
  NodeId to;
  platform::Endpoint endpoint;
  uint64_t correlation = 0;
  Request request;
};

/// The role, the epoch or the leader changed. Who was the leader syncs its log now: its next fetch tells what it holds.
struct RoleChanged {
  RoleName from = RoleName::Unattached;
  RoleName to = RoleName::Unattached;
  LeaderAndEpoch leader;
};

/// This node was elected: begin its epoch in the log with one control batch (LeaderChange and, as the first batch of a
/// log, KRaftVersion and KRaftVoters), sync, then call onLogSynced(). Granting voters in the order their votes came.
struct BeginLeaderEpoch {
  LeaderEpoch epoch;
  std::vector<ReplicaKey> voters;
  std::vector<ReplicaKey> grantingVoters;
};

/// Append what the leader sent, sync (a voter's next fetch counts as its acknowledgement), then call onFetched() with
/// the same high watermark. If the bytes are damaged nothing is appended, but onFetched() called all the same.
struct AppendFetched {
  SharedBytes records;
  Offset leaderHighWatermark;
};

/// Drop everything at or above `offset`, then sync.
struct TruncateLog {
  Offset offset;
};

/// Begin to receive a snapshot; if it is here already, call onSnapshotInstalled().
struct StartSnapshot {
  OffsetAndEpoch id;
};
/// Add to the snapshot that is being received.
struct AppendSnapshot {
  SharedBytes bytes;
};
/// It is complete: make it the latest, start the log at its end, take the voters from it, call onSnapshotInstalled().
struct FinishSnapshot {
  OffsetAndEpoch id;
};
/// Forget the snapshot that is being received.
struct DropSnapshot {};

/// Everything below is committed: give it to the listeners, look at parked fetches.
struct HighWatermarkAdvanced {
  Offset offset;
};

using Effect = std::variant<PersistElection, Send, RoleChanged, BeginLeaderEpoch, AppendFetched, TruncateLog,
                            StartSnapshot, AppendSnapshot, FinishSnapshot, DropSnapshot, HighWatermarkAdvanced>;
using Effects = std::vector<Effect>;

}  // namespace tidemark::raft
