// StreamsGroupHeartbeat of members that join or go on, step by step.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coordinator/streams/endpoints.h"
#include "coordinator/streams/streams_groups.h"

namespace tidemark::coordinator {

using protocol::StreamsGroupHeartbeatRequest;
using protocol::StreamsGroupHeartbeatResponse;

namespace {

/// The first version that tells which client tags are missing.
constexpr int16_t kFirstVersionWithMissingTags = 1;

using OwnedTasks = std::optional<std::vector<StreamsGroupHeartbeatRequest::TaskIds>>;

/// What the member says that it owns; nothing if it does not say.
std::optional<StreamsTasks> ownedOf(const StreamsGroupHeartbeatRequest& request) {
  if (!request.activeTasks || !request.standbyTasks || !request.warmupTasks) return std::nullopt;
  return StreamsTasks{.active = taskSetOf(*request.activeTasks),
                      .standby = taskSetOf(*request.standbyTasks),
                      .warmup = taskSetOf(*request.warmupTasks)};
}

/// Whether a member says what it owns, and none of it is not its own.
template <class Assigned>
bool ownsOnly(const OwnedTasks& owned, const Assigned& assigned) {
  if (!owned) return false;
  const TaskSet tasks = taskSetOf(*owned);
  return std::ranges::all_of(tasks, [&assigned](const TaskId& task) { return assigned.contains(task); });
}

Result<void> validateEpoch(const StreamsMember& member, const StreamsGroupHeartbeatRequest& request) {
  const int32_t epoch = request.memberEpoch;
  if (epoch == kJoinEpoch || epoch == member.epoch) return {};
  if (epoch > member.epoch) {
    return fail(ErrorCode::FencedMemberEpoch,
                fmt::format("The streams group member has a greater member epoch ({}) than the one known by the group "
                            "coordinator ({}). The member must abandon all its partitions and rejoin.",
                            epoch, member.epoch));
  }
  // It may have missed the answer that gave it its epoch.
  const bool missedAnswer = epoch == member.previousEpoch && ownsOnly(request.activeTasks, member.assigned.active) &&
                            ownsOnly(request.standbyTasks, member.assigned.standby) &&
                            ownsOnly(request.warmupTasks, member.assigned.warmup);
  if (missedAnswer) return {};
  return fail(ErrorCode::FencedMemberEpoch,
              fmt::format("The streams group member has a smaller member epoch ({}) than the one known by the group "
                          "coordinator ({}). The member must abandon all its partitions and rejoin.",
                          epoch, member.epoch));
}

Result<void> validateTasks(const ConfiguredTopology& configured, const OwnedTasks& owned) {
  if (!owned) return {};
  for (const auto& list : *owned) {
    const auto found = configured.subtopologies->find(list.subtopologyId.view());
    if (found == configured.subtopologies->end()) {
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("Subtopology {} does not exist in the topology.", list.subtopologyId.view()));
    }
    const int32_t tasks = found->second.tasks;
    for (const int32_t partition : list.partitions) {
      if (partition >= 0 && partition < tasks) continue;
      return fail(ErrorCode::InvalidRequest,
                  fmt::format("Task {} for subtopology {} is invalid. Number of tasks for this subtopology: {}",
                              partition, list.subtopologyId.view(), tasks));
    }
  }
  return {};
}

Result<std::map<TaskId, int64_t>> offsetsOf(const std::vector<StreamsGroupHeartbeatRequest::TaskOffset>& told) {
  std::map<TaskId, int64_t> offsets;
  for (const auto& one : told) {
    if (offsets.emplace(TaskId{one.subtopologyId.str(), one.partition}, one.offset).second) continue;
    return fail(ErrorCode::InvalidRequest,
                fmt::format("Task offsets contain a duplicate entry for subtopology {} and partition {}.",
                            one.subtopologyId.view(), one.partition));
  }
  return offsets;
}

/// The settings that an assignment depends on, as its group's record keeps them.
std::map<std::string, std::string> assignmentConfigs(const StreamsGroupConfig& config) {
  std::map<std::string, std::string> configs;
  configs["num.standby.replicas"] = std::to_string(config.numStandbyReplicas);
  if (!config.rackAwareAssignmentTags.empty()) {
    configs["rack.aware.assignment.tags"] = fmt::format("{}", fmt::join(config.rackAwareAssignmentTags, ","));
  }
  return configs;
}

/// Whether something changed that tasks depend on: a static member may restart elsewhere without an assignment.
bool differInWhatMatters(const StreamsMember& a, const StreamsMember& b) {
  return a.topologyEpoch != b.topologyEpoch || a.rackId != b.rackId || a.clientTags != b.clientTags ||
         a.processId != b.processId;
}

}  // namespace

/// A heartbeat in the works.
struct StreamsGroups::Beat {
  void tell(StreamsStatus code, std::string_view detail) {
    status.push_back({static_cast<int8_t>(code), protocol::Text(detail)});
  }

  const RequestInfo& info;
  const StreamsGroupHeartbeatRequest& request;
  const StreamsGroup& group;
  Soft& soft;
  const StreamsGroupConfig config;
  const bool isJoining;
  const std::string memberId;

  /// As it was, or as a new one begins; and as it is to be.
  StreamsMember before;
  StreamsMember member;
  /// The id of the static member whose place it takes.
  std::optional<std::string> replaced;
  StreamsTopology topology;
  int64_t metadataHash = 0;
  int32_t validatedTopologyEpoch = -1;
  bool mustAssign = false;
  /// The topics were looked at.
  bool looked = false;
  int32_t groupEpoch = 0;
  int32_t assignmentEpoch = 0;
  StreamsTasks target;
  std::vector<StreamsGroupHeartbeatResponse::Status> status;
};

StreamsGroups::Answered StreamsGroups::beat(const RequestInfo& info, const StreamsGroupHeartbeatRequest& request,
                                            Effects& out) {
  const std::string groupId = request.groupId.str();
  const StreamsGroup* known = find(groupId);
  const bool isJoining = request.memberEpoch == kJoinEpoch;
  if (known == nullptr && !isJoining) {
    return fail(ErrorCode::GroupIdNotFound, fmt::format("Streams group {} not found.", groupId));
  }
  // Of a group that is not there yet, nothing is kept unless all goes well.
  const StreamsGroup blank(groupId);
  Soft fresh;
  Beat beat{.info = info,
            .request = request,
            .group = known != nullptr ? *known : blank,
            .soft = known != nullptr ? soft_[groupId] : fresh,
            .config = around_.configOf(groupId),
            .isJoining = isJoining,
            .memberId = request.memberId.str()};
  TIDEMARK_TRY(findMember(beat, out));
  updateMember(beat, out);
  TIDEMARK_TRY(updateTopology(beat, out));
  TIDEMARK_TRY(configure(beat));
  bumpEpoch(beat, out);
  updateTarget(beat, out);
  TIDEMARK_TRY(reconcile(beat, out));
  out.arm({TimerKey::Kind::Heartbeat, groupId, beat.memberId}, beat.config.sessionTimeout);
  if (request.shutdownApplication && !beat.soft.shutdownRequestedBy) beat.soft.shutdownRequestedBy = beat.memberId;
  beat.soft.heard[beat.memberId] = around_.clock.monotonic();
  StreamsHeartbeatAnswer answer = answerOf(beat);
  if (known == nullptr) soft_[groupId] = std::move(fresh);
  return answer;
}

// ---- who it is

Result<void> StreamsGroups::findMember(Beat& beat, Effects& out) const {
  if (beat.isJoining) {
    const bool keepsPlace = beat.request.instanceId && beat.group.staticMember(*beat.request.instanceId) != nullptr;
    const auto limit = static_cast<size_t>(beat.config.maxSize);
    if (!keepsPlace && beat.group.members().size() >= limit && beat.group.member(beat.memberId) == nullptr) {
      return fail(ErrorCode::GroupMaxSizeReached,
                  fmt::format("The streams group has reached its maximum capacity of {} members.", limit));
    }
  }
  TIDEMARK_TRY(beat.request.instanceId ? findStaticMember(beat, out) : findDynamicMember(beat));
  beat.member = beat.before;
  return {};
}

Result<void> StreamsGroups::findDynamicMember(Beat& beat) const {
  const StreamsMember* known = beat.group.member(beat.memberId);
  if (known == nullptr && !beat.isJoining) {
    return fail(ErrorCode::UnknownMemberId,
                fmt::format("Member {} is not a member of group {}.", beat.memberId, beat.group.id()));
  }
  if (known != nullptr) {
    TIDEMARK_TRY(validateEpoch(*known, beat.request));
    beat.before = *known;
  } else {
    beat.before.id = beat.memberId;
  }
  return {};
}

Result<void> StreamsGroups::findStaticMember(Beat& beat, Effects& out) const {
  const std::string instanceId = beat.request.instanceId->str();
  const StreamsMember* known = beat.group.staticMember(instanceId);
  if (!beat.isJoining) {
    if (known == nullptr) {
      return fail(ErrorCode::UnknownMemberId, fmt::format("Instance id {} is unknown.", instanceId));
    }
    if (known->id != beat.memberId) {
      return fail(ErrorCode::FencedInstanceId,
                  fmt::format("Static member {} with instance id {} was fenced by member {}.", beat.memberId,
                              instanceId, known->id));
    }
    TIDEMARK_TRY(validateEpoch(*known, beat.request));
    beat.before = *known;
    return {};
  }
  if (known == nullptr) {
    const StreamsMember* same = beat.group.member(beat.memberId);
    if (same != nullptr) beat.before = *same;
    beat.before.id = beat.memberId;
    return {};
  }
  if (known->epoch != kStaticLeaveEpoch) {
    return fail(ErrorCode::UnreleasedInstanceId,
                fmt::format("Static member {} with instance id {} cannot join the group because the instance id is "
                            "owned by {} member.",
                            beat.memberId, instanceId, known->id));
  }
  // It comes back: the new id gets the old one's place, tasks included.
  const std::string& groupId = beat.group.id();
  beat.before = *known;
  beat.before.id = beat.memberId;
  beat.before.epoch = 0;
  beat.before.previousEpoch = 0;
  out.records.push_back(streamsCurrentTombstone(groupId, known->id));
  out.records.push_back(streamsTargetTombstone(groupId, known->id));
  out.records.push_back(streamsMemberTombstone(groupId, known->id));
  out.records.push_back(streamsMemberRecord(groupId, beat.before));
  out.records.push_back(streamsTargetRecord(groupId, beat.memberId, beat.group.target(known->id)));
  out.records.push_back(streamsCurrentRecord(groupId, beat.before));
  if (known->id != beat.memberId) {
    beat.replaced = known->id;
    out.disarm({TimerKey::Kind::Heartbeat, groupId, known->id});
    out.disarm({TimerKey::Kind::Rebalance, groupId, known->id});
  }
  return {};
}

void StreamsGroups::updateMember(Beat& beat, Effects& out) const {
  const StreamsGroupHeartbeatRequest& request = beat.request;
  StreamsMember& member = beat.member;
  if (request.instanceId) member.instanceId = request.instanceId->str();
  if (request.rackId) member.rackId = request.rackId->str();
  if (request.rebalanceTimeoutMs != -1) member.rebalanceTimeout = platform::milliseconds(request.rebalanceTimeoutMs);
  if (request.topology) member.topologyEpoch = request.topology->epoch;
  member.clientId = beat.info.clientId;
  member.clientHost = beat.info.clientHost;
  if (request.processId) member.processId = request.processId->str();
  if (request.clientTags) {
    member.clientTags.clear();
    for (const auto& tag : *request.clientTags) member.clientTags[tag.key.str()] = tag.value.str();
  }
  if (request.userEndpoint) {
    member.userEndpoint = UserEndpoint{request.userEndpoint->host.str(), request.userEndpoint->port};
  } else if (beat.isJoining) {
    member.userEndpoint.reset();
  }
  if (member == beat.before) return;
  out.records.push_back(streamsMemberRecord(beat.group.id(), member));
  beat.mustAssign = !request.instanceId || differInWhatMatters(beat.before, member);
}

// ---- what the application is

Result<void> StreamsGroups::updateTopology(Beat& beat, Effects& out) const {
  const std::optional<StreamsTopology>& known = beat.group.topology();
  if (beat.request.topology) {
    TIDEMARK_ASSIGN(StreamsTopology given, topologyOf(*beat.request.topology));
    if (!known) {
      out.records.push_back(streamsTopologyRecord(beat.group.id(), given));
      beat.topology = std::move(given);
      return {};
    }
    if (known->epoch <= given.epoch && *known != given) {
      return fail(ErrorCode::InvalidRequest, "Topology updates are not supported yet.");
    }
  } else if (!known) {
    return fail(ErrorCode::UnknownServerError, "The topology is null and the group topology is also null.");
  }
  beat.topology = *known;
  if (beat.member.topologyEpoch < known->epoch) {
    beat.tell(StreamsStatus::StaleTopology,
              fmt::format("The member's topology epoch {} is behind the group's topology epoch {}.",
                          beat.member.topologyEpoch, known->epoch));
  }
  return {};
}

Result<void> StreamsGroups::configure(Beat& beat) const {
  Soft& soft = beat.soft;
  bool anew = !beat.group.topology() || !soft.configured;
  beat.metadataHash = beat.group.facts().metadataHash;
  const bool topicsKnown = soft.topicsKnownAtEpoch && *soft.topicsKnownAtEpoch <= beat.group.epoch();
  if (anew || !topicsKnown) {
    beat.metadataHash = around_.hashes.ofGroup(beat.topology.requiredTopics());
    if (beat.metadataHash != beat.group.facts().metadataHash) {
      beat.mustAssign = true;
      anew = true;
    }
    if (anew) {
      TIDEMARK_ASSIGN(ConfiguredTopology configured,
                      configureTopology(beat.topology, [this](std::string_view topic) -> std::optional<int32_t> {
                        const std::optional<TopicFacts> facts = around_.topics.topic(topic);
                        return facts ? std::optional(facts->partitionCount()) : std::nullopt;
                      }));
      if (configured.problem) {
        around_.log.info("streams-groups", "group {} cannot be assigned: {}", beat.group.id(),
                         configured.problem->detail);
      }
      soft.configured = std::move(configured);
    }
    beat.looked = true;
  }
  if (soft.configured->isReady()) {
    beat.validatedTopologyEpoch = beat.topology.epoch;
    TIDEMARK_TRY(validateTasks(*soft.configured, beat.request.activeTasks));
    TIDEMARK_TRY(validateTasks(*soft.configured, beat.request.standbyTasks));
    TIDEMARK_TRY(validateTasks(*soft.configured, beat.request.warmupTasks));
  }
  std::optional<std::map<TaskId, int64_t>> offsets;
  std::optional<std::map<TaskId, int64_t>> endOffsets;
  if (beat.request.taskOffsets) {
    TIDEMARK_ASSIGN(offsets, offsetsOf(*beat.request.taskOffsets));
  }
  if (beat.request.taskEndOffsets) {
    TIDEMARK_ASSIGN(endOffsets, offsetsOf(*beat.request.taskEndOffsets));
  }
  if (offsets) soft.offsets[beat.memberId].offsets = std::move(*offsets);
  if (endOffsets) soft.offsets[beat.memberId].endOffsets = std::move(*endOffsets);
  return {};
}

// ---- who gets what

void StreamsGroups::bumpEpoch(Beat& beat, Effects& out) const {
  const StreamsGroupFacts& facts = beat.group.facts();
  std::map<std::string, std::string> configs = assignmentConfigs(beat.config);
  beat.mustAssign = beat.mustAssign || beat.validatedTopologyEpoch != facts.validatedTopologyEpoch ||
                    configs != facts.assignmentConfigs;
  beat.groupEpoch = facts.epoch + (beat.mustAssign ? 1 : 0);
  // If the record that says so gets lost, the group stays below this epoch and looks again.
  if (beat.looked) beat.soft.topicsKnownAtEpoch = beat.groupEpoch;
  if (!beat.mustAssign) return;
  StreamsGroupFacts next = facts;
  next.epoch = beat.groupEpoch;
  next.metadataHash = beat.metadataHash;
  next.validatedTopologyEpoch = beat.validatedTopologyEpoch;
  next.assignmentConfigs = std::move(configs);
  out.records.push_back(streamsGroupRecord(beat.group.id(), next));
}

void StreamsGroups::updateTarget(Beat& beat, Effects& out) const {
  Soft& soft = beat.soft;
  const StreamsGroup& group = beat.group;
  if (group.isEmpty() && beat.config.initialRebalanceDelay.count() > 0 && !soft.initialDelayRuns) {
    soft.initialDelayRuns = true;
    out.arm({TimerKey::Kind::Join, group.id(), ""}, beat.config.initialRebalanceDelay);
  }
  beat.assignmentEpoch = group.assignmentEpoch();
  if (soft.initialDelayRuns) {
    beat.tell(StreamsStatus::AssignmentDelayed, "Assignment delayed due to the configured initial rebalance delay.");
    return;
  }
  beat.target = group.target(beat.replaced ? *beat.replaced : beat.memberId);
  if (group.assignmentEpoch() >= beat.groupEpoch) return;
  const int64_t madeMs = group.assignmentTimestampMs();
  // Made by a clock that was set back since, or by another coordinator's that was ahead: that must not hold it up.
  const int64_t sinceMs = around_.clock.wallMs() - madeMs;
  if (madeMs != 0 && sinceMs >= 0 && sinceMs < beat.config.assignmentInterval.count()) {
    beat.tell(StreamsStatus::AssignmentDelayed, "Assignment delayed due to the configured assignment interval.");
    return;
  }
  auto members = group.members();
  auto targets = group.targets();
  if (beat.replaced) {
    members.erase(*beat.replaced);
    if (auto node = targets.extract(*beat.replaced); !node.empty()) {
      node.key() = beat.memberId;
      targets.insert(std::move(node));
    }
  }
  members.insert_or_assign(beat.memberId, beat.member);
  beat.target =
      assign(group, beat.groupEpoch, members, targets, soft, *soft.configured, beat.config, out.records)[beat.memberId];
  beat.assignmentEpoch = beat.groupEpoch;
}

Result<void> StreamsGroups::reconcile(Beat& beat, Effects& out) const {
  if (beat.member.isReconciledTo(beat.assignmentEpoch)) return {};
  TIDEMARK_ASSIGN(StreamsMember next, reconciled(beat.member, beat.assignmentEpoch, beat.target, ownedOf(beat.request),
                                                 beat.group.owners()));
  if (next == beat.member) return {};
  beat.member = std::move(next);
  out.records.push_back(streamsCurrentRecord(beat.group.id(), beat.member));
  TimerKey timer{TimerKey::Kind::Rebalance, beat.group.id(), beat.memberId};
  if (beat.member.state == StreamsMemberState::UnrevokedTasks) {
    out.arm(std::move(timer), beat.member.rebalanceTimeout);
  } else {
    out.disarm(std::move(timer));
  }
  return {};
}

// ---- what it is told

StreamsHeartbeatAnswer StreamsGroups::answerOf(Beat& beat) const {
  using TaskIds = StreamsGroupHeartbeatResponse::TaskIds;
  StreamsHeartbeatAnswer answer;
  StreamsGroupHeartbeatResponse& response = answer.response;
  const StreamsMember& member = beat.member;
  response.memberId = member.id;
  response.memberEpoch = member.epoch;
  response.heartbeatIntervalMs = static_cast<int32_t>(beat.config.heartbeatInterval.count());
  response.taskOffsetIntervalMs = static_cast<int32_t>(beat.config.taskOffsetInterval.count());
  response.acceptableRecoveryLag = beat.config.acceptableRecoveryLag;

  const bool tasksChanged = member.assigned != beat.before.assigned;
  const StreamsTasks tasks = member.assigned.tasks();
  // An answer that it missed is not given again by what changed since, and may have left its epoch as it was. Kafka
  // leaves such a member without tasks that nobody else runs; its consumer groups tell whoever says all (KIP-848).
  const std::optional<StreamsTasks> owned = ownedOf(beat.request);
  const bool isBehind = owned && *owned != tasks;
  if (beat.isJoining || tasksChanged || isBehind) {
    response.activeTasks = taskIdsOf<TaskIds>(tasks.active);
    response.standbyTasks = taskIdsOf<TaskIds>(tasks.standby);
    response.warmupTasks = taskIdsOf<TaskIds>(tasks.warmup);
  }
  if (member.userEndpoint != beat.before.userEndpoint || (tasksChanged && member.userEndpoint)) {
    ++beat.soft.endpointEpoch;
  }
  response.endpointInformationEpoch = beat.soft.endpointEpoch;
  const ConfiguredTopology& configured = *beat.soft.configured;
  if (beat.soft.endpointEpoch != beat.request.endpointInformationEpoch) {
    auto& endpoints = response.partitionsByUserEndpoint.emplace();
    for (const auto& [id, other] : beat.group.members()) {
      if (id == member.id || id == beat.replaced) continue;
      addEndpoint(other, configured, around_.topics, endpoints);
    }
    addEndpoint(member, configured, around_.topics, endpoints);
  }

  if (configured.problem) {
    beat.tell(configured.problem->status, configured.problem->detail);
    for (const auto& [name, topic] : configured.topicsToCreate) answer.topicsToCreate.push_back(topic);
  }
  if (beat.soft.shutdownRequestedBy) {
    beat.tell(StreamsStatus::ShutdownApplication,
              fmt::format("Streams group member {} encountered a fatal error and requested a shutdown for the entire "
                          "application.",
                          *beat.soft.shutdownRequestedBy));
  }
  if (beat.info.apiVersion >= kFirstVersionWithMissingTags) {
    std::vector<std::string> missing;
    for (const std::string& tag : beat.config.rackAwareAssignmentTags) {
      if (!member.clientTags.contains(tag)) missing.push_back(tag);
    }
    if (!missing.empty()) {
      beat.tell(StreamsStatus::MissingClientTags,
                fmt::format("Missing required client tags for rack-aware standby assignment: [{}]. Configure them via "
                            "'client.tag.<tagKey>' in your Streams config.",
                            fmt::join(missing, ", ")));
    }
  }
  response.status = std::move(beat.status);
  return answer;
}

}  // namespace tidemark::coordinator
