// JoinGroup: who is let in, under which id, and whether that starts a rebalance.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "coordinator/classic/classic_groups.h"
#include "coordinator/classic/classic_joining.h"

namespace tidemark::coordinator {
namespace {

/// From here on a new dynamic member must come back with the id it was given (KIP-394).
constexpr int16_t kFirstVersionWithRequiredId = 4;
/// From here on a returning static leader is told to skip the assignment (KIP-814).
constexpr int16_t kFirstVersionThatSkipsAssignment = 9;

/// As Java prints a UUID.
std::string uuidText(const Uuid& id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr size_t kLength = 36;
  std::string text;
  text.reserve(kLength);
  for (size_t i = 0; i < id.bytes().size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[id.bytes()[i] >> 4];
    text += kDigits[id.bytes()[i] & 15];
  }
  return text;
}

bool offersTheSame(const ClassicMember& member, const std::vector<MemberProtocol>& protocols) {
  return member.protocols == protocols;
}

std::string_view reasonOf(const protocol::JoinGroupRequest& request) {
  return request.reason && !request.reason->empty() ? request.reason->view() : "not provided";
}

}  // namespace

void answerJoin(Effects& out, JoinReply reply, std::string_view memberId, ErrorCode error) {
  protocol::JoinGroupResponse response;
  response.memberId = memberId;
  response.errorCode = static_cast<int16_t>(error);
  answerJoin(out, std::move(reply), std::move(response));
}

void answerJoin(Effects& out, JoinReply reply, protocol::JoinGroupResponse response) {
  out.replies.emplace_back(
      [reply = std::move(reply), response = std::move(response)]() mutable { reply(std::move(response)); });
}

protocol::JoinGroupResponse joinedResponse(const ClassicGroup& group, const std::string& memberId, bool withMembers) {
  protocol::JoinGroupResponse response;
  if (withMembers) response.members = group.describeMembers();
  response.memberId = memberId;
  response.generationId = group.generation();
  response.protocolName.reset();
  if (group.protocol()) response.protocolName = *group.protocol();
  if (group.protocolType()) response.protocolType = *group.protocolType();
  response.leader = group.leader().value_or("");
  return response;
}

Effects ClassicGroups::join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply) {
  Effects out;
  const std::string groupId = request.groupId.str();
  const std::string memberId = request.memberId.str();
  ClassicGroup* group = find(groupId);
  const bool isNewGroup = group == nullptr;
  if (isNewGroup) {
    if (!memberId.empty()) {
      answerJoin(out, std::move(reply), memberId, ErrorCode::UnknownMemberId);
      return out;
    }
    group = &groups_.try_emplace(groupId, groupId, ClassicState::Empty, clock_.wall()).first->second;
  }
  Joining joining(info, request, std::move(reply));
  if (!accepts(*group, memberId)) {
    group->remove(memberId);
    answerJoin(out, std::move(joining.reply), "", ErrorCode::GroupMaxSizeReached);
  } else if (memberId.empty()) {
    joinNew(*group, joining, out);
  } else {
    joinExisting(*group, joining, out);
  }
  if (isNewGroup && out.records.empty()) writeNewGroup(*group, out);
  return out;
}

bool ClassicGroups::accepts(ClassicGroup& group, std::string_view memberId) const {
  const auto limit = static_cast<size_t>(std::max(config_.maxGroupSize, 0));
  const ClassicMember* member = group.member(memberId);
  switch (group.state()) {
    case ClassicState::Empty:
    case ClassicState::Dead:
      return true;
    case ClassicState::PreparingRebalance:
      // Those who wait are counted, not those who are known: so the last to rejoin are the ones turned away if the
      // limit was lowered.
      return (member != nullptr && member->awaitingJoin) || group.awaitingJoinCount() < limit;
    case ClassicState::CompletingRebalance:
    case ClassicState::Stable:
      return member != nullptr || group.members().size() < limit;
  }
  return false;
}

std::string ClassicGroups::newMemberId(const RequestInfo& info, const protocol::JoinGroupRequest& request) const {
  const std::string prefix = request.groupInstanceId ? request.groupInstanceId->str() : info.clientId;
  return prefix + "-" + uuidText(random_.uuid());
}

void ClassicGroups::writeNewGroup(const ClassicGroup& group, Effects& out) {
  out.records.push_back(emptyGroupMetadataRecord(group));
  out.replay = false;
  out.whenCommitted = [this, id = group.id()](ErrorCode code) {
    Effects then;
    // Late is not lost, and a group that was given up was answered for.
    if (code == ErrorCode::None || code == ErrorCode::RequestTimedOut || code == ErrorCode::NotCoordinator) return then;
    ClassicGroup* failed = find(id);
    if (failed == nullptr) return then;
    std::vector<std::string> ids;
    for (const auto& [memberId, member] : failed->members()) ids.push_back(memberId);
    for (const std::string& memberId : ids) {
      if (JoinReply parked = failed->takeJoin(*failed->member(memberId))) {
        answerJoin(then, std::move(parked), memberId, clientErrorOfWrite(code));
      }
      then.disarm({TimerKey::Kind::Heartbeat, id, memberId});
    }
    then.disarm({TimerKey::Kind::Join, id, ""});
    groups_.erase(id);
    return then;
  };
}

void ClassicGroups::joinNew(ClassicGroup& group, Joining& joining, Effects& out) {
  const protocol::JoinGroupRequest& request = joining.request;
  if (group.isIn(ClassicState::Dead)) {
    return answerJoin(out, std::move(joining.reply), "", ErrorCode::CoordinatorNotAvailable);
  }
  if (!group.supportsProtocols(request.protocolType, joining.protocolNames())) {
    return answerJoin(out, std::move(joining.reply), "", ErrorCode::InconsistentGroupProtocol);
  }
  const std::string memberId = newMemberId(joining.info, request);
  if (request.groupInstanceId) {
    if (const auto existing = group.staticMemberId(*request.groupInstanceId)) {
      log_.info("group-coordinator", "static member {} of group {} comes back as {}", *request.groupInstanceId,
                group.id(), memberId);
      return replaceStaticMember(group, *existing, memberId, joining, out);
    }
    return addMember(group, memberId, joining, out);
  }
  if (joining.info.apiVersion < kFirstVersionWithRequiredId) return addMember(group, memberId, joining, out);
  group.addPending(memberId);
  out.arm({TimerKey::Kind::Heartbeat, group.id(), memberId}, joining.sessionTimeout);
  answerJoin(out, std::move(joining.reply), memberId, ErrorCode::MemberIdRequired);
}

void ClassicGroups::joinExisting(ClassicGroup& group, Joining& joining, Effects& out) {
  const protocol::JoinGroupRequest& request = joining.request;
  const std::string memberId = request.memberId.str();
  const auto refuse = [&](ErrorCode error) { answerJoin(out, std::move(joining.reply), memberId, error); };
  if (group.isIn(ClassicState::Dead)) return refuse(ErrorCode::CoordinatorNotAvailable);
  if (!group.supportsProtocols(request.protocolType, joining.protocolNames())) {
    return refuse(ErrorCode::InconsistentGroupProtocol);
  }
  if (group.isPending(memberId)) {
    // Only dynamic members are given an id first; who claims to be static with one of those is not whom it was given
    // to.
    if (request.groupInstanceId) return refuse(ErrorCode::UnknownMemberId);
    return addMember(group, memberId, joining, out);
  }
  std::optional<std::string_view> instanceId;
  if (request.groupInstanceId) instanceId = request.groupInstanceId->view();
  if (const ErrorCode error = group.validateMember(memberId, instanceId); error != ErrorCode::None) {
    return refuse(error);
  }
  ClassicMember& member = *group.member(memberId);
  const bool unchanged = offersTheSame(member, joining.protocols);
  switch (group.state()) {
    case ClassicState::PreparingRebalance:
      return updateMember(group, member, events::GroupCause::MemberJoined, "joins", joining, out);
    case ClassicState::CompletingRebalance:
      // Its first answer may have been lost.
      if (unchanged) {
        return answerJoin(out, std::move(joining.reply), joinedResponse(group, memberId, group.isLeader(memberId)));
      }
      return updateMember(group, member, events::GroupCause::SubscriptionChanged, "has changed its protocols", joining,
                          out);
    case ClassicState::Stable:
      // The leader asks for a new assignment this way, for reasons the coordinator cannot see.
      if (group.isLeader(memberId))
        return updateMember(group, member, events::GroupCause::SubscriptionChanged, "leads and joins again", joining,
                            out);
      if (!unchanged)
        return updateMember(group, member, events::GroupCause::SubscriptionChanged, "has changed its protocols",
                            joining, out);
      return answerJoin(out, std::move(joining.reply), joinedResponse(group, memberId, false));
    case ClassicState::Empty:
    case ClassicState::Dead:
      return refuse(ErrorCode::UnknownMemberId);
  }
}

void ClassicGroups::addMember(ClassicGroup& group, const std::string& memberId, Joining& joining, Effects& out) {
  ClassicMember member;
  member.id = memberId;
  if (joining.request.groupInstanceId) member.instanceId = joining.request.groupInstanceId->str();
  member.clientId = joining.info.clientId;
  member.clientHost = joining.info.clientHost;
  member.rebalanceTimeout = joining.rebalanceTimeout;
  member.sessionTimeout = joining.sessionTimeout;
  member.protocols = std::move(joining.protocols);
  member.isNew = true;
  member.awaitingJoin = std::move(joining.reply);
  if (group.isIn(ClassicState::PreparingRebalance) && group.previousState() == ClassicState::Empty) {
    group.newMemberAdded = true;
  }
  group.add(std::move(member), joining.request.protocolType);
  // It has no id to send heartbeats with yet, and a closed connection goes unnoticed while its request is parked; so
  // the parked request itself ends after a while, and a client that is still there asks again.
  out.arm({TimerKey::Kind::Heartbeat, group.id(), memberId}, config_.newMemberJoinTimeout);
  teller_.joined(group.id(), memberId, joining.request.groupInstanceId.has_value(), group.generation());
  prepareRebalanceOrCompleteJoin(
      group,
      {events::GroupCause::MemberJoined, memberId,
       fmt::format("member {} is new; client reason: {}", memberId, reasonOf(joining.request))},
      out);
}

void ClassicGroups::updateMember(ClassicGroup& group, ClassicMember& member, events::GroupCause cause,
                                 std::string_view reason, Joining& joining, Effects& out) {
  if (JoinReply earlier = group.takeJoin(member)) {
    answerJoin(out, std::move(earlier), member.id, ErrorCode::RebalanceInProgress);
  }
  group.update(member, std::move(joining.protocols), joining.rebalanceTimeout, joining.sessionTimeout,
               std::move(joining.reply));
  if (group.isIn(ClassicState::PreparingRebalance)) {
    teller_.progressed(group.id(), member.id, events::MemberStep::Rejoined, group.generation(), group.generation() + 1,
                       0);
  }
  prepareRebalanceOrCompleteJoin(
      group,
      {cause, member.id, fmt::format("member {} {}; client reason: {}", member.id, reason, reasonOf(joining.request))},
      out);
}

void ClassicGroups::replaceStaticMember(ClassicGroup& group, const std::string& oldId, const std::string& newId,
                                        Joining& joining, Effects& out) {
  const std::string instanceId = joining.request.groupInstanceId->str();
  ClassicMember& old = *group.member(oldId);
  // Whoever still waits under the old id is a duplicate.
  if (JoinReply parked = group.takeJoin(old)) {
    answerJoin(out, std::move(parked), oldId, ErrorCode::FencedInstanceId);
  }
  if (SyncReply parked = group.takeSync(old)) {
    protocol::SyncGroupResponse fenced;
    fenced.errorCode = static_cast<int16_t>(ErrorCode::FencedInstanceId);
    out.replies.emplace_back(
        [parked = std::move(parked), fenced = std::move(fenced)]() mutable { parked(std::move(fenced)); });
  }
  const std::string leaderBefore = group.leader().value_or("");
  ClassicMember& member = group.replaceStatic(instanceId, oldId, newId);
  out.disarm({TimerKey::Kind::Heartbeat, group.id(), oldId});
  ReplacedMember before{oldId,       instanceId, member.protocols, member.rebalanceTimeout, member.sessionTimeout,
                        leaderBefore};
  group.update(member, std::move(joining.protocols), joining.rebalanceTimeout, joining.sessionTimeout,
               std::move(joining.reply));
  armHeartbeat(group, member, out);
  teller_.left(group.id(), oldId, events::GroupCause::MemberReplaced);
  teller_.joined(group.id(), newId, true, group.generation());
  switch (group.state()) {
    case ClassicState::Stable:
      if (group.protocol().value_or("") == group.selectProtocol()) {
        return persistReplacedMember(group, member, std::move(before), joining.info.apiVersion, out);
      }
      return prepareRebalanceOrCompleteJoin(
          group,
          {events::GroupCause::MemberReplaced, newId,
           fmt::format("static member {} changes which protocol is selected", instanceId)},
          out);
    case ClassicState::CompletingRebalance:
      // The leader was told the old id and would assign to it.
      return prepareRebalance(
          group, {events::GroupCause::MemberReplaced, newId, fmt::format("static member {} came back", instanceId)},
          out);
    case ClassicState::PreparingRebalance:
      return maybeCompleteJoin(group, out);
    case ClassicState::Empty:
    case ClassicState::Dead:
      TIDEMARK_INVARIANT(false,
                         fmt::format("group {} has a static member in state {}", group.id(), stateName(group.state())));
  }
}

void ClassicGroups::persistReplacedMember(ClassicGroup& group, ClassicMember& member, ReplacedMember before,
                                          int16_t apiVersion, Effects& out) {
  Assignments assignments;
  for (const auto& [id, one] : group.members()) assignments.emplace(id, one.assignment);
  out.records.push_back(groupMetadataRecord(group, assignments));
  out.replay = false;
  out.whenCommitted = [this, groupId = group.id(), newId = member.id, before = std::move(before),
                       apiVersion](ErrorCode code) mutable {
    Effects then;
    ClassicGroup* changed = find(groupId);
    ClassicMember* replaced = changed == nullptr ? nullptr : changed->member(newId);
    if (replaced == nullptr) return then;
    JoinReply parked = changed->takeJoin(*replaced);
    if (!parked) return then;  // a rebalance came in between and answered it
    if (code != ErrorCode::None) {
      changed->update(*replaced, std::move(before.protocols), before.rebalanceTimeout, before.sessionTimeout, nullptr);
      armHeartbeat(*changed, changed->replaceStatic(before.instanceId, newId, before.memberId), then);
      then.disarm({TimerKey::Kind::Heartbeat, groupId, newId});
      answerJoin(then, std::move(parked), "", clientErrorOfWrite(code));
      return then;
    }
    const bool isLeader = changed->isLeader(newId);
    const bool skips = apiVersion >= kFirstVersionThatSkipsAssignment;
    protocol::JoinGroupResponse response = joinedResponse(*changed, newId, isLeader && skips);
    if (skips) {
      response.skipAssignment = isLeader;
    } else {
      // Under its old name, so that an old client does not take itself for the leader and assign anew.
      response.leader = before.leader;
    }
    answerJoin(then, std::move(parked), std::move(response));
    return then;
  };
}

}  // namespace tidemark::coordinator
