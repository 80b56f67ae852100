#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "coordinator/streams/streams_member.h"

namespace tidemark::coordinator {

/// Who has which task now, what is still to be given up included: by processes, since threads of one process share a
/// state directory.
class TaskOwners {
 public:
  void add(const StreamsMember& member);
  void remove(const StreamsMember& member);

  /// The process that runs a task; null.
  const std::string* activeOwner(const TaskId& task) const;
  bool hasStandby(const TaskId& task, const std::string& processId) const;
  bool hasWarmup(const TaskId& task, const std::string& processId) const;

 private:
  using Processes = std::map<TaskId, std::set<std::string>>;

  void add(const AssignedTasks& tasks, const std::string& processId);
  void remove(const AssignedTasks& tasks, const std::string& processId);

  std::map<TaskId, std::string> active_;
  Processes standby_;
  Processes warmup_;
};

/// The next step of a member towards the target assignment (Kafka's CurrentAssignmentBuilder): it first gives up what
/// the target takes from it, then is given what nobody holds any more. A task never runs twice, and no process has two
/// copies of a task's state. `owned`: what the member says that it has, nothing if it did not say. Unchanged if it
/// cannot go on yet. FENCED_MEMBER_EPOCH for a state of a later version, unless the member has nothing.
Result<StreamsMember> reconciled(const StreamsMember& member, int32_t targetEpoch, const StreamsTasks& target,
                                 const std::optional<StreamsTasks>& owned, const TaskOwners& owners);

}  // namespace tidemark::coordinator
