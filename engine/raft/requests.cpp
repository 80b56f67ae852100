// What others ask of this node.

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/mutation.h"
#include "raft/state_machine.h"

namespace tidemark::raft {
namespace {

/// An observer that has not fetched for this long is no longer listed (Kafka's
/// LeaderState.OBSERVER_SESSION_TIMEOUT_MS).
constexpr Duration kObserverSession = std::chrono::minutes(5);
/// Most observers a leader keeps track of; beyond it the one that fetched longest ago is forgotten.
constexpr size_t kMaxObservers = 1000;

bool isUpToDate(OffsetAndEpoch candidate, OffsetAndEpoch own) {
  return candidate.epoch != own.epoch ? candidate.epoch > own.epoch : candidate.offset >= own.offset;
}

}  // namespace

LeaderAndEpoch StateMachine::leaderAndEpoch() const noexcept {
  NodeId leader;
  if (const auto* unattached = std::get_if<Unattached>(&role_)) leader = unattached->leader;
  if (const auto* prospective = std::get_if<Prospective>(&role_)) leader = prospective->leader;
  if (const auto* follower = std::get_if<Follower>(&role_)) leader = follower->leader;
  if (isLeader()) leader = identity_.self.id;
  // A node that has resigned names nobody, although its epoch can have no other leader.
  if (leader == identity_.self.id && !isLeader()) leader = kNoNode;
  return {leader, epoch_};
}

std::vector<VoterEndpoint> StateMachine::leaderEndpoints() const {
  if (isLeader()) return identity_.endpoints;
  if (const auto* follower = std::get_if<Follower>(&role_)) return follower->leaderEndpoints;
  if (const auto* prospective = std::get_if<Prospective>(&role_)) return prospective->leaderEndpoints;
  return {};
}

template <class Answer>
Answer StateMachine::answer(ErrorCode error) const {
  Answer result;
  result.error = error;
  result.leader = leaderAndEpoch();
  result.leaderEndpoints = leaderEndpoints();
  return result;
}

template <class Answer>
static Answer topLevel(ErrorCode error) {
  Answer result;
  result.topError = error;
  return result;
}

ErrorCode StateMachine::checkVoterOnly(NodeId from, LeaderEpoch epoch) const {
  if (epoch < epoch_) return ErrorCode::FencedLeaderEpoch;
  if (from.value() < 0) return ErrorCode::InvalidRequest;
  return ErrorCode::None;
}

ErrorCode StateMachine::checkLeaderOnly(LeaderEpoch epoch) const {
  if (epoch < epoch_) return ErrorCode::FencedLeaderEpoch;
  if (epoch > epoch_) return ErrorCode::UnknownLeaderEpoch;
  if (!isLeader()) return ErrorCode::NotLeaderOrFollower;
  if (shuttingDown_) return ErrorCode::BrokerNotAvailable;
  return ErrorCode::None;
}

bool StateMachine::canGrantVote(const ReplicaKey& candidate, bool logUpToDate, bool preVote) const {
  if (!rules_.candidateLogUpToDate) logUpToDate = true;
  if (isLeader()) return false;
  if (const auto* follower = std::get_if<Follower>(&role_)) return preVote && logUpToDate && !follower->heardFromLeader;
  if (preVote) return logUpToDate;
  if (!rules_.voteOncePerEpoch) return logUpToDate && election_.leader == kNoNode;
  if (std::holds_alternative<Candidate>(role_) || std::holds_alternative<Resigned>(role_)) return false;
  if (election_.voted) return election_.voted->matches(candidate);
  if (election_.leader != kNoNode) return false;
  return logUpToDate;
}

VoteResponse StateMachine::onVote(const Moment& at, const VoteRequest& request, Effects& effects) {
  if (!isClusterIdValid(request.clusterId)) return topLevel<VoteResponse>(ErrorCode::InconsistentClusterId);
  const bool epochPossible = request.preVote ? request.lastEpoch <= request.epoch : request.lastEpoch < request.epoch;
  if (request.lastOffset < Offset(0) || request.lastEpoch < LeaderEpoch(0) || !epochPossible)
    return answer<VoteResponse>(ErrorCode::InvalidRequest);
  if (const ErrorCode error = checkVoterOnly(request.candidate.id, request.epoch); error != ErrorCode::None)
    return answer<VoteResponse>(error);
  if (request.epoch > epoch_) becomeUnattached(at, request.epoch, kNoNode, effects);
  if (request.voter.exists() && !request.voter.matches(identity_.self))
    return answer<VoteResponse>(ErrorCode::InvalidVoterKey);

  const bool logUpToDate = isUpToDate({request.lastOffset, request.lastEpoch}, log_.end());
  const bool granted = canGrantVote(request.candidate, logUpToDate, request.preVote);
  if (granted && !request.preVote && election_.voted != request.candidate) {
    const bool directoryOnly = election_.voted && election_.voted->matches(request.candidate);
    if (!directoryOnly) vote(at, request.candidate, effects);
  }
  auto result = answer<VoteResponse>(ErrorCode::None);
  result.granted = granted;
  return result;
}

BeginQuorumEpochResponse StateMachine::onBeginQuorumEpoch(const Moment& at, const BeginQuorumEpochRequest& request,
                                                          Effects& effects) {
  using Answer = BeginQuorumEpochResponse;
  if (!isClusterIdValid(request.clusterId)) return topLevel<Answer>(ErrorCode::InconsistentClusterId);
  if (const ErrorCode error = checkVoterOnly(request.leader.leader, request.leader.epoch); error != ErrorCode::None)
    return answer<Answer>(error);
  if (!learn(at, request.leader, endpointsOf(request.leader.leader, request.leaderEndpoints), true, effects))
    return answer<Answer>(ErrorCode::InvalidRequest);
  if (request.voter.exists() && !request.voter.matches(identity_.self))
    return answer<Answer>(ErrorCode::InvalidVoterKey);
  return answer<Answer>(ErrorCode::None);
}

EndQuorumEpochResponse StateMachine::onEndQuorumEpoch(const Moment& at, const EndQuorumEpochRequest& request,
                                                      Effects& effects) {
  using Answer = EndQuorumEpochResponse;
  if (!isClusterIdValid(request.clusterId)) return topLevel<Answer>(ErrorCode::InconsistentClusterId);
  if (const ErrorCode error = checkVoterOnly(request.leader.leader, request.leader.epoch); error != ErrorCode::None)
    return answer<Answer>(error);
  if (!learn(at, request.leader, endpointsOf(request.leader.leader, request.leaderEndpoints), true, effects))
    return answer<Answer>(ErrorCode::InvalidRequest);
  auto* follower = std::get_if<Follower>(&role_);
  if (follower != nullptr && follower->leader == request.leader.leader && isVoter()) {
    // The voter with the longest log goes first; each further one waits twice as long as the one before.
    const auto& candidates = request.preferredCandidates;
    const auto own = std::ranges::find_if(candidates, [this](const auto& key) { return key.matches(identity_.self); });
    const auto position = own - candidates.begin();
    Duration wait{0};
    if (own == candidates.end()) {
      wait = config_.electionBackoffMax;
    } else if (position > 0) {
      const Duration base = config_.electionBackoffMax / (int64_t{1} << std::min<size_t>(candidates.size() - 1, 30));
      wait = std::min(config_.electionBackoffMax, base * (int64_t{1} << std::min<int64_t>(position - 1, 30)));
    }
    follower->fetchDeadline = at.now + wait;
    follower->heardFromLeader = false;
  }
  return answer<Answer>(ErrorCode::None);
}

StateMachine::FetchVerdict StateMachine::onFetch(const Moment& at, const FetchRequest& request, Effects& effects) {
  FetchVerdict verdict;
  auto fail = [&](ErrorCode error) {
    verdict.answer = answer<FetchResponse>(error);
    verdict.answer.logStartOffset = log_.startOffset();
    return verdict;
  };
  if (!isClusterIdValid(request.clusterId)) {
    verdict.answer.topError = ErrorCode::InconsistentClusterId;
    return verdict;
  }
  if (request.fetchOffset < Offset(0) || request.lastFetchedEpoch < LeaderEpoch(0) ||
      request.currentLeaderEpoch < LeaderEpoch(0) || request.replica.id == identity_.self.id)
    return fail(ErrorCode::InvalidRequest);
  if (const ErrorCode error = checkLeaderOnly(request.currentLeaderEpoch); error != ErrorCode::None) return fail(error);

  FetchPosition position;
  const auto latest = log_.latestSnapshotId();
  if (request.fetchOffset == Offset(0) && latest && *latest != kBootstrapSnapshotId)
    position = {FetchPosition::Kind::Snapshot, *latest};  // shorter than the log before it
  else
    position = validateFetchPosition(log_, request.fetchOffset, request.lastFetchedEpoch);

  countForCheckQuorum(at, request.replica);
  if (position.kind == FetchPosition::Kind::Valid) updateReplica(at, request.replica, request.fetchOffset, effects);

  const Leader& leader = std::get<Leader>(role_);
  verdict.answer = answer<FetchResponse>(ErrorCode::None);
  verdict.answer.logStartOffset = log_.startOffset();
  verdict.answer.highWatermark = leader.highWatermark.value_or(kNoOffset);
  switch (position.kind) {
    case FetchPosition::Kind::Diverging:
      verdict.answer.diverging = position.at;
      break;
    case FetchPosition::Kind::Snapshot:
      verdict.answer.snapshotId = position.at;
      break;
    case FetchPosition::Kind::Valid:
      verdict.read = true;
      verdict.mayWait = request.maxWait > Duration(0) && request.highWatermark >= verdict.answer.highWatermark;
      break;
  }
  return verdict;
}

FetchSnapshotResponse StateMachine::onFetchSnapshot(const Moment& at, const FetchSnapshotRequest& request,
                                                    Effects& effects) {
  (void)effects;
  if (!isClusterIdValid(request.clusterId)) return topLevel<FetchSnapshotResponse>(ErrorCode::InconsistentClusterId);
  const ErrorCode error = checkLeaderOnly(request.currentLeaderEpoch);
  auto result = answer<FetchSnapshotResponse>(error);
  result.snapshotId = request.snapshotId;
  result.position = request.position;
  if (error == ErrorCode::None) countForCheckQuorum(at, request.replica);
  return result;
}

void StateMachine::countForCheckQuorum(const Moment& at, const ReplicaKey& replica) {
  auto& leader = std::get<Leader>(role_);
  if (!voters_.isVoter(replica)) return;
  leader.fetchedSince.insert(replica.id);
  if (const auto voter = leader.voters.find(replica.id); voter != leader.voters.end()) voter->second.lastFetch = at.now;
  leader.toTell.erase(replica.id);
  const size_t others = voters_.majority() - (isVoter() ? 1 : 0);
  if (leader.fetchedSince.size() < others) return;
  leader.fetchedSince.clear();
  leader.checkQuorumDeadline = at.now + config_.checkQuorumTimeout();
}

void StateMachine::updateReplica(const Moment& at, const ReplicaKey& replica, Offset fetchOffset, Effects& effects) {
  auto& leader = std::get<Leader>(role_);
  if (!replica.exists()) return;
  ReplicaProgress* progress = nullptr;
  if (voters_.isVoter(replica)) {
    progress = &leader.voters[replica.id];
  } else {
    std::erase_if(leader.observers, [&](const auto& entry) {
      return entry.second.lastFetch && *entry.second.lastFetch + kObserverSession < at.now;
    });
    if (leader.observers.size() >= kMaxObservers && !leader.observers.contains(replica))
      leader.observers.erase(
          std::ranges::min_element(leader.observers, {}, [](const auto& entry) { return entry.second.lastFetch; }));
    progress = &leader.observers[replica];
  }
  const Offset end = log_.endOffset();
  if (fetchOffset >= end)
    progress->lastCaughtUpTimestampMs = std::max(progress->lastCaughtUpTimestampMs, at.wallMs);
  else if (progress->leaderEndAtLastFetch > Offset(0) && fetchOffset >= progress->leaderEndAtLastFetch)
    progress->lastCaughtUpTimestampMs = std::max(progress->lastCaughtUpTimestampMs, progress->lastFetchTimestampMs);
  progress->leaderEndAtLastFetch = end;
  progress->lastFetchTimestampMs = std::max(progress->lastFetchTimestampMs, at.wallMs);
  progress->key = replica;
  progress->lastFetch = at.now;
  progress->acknowledged = true;
  progress->endOffset = fetchOffset;
  updateLeaderHighWatermark(effects);
}

void StateMachine::updateLeaderHighWatermark(Effects& effects) {
  auto& leader = std::get<Leader>(role_);
  std::vector<std::optional<Offset>> ends;
  for (const Voter& voter : voters_.all()) {
    if (voter.key.id == identity_.self.id) {
      ends.emplace_back(log_.syncedEndOffset());
    } else {
      const auto progress = leader.voters.find(voter.key.id);
      ends.push_back(progress == leader.voters.end() ? std::nullopt : progress->second.endOffset);
    }
  }
  const std::optional<Offset> candidate =
      isMutated(Mutation::QuorumCommitsAlone) ? log_.endOffset() : majorityOffset(std::move(ends));
  // An entry of an earlier epoch is committed only together with one of this epoch (Raft §5.4.2).
  if (!candidate || (*candidate <= leader.epochStart && rules_.commitOnlyOwnEpoch)) return;
  const Offset reached = std::min(*candidate, log_.endOffset());
  if (leader.highWatermark && reached <= *leader.highWatermark) return;
  leader.highWatermark = reached;
  raiseHighWatermark(reached, effects);
}

void StateMachine::raiseHighWatermark(Offset offset, Effects& effects) {
  if (highWatermark_ && offset <= *highWatermark_) return;
  TIDEMARK_INVARIANT(offset <= log_.endOffset(),
                     fmt::format("high watermark {} above the log end {}", offset, log_.endOffset()));
  highWatermark_ = offset;
  effects.push_back(HighWatermarkAdvanced{offset});
}

void StateMachine::onLogSynced(const Moment& at, Effects& effects) {
  (void)at;
  if (isLeader()) updateLeaderHighWatermark(effects);
}

void StateMachine::resign(LeaderEpoch epoch) {
  if (auto* leader = std::get_if<Leader>(&role_); leader != nullptr && epoch == epoch_) leader->resignRequested = true;
}

bool StateMachine::isShutdownComplete() const noexcept {
  if (!isVoter() || isOnlyVoter()) return true;
  const auto* follower = std::get_if<Follower>(&role_);
  return follower != nullptr;
}

QuorumDescription StateMachine::describe(int64_t wallMs) const {
  QuorumDescription result;
  result.role = roleName();
  result.leader = leaderAndEpoch();
  result.highWatermark = highWatermark_.value_or(kNoOffset);
  result.logEndOffset = log_.endOffset();
  result.logStartOffset = log_.startOffset();
  result.voted = election_.voted;
  result.voterSet = voters_;
  const auto* leader = std::get_if<Leader>(&role_);
  if (leader == nullptr) return result;
  auto add = [](std::vector<ReplicaDescription>& to, const ReplicaProgress& progress) {
    to.push_back({progress.key, progress.endOffset.value_or(kNoOffset), progress.lastFetchTimestampMs,
                  progress.lastCaughtUpTimestampMs});
  };
  result.highWatermark = leader->highWatermark.value_or(kNoOffset);
  for (const Voter& voter : voters_.all()) {
    if (voter.key.id == identity_.self.id) {
      result.voters.push_back({voter.key, log_.endOffset(), wallMs, wallMs});
    } else if (const auto at = leader->voters.find(voter.key.id); at != leader->voters.end()) {
      add(result.voters, at->second);
    }
  }
  for (const auto& [key, progress] : leader->observers) add(result.observers, progress);
  return result;
}

}  // namespace tidemark::raft
