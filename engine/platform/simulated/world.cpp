#include "platform/simulated/world.h"

#include "platform/simulated/core.h"
#include "platform/simulated/process_handle.h"

namespace tidemark::platform {

WorldCore::WorldCore(WorldOptions given)
    : options(std::move(given)),
      trace(options.trace),
      scheduler(seedFor("scheduler"), options.costs.task, kWorldStart, trace),
      network(*this, seedFor("network"), options.link),
      networkControl(*this),
      random(seedFor("test")) {}

uint32_t WorldCore::nameId(const std::string& name) {
  const auto [entry, isNew] = names.try_emplace(name, static_cast<uint32_t>(names.size() + 1));
  if (isNew) namesById.push_back(&entry->first);
  return entry->second;
}

uint32_t WorldCore::knownName(const std::string& name) const {
  const auto found = names.find(name);
  return found == names.end() ? 0 : found->second;
}

SimulatedDisk& WorldCore::disk(const std::string& name) {
  auto found = disks.find(name);
  if (found == disks.end()) {
    found = disks.emplace(name, SimulatedDisk(std::make_shared<DiskTree>(mix(seedFor("disk"), name)))).first;
  }
  return found->second;
}

WallTime WorldCore::wall() const noexcept {
  return options.start + std::chrono::floor<milliseconds>(scheduler.now() - kWorldStart);
}

World::World(WorldOptions options) : core_(std::make_shared<WorldCore>(std::move(options))) {}

World::~World() {
  core_->stepHook = nullptr;
  for (const auto& weak : core_->processes) {
    if (const auto process = weak.lock()) process->die("the world ends", false, false);
  }
  core_->network.clear();
  core_->scheduler.clear();
}

std::shared_ptr<SimulatedProcess> World::createProcess(SimulatedProcessOptions options) {
  std::erase_if(core_->processes, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : core_->processes) {
    const auto other = weak.lock();
    TIDEMARK_INVARIANT(!other || other->dead() || other->name != options.name, options.name + " runs already");
  }
  auto& itsDisk = core_->disk(options.disk.empty() ? options.name : options.disk);
  const uint64_t incarnation = ++core_->incarnations[options.name];
  auto process = std::make_shared<ProcessCore>(core_, options, itsDisk);
  core_->processes.push_back(process);
  core_->network.processStarts(*process);
  core_->trace.record(now(), TraceKind::Process, process->id, 2, incarnation,
                      [&] { return fmt::format("{} starts for the {}. time", options.name, incarnation); });
  return std::make_shared<ProcessHandle>(std::move(process), incarnation);
}

SimulatedDisk& World::disk(const std::string& name) {
  return core_->disk(name);
}
SimulatedNetwork& World::network() noexcept {
  return core_->networkControl;
}
MonotonicTime World::now() const noexcept {
  return core_->scheduler.now();
}
WallTime World::wall() const noexcept {
  return core_->wall();
}

namespace {

Scheduler::Step stepOnce(WorldCore& core, MonotonicTime limit) {
  const SingleThread guard;
  const auto result = core.scheduler.step(limit);
  if (result == Scheduler::Step::Ran && core.stepHook) {
    struct InHook {
      explicit InHook(bool& flag) : flag_(flag) { flag_ = true; }
      ~InHook() { flag_ = false; }
      bool& flag_;
    } const inHook(core.inHook);
    core.stepHook();
  }
  return result;
}

}  // namespace

bool World::step() {
  return stepOnce(*core_, MonotonicTime::max()) == Scheduler::Step::Ran;
}

void World::runFor(Duration duration) {
  const auto end = core_->scheduler.worldTime() + duration;
  while (stepOnce(*core_, end) == Scheduler::Step::Ran) {
  }
  core_->scheduler.advance(end);
}

bool World::runUntil(const std::function<bool()>& predicate, Duration limit) {
  const auto end = core_->scheduler.worldTime() + limit;
  if (predicate()) return true;
  while (true) {
    const auto result = stepOnce(*core_, end);
    if (result != Scheduler::Step::Ran) {
      if (result == Scheduler::Step::Later) core_->scheduler.advance(end);
      return false;
    }
    if (predicate()) return true;
  }
}

void World::after(Duration delay, std::move_only_function<void()> action) {
  core_->scheduler.at(core_->scheduler.now() + delay, std::move(action));
}

void World::onStep(std::function<void()> hook) {
  core_->stepHook = std::move(hook);
}
Random& World::random() noexcept {
  return core_->random;
}
uint64_t World::traceHash() const noexcept {
  return core_->trace.hash();
}

void World::note(std::string_view text) {
  core_->trace.record(now(), TraceKind::Note, 0, 0, mix(0, text), [&] { return std::string(text); });
}

uint64_t World::stepsRun() const noexcept {
  return core_->scheduler.steps();
}

}  // namespace tidemark::platform
