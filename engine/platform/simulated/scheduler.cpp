#include "platform/simulated/scheduler.h"

#include <algorithm>
#include <exception>

#include "platform/simulated/core.h"

namespace tidemark::platform {

void Trace::write(MonotonicTime at, TraceKind kind, const std::string& text) {
  static constexpr std::string_view kNames[] = {"task", "file", "net ", "proc", "log ", "note"};
  const auto time = at.time_since_epoch();
  sink_(fmt::format("{:>14.3f} {} {}", std::chrono::duration<double, std::micro>(time).count(),
                    kNames[static_cast<size_t>(kind)], text));
}

void SimulatedTimer::cancel() noexcept {
  if (cancelled || !executor) return;
  cancelled = true;
  Task forgotten = std::move(task);
  if (pending) {
    auto keep = executor;
    auto& scheduler = keep->process->scheduler();
    ++scheduler.cancelled_;
    scheduler.forgetCancelled();
  }
}

Scheduler::Scheduler(uint64_t seed, Duration taskCost, MonotonicTime start, Trace& trace)
    : trace_(trace), choices_(seed), taskCost_(taskCost), worldTime_(start) {}

Scheduler::Slot& Scheduler::add(MonotonicTime when, Kind kind) {
  uint32_t index;
  if (freeSlots_.empty()) {
    index = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    index = freeSlots_.back();
    freeSlots_.pop_back();
  }
  events_.push_back({std::max(when, worldTime_), ++order_, index});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
  slots_[index].kind = kind;
  return slots_[index];
}

void Scheduler::free(uint32_t slot) {
  slots_[slot] = Slot();
  freeSlots_.push_back(slot);
}

Scheduler::Slot Scheduler::take() {
  std::pop_heap(events_.begin(), events_.end(), std::greater<>());
  const uint32_t index = events_.back().slot;
  events_.pop_back();
  Slot slot = std::move(slots_[index]);
  free(index);
  return slot;
}

void Scheduler::at(MonotonicTime when, Task action) {
  add(when, Kind::Action).task = std::move(action);
}

void Scheduler::enqueue(const std::shared_ptr<ExecutorCore>& executor, Task task, MonotonicTime when) {
  if (executor->closed || executor->process->dead()) {
    forget(std::move(task));
    return;
  }
  if (when <= worldTime_) {
    arrive(*executor, {std::move(task), nullptr});
    return;
  }
  Slot& slot = add(when, Kind::Arrival);
  slot.executor = executor;
  slot.task = std::move(task);
}

std::shared_ptr<SimulatedTimer> Scheduler::schedule(const std::shared_ptr<ExecutorCore>& executor, Duration after,
                                                    Task task) {
  auto timer = std::make_shared<SimulatedTimer>();
  if (executor->closed || executor->process->dead()) {
    forget(std::move(task));
    timer->cancelled = true;
    return timer;
  }
  timer->executor = executor;
  timer->task = std::move(task);
  Slot& slot = add(now() + std::max(after, Duration(0)), Kind::Alarm);
  slot.executor = executor;
  slot.timer = timer;
  return timer;
}

void Scheduler::arrive(ExecutorCore& executor, ExecutorCore::Item item) {
  executor.queue.push_back(std::move(item));
  refresh(executor);
}

void Scheduler::refresh(ExecutorCore& executor) {
  const bool should =
      !executor.closed && executor.process->running() && executor.busy < executor.lanes && !executor.queue.empty();
  const bool is = executor.readyIndex != ExecutorCore::kNotReady;
  if (should == is) return;
  if (should) {
    executor.readyIndex = ready_.size();
    ready_.push_back(executor.shared_from_this());
  } else {
    const size_t index = executor.readyIndex;
    executor.readyIndex = ExecutorCore::kNotReady;
    auto last = std::move(ready_.back());
    ready_.pop_back();
    if (index < ready_.size()) {
      last->readyIndex = index;
      // What was there may be the last reference.
      std::swap(ready_[index], last);
    }
    bury(std::move(last));
  }
}

Scheduler::Step Scheduler::step(MonotonicTime limit) {
  TIDEMARK_INVARIANT(!current_, std::string("a task runs the world it is part of"));
  sweep();
  while (true) {
    if (!events_.empty() && events_.front().at <= worldTime_) {
      if (fire(take())) return Step::Ran;
    } else if (!ready_.empty()) {
      runOne(ready_[choices_.below(ready_.size())]);
      return Step::Ran;
    } else if (events_.empty()) {
      return Step::Idle;
    } else if (events_.front().at > limit) {
      return Step::Later;
    } else {
      worldTime_ = events_.front().at;
    }
  }
}

bool Scheduler::fire(Slot slot) {
  switch (slot.kind) {
    case Kind::Nothing:
      return false;
    case Kind::Action:
      ++steps_;
      slot.task();
      sweep();
      return true;
    case Kind::Arrival:
      arrive(*slot.executor, {std::move(slot.task), nullptr});
      return false;
    case Kind::Alarm:
      slot.timer->pending = false;
      if (slot.timer->cancelled) {
        --cancelled_;
      } else {
        arrive(*slot.executor, {Task(), std::move(slot.timer)});
      }
      return false;
    case Kind::LaneFree:
      --slot.executor->busy;
      refresh(*slot.executor);
      return false;
  }
  return false;
}

void Scheduler::runOne(std::shared_ptr<ExecutorCore> executor) {
  // Threads of a pool that took their tasks in order may get to run them in another.
  size_t index = 0;
  if (executor->lanes > 1) {
    const auto idle = static_cast<size_t>(executor->lanes - executor->busy);
    index = choices_.below(std::min(idle, executor->queue.size()));
  }
  ExecutorCore::Item item = std::move(executor->queue[index]);
  executor->queue.erase(executor->queue.begin() + static_cast<std::ptrdiff_t>(index));
  if (item.timer) {
    if (item.timer->cancelled) {
      refresh(*executor);
      return;
    }
    item.timer->cancelled = true;
    item.task = std::move(item.timer->task);
  }

  ++steps_;
  auto& process = *executor->process;
  ++process.tasks;
  trace_.record(worldTime_, TraceKind::Run, executor->id, process.tasks, executor->queue.size(),
                [&] { return fmt::format("{}/{}", process.name, executor->name); });
  current_ = executor.get();
  taskTime_ = worldTime_;
  std::string broken;
  try {
    item.task();
    item.task = Task();
  } catch (const std::exception& error) {
    broken = error.what();
    if (broken.empty()) broken = "an exception without a text";
  }
  if (!broken.empty()) process.die("a task failed: " + broken, false, true);
  taskTime_ += choices_.around(taskCost_);
  const MonotonicTime end = taskTime_;
  current_ = nullptr;
  if (end > worldTime_ && !process.dead() && !executor->closed) {
    ++executor->busy;
    add(end, Kind::LaneFree).executor = executor;
  }
  refresh(*executor);
  sweep();
}

void Scheduler::drop(ExecutorCore& executor) {
  bury(std::move(executor.queue));
  executor.queue.clear();
  refresh(executor);
  for (auto& slot : slots_) {
    if (slot.executor.get() != &executor) continue;
    if (slot.timer) {
      if (!slot.timer->cancelled) {
        slot.timer->cancelled = true;
        ++cancelled_;
        bury(std::move(slot.timer->task));
      }
    } else if (slot.task) {
      bury(std::move(slot.task));
      slot.kind = Kind::Nothing;
    }
  }
}

void Scheduler::forgetCancelled() {
  if (cancelled_ < 256 || cancelled_ * 2 < events_.size()) return;
  std::erase_if(events_, [this](const Event& event) {
    const Slot& slot = slots_[event.slot];
    if (!slot.timer || !slot.timer->cancelled) return false;
    slot.timer->pending = false;
    bury(std::move(slots_[event.slot].timer));
    free(event.slot);
    return true;
  });
  std::make_heap(events_.begin(), events_.end(), std::greater<>());
  cancelled_ = 0;
}

void Scheduler::sweep() {
  if (current_) return;
  while (!graveyard_.empty()) {
    auto gone = std::move(graveyard_);
    graveyard_.clear();
    gone.clear();
  }
}

void Scheduler::clear() {
  events_.clear();
  bury(std::move(slots_));
  bury(std::move(ready_));
  slots_.clear();
  ready_.clear();
  freeSlots_.clear();
  cancelled_ = 0;
  sweep();
}

}  // namespace tidemark::platform
