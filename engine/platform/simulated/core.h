#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "platform/simulated/disk_tree.h"
#include "platform/simulated/network_core.h"
#include "platform/simulated/scheduler.h"
#include "platform/simulated/trace.h"
#include "platform/simulated/world.h"

namespace tidemark::platform {

class WorldRandom final : public Random {
 public:
  explicit WorldRandom(uint64_t seed) noexcept : generator_(seed) {}
  uint64_t next() override { return generator_.next(); }

 private:
  Generator generator_;
};

/// What a World consists of. Kept alive by everything that was made in it.
struct WorldCore : std::enable_shared_from_this<WorldCore> {
  explicit WorldCore(WorldOptions given);

  /// A seed of its own for each purpose, so that more draws for one do not change another.
  uint64_t seedFor(std::string_view purpose) const noexcept { return mix(mix(0, options.seed), purpose); }
  /// Process names as numbers from 1 on, in order of first mention.
  uint32_t nameId(const std::string& name);
  /// 0: nobody has mentioned it.
  uint32_t knownName(const std::string& name) const;
  const std::string& nameOf(uint32_t id) const { return *namesById[id - 1]; }
  SimulatedDisk& disk(const std::string& name);
  /// Of now, in the whole milliseconds that a wall clock has.
  WallTime wall() const noexcept;

  const WorldOptions options;
  Trace trace;
  Scheduler scheduler;
  NetworkCore network;
  SimulatedNetwork networkControl;
  WorldRandom random;
  std::map<std::string, SimulatedDisk> disks;
  std::map<std::string, uint32_t> names;
  /// Keys of `names`.
  std::vector<const std::string*> namesById;
  std::vector<std::weak_ptr<ProcessCore>> processes;
  std::map<std::string, uint64_t> incarnations;
  std::function<void()> stepHook;
  /// It runs: what it reads are no calls of the process.
  bool inHook = false;
  uint64_t nextId = 0;
};

/// One simulated process as the rest of the world sees it; its handle, executors, files and sockets share it.
struct ProcessCore : std::enable_shared_from_this<ProcessCore> {
  ProcessCore(std::shared_ptr<WorldCore> inWorld, const SimulatedProcessOptions& options, SimulatedDisk& itsDisk);

  bool dead() const noexcept { return state == Process::State::Dead; }
  bool running() const noexcept { return state == Process::State::Running; }
  /// `powerLost`: peers hear nothing and the disk forgets. `tellHandler`: whether the death handler is to hear of it.
  void die(const std::string& reason, bool powerLost, bool tellHandler);
  void setPaused(bool paused);
  /// Takes the time a file call takes.
  void takeTime(Duration typical);
  /// Counts a file call; true if this is the one at which to crash.
  bool countFileCall() noexcept { return !world->inHook && ++fileCalls == crashAt; }
  Scheduler& scheduler() noexcept { return world->scheduler; }

  const std::shared_ptr<WorldCore> world;
  const std::string name;
  const uint32_t nameId;
  const std::string host;
  const uint64_t id;
  SimulatedDisk& disk;
  Process::State state = Process::State::Running;
  std::vector<std::weak_ptr<ExecutorCore>> executors;
  std::move_only_function<void(const std::string&)> deathHandler;
  std::string deathReason;
  milliseconds wallShift{0};
  uint64_t fileCalls = 0;
  uint64_t crashAt = 0;
  SimulatedProcess::Crash crashHow = SimulatedProcess::Crash::Kill;
  uint64_t tasks = 0;
  /// For what happens to its file calls: durations, crash points.
  Generator fileChoices;
};

/// Marks the thread as one on which no mutex can be waited for, while it is there.
class SingleThread {
 public:
  SingleThread() noexcept : before_(Mutex::singleThreaded()) { Mutex::singleThreaded() = true; }
  ~SingleThread() { Mutex::singleThreaded() = before_; }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  bool before_;
};

std::unique_ptr<FileSystem> makeSimulatedFiles(ProcessCore& process);
std::unique_ptr<Network> makeSimulatedSockets(ProcessCore& process);

}  // namespace tidemark::platform
