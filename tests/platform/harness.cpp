#include "harness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "platform/native/native.h"

namespace tidemark::platform {

namespace {

class NativeHarness final : public Harness {
 public:
  ~NativeHarness() override {
    std::error_code ignored;
    for (const auto& folder : folders_) std::filesystem::remove_all(folder, ignored);
  }
  std::shared_ptr<Process> createProcess(const std::string& name) override {
    return makeNativeProcess({.name = name, .sink = [](auto, auto, auto, auto) {}});
  }
  std::string folder() override {
    std::string path = (std::filesystem::temp_directory_path() / "tidemark-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    return folders_.emplace_back(path);
  }
  bool await(std::function<bool()> predicate) override {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), predicate);
  }
  void pass(Duration duration) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, duration, [] { return false; });
  }

 private:
  std::vector<std::string> folders_;
};

class SimulatedHarness final : public Harness {
 public:
  std::shared_ptr<Process> createProcess(const std::string& name) override {
    return world_.createProcess({.name = name, .disk = "disk"});
  }
  std::string folder() override {
    const std::string path = "/folder-" + std::to_string(++folders_);
    auto maker = world_.createProcess({.name = "maker", .disk = "disk"});
    EXPECT_TRUE(maker->files().createDirectories(path));
    EXPECT_TRUE(maker->files().syncDirectory("/"));
    return path;
  }
  World* world() noexcept override { return &world_; }
  bool await(std::function<bool()> predicate) override { return world_.runUntil(predicate, std::chrono::minutes(5)); }
  void pass(Duration duration) override { world_.runFor(duration); }

 private:
  World world_;
  int folders_ = 0;
};

}  // namespace

void Harness::run(Executor& executor, std::function<void()> function) {
  bool done = false;
  executor.post([&] {
    function();
    update([&] { done = true; });
  });
  ASSERT_TRUE(await([&] { return done; }));
}

std::unique_ptr<Harness> makeHarness(Kind kind) {
  if (kind == Kind::Native) return std::make_unique<NativeHarness>();
  return std::make_unique<SimulatedHarness>();
}

}  // namespace tidemark::platform
