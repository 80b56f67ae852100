// What others answered.

#include <utility>

#include "base/invariant.h"
#include "raft/state_machine.h"

namespace tidemark::raft {

std::vector<VoterEndpoint> StateMachine::endpointsOf(NodeId leader, std::vector<VoterEndpoint> told) const {
  if (!told.empty()) return told;
  const Voter* voter = voters_.find(leader);
  return voter == nullptr ? std::vector<VoterEndpoint>{} : voter->endpoints;
}

bool StateMachine::learn(const Moment& at, LeaderAndEpoch leader, std::vector<VoterEndpoint> endpoints, bool fromLeader,
                         Effects& effects) {
  if (leader.epoch < epoch_) return true;
  // Nobody but oneself knows of one's own leadership. (A higher epoch that says so was led by a node with this id that
  // has lost its memory; taking part in it could elect two leaders.)
  if (leader.leader == identity_.self.id) return leader.epoch == epoch_ && isLeader();
  if (leader.epoch > epoch_) {
    if (leader.hasLeader() && !endpoints.empty())
      becomeFollower(at, leader.epoch, leader.leader, std::move(endpoints), effects);
    else
      becomeUnattached(at, leader.epoch, leader.leader, effects);
    return true;
  }
  if (!leader.hasLeader()) return true;
  if (election_.leader != kNoNode && election_.leader != leader.leader) return false;
  if (endpoints.empty()) return true;
  switch (roleName()) {
    case RoleName::Prospective:
      // Others may well believe in a leader that is gone: what counts is whether they would vote.
      if (election_.leader != kNoNode && !fromLeader) return true;
      break;
    case RoleName::Follower:
      if (std::get<Follower>(role_).leaderEndpoints.size() >= endpoints.size()) return true;
      break;
    default:
      break;
  }
  becomeFollower(at, leader.epoch, leader.leader, std::move(endpoints), effects);
  return true;
}

template <class Answer>
std::optional<bool> StateMachine::handleCommon(const Moment& at, const Answer& answer, Effects& effects) {
  if (answer.topError != ErrorCode::None) return false;
  const ErrorCode error = answer.error;
  const LeaderAndEpoch leader = answer.leader;
  if (leader.epoch < epoch_ || error == ErrorCode::UnknownLeaderEpoch) return true;
  if (error == ErrorCode::BrokerNotAvailable || error == ErrorCode::InvalidRequest) return false;
  const bool known = election_.leader != kNoNode;
  const bool worthLearning = leader.epoch > epoch_ || error == ErrorCode::FencedLeaderEpoch ||
                             error == ErrorCode::NotLeaderOrFollower || (leader.hasLeader() && !known) ||
                             std::holds_alternative<Unattached>(role_);
  const LeaderEpoch before = epoch_;
  if (worthLearning && !learn(at, leader, endpointsOf(leader.leader, answer.leaderEndpoints), false, effects))
    return false;
  if (epoch_ != before) return true;
  if (error == ErrorCode::FencedLeaderEpoch || error == ErrorCode::NotLeaderOrFollower) return true;
  return std::nullopt;
}

void StateMachine::onResponse(const Moment& at, NodeId from, uint64_t correlation, const Result<Response>& response,
                              Effects& effects) {
  const auto peer = peers_.find(from);
  if (peer == peers_.end() || peer->second.inFlight != correlation) return;
  peer->second.inFlight.reset();
  bool good = false;
  if (response) {
    good = std::visit([&](const auto& answer) { return handle(at, from, answer, effects); }, *response);
  } else if (response.error().code == ErrorCode::UnsupportedVersion && std::holds_alternative<Prospective>(role_)) {
    // A voter from before pre-votes would let the election happen.
    recordVote(at, from, true, effects);
    good = true;
  }
  if (good) {
    if (const auto again = peers_.find(from); again != peers_.end()) again->second.failures = 0;
  } else {
    onFailure(at, from);
  }
}

void StateMachine::recordVote(const Moment& at, NodeId from, bool granted, Effects& effects) {
  if (auto* candidate = std::get_if<Candidate>(&role_)) {
    candidate->ballot.record(from, granted);
    if (candidate->ballot.isWon()) becomeLeader(at, effects);
  } else if (auto* prospective = std::get_if<Prospective>(&role_)) {
    prospective->ballot.record(from, granted);
    if (prospective->ballot.isWon() && !shuttingDown_) becomeCandidate(at, effects);
  }
}

bool StateMachine::handle(const Moment& at, NodeId from, const VoteResponse& answer, Effects& effects) {
  const uint64_t before = transitions_;
  if (const auto done = handleCommon(at, answer, effects)) return *done;
  if (answer.error != ErrorCode::None) return false;
  if (transitions_ == before) recordVote(at, from, answer.granted, effects);
  return true;
}

bool StateMachine::handle(const Moment& at, NodeId from, const BeginQuorumEpochResponse& answer, Effects& effects) {
  if (const auto done = handleCommon(at, answer, effects)) return *done;
  if (answer.error != ErrorCode::None) return false;
  if (auto* leader = std::get_if<Leader>(&role_)) {
    if (const auto voter = leader->voters.find(from); voter != leader->voters.end()) voter->second.acknowledged = true;
    leader->toTell.erase(from);
  }
  return true;
}

bool StateMachine::handle(const Moment& at, NodeId from, const EndQuorumEpochResponse& answer, Effects& effects) {
  if (const auto done = handleCommon(at, answer, effects)) return *done;
  if (answer.error != ErrorCode::None) return false;
  if (auto* resigned = std::get_if<Resigned>(&role_)) resigned->unacknowledged.erase(from);
  return true;
}

bool StateMachine::handle(const Moment& at, NodeId from, const FetchResponse& answer, Effects& effects) {
  // Whoever looks for a leader asks again later if this one could not name one.
  if (const auto done = handleCommon(at, answer, effects))
    return *done && std::holds_alternative<Follower>(role_) && answer.error == ErrorCode::None;
  auto* follower = std::get_if<Follower>(&role_);
  if (follower == nullptr || answer.error != ErrorCode::None) return false;
  follower->fetchDeadline = at.now + config_.fetchTimeout;
  follower->heardFromLeader = true;
  // An observer that looks for its leader may ask it under two names: what the slower answer says is over.
  if (const auto peer = peers_.find(from); peer != peers_.end() && peer->second.fetchedFrom != log_.endOffset())
    return true;
  if (answer.diverging) {
    const Offset cut = truncationOffset(log_, *answer.diverging);
    TIDEMARK_INVARIANT(!highWatermark_ || cut >= *highWatermark_,
                       fmt::format("K5: the leader {} of epoch {} asks to truncate to {}, below the high watermark {}",
                                   follower->leader, epoch_, cut, *highWatermark_));
    effects.push_back(TruncateLog{cut});
  } else if (answer.snapshotId) {
    if (answer.snapshotId->epoch.value() < 0 || answer.snapshotId->offset.value() < 0) return false;
    follower->snapshot = answer.snapshotId;
    follower->snapshotPosition = 0;
    effects.push_back(StartSnapshot{*answer.snapshotId});
  } else {
    effects.push_back(AppendFetched{answer.records, answer.highWatermark});
  }
  return true;
}

bool StateMachine::handle(const Moment& at, NodeId from, const FetchSnapshotResponse& answer, Effects& effects) {
  (void)from;
  if (const auto done = handleCommon(at, answer, effects)) return *done;
  auto* follower = std::get_if<Follower>(&role_);
  if (follower == nullptr || !follower->snapshot) return false;
  const bool fits = answer.error == ErrorCode::None && answer.snapshotId == *follower->snapshot &&
                    answer.position == follower->snapshotPosition &&
                    (!answer.bytes.empty() || answer.size == answer.position);
  follower->fetchDeadline = at.now + config_.fetchTimeout;
  if (!fits) {
    // It is gone, or the leader serves another: ask with a fetch again.
    follower->snapshot.reset();
    effects.push_back(DropSnapshot{});
    return answer.error == ErrorCode::SnapshotNotFound || answer.error == ErrorCode::PositionOutOfRange;
  }
  follower->heardFromLeader = true;
  follower->snapshotPosition += static_cast<int64_t>(answer.bytes.size());
  effects.push_back(AppendSnapshot{answer.bytes});
  if (follower->snapshotPosition >= answer.size) effects.push_back(FinishSnapshot{*follower->snapshot});
  return true;
}

void StateMachine::onFetched(const Moment& at, Offset leaderHighWatermark, Effects& effects) {
  (void)at;
  if (!std::holds_alternative<Follower>(role_) || leaderHighWatermark < Offset(0)) return;
  raiseHighWatermark(std::min(leaderHighWatermark, log_.endOffset()), effects);
}

void StateMachine::onSnapshotInstalled(const Moment& at, OffsetAndEpoch id, Effects& effects) {
  (void)at;
  onSnapshotFailed();
  TIDEMARK_INVARIANT(!isLeader(), std::string("K7: a leader loads a snapshot"));
  if (id.offset <= log_.endOffset()) raiseHighWatermark(id.offset, effects);
}

void StateMachine::onSnapshotFailed() {
  if (auto* follower = std::get_if<Follower>(&role_)) {
    follower->snapshot.reset();
    follower->snapshotPosition = 0;
  }
}

}  // namespace tidemark::raft
