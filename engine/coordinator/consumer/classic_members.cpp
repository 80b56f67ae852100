// Members that still follow the classic protocol, in a group of the consumer protocol: they are given an assignment by
// the coordinator as well, and walk to it by joining again.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/classic/classic_joining.h"
#include "coordinator/classic/consumer_protocol.h"
#include "coordinator/consumer/consumer_change.h"
#include "coordinator/consumer/consumer_records.h"

namespace tidemark::coordinator {
namespace {

constexpr int16_t kFirstJoinVersionWithRequiredId = 4;

std::optional<std::string_view> instanceOf(const std::optional<protocol::Text>& text) {
  if (!text) return std::nullopt;
  return text->view();
}

/// The member that the request names, if it is one and follows the classic protocol.
std::pair<ErrorCode, const ConsumerMember*> classicMember(const ConsumerGroup& group, std::string_view memberId,
                                                          std::optional<std::string_view> instanceId) {
  const ConsumerMember* member = instanceId ? group.staticMember(*instanceId) : group.member(memberId);
  if (member == nullptr) return {ErrorCode::UnknownMemberId, nullptr};
  if (instanceId && !memberId.empty() && member->id != memberId) return {ErrorCode::FencedInstanceId, nullptr};
  if (!member->isClassic()) return {ErrorCode::UnknownMemberId, nullptr};
  return {ErrorCode::None, member};
}

}  // namespace

Effects ConsumerGroups::join(const RequestInfo& info, const protocol::JoinGroupRequest& request, JoinReply reply) {
  Effects out;
  Change change(request.groupId.str());
  change.group = find(change.groupId);
  change.memberId = request.memberId.str();
  const auto refuse = [&](ErrorCode error) {
    Effects only;
    answerJoin(only, std::move(reply), request.memberId, error);
    return only;
  };
  const bool isUnknown = change.memberId.empty();
  if (isUnknown) change.memberId = random_.uuid().toString();
  const ConsumerMember* known = change.group->member(change.memberId);
  if (known == nullptr &&
      change.group->members().size() >= static_cast<size_t>(std::max(config_.consumer.maxSize, 0))) {
    return refuse(ErrorCode::GroupMaxSizeReached);
  }
  std::vector<std::string_view> names;
  for (const auto& protocol : request.protocols) names.push_back(protocol.name);
  const auto subscription =
      request.protocols.empty() ? std::nullopt : subscriptionOf(request.protocols.front().metadata.view());
  if (!subscription || !change.group->supportsProtocols(request.protocolType, names)) {
    return refuse(ErrorCode::InconsistentGroupProtocol);
  }
  if (isUnknown && !request.groupInstanceId && info.apiVersion >= kFirstJoinVersionWithRequiredId) {
    answerJoin(out, std::move(reply), change.memberId, ErrorCode::MemberIdRequired);
    return out;
  }
  change.regexes = change.group->regexes();
  change.epoch = change.group->epoch();
  change.hash = change.group->metadataHash();
  change.assignmentEpoch = change.group->assignmentEpoch();
  const ConsumerMember* holder =
      request.groupInstanceId ? change.group->staticMember(request.groupInstanceId->view()) : nullptr;
  if (request.groupInstanceId && !isUnknown && holder == nullptr) return refuse(ErrorCode::UnknownMemberId);
  if (holder != nullptr && holder->id != change.memberId) {
    if (!isUnknown) return refuse(ErrorCode::FencedInstanceId);
    replaceStatic(change, *holder);
  } else if (known != nullptr) {
    change.before = *known;
    change.after = *known;
  } else {
    change.after.id = change.memberId;
  }

  MemberFacts& facts = change.after.facts;
  if (request.groupInstanceId) facts.instanceId = request.groupInstanceId->str();
  facts.rackId = subscription->rackId ? subscription->rackId : facts.rackId;
  facts.rebalanceTimeoutMs = info.apiVersion == 0 ? request.sessionTimeoutMs : request.rebalanceTimeoutMs;
  facts.topics = {subscription->topics.begin(), subscription->topics.end()};
  facts.regex.clear();
  facts.clientId = info.clientId;
  facts.clientHost = info.clientHost;
  facts.classic = ClassicFacts{request.sessionTimeoutMs, {}};
  for (const auto& protocol : request.protocols) {
    facts.classic->protocols.push_back({protocol.name.str(), protocol.metadata.bytes()});
  }
  std::optional<PartitionsByTopic> owned(std::in_place);
  for (const TopicPartition& one : subscription->owned) {
    if (const auto topic = topics_.topicId(one.topic)) (*owned)[*topic].insert(one.partition.value());
  }
  resolveRegexes(change, info);
  updateEpoch(change);
  updateTarget(change, out);
  if (const Result<void> advanced = advance(change, owned, out); !advanced) return refuse(advanced.error().code);

  out.records = std::move(change.records);
  soft_[change.groupId].awaitedJoins.erase(change.memberId);
  out.disarm({TimerKey::Kind::MemberJoin, change.groupId, change.memberId});
  if (mayDowngradeTo(change)) {
    downgrade(*change.group, change.replaces, &change.after, out);
  } else {
    armSession(change.groupId, change.after, out);
    out.arm({TimerKey::Kind::MemberSync, change.groupId, change.memberId},
            platform::milliseconds(facts.rebalanceTimeoutMs));
  }
  protocol::JoinGroupResponse response;
  response.memberId = protocol::Text(change.memberId);
  response.generationId = change.after.progress.epoch;
  response.protocolType = protocol::Text(kConsumerProtocol);
  response.protocolName = protocol::Text(facts.classic->protocols.front().name);
  out.whenCommitted = replyWhenCommitted(std::move(reply), std::move(response));
  return out;
}

bool ConsumerGroups::mayDowngradeTo(const Change& change) const {
  return !change.replaces.empty() && change.group->isClassicExcept(change.replaces) && config_.consumer.downgrades &&
         change.group->members().size() <= static_cast<size_t>(std::max(config_.maxGroupSize, 0));
}

Effects ConsumerGroups::sync(const protocol::SyncGroupRequest& request, SyncReply reply) {
  Effects out;
  const ConsumerGroup& group = *find(request.groupId);
  auto [error, member] = classicMember(group, request.memberId, instanceOf(request.groupInstanceId));
  protocol::SyncGroupResponse response;
  if (error == ErrorCode::None) {
    const MemberProtocol& protocol = member->facts.classic->protocols.front();
    if (request.generationId != member->progress.epoch) {
      error = ErrorCode::IllegalGeneration;
    } else if ((request.protocolType && *request.protocolType != kConsumerProtocol) ||
               (request.protocolName && *request.protocolName != protocol.name)) {
      error = ErrorCode::InconsistentGroupProtocol;
    } else if (group.epoch() > member->progress.epoch && member->progress.state != MemberState::UnrevokedPartitions) {
      awaitJoin(group.id(), *member, out);
      error = ErrorCode::RebalanceInProgress;
    } else {
      out.disarm({TimerKey::Kind::MemberSync, group.id(), member->id});
      armSession(group.id(), *member, out);
      response.protocolType = request.protocolType;
      response.protocolName = request.protocolName;
      response.assignment = protocol::Blob(encodedAssignment(
          namedPartitions(partitionsOf(member->progress.assigned), topics_), protocolVersionOf(protocol.metadata)));
    }
  }
  response.errorCode = static_cast<int16_t>(error);
  out.whenCommitted = replyWhenCommitted(std::move(reply), std::move(response));
  return out;
}

Effects ConsumerGroups::classicHeartbeat(const protocol::HeartbeatRequest& request,
                                         Reply<protocol::HeartbeatResponse> reply) {
  Effects out;
  const ConsumerGroup& group = *find(request.groupId);
  auto [error, member] = classicMember(group, request.memberId, instanceOf(request.groupInstanceId));
  if (error == ErrorCode::None && request.generationId != member->progress.epoch) error = ErrorCode::IllegalGeneration;
  if (error == ErrorCode::None) {
    armSession(group.id(), *member, out);
    // It has to join again to catch up, to say what it gave back, or to take what others gave back.
    const MemberProgress& progress = member->progress;
    if (progress.epoch < group.epoch() || progress.state == MemberState::UnrevokedPartitions ||
        (progress.state == MemberState::UnreleasedPartitions && !group.isWaiting(*member))) {
      error = ErrorCode::RebalanceInProgress;
      awaitJoin(group.id(), *member, out);
    }
  }
  protocol::HeartbeatResponse response;
  response.errorCode = static_cast<int16_t>(error);
  out.whenCommitted = replyWhenCommitted(std::move(reply), response);
  return out;
}

Effects ConsumerGroups::leave(const protocol::LeaveGroupRequest& request, Reply<protocol::LeaveGroupResponse> reply) {
  Effects out;
  const ConsumerGroup& group = *find(request.groupId);
  protocol::LeaveGroupResponse response;
  std::vector<const ConsumerMember*> leaving;
  for (const auto& identity : request.members) {
    auto& one = response.members.emplace_back();
    one.memberId = identity.memberId;
    one.groupInstanceId = identity.groupInstanceId;
    // An administrator removes a static member by its instance id alone, whichever protocol it speaks.
    const std::optional<std::string_view> instance = instanceOf(identity.groupInstanceId);
    const ConsumerMember* removed =
        instance && identity.memberId.view().empty() ? group.staticMember(*instance) : nullptr;
    const auto [error, member] =
        removed != nullptr ? std::pair(ErrorCode::None, removed) : classicMember(group, identity.memberId, instance);
    if (error == ErrorCode::None && std::find(leaving.begin(), leaving.end(), member) == leaving.end()) {
      leaving.push_back(member);
    }
    one.errorCode = static_cast<int16_t>(error);
  }
  if (!leaving.empty()) fence(group, leaving, events::GroupCause::MemberLeft, out);
  out.whenCommitted = [reply = std::move(reply), response = std::move(response),
                       then = std::move(out.whenCommitted)](ErrorCode code) mutable {
    Effects after = then ? then(code) : Effects();
    after.replies.emplace_back(
        [reply = std::move(reply), answer = orErrorOfWrite(std::move(response), code)]() mutable {
          reply(std::move(answer));
        });
    return after;
  };
  return out;
}

}  // namespace tidemark::coordinator
