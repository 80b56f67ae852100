#include "platform/simulated/core.h"
#include "platform/simulated/executor.h"
#include "platform/simulated/process_handle.h"

namespace tidemark::platform {

// Executors

const std::shared_ptr<ExecutorCore>& coreOf(Executor& executor) {
  auto* simulated = dynamic_cast<SimulatedExecutor*>(&executor);
  TIDEMARK_INVARIANT(simulated != nullptr, executor.name() + " is not an executor of the simulated platform");
  return simulated->core();
}

SimulatedExecutor::~SimulatedExecutor() {
  core_->closed = true;
  auto& scheduler = core_->process->scheduler();
  scheduler.drop(*core_);
  scheduler.sweep();
}

void SimulatedExecutor::post(Task task) {
  auto& scheduler = core_->process->scheduler();
  scheduler.enqueue(core_, std::move(task), scheduler.now());
}

Timer SimulatedExecutor::schedule(Duration after, Task task) {
  return Timer(core_->process->scheduler().schedule(core_, after, std::move(task)));
}

bool SimulatedExecutor::isCurrent() const noexcept {
  return core_->process->scheduler().current() == core_.get();
}

void SimulatedExecutor::stall(Duration duration) {
  core_->process->scheduler().takeTime(duration);
}

// What the whole world sees of a process

ProcessCore::ProcessCore(std::shared_ptr<WorldCore> inWorld, const SimulatedProcessOptions& options,
                         SimulatedDisk& itsDisk)
    : world(std::move(inWorld)),
      name(options.name),
      nameId(world->nameId(options.name)),
      host(options.host),
      id(++world->nextId),
      disk(itsDisk),
      fileChoices(mix(world->seedFor("files"), id)) {}

void ProcessCore::takeTime(Duration typical) {
  if (const auto* current = scheduler().current(); current && current->process.get() == this) {
    scheduler().takeTime(fileChoices.around(typical));
  }
}

void ProcessCore::die(const std::string& reason, bool powerLost, bool tellHandler) {
  if (dead()) return;
  const auto keep = shared_from_this();
  const SingleThread guard;
  state = Process::State::Dead;
  deathReason = reason;
  world->trace.record(scheduler().now(), TraceKind::Process, id, 0, powerLost,
                      [&] { return fmt::format("{} {}: {}", name, powerLost ? "loses power" : "dies", reason); });
  for (const auto& weak : executors) {
    if (const auto executor = weak.lock()) scheduler().drop(*executor);
  }
  world->network.processDies(*this, powerLost);
  if (powerLost) disk.losePower();
  if (deathHandler) {
    if (tellHandler) {
      scheduler().at(scheduler().now(), [handler = std::move(deathHandler), reason]() mutable { handler(reason); });
    } else {
      scheduler().bury(std::move(deathHandler));
    }
    deathHandler = nullptr;
  }
  scheduler().sweep();
}

void ProcessCore::setPaused(bool paused) {
  if (dead()) return;
  state = paused ? Process::State::Paused : Process::State::Running;
  world->trace.record(scheduler().now(), TraceKind::Process, id, 1, paused,
                      [&] { return fmt::format("{} {}", name, paused ? "is paused" : "goes on"); });
  for (const auto& weak : executors) {
    if (const auto executor = weak.lock()) scheduler().refresh(*executor);
  }
}

// Its handle

MonotonicTime SimulatedClock::monotonic() const {
  return core_.scheduler().now();
}

WallTime SimulatedClock::wall() const {
  return core_.world->wall() + core_.wallShift;
}

void SimulatedLogger::write(Level level, std::string_view component, std::string_view text) {
  const auto& world = *core_.world;
  const auto now = core_.scheduler().now();
  if (level >= Level::Info) {
    core_.world->trace.record(now, TraceKind::Log, core_.id, static_cast<uint64_t>(level), mix(mix(0, component), text),
                              [&] { return fmt::format("{} {}: {}", core_.name, component, text); });
  }
  if (world.options.log && level >= world.options.level) world.options.log(now, level, core_.name, component, text);
}

bool SimulatedLogger::enabled(Level level) const noexcept {
  const auto& options = core_.world->options;
  return level >= Level::Info || (options.log && level >= options.level);
}

ProcessHandle::ProcessHandle(std::shared_ptr<ProcessCore> core, uint64_t incarnation)
    : core_(std::move(core)),
      clock_(*core_),
      random_(mix(mix(core_->world->seedFor("process"), core_->name), incarnation)),
      logger_(*core_),
      files_(makeSimulatedFiles(*core_)),
      sockets_(makeSimulatedSockets(*core_)) {}

ProcessHandle::~ProcessHandle() {
  core_->die("its handle was destroyed", false, false);
}

std::shared_ptr<Executor> ProcessHandle::createExecutor(ExecutorOptions options) {
  TIDEMARK_INVARIANT(options.threads >= 1, fmt::format("{}: an executor of {} threads", options.name, options.threads));
  auto core = std::make_shared<ExecutorCore>();
  core->process = core_;
  core->name = std::move(options.name);
  core->lanes = options.threads;
  core->id = core_->scheduler().newExecutorId();
  std::erase_if(core_->executors, [](const auto& weak) { return weak.expired(); });
  core_->executors.push_back(core);
  return std::make_shared<SimulatedExecutor>(std::move(core));
}

void ProcessHandle::kill(const std::string& reason) {
  core_->die(reason, false, true);
}

void ProcessHandle::losePower() {
  core_->die("power lost", true, true);
}

void ProcessHandle::awaitStopped() {
  TIDEMARK_INVARIANT(core_->dead(), core_->name + " was not killed");
  const auto* current = core_->scheduler().current();
  TIDEMARK_INVARIANT(!current || current->process != core_, core_->name + " waits for itself");
  core_->scheduler().sweep();
}

void ProcessHandle::onDeath(std::move_only_function<void(const std::string&)> handler) {
  if (core_->dead()) {
    auto& scheduler = core_->scheduler();
    scheduler.at(scheduler.now(),
                 [handler = std::move(handler), reason = core_->deathReason]() mutable { handler(reason); });
    return;
  }
  core_->deathHandler = std::move(handler);
}

void ProcessHandle::crashAtFileCall(uint64_t count, Crash how) {
  core_->crashAt = core_->fileCalls + count;
  core_->crashHow = how;
}

}  // namespace tidemark::platform
