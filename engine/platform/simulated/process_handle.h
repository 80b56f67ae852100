#pragma once

#include <memory>
#include <string>

#include "platform/simulated/core.h"

namespace tidemark::platform {

inline constexpr MonotonicTime kWorldStart{std::chrono::hours(1)};

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(ProcessCore& core) noexcept : core_(core) {}
  MonotonicTime monotonic() const override;
  WallTime wall() const override;

 private:
  ProcessCore& core_;
};

class SimulatedLogger final : public Logger {
 public:
  explicit SimulatedLogger(ProcessCore& core) noexcept : core_(core) {}
  void write(Level level, std::string_view component, std::string_view text) override;
  bool enabled(Level level) const noexcept override;

 private:
  ProcessCore& core_;
};

/// What the owner of a simulated process holds. Destroying it kills the process.
class ProcessHandle final : public SimulatedProcess {
 public:
  ProcessHandle(std::shared_ptr<ProcessCore> core, uint64_t incarnation);
  ~ProcessHandle() override;

  Clock& clock() noexcept override { return clock_; }
  Random& random() noexcept override { return random_; }
  FileSystem& files() noexcept override { return *files_; }
  Network& network() noexcept override { return *sockets_; }
  Logger& log() noexcept override { return logger_; }
  std::shared_ptr<Executor> createExecutor(ExecutorOptions options) override;

  State state() const noexcept override { return core_->state; }
  void pause() override { core_->setPaused(true); }
  void resume() override { core_->setPaused(false); }
  void kill(const std::string& reason) override;
  void awaitStopped() override;
  void onDeath(std::move_only_function<void(const std::string& reason)> handler) override;

  const std::string& name() const noexcept override { return core_->name; }
  SimulatedDisk& disk() noexcept override { return core_->disk; }
  void losePower() override;
  uint64_t fileCalls() const noexcept override { return core_->fileCalls; }
  void crashAtFileCall(uint64_t count, Crash how) override;
  void shiftWall(milliseconds by) override { core_->wallShift += by; }
  uint64_t tasksRun() const noexcept override { return core_->tasks; }

 private:
  const std::shared_ptr<ProcessCore> core_;
  SimulatedClock clock_;
  WorldRandom random_;
  SimulatedLogger logger_;
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<Network> sockets_;
};

}  // namespace tidemark::platform
