#include "coordinator/streams/streams_group.h"

#include <algorithm>

namespace tidemark::coordinator {
namespace {

using Described = protocol::StreamsGroupDescribeResponse;

/// The first version of OffsetCommit that carries member epochs.
constexpr int16_t kFirstCommitVersionWithMemberEpoch = 9;

Described::Assignment describedTasks(const StreamsTasks& tasks) {
  Described::Assignment described;
  described.activeTasks = taskIdsOf<Described::TaskIds>(tasks.active);
  described.standbyTasks = taskIdsOf<Described::TaskIds>(tasks.standby);
  described.warmupTasks = taskIdsOf<Described::TaskIds>(tasks.warmup);
  return described;
}

std::vector<Described::TaskOffset> describedOffsets(const std::map<TaskId, int64_t>& offsets) {
  std::vector<Described::TaskOffset> described;
  for (const auto& [task, offset] : offsets) described.push_back({task.subtopology, task.partition, offset});
  return described;
}

Described::Member describedMember(const StreamsMember& member, const StreamsTasks& target,
                                  const MemberTaskOffsets& offsets) {
  Described::Member described;
  described.memberId = member.id;
  described.memberEpoch = member.epoch;
  if (member.instanceId) described.instanceId = *member.instanceId;
  if (member.rackId) described.rackId = *member.rackId;
  described.clientId = member.clientId;
  described.clientHost = member.clientHost;
  described.topologyEpoch = member.topologyEpoch;
  described.processId = member.processId;
  if (member.userEndpoint) {
    auto& endpoint = described.userEndpoint.emplace();
    endpoint.host = member.userEndpoint->host;
    endpoint.port = member.userEndpoint->port;
  }
  for (const auto& [key, value] : member.clientTags) described.clientTags.push_back({key, value});
  described.taskOffsets = describedOffsets(offsets.offsets);
  described.taskEndOffsets = describedOffsets(offsets.endOffsets);
  described.assignment = describedTasks(member.assigned.tasks());
  described.targetAssignment = describedTasks(target);
  return described;
}

}  // namespace

std::string_view stateName(StreamsState state) noexcept {
  switch (state) {
    case StreamsState::Empty:
      return "Empty";
    case StreamsState::NotReady:
      return "NotReady";
    case StreamsState::Assigning:
      return "Assigning";
    case StreamsState::Reconciling:
      return "Reconciling";
    case StreamsState::Stable:
      break;
  }
  return "Stable";
}

StreamsState StreamsGroup::state() const noexcept {
  if (members_.empty()) return StreamsState::Empty;
  if (!topology_ || topology_->epoch != facts_.validatedTopologyEpoch) return StreamsState::NotReady;
  if (facts_.epoch > assignmentEpoch_) return StreamsState::Assigning;
  const bool reconciled =
      std::ranges::all_of(members_, [this](const auto& one) { return one.second.isReconciledTo(assignmentEpoch_); });
  return reconciled ? StreamsState::Stable : StreamsState::Reconciling;
}

const StreamsTasks& StreamsGroup::target(std::string_view memberId) const {
  static const StreamsTasks kNone;
  const auto found = targets_.find(memberId);
  return found != targets_.end() ? found->second : kNone;
}

const StreamsMember* StreamsGroup::member(std::string_view memberId) const {
  const auto found = members_.find(memberId);
  return found != members_.end() ? &found->second : nullptr;
}

const StreamsMember* StreamsGroup::staticMember(std::string_view instanceId) const {
  const auto found = static_.find(instanceId);
  return found != static_.end() ? member(found->second) : nullptr;
}

void StreamsGroup::setAssignmentEpoch(int32_t epoch, int64_t timestampMs) {
  assignmentEpoch_ = epoch;
  assignmentTimestampMs_ = timestampMs;
}

void StreamsGroup::setTarget(const std::string& memberId, std::optional<StreamsTasks> target) {
  if (target) {
    targets_.insert_or_assign(memberId, std::move(*target));
  } else {
    targets_.erase(memberId);
  }
}

void StreamsGroup::putMember(StreamsMember member) {
  StreamsMember& place = members_[member.id];
  owners_.remove(place);
  if (place.instanceId) {
    const auto known = static_.find(*place.instanceId);
    if (known != static_.end() && known->second == place.id) static_.erase(known);
  }
  place = std::move(member);
  owners_.add(place);
  if (place.instanceId) static_[*place.instanceId] = place.id;
}

void StreamsGroup::removeMember(std::string_view memberId) {
  const auto found = members_.find(memberId);
  if (found == members_.end()) return;
  owners_.remove(found->second);
  if (found->second.instanceId) {
    const auto known = static_.find(*found->second.instanceId);
    if (known != static_.end() && known->second == memberId) static_.erase(known);
  }
  members_.erase(found);
}

ErrorCode StreamsGroup::validateCommit(std::string_view memberId, std::optional<std::string_view> instanceId,
                                       int32_t memberEpoch, bool transactional, int16_t apiVersion,
                                       const std::vector<std::pair<std::string_view, int32_t>>& partitions) const {
  // Offsets may be set from outside while nobody is there.
  if (memberEpoch < 0 && members_.empty()) return ErrorCode::None;
  // Producers of before KIP-447 do not say who they are.
  if (transactional && memberEpoch == -1 && memberId.empty() && !instanceId) return ErrorCode::None;
  const StreamsMember* member = this->member(memberId);
  if (member == nullptr) return ErrorCode::UnknownMemberId;
  if (!transactional && apiVersion < kFirstCommitVersionWithMemberEpoch) return ErrorCode::UnsupportedVersion;
  if (memberEpoch == member->epoch) return ErrorCode::None;
  if (memberEpoch > member->epoch || !topology_) return ErrorCode::StaleMemberEpoch;
  for (const auto& [topic, partition] : partitions) {
    const Subtopology* reader = topology_->readerOf(topic);
    if (reader == nullptr) return ErrorCode::StaleMemberEpoch;
    const TaskId task{reader->id, partition};
    auto given = member->assigned.active.find(task);
    if (given == member->assigned.active.end()) {
      given = member->pendingRevocation.active.find(task);
      if (given == member->pendingRevocation.active.end()) return ErrorCode::StaleMemberEpoch;
    }
    if (memberEpoch < given->second) return ErrorCode::StaleMemberEpoch;
  }
  return ErrorCode::None;
}

ErrorCode StreamsGroup::validateFetch(const std::optional<protocol::Text>& memberId, int32_t memberEpoch) const {
  if (!memberId && memberEpoch < 0) return ErrorCode::None;
  const StreamsMember* member = memberId ? this->member(*memberId) : nullptr;
  if (member == nullptr) return ErrorCode::UnknownMemberId;
  return memberEpoch == member->epoch ? ErrorCode::None : ErrorCode::StaleMemberEpoch;
}

Described::DescribedGroup StreamsGroup::described(
    const std::optional<ConfiguredTopology>& configured,
    const std::map<std::string, MemberTaskOffsets, std::less<>>& offsets) const {
  Described::DescribedGroup described;
  described.groupId = id_;
  described.groupState = stateName(state());
  described.groupEpoch = facts_.epoch;
  described.assignmentEpoch = assignmentEpoch_;
  if (configured && configured->isReady()) {
    described.topology = configured->described();
  } else if (topology_) {
    described.topology = topology_->described();
  }
  static const MemberTaskOffsets kUnknown;
  for (const auto& [id, member] : members_) {
    const auto known = offsets.find(id);
    described.members.push_back(describedMember(member, target(id), known != offsets.end() ? known->second : kUnknown));
  }
  return described;
}

}  // namespace tidemark::coordinator
