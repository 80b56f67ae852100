#pragma once

#include <memory>
#include <string>
#include <vector>

#include "faults/fault_book.h"
#include "platform/process.h"

namespace tidemark::faults {

class Staller;
class UnsyncedFiles;

/// A file whose end was not synced: what a power loss would leave of it.
struct UnsyncedFile {
  std::string path;
  /// Bytes that were there when it was last synced.
  uint64_t synced = 0;
};

/// A broker's process with faults on its seam: executors, clock, files and sockets do what those of the process below
/// do, unless the book says otherwise. While nothing is broken a call costs one look at the broker's Site more. As with
/// any Process, what was built on it goes before it.
class FaultyProcess final : public platform::Process {
 public:
  /// `node`: whose faults they are.
  FaultyProcess(std::shared_ptr<platform::Process> below, std::shared_ptr<FaultBook> book, NodeId node);
  ~FaultyProcess() override;

  platform::Clock& clock() noexcept override { return *clock_; }
  platform::Random& random() noexcept override { return below_->random(); }
  platform::FileSystem& files() noexcept override { return *files_; }
  platform::Network& network() noexcept override { return *network_; }
  platform::Logger& log() noexcept override { return below_->log(); }
  std::shared_ptr<platform::Executor> createExecutor(platform::ExecutorOptions options) override;

  State state() const noexcept override { return below_->state(); }
  void pause() override { below_->pause(); }
  void resume() override { below_->resume(); }
  void kill(const std::string& reason) override { below_->kill(reason); }
  void awaitStopped() override { below_->awaitStopped(); }
  void onDeath(std::move_only_function<void(const std::string&)> handler) override {
    below_->onDeath(std::move(handler));
  }

  /// The same files without their faults.
  platform::FileSystem& filesBelow() noexcept { return below_->files(); }

  /// Files with bytes behind what was last synced, by path. Whoever cuts them off once the process is dead makes of a
  /// kill a loss of power.
  std::vector<UnsyncedFile> unsyncedFiles() const;

 private:
  const std::shared_ptr<platform::Process> below_;
  const std::shared_ptr<FaultBook> book_;
  const std::shared_ptr<const Site> site_;
  const std::shared_ptr<Staller> staller_;
  const std::shared_ptr<UnsyncedFiles> unsynced_;
  const std::unique_ptr<platform::Clock> clock_;
  const std::unique_ptr<platform::FileSystem> files_;
  const std::unique_ptr<platform::Network> network_;
};

}  // namespace tidemark::faults
