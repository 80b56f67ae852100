// From one role to another: each transition checks that the table in state_machine.h has it, persists what must not be
// forgotten, and then announces the new role.

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/mutation.h"
#include "raft/state_machine.h"

namespace tidemark::raft {

namespace {

Rules afterMutation(Rules rules) {
  if (isMutated(Mutation::VoteTwice)) rules.voteOncePerEpoch = false;
  if (isMutated(Mutation::CandidateLogUnchecked)) rules.candidateLogUpToDate = false;
  return rules;
}

}  // namespace

StateMachine::StateMachine(Identity identity, RaftConfig config, const LogView& log, Rules rules)
    : identity_(std::move(identity)), config_(std::move(config)), log_(log), rules_(afterMutation(rules)) {}

void StateMachine::start(const Moment& at, const std::optional<ElectionState>& stored, Effects& effects) {
  TIDEMARK_INVARIANT(!started_, std::string("the state machine is started twice"));
  started_ = true;
  election_ = stored.value_or(ElectionState{});
  if (election_.epoch < log_.lastEpoch()) persist({log_.lastEpoch(), {}, {}}, effects);
  epoch_ = election_.epoch;

  const NodeId self = identity_.self.id;
  Unattached unattached{election_.voted, election_.leader, electionDeadline(at), at.now};
  if (isVoter() && election_.leader == self) {
    Resigned resigned{{}, {}, electionDeadline(at)};
    for (const Voter& voter : voters_.all())
      if (voter.key.id != self) resigned.unacknowledged.insert(voter.key.id);
    enter(std::move(resigned), effects);
  } else if (isVoter() && election_.leader == kNoNode && election_.voted && election_.voted->matches(identity_.self)) {
    enter(Candidate{Ballot(voters_, self), electionDeadline(at), std::nullopt}, effects);
    if (std::get<Candidate>(role_).ballot.isWon()) becomeLeader(at, effects);
  } else if (election_.leader != kNoNode && election_.leader != self && !endpointsOf(election_.leader, {}).empty()) {
    enter(Follower{election_.leader, endpointsOf(election_.leader, {}), election_.voted, at.now + config_.fetchTimeout,
                   false, std::nullopt, 0},
          effects);
  } else {
    const bool first = config_.lowestVoterStartsAtOnce && epoch_ == LeaderEpoch(0) && log_.endOffset() == Offset(0) &&
                       isVoter() && voters_.all().front().key.id == self;
    if (first) unattached.electionDeadline = at.now;
    if (!isVoter()) unattached.electionDeadline = MonotonicTime::max();
    enter(unattached, effects);
  }
  if (isOnlyVoter() && !isLeader()) becomeCandidate(at, effects);
}

void StateMachine::setVoters(const Moment& at, VoterSet voters, Effects& effects) {
  if (voters == voters_) return;
  const bool wasVoter = isVoter();
  voters_ = std::move(voters);
  if (!started_) return;
  if (auto* unattached = std::get_if<Unattached>(&role_); unattached != nullptr && wasVoter != isVoter())
    unattached->electionDeadline = isVoter() ? electionDeadline(at) : MonotonicTime::max();
  if (auto* leader = std::get_if<Leader>(&role_)) {
    std::erase_if(leader->voters, [this](const auto& entry) { return !voters_.contains(entry.first); });
    for (const Voter& voter : voters_.all()) {
      if (voter.key.id == identity_.self.id || leader->voters.contains(voter.key.id)) continue;
      const auto observer = leader->observers.find(voter.key);
      ReplicaProgress progress{voter.key, std::nullopt, -1, -1, kNoOffset, std::nullopt, false};
      if (observer != leader->observers.end()) progress = observer->second;
      leader->voters.emplace(voter.key.id, progress);
      leader->observers.erase(voter.key);
    }
    updateLeaderHighWatermark(effects);
  }
}

void StateMachine::checkLegal(RoleName to, LeaderEpoch epoch) const {
  const RoleName from = roleName();
  const bool higher = epoch > epoch_;
  bool legal = epoch >= epoch_;
  switch (to) {
    case RoleName::Unattached:
      legal = legal && (higher || from == RoleName::Unattached || from == RoleName::Prospective);
      break;
    case RoleName::Prospective:
      legal = legal && !higher && isVoter() &&
              (from == RoleName::Unattached || from == RoleName::Candidate || from == RoleName::Follower);
      break;
    case RoleName::Candidate:
      legal = legal && epoch == epoch_.next() && isVoter() &&
              (from == RoleName::Prospective || isOnlyVoter() || !rules_.askBeforeElection);
      break;
    case RoleName::Leader:
      legal = legal && !higher && from == RoleName::Candidate;
      break;
    case RoleName::Follower:
      legal = legal && (higher || (from != RoleName::Leader && from != RoleName::Resigned));
      break;
    case RoleName::Resigned:
      legal = legal && !higher && from == RoleName::Leader;
      break;
  }
  TIDEMARK_INVARIANT(legal, fmt::format("node {} must not become {} of epoch {}: it is {} of epoch {}",
                                        identity_.self.id, raft::roleName(to), epoch, raft::roleName(from), epoch_));
}

void StateMachine::persist(ElectionState state, Effects& effects) {
  if (state == election_) return;
  TIDEMARK_INVARIANT(state.epoch >= election_.epoch,
                     fmt::format("K3: the epoch falls from {} to {}", election_.epoch, state.epoch));
  if (state.epoch == election_.epoch) {
    const bool ownLeadership = state.leader == identity_.self.id;
    TIDEMARK_INVARIANT(!election_.voted || state.voted == election_.voted || (ownLeadership && !state.voted) ||
                           !rules_.voteOncePerEpoch,
                       fmt::format("K2: the vote of epoch {} changes", state.epoch));
    TIDEMARK_INVARIANT(
        election_.leader == kNoNode || state.leader == election_.leader,
        fmt::format("K1: the leader of epoch {} changes from {} to {}", state.epoch, election_.leader, state.leader));
  }
  election_ = state;
  effects.push_back(PersistElection{state});
}

void StateMachine::enter(Role role, Effects& effects) {
  const RoleName from = roleName();
  role_ = std::move(role);
  epoch_ = election_.epoch;
  ++transitions_;
  peers_.clear();
  effects.push_back(RoleChanged{from, roleName(), leaderAndEpoch()});
}

void StateMachine::becomeUnattached(const Moment& at, LeaderEpoch epoch, NodeId leader, Effects& effects) {
  checkLegal(RoleName::Unattached, epoch);
  Unattached next{std::nullopt, leader, electionDeadline(at), at.now + 2 * config_.retryBackoff};
  if (epoch == epoch_) {
    next.voted = election_.voted;
    if (leader == kNoNode) next.leader = election_.leader;
  }
  // Who was waiting for an election goes on waiting: a stream of higher epochs must not put it off for ever.
  const auto* unattached = std::get_if<Unattached>(&role_);
  const auto* candidate = std::get_if<Candidate>(&role_);
  if (unattached != nullptr && unattached->electionDeadline > at.now)
    next.electionDeadline = unattached->electionDeadline;
  if (candidate != nullptr && candidate->electionDeadline > at.now) next.electionDeadline = candidate->electionDeadline;
  if (!isVoter()) next.electionDeadline = MonotonicTime::max();
  persist({epoch, next.leader, next.voted}, effects);
  enter(next, effects);
}

void StateMachine::vote(const Moment& at, const ReplicaKey& candidate, Effects& effects) {
  TIDEMARK_INVARIANT(election_.leader == kNoNode, fmt::format("node {} votes in epoch {} which has leader {}",
                                                              identity_.self.id, epoch_, election_.leader));
  persist({epoch_, election_.leader, candidate}, effects);
  if (auto* unattached = std::get_if<Unattached>(&role_)) {
    unattached->voted = candidate;
    if (isVoter()) unattached->electionDeadline = electionDeadline(at);
  } else if (auto* prospective = std::get_if<Prospective>(&role_)) {
    prospective->voted = candidate;
  } else {
    TIDEMARK_INVARIANT(!rules_.voteOncePerEpoch, fmt::format("a {} gives a vote", raft::roleName(roleName())));
  }
}

void StateMachine::standForElection(const Moment& at, Effects& effects) {
  if (isOnlyVoter() || !rules_.askBeforeElection)
    becomeCandidate(at, effects);
  else
    becomeProspective(at, effects);
}

void StateMachine::becomeProspective(const Moment& at, Effects& effects) {
  checkLegal(RoleName::Prospective, epoch_);
  Prospective next{election_.voted, election_.leader, leaderEndpoints(), Ballot(voters_, identity_.self.id),
                   electionDeadline(at)};
  enter(std::move(next), effects);
}

void StateMachine::becomeCandidate(const Moment& at, Effects& effects) {
  checkLegal(RoleName::Candidate, epoch_.next());
  persist({epoch_.next(), kNoNode, identity_.self}, effects);
  enter(Candidate{Ballot(voters_, identity_.self.id), electionDeadline(at), std::nullopt}, effects);
  if (std::get<Candidate>(role_).ballot.isWon()) becomeLeader(at, effects);
}

void StateMachine::becomeLeader(const Moment& at, Effects& effects) {
  checkLegal(RoleName::Leader, epoch_);
  const Ballot& ballot = std::get<Candidate>(role_).ballot;
  TIDEMARK_INVARIANT(ballot.isWon(), fmt::format("leader of epoch {} without a majority", epoch_));
  Leader next;
  next.epochStart = log_.endOffset();
  next.checkQuorumDeadline = at.now + config_.checkQuorumTimeout();
  next.nextBeginQuorum = at.now + config_.beginQuorumInterval();
  BeginLeaderEpoch begin{epoch_, {}, {}};
  for (const Voter& voter : voters_.all()) {
    begin.voters.push_back(voter.key);
    if (voter.key.id == identity_.self.id) continue;
    next.voters.emplace(voter.key.id, ReplicaProgress{voter.key, std::nullopt, -1, -1, kNoOffset, std::nullopt, false});
    next.toTell.insert(voter.key.id);
  }
  for (const NodeId id : ballot.granting())
    if (const Voter* voter = voters_.find(id)) begin.grantingVoters.push_back(voter->key);
  next.grantingVoters = begin.grantingVoters;
  retries_ = 0;
  // quorum-state names the leader alone: nobody else can be voted for in an epoch that this node leads.
  persist({epoch_, identity_.self.id, std::nullopt}, effects);
  enter(std::move(next), effects);
  effects.push_back(std::move(begin));
}

void StateMachine::becomeFollower(const Moment& at, LeaderEpoch epoch, NodeId leader,
                                  std::vector<VoterEndpoint> endpoints, Effects& effects) {
  checkLegal(RoleName::Follower, epoch);
  TIDEMARK_INVARIANT(leader != identity_.self.id, std::string("a node follows itself"));
  if (auto* follower = std::get_if<Follower>(&role_); follower != nullptr && epoch == epoch_) {
    // The same leader, better known.
    follower->leaderEndpoints = std::move(endpoints);
    return;
  }
  Follower next{leader, std::move(endpoints), std::nullopt, at.now + config_.fetchTimeout, false, std::nullopt, 0};
  if (epoch == epoch_) next.voted = election_.voted;
  retries_ = 0;
  persist({epoch, leader, next.voted}, effects);
  enter(std::move(next), effects);
}

void StateMachine::becomeResigned(const Moment& at, Effects& effects) {
  checkLegal(RoleName::Resigned, epoch_);
  const Leader& leader = std::get<Leader>(role_);
  Resigned next{{}, {}, electionDeadline(at)};
  std::vector<ReplicaProgress> byProgress;
  for (const auto& [id, progress] : leader.voters) {
    next.unacknowledged.insert(id);
    byProgress.push_back(progress);
  }
  std::ranges::stable_sort(byProgress, [](const auto& a, const auto& b) { return a.endOffset > b.endOffset; });
  for (const ReplicaProgress& progress : byProgress) next.preferredCandidates.push_back(progress.key);
  enter(std::move(next), effects);
}

}  // namespace tidemark::raft
