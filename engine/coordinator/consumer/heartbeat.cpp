// ConsumerGroupHeartbeat: a member that joins, goes on, or goes away for a while or for ever.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/classic/classic_records.h"
#include "coordinator/consumer/consumer_change.h"
#include "coordinator/consumer/consumer_records.h"
#include "coordinator/consumer/regex.h"

namespace tidemark::coordinator {
namespace {

/// From here on clients make up their own ids.
constexpr int16_t kFirstVersionWithOwnId = 1;

bool isEmptyText(const std::optional<protocol::Text>& text) {
  return text && text->empty();
}

std::optional<std::string> stringOf(const std::optional<protocol::Text>& text) {
  if (!text) return std::nullopt;
  return text->str();
}

}  // namespace

Effects ConsumerGroups::heartbeat(const RequestInfo& info, const HeartbeatRequest& request,
                                  ConsumerHeartbeatReply reply) {
  if (const ConsumerMember* member = quietMember(info, request)) return confirm(request, *member, std::move(reply));
  Effects out;
  const auto decide = [&]() -> Result<HeartbeatResponse> {
    TIDEMARK_TRY(validate(info, request));
    return request.memberEpoch < 0 ? away(request, out) : beat(info, request, out);
  };
  Result<HeartbeatResponse> response = decide();
  if (!response) {
    HeartbeatResponse refused;
    refused.errorCode = static_cast<int16_t>(response.error().code);
    refused.errorMessage = protocol::Text(response.error().message);
    Effects only;
    only.replies.emplace_back(
        [reply = std::move(reply), refused = std::move(refused)]() mutable { reply(std::move(refused)); });
    return only;
  }
  if (out.inTurn) {
    // It has joined; who else does so meanwhile gets the same target.
    out.whenCommitted = [this, info, again = request, reply = std::move(reply),
                         response = std::move(*response)](ErrorCode code) mutable {
      again.memberId = *response.memberId;
      if (code == ErrorCode::None) return heartbeat(info, again, std::move(reply));
      reply(orErrorOfWrite(std::move(response), code));
      return Effects();
    };
    return out;
  }
  // What a downgrade is to do once it is committed comes first.
  out.whenCommitted = [reply = std::move(reply), response = std::move(*response), then = std::move(out.whenCommitted),
                       session = TimerKey{TimerKey::Kind::MemberSession, request.groupId.str(), request.memberId.str()},
                       timeout = config_.consumer.timesOf(request.groupId).sessionTimeout](ErrorCode code) mutable {
    Effects after = then ? then(code) : Effects();
    if (code != ErrorCode::None) {
      // Whoever could not leave is still there, and will be missed.
      after.arm(session, timeout);
    }
    after.replies.emplace_back(
        [reply = std::move(reply), answer = orErrorOfWrite(std::move(response), code)]() mutable {
          reply(std::move(answer));
        });
    return after;
  };
  return out;
}

Result<void> ConsumerGroups::validate(const RequestInfo& info, const HeartbeatRequest& request) const {
  const auto refuse = [](std::string_view why) { return fail(ErrorCode::InvalidRequest, std::string(why)); };
  if (request.memberId.empty() && (info.apiVersion >= kFirstVersionWithOwnId || request.memberEpoch != kJoinEpoch)) {
    return refuse("MemberId can't be empty.");
  }
  if (request.groupId.empty()) return refuse("GroupId can't be empty.");
  if (isEmptyText(request.instanceId)) return refuse("InstanceId can't be empty.");
  if (isEmptyText(request.rackId)) return refuse("RackId can't be empty.");
  if (request.memberEpoch == kJoinEpoch) {
    if (request.rebalanceTimeoutMs == -1) return refuse("RebalanceTimeoutMs must be provided in first request.");
    if (!request.topicPartitions || !request.topicPartitions->empty()) {
      return refuse("TopicPartitions must be empty when (re-)joining.");
    }
    // An empty list of names is a subscription to nothing; to say nothing at all is none.
    if (!request.subscribedTopicNames && !request.subscribedTopicRegex) {
      return refuse("Either SubscribedTopicNames or SubscribedTopicRegex must be set in first request.");
    }
  } else if (request.memberEpoch == kStaticLeaveEpoch) {
    if (!request.instanceId) return refuse("InstanceId can't be null.");
  } else if (request.memberEpoch < kStaticLeaveEpoch) {
    return refuse(fmt::format("MemberEpoch is {}, but must be greater than or equal to -2.", request.memberEpoch));
  }
  if (request.serverAssignor) {
    const auto& known = config_.consumer.assignors;
    if (std::find(known.begin(), known.end(), request.serverAssignor->view()) == known.end()) {
      return fail(ErrorCode::UnsupportedAssignor,
                  fmt::format("ServerAssignor {} is not supported. Supported assignors: {}.",
                              request.serverAssignor->view(), fmt::join(known, ", ")));
    }
  }
  if (request.subscribedTopicRegex && !request.subscribedTopicRegex->empty()) {
    return validateRegex(request.subscribedTopicRegex->view());
  }
  return {};
}

const ConsumerMember* ConsumerGroups::quietMember(const RequestInfo& info, const HeartbeatRequest& request) const {
  const bool saysNothing = request.memberEpoch > 0 && request.rebalanceTimeoutMs == -1 && !request.instanceId &&
                           !request.rackId && !request.serverAssignor && !request.subscribedTopicNames &&
                           !request.subscribedTopicRegex && !request.topicPartitions;
  if (!saysNothing) return nullptr;
  const ConsumerGroup* group = find(request.groupId);
  if (group == nullptr || group->epoch() != group->assignmentEpoch() || !group->regexes().empty()) return nullptr;
  const auto soft = soft_.find(request.groupId.view());
  if (soft == soft_.end() || soft->second.refresh) return nullptr;
  const ConsumerMember* member = group->member(request.memberId);
  if (member == nullptr || member->isClassic() || request.memberEpoch != member->progress.epoch) return nullptr;
  if (!member->isReconciledTo(group->assignmentEpoch())) return nullptr;
  const bool sameClient = member->facts.clientId == info.clientId && member->facts.clientHost == info.clientHost;
  return sameClient ? member : nullptr;
}

Effects ConsumerGroups::confirm(const HeartbeatRequest& request, const ConsumerMember& member,
                                ConsumerHeartbeatReply reply) {
  Effects out;
  const std::string groupId = request.groupId.str();
  const ConsumerGroupConfig::Times times = config_.consumer.timesOf(groupId);
  // Only members of the consumer protocol are quiet.
  armSession(groupId, member, times.sessionTimeout, out);
  HeartbeatResponse response;
  response.memberId = request.memberId;
  response.memberEpoch = member.progress.epoch;
  response.heartbeatIntervalMs = static_cast<int32_t>(times.heartbeatInterval.count());
  response.assignment.reset();
  out.whenCommitted = replyWhenCommitted(std::move(reply), std::move(response));
  return out;
}

Result<ConsumerGroups::HeartbeatResponse> ConsumerGroups::beat(const RequestInfo& info, const HeartbeatRequest& request,
                                                               Effects& out) {
  Change change(request.groupId.str());
  const bool joins = request.memberEpoch == kJoinEpoch;
  TIDEMARK_TRY(openGroup(change, joins));
  change.memberId = request.memberId.empty() ? random_.uuid().toString() : request.memberId.str();
  if (change.group->members().size() >= static_cast<size_t>(std::max(config_.consumer.maxSize, 0)) &&
      change.group->member(change.memberId) == nullptr) {
    return fail(
        ErrorCode::GroupMaxSizeReached,
        fmt::format("The consumer group has reached its maximum capacity of {} members.", config_.consumer.maxSize));
  }
  TIDEMARK_TRY(openMember(change, request));

  MemberFacts& facts = change.after.facts;
  if (request.instanceId) facts.instanceId = stringOf(request.instanceId);
  if (request.rackId) facts.rackId = stringOf(request.rackId);
  if (request.rebalanceTimeoutMs != -1) facts.rebalanceTimeoutMs = request.rebalanceTimeoutMs;
  if (request.serverAssignor) facts.serverAssignor = stringOf(request.serverAssignor);
  if (request.subscribedTopicNames) {
    facts.topics.clear();
    for (const protocol::Text& topic : *request.subscribedTopicNames) facts.topics.insert(topic.str());
  }
  if (request.subscribedTopicRegex) facts.regex = request.subscribedTopicRegex->str();
  facts.clientId = info.clientId;
  facts.clientHost = info.clientHost;
  facts.classic.reset();

  std::optional<PartitionsByTopic> owned;
  if (request.topicPartitions) owned = partitionsOf(*request.topicPartitions);
  const MemberProgress progressBefore = change.after.progress;
  resolveRegexes(change, info);
  updateEpoch(change);
  if (isToGetTargetWithOthers(change)) {
    armSession(change.groupId, change.after, out);
    tellAfter(change.groupId, change.memberId, change.cause, out);
    out.records = std::move(change.records);
    out.inTurn = true;
    HeartbeatResponse response;
    response.memberId = protocol::Text(change.memberId);
    return response;
  }
  updateTarget(change, out);
  TIDEMARK_TRY(advance(change, owned, out));

  armSession(change.groupId, change.after, out);
  if (change.upgraded) {
    classic_.dismiss(change.groupId, out);
    for (const auto& [id, member] : change.group->members()) {
      if (id != change.memberId) armSession(change.groupId, member, out);
    }
  }
  const MemberProgress& progress = change.after.progress;
  HeartbeatResponse response;
  response.memberId = protocol::Text(change.memberId);
  response.memberEpoch = progress.epoch;
  response.heartbeatIntervalMs =
      static_cast<int32_t>(config_.consumer.timesOf(change.groupId).heartbeatInterval.count());
  const bool tellsAll = joins || (request.rebalanceTimeoutMs != -1 && owned &&
                                  (request.subscribedTopicNames || request.subscribedTopicRegex));
  if (tellsAll || request.memberEpoch != progress.epoch ||
      partitionsOf(progress.assigned) != partitionsOf(progressBefore.assigned)) {
    auto& assignment = response.assignment.emplace();
    assignment.topicPartitions = wireOf<HeartbeatResponse::TopicPartitions>(partitionsOf(progress.assigned));
  } else {
    response.assignment.reset();
  }
  out.records = std::move(change.records);
  return response;
}

Result<void> ConsumerGroups::openGroup(Change& change, bool create) {
  change.group = find(change.groupId);
  if (change.group == nullptr) {
    const ClassicGroup* classic = std::as_const(classic_).find(change.groupId);
    const bool isEmpty = classic == nullptr || (classic->isIn(ClassicState::Empty) && classic->pendingCount() == 0);
    if (!create) {
      return fail(ErrorCode::GroupIdNotFound, classic == nullptr
                                                  ? fmt::format("Group {} not found.", change.groupId)
                                                  : fmt::format("Group {} is not a consumer group.", change.groupId));
    }
    if (isEmpty) {
      if (classic != nullptr) change.records.push_back(groupTombstone(change.groupId));
      change.made.emplace(change.groupId);
    } else {
      TIDEMARK_ASSIGN(ConsumerGroup made, upgraded(*classic));
      change.made.emplace(std::move(made));
      change.upgraded = true;
      change.cause = events::GroupCause::Upgraded;
      change.records.push_back(groupTombstone(change.groupId));
      wholeGroupRecords(*change.made, change.records);
    }
    change.group = &*change.made;
  }
  change.regexes = change.group->regexes();
  change.epoch = change.group->epoch();
  change.hash = change.group->metadataHash();
  change.assignmentEpoch = change.group->assignmentEpoch();
  return {};
}

Result<void> ConsumerGroups::openMember(Change& change, const HeartbeatRequest& request) {
  const bool joins = request.memberEpoch == kJoinEpoch;
  const ConsumerMember* member = change.group->member(change.memberId);
  if (request.instanceId) {
    const ConsumerMember* holder = change.group->staticMember(request.instanceId->view());
    if (holder == nullptr && !joins) {
      return fail(ErrorCode::UnknownMemberId, fmt::format("Instance id {} is unknown.", request.instanceId->view()));
    }
    if (holder != nullptr && holder->id != change.memberId) {
      if (!joins) {
        return fail(ErrorCode::FencedInstanceId,
                    fmt::format("Static member {} with instance id {} was fenced by member {}.", change.memberId,
                                request.instanceId->view(), holder->id));
      }
      if (!holder->isClassic() && holder->progress.epoch != kStaticLeaveEpoch) {
        return fail(ErrorCode::UnreleasedInstanceId,
                    fmt::format("Static member {} with instance id {} cannot join the group because the instance id is "
                                "owned by member {}.",
                                change.memberId, request.instanceId->view(), holder->id));
      }
      replaceStatic(change, *holder);
      return {};
    }
  }
  if (member == nullptr) {
    if (!joins) {
      return fail(ErrorCode::UnknownMemberId,
                  fmt::format("Member {} is not a member of group {}.", change.memberId, change.groupId));
    }
    change.after.id = change.memberId;
    return {};
  }
  change.before = *member;
  change.after = *member;
  if (joins) {
    // It starts over with nothing; one that was away comes back as if it were new.
    if (member->progress.epoch < 0) {
      change.after.progress.epoch = 0;
      change.after.progress.previousEpoch = 0;
      change.after.progress.state = MemberState::Stable;
    }
    return {};
  }
  const int32_t known = member->progress.epoch;
  const bool lostAnswer = request.memberEpoch < known && request.memberEpoch == member->progress.previousEpoch &&
                          request.topicPartitions &&
                          isSubset(partitionsOf(*request.topicPartitions), partitionsOf(member->progress.assigned));
  if (request.memberEpoch == known || lostAnswer) return {};
  return fail(ErrorCode::FencedMemberEpoch,
              fmt::format("The consumer group member has a {} member epoch ({}) than the one known by the group "
                          "coordinator ({}). The member must abandon all its partitions and rejoin.",
                          request.memberEpoch > known ? "greater" : "smaller", request.memberEpoch, known));
}

void ConsumerGroups::replaceStatic(Change& change, const ConsumerMember& old) {
  change.replaces = old.id;
  change.after = old;
  change.after.id = change.memberId;
  change.after.progress.epoch = 0;
  change.after.progress.previousEpoch = 0;
  change.after.progress.state = MemberState::Stable;
  change.after.progress.revoking.clear();
  change.cause = events::GroupCause::MemberReplaced;
  change.before = change.after;
  removeMemberRecords(change.groupId, old.id, change.records);
  change.records.push_back(memberFactsRecord(change.groupId, change.memberId, change.after.facts));
  change.records.push_back(targetRecord(change.groupId, change.memberId, change.group->target(old.id)));
  change.records.push_back(progressRecord(change.groupId, change.memberId, change.after.progress));
}

// ---- leaving

Result<ConsumerGroups::HeartbeatResponse> ConsumerGroups::away(const HeartbeatRequest& request, Effects& out) {
  const ConsumerGroup* group = find(request.groupId);
  if (group == nullptr) {
    return fail(ErrorCode::GroupIdNotFound, fmt::format("Group {} not found.", request.groupId.view()));
  }
  const ConsumerMember* member = nullptr;
  if (request.instanceId) {
    member = group->staticMember(request.instanceId->view());
    if (member == nullptr) {
      return fail(ErrorCode::UnknownMemberId, fmt::format("Instance id {} is unknown.", request.instanceId->view()));
    }
    if (member->id != request.memberId.view()) {
      return fail(ErrorCode::FencedInstanceId,
                  fmt::format("Static member {} with instance id {} was fenced by member {}.", request.memberId.view(),
                              request.instanceId->view(), member->id));
    }
  } else {
    member = group->member(request.memberId);
    if (member == nullptr) {
      return fail(ErrorCode::UnknownMemberId,
                  fmt::format("Member {} is not a member of group {}.", request.memberId.view(), group->id()));
    }
  }
  HeartbeatResponse response;
  response.memberId = request.memberId;
  response.memberEpoch = request.memberEpoch;
  response.assignment.reset();
  if (request.memberEpoch == kStaticLeaveEpoch && request.instanceId) {
    // Its place is kept until its session ends.
    MemberProgress progress = member->progress;
    progress.epoch = kStaticLeaveEpoch;
    progress.revoking.clear();
    out.records.push_back(progressRecord(group->id(), member->id, progress));
    tellAfter(group->id(), member->id, events::GroupCause::MemberLeft, out);
  } else {
    fence(*group, {member}, events::GroupCause::MemberLeft, out);
  }
  return response;
}

}  // namespace tidemark::coordinator
