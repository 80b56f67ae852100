#include <algorithm>
#include <system_error>

#include <pthread.h>
#include <sys/socket.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fmt/format.h>

#include "platform/native/executor_core.h"

namespace tidemark::platform::native {

namespace {

thread_local const ExecutorCore* currentExecutor = nullptr;

/// Completions in a row; then sockets and timers have their turn.
constexpr int kMostFollowing = 16;

/// The armed task behind a Timer. Whoever takes `armed` away owns the task: the timer when it fires, or who cancels.
class TimerState final : public Timer::State, public std::enable_shared_from_this<TimerState> {
 public:
  TimerState(std::shared_ptr<ExecutorCore> core, Task task)
      : core_(std::move(core)), timer_(core_->context()), task_(std::move(task)) {}

  void arm(Duration after) {
    timer_.expires_after(after);
    timer_.async_wait([hold = Hold(shared_from_this())](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      auto& self = *hold.state;
      self.core_->run([&] {
        if (!self.armed_.exchange(false, std::memory_order_acq_rel)) return;
        Task mine = std::move(self.task_);
        mine();
      });
    });
  }

  void cancel() noexcept override {
    if (!armed_.exchange(false, std::memory_order_acq_rel)) return;
    Task forgotten = std::move(task_);
    boost::system::error_code ignored;
    timer_.cancel(ignored);
  }

 private:
  /// What waits in the io_context: when that is thrown away, the task goes although the handle may live on.
  struct Hold {
    explicit Hold(std::shared_ptr<TimerState> held) noexcept : state(std::move(held)) {}
    Hold(Hold&&) noexcept = default;
    ~Hold() {
      if (state) state->forget();
    }
    std::shared_ptr<TimerState> state;
  };

  void forget() noexcept {
    if (armed_.exchange(false, std::memory_order_acq_rel)) task_ = nullptr;
  }

  const std::shared_ptr<ExecutorCore> core_;
  asio::steady_timer timer_;
  std::atomic<bool> armed_ = true;
  Task task_;
};

}  // namespace

const ProcessCore* currentProcess() noexcept {
  return currentExecutor ? &currentExecutor->process() : nullptr;
}

ExecutorCore::ExecutorCore(std::shared_ptr<ProcessCore> process, ExecutorOptions options)
    : process_(std::move(process)),
      options_(std::move(options)),
      // Told of one thread, Asio would let tasks that its own tasks post fall behind those of other threads.
      context_(std::max(2, options_.threads)),
      work_(context_.get_executor()) {}

ExecutorCore::~ExecutorCore() = default;

bool ExecutorCore::isCurrent() const noexcept {
  return currentExecutor == this;
}

void ExecutorCore::start() {
  const Lock lock(joinMutex_);
  if (stopped()) return;
  try {
    for (int i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this] {
        currentExecutor = this;
        context_.run();
        currentExecutor = nullptr;
      });
      pthread_setname_np(threads_.back().native_handle(), options_.name.substr(0, 15).c_str());
    }
  } catch (const std::system_error& error) {
    const size_t made = threads_.size();
    // What burying the process takes is free again.
    stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    const std::string text = fmt::format("thread {} of the {} of {} cannot be made: {}", made + 1, options_.threads,
                                         options_.name, error.what());
    process_->log(Logger::Level::Error, "process", text);
    process_->die(text);
  }
}

void ExecutorCore::follow(Task completion) {
  if (isCurrent()) {
    following_.push_back(std::move(completion));
    return;
  }
  asio::post(context_, [core = this, completion = std::move(completion)]() mutable { core->run(completion); });
}

void ExecutorCore::runFollowing() {
  for (int i = 0; !following_.empty(); ++i) {
    Task next = std::move(following_.front());
    following_.pop_front();
    if (i < kMostFollowing) {
      runOne(next);
    } else {
      asio::post(context_, [core = this, next = std::move(next)]() mutable { core->run(next); });
    }
  }
}

void ExecutorCore::fail(const std::string& what) {
  const std::string text = "a task failed on " + options_.name + ": " + what;
  process_->log(Logger::Level::Error, "process", text);
  process_->die(text);
}

void ExecutorCore::stop() {
  stopped_.store(true, std::memory_order_release);
  context_.stop();
  const Lock lock(socketsMutex_);
  closedForSockets_ = true;
  for (const auto& weak : sockets_) {
    if (const auto socket = weak.lock()) ::shutdown(socket->descriptor(), SHUT_RDWR);
  }
}

void ExecutorCore::join() {
  const Lock lock(joinMutex_);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void ExecutorCore::finish() {
  if (finished_.exchange(true)) return;
  while (true) {
    std::shared_ptr<OpenSocket> socket;
    {
      const Lock lock(socketsMutex_);
      const auto alive = std::find_if(sockets_.begin(), sockets_.end(), [&](const auto& weak) {
        socket = weak.lock();
        return socket != nullptr;
      });
      if (alive == sockets_.end()) break;
    }
    socket->abandon();
  }
  context_.shutdown();
}

void ExecutorCore::retire() {
  const auto keep = shared_from_this();
  stop();
  if (isCurrent()) {
    process_->keepUntilDeath(keep);
    return;
  }
  join();
  finish();
}

bool ExecutorCore::add(const std::shared_ptr<OpenSocket>& socket, SocketPlace& place) {
  const Lock lock(socketsMutex_);
  if (closedForSockets_) return false;
  place = sockets_.insert(sockets_.end(), socket);
  return true;
}

void ExecutorCore::remove(SocketPlace place) {
  const Lock lock(socketsMutex_);
  sockets_.erase(place);
}

void NativeExecutor::post(Task task) {
  if (core_->stopped()) return;
  asio::post(core_->context(), [core = core_.get(), task = std::move(task)]() mutable {
    core->run([&] {
      // It is gone before the next one starts.
      Task mine = std::move(task);
      mine();
    });
  });
}

Timer NativeExecutor::schedule(Duration after, Task task) {
  if (core_->stopped()) return Timer();
  auto state = std::make_shared<TimerState>(core_, std::move(task));
  state->arm(std::max(after, Duration(0)));
  return Timer(std::move(state));
}

const std::shared_ptr<ExecutorCore>& serialCore(Executor& executor) {
  auto* native = dynamic_cast<NativeExecutor*>(&executor);
  TIDEMARK_INVARIANT(native != nullptr, executor.name() + " is not an executor of the native platform");
  TIDEMARK_INVARIANT(native->core()->isSerial(), executor.name() + " is a pool, sockets need a serial executor");
  return native->core();
}

}  // namespace tidemark::platform::native
