#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "platform/process.h"
#include "platform/simulated/world.h"

namespace tidemark::test {

/// Where a test that runs on both platforms takes place. What tasks tell the test they tell inside change(); the test
/// waits for it with await(). Nobody sleeps: simulated time is moved, real tasks wake the test.
class Stage {
 public:
  virtual ~Stage() = default;

  virtual std::shared_ptr<platform::Process> createProcess(const std::string& name) = 0;
  /// Runs `action`, which may touch what predicates read.
  virtual void change(const std::function<void()>& action) = 0;
  /// Whether the predicate came true within a limit that is far too long.
  virtual bool await(const std::function<bool()>& predicate) = 0;
  /// Lets simulated time pass. Real time: does nothing.
  virtual void pass(platform::Duration duration) = 0;
  virtual bool isSimulated() const = 0;
  /// The simulated world, or null.
  virtual platform::World* world() { return nullptr; }
};

std::unique_ptr<Stage> makeSimulatedStage(uint64_t seed);
std::unique_ptr<Stage> makeNativeStage();

/// A test on each platform: TEST_P with the name of the platform as its parameter.
class OnEachPlatform : public testing::TestWithParam<const char*> {
 protected:
  OnEachPlatform();
  ~OnEachPlatform() override;
  /// Here and not in a destructor: tasks may call the test itself, which must be whole until they have ended.
  void TearDown() override { killAll(); }

  std::shared_ptr<platform::Process> process(const std::string& name);
  bool await(const std::function<bool()>& predicate) { return stage->await(predicate); }
  /// Returns once it has run there.
  void runOn(platform::Executor& executor, const std::function<void()>& action);

  std::unique_ptr<Stage> stage;

 private:
  std::vector<std::shared_ptr<platform::Process>> processes_;

 protected:
  /// Ends all processes and waits for their tasks. Call it before what the tasks touch goes away.
  void killAll();
};

#define TIDEMARK_ON_EACH_PLATFORM(Suite)                                             \
  INSTANTIATE_TEST_SUITE_P(Platforms, Suite, testing::Values("simulated", "native"), \
                           [](const auto& each) { return std::string(each.param); })

}  // namespace tidemark::test
