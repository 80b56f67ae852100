// Leaving, timers, assignments, looking at groups.

#include "coordinator/streams/streams_groups.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/streams/sticky_task_assignor.h"

namespace tidemark::coordinator {

using protocol::StreamsGroupHeartbeatRequest;

namespace {

constexpr std::string_view kStreamsLog = "streams-groups";
/// What a timer wanted to write and could not is tried again after that.
constexpr platform::milliseconds kRetryAfter{500};

bool isBlank(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c <= ' '; });
}

Result<void> requireFilled(const std::optional<protocol::Text>& text, std::string_view name) {
  if (text && isBlank(*text)) return fail(ErrorCode::InvalidRequest, fmt::format("{} can't be empty.", name));
  return {};
}

template <class List>
Result<void> requireNone(const std::optional<List>& list, std::string_view name) {
  if (!list || list->empty()) return {};
  return fail(ErrorCode::InvalidRequest, fmt::format("{} must be empty when (re-)joining.", name));
}

std::vector<GroupTaskSnapshot> shownTasks(const StreamsTasks& tasks) {
  std::vector<GroupTaskSnapshot> shown;
  for (const TaskId& task : tasks.active) shown.push_back({task.subtopology, task.partition, TaskRole::Active});
  for (const TaskId& task : tasks.standby) shown.push_back({task.subtopology, task.partition, TaskRole::Standby});
  for (const TaskId& task : tasks.warmup) shown.push_back({task.subtopology, task.partition, TaskRole::Warmup});
  return shown;
}

}  // namespace

Result<void> validateHeartbeat(const StreamsGroupHeartbeatRequest& request) {
  TIDEMARK_TRY(requireFilled(request.memberId, "MemberId"));
  TIDEMARK_TRY(requireFilled(request.groupId, "GroupId"));
  TIDEMARK_TRY(requireFilled(request.instanceId, "InstanceId"));
  TIDEMARK_TRY(requireFilled(request.rackId, "RackId"));
  if (request.memberEpoch == kJoinEpoch) {
    if (request.rebalanceTimeoutMs == -1) {
      return fail(ErrorCode::InvalidRequest, "RebalanceTimeoutMs must be provided in first request.");
    }
    TIDEMARK_TRY(requireNone(request.activeTasks, "ActiveTasks"));
    TIDEMARK_TRY(requireNone(request.standbyTasks, "StandbyTasks"));
    TIDEMARK_TRY(requireNone(request.warmupTasks, "WarmupTasks"));
    if (!request.topology) {
      return fail(ErrorCode::InvalidRequest, "Topology must be non-null when (re-)joining.");
    }
    // What is wrong with it is told before the group is looked for.
    TIDEMARK_TRY(topologyOf(*request.topology));
  } else {
    if (request.memberEpoch == kStaticLeaveEpoch && !request.instanceId) {
      return fail(ErrorCode::InvalidRequest, "InstanceId can't be null.");
    }
    if (request.memberEpoch < kStaticLeaveEpoch) {
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("MemberEpoch is {}, but must be greater than or equal to -2.", request.memberEpoch));
    }
    if (request.topology) {
      return fail(ErrorCode::InvalidRequest, "Topology can only be provided when (re-)joining.");
    }
  }
  const bool some = request.activeTasks || request.standbyTasks || request.warmupTasks;
  const bool all = request.activeTasks && request.standbyTasks && request.warmupTasks;
  if (some && !all) return fail(ErrorCode::InvalidRequest, "If one task-type is non-null, all must be non-null.");
  return {};
}

const StreamsGroup* StreamsGroups::find(std::string_view groupId) const {
  const auto found = groups_.find(groupId);
  return found != groups_.end() ? &found->second : nullptr;
}

Effects StreamsGroups::heartbeat(const RequestInfo& info, const StreamsGroupHeartbeatRequest& request,
                                 std::vector<CoordinatorRecord> before, Reply<StreamsHeartbeatAnswer> reply) {
  cause_ = request.memberEpoch < 0             ? events::GroupCause::MemberLeft
           : request.memberEpoch == kJoinEpoch ? events::GroupCause::MemberJoined
                                               : events::GroupCause::TopicsChanged;
  Effects out;
  out.records = std::move(before);
  Answered answer = request.memberEpoch < 0 ? leave(request, out) : beat(info, request, out);
  if (!answer) {
    Effects refused;
    StreamsHeartbeatAnswer why;
    why.response.errorCode = static_cast<int16_t>(answer.error().code);
    why.response.errorMessage = answer.error().message;
    refused.replies.emplace_back([reply = std::move(reply), why = std::move(why)]() mutable { reply(std::move(why)); });
    return refused;
  }
  out.whenCommitted = [this, groupId = request.groupId.str(), reply = std::move(reply),
                       answer = std::move(*answer)](ErrorCode code) mutable {
    Effects after;
    if (code != ErrorCode::None) {
      answer = {};
      answer.response.errorCode = static_cast<int16_t>(clientErrorOfWrite(code));
      // A group that did not come about leaves nothing behind.
      if (find(groupId) == nullptr && soft_.erase(groupId) > 0) after.disarm({TimerKey::Kind::Join, groupId, ""});
    }
    reply(std::move(answer));
    return after;
  };
  return out;
}

// ---- leaving

StreamsGroups::Answered StreamsGroups::leave(const StreamsGroupHeartbeatRequest& request, Effects& out) {
  const std::string groupId = request.groupId.str();
  const std::string memberId = request.memberId.str();
  const StreamsGroup* group = find(groupId);
  if (group == nullptr) return fail(ErrorCode::GroupIdNotFound, fmt::format("Group {} not found.", groupId));
  const StreamsMember* member = nullptr;
  if (request.instanceId) {
    member = group->staticMember(*request.instanceId);
    if (member == nullptr) {
      return fail(ErrorCode::UnknownMemberId, fmt::format("Instance id {} is unknown.", request.instanceId->view()));
    }
    if (member->id != memberId) {
      return fail(ErrorCode::FencedInstanceId,
                  fmt::format("Static member {} with instance id {} was fenced by member {}.", memberId,
                              request.instanceId->view(), member->id));
    }
  } else {
    member = group->member(memberId);
    if (member == nullptr) {
      return fail(ErrorCode::UnknownMemberId, fmt::format("Member {} is not a member of group {}.", memberId, groupId));
    }
  }
  Soft& soft = soft_[groupId];
  if (request.shutdownApplication && !soft.shutdownRequestedBy) soft.shutdownRequestedBy = memberId;
  StreamsHeartbeatAnswer answer;
  answer.response.memberId = memberId;
  answer.response.memberEpoch = request.memberEpoch;
  answer.response.status.emplace();
  if (request.instanceId && request.memberEpoch == kStaticLeaveEpoch) {
    // Its tasks wait for it; commits of before count no more once it is back.
    StreamsMember away = *member;
    away.epoch = kStaticLeaveEpoch;
    away.pendingRevocation = {};
    for (auto& [task, epoch] : away.assigned.active) epoch = 0;
    out.records.push_back(streamsCurrentRecord(groupId, away));
    return answer;
  }
  around_.log.info(kStreamsLog, "member {} left group {}", memberId, groupId);
  fence(*group, *member, out);
  return answer;
}

void StreamsGroups::fence(const StreamsGroup& group, const StreamsMember& member, Effects& out) const {
  out.records.push_back(streamsCurrentTombstone(group.id(), member.id));
  out.records.push_back(streamsTargetTombstone(group.id(), member.id));
  out.records.push_back(streamsMemberTombstone(group.id(), member.id));
  StreamsGroupFacts next = group.facts();
  ++next.epoch;
  out.records.push_back(streamsGroupRecord(group.id(), next));
  // Whoever comes next into the empty group is assigned at once.
  if (group.members().size() == 1) out.records.push_back(streamsTargetEpochRecord(group.id(), next.epoch, 0));
  out.disarm({TimerKey::Kind::Heartbeat, group.id(), member.id});
  out.disarm({TimerKey::Kind::Rebalance, group.id(), member.id});
}

Effects StreamsGroups::onTimeout(const TimerKey& key) {
  Effects out;
  const StreamsGroup* group = find(key.group);
  if (group == nullptr) return out;
  if (key.kind == TimerKey::Kind::Join) return assignAfterDelay(*group, soft_[key.group]);
  const StreamsMember* member = group->member(key.member);
  if (member == nullptr) return out;
  cause_ =
      key.kind == TimerKey::Kind::Rebalance ? events::GroupCause::RebalanceTimedOut : events::GroupCause::SessionMissed;
  if (key.kind == TimerKey::Kind::Rebalance) {
    if (member->state != StreamsMemberState::UnrevokedTasks) return out;
    around_.log.info(kStreamsLog, "member {} of group {} did not give up its tasks within {} ms: it is fenced",
                     member->id, group->id(), member->rebalanceTimeout.count());
  } else {
    around_.log.info(kStreamsLog, "member {} of group {} was not heard of in time: it is fenced", member->id,
                     group->id());
  }
  fence(*group, *member, out);
  out.whenCommitted = [key](ErrorCode code) {
    Effects again;
    if (code != ErrorCode::None) again.arm(key, kRetryAfter);
    return again;
  };
  return out;
}

// ---- assigning

std::map<std::string, StreamsTasks, std::less<>> StreamsGroups::assign(
    const StreamsGroup& group, int32_t groupEpoch, const std::map<std::string, StreamsMember, std::less<>>& members,
    const std::map<std::string, StreamsTasks, std::less<>>& before, const Soft& soft,
    const ConfiguredTopology& configured, const StreamsGroupConfig& config,
    std::vector<CoordinatorRecord>& records) const {
  std::map<std::string, StreamsTasks, std::less<>> targets;
  if (configured.isReady()) {
    std::vector<TaskCandidate> candidates;
    for (const auto& [id, member] : members) {
      TaskCandidate& candidate = candidates.emplace_back();
      candidate.memberId = id;
      candidate.processId = member.processId;
      candidate.current = member.assigned.tasks();
      if (const auto known = soft.offsets.find(id); known != soft.offsets.end()) {
        candidate.offsets = known->second.offsets;
      }
    }
    for (auto& [id, tasks] : assignTasks(candidates, *configured.subtopologies, config.numStandbyReplicas)) {
      targets.emplace(id, std::move(tasks));
    }
  } else {
    for (const auto& [id, member] : members) targets[id];
  }
  for (const auto& [id, target] : targets) {
    const auto known = before.find(id);
    if (known == before.end() || known->second != target) {
      records.push_back(streamsTargetRecord(group.id(), id, target));
    }
  }
  records.push_back(streamsTargetEpochRecord(group.id(), groupEpoch, around_.clock.wallMs()));
  return targets;
}

Effects StreamsGroups::assignAfterDelay(const StreamsGroup& group, Soft& soft) {
  Effects out;
  soft.initialDelayRuns = false;
  if (group.isEmpty() || group.epoch() <= group.assignmentEpoch() || !soft.configured) return out;
  assign(group, group.epoch(), group.members(), group.targets(), soft, *soft.configured, around_.configOf(group.id()),
         out.records);
  return out;
}

// ---- looking, removing

void StreamsGroups::onTopicsChanged(const std::set<std::string, std::less<>>& topics) {
  for (auto& [groupId, soft] : soft_) {
    const StreamsGroup* group = find(groupId);
    if (group == nullptr || !group->topology()) continue;
    const std::set<std::string> needed = group->topology()->requiredTopics();
    if (std::ranges::any_of(needed, [&topics](const std::string& one) { return topics.contains(one); })) {
      soft.topicsKnownAtEpoch.reset();
    }
  }
}

protocol::StreamsGroupDescribeResponse::DescribedGroup StreamsGroups::describe(std::string_view groupId) const {
  const StreamsGroup* group = find(groupId);
  if (group == nullptr) {
    protocol::StreamsGroupDescribeResponse::DescribedGroup none;
    none.groupId = groupId;
    none.errorCode = static_cast<int16_t>(ErrorCode::GroupIdNotFound);
    none.errorMessage = protocol::Text(fmt::format("Group {} not found.", groupId));
    return none;
  }
  static const Soft kNothingKnown;
  const auto found = soft_.find(groupId);
  const Soft& soft = found != soft_.end() ? found->second : kNothingKnown;
  auto described = group->described(soft.configured, soft.offsets);
  described.assignorName = protocol::Text(kStickyTaskAssignor);
  return described;
}

namespace {

GroupSubtopologySnapshot shownPart(const Subtopology& part) {
  GroupSubtopologySnapshot shown{
      .id = part.id, .sources = part.sourceTopics, .repartitionSinks = part.repartitionSinkTopics};
  for (const InternalTopicInfo& topic : part.repartitionSourceTopics) shown.repartitionSources.push_back(topic.name);
  for (const InternalTopicInfo& topic : part.stateChangelogTopics) shown.changelogs.push_back(topic.name);
  return shown;
}

}  // namespace

void StreamsGroups::snapshot(std::vector<GroupSnapshot>& into) const {
  static const Soft kNothingKnown;
  for (const auto& [groupId, group] : groups_) {
    const auto found = soft_.find(groupId);
    const Soft& soft = found != soft_.end() ? found->second : kNothingKnown;
    GroupSnapshot& one = into.emplace_back();
    one.groupId = groupId;
    one.kind = events::GroupKind::Streams;
    one.state = stateName(group.state());
    one.protocolType = kStreamsProtocolType;
    one.protocol = kStickyTaskAssignor;
    one.generation = group.epoch();
    one.assignmentEpoch = group.assignmentEpoch();
    one.topologyEpoch = group.topologyEpoch();
    if (soft.configured && soft.configured->problem) one.problem = soft.configured->problem->detail;
    if (group.topology())
      for (const auto& [id, part] : group.topology()->subtopologies) one.subtopologies.push_back(shownPart(part));
    const platform::milliseconds session = around_.configOf(groupId).sessionTimeout;
    for (const auto& [memberId, member] : group.members()) {
      GroupMemberSnapshot& shown = one.members.emplace_back();
      shown.memberId = memberId;
      shown.groupInstanceId = member.instanceId.value_or("");
      shown.clientId = member.clientId;
      shown.clientHost = member.clientHost;
      shown.rackId = member.rackId.value_or("");
      shown.state = member.epoch == kStaticLeaveEpoch ? "LEFT" : stateName(member.state);
      shown.isClassic = false;
      shown.epoch = member.epoch;
      shown.processId = member.processId;
      shown.topologyEpoch = member.topologyEpoch;
      shown.sessionTimeout = session;
      if (const auto heard = soft.heard.find(memberId); heard != soft.heard.end()) {
        shown.silent = around_.clock.monotonic() - heard->second;
      }
      shown.tasks = shownTasks(member.assigned.tasks());
      shown.targetTasks = shownTasks(group.target(memberId));
      shown.revokingTasks = shownTasks(member.pendingRevocation.tasks());
    }
  }
}

void StreamsGroups::removeEmpty(std::string_view groupId, Effects& out) const {
  out.records.push_back(streamsTargetEpochTombstone(groupId));
  out.records.push_back(streamsGroupTombstone(groupId));
  out.records.push_back(streamsTopologyTombstone(groupId));
  out.disarm({TimerKey::Kind::Join, std::string(groupId), ""});
}

}  // namespace tidemark::coordinator
