#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "raft/config.h"
#include "raft/types.h"

// What a node keeps in memory for each role. The epoch stands beside the role, in the state machine; what must survive
// a crash is in ElectionState.

namespace tidemark::raft {

/// The count of one election or one round of pre-votes. The voters are those of its beginning.
class Ballot {
 public:
  Ballot() = default;
  Ballot(const VoterSet& voters, NodeId self);
  /// Answers of nodes that do not vote, and second answers, count for nothing.
  void record(NodeId voter, bool granted);
  bool isWon() const noexcept { return granting_.size() >= majority_; }
  /// A majority can no longer be reached.
  bool isLost() const noexcept { return outstanding_.size() + granting_.size() < majority_; }
  const std::set<NodeId>& outstanding() const noexcept { return outstanding_; }
  /// In the order in which they came; the first is oneself.
  const std::vector<NodeId>& granting() const noexcept { return granting_; }
  size_t rejections() const noexcept { return rejections_; }

 private:
  std::set<NodeId> outstanding_;
  std::vector<NodeId> granting_;
  size_t rejections_ = 0;
  size_t majority_ = 1;
};

/// Knows an epoch but nobody to follow. Voters stay so until the election timeout, observers until they find a leader.
struct Unattached {
  /// Set only together with quorum-state.
  std::optional<ReplicaKey> voted;
  /// Who led this epoch, if that is known but not where it is reached.
  NodeId leader;
  MonotonicTime electionDeadline;
  /// When to begin asking others for the leader.
  MonotonicTime nextDiscovery;
};

/// Asks whether it would be elected (KIP-996), and binds nobody by it.
struct Prospective {
  std::optional<ReplicaKey> voted;
  /// Whom it followed and returns to if the others still hear from it.
  NodeId leader;
  std::vector<VoterEndpoint> leaderEndpoints;
  Ballot ballot;
  MonotonicTime electionDeadline;
};

/// Has voted for itself and asks for votes.
struct Candidate {
  Ballot ballot;
  MonotonicTime electionDeadline;
  /// Set once the election is lost: when to try again.
  std::optional<MonotonicTime> backoffUntil;
};

/// What a leader knows of another replica, from its fetches.
struct ReplicaProgress {
  ReplicaKey key;
  /// Fetch offset of its last valid fetch: it holds everything below, synced if it votes. None before the first.
  std::optional<Offset> endOffset;
  int64_t lastFetchTimestampMs = -1;
  int64_t lastCaughtUpTimestampMs = -1;
  /// The leader's end at its last fetch; −1 before.
  Offset leaderEndAtLastFetch;
  /// When it was last heard of in a fetch, on the monotonic clock.
  std::optional<MonotonicTime> lastFetch;
  /// Has answered BeginQuorumEpoch or fetched.
  bool acknowledged = false;
};

struct Leader {
  /// Offset of the LeaderChange record; the high watermark counts only from above it.
  Offset epochStart;
  /// None until a record of this epoch is committed. Only rises.
  std::optional<Offset> highWatermark;
  /// The other voters.
  std::map<NodeId, ReplicaProgress> voters;
  std::map<ReplicaKey, ReplicaProgress> observers;
  std::vector<ReplicaKey> grantingVoters;
  /// A majority (with this node) must fetch before this; moved each time one has.
  MonotonicTime checkQuorumDeadline;
  /// Voters that fetched since the deadline was last moved.
  std::set<NodeId> fetchedSince;
  /// When voters that do not fetch are told again who leads.
  MonotonicTime nextBeginQuorum;
  std::set<NodeId> toTell;
  bool resignRequested = false;
};

struct Follower {
  NodeId leader;
  std::vector<VoterEndpoint> leaderEndpoints;
  std::optional<ReplicaKey> voted;
  MonotonicTime fetchDeadline;
  /// The leader has answered a fetch of ours in this epoch: it lives, so pre-votes are refused. Cleared when it says
  /// that it ends its epoch.
  bool heardFromLeader = false;
  /// The snapshot that is being fetched, and how much of it is here.
  std::optional<OffsetAndEpoch> snapshot;
  int64_t snapshotPosition = 0;
};

/// Led this epoch and does no longer; tells the voters so until they have answered or the next epoch begins.
struct Resigned {
  std::set<NodeId> unacknowledged;
  std::vector<ReplicaKey> preferredCandidates;
  MonotonicTime electionDeadline;
};

using Role = std::variant<Unattached, Prospective, Candidate, Leader, Follower, Resigned>;

/// The largest offset that more than half of the voters have reached; none if a majority has not reported. Pure.
std::optional<Offset> majorityOffset(std::vector<std::optional<Offset>> endOffsets);

}  // namespace tidemark::raft
