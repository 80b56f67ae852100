#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/error_code.h"
#include "base/ids.h"
#include "raft/config.h"
#include "raft/types.h"

// The quorum's requests and answers, for its one partition, without the wire's frame of topics and partitions. wire.h
// translates to and from the protocol's messages. `clusterId` empty: not given, not checked.

namespace tidemark::raft {

/// Vote (52), versions 0–2; a pre-vote (KIP-996) asks whether the vote would be given, and binds nobody.
struct VoteRequest {
  std::string clusterId;
  /// Whom it is meant for; id −1: not said.
  ReplicaKey voter;
  /// Candidate: the new epoch. Pre-vote: the asker's current epoch.
  LeaderEpoch epoch;
  ReplicaKey candidate;
  LeaderEpoch lastEpoch;
  Offset lastOffset;
  bool preVote = false;
};
struct VoteResponse {
  ErrorCode topError = ErrorCode::None;
  ErrorCode error = ErrorCode::None;
  LeaderAndEpoch leader;
  bool granted = false;
  std::vector<VoterEndpoint> leaderEndpoints;
};

/// BeginQuorumEpoch (53), versions 0–1: "I lead this epoch".
struct BeginQuorumEpochRequest {
  std::string clusterId;
  ReplicaKey voter;
  LeaderAndEpoch leader;
  std::vector<VoterEndpoint> leaderEndpoints;
};
struct BeginQuorumEpochResponse {
  ErrorCode topError = ErrorCode::None;
  ErrorCode error = ErrorCode::None;
  LeaderAndEpoch leader;
  std::vector<VoterEndpoint> leaderEndpoints;
};

/// EndQuorumEpoch (54), versions 0–1: "I no longer lead this epoch; start an election, the first of these first".
struct EndQuorumEpochRequest {
  std::string clusterId;
  LeaderAndEpoch leader;
  std::vector<ReplicaKey> preferredCandidates;
  std::vector<VoterEndpoint> leaderEndpoints;
};
struct EndQuorumEpochResponse {
  ErrorCode topError = ErrorCode::None;
  ErrorCode error = ErrorCode::None;
  LeaderAndEpoch leader;
  std::vector<VoterEndpoint> leaderEndpoints;
};

/// Fetch (1) of `__cluster_metadata`, versions 12–18.
struct FetchRequest {
  std::string clusterId;
  /// id −1: an observer without a name (a tool).
  ReplicaKey replica;
  LeaderEpoch currentLeaderEpoch;
  Offset fetchOffset;
  LeaderEpoch lastFetchedEpoch;
  /// What the replica knows (KIP-1166): the answer does not wait if the leader knows more. Largest value: not said.
  Offset highWatermark{INT64_MAX};
  Duration maxWait{0};
  int32_t maxBytes = 0;
};
struct FetchResponse {
  ErrorCode topError = ErrorCode::None;
  ErrorCode error = ErrorCode::None;
  LeaderAndEpoch leader;
  std::vector<VoterEndpoint> leaderEndpoints;
  Offset highWatermark;
  Offset logStartOffset;
  /// The replica's log leaves the leader's here: truncate to it, then fetch again.
  std::optional<OffsetAndEpoch> diverging;
  /// The replica is behind the leader's log: fetch this snapshot first.
  std::optional<OffsetAndEpoch> snapshotId;
  /// Whole batches.
  SharedBytes records;
};

/// FetchSnapshot (59), versions 0–1.
struct FetchSnapshotRequest {
  std::string clusterId;
  ReplicaKey replica;
  LeaderEpoch currentLeaderEpoch;
  OffsetAndEpoch snapshotId;
  int64_t position = 0;
  int32_t maxBytes = 0;
};
struct FetchSnapshotResponse {
  ErrorCode topError = ErrorCode::None;
  ErrorCode error = ErrorCode::None;
  LeaderAndEpoch leader;
  std::vector<VoterEndpoint> leaderEndpoints;
  OffsetAndEpoch snapshotId;
  int64_t size = 0;
  int64_t position = 0;
  /// Bytes of the file, not cut at batches.
  SharedBytes bytes;
};

using Request =
    std::variant<VoteRequest, BeginQuorumEpochRequest, EndQuorumEpochRequest, FetchRequest, FetchSnapshotRequest>;
using Response =
    std::variant<VoteResponse, BeginQuorumEpochResponse, EndQuorumEpochResponse, FetchResponse, FetchSnapshotResponse>;

/// What DescribeQuorum (55) tells of one replica.
struct ReplicaDescription {
  ReplicaKey key;
  Offset logEndOffset;
  /// Unix milliseconds, −1 never.
  int64_t lastFetchTimestampMs = -1;
  int64_t lastCaughtUpTimestampMs = -1;
};
/// What a node knows of the quorum. Voters, observers and ends are known to the leader alone.
struct QuorumDescription {
  RoleName role = RoleName::Unattached;
  LeaderAndEpoch leader;
  Offset highWatermark;
  Offset logEndOffset;
  Offset logStartOffset;
  std::optional<ReplicaKey> voted;
  VoterSet voterSet;
  std::vector<ReplicaDescription> voters;
  std::vector<ReplicaDescription> observers;
};

}  // namespace tidemark::raft
