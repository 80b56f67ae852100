#include "faults/faulty_process.h"

#include <fmt/format.h>

#include "base/invariant.h"
#include "faults/faulty_clock.h"
#include "faults/faulty_executor.h"
#include "faults/faulty_files.h"
#include "faults/faulty_network.h"

namespace tidemark::faults {

// --- executors
// ------------------------------------------------------------------------------------------------------

platform::Task FaultyExecutor::slow(platform::Task task) {
  // Of the executor below by name alone: it outlives what is queued on it.
  return [below = below_.get(), book = book_, node = site_->node(), task = std::move(task)]() mutable {
    below->stall(book->slowness(node));
    platform::Task mine = std::move(task);
    mine();
  };
}

void FaultyExecutor::postSlow(platform::Task task) {
  below_->post(slow(std::move(task)));
}

platform::Timer FaultyExecutor::scheduleWrong(platform::Duration after, platform::Task task) {
  const double rate = site_->clocks().monotonicRate;
  const platform::Duration real(static_cast<int64_t>(static_cast<double>(after.count()) / rate));
  return below_->schedule(real, site_->any(kSlowFaults) ? slow(std::move(task)) : std::move(task));
}

const std::shared_ptr<platform::Executor>& belowOf(platform::Executor& executor) {
  const auto* faulty = dynamic_cast<FaultyExecutor*>(&executor);
  TIDEMARK_INVARIANT(faulty != nullptr, executor.name() + " is not an executor of a process with faults");
  return faulty->below();
}

// --- the process
// ----------------------------------------------------------------------------------------------------

FaultyProcess::FaultyProcess(std::shared_ptr<platform::Process> below, std::shared_ptr<FaultBook> book, NodeId node)
    : below_(std::move(below)),
      book_(std::move(book)),
      site_(book_->site(node)),
      staller_(std::make_shared<Staller>()),
      unsynced_(std::make_shared<UnsyncedFiles>()),
      clock_(std::make_unique<FaultyClock>(below_->clock(), site_)),
      files_(std::make_unique<FaultyFiles>(*below_, book_, site_, staller_, unsynced_)),
      network_(std::make_unique<FaultyNetwork>(*below_, book_, site_)) {}

FaultyProcess::~FaultyProcess() = default;

std::shared_ptr<platform::Executor> FaultyProcess::createExecutor(platform::ExecutorOptions options) {
  auto executor = below_->createExecutor(std::move(options));
  staller_->add(executor);
  return std::make_shared<FaultyExecutor>(std::move(executor), book_, site_);
}

std::vector<UnsyncedFile> FaultyProcess::unsyncedFiles() const {
  return unsynced_->list();
}

}  // namespace tidemark::faults
