// The rules of the state machine, one by one.

#include "raft/state_machine.h"

#include <gtest/gtest.h>

#include "base/invariant.h"
#include "memory_log.h"

namespace tidemark::raft {
namespace {

constexpr NodeId kSelf{1};

ReplicaKey key(int32_t id) {
  std::array<uint8_t, 16> directory{};
  directory[15] = static_cast<uint8_t>(0x10 + id);
  return {NodeId(id), Uuid(directory)};
}

VoterSet voterSet(int count) {
  std::vector<Voter> voters;
  for (int32_t id = 1; id <= count; ++id)
    voters.push_back({key(id), {{"CONTROLLER", "node", static_cast<uint16_t>(id)}}, 0, 1});
  return VoterSet(std::move(voters));
}

/// One node, and verbs to put it into a role.
class StateMachineTest : public ::testing::Test {
 protected:
  void start(std::optional<ElectionState> from = std::nullopt, int voters = 3, ReplicaKey self = key(kSelf.value())) {
    config.electionTimeout = milliseconds(1000);
    machine = std::make_unique<StateMachine>(
        StateMachine::Identity{self, "cluster", "CONTROLLER", {{"CONTROLLER", "node", 1}}}, config, log, rules);
    Effects effects;
    machine->setVoters(now(), voterSet(voters), effects);
    machine->start(now(), from, effects);
    perform(effects);
  }
  Moment now() { return {time, 1'700'000'000'000 + time.time_since_epoch().count() / 1'000'000, 12345}; }
  void pass(Duration duration) { time += duration; }
  void perform(const Effects& effects) {
    for (const Effect& effect : effects) {
      if (const auto* send = std::get_if<Send>(&effect)) sent.push_back(*send);
      if (const auto* persisted = std::get_if<PersistElection>(&effect)) stored = persisted->state;
      if (const auto* begin = std::get_if<BeginLeaderEpoch>(&effect)) {
        log.append({begin->epoch, 0});
        log.sync();
        Effects more;
        machine->onLogSynced(now(), more);
        perform(more);
      }
      if (const auto* cut = std::get_if<TruncateLog>(&effect)) log.truncateTo(cut->offset);
      if (const auto* fetched = std::get_if<AppendFetched>(&effect)) {
        log.appendRead(fetched->records.view());
        log.sync();
        Effects more;
        machine->onFetched(now(), fetched->leaderHighWatermark, more);
        perform(more);
      }
    }
  }
  void poll() {
    Effects effects;
    machine->poll(now(), effects);
    perform(effects);
  }
  /// The newest request to `to`, and the answer goes back.
  template <class Answer>
  void respond(int32_t to, Answer answer) {
    for (auto at = sent.rbegin(); at != sent.rend(); ++at) {
      if (at->to != NodeId(to)) continue;
      Effects effects;
      machine->onResponse(now(), NodeId(to), at->correlation, Response(std::move(answer)), effects);
      perform(effects);
      return;
    }
    FAIL() << "nothing was sent to " << to;
  }
  template <class Request>
  const Request* lastTo(int32_t to) {
    for (auto at = sent.rbegin(); at != sent.rend(); ++at)
      if (at->to == NodeId(to)) return std::get_if<Request>(&at->request);
    return nullptr;
  }
  VoteResponse ask(const VoteRequest& request) {
    Effects effects;
    auto answer = machine->onVote(now(), request, effects);
    perform(effects);
    return answer;
  }
  VoteRequest voteRequest(int32_t candidate, int32_t epoch, bool preVote = false) {
    return {"cluster", key(kSelf.value()), LeaderEpoch(epoch), key(candidate), log.lastEpoch(), log.endOffset(),
            preVote};
  }
  StateMachine::FetchVerdict fetch(const FetchRequest& request) {
    Effects effects;
    auto verdict = machine->onFetch(now(), request, effects);
    perform(effects);
    return verdict;
  }
  FetchRequest fetchOf(int32_t replica, Offset offset, int32_t lastEpoch) {
    return {"cluster",         key(replica), machine->epoch(), offset, LeaderEpoch(lastEpoch), Offset(INT64_MAX),
            milliseconds(500), 1000};
  }
  RoleName role() const { return machine->roleName(); }

  void becomeCandidate() {
    pass(milliseconds(2001));
    poll();
    ASSERT_EQ(role(), RoleName::Prospective);
    respond(2, VoteResponse{.leader = {kNoNode, machine->epoch()}, .granted = true});
    ASSERT_EQ(role(), RoleName::Candidate);
    poll();
  }
  void becomeLeader() {
    becomeCandidate();
    respond(3, VoteResponse{.leader = {kNoNode, machine->epoch()}, .granted = true});
    ASSERT_EQ(role(), RoleName::Leader);
    poll();
  }
  void becomeFollower(int32_t leader, int32_t epoch) {
    Effects effects;
    machine->onBeginQuorumEpoch(
        now(), {"cluster", key(kSelf.value()), {NodeId(leader), LeaderEpoch(epoch)}, {{"CONTROLLER", "node", 2}}},
        effects);
    perform(effects);
    ASSERT_EQ(role(), RoleName::Follower);
    poll();
  }

  RaftConfig config;
  Rules rules;
  MemoryLog log;
  std::unique_ptr<StateMachine> machine;
  MonotonicTime time{std::chrono::seconds(100)};
  std::vector<Send> sent;
  std::optional<ElectionState> stored;
};

TEST_F(StateMachineTest, StartsAsWhatQuorumStateSays) {
  struct Case {
    const char* what;
    ElectionState stored;
    RoleName role;
  };
  const Case cases[] = {
      {"nothing known", {LeaderEpoch(0), kNoNode, std::nullopt}, RoleName::Unattached},
      {"own leadership", {LeaderEpoch(3), kSelf, std::nullopt}, RoleName::Resigned},
      {"own vote", {LeaderEpoch(3), kNoNode, key(1)}, RoleName::Candidate},
      {"another's vote", {LeaderEpoch(3), kNoNode, key(2)}, RoleName::Unattached},
      {"another leader", {LeaderEpoch(3), NodeId(2), std::nullopt}, RoleName::Follower},
      {"a leader it had voted for", {LeaderEpoch(3), NodeId(2), key(2)}, RoleName::Follower},
      {"a leader nobody knows the address of", {LeaderEpoch(3), NodeId(9), std::nullopt}, RoleName::Unattached},
  };
  for (const Case& test : cases) {
    start(test.stored);
    EXPECT_EQ(role(), test.role) << test.what;
    EXPECT_EQ(machine->epoch(), test.stored.epoch) << test.what;
  }
}

TEST_F(StateMachineTest, EpochIsAtLeastThatOfTheLog) {
  log.append({LeaderEpoch(5), 1});
  log.sync();
  start(ElectionState{LeaderEpoch(3), kNoNode, key(2)});
  EXPECT_EQ(machine->epoch(), LeaderEpoch(5));
  EXPECT_EQ(stored, (ElectionState{LeaderEpoch(5), kNoNode, std::nullopt}));
}

TEST_F(StateMachineTest, OnlyVoterLeadsWithoutAsking) {
  start(std::nullopt, 1);
  EXPECT_EQ(role(), RoleName::Leader);
  EXPECT_EQ(machine->epoch(), LeaderEpoch(1));
  EXPECT_EQ(machine->highWatermark(), Offset(1));
  EXPECT_TRUE(sent.empty());
}

TEST_F(StateMachineTest, ElectionGoesThroughPreVoteAndPersistsBeforeItAsks) {
  start();
  pass(milliseconds(2001));
  Effects effects;
  machine->poll(now(), effects);
  perform(effects);
  EXPECT_EQ(role(), RoleName::Prospective);
  EXPECT_EQ(machine->epoch(), LeaderEpoch(0));
  ASSERT_NE(lastTo<VoteRequest>(2), nullptr);
  EXPECT_TRUE(lastTo<VoteRequest>(2)->preVote);
  effects.clear();
  machine->onResponse(now(), NodeId(2), sent.front().to == NodeId(2) ? sent.front().correlation : sent[1].correlation,
                      Response(VoteResponse{.leader = {kNoNode, LeaderEpoch(0)}, .granted = true}), effects);
  ASSERT_EQ(role(), RoleName::Candidate);
  ASSERT_TRUE(std::holds_alternative<PersistElection>(effects.front()));
  EXPECT_EQ(std::get<PersistElection>(effects.front()).state, (ElectionState{LeaderEpoch(1), kNoNode, key(1)}));
  perform(effects);
  poll();
  ASSERT_NE(lastTo<VoteRequest>(3), nullptr);
  EXPECT_FALSE(lastTo<VoteRequest>(3)->preVote);
  EXPECT_EQ(lastTo<VoteRequest>(3)->epoch, LeaderEpoch(1));
  respond(3, VoteResponse{.leader = {kNoNode, LeaderEpoch(1)}, .granted = true});
  EXPECT_EQ(role(), RoleName::Leader);
  EXPECT_EQ(stored, (ElectionState{LeaderEpoch(1), kSelf, std::nullopt}));
  EXPECT_EQ(log.entries().size(), 1u);
  poll();
  EXPECT_NE(lastTo<BeginQuorumEpochRequest>(2), nullptr);
}

TEST_F(StateMachineTest, VotesOncePerEpochAndForTheSameCandidateAgain) {
  start();
  EXPECT_TRUE(ask(voteRequest(2, 1)).granted);
  EXPECT_EQ(stored, (ElectionState{LeaderEpoch(1), kNoNode, key(2)}));
  EXPECT_TRUE(ask(voteRequest(2, 1)).granted);
  EXPECT_FALSE(ask(voteRequest(3, 1)).granted);
  EXPECT_TRUE(ask(voteRequest(3, 2)).granted);
  auto impostor = voteRequest(3, 2);
  impostor.candidate.directoryId = key(2).directoryId;
  EXPECT_FALSE(ask(impostor).granted);
}

TEST_F(StateMachineTest, VotesOnlyForLogsThatAreUpToDate) {
  log.append({LeaderEpoch(2), 1});
  log.append({LeaderEpoch(3), 2});
  log.sync();
  start();
  struct Case {
    int32_t lastEpoch;
    int64_t offset;
    bool granted;
  };
  int32_t epoch = 10;
  for (const Case& test :
       {Case{2, 100, false}, Case{3, 1, false}, Case{3, 2, true}, Case{3, 3, true}, Case{4, 1, true}}) {
    for (const bool preVote : {true, false}) {
      auto request = voteRequest(2, ++epoch, preVote);
      request.lastEpoch = LeaderEpoch(test.lastEpoch);
      request.lastOffset = Offset(test.offset);
      EXPECT_EQ(ask(request).granted, test.granted) << test.lastEpoch << " " << test.offset << " " << preVote;
    }
  }
}

TEST_F(StateMachineTest, PreVoteBindsNobody) {
  start();
  EXPECT_TRUE(ask(voteRequest(2, 0, true)).granted);
  EXPECT_TRUE(ask(voteRequest(3, 0, true)).granted);
  EXPECT_EQ(machine->epoch(), LeaderEpoch(0));
  EXPECT_FALSE(machine->election().voted);
}

TEST_F(StateMachineTest, FollowerThatHearsFromItsLeaderRefusesPreVotes) {
  start();
  becomeFollower(2, 1);
  EXPECT_TRUE(ask(voteRequest(3, 1, true)).granted) << "it has not heard from it yet";
  respond(2, FetchResponse{.leader = {NodeId(2), LeaderEpoch(1)}, .highWatermark = Offset(0)});
  EXPECT_FALSE(ask(voteRequest(3, 1, true)).granted);
  EXPECT_FALSE(ask(voteRequest(3, 1)).granted);
  EXPECT_EQ(machine->leaderAndEpoch().leader, NodeId(2));
}

TEST_F(StateMachineTest, RequestsAreRefusedWithKafkasErrors) {
  start(ElectionState{LeaderEpoch(5), kNoNode, std::nullopt});
  auto request = voteRequest(2, 5);
  request.clusterId = "another";
  EXPECT_EQ(ask(request).topError, ErrorCode::InconsistentClusterId);
  request.clusterId = "";
  EXPECT_EQ(ask(request).topError, ErrorCode::None);
  EXPECT_EQ(ask(voteRequest(2, 4)).error, ErrorCode::FencedLeaderEpoch);
  request = voteRequest(2, 6);
  request.lastEpoch = LeaderEpoch(6);
  EXPECT_EQ(ask(request).error, ErrorCode::InvalidRequest);
  request = voteRequest(2, 6);
  request.lastOffset = Offset(-1);
  EXPECT_EQ(ask(request).error, ErrorCode::InvalidRequest);
  request = voteRequest(2, 6);
  request.voter = key(3);
  EXPECT_EQ(ask(request).error, ErrorCode::InvalidVoterKey);
  EXPECT_EQ(ask(voteRequest(-1, 6)).error, ErrorCode::InvalidRequest);
  auto fetched = fetchOf(2, Offset(0), 0);
  EXPECT_EQ(fetch(fetched).answer.error, ErrorCode::NotLeaderOrFollower);
  fetched.currentLeaderEpoch = LeaderEpoch(1);
  EXPECT_EQ(fetch(fetched).answer.error, ErrorCode::FencedLeaderEpoch);
  fetched.currentLeaderEpoch = LeaderEpoch(9);
  EXPECT_EQ(fetch(fetched).answer.error, ErrorCode::UnknownLeaderEpoch);
  fetched = fetchOf(2, Offset(-2), 0);
  EXPECT_EQ(fetch(fetched).answer.error, ErrorCode::InvalidRequest);
}

TEST_F(StateMachineTest, HighWatermarkNeedsAMajorityAndARecordOfTheEpoch) {
  log.append({LeaderEpoch(1), 1});
  log.append({LeaderEpoch(1), 2});
  log.sync();
  start(ElectionState{LeaderEpoch(1), kNoNode, std::nullopt});
  becomeLeader();
  ASSERT_EQ(log.endOffset(), Offset(3));
  EXPECT_FALSE(machine->highWatermark());
  // A majority has what an earlier epoch wrote: not enough (Raft §5.4.2).
  auto verdict = fetch(fetchOf(2, Offset(2), 1));
  EXPECT_TRUE(verdict.read);
  EXPECT_FALSE(machine->highWatermark());
  EXPECT_EQ(verdict.answer.highWatermark, kNoOffset);
  verdict = fetch(fetchOf(2, Offset(3), 2));
  EXPECT_EQ(machine->highWatermark(), Offset(3));
  EXPECT_EQ(verdict.answer.highWatermark, Offset(3));
  // What is not synced here does not count, though another voter has it.
  log.append({LeaderEpoch(2), 3});
  (void)fetch(fetchOf(2, Offset(4), 2));
  EXPECT_EQ(machine->highWatermark(), Offset(3));
  (void)fetch(fetchOf(3, Offset(4), 2));
  EXPECT_EQ(machine->highWatermark(), Offset(4)) << "two others are a majority";
}

TEST_F(StateMachineTest, ObserverDoesNotMoveTheHighWatermark) {
  start();
  becomeLeader();
  (void)fetch(fetchOf(7, Offset(1), 1));
  EXPECT_FALSE(machine->highWatermark());
  auto wrongDisk = fetchOf(2, Offset(1), 1);
  wrongDisk.replica.directoryId = key(9).directoryId;
  (void)fetch(wrongDisk);
  EXPECT_FALSE(machine->highWatermark());
  EXPECT_EQ(machine->describe(0).observers.size(), 2u);
}

TEST_F(StateMachineTest, DivergingFetchIsToldWhereToCut) {
  for (int i = 0; i < 3; ++i) log.append({LeaderEpoch(1), i});
  log.sync();
  start(ElectionState{LeaderEpoch(4), kNoNode, std::nullopt});
  becomeLeader();
  ASSERT_EQ(machine->epoch(), LeaderEpoch(5));
  struct Case {
    int64_t offset;
    int32_t epoch;
    std::optional<OffsetAndEpoch> diverging;
  };
  const OffsetAndEpoch endOf1{Offset(3), LeaderEpoch(1)};
  for (const Case& test : {Case{3, 1, std::nullopt}, Case{2, 1, std::nullopt}, Case{5, 1, endOf1}, Case{4, 3, endOf1},
                           Case{4, 5, std::nullopt}, Case{9, 5, OffsetAndEpoch{Offset(4), LeaderEpoch(5)}}}) {
    const auto verdict = fetch(fetchOf(2, Offset(test.offset), test.epoch));
    EXPECT_EQ(verdict.answer.diverging, test.diverging) << test.offset << " " << test.epoch;
    EXPECT_EQ(verdict.read, !test.diverging);
  }
}

TEST_F(StateMachineTest, FollowerTruncatesWhereItDiverges) {
  for (int i = 0; i < 3; ++i) log.append({LeaderEpoch(1), i});
  for (int i = 0; i < 3; ++i) log.append({LeaderEpoch(2), i});
  log.sync();
  start(ElectionState{LeaderEpoch(2), kNoNode, std::nullopt});
  becomeFollower(2, 4);
  ASSERT_NE(lastTo<FetchRequest>(2), nullptr);
  EXPECT_EQ(lastTo<FetchRequest>(2)->fetchOffset, Offset(6));
  EXPECT_EQ(lastTo<FetchRequest>(2)->lastFetchedEpoch, LeaderEpoch(2));
  // The leader has 5 records of epoch 1: we share our 3.
  respond(2, FetchResponse{.leader = {NodeId(2), LeaderEpoch(4)},
                           .highWatermark = Offset(2),
                           .diverging = OffsetAndEpoch{Offset(5), LeaderEpoch(1)}});
  EXPECT_EQ(log.endOffset(), Offset(3));
  poll();
  EXPECT_EQ(lastTo<FetchRequest>(2)->fetchOffset, Offset(3));
}

TEST_F(StateMachineTest, TruncationBelowTheHighWatermarkIsImpossible) {
  for (int i = 0; i < 3; ++i) log.append({LeaderEpoch(1), i});
  log.sync();
  start(ElectionState{LeaderEpoch(1), kNoNode, std::nullopt});
  becomeFollower(2, 2);
  respond(2, FetchResponse{.leader = {NodeId(2), LeaderEpoch(2)}, .highWatermark = Offset(3)});
  ASSERT_EQ(machine->highWatermark(), Offset(3));
  poll();
  EXPECT_THROW(respond(2, FetchResponse{.leader = {NodeId(2), LeaderEpoch(2)},
                                        .diverging = OffsetAndEpoch{Offset(1), LeaderEpoch(1)}}),
               InvariantBroken);
}

TEST_F(StateMachineTest, LeaderWithoutAMajorityResignsAndStandsInTheNextEpoch) {
  start();
  becomeLeader();
  pass(config.checkQuorumTimeout() - milliseconds(1));
  poll();
  EXPECT_EQ(role(), RoleName::Leader);
  (void)fetch(fetchOf(3, Offset(1), 1));
  pass(config.checkQuorumTimeout() - milliseconds(1));
  poll();
  EXPECT_EQ(role(), RoleName::Leader) << "one other voter fetched in time";
  pass(milliseconds(2));
  poll();
  EXPECT_EQ(role(), RoleName::Resigned);
  ASSERT_NE(lastTo<EndQuorumEpochRequest>(2), nullptr);
  ASSERT_EQ(lastTo<EndQuorumEpochRequest>(2)->preferredCandidates.size(), 2u);
  EXPECT_EQ(lastTo<EndQuorumEpochRequest>(2)->preferredCandidates.front(), key(3)) << "it has the longest log";
  EXPECT_FALSE(machine->leaderAndEpoch().hasLeader());
  EXPECT_FALSE(ask(voteRequest(3, 1)).granted) << "this epoch has had its leader";
  pass(milliseconds(2001));
  poll();
  EXPECT_EQ(role(), RoleName::Unattached);
  EXPECT_EQ(machine->epoch(), LeaderEpoch(2));
}

TEST_F(StateMachineTest, SuccessorsStandInTheirOrder) {
  for (const int position : {0, 1, 2}) {
    start();
    sent.clear();
    becomeFollower(2, machine->epoch().value() + 1);
    EndQuorumEpochRequest request{"cluster", machine->leaderAndEpoch(), {}, {}};
    for (const int32_t id : {3, 4, 5}) request.preferredCandidates.push_back(key(id));
    request.preferredCandidates[static_cast<size_t>(position)] = key(1);
    Effects effects;
    EXPECT_EQ(machine->onEndQuorumEpoch(now(), request, effects).error, ErrorCode::None);
    poll();
    // 0, then a quarter of the longest back-off, then half.
    const Duration wait = config.electionBackoffMax * position / 4;
    if (position > 0) {
      EXPECT_EQ(role(), RoleName::Follower);
      EXPECT_EQ(machine->nextDeadline(), time + wait);
    }
    pass(wait);
    poll();
    EXPECT_EQ(role(), RoleName::Prospective) << position;
  }
}

TEST_F(StateMachineTest, LostElectionBacksOffAndThenAsksAgain) {
  start();
  becomeCandidate();
  respond(2, VoteResponse{.leader = {kNoNode, LeaderEpoch(1)}});
  respond(3, VoteResponse{.leader = {kNoNode, LeaderEpoch(1)}});
  poll();
  EXPECT_EQ(role(), RoleName::Candidate);
  EXPECT_EQ(machine->lostElections(), 1u);
  pass(config.electionBackoffMax);
  poll();
  EXPECT_EQ(role(), RoleName::Prospective);
  EXPECT_EQ(machine->epoch(), LeaderEpoch(1));
}

TEST_F(StateMachineTest, CandidateFollowsWhoWasElected) {
  start();
  becomeCandidate();
  respond(3, VoteResponse{.error = ErrorCode::None, .leader = {NodeId(2), LeaderEpoch(1)}});
  EXPECT_EQ(role(), RoleName::Follower);
  EXPECT_EQ(machine->leaderAndEpoch(), (LeaderAndEpoch{NodeId(2), LeaderEpoch(1)}));
  EXPECT_EQ(stored, (ElectionState{LeaderEpoch(1), NodeId(2), key(1)})) << "its own vote stays on disk";
}

TEST_F(StateMachineTest, LateAnswersOfAnEarlierRoleCountForNothing) {
  start();
  pass(milliseconds(2001));
  poll();
  ASSERT_EQ(role(), RoleName::Prospective);
  const auto old = sent;
  respond(2, VoteResponse{.leader = {kNoNode, LeaderEpoch(0)}, .granted = true});
  ASSERT_EQ(role(), RoleName::Candidate);
  for (const Send& send : old) {
    Effects effects;
    machine->onResponse(now(), send.to, send.correlation,
                        Response(VoteResponse{.leader = {kNoNode, LeaderEpoch(1)}, .granted = true}), effects);
  }
  EXPECT_EQ(role(), RoleName::Candidate) << "pre-votes are no votes";
}

TEST_F(StateMachineTest, PeerWithoutPreVotesIsTakenForAYes) {
  start();
  pass(milliseconds(2001));
  poll();
  Effects effects;
  machine->onResponse(now(), sent.back().to, sent.back().correlation, fail(ErrorCode::UnsupportedVersion), effects);
  EXPECT_EQ(role(), RoleName::Candidate);
}

TEST_F(StateMachineTest, LeaderOfAHigherEpochIsFollowed) {
  start();
  becomeLeader();
  becomeFollower(2, 7);
  EXPECT_EQ(machine->epoch(), LeaderEpoch(7));
  start(stored);
  becomeFollower(3, 9);
}

TEST_F(StateMachineTest, SecondLeaderOfOneEpochIsNotBelieved) {
  start();
  becomeFollower(2, 3);
  Effects effects;
  const auto answer = machine->onBeginQuorumEpoch(
      now(), {"cluster", key(1), {NodeId(3), LeaderEpoch(3)}, {{"CONTROLLER", "node", 3}}}, effects);
  EXPECT_EQ(answer.error, ErrorCode::InvalidRequest);
  EXPECT_EQ(machine->leaderAndEpoch().leader, NodeId(2));
}

TEST_F(StateMachineTest, FetchWaitsUnlessItHasSomethingToLearn) {
  start();
  becomeLeader();
  EXPECT_TRUE(fetch(fetchOf(2, Offset(1), 1)).mayWait);
  ASSERT_EQ(machine->highWatermark(), Offset(1));
  auto request = fetchOf(3, Offset(1), 1);
  request.highWatermark = kNoOffset;
  EXPECT_FALSE(fetch(request).mayWait) << "it does not know the high watermark";
  request.highWatermark = Offset(1);
  EXPECT_TRUE(fetch(request).mayWait);
  request.maxWait = Duration(0);
  EXPECT_FALSE(fetch(request).mayWait);
}

TEST_F(StateMachineTest, ObserverFindsTheLeaderAndFollows) {
  start(std::nullopt, 3, key(8));
  poll();
  EXPECT_EQ(role(), RoleName::Unattached);
  ASSERT_EQ(sent.size(), 1u) << "it asks one voter at a time";
  const int32_t asked = sent.front().to.value();
  respond(asked, FetchResponse{.error = ErrorCode::FencedLeaderEpoch, .leader = {NodeId(3), LeaderEpoch(6)}});
  EXPECT_EQ(role(), RoleName::Follower);
  poll();
  EXPECT_NE(lastTo<FetchRequest>(3), nullptr);
  pass(config.fetchTimeout * 3);
  poll();
  EXPECT_EQ(role(), RoleName::Follower) << "observers never stand";
}

// An observer asked its leader under two names, took what both answers brought, and died of it.
TEST_F(StateMachineTest, WhatTheSlowerOfTwoAnswersSaysOfAnOlderLogEndIsPassedOver) {
  start(std::nullopt, 3, key(8));
  poll();
  respond(sent.front().to.value(),
          FetchResponse{.error = ErrorCode::FencedLeaderEpoch, .leader = {NodeId(3), LeaderEpoch(6)}});
  pass(config.retryBackoff);
  poll();
  ASSERT_EQ(sent.size(), 2u);
  ASSERT_EQ(sent.back().to, NodeId(3));
  // The quicker one brought this.
  log.append({LeaderEpoch(6), 0});
  log.sync();
  respond(3,
          FetchResponse{.leader = {NodeId(3), LeaderEpoch(6)}, .diverging = OffsetAndEpoch{Offset(0), LeaderEpoch(0)}});
  EXPECT_EQ(log.endOffset(), Offset(1));
  poll();
  EXPECT_EQ(lastTo<FetchRequest>(3)->fetchOffset, Offset(1)) << "it goes on from where it is";
}

TEST_F(StateMachineTest, MajorityOffsetIsReachedByMoreThanHalf) {
  using O = std::optional<Offset>;
  const auto at = [](int64_t value) { return O(Offset(value)); };
  EXPECT_EQ(majorityOffset({}), std::nullopt);
  EXPECT_EQ(majorityOffset({at(5)}), at(5));
  EXPECT_EQ(majorityOffset({at(5), at(3)}), at(3));
  EXPECT_EQ(majorityOffset({at(5), std::nullopt}), std::nullopt);
  EXPECT_EQ(majorityOffset({at(5), std::nullopt, at(3)}), at(3));
  EXPECT_EQ(majorityOffset({at(5), at(9), at(3)}), at(5));
  EXPECT_EQ(majorityOffset({at(1), at(9), at(3), at(9), at(2)}), at(3));
  EXPECT_EQ(majorityOffset({at(1), at(9), at(3), at(9)}), at(3));
}

}  // namespace
}  // namespace tidemark::raft
