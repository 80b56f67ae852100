#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "raft/config.h"
#include "raft/effects.h"
#include "raft/messages.h"
#include "raft/raft_log.h"
#include "raft/roles.h"
#include "raft/types.h"

namespace tidemark::raft {

/// When an input comes: the clocks, and a random number drawn for it.
struct Moment {
  MonotonicTime now;
  int64_t wallMs = 0;
  uint64_t random = 0;
};

/// Rules that a test may switch off to see its checkers go red. All on otherwise.
struct Rules {
  bool voteOncePerEpoch = true;
  bool candidateLogUpToDate = true;
  bool commitOnlyOwnEpoch = true;
  bool askBeforeElection = true;
};

/// KRaft without I/O: requests, answers, time and facts of the log go in, effects and answers come out. Same inputs,
/// same outputs. One thread. See README.md for how it is driven, and the table below for what it may become.
///
/// Voters:
///   Unattached  → Unattached   a higher epoch, or a vote given
///               → Prospective  election timeout
///               → Follower     a leader of this or a higher epoch
///   Prospective → Unattached   a higher epoch, or the round is lost and no leader was known
///               → Candidate    a majority would vote for it
///               → Follower     a leader of this or a higher epoch, or the round is lost and a leader was known
///   Candidate   → Unattached   a higher epoch
///               → Prospective  election timeout, or election lost and its back-off over
///               → Leader       a majority of votes
///               → Follower     a leader of this or a higher epoch
///   Leader      → Unattached   a higher epoch
///               → Follower     a leader of a higher epoch
///               → Resigned     shutdown, its own wish, or no majority fetches any more
///   Follower    → Unattached   a higher epoch
///               → Prospective  fetch timeout
///               → Follower     a leader of a higher epoch
///   Resigned    → Unattached   a higher epoch, or election timeout: into the next epoch, since this one has had its
///   leader
///               → Follower     a leader of a higher epoch
/// Observers know only Unattached (until they find a leader) and Follower. A voter alone skips Prospective.
///
/// A node starts as what quorum-state says: its own leadership → Resigned; its vote for itself → Candidate of the same
/// epoch; another leader → Follower (Unattached if its address is not known); else Unattached.
class StateMachine {
 public:
  struct Identity {
    ReplicaKey self;
    std::string clusterId;
    /// The listener of other voters that is used.
    std::string listener;
    /// This node's own, for those who follow it.
    std::vector<VoterEndpoint> endpoints;
  };

  StateMachine(Identity identity, RaftConfig config, const LogView& log, Rules rules = {});

  /// The voters by the latest records of the log, committed or not; before start() and whenever they change.
  void setVoters(const Moment& at, VoterSet voters, Effects& effects);
  void start(const Moment& at, const std::optional<ElectionState>& stored, Effects& effects);

  // Requests of others. The answer may be sent once the effects are done.
  VoteResponse onVote(const Moment& at, const VoteRequest& request, Effects& effects);
  BeginQuorumEpochResponse onBeginQuorumEpoch(const Moment& at, const BeginQuorumEpochRequest& request,
                                              Effects& effects);
  EndQuorumEpochResponse onEndQuorumEpoch(const Moment& at, const EndQuorumEpochRequest& request, Effects& effects);

  struct FetchVerdict {
    /// All but the records.
    FetchResponse answer;
    /// The records from the fetch offset on belong into it.
    bool read = false;
    /// If there are none, the answer has nothing to tell yet: it may wait until the log grows, the high watermark moves
    /// or the role changes, and then the request is judged anew.
    bool mayWait = false;
  };
  FetchVerdict onFetch(const Moment& at, const FetchRequest& request, Effects& effects);
  /// The answer without bytes; they belong into it if it has no error.
  FetchSnapshotResponse onFetchSnapshot(const Moment& at, const FetchSnapshotRequest& request, Effects& effects);

  /// The outcome of a Send. Late ones, of a request that no longer matters, are ignored.
  void onResponse(const Moment& at, NodeId from, uint64_t correlation, const Result<Response>& response,
                  Effects& effects);

  // What became of effects that change the log.
  /// A leader's log grew and is synced.
  void onLogSynced(const Moment& at, Effects& effects);
  void onFetched(const Moment& at, Offset leaderHighWatermark, Effects& effects);
  void onSnapshotInstalled(const Moment& at, OffsetAndEpoch id, Effects& effects);
  /// It could not be received or written; fetch anew.
  void onSnapshotFailed();

  /// Looks at the clock: sends what is due, ends what has taken too long. To be called after every other input, once
  /// the messages that wait have been handled, and at nextDeadline().
  void poll(const Moment& at, Effects& effects);
  MonotonicTime nextDeadline() const noexcept { return nextDeadline_; }

  /// Give up leading `epoch`; nothing if it does not lead it.
  void resign(LeaderEpoch epoch);
  /// From now on take no new role; a leader resigns.
  void beginShutdown() { shuttingDown_ = true; }
  /// Whether nobody waits for this node any more.
  bool isShutdownComplete() const noexcept;

  // What it is.
  const Role& role() const noexcept { return role_; }
  RoleName roleName() const noexcept { return static_cast<RoleName>(role_.index()); }
  LeaderEpoch epoch() const noexcept { return epoch_; }
  LeaderAndEpoch leaderAndEpoch() const noexcept;
  bool isLeader() const noexcept { return std::holds_alternative<Leader>(role_); }
  bool isVoter() const noexcept { return voters_.isVoter(identity_.self); }
  bool isOnlyVoter() const noexcept { return voters_.size() == 1 && isVoter(); }
  /// Only rises while the node runs.
  std::optional<Offset> highWatermark() const noexcept { return highWatermark_; }
  const VoterSet& voters() const noexcept { return voters_; }
  const ElectionState& election() const noexcept { return election_; }
  const Identity& identity() const noexcept { return identity_; }
  const LogView& log() const noexcept { return log_; }
  std::vector<VoterEndpoint> leaderEndpoints() const;
  QuorumDescription describe(int64_t wallMs) const;
  /// Elections that ended without a winner, of those this node stood in.
  uint64_t lostElections() const noexcept { return lostElections_; }

 private:
  /// One request at a time goes to each peer.
  struct Peer {
    std::optional<uint64_t> inFlight;
    MonotonicTime sentAt;
    /// Where the fetch began that was sent last.
    Offset fetchedFrom = kNoOffset;
    MonotonicTime backoffUntil;
    /// In a row.
    int failures = 0;
  };

  // Transitions (transitions.cpp): each checks that it is legal, persists, then announces.
  void becomeUnattached(const Moment& at, LeaderEpoch epoch, NodeId leader, Effects& effects);
  void becomeProspective(const Moment& at, Effects& effects);
  void becomeCandidate(const Moment& at, Effects& effects);
  void becomeLeader(const Moment& at, Effects& effects);
  void becomeFollower(const Moment& at, LeaderEpoch epoch, NodeId leader, std::vector<VoterEndpoint> endpoints,
                      Effects& effects);
  void becomeResigned(const Moment& at, Effects& effects);
  void vote(const Moment& at, const ReplicaKey& candidate, Effects& effects);
  void standForElection(const Moment& at, Effects& effects);
  void checkLegal(RoleName to, LeaderEpoch epoch) const;
  void persist(ElectionState state, Effects& effects);
  void enter(Role role, Effects& effects);

  // Requests and answers.
  bool isClusterIdValid(const std::string& clusterId) const {
    return clusterId.empty() || clusterId == identity_.clusterId;
  }
  bool canGrantVote(const ReplicaKey& candidate, bool logUpToDate, bool preVote) const;
  ErrorCode checkVoterOnly(NodeId from, LeaderEpoch epoch) const;
  ErrorCode checkLeaderOnly(LeaderEpoch epoch) const;
  template <class Answer>
  Answer answer(ErrorCode error) const;
  /// Learns of a leader and an epoch. False if that contradicts what is known: the message is then not to be trusted.
  /// `fromLeader`: the leader itself says so.
  bool learn(const Moment& at, LeaderAndEpoch leader, std::vector<VoterEndpoint> endpoints, bool fromLeader,
             Effects& effects);
  std::vector<VoterEndpoint> endpointsOf(NodeId leader, std::vector<VoterEndpoint> told) const;
  /// Nothing: go on with the answer. Otherwise whether the peer did its part.
  template <class Answer>
  std::optional<bool> handleCommon(const Moment& at, const Answer& answer, Effects& effects);
  bool handle(const Moment& at, NodeId from, const VoteResponse& answer, Effects& effects);
  bool handle(const Moment& at, NodeId from, const BeginQuorumEpochResponse& answer, Effects& effects);
  bool handle(const Moment& at, NodeId from, const EndQuorumEpochResponse& answer, Effects& effects);
  bool handle(const Moment& at, NodeId from, const FetchResponse& answer, Effects& effects);
  bool handle(const Moment& at, NodeId from, const FetchSnapshotResponse& answer, Effects& effects);
  void recordVote(const Moment& at, NodeId from, bool granted, Effects& effects);

  // Leader.
  void updateReplica(const Moment& at, const ReplicaKey& replica, Offset fetchOffset, Effects& effects);
  void countForCheckQuorum(const Moment& at, const ReplicaKey& replica);
  void updateLeaderHighWatermark(Effects& effects);
  void raiseHighWatermark(Offset offset, Effects& effects);

  // Time.
  MonotonicTime electionDeadline(const Moment& at) const;
  Duration electionBackoff(const Moment& at) const;
  void pollRole(const Moment& at, Unattached& role, Effects& effects);
  void pollRole(const Moment& at, Prospective& role, Effects& effects);
  void pollRole(const Moment& at, Candidate& role, Effects& effects);
  void pollRole(const Moment& at, Leader& role, Effects& effects);
  void pollRole(const Moment& at, Follower& role, Effects& effects);
  void pollRole(const Moment& at, Resigned& role, Effects& effects);
  void wakeAt(MonotonicTime time) { nextDeadline_ = std::min(nextDeadline_, time); }
  /// Sends unless a request to `to` is under way or it is backing off. Whether it did.
  bool trySend(const Moment& at, NodeId to, const platform::Endpoint& endpoint, Effects& effects,
               const std::function<Request()>& request);
  bool trySendToVoter(const Moment& at, NodeId to, Effects& effects, const std::function<Request()>& request);
  void sendVotes(const Moment& at, const std::set<NodeId>& to, bool preVote, Effects& effects);
  void sendDiscoveryFetch(const Moment& at, Effects& effects);
  FetchRequest fetchRequest() const;
  void onFailure(const Moment& at, NodeId from);

  const Identity identity_;
  const RaftConfig config_;
  const LogView& log_;
  const Rules rules_;

  /// Only rises (K3); equals election_.epoch.
  LeaderEpoch epoch_{0};
  Role role_;
  /// What quorum-state holds once the effects so far are done.
  ElectionState election_;
  VoterSet voters_;
  std::optional<Offset> highWatermark_;
  bool shuttingDown_ = false;
  bool started_ = false;
  /// Elections lost in a row; sets the back-off.
  int retries_ = 0;
  uint64_t lostElections_ = 0;
  uint64_t nextCorrelation_ = 1;
  /// Counts transitions, so that poll() sees that the role it looked at is gone.
  uint64_t transitions_ = 0;
  std::map<NodeId, Peer> peers_;
  MonotonicTime nextDeadline_ = MonotonicTime::max();
};

}  // namespace tidemark::raft
