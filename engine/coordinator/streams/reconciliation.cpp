#include "coordinator/streams/reconciliation.h"

#include <algorithm>

#include "base/mutation.h"

namespace tidemark::coordinator {
namespace {

/// Active tasks are kept with their epochs, others as they are; both are ordered by task.
bool isIn(const TaskSet& tasks, const TaskId& task) {
  return tasks.contains(task);
}
bool isIn(const TaskSet& tasks, const TaskEpochs::value_type& entry) {
  return tasks.contains(entry.first);
}

/// Whether any of `tasks` is in `among`.
template <class Among>
bool anyOf(const TaskSet& tasks, const Among& among) {
  return std::ranges::any_of(tasks, [&among](const TaskId& task) { return among.contains(task); });
}

/// One role of a member, torn between what it has and what it should have.
template <class Tasks>
struct RoleStep {
  Tasks kept;
  Tasks revoked;
  Tasks granted;
  bool unreleased = false;
};

template <class Tasks, class Grant, class IsUnreleased>
RoleStep<Tasks> roleStep(const Tasks& current, const TaskSet& target, const Grant& grant,
                         const IsUnreleased& isUnreleased) {
  RoleStep<Tasks> step;
  for (const auto& one : current) (isIn(target, one) ? step.kept : step.revoked).insert(one);
  for (const TaskId& task : target) {
    if (current.contains(task)) continue;
    if (isUnreleased(task)) {
      step.unreleased = true;
    } else {
      step.granted.insert(grant(task));
    }
  }
  return step;
}

/// One step of one member.
class StreamsReconciliation {
 public:
  StreamsReconciliation(const StreamsMember& member, int32_t targetEpoch, const StreamsTasks& target,
                        const std::optional<StreamsTasks>& owned, const TaskOwners& owners)
      : member_(member), targetEpoch_(targetEpoch), target_(target), owned_(owned), owners_(owners) {}

  bool hasNotReleased(const AssignedTasks& tasks) const {
    return !owned_ || anyOf(owned_->active, tasks.active) || anyOf(owned_->standby, tasks.standby) ||
           anyOf(owned_->warmup, tasks.warmup);
  }

  /// As a member in `epoch` would go on.
  StreamsMember next(int32_t epoch) const {
    const AssignedTasks& current = member_.assigned;
    auto active = roleStep(
        current.active, target_.active, [this](const TaskId& task) { return std::pair(task, targetEpoch_); },
        [this](const TaskId& task) { return isActiveHeld(task); });
    const auto asIs = [](const TaskId& task) { return task; };
    auto standby =
        roleStep(current.standby, target_.standby, asIs, [this](const TaskId& task) { return isStandbyHeld(task); });
    auto warmup =
        roleStep(current.warmup, target_.warmup, asIs, [this](const TaskId& task) { return isWarmupHeld(task); });

    // What only changes its role within this member keeps its state: nothing has to be given up first.
    for (const auto& [task, given] : current.active) {
      if (standby.granted.erase(task) > 0) standby.kept.insert(task);
    }
    changeRole(current.standby, standby, warmup);
    changeRole(current.warmup, warmup, standby);
    for (const TaskId& task : target_.active) {
      standby.revoked.erase(task);
      warmup.revoked.erase(task);
    }

    AssignedTasks revoked{std::move(active.revoked), std::move(standby.revoked), std::move(warmup.revoked)};
    const bool mustRevoke = !revoked.empty() && hasNotReleased(revoked);
    // A copy that is to become the active task stays one until then.
    keepUntilPromoted(current.standby, active, mustRevoke, standby.kept);
    keepUntilPromoted(current.warmup, active, mustRevoke, warmup.kept);

    StreamsMember made = member_;
    made.previousEpoch = member_.epoch;
    made.assigned = {std::move(active.kept), std::move(standby.kept), std::move(warmup.kept)};
    if (mustRevoke) {
      made.epoch = epoch;
      made.state = StreamsMemberState::UnrevokedTasks;
      made.pendingRevocation = std::move(revoked);
      return made;
    }
    made.epoch = targetEpoch_;
    made.state = active.unreleased || standby.unreleased || warmup.unreleased ? StreamsMemberState::UnreleasedTasks
                                                                              : StreamsMemberState::Stable;
    made.assigned.active.merge(active.granted);
    made.assigned.standby.merge(standby.granted);
    made.assigned.warmup.merge(warmup.granted);
    made.pendingRevocation = {};
    return made;
  }

 private:
  bool isRunHere(const TaskId& task) const {
    const std::string* owner = owners_.activeOwner(task);
    return owner != nullptr && *owner == member_.processId;
  }
  bool hasOthersStandbyHere(const TaskId& task) const {
    return owners_.hasStandby(task, member_.processId) && !member_.assigned.standby.contains(task);
  }
  bool hasOthersWarmupHere(const TaskId& task) const {
    return owners_.hasWarmup(task, member_.processId) && !member_.assigned.warmup.contains(task);
  }

  bool isActiveHeld(const TaskId& task) const {
    const bool isRun = owners_.activeOwner(task) != nullptr && !isMutated(Mutation::TaskGivenBeforeReleased);
    return isRun || hasOthersStandbyHere(task) || hasOthersWarmupHere(task);
  }
  bool isStandbyHeld(const TaskId& task) const {
    return (isRunHere(task) && !member_.assigned.active.contains(task)) ||
           owners_.hasStandby(task, member_.processId) || hasOthersWarmupHere(task);
  }
  bool isWarmupHeld(const TaskId& task) const {
    return isRunHere(task) || hasOthersStandbyHere(task) || owners_.hasWarmup(task, member_.processId);
  }

  static void changeRole(const TaskSet& current, RoleStep<TaskSet>& from, RoleStep<TaskSet>& to) {
    for (const TaskId& task : current) {
      if (to.granted.erase(task) == 0) continue;
      to.kept.insert(task);
      from.revoked.erase(task);
    }
  }

  void keepUntilPromoted(const TaskSet& current, const RoleStep<TaskEpochs>& active, bool mustRevoke,
                         TaskSet& kept) const {
    for (const TaskId& task : current) {
      const bool promotedNow = !mustRevoke && active.granted.contains(task);
      if (target_.active.contains(task) && !promotedNow) kept.insert(task);
    }
  }

  const StreamsMember& member_;
  const int32_t targetEpoch_;
  const StreamsTasks& target_;
  const std::optional<StreamsTasks>& owned_;
  const TaskOwners& owners_;
};

}  // namespace

StreamsMemberState streamsMemberState(int8_t number) noexcept {
  switch (number) {
    case 1:
      return StreamsMemberState::Stable;
    case 2:
      return StreamsMemberState::UnrevokedTasks;
    case 3:
      return StreamsMemberState::UnreleasedTasks;
    default:
      return StreamsMemberState::Unknown;
  }
}

std::string_view stateName(StreamsMemberState state) noexcept {
  switch (state) {
    case StreamsMemberState::Stable:
      return "STABLE";
    case StreamsMemberState::UnrevokedTasks:
      return "UNREVOKED_TASKS";
    case StreamsMemberState::UnreleasedTasks:
      return "UNRELEASED_TASKS";
    case StreamsMemberState::Unknown:
      break;
  }
  return "UNKNOWN";
}

void TaskOwners::add(const StreamsMember& member) {
  add(member.assigned, member.processId);
  add(member.pendingRevocation, member.processId);
}

void TaskOwners::remove(const StreamsMember& member) {
  remove(member.assigned, member.processId);
  remove(member.pendingRevocation, member.processId);
}

void TaskOwners::add(const AssignedTasks& tasks, const std::string& processId) {
  for (const auto& [task, epoch] : tasks.active) active_.insert_or_assign(task, processId);
  for (const TaskId& task : tasks.standby) standby_[task].insert(processId);
  for (const TaskId& task : tasks.warmup) warmup_[task].insert(processId);
}

void TaskOwners::remove(const AssignedTasks& tasks, const std::string& processId) {
  for (const auto& [task, epoch] : tasks.active) {
    // Another may have it already.
    if (const auto found = active_.find(task); found != active_.end() && found->second == processId) {
      active_.erase(found);
    }
  }
  const auto removeFrom = [&processId](Processes& processes, const TaskSet& copies) {
    for (const TaskId& task : copies) {
      const auto found = processes.find(task);
      if (found == processes.end()) continue;
      found->second.erase(processId);
      if (found->second.empty()) processes.erase(found);
    }
  };
  removeFrom(standby_, tasks.standby);
  removeFrom(warmup_, tasks.warmup);
}

const std::string* TaskOwners::activeOwner(const TaskId& task) const {
  const auto found = active_.find(task);
  return found != active_.end() ? &found->second : nullptr;
}

bool TaskOwners::hasStandby(const TaskId& task, const std::string& processId) const {
  const auto found = standby_.find(task);
  return found != standby_.end() && found->second.contains(processId);
}

bool TaskOwners::hasWarmup(const TaskId& task, const std::string& processId) const {
  const auto found = warmup_.find(task);
  return found != warmup_.end() && found->second.contains(processId);
}

Result<StreamsMember> reconciled(const StreamsMember& member, int32_t targetEpoch, const StreamsTasks& target,
                                 const std::optional<StreamsTasks>& owned, const TaskOwners& owners) {
  const StreamsReconciliation step(member, targetEpoch, target, owned, owners);
  switch (member.state) {
    case StreamsMemberState::Stable:
      return member.epoch != targetEpoch ? step.next(member.epoch) : member;
    case StreamsMemberState::UnrevokedTasks:
      return step.hasNotReleased(member.pendingRevocation) ? member : step.next(member.epoch + 1);
    case StreamsMemberState::UnreleasedTasks:
      return step.next(member.epoch);
    case StreamsMemberState::Unknown:
      break;
  }
  if (!owned || !owned->empty()) {
    return fail(ErrorCode::FencedMemberEpoch,
                "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.");
  }
  return step.next(targetEpoch);
}

}  // namespace tidemark::coordinator
