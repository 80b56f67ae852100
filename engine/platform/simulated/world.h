#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/process.h"
#include "platform/simulated/disk.h"
#include "platform/simulated/network.h"

/// The platform on which a whole cluster runs on one thread, in virtual time, from one seed.
namespace tidemark::platform {

struct WorldCore;

/// How long things take. Each duration is drawn between half and one and a half of what stands here.
struct SimulatedCosts {
  Duration task = std::chrono::microseconds(2);
  Duration fileOpen = std::chrono::microseconds(20);
  Duration fileRead = std::chrono::microseconds(3);
  Duration fileWrite = std::chrono::microseconds(6);
  /// In addition, of reading or writing.
  Duration perMebibyte = std::chrono::microseconds(200);
  Duration fileSync = std::chrono::milliseconds(2);
  /// Creating, renaming, removing, listing.
  Duration directory = std::chrono::microseconds(30);
};

struct WorldOptions {
  uint64_t seed = 1;
  SimulatedCosts costs;
  /// What every link does unless told otherwise.
  LinkOptions link;
  /// Wall time at the start.
  WallTime start{milliseconds(1'767'225'600'000)};  // 2026-01-01T00:00:00Z
  /// Called with each line of the trace: scheduled tasks, file and network events, log lines. For finding out where two
  /// runs part; costs a lot.
  std::function<void(std::string_view line)> trace;
  /// Log lines of this level and above go to `log`, those of Info and above always into the trace as well.
  Logger::Level level = Logger::Level::Info;
  std::function<void(MonotonicTime, Logger::Level, std::string_view process, std::string_view component,
                     std::string_view text)>
      log;
};

struct SimulatedProcessOptions {
  /// Stays the same over restarts: links are cut between names.
  std::string name;
  /// Empty: a disk of the process's own name.
  std::string disk = {};
  /// The machine: its ports are its own, it answers to this name (and, for itself, to localhost, 127.0.0.1, ::1).
  std::string host = "127.0.0.1";
};

/// What a test may do to a Process of a World beyond what Process offers.
class SimulatedProcess : public Process {
 public:
  enum class Crash : uint8_t {
    Kill,       ///< the page cache stays
    PowerLoss,  ///< unsynced bytes are forgotten as well, and peers hear nothing
  };

  virtual const std::string& name() const noexcept = 0;
  virtual SimulatedDisk& disk() noexcept = 0;
  /// kill() and the loss of everything on its disk that was not synced.
  virtual void losePower() = 0;
  /// File calls made so far. Every one is a place where it may crash.
  virtual uint64_t fileCalls() const noexcept = 0;
  /// Dies in the middle of the `count`th file call from now (1: the next one): before it has an effect, after part of
  /// it or after all of it, as the seed will have it.
  virtual void crashAtFileCall(uint64_t count, Crash how) = 0;
  /// Moves its wall clock (not the monotonic one).
  virtual void shiftWall(milliseconds by) = 0;
  /// Tasks run so far.
  virtual uint64_t tasksRun() const noexcept = 0;
};

/// Everything simulated: time, scheduler, disks, links and processes. One thread. When it goes every process is dead;
/// what was built on them may still be destroyed afterwards.
class World {
 public:
  explicit World(WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// A process of that name starts. One that had the name before must be dead; the same disk makes it a restart.
  std::shared_ptr<SimulatedProcess> createProcess(SimulatedProcessOptions options);
  std::shared_ptr<SimulatedProcess> createProcess(const char* name) {
    return createProcess(SimulatedProcessOptions{.name = name});
  }
  /// Made on first mention.
  SimulatedDisk& disk(const std::string& name);
  SimulatedNetwork& network() noexcept;

  MonotonicTime now() const noexcept;
  /// As a process has it whose clock was not moved.
  WallTime wall() const noexcept;
  /// Runs the next task, or moves time to the next event. False: nothing will ever happen again by itself.
  bool step();
  /// Runs everything due in the next `duration`; afterwards that much time has passed.
  void runFor(Duration duration);
  /// Until the predicate, asked after each step, holds (true) or `limit` has passed or nothing is left (false).
  bool runUntil(const std::function<bool()>& predicate, Duration limit);
  /// Calls `action` on the world's own account (not as a task of a process): for faults, kills, restarts.
  void after(Duration delay, std::move_only_function<void()> action);
  /// Called after every step: for invariants. One hook; an empty one removes it. What it reads of files counts as no
  /// call of a process, and crashes none.
  void onStep(std::function<void()> hook);

  /// Randomness for the test itself, from the seed, apart from everything else's.
  Random& random() noexcept;
  /// Over everything that happened so far. Two runs of one seed have equal ones, whatever the addresses in memory.
  uint64_t traceHash() const noexcept;
  /// Puts a line of the test's own into the trace.
  void note(std::string_view text);
  uint64_t stepsRun() const noexcept;

 private:
  std::shared_ptr<WorldCore> core_;
};

}  // namespace tidemark::platform
