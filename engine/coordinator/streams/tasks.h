#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tidemark::coordinator {

/// One task of a Kafka Streams application: the partitions of one number in all source topics of a subtopology.
struct TaskId {
  std::string subtopology;
  int32_t partition = 0;
  friend auto operator<=>(const TaskId&, const TaskId&) = default;
};

using TaskSet = std::set<TaskId>;
/// Each task with the assignment epoch in which its member was given it.
using TaskEpochs = std::map<TaskId, int32_t>;

/// What a member is to run, or says that it runs. An active task processes; a standby keeps a copy of its state; a
/// warm-up restores that state before the task moves there.
struct StreamsTasks {
  TaskSet active;
  TaskSet standby;
  TaskSet warmup;

  bool empty() const noexcept { return active.empty() && standby.empty() && warmup.empty(); }
  friend bool operator==(const StreamsTasks&, const StreamsTasks&) = default;
};

/// What a member has been given. The epochs tell which commits of it are still its own (KIP-1251).
struct AssignedTasks {
  TaskEpochs active;
  TaskSet standby;
  TaskSet warmup;

  bool empty() const noexcept { return active.empty() && standby.empty() && warmup.empty(); }
  /// The same without epochs.
  StreamsTasks tasks() const {
    StreamsTasks plain{.active = {}, .standby = standby, .warmup = warmup};
    for (const auto& [task, epoch] : active) plain.active.insert(plain.active.end(), task);
    return plain;
  }
  friend bool operator==(const AssignedTasks&, const AssignedTasks&) = default;
};

}  // namespace tidemark::coordinator
