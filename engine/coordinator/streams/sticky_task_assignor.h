#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/streams/configured_topology.h"
#include "coordinator/streams/tasks.h"

namespace tidemark::coordinator {

/// `group.streams.assignors`: the only one that Kafka 4.4 has.
inline constexpr std::string_view kStickyTaskAssignor = "sticky";

/// A member as the assignor sees it.
struct TaskCandidate {
  std::string memberId;
  std::string processId;
  /// What it has now.
  StreamsTasks current;
  /// How far the state of tasks is restored on its disk, where it said so (changelog offsets, summed).
  std::map<TaskId, int64_t> offsets;
};

/// Where the tasks of a topology go (Kafka's StickyTaskAssignor): a task stays where it is, else goes where a copy of
/// its state is, unless that member has its share already; what is left goes to the process with the least load for
/// each of its threads. `standbyReplicas` copies of each stateful task, never two of one task in a process; fewer if
/// there are too few processes. No warm-up tasks, as in Kafka 4.4, whose AssignmentRefiner, which may turn a target
/// into one with them, gives back what it is given. Every member is in the result. Deterministic: among equals the
/// smallest id wins.
std::map<std::string, StreamsTasks> assignTasks(
    const std::vector<TaskCandidate>& members,
    const std::map<std::string, ConfiguredSubtopology, std::less<>>& subtopologies, int32_t standbyReplicas);

}  // namespace tidemark::coordinator
