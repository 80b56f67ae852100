#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <system_error>
#include <thread>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include "base/printable.h"
#include "platform/native/executor_core.h"
#include "platform/native/process_core.h"

namespace tidemark::platform {

namespace native {

// Descriptors

DescriptorTable::DescriptorTable() : nowhere_(::open("/dev/null", O_RDWR | O_CLOEXEC)) {}
DescriptorTable::~DescriptorTable() {
  ::close(nowhere_);
}

DescriptorTable::Place DescriptorTable::add(int descriptor) {
  const Lock lock(mutex_);
  if (letGo_) ::dup3(nowhere_, descriptor, O_CLOEXEC);
  return open_.insert(open_.end(), descriptor);
}

void DescriptorTable::remove(Place place) noexcept {
  const Lock lock(mutex_);
  ::close(*place);
  open_.erase(place);
}

void DescriptorTable::letGo() noexcept {
  const Lock lock(mutex_);
  letGo_ = true;
  for (const int descriptor : open_) ::dup3(nowhere_, descriptor, O_CLOEXEC);
}

// The life of a process

namespace {

spdlog::logger& standardError() {
  static spdlog::logger logger("tidemark", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  return logger;
}

void logToStandardError(Logger::Level level, std::string_view process, std::string_view component,
                        std::string_view text) {
  static constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                          spdlog::level::warn, spdlog::level::err};
  auto& logger = standardError();
  logger.log(kLevels[static_cast<size_t>(level)], "{} {}: {}", process, component, printable(text));
}

}  // namespace

ProcessCore::ProcessCore(NativeOptions options) : options_(std::move(options)) {}

ProcessCore::~ProcessCore() {
  // What is left can only be the thread that runs this.
  const Lock lock(mutex_);
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.detach();
  }
}

void ProcessCore::log(Logger::Level level, std::string_view component, std::string_view text) const {
  if (level < options_.level) return;
  (options_.sink ? options_.sink : logToStandardError)(level, options_.name, component, text);
}

bool ProcessCore::waitWhilePaused() {
  const Lock lock(mutex_);
  while (state() == Process::State::Paused) changed_.wait(mutex_);
  return !dead();
}

void ProcessCore::stall(Duration duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  const Lock lock(mutex_);
  while (!dead() && changed_.wait_until(mutex_, until) == std::cv_status::no_timeout) {
  }
}

void ProcessCore::setPaused(bool paused) {
  const Lock lock(mutex_);
  if (dead()) return;
  state_.store(paused ? Process::State::Paused : Process::State::Running, std::memory_order_release);
  changed_.notify_all();
}

bool ProcessCore::add(const std::shared_ptr<ExecutorCore>& executor) {
  const Lock lock(mutex_);
  if (dead()) return false;
  std::erase_if(executors_, [](const auto& weak) { return weak.expired(); });
  executors_.push_back(executor);
  return true;
}

void ProcessCore::keepUntilDeath(std::shared_ptr<ExecutorCore> executor) {
  const Lock lock(mutex_);
  if (!stopped_) kept_.push_back(std::move(executor));
}

void ProcessCore::die(const std::string& reason) {
  std::vector<std::shared_ptr<ExecutorCore>> executors;
  {
    const Lock lock(mutex_);
    if (dead()) return;
    state_.store(Process::State::Dead, std::memory_order_release);
    reason_ = reason;
    changed_.notify_all();
    for (const auto& weak : executors_) {
      if (auto executor = weak.lock()) executors.push_back(std::move(executor));
    }
  }
  log(Logger::Level::Info, "process", "ended: " + reason);
  for (const auto& executor : executors) executor->stop();
  descriptors_->letGo();
  // Where no thread could be made, those that were just stopped make room for this one.
  while (true) {
    try {
      const Lock lock(mutex_);
      threads_.emplace_back([self = shared_from_this()] { self->bury(); });
      return;
    } catch (const std::system_error&) {
      std::this_thread::yield();
    }
  }
}

void ProcessCore::bury() {
  std::vector<std::weak_ptr<ExecutorCore>> executors;
  {
    const Lock lock(mutex_);
    executors = executors_;
  }
  for (const auto& weak : executors) {
    if (const auto executor = weak.lock()) executor->join();
  }
  for (const auto& weak : executors) {
    if (const auto executor = weak.lock()) executor->finish();
  }
  DeathHandler handler;
  std::vector<std::shared_ptr<ExecutorCore>> kept;
  std::string reason;
  {
    const Lock lock(mutex_);
    stopped_ = true;
    handlerTaken_ = true;
    handler = std::move(deathHandler_);
    deathHandler_ = nullptr;
    reason = reason_;
    kept.swap(kept_);
    changed_.notify_all();
  }
  kept.clear();
  if (handler) handler(reason);
}

void ProcessCore::awaitStopped() {
  TIDEMARK_INVARIANT(currentProcess() != this, options_.name + " waits for itself");
  const Lock lock(mutex_);
  while (!stopped_) changed_.wait(mutex_);
}

void ProcessCore::onDeath(DeathHandler handler) {
  DeathHandler before;
  const Lock lock(mutex_);
  if (!handlerTaken_) {
    before = std::move(deathHandler_);
    deathHandler_ = std::move(handler);
  } else if (!abandoned_) {
    threads_.emplace_back([handler = std::move(handler), reason = reason_]() mutable { handler(reason); });
  }
}

void ProcessCore::abandon() {
  DeathHandler forgotten;
  {
    const Lock lock(mutex_);
    abandoned_ = true;
    forgotten = std::move(deathHandler_);
    deathHandler_ = nullptr;
  }
  die("its owner let go of it");
  std::vector<std::thread> threads;
  {
    const Lock lock(mutex_);
    threads.swap(threads_);
  }
  for (auto& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id() || currentProcess() == this) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

// What its owner holds

namespace {

class NativeClock final : public Clock {
 public:
  MonotonicTime monotonic() const override {
    return MonotonicTime(std::chrono::steady_clock::now().time_since_epoch());
  }
  WallTime wall() const override {
    return WallTime(std::chrono::floor<milliseconds>(std::chrono::system_clock::now().time_since_epoch()));
  }
};

/// The kernel's random numbers, fetched a few hundred at a time.
class NativeRandom final : public Random {
 public:
  uint64_t next() override {
    const Lock lock(mutex_);
    if (used_ == numbers_.size()) {
      auto* to = reinterpret_cast<char*>(numbers_.data());
      for (size_t have = 0; have < sizeof numbers_;) {
        const ssize_t got = ::getrandom(to + have, sizeof numbers_ - have, 0);
        if (got > 0) have += static_cast<size_t>(got);
      }
      used_ = 0;
    }
    return std::exchange(numbers_[used_++], 0);
  }

 private:
  Mutex mutex_;
  std::array<uint64_t, 128> numbers_ GUARDED_BY(mutex_){};
  size_t used_ GUARDED_BY(mutex_) = numbers_.size();
};

class NativeLogger final : public Logger {
 public:
  explicit NativeLogger(std::shared_ptr<ProcessCore> core) noexcept : core_(std::move(core)) {}
  void write(Level level, std::string_view component, std::string_view text) override {
    if (!core_->dead()) core_->log(level, component, text);
  }
  bool enabled(Level level) const noexcept override { return level >= core_->options().level; }

 private:
  const std::shared_ptr<ProcessCore> core_;
};

class NativeProcess final : public Process {
 public:
  explicit NativeProcess(const std::shared_ptr<ProcessCore>& core)
      : core_(core), logger_(core), files_(makeFiles(core)), network_(makeNetwork(core)) {}
  ~NativeProcess() override { core_->abandon(); }

  Clock& clock() noexcept override { return clock_; }
  Random& random() noexcept override { return random_; }
  FileSystem& files() noexcept override { return *files_; }
  Network& network() noexcept override { return *network_; }
  Logger& log() noexcept override { return logger_; }

  std::shared_ptr<Executor> createExecutor(ExecutorOptions options) override {
    TIDEMARK_INVARIANT(options.threads >= 1, options.name + ": an executor without a thread");
    auto executor = std::make_shared<ExecutorCore>(core_, std::move(options));
    if (core_->add(executor)) {
      executor->start();
    } else {
      executor->stop();
    }
    return std::make_shared<NativeExecutor>(std::move(executor));
  }

  State state() const noexcept override { return core_->state(); }
  void pause() override { core_->setPaused(true); }
  void resume() override { core_->setPaused(false); }
  void kill(const std::string& reason) override { core_->die(reason); }
  void awaitStopped() override { core_->awaitStopped(); }
  void onDeath(std::move_only_function<void(const std::string&)> handler) override {
    core_->onDeath(std::move(handler));
  }

 private:
  const std::shared_ptr<ProcessCore> core_;
  NativeClock clock_;
  NativeRandom random_;
  NativeLogger logger_;
  const std::unique_ptr<FileSystem> files_;
  const std::unique_ptr<Network> network_;
};

}  // namespace
}  // namespace native

std::shared_ptr<Process> makeNativeProcess(NativeOptions options) {
  // Writing to a socket whose peer has gone is an error, not the end of the program.
  static const bool ignored = std::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  TIDEMARK_INVARIANT(ignored, std::string("SIGPIPE cannot be ignored"));
  return std::make_shared<native::NativeProcess>(std::make_shared<native::ProcessCore>(std::move(options)));
}

}  // namespace tidemark::platform
