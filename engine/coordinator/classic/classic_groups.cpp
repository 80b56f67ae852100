// SyncGroup, Heartbeat, LeaveGroup; what is read back from the log.

#include "coordinator/classic/classic_groups.h"

#include <utility>

#include <fmt/format.h>

#include "coordinator/classic/classic_joining.h"
#include "coordinator/classic/consumer_protocol.h"

namespace tidemark::coordinator {
namespace {

void answerSync(Effects& out, SyncReply reply, protocol::SyncGroupResponse response) {
  out.replies.emplace_back(
      [reply = std::move(reply), response = std::move(response)]() mutable { reply(std::move(response)); });
}

void answerSync(Effects& out, SyncReply reply, ErrorCode error) {
  protocol::SyncGroupResponse response;
  response.errorCode = static_cast<int16_t>(error);
  answerSync(out, std::move(reply), std::move(response));
}

protocol::SyncGroupResponse assignedResponse(const ClassicGroup& group, const ClassicMember& member) {
  protocol::SyncGroupResponse response;
  if (group.protocolType()) response.protocolType = *group.protocolType();
  if (group.protocol()) response.protocolName = *group.protocol();
  response.assignment = member.assignment;
  return response;
}

bool disagrees(const std::optional<protocol::Text>& asked, const std::optional<std::string>& has) {
  return asked && has && *asked != *has;
}

std::optional<std::string_view> viewOf(const std::optional<protocol::Text>& text) {
  if (!text) return std::nullopt;
  return text->view();
}

}  // namespace

const ClassicGroup* ClassicGroups::find(std::string_view groupId) const {
  const auto found = groups_.find(groupId);
  return found == groups_.end() ? nullptr : &found->second;
}

ClassicGroup* ClassicGroups::find(std::string_view groupId) {
  const auto found = groups_.find(groupId);
  return found == groups_.end() ? nullptr : &found->second;
}

void ClassicGroups::armHeartbeat(const ClassicGroup& group, ClassicMember& member, Effects& out) const {
  member.lastHeard = clock_.monotonic();
  out.putOff(member.session, member.lastHeard, member.sessionTimeout,
             [&] { return TimerKey{TimerKey::Kind::Heartbeat, group.id(), member.id}; });
}

void ClassicGroups::keepAlive(std::string_view groupId, std::string_view memberId, Effects& out) {
  ClassicGroup* group = find(groupId);
  if (group == nullptr) return;
  if (!group->isIn(ClassicState::Stable) && !group->isIn(ClassicState::PreparingRebalance)) return;
  if (ClassicMember* member = group->member(memberId)) armHeartbeat(*group, *member, out);
}

// ---- SyncGroup

Effects ClassicGroups::sync(const protocol::SyncGroupRequest& request, SyncReply reply) {
  Effects out;
  ClassicGroup* group = find(request.groupId);
  const auto refuse = [&](ErrorCode error) { answerSync(out, std::move(reply), error); };
  if (group == nullptr || group->isIn(ClassicState::Empty)) {
    refuse(ErrorCode::UnknownMemberId);
    return out;
  }
  if (group->isIn(ClassicState::Dead)) {
    refuse(ErrorCode::CoordinatorNotAvailable);
    return out;
  }
  if (const ErrorCode error = group->validateMember(request.memberId, viewOf(request.groupInstanceId));
      error != ErrorCode::None) {
    refuse(error);
    return out;
  }
  if (request.generationId != group->generation()) {
    refuse(ErrorCode::IllegalGeneration);
    return out;
  }
  if (disagrees(request.protocolType, group->protocolType()) || disagrees(request.protocolName, group->protocol())) {
    refuse(ErrorCode::InconsistentGroupProtocol);
    return out;
  }
  switch (group->state()) {
    case ClassicState::PreparingRebalance:
      refuse(ErrorCode::RebalanceInProgress);
      break;
    case ClassicState::CompletingRebalance:
      syncCompleting(*group, request, std::move(reply), out);
      break;
    case ClassicState::Stable:
      removePendingSync(*group, request.memberId, out);
      answerSync(out, std::move(reply), assignedResponse(*group, *group->member(request.memberId)));
      tellSynced(*group, *group->member(request.memberId));
      break;
    case ClassicState::Empty:
    case ClassicState::Dead:
      break;
  }
  return out;
}

void ClassicGroups::syncCompleting(ClassicGroup& group, const protocol::SyncGroupRequest& request, SyncReply reply,
                                   Effects& out) {
  ClassicMember& member = *group.member(request.memberId);
  if (SyncReply earlier = group.takeSync(member)) answerSync(out, std::move(earlier), ErrorCode::RebalanceInProgress);
  member.awaitingSync = std::move(reply);
  removePendingSync(group, member.id, out);
  if (!group.isLeader(member.id)) return;

  Assignments assignments;
  for (const auto& one : request.assignments) {
    if (group.hasMember(one.memberId)) assignments.insert_or_assign(one.memberId.str(), one.assignment.bytes());
  }
  out.records.push_back(groupMetadataRecord(group, assignments));
  out.replay = false;
  out.whenCommitted = [this, groupId = group.id(), generation = group.generation(), leader = member.id,
                       assignments = std::move(assignments)](ErrorCode code) {
    return onAssignmentWritten(groupId, generation, leader, assignments, code);
  };
}

Effects ClassicGroups::onAssignmentWritten(const std::string& groupId, int32_t generation, const std::string& leader,
                                           const Assignments& assignments, ErrorCode code) {
  Effects out;
  ClassicGroup* group = find(groupId);
  // The group may have moved on while the record was on its way: then nobody waits for this assignment any more.
  if (group == nullptr || !group->isIn(ClassicState::CompletingRebalance) || group->generation() != generation) {
    return out;
  }
  for (const auto& [id, _] : group->members()) {
    const auto found = assignments.find(id);
    ClassicMember& member = *group->member(id);
    if (code == ErrorCode::None && found != assignments.end()) {
      member.assignment = found->second;
    } else {
      member.assignment.clear();
    }
  }
  if (code == ErrorCode::None) {
    propagate(*group, ErrorCode::None, out);
    group->transitionTo(ClassicState::Stable, clock_.wall());
    tellState(*group, events::GroupCause::Assigned, leader);
  } else {
    propagate(*group, clientErrorOfWrite(code), out);
    prepareRebalanceOrCompleteJoin(
        *group,
        {events::GroupCause::WriteFailed, leader,
         fmt::format("the assignment by {} could not be stored: {}", leader, errorName(code))},
        out);
  }
  return out;
}

void ClassicGroups::propagate(ClassicGroup& group, ErrorCode error, Effects& out) {
  for (const auto& [id, _] : group.members()) {
    ClassicMember& member = *group.member(id);
    SyncReply parked = group.takeSync(member);
    if (!parked) continue;
    if (error == ErrorCode::None) {
      answerSync(out, std::move(parked), assignedResponse(group, member));
      tellSynced(group, member);
    } else {
      answerSync(out, std::move(parked), error);
    }
    // Its session may have run out while it was parked here, which was overlooked.
    armHeartbeat(group, member, out);
  }
}

void ClassicGroups::removePendingSync(ClassicGroup& group, std::string_view memberId, Effects& out) {
  group.removePendingSync(memberId);
  if (group.pendingSync().empty()) out.disarm({TimerKey::Kind::Sync, group.id(), ""});
}

// ---- Heartbeat

Effects ClassicGroups::heartbeat(const protocol::HeartbeatRequest& request, Reply<protocol::HeartbeatResponse> reply) {
  ClassicGroup* group = find(request.groupId);
  ErrorCode error = ErrorCode::None;
  if (group == nullptr || group->isIn(ClassicState::Empty)) {
    error = ErrorCode::UnknownMemberId;
  } else if (group->isIn(ClassicState::Dead)) {
    error = ErrorCode::CoordinatorNotAvailable;
  } else {
    error = group->validateMember(request.memberId, viewOf(request.groupInstanceId));
    if (error == ErrorCode::None && request.generationId != group->generation()) error = ErrorCode::IllegalGeneration;
  }
  Effects out;
  if (error == ErrorCode::None) {
    armHeartbeat(*group, *group->member(request.memberId), out);
    if (group->isIn(ClassicState::PreparingRebalance)) error = ErrorCode::RebalanceInProgress;
  }
  protocol::HeartbeatResponse response;
  response.errorCode = static_cast<int16_t>(error);
  out.whenCommitted = replyWhenCommitted(std::move(reply), response);
  return out;
}

// ---- LeaveGroup

Effects ClassicGroups::leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply) {
  Effects out;
  ClassicGroup* group = find(request.groupId);
  protocol::LeaveGroupResponse response;
  bool anyLeft = false;
  if (group != nullptr && group->isIn(ClassicState::Dead)) {
    response.errorCode = static_cast<int16_t>(ErrorCode::CoordinatorNotAvailable);
  } else {
    for (const auto& identity : request.members) {
      const ErrorCode error = group == nullptr ? ErrorCode::UnknownMemberId : leaveOne(*group, identity, out);
      anyLeft = anyLeft || error == ErrorCode::None;
      auto& one = response.members.emplace_back();
      one.memberId = identity.memberId;
      one.groupInstanceId = identity.groupInstanceId;
      one.errorCode = static_cast<int16_t>(error);
    }
  }
  if (anyLeft) {
    if (group->isIn(ClassicState::Stable) || group->isIn(ClassicState::CompletingRebalance)) {
      prepareRebalanceOrCompleteJoin(
          *group, {events::GroupCause::MemberLeft, response.members.front().memberId, "members have left"}, out);
    } else {
      maybeCompleteJoin(*group, out);
    }
  }
  out.whenCommitted = replyWhenCommitted(std::move(reply), std::move(response));
  return out;
}

ErrorCode ClassicGroups::leaveOne(ClassicGroup& group, const protocol::LeaveGroupRequest::MemberIdentity& identity,
                                  Effects& out) {
  const std::string memberId = identity.memberId.str();
  if (memberId.empty()) {
    // An administrator removes a static member by its instance id alone.
    const auto found = identity.groupInstanceId ? group.staticMemberId(*identity.groupInstanceId) : std::nullopt;
    if (!found) return ErrorCode::UnknownMemberId;
    removeMember(group, *found, out);
    return ErrorCode::None;
  }
  if (group.isPending(memberId)) {
    group.remove(memberId);
    out.disarm({TimerKey::Kind::Heartbeat, group.id(), memberId});
    return ErrorCode::None;
  }
  if (const ErrorCode error = group.validateMember(memberId, viewOf(identity.groupInstanceId));
      error != ErrorCode::None) {
    return error;
  }
  removeMember(group, memberId, out);
  return ErrorCode::None;
}

void ClassicGroups::removeMember(ClassicGroup& group, const std::string& memberId, Effects& out) {
  log_.info("group-coordinator", "member {} leaves group {}", memberId, group.id());
  teller_.left(group.id(), memberId, events::GroupCause::MemberLeft);
  out.disarm({TimerKey::Kind::Heartbeat, group.id(), memberId});
  failJoin(group, *group.member(memberId), out);
  group.remove(memberId);
}

// ---- the log

void ClassicGroups::ensureExists(const std::string& groupId) {
  groups_.try_emplace(groupId, groupId, ClassicState::Empty, clock_.wall());
}

void ClassicGroups::replay(const std::string& groupId, const protocol::GroupMetadataValue* value) {
  const auto known = groups_.extract(groupId);
  if (value == nullptr) {
    if (loaded_ && !known.empty() && known.mapped().isIn(ClassicState::Empty))
      teller_.removed(groupId, known.mapped().generation());
    return;
  }
  const ClassicState state = value->members.empty() ? ClassicState::Empty : ClassicState::Stable;
  ClassicGroup& group = groups_.try_emplace(groupId, groupId, state, clock_.wall()).first->second;
  std::optional<std::string> protocolType, protocol, leader;
  if (!value->protocolType.empty()) protocolType = value->protocolType.str();
  if (value->protocol) protocol = value->protocol->str();
  if (value->leader) leader = value->leader->str();
  std::optional<platform::WallTime> since;
  if (value->currentStateTimestamp >= 0) {
    since = platform::WallTime(platform::milliseconds(value->currentStateTimestamp));
  }
  group.restore(value->generation, protocolType, protocol, leader, since);
  for (const auto& one : value->members) {
    // Nobody writes a member twice; of a record that does, the first counts.
    if (group.hasMember(one.memberId)) continue;
    if (one.groupInstanceId && group.staticMemberId(*one.groupInstanceId)) continue;
    ClassicMember member;
    member.id = one.memberId.str();
    if (one.groupInstanceId) member.instanceId = one.groupInstanceId->str();
    member.clientId = one.clientId.str();
    member.clientHost = one.clientHost.str();
    member.sessionTimeout = platform::milliseconds(one.sessionTimeout);
    member.rebalanceTimeout =
        platform::milliseconds(one.rebalanceTimeout == -1 ? one.sessionTimeout : one.rebalanceTimeout);
    member.protocols.push_back({protocol.value_or(""), one.subscription.bytes()});
    member.assignment = one.assignment.bytes();
    group.add(std::move(member), value->protocolType);
  }
  group.computeSubscribedTopics();
}

void ClassicGroups::tellState(const ClassicGroup& group, events::GroupCause cause, std::string_view member) {
  const auto stateOf = [](ClassicState state) {
    switch (state) {
      case ClassicState::Empty:
        return events::GroupState::Empty;
      case ClassicState::PreparingRebalance:
        return events::GroupState::PreparingRebalance;
      case ClassicState::CompletingRebalance:
        return events::GroupState::CompletingRebalance;
      case ClassicState::Stable:
        return events::GroupState::Stable;
      case ClassicState::Dead:
        break;
    }
    return events::GroupState::Dead;
  };
  teller_.state({.group = group.id(),
                 .from = stateOf(group.previousState()),
                 .to = stateOf(group.state()),
                 .cause = cause,
                 .member = member,
                 .generation = group.generation(),
                 .members = group.members().size()});
}

void ClassicGroups::tellSynced(const ClassicGroup& group, const ClassicMember& member) {
  const auto owned = group.usesConsumerProtocol() ? assignedPartitionsOf(member.assignment) : std::nullopt;
  teller_.progressed(group.id(), member.id, events::MemberStep::Synced, group.generation(), group.generation(),
                     owned ? static_cast<int32_t>(owned->size()) : 0);
}

void ClassicGroups::snapshot(std::vector<GroupSnapshot>& into) const {
  for (const auto& [id, group] : groups_) {
    GroupSnapshot& one = into.emplace_back();
    one.groupId = id;
    one.kind = events::GroupKind::Classic;
    one.state = stateName(group.state());
    one.protocolType = group.protocolType().value_or("");
    one.protocol = group.protocol().value_or("");
    one.leader = group.leader().value_or("");
    one.generation = group.generation();
    one.assignmentEpoch = group.generation();
    for (const auto& [memberId, member] : group.members()) {
      GroupMemberSnapshot& shown = one.members.emplace_back();
      shown.memberId = memberId;
      shown.groupInstanceId = member.instanceId.value_or("");
      shown.clientId = member.clientId;
      shown.clientHost = member.clientHost;
      shown.state = member.awaitingJoin                            ? "Joining"
                    : member.awaitingSync                          ? "Syncing"
                    : group.isIn(ClassicState::PreparingRebalance) ? "Away"
                    : group.pendingSync().contains(memberId)       ? "Away"
                                                                   : "Stable";
      shown.epoch = group.generation();
      shown.silent = clock_.monotonic() - member.lastHeard;
      shown.sessionTimeout = member.sessionTimeout;
      if (!group.usesConsumerProtocol()) continue;
      if (!member.protocols.empty()) {
        shown.subscribedTopics =
            subscribedTopicsOf(member.protocols.front().metadata).value_or(std::vector<std::string>());
      }
      shown.assigned = assignedPartitionsOf(member.assignment).value_or(std::vector<TopicPartition>());
      shown.target = shown.assigned;
    }
  }
}

void ClassicGroups::onLoaded(Effects& out) {
  loaded_ = true;
  for (auto& [id, group] : groups_) {
    for (const auto& [memberId, _] : group.members()) armHeartbeat(group, *group.member(memberId), out);
    if (group.members().size() > static_cast<size_t>(std::max(config_.maxGroupSize, 0))) {
      prepareRebalance(group, {events::GroupCause::Loaded, {}, "it was loaded with more members than group.max.size"},
                       out);
    }
  }
}

void ClassicGroups::dismiss(std::string_view groupId, Effects& out) {
  ClassicGroup* group = find(groupId);
  if (group == nullptr) return;
  for (const auto& [memberId, _] : group->members()) {
    ClassicMember& member = *group->member(memberId);
    if (JoinReply parked = group->takeJoin(member)) {
      answerJoin(out, std::move(parked), memberId, ErrorCode::RebalanceInProgress);
    }
    if (SyncReply parked = group->takeSync(member)) {
      answerSync(out, std::move(parked), ErrorCode::RebalanceInProgress);
    }
  }
  teller_.forget(groupId);
}

Effects ClassicGroups::rebalanceDowngraded(std::string_view groupId) {
  Effects out;
  ClassicGroup* group = find(groupId);
  if (group == nullptr || !group->isIn(ClassicState::Stable)) return out;
  prepareRebalance(*group, {events::GroupCause::Downgraded, {}, "downgraded from the consumer protocol"}, out);
  return out;
}

void ClassicGroups::onUnloaded(Effects& out) {
  for (auto& [id, group] : groups_) {
    group.transitionTo(ClassicState::Dead, clock_.wall());
    for (const auto& [memberId, _] : group.members()) {
      ClassicMember& member = *group.member(memberId);
      if (JoinReply parked = group.takeJoin(member)) {
        answerJoin(out, std::move(parked), memberId, ErrorCode::NotCoordinator);
      }
      if (SyncReply parked = group.takeSync(member)) answerSync(out, std::move(parked), ErrorCode::NotCoordinator);
    }
  }
}

}  // namespace tidemark::coordinator
