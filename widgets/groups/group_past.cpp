#include "groups/group_past.h"

#include <algorithm>

namespace tidemark::widgets {

namespace {

using namespace events;

/// What every event of a group keeps of its id.
constexpr size_t kKeptOfId = 30;

std::string keptOf(std::string_view id) {
  return std::string(id.substr(0, kKeptOfId));
}

RebalanceMember& memberIn(Rebalance& rebalance, std::string_view id) {
  const auto found = std::ranges::find(rebalance.members, id, &RebalanceMember::id);
  if (found != rebalance.members.end()) return *found;
  rebalance.members.push_back({.id = std::string(id)});
  return rebalance.members.back();
}

}  // namespace

platform::Duration Rebalance::idle(GroupTime now) const {
  platform::Duration sum{};
  for (const RebalanceMember& member : members) {
    if (!member.rejoined) continue;
    const GroupTime until = member.synced ? *member.synced : member.left ? *member.left : completed.value_or(now);
    if (until > *member.rejoined) sum += until - *member.rejoined;
  }
  return sum;
}

GroupRecord& GroupPast::record(std::string_view group) {
  return m_groups[keptOf(group)];
}

const GroupRecord* GroupPast::find(std::string_view group) const {
  const auto found = m_groups.find(keptOf(group));
  return found == m_groups.end() ? nullptr : &found->second;
}

bool GroupPast::add(const observe::ClusterSnapshot& cluster, std::span<const observe::ObservedEvent> observed) {
  bool any = false;
  for (const observe::ObservedEvent& event : observed) any = addEvent(event) || any;
  sample(cluster);
  return any;
}

GroupPast GroupPast::until(const observe::Recording& recording, const observe::Recording::Moment& moment) {
  GroupPast past;
  for (const observe::ObservedEvent& event : recording.events()) {
    if (event.number > moment.event) break;
    past.addEvent(event);
  }
  for (const observe::Recording::Kept& kept : recording.snapshots())
    if (kept.cluster->wall <= moment.wall && kept.cluster->wall > moment.wall - std::chrono::seconds(kLagSeconds))
      past.sample(*kept.cluster);
  return past;
}

bool GroupPast::addEvent(const observe::ObservedEvent& observed) {
  const Event& event = observed.event;
  const auto keep = [&](std::string_view group) -> GroupRecord& {
    GroupRecord& of = record(group);
    of.happenings.push_back({event.wall, observed.number, event.payload});
    if (of.happenings.size() > GroupRecord::kHappenings) of.happenings.pop_front();
    return of;
  };
  const auto running = [](GroupRecord& of) -> Rebalance* {
    return of.rebalances.empty() || of.rebalances.back().completed ? nullptr : &of.rebalances.back();
  };
  if (const auto* change = std::get_if<GroupStateChanged>(&event.payload)) {
    GroupRecord& of = keep(change->group.view());
    of.inState = event.wall;
    if (Rebalance* now = running(of); now != nullptr && change->to == GroupState::CompletingRebalance)
      now->gathered = event.wall;
    return true;
  }
  if (const auto* started = std::get_if<RebalanceStarted>(&event.payload)) {
    GroupRecord& of = keep(started->group.view());
    // The end of the one before was lost.
    if (Rebalance* before = running(of)) before->completed = event.wall;
    Rebalance next{.event = observed.number,
                   .kind = started->kind,
                   .cause = started->cause,
                   .by = std::string(started->member.view()),
                   .generation = started->generation,
                   .began = event.wall};
    // Its coordinator tells who came before it tells what that means.
    for (auto at = of.happenings.rbegin();
         at != of.happenings.rend() && event.wall - at->at < std::chrono::milliseconds(5); ++at)
      if (const auto* joined = std::get_if<MemberJoined>(&at->what)) {
        RebalanceMember& member = memberIn(next, joined->member.view());
        member.isNew = true;
        if (started->kind == GroupKind::Classic) member.rejoined = at->at;
      } else if (const auto* left = std::get_if<MemberLeft>(&at->what)) {
        RebalanceMember& member = memberIn(next, left->member.view());
        member.left = at->at;
        member.leftBecause = left->cause;
        if (left->silent > left->allowed) member.late = left->silent - left->allowed;
      }
    of.rebalances.push_back(std::move(next));
    if (of.rebalances.size() > GroupRecord::kRebalances) of.rebalances.pop_front();
    return true;
  }
  if (const auto* completed = std::get_if<RebalanceCompleted>(&event.payload)) {
    GroupRecord& of = keep(completed->group.view());
    if (Rebalance* now = running(of)) {
      now->completed = event.wall;
      now->completedGeneration = completed->generation;
    }
    return true;
  }
  if (const auto* joined = std::get_if<MemberJoined>(&event.payload)) {
    if (Rebalance* now = running(keep(joined->group.view()))) {
      RebalanceMember& member = memberIn(*now, joined->member.view());
      member.isNew = true;
      if (joined->kind == GroupKind::Classic) member.rejoined = event.wall;
    }
    return true;
  }
  if (const auto* left = std::get_if<MemberLeft>(&event.payload)) {
    if (Rebalance* now = running(keep(left->group.view()))) {
      RebalanceMember& member = memberIn(*now, left->member.view());
      member.left = event.wall;
      member.leftBecause = left->cause;
      if (left->silent > left->allowed && left->allowed > platform::Duration::zero())
        member.late = left->silent - left->allowed;
    }
    return true;
  }
  if (const auto* step = std::get_if<MemberProgressed>(&event.payload)) {
    GroupRecord& of = keep(step->group.view());
    // The last assignments go out in the moment in which the rebalance is told as complete.
    Rebalance* now = running(of);
    if (now == nullptr && !of.rebalances.empty() &&
        event.wall - *of.rebalances.back().completed < std::chrono::seconds(1))
      now = &of.rebalances.back();
    if (now == nullptr) return true;
    RebalanceMember& member = memberIn(*now, step->member.view());
    member.partitions = step->partitions;
    switch (step->step) {
      case MemberStep::Rejoined:
        member.rejoined = event.wall;
        break;
      case MemberStep::Synced:
        member.synced = event.wall;
        break;
      case MemberStep::Revoking:
        member.revoking = event.wall;
        break;
      case MemberStep::Waiting:
        break;
      case MemberStep::Reconciled:
        member.reconciled = event.wall;
        break;
    }
    return true;
  }
  return false;
}

void GroupPast::sample(const observe::ClusterSnapshot& cluster) {
  for (const observe::GroupSnapshot& group : cluster.groups) {
    GroupRecord& of = record(group.id);
    for (const observe::GroupPartitionSnapshot& one : group.partitions) {
      const auto lag = one.lag();
      if (!lag) continue;
      std::deque<GroupLagSample>& samples = of.lag[one.partition];
      if (!samples.empty() && cluster.wall - samples.back().at < std::chrono::seconds(1)) continue;
      samples.push_back({cluster.wall, *lag});
      while (samples.size() > static_cast<size_t>(kLagSeconds)) samples.pop_front();
    }
  }
}

}  // namespace tidemark::widgets
