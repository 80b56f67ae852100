// From a group that changes to its next generation, and the timers on the way.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/classic/classic_groups.h"
#include "coordinator/classic/classic_joining.h"

namespace tidemark::coordinator {

void ClassicGroups::prepareRebalanceOrCompleteJoin(ClassicGroup& group, const Why& why, Effects& out) {
  if (group.canRebalance()) {
    prepareRebalance(group, why, out);
  } else {
    maybeCompleteJoin(group, out);
  }
}

void ClassicGroups::prepareRebalance(ClassicGroup& group, const Why& why, Effects& out) {
  if (group.isIn(ClassicState::CompletingRebalance)) {
    // Whoever waits for an assignment of this generation joins again.
    for (const auto& [id, member] : group.members()) group.member(id)->assignment.clear();
    propagate(group, ErrorCode::RebalanceInProgress, out);
  }
  group.clearPendingSync();
  out.disarm({TimerKey::Kind::Sync, group.id(), ""});

  const bool isInitial = group.isIn(ClassicState::Empty);
  group.initialDelayRuns = isInitial;
  log_.info("group-coordinator", "group {} rebalances from {}, generation {}: {}", group.id(), stateName(group.state()),
            group.generation(), why.text);
  group.transitionTo(ClassicState::PreparingRebalance, clock_.wall());
  tellState(group, why.cause, why.member);
  if (isInitial) {
    // More members are likely to come: wait a little, and longer while they do.
    group.initialDelay = config_.initialRebalanceDelay;
    group.initialRemaining =
        std::max(group.rebalanceTimeout() - config_.initialRebalanceDelay, platform::milliseconds::zero());
    out.arm({TimerKey::Kind::Join, group.id(), ""}, group.initialDelay);
  } else if (group.haveAllJoined()) {
    completeJoin(group, out);
  } else {
    out.arm({TimerKey::Kind::Join, group.id(), ""}, group.rebalanceTimeout());
  }
}

void ClassicGroups::maybeCompleteJoin(ClassicGroup& group, Effects& out) {
  if (!group.isIn(ClassicState::PreparingRebalance)) return;
  if (group.previousState() == ClassicState::Empty) return;  // the initial delay decides
  if (group.haveAllJoined()) completeJoin(group, out);
}

void ClassicGroups::completeJoin(ClassicGroup& group, Effects& out) {
  out.disarm({TimerKey::Kind::Join, group.id(), ""});
  group.initialDelayRuns = false;
  for (const std::string& id : group.notYetRejoinedDynamic()) {
    log_.info("group-coordinator", "member {} of group {} did not join again", id, group.id());
    tellMissed(group, id, events::GroupCause::RebalanceTimedOut, group.rebalanceTimeout());
    group.remove(id);
    out.disarm({TimerKey::Kind::Heartbeat, group.id(), id});
  }
  if (group.isIn(ClassicState::Dead)) return;
  if (!group.electLeaderAmongJoined() && !group.members().empty()) {
    // Only static members that are away: wait for them until their sessions end.
    out.arm({TimerKey::Kind::Join, group.id(), ""}, group.rebalanceTimeout());
    return;
  }
  group.startGeneration(clock_.wall());
  tellState(group, group.isIn(ClassicState::Empty) ? events::GroupCause::MemberLeft : events::GroupCause::AllJoined);
  if (group.isIn(ClassicState::Empty)) {
    log_.info("group-coordinator", "group {} is empty at generation {}", group.id(), group.generation());
    out.records.push_back(groupMetadataRecord(group, {}));
    out.replay = false;
    return;
  }
  log_.info("group-coordinator", "group {} has generation {} with {} members", group.id(), group.generation(),
            group.members().size());
  answerJoined(group, out);
}

void ClassicGroups::answerJoined(ClassicGroup& group, Effects& out) {
  for (const auto& [id, _] : group.members()) {
    ClassicMember& member = *group.member(id);
    if (JoinReply parked = group.takeJoin(member)) {
      answerJoin(out, std::move(parked), joinedResponse(group, id, group.isLeader(id)));
    }
    member.isNew = false;
    armHeartbeat(group, member, out);
    group.addPendingSync(id);
  }
  out.arm({TimerKey::Kind::Sync, group.id(), ""}, group.rebalanceTimeout());
}

void ClassicGroups::failJoin(ClassicGroup& group, ClassicMember& member, Effects& out) {
  if (JoinReply parked = group.takeJoin(member)) {
    answerJoin(out, std::move(parked), "", ErrorCode::UnknownMemberId);
  }
  if (SyncReply parked = group.takeSync(member)) {
    protocol::SyncGroupResponse gone;
    gone.errorCode = static_cast<int16_t>(ErrorCode::UnknownMemberId);
    out.replies.emplace_back(
        [parked = std::move(parked), gone = std::move(gone)]() mutable { parked(std::move(gone)); });
  }
}

// ---- timers

void ClassicGroups::tellMissed(const ClassicGroup& group, const std::string& memberId, events::GroupCause cause,
                               platform::Duration allowed) {
  const auto found = group.members().find(memberId);
  if (found == group.members().end()) return;
  teller_.left(group.id(), memberId, cause, clock_.monotonic() - found->second.lastHeard, allowed);
}

Effects ClassicGroups::onTimeout(const TimerKey& key) {
  Effects out;
  ClassicGroup* group = find(key.group);
  if (group == nullptr || group->isIn(ClassicState::Dead)) return out;
  switch (key.kind) {
    case TimerKey::Kind::Heartbeat:
      onHeartbeatTimeout(*group, key.member, out);
      break;
    case TimerKey::Kind::Join:
      onJoinTimeout(*group, out);
      break;
    case TimerKey::Kind::Sync:
      onSyncTimeout(*group, out);
      break;
    default:  // of others
      break;
  }
  return out;
}

void ClassicGroups::onHeartbeatTimeout(ClassicGroup& group, const std::string& memberId, Effects& out) {
  if (group.isPending(memberId)) {
    group.remove(memberId);
    if (group.isIn(ClassicState::PreparingRebalance) && group.haveAllJoined()) completeJoin(group, out);
    return;
  }
  ClassicMember* member = group.member(memberId);
  if (member == nullptr || member->satisfiesHeartbeat()) return;
  log_.info("group-coordinator", "member {} of group {} has not been heard of in time", memberId, group.id());
  // It may wait in a long rebalance as a new member: it asks again if it is still there.
  failJoin(group, *member, out);
  tellMissed(group, memberId, events::GroupCause::SessionMissed, member->sessionTimeout);
  group.remove(memberId);
  if (group.isIn(ClassicState::Stable) || group.isIn(ClassicState::CompletingRebalance)) {
    prepareRebalanceOrCompleteJoin(
        group, {events::GroupCause::SessionMissed, memberId, fmt::format("member {} has failed", memberId)}, out);
  } else if (group.isIn(ClassicState::PreparingRebalance) && group.haveAllJoined()) {
    completeJoin(group, out);
  }
}

void ClassicGroups::onJoinTimeout(ClassicGroup& group, Effects& out) {
  if (!group.isIn(ClassicState::PreparingRebalance)) return;
  if (group.initialDelayRuns && group.newMemberAdded && group.initialRemaining > platform::milliseconds::zero()) {
    group.newMemberAdded = false;
    const platform::milliseconds waited = group.initialDelay;
    group.initialDelay = std::min(config_.initialRebalanceDelay, group.initialRemaining);
    group.initialRemaining = std::max(group.initialRemaining - waited, platform::milliseconds::zero());
    out.arm({TimerKey::Kind::Join, group.id(), ""}, group.initialDelay);
    return;
  }
  completeJoin(group, out);
}

void ClassicGroups::onSyncTimeout(ClassicGroup& group, Effects& out) {
  if (!group.isIn(ClassicState::CompletingRebalance) && !group.isIn(ClassicState::Stable)) return;
  const auto late = group.pendingSync();
  if (late.empty()) return;
  for (const std::string& id : late) {
    log_.info("group-coordinator", "member {} of group {} did not synchronise in time", id, group.id());
    tellMissed(group, id, events::GroupCause::SyncTimedOut, group.rebalanceTimeout());
    group.remove(id);
    out.disarm({TimerKey::Kind::Heartbeat, group.id(), id});
  }
  prepareRebalance(group, {events::GroupCause::SyncTimedOut, *late.begin(), "members did not synchronise in time"},
                   out);
}

}  // namespace tidemark::coordinator
