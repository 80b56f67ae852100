#include "coordinator/consumer/consumer_groups.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/consumer/consumer_change.h"
#include "coordinator/consumer/consumer_records.h"

namespace tidemark::coordinator {

const ConsumerGroup* ConsumerGroups::find(std::string_view groupId) const {
  const auto found = groups_.find(groupId);
  return found == groups_.end() ? nullptr : &found->second;
}

// ---- members that go

bool ConsumerGroups::mayDowngrade(const ConsumerGroup& group, const ConsumerMember& leaves) const {
  return group.isClassicExcept(leaves.id) && group.members().size() > 1 && config_.consumer.downgrades &&
         group.members().size() - 1 <= static_cast<size_t>(std::max(config_.maxGroupSize, 0));
}

void ConsumerGroups::fence(const ConsumerGroup& group, const std::vector<const ConsumerMember*>& members,
                           events::GroupCause cause, Effects& out) {
  const Soft& soft = soft_[group.id()];
  for (const ConsumerMember* member : members) {
    log_.info("group-coordinator", "member {} leaves group {}: {}", member->id, group.id(), events::nameOf(cause));
    const auto heard = soft.heard.find(member->id);
    const platform::Duration silent =
        heard == soft.heard.end() ? platform::Duration::zero() : clock_.monotonic() - heard->second.last;
    const platform::Duration allowed = cause == events::GroupCause::SessionMissed
                                           ? platform::Duration(sessionTimeout(group.id(), *member))
                                           : platform::Duration::zero();
    out.replies.emplace_back([this, id = group.id(), memberId = member->id, cause, silent, allowed] {
      const ConsumerGroup* now = find(id);
      if (now == nullptr || now->member(memberId) == nullptr) teller_.left(id, memberId, cause, silent, allowed);
    });
  }
  if (members.size() == 1 && mayDowngrade(group, *members.front())) {
    downgrade(group, members.front()->id, nullptr, out);
    return;
  }
  Change change(group.id());
  change.group = &group;
  change.regexes = group.regexes();
  std::map<std::string, TargetMember> left;
  std::set<std::string> stillUsed;
  std::set<std::string> topics;
  for (const auto& [id, member] : group.members()) {
    const bool goes = std::any_of(members.begin(), members.end(), [&](const auto* one) { return one->id == id; });
    if (goes) continue;
    stillUsed.insert(member.facts.regex);
    const std::set<std::string> own = topicsOf(change, member.facts);
    topics.insert(own.begin(), own.end());
    left[id];
  }
  for (const ConsumerMember* member : members) {
    removeMemberRecords(group.id(), member->id, out.records);
    disarmAll(group.id(), member->id, out);
  }
  for (const auto& [regex, resolved] : group.regexes()) {
    if (!stillUsed.contains(regex)) out.records.push_back(regexTombstone(group.id(), regex));
  }
  const int32_t epoch = group.epoch() + 1;
  out.records.push_back(consumerEpochRecord(group.id(), epoch, hashes_.ofGroup(topics)));
  // With nobody to assign to, the target is made as well.
  if (left.empty()) out.records.push_back(targetEpochRecord(group.id(), epoch, 0));
  tellAfter(group.id(), "", cause, out);
}

// ---- timers

Effects ConsumerGroups::onTimeout(const TimerKey& key) {
  Effects out;
  const ConsumerGroup* group = find(key.group);
  if (group == nullptr) return out;
  if (key.kind == TimerKey::Kind::Assignment) {
    if (group->isEmpty() || group->epoch() <= group->assignmentEpoch()) return out;
    Change change(key.group);
    change.group = group;
    change.regexes = group->regexes();
    change.epoch = group->epoch();
    change.assignmentEpoch = group->assignmentEpoch();
    updateTarget(change, out);
    out.records = std::move(change.records);
    tellAfter(key.group, "", events::GroupCause::Assigned, out);
    return out;
  }
  const ConsumerMember* member = group->member(key.member);
  if (member == nullptr) return out;
  events::GroupCause cause{};
  switch (key.kind) {
    case TimerKey::Kind::MemberSession:
      cause = events::GroupCause::SessionMissed;
      break;
    case TimerKey::Kind::MemberRebalance:
      if (member->progress.state != MemberState::UnrevokedPartitions) return out;
      cause = events::GroupCause::RebalanceTimedOut;
      break;
    case TimerKey::Kind::MemberJoin:
      cause = events::GroupCause::RebalanceTimedOut;
      break;
    case TimerKey::Kind::MemberSync:
      cause = events::GroupCause::SyncTimedOut;
      break;
    default:
      return out;
  }
  fence(*group, {member}, cause, out);
  return out;
}

platform::milliseconds ConsumerGroups::sessionTimeout(std::string_view group, const ConsumerMember& member) const {
  return member.isClassic() ? platform::milliseconds(member.facts.classic->sessionTimeoutMs)
                            : config_.consumer.timesOf(group).sessionTimeout;
}

void ConsumerGroups::armSession(const std::string& group, const ConsumerMember& member, Effects& out) {
  armSession(group, member, sessionTimeout(group, member), out);
}

void ConsumerGroups::armSession(const std::string& group, const ConsumerMember& member, platform::Duration timeout,
                                Effects& out) {
  Soft::Heard& heard = soft_[group].heard[member.id];
  heard.last = clock_.monotonic();
  out.putOff(heard.session, heard.last, timeout,
             [&] { return TimerKey{TimerKey::Kind::MemberSession, group, member.id}; });
}

void ConsumerGroups::awaitJoin(const std::string& group, const ConsumerMember& member, Effects& out) {
  // The first time counts: being told again does not give it longer.
  if (!soft_[group].awaitedJoins.insert(member.id).second) return;
  out.arm({TimerKey::Kind::MemberJoin, group, member.id}, platform::milliseconds(member.facts.rebalanceTimeoutMs));
}

void ConsumerGroups::disarmAll(const std::string& group, const std::string& member, Effects& out) const {
  for (const auto kind : {TimerKey::Kind::MemberSession, TimerKey::Kind::MemberRebalance, TimerKey::Kind::MemberJoin,
                          TimerKey::Kind::MemberSync}) {
    out.disarm({kind, group, member});
  }
}

void ConsumerGroups::tellAfter(const std::string& group, const std::string& member, events::GroupCause cause,
                               Effects& out) {
  const ConsumerGroup* known = find(group);
  const ConsumerMember* knownMember = known == nullptr ? nullptr : known->member(member);
  out.replies.emplace_back([this, group, member, cause, wasThere = knownMember != nullptr,
                            before = knownMember != nullptr ? knownMember->progress : MemberProgress()] {
    const ConsumerGroup* now = find(group);
    Soft& soft = soft_[group];
    const ConsumerMember* one = now == nullptr ? nullptr : now->member(member);
    if (one != nullptr && !wasThere) {
      // Until its target is made it has no epoch of its own.
      teller_.joined(group, member, one->isStatic(), std::max(one->progress.epoch, now->epoch()));
    }
    const events::GroupState state = now == nullptr ? events::GroupState::Dead : now->state();
    if (state != soft.state) {
      const bool isDone = state == events::GroupState::Stable;
      teller_.state({.group = group,
                     .from = std::exchange(soft.state, state),
                     .to = state,
                     .cause = isDone ? events::GroupCause::Reconciled : cause,
                     .member = member,
                     .generation = now == nullptr ? 0 : now->epoch(),
                     .members = now == nullptr ? 0 : now->members().size()});
    }
    if (one == nullptr || one->progress == before || one->progress.epoch < 0) return;
    const auto step = one->progress.state == MemberState::UnrevokedPartitions    ? events::MemberStep::Revoking
                      : one->progress.state == MemberState::UnreleasedPartitions ? events::MemberStep::Waiting
                                                                                 : events::MemberStep::Reconciled;
    teller_.progressed(
        group, member, step, one->progress.epoch, now->assignmentEpoch(),
        countOf(partitionsOf(step == events::MemberStep::Revoking ? one->progress.revoking : one->progress.assigned)));
  });
}

void ConsumerGroups::onTopicsChanged(const std::set<std::string, std::less<>>& topics) {
  for (const auto& [id, group] : groups_) {
    Soft& soft = soft_[id];
    if (!group.regexes().empty()) soft.regexesStale = true;
    soft.refresh =
        soft.refresh || std::any_of(topics.begin(), topics.end(), [&subscriber = group](const std::string& topic) {
          return subscriber.isSubscribedTo(topic);
        });
  }
}

void ConsumerGroups::onLoaded(Effects& out) {
  loaded_ = true;
  for (const auto& [id, group] : groups_) {
    soft_[id].state = group.state();
    for (const auto& [memberId, member] : group.members()) {
      armSession(id, member, out);
      if (member.progress.state == MemberState::UnrevokedPartitions && !member.isClassic()) {
        out.arm({TimerKey::Kind::MemberRebalance, id, memberId},
                platform::milliseconds(member.facts.rebalanceTimeoutMs));
      }
    }
  }
}

// ---- offsets

ErrorCode ConsumerGroups::validateCommit(const ConsumerGroup& group, std::string_view memberId, int32_t epoch,
                                         int16_t apiVersion, const std::vector<TopicIdPartition>& partitions) const {
  /// Before it a commit cannot carry a member epoch that its sender would know to have passed.
  constexpr int16_t kFirstVersionWithMemberEpoch = 9;
  // An administrator, or a consumer that manages its partitions itself, commits to a group without members.
  if (epoch < 0 && group.isEmpty()) return ErrorCode::None;
  const ConsumerMember* member = group.member(memberId);
  if (member == nullptr) return ErrorCode::UnknownMemberId;
  if (member->isClassic()) {
    return epoch == member->progress.epoch ? ErrorCode::None : ErrorCode::IllegalGeneration;
  }
  if (apiVersion < kFirstVersionWithMemberEpoch) return ErrorCode::UnsupportedVersion;
  if (epoch == member->progress.epoch) return ErrorCode::None;
  if (epoch > member->progress.epoch || epoch < 0) return ErrorCode::StaleMemberEpoch;
  // Its epoch has moved on meanwhile; what it owned then and still does it may commit.
  const bool ownedThen = std::all_of(partitions.begin(), partitions.end(), [&](const TopicIdPartition& one) {
    for (const EpochsByTopic* owned : {&member->progress.assigned, &member->progress.revoking}) {
      const auto topic = owned->find(one.topicId);
      if (topic == owned->end()) continue;
      const auto since = topic->second.find(one.partition.value());
      if (since != topic->second.end()) return since->second <= epoch;
    }
    return false;
  });
  return ownedThen ? ErrorCode::None : ErrorCode::StaleMemberEpoch;
}

ErrorCode ConsumerGroups::validateFetch(const ConsumerGroup& group, std::optional<std::string_view> memberId,
                                        int32_t epoch) const {
  if (!memberId && epoch < 0) return ErrorCode::None;
  const ConsumerMember* member = group.member(memberId.value_or(""));
  if (member == nullptr) return ErrorCode::UnknownMemberId;
  if (epoch == member->progress.epoch) return ErrorCode::None;
  return member->isClassic() ? ErrorCode::IllegalGeneration : ErrorCode::StaleMemberEpoch;
}

// ---- looking

protocol::ConsumerGroupDescribeResponse::DescribedGroup ConsumerGroups::describe(const ConsumerGroup& group) const {
  using Response = protocol::ConsumerGroupDescribeResponse;
  const auto assignmentOf = [this](const PartitionsByTopic& partitions) {
    Response::Assignment assignment;
    for (const auto& [topic, indexes] : partitions) {
      const auto name = topics_.topicName(topic);
      if (!name) continue;
      auto& one = assignment.topicPartitions.emplace_back();
      one.topicId = topic;
      one.topicName = protocol::Text(*name);
      one.partitions.assign(indexes.begin(), indexes.end());
    }
    return assignment;
  };
  Response::DescribedGroup described;
  described.groupId = protocol::Text(group.id());
  described.groupState = protocol::Text(events::nameOf(group.state()));
  described.groupEpoch = group.epoch();
  described.assignmentEpoch = group.assignmentEpoch();
  described.assignorName = protocol::Text(group.preferredAssignor().value_or(config_.consumer.assignors.front()));
  for (const auto& [id, member] : group.members()) {
    auto& one = described.members.emplace_back();
    one.memberId = protocol::Text(id);
    if (member.facts.instanceId) one.instanceId = protocol::Text(*member.facts.instanceId);
    if (member.facts.rackId) one.rackId = protocol::Text(*member.facts.rackId);
    one.memberEpoch = member.progress.epoch;
    one.clientId = protocol::Text(member.facts.clientId);
    one.clientHost = protocol::Text(member.facts.clientHost);
    for (const std::string& topic : member.facts.topics) one.subscribedTopicNames.emplace_back(topic);
    if (!member.facts.regex.empty()) one.subscribedTopicRegex = protocol::Text(member.facts.regex);
    one.assignment = assignmentOf(partitionsOf(member.progress.assigned));
    one.targetAssignment = assignmentOf(group.target(id));
    one.memberType = member.isClassic() ? 0 : 1;
  }
  return described;
}

void ConsumerGroups::snapshot(std::vector<GroupSnapshot>& into) const {
  for (const auto& [id, group] : groups_) {
    GroupSnapshot& one = into.emplace_back();
    one.groupId = id;
    one.kind = events::GroupKind::Consumer;
    one.state = events::nameOf(group.state());
    one.protocolType = "consumer";
    one.protocol = group.preferredAssignor().value_or(config_.consumer.assignors.front());
    one.generation = group.epoch();
    one.assignmentEpoch = group.assignmentEpoch();
    const auto soft = soft_.find(id);
    for (const auto& [memberId, member] : group.members()) {
      GroupMemberSnapshot& shown = one.members.emplace_back();
      shown.memberId = memberId;
      shown.groupInstanceId = member.facts.instanceId.value_or("");
      shown.clientId = member.facts.clientId;
      shown.clientHost = member.facts.clientHost;
      shown.rackId = member.facts.rackId.value_or("");
      shown.state = member.progress.epoch == kStaticLeaveEpoch ? "LEFT" : nameOf(member.progress.state);
      shown.isClassic = member.isClassic();
      shown.epoch = member.progress.epoch;
      shown.subscribedTopics.assign(member.facts.topics.begin(), member.facts.topics.end());
      shown.subscribedRegex = member.facts.regex;
      shown.assigned = namedPartitions(partitionsOf(member.progress.assigned), topics_);
      shown.target = namedPartitions(group.target(memberId), topics_);
      shown.revoking = namedPartitions(partitionsOf(member.progress.revoking), topics_);
      shown.sessionTimeout = sessionTimeout(id, member);
      if (soft == soft_.end()) continue;
      const auto heard = soft->second.heard.find(memberId);
      if (heard != soft->second.heard.end()) shown.silent = clock_.monotonic() - heard->second.last;
    }
  }
}

}  // namespace tidemark::coordinator
