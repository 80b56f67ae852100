// What time does: requests that are due, timeouts, back-offs.

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "raft/invariants.h"
#include "raft/state_machine.h"

namespace tidemark::raft {
namespace {

/// The base of the back-off after lost elections (Kafka's RETRY_BACKOFF_BASE_MS).
constexpr Duration kElectionBackoffBase = milliseconds(100);
/// More transitions than this in one poll would be a loop.
constexpr int kMaxTransitionsPerPoll = 8;

/// Another random number out of one (splitmix64).
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

Duration randomBelow(Duration bound, uint64_t random) {
  if (bound <= Duration(0)) return Duration(0);
  return Duration(static_cast<int64_t>(random % static_cast<uint64_t>(bound.count())));
}

const VoterEndpoint* endpointOn(const std::vector<VoterEndpoint>& endpoints, const std::string& listener) {
  const auto at = std::ranges::find(endpoints, listener, &VoterEndpoint::listener);
  if (at != endpoints.end()) return &*at;
  return endpoints.empty() ? nullptr : &endpoints.front();
}

}  // namespace

MonotonicTime StateMachine::electionDeadline(const Moment& at) const {
  return at.now + config_.electionTimeout + randomBelow(config_.electionTimeout, mix(at.random ^ 1));
}

Duration StateMachine::electionBackoff(const Moment& at) const {
  const int64_t doublings = int64_t{2} << std::clamp(retries_ - 1, 0, 20);
  const Duration bound = std::min(kElectionBackoffBase * doublings, config_.electionBackoffMax);
  return randomBelow(bound, mix(at.random ^ 2));
}

void StateMachine::poll(const Moment& at, Effects& effects) {
  if (!started_) return;
  uint64_t before = 0;
  int rounds = 0;
  do {
    TIDEMARK_INVARIANT(++rounds <= kMaxTransitionsPerPoll, std::string("roles change without end"));
    before = transitions_;
    nextDeadline_ = MonotonicTime::max();
    std::visit([&](auto& role) { pollRole(at, role, effects); }, role_);
  } while (transitions_ != before);
  checkInvariants(*this);
}

// In each pollRole(): after a transition `role` is gone, so it returns at once.

void StateMachine::pollRole(const Moment& at, Unattached& role, Effects& effects) {
  if (isVoter() && !shuttingDown_) {
    if (at.now >= role.electionDeadline) return standForElection(at, effects);
    wakeAt(role.electionDeadline);
  }
  if (at.now >= role.nextDiscovery)
    sendDiscoveryFetch(at, effects);
  else
    wakeAt(role.nextDiscovery);
}

void StateMachine::pollRole(const Moment& at, Prospective& role, Effects& effects) {
  if (shuttingDown_) return;
  if (role.ballot.isLost() || at.now >= role.electionDeadline) {
    if (role.leader != kNoNode && !role.leaderEndpoints.empty())
      return becomeFollower(at, epoch_, role.leader, role.leaderEndpoints, effects);
    return becomeUnattached(at, epoch_, kNoNode, effects);
  }
  wakeAt(role.electionDeadline);
  sendVotes(at, role.ballot.outstanding(), true, effects);
}

void StateMachine::pollRole(const Moment& at, Candidate& role, Effects& effects) {
  if (shuttingDown_) return;
  if (role.backoffUntil) {
    if (at.now >= *role.backoffUntil) return becomeProspective(at, effects);
    return wakeAt(*role.backoffUntil);
  }
  const bool expired = at.now >= role.electionDeadline;
  if (expired || role.ballot.isLost()) {
    ++retries_;
    ++lostElections_;
    // The election timeout was random already; a quick rejection was not.
    if (expired) return becomeProspective(at, effects);
    role.backoffUntil = at.now + electionBackoff(at);
    return wakeAt(*role.backoffUntil);
  }
  wakeAt(role.electionDeadline);
  sendVotes(at, role.ballot.outstanding(), false, effects);
}

void StateMachine::pollRole(const Moment& at, Leader& role, Effects& effects) {
  const bool alone = voters_.size() <= 1;
  if (shuttingDown_ || role.resignRequested || (!alone && at.now >= role.checkQuorumDeadline))
    return becomeResigned(at, effects);
  if (alone) return;
  wakeAt(role.checkQuorumDeadline);
  if (at.now >= role.nextBeginQuorum) {
    for (const auto& [id, progress] : role.voters)
      if (!progress.lastFetch || *progress.lastFetch + config_.beginQuorumInterval() <= at.now) role.toTell.insert(id);
    role.nextBeginQuorum = at.now + config_.beginQuorumInterval();
  }
  wakeAt(role.nextBeginQuorum);
  for (const NodeId to : role.toTell) {
    trySendToVoter(at, to, effects, [&]() -> Request {
      const Voter* voter = voters_.find(to);
      return BeginQuorumEpochRequest{identity_.clusterId, voter->key, leaderAndEpoch(), identity_.endpoints};
    });
  }
}

void StateMachine::pollRole(const Moment& at, Follower& role, Effects& effects) {
  const bool expired = at.now >= role.fetchDeadline;
  if (isVoter()) {
    if (expired && !shuttingDown_) return standForElection(at, effects);
    if (!expired) wakeAt(role.fetchDeadline);
  } else {
    // An observer keeps to its leader while that answers, and asks others too when it does not.
    const auto peer = peers_.find(role.leader);
    const bool failing = peer != peers_.end() && peer->second.failures > 0;
    if (expired || failing) sendDiscoveryFetch(at, effects);
    if (!expired) wakeAt(role.fetchDeadline);
  }
  const VoterEndpoint* to = endpointOn(role.leaderEndpoints, identity_.listener);
  if (to == nullptr) return;
  trySend(at, role.leader, {to->host, to->port}, effects, [&]() -> Request {
    if (!role.snapshot) return fetchRequest();
    return FetchSnapshotRequest{identity_.clusterId, identity_.self,        epoch_,
                                *role.snapshot,      role.snapshotPosition, config_.fetchSnapshotMaxBytes};
  });
}

void StateMachine::pollRole(const Moment& at, Resigned& role, Effects& effects) {
  if (!shuttingDown_) {
    if (at.now >= role.electionDeadline) return becomeUnattached(at, epoch_.next(), kNoNode, effects);
    wakeAt(role.electionDeadline);
  }
  for (const NodeId to : role.unacknowledged) {
    trySendToVoter(at, to, effects, [&]() -> Request {
      return EndQuorumEpochRequest{
          identity_.clusterId, {identity_.self.id, epoch_}, role.preferredCandidates, identity_.endpoints};
    });
  }
}

bool StateMachine::trySend(const Moment& at, NodeId to, const platform::Endpoint& endpoint, Effects& effects,
                           const std::function<Request()>& request) {
  Peer& peer = peers_[to];
  if (peer.inFlight && at.now >= peer.sentAt + config_.requestTimeout) {
    peer.inFlight.reset();
    onFailure(at, to);
  }
  if (peer.inFlight) {
    wakeAt(peer.sentAt + config_.requestTimeout);
    return false;
  }
  if (at.now < peer.backoffUntil) {
    wakeAt(peer.backoffUntil);
    return false;
  }
  peer.inFlight = nextCorrelation_++;
  peer.sentAt = at.now;
  Request message = request();
  if (const auto* fetch = std::get_if<FetchRequest>(&message)) peer.fetchedFrom = fetch->fetchOffset;
  effects.push_back(Send{to, endpoint, *peer.inFlight, std::move(message)});
  wakeAt(peer.sentAt + config_.requestTimeout);
  return true;
}

bool StateMachine::trySendToVoter(const Moment& at, NodeId to, Effects& effects,
                                  const std::function<Request()>& request) {
  const Voter* voter = voters_.find(to);
  if (voter == nullptr) return false;
  const VoterEndpoint* endpoint = endpointOn(voter->endpoints, identity_.listener);
  if (endpoint == nullptr) return false;
  return trySend(at, to, {endpoint->host, endpoint->port}, effects, request);
}

void StateMachine::onFailure(const Moment& at, NodeId from) {
  Peer& peer = peers_[from];
  const Duration most = std::max(config_.retryBackoff, config_.electionTimeout / 4);
  const Duration wait = config_.retryBackoff * (int64_t{1} << std::min(peer.failures, 16));
  ++peer.failures;
  peer.backoffUntil = at.now + std::min(wait, most);
}

void StateMachine::sendVotes(const Moment& at, const std::set<NodeId>& to, bool preVote, Effects& effects) {
  for (const NodeId id : to) {
    trySendToVoter(at, id, effects, [&]() -> Request {
      const OffsetAndEpoch end = log_.end();
      return VoteRequest{
          identity_.clusterId, voters_.find(id)->key, epoch_, identity_.self, end.epoch, end.offset, preVote};
    });
  }
}

void StateMachine::sendDiscoveryFetch(const Moment& at, Effects& effects) {
  struct Choice {
    NodeId id;
    platform::Endpoint endpoint;
  };
  std::vector<Choice> choices;
  int32_t id = -2;
  for (const platform::Endpoint& server : config_.bootstrapServers) choices.push_back({NodeId(id--), server});
  if (choices.empty()) {
    for (const Voter& voter : voters_.all())
      if (const auto* endpoint = endpointOn(voter.endpoints, identity_.listener))
        choices.push_back({voter.key.id, {endpoint->host, endpoint->port}});
  }
  std::erase_if(choices, [this](const Choice& choice) {
    return choice.id == identity_.self.id || std::ranges::any_of(identity_.endpoints, [&](const VoterEndpoint& own) {
             return own.host == choice.endpoint.host && own.port == choice.endpoint.port;
           });
  });
  if (choices.empty()) return;
  // One at a time: whoever is asked already may know.
  for (const Choice& choice : choices) {
    const auto peer = peers_.find(choice.id);
    if (peer != peers_.end() && peer->second.inFlight && at.now < peer->second.sentAt + config_.requestTimeout)
      return wakeAt(peer->second.sentAt + config_.requestTimeout);
  }
  const size_t first = mix(at.random ^ 3) % choices.size();
  for (size_t i = 0; i < choices.size(); ++i) {
    const Choice& choice = choices[(first + i) % choices.size()];
    if (trySend(at, choice.id, choice.endpoint, effects, [this]() -> Request { return fetchRequest(); })) return;
  }
}

FetchRequest StateMachine::fetchRequest() const {
  // A voter's fetch offset tells the leader what this node will not lose.
  TIDEMARK_INVARIANT(
      !isVoter() || log_.syncedEndOffset() == log_.endOffset(),
      fmt::format("K4: a fetch from {} while only {} is synced", log_.endOffset(), log_.syncedEndOffset()));
  FetchRequest request;
  request.clusterId = identity_.clusterId;
  request.replica = identity_.self;
  request.currentLeaderEpoch = epoch_;
  request.fetchOffset = log_.endOffset();
  request.lastFetchedEpoch = log_.lastEpoch();
  request.highWatermark = highWatermark_.value_or(kNoOffset);
  request.maxWait = config_.effectiveFetchWait();
  request.maxBytes = config_.fetchMaxBytes;
  return request;
}

}  // namespace tidemark::raft
