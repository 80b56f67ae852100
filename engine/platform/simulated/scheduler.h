#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "platform/executor.h"
#include "platform/simulated/generator.h"
#include "platform/simulated/trace.h"

namespace tidemark::platform {

struct ProcessCore;
class Scheduler;

/// The armed task behind a Timer.
struct SimulatedTimer : Timer::State {
  void cancel() noexcept override;

  std::shared_ptr<struct ExecutorCore> executor;
  /// Empty once it ran or was cancelled.
  Task task;
  bool cancelled = false;
  /// Still among the scheduler's events (as opposed to an executor's queue).
  bool pending = true;
};

/// An executor as the scheduler sees it. Shared by its handle, by sockets and by events that will post to it.
struct ExecutorCore : std::enable_shared_from_this<ExecutorCore> {
  struct Item {
    Task task;
    std::shared_ptr<SimulatedTimer> timer;
  };
  static constexpr size_t kNotReady = static_cast<size_t>(-1);

  std::shared_ptr<ProcessCore> process;
  std::string name;
  uint64_t id = 0;
  /// Threads; of these, those that are in a task whose own time lies ahead of the world's.
  int lanes = 1;
  int busy = 0;
  bool closed = false;
  std::deque<Item> queue;
  size_t readyIndex = kNotReady;
};

/// Virtual time, what will happen when, and which of the runnable executors goes next.
///
/// A task runs at the world's time in zero real time. What it does may move its own time forward (now()): what it
/// posts, sends and arms leaves then, and its lane is busy until then. Among executors that have something to run the
/// seed decides; one executor's tasks start in the order in which they arrived (a pool's nearly so).
class Scheduler {
 public:
  Scheduler(uint64_t seed, Duration taskCost, MonotonicTime start, Trace& trace);

  /// The running task's own time, or the world's.
  MonotonicTime now() const noexcept { return current_ ? taskTime_ : worldTime_; }
  MonotonicTime worldTime() const noexcept { return worldTime_; }
  /// The executor whose task runs, or null.
  ExecutorCore* current() const noexcept { return current_; }
  /// The running task takes that much longer. Nothing outside a task.
  void takeTime(Duration duration) noexcept {
    if (current_) taskTime_ += duration;
  }

  /// On the world's own account.
  void at(MonotonicTime when, Task action);
  /// Arrives at the executor at `when`, which is not in the past.
  void enqueue(const std::shared_ptr<ExecutorCore>& executor, Task task, MonotonicTime when);
  std::shared_ptr<SimulatedTimer> schedule(const std::shared_ptr<ExecutorCore>& executor, Duration after, Task task);

  enum class Step : uint8_t { Ran, Idle, Later };
  /// Runs one task or one world event; moves time, but not beyond `limit` (Later: what comes next is after it).
  Step step(MonotonicTime limit);
  /// Lets time pass up to `to`, where nothing is due before.
  void advance(MonotonicTime to) noexcept {
    if (to > worldTime_) worldTime_ = to;
  }

  /// After anything that decides whether an executor may run: its queue, its lanes, its process's state.
  void refresh(ExecutorCore& executor);
  /// Forgets what is queued for an executor and what is armed. Destroyed once no task runs.
  void drop(ExecutorCore& executor);
  /// Destroys it once no task runs (it may be in use by the task that runs).
  template <class T>
  void bury(T&& what) {
    graveyard_.push_back(std::make_shared<std::decay_t<T>>(std::forward<T>(what)));
  }
  /// Destroys it now, or once the running task has ended.
  template <class T>
  void forget(T&& what) {
    bury(std::forward<T>(what));
    sweep();
  }
  /// Empties the graveyard unless a task runs.
  void sweep();
  /// At the end of the world.
  void clear();

  uint64_t steps() const noexcept { return steps_; }
  uint64_t newExecutorId() noexcept { return ++executors_; }

 private:
  friend struct SimulatedTimer;

  enum class Kind : uint8_t { Nothing, Action, Arrival, Alarm, LaneFree };
  struct Slot {
    Kind kind = Kind::Nothing;
    std::shared_ptr<ExecutorCore> executor;
    Task task;
    std::shared_ptr<SimulatedTimer> timer;
  };
  struct Event {
    MonotonicTime at;
    uint64_t order;
    uint32_t slot;
    friend bool operator>(const Event& a, const Event& b) noexcept {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  Slot& add(MonotonicTime when, Kind kind);
  Slot take();
  void free(uint32_t slot);
  bool fire(Slot slot);
  void arrive(ExecutorCore& executor, ExecutorCore::Item item);
  void runOne(std::shared_ptr<ExecutorCore> executor);
  void forgetCancelled();

  Trace& trace_;
  Generator choices_;
  Duration taskCost_;
  MonotonicTime worldTime_;
  MonotonicTime taskTime_;
  ExecutorCore* current_ = nullptr;
  uint64_t order_ = 0;
  uint64_t steps_ = 0;
  uint64_t executors_ = 0;
  size_t cancelled_ = 0;
  std::vector<Event> events_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> freeSlots_;
  std::vector<std::shared_ptr<ExecutorCore>> ready_;
  std::vector<std::shared_ptr<void>> graveyard_;
};

}  // namespace tidemark::platform
