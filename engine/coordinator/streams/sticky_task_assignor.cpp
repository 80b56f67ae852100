#include "coordinator/streams/sticky_task_assignor.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace tidemark::coordinator {
namespace {

/// Threads of one application instance, and what they were given so far.
struct ProcessLoad {
  explicit ProcessLoad(std::string processId) : id(std::move(processId)) {}

  double load() const { return static_cast<double>(tasks.size()) / static_cast<double>(counts.size()); }
  bool has(const TaskId& task) const { return tasks.contains(task); }
  /// The thread with the fewest tasks.
  const std::string& idlest() const {
    return std::ranges::min_element(counts, {}, [](const auto& one) { return one.second; })->first;
  }

  std::string id;
  /// Tasks by member. Never empty.
  std::map<std::string, int32_t> counts;
  TaskSet tasks;
};

/// How many tasks a member may be given so that all get about the same. It falls when members are full.
class Quota {
 public:
  Quota(int32_t tasks, int32_t members) : tasks_(tasks), members_(members) { compute(); }

  bool allows(int32_t count) const { return count < perMember_; }
  /// A member has `count` tasks now.
  void given(int32_t count) {
    if (count != perMember_) return;
    --members_;
    tasks_ -= count;
    compute();
  }

 private:
  void compute() { perMember_ = members_ > 0 ? (tasks_ + members_ - 1) / members_ : 0; }

  int32_t tasks_;
  int32_t members_;
  int32_t perMember_ = 0;
};

/// A member that has, or had, a task.
struct Holder {
  ProcessLoad* process = nullptr;
  std::string memberId;
};

/// A member with a copy of a task's state: those that run one now come first, then by how much of it is restored.
struct CopyHolder {
  Holder holder;
  bool isStandby = false;
  int64_t offset = 0;
};

struct ByLoad {
  bool operator()(const std::pair<double, ProcessLoad*>& a, const std::pair<double, ProcessLoad*>& b) const {
    return std::tie(a.first, a.second->id) < std::tie(b.first, b.second->id);
  }
};
using LoadOrder = std::set<std::pair<double, ProcessLoad*>, ByLoad>;

class TaskAssignment {
 public:
  TaskAssignment(const std::vector<TaskCandidate>& members,
                 const std::map<std::string, ConfiguredSubtopology, std::less<>>& subtopologies, int32_t replicas)
      : replicas_(replicas),
        active_(taskCount(subtopologies, 0), static_cast<int32_t>(members.size())),
        total_(taskCount(subtopologies, replicas), static_cast<int32_t>(members.size())) {
    for (const auto& [id, subtopology] : subtopologies) {
      for (int32_t partition = 0; partition < subtopology.tasks; ++partition) {
        tasks_.push_back({id, partition});
        if (subtopology.isStateful()) stateful_.push_back({id, partition});
      }
    }
    for (const TaskCandidate& member : members) {
      const auto found = processes_.try_emplace(member.processId, member.processId).first;
      found->second.counts[member.memberId] = 0;
      result_[member.memberId];
      remember(member, {&found->second, member.memberId});
    }
    for (auto& [task, holders] : copies_) {
      std::ranges::stable_sort(holders, [](const CopyHolder& a, const CopyHolder& b) {
        return a.isStandby != b.isStandby ? a.isStandby : a.offset > b.offset;
      });
    }
  }

  std::map<std::string, StreamsTasks> assign() {
    if (processes_.empty()) return std::move(result_);
    assignActive();
    if (replicas_ > 0) assignStandby();
    return std::move(result_);
  }

 private:
  static int32_t taskCount(const std::map<std::string, ConfiguredSubtopology, std::less<>>& subtopologies,
                           int32_t replicas) {
    int32_t count = 0;
    for (const auto& [id, subtopology] : subtopologies) {
      count += subtopology.tasks * (subtopology.isStateful() ? 1 + replicas : 1);
    }
    return count;
  }

  void remember(const TaskCandidate& member, const Holder& holder) {
    for (const TaskId& task : member.current.active) runners_[task] = holder;
    const auto offsetOf = [&member](const TaskId& task) {
      const auto found = member.offsets.find(task);
      return found != member.offsets.end() ? found->second : 0;
    };
    for (const TaskId& task : member.current.standby) copies_[task].push_back({holder, true, offsetOf(task)});
    for (const auto& [task, offset] : member.offsets) {
      if (!member.current.standby.contains(task)) copies_[task].push_back({holder, false, offset});
    }
  }

  void give(const Holder& to, const TaskId& task, bool active) {
    to.process->tasks.insert(task);
    (active ? result_[to.memberId].active : result_[to.memberId].standby).insert(task);
    const int32_t count = ++to.process->counts[to.memberId];
    if (active) active_.given(count);
    total_.given(count);
  }

  int32_t countOf(const Holder& holder) const { return holder.process->counts.at(holder.memberId); }

  /// The first holder, unless a later one is idler by its process and by itself. `without`: not where that task is.
  std::optional<Holder> idlestCopyHolder(const TaskId& task, const TaskId* without) const {
    const auto found = copies_.find(task);
    if (found == copies_.end()) return std::nullopt;
    std::optional<Holder> best;
    for (const CopyHolder& one : found->second) {
      if (without != nullptr && one.holder.process->has(*without)) continue;
      if (!best || (one.holder.process->load() < best->process->load() && countOf(one.holder) < countOf(*best))) {
        best = one.holder;
      }
    }
    return best;
  }

  LoadOrder processesByLoad() {
    LoadOrder order;
    for (auto& [id, process] : processes_) order.emplace(process.load(), &process);
    return order;
  }

  /// To the idlest thread of the process at `at`, which moves to its new place.
  void giveToProcess(LoadOrder& order, LoadOrder::iterator at, const TaskId& task, bool active) {
    ProcessLoad* process = at->second;
    order.erase(at);
    give({process, process->idlest()}, task, active);
    order.emplace(process->load(), process);
  }

  void assignActive() {
    // By partition first, so that the same partitions of all subtopologies come together.
    std::vector<TaskId> open = tasks_;
    std::ranges::sort(open, {}, [](const TaskId& task) { return std::tie(task.partition, task.subtopology); });
    std::erase_if(open, [this](const TaskId& task) {
      const auto runner = runners_.find(task);
      if (runner == runners_.end() || !active_.allows(countOf(runner->second))) return false;
      give(runner->second, task, true);
      return true;
    });
    std::erase_if(open, [this](const TaskId& task) {
      const std::optional<Holder> holder = idlestCopyHolder(task, nullptr);
      if (!holder || !active_.allows(countOf(*holder))) return false;
      give(*holder, task, true);
      return true;
    });
    std::ranges::sort(open);
    LoadOrder order = processesByLoad();
    for (const TaskId& task : open) giveToProcess(order, order.begin(), task, true);
  }

  /// To one that had the task or a copy of it, and has its share not yet.
  bool giveStandbyToHolder(const TaskId& task) {
    if (const auto runner = runners_.find(task); runner != runners_.end()) {
      const Holder& holder = runner->second;
      if (!holder.process->has(task) && total_.allows(countOf(holder))) {
        give(holder, task, false);
        return true;
      }
    }
    const std::optional<Holder> holder = idlestCopyHolder(task, &task);
    if (!holder || !total_.allows(countOf(*holder))) return false;
    give(*holder, task, false);
    return true;
  }

  void assignStandby() {
    std::vector<TaskId> tasks = stateful_;
    std::ranges::sort(tasks, std::greater(),
                      [](const TaskId& task) { return std::tie(task.partition, task.subtopology); });
    std::vector<std::pair<TaskId, int32_t>> open;
    for (const TaskId& task : tasks) {
      int32_t left = replicas_;
      while (left > 0 && giveStandbyToHolder(task)) --left;
      if (left > 0) open.emplace_back(task, left);
    }
    std::ranges::sort(open, std::greater(), [](const auto& one) -> const TaskId& { return one.first; });
    LoadOrder order = processesByLoad();
    for (const auto& [task, count] : open) {
      for (int32_t i = 0; i < count; ++i) {
        const auto at = std::ranges::find_if(order, [&](const auto& one) { return !one.second->has(task); });
        if (at == order.end()) break;
        giveToProcess(order, at, task, false);
      }
    }
  }

  const int32_t replicas_;
  Quota active_;
  Quota total_;
  std::vector<TaskId> tasks_;
  std::vector<TaskId> stateful_;
  std::map<std::string, ProcessLoad> processes_;
  std::map<TaskId, Holder> runners_;
  std::map<TaskId, std::vector<CopyHolder>> copies_;
  std::map<std::string, StreamsTasks> result_;
};

}  // namespace

std::map<std::string, StreamsTasks> assignTasks(
    const std::vector<TaskCandidate>& members,
    const std::map<std::string, ConfiguredSubtopology, std::less<>>& subtopologies, int32_t standbyReplicas) {
  return TaskAssignment(members, subtopologies, standbyReplicas).assign();
}

}  // namespace tidemark::coordinator
