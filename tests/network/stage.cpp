#include "network/stage.h"

#include <chrono>
#include <vector>

#include "platform/native/native.h"

namespace tidemark::test {

namespace {

constexpr auto kFarTooLong = std::chrono::seconds(30);
/// What a server knows of itself (its memory, its connections) changes without a word to the test.
constexpr auto kAskAgain = std::chrono::milliseconds(5);

class SimulatedStage final : public Stage {
 public:
  explicit SimulatedStage(uint64_t seed) : world_({.seed = seed}) {}

  std::shared_ptr<platform::Process> createProcess(const std::string& name) override {
    return world_.createProcess({.name = name, .host = name});
  }
  void change(const std::function<void()>& action) override { action(); }
  bool await(const std::function<bool()>& predicate) override {
    return predicate() || world_.runUntil(predicate, std::chrono::hours(2));
  }
  void pass(platform::Duration duration) override { world_.runFor(duration); }
  bool isSimulated() const override { return true; }
  platform::World* world() override { return &world_; }

 private:
  platform::World world_;
};

class NativeStage final : public Stage {
 public:
  std::shared_ptr<platform::Process> createProcess(const std::string& name) override {
    return platform::makeNativeProcess({.name = name, .level = platform::Logger::Level::Warning, .sink = {}});
  }
  void change(const std::function<void()>& action) override {
    const std::lock_guard lock(mutex_);
    action();
    changed_.notify_all();
  }
  bool await(const std::function<bool()>& predicate) override {
    std::unique_lock lock(mutex_);
    const auto limit = std::chrono::steady_clock::now() + kFarTooLong;
    while (!changed_.wait_for(lock, kAskAgain, predicate))
      if (std::chrono::steady_clock::now() >= limit) return false;
    return true;
  }
  void pass(platform::Duration /*duration*/) override {}
  bool isSimulated() const override { return false; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

std::unique_ptr<Stage> makeSimulatedStage(uint64_t seed) {
  return std::make_unique<SimulatedStage>(seed);
}
std::unique_ptr<Stage> makeNativeStage() {
  return std::make_unique<NativeStage>();
}

OnEachPlatform::OnEachPlatform()
    : stage(std::string_view(GetParam()) == "simulated" ? makeSimulatedStage(7) : makeNativeStage()) {}

OnEachPlatform::~OnEachPlatform() {
  killAll();
}

std::shared_ptr<platform::Process> OnEachPlatform::process(const std::string& name) {
  processes_.push_back(stage->createProcess(name));
  return processes_.back();
}

void OnEachPlatform::runOn(platform::Executor& executor, const std::function<void()>& action) {
  bool done = false;
  executor.post([&] {
    action();
    stage->change([&] { done = true; });
  });
  ASSERT_TRUE(await([&] { return done; }));
}

void OnEachPlatform::killAll() {
  for (const auto& each : processes_) each->kill("the test is over");
  for (const auto& each : processes_) each->awaitStopped();
}

}  // namespace tidemark::test
