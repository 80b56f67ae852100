#include <gmock/gmock.h>

#include "events/recorder.h"
#include "log/log_manager.h"
#include "log_fixture.h"

// Loading on threads: `num.recovery.threads.per.data.dir`.

namespace tidemark::log {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

class Loading : public LogFixture {
 protected:
  static constexpr int kLogs = 6;
  static constexpr int kSegments = 8;

  Loading() {
    managerOptions_.directories = {"/data/a", "/data/b"};
    openManager();
    EXPECT_TRUE(manager_->load({}));
    EXPECT_TRUE(manager_->format("cluster", NodeId(1)));
  }
  void openManager() {
    background_ = process_->createExecutor({.name = "background"});
    recorder_ = std::make_unique<events::Recorder>(process_->clock(), NodeId(1));
    manager_ = *LogManager::open(*process_, background_, recorder_.get(), managerOptions_);
  }
  void crashManager() {
    crash(Crash::Kill);
    logs_.clear();
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
    openManager();
  }
  /// Logs in the first directory.
  void fill() {
    const Uuid first = manager_->metaProperties()[0]->directoryId;
    for (int i = 0; i < kLogs; ++i) {
      log_ = *manager_->getOrCreate(name(i), Uuid(), options_.config, first);
      for (int segment = 0; segment < kSegments; ++segment) {
        if (segment > 0) {
          ASSERT_TRUE(log_->roll());
        }
        append({.count = 10, .valueSize = 1000});
      }
    }
  }
  TopicPartition name(int index) const { return {"orders", PartitionIndex(index)}; }
  /// How long it took, in the time of the world.
  platform::Duration loadOn(int threads) {
    bool done = false;
    const auto from = process_->clock().monotonic();
    manager_->startLoading({.threadsPerDirectory = threads}, [&](const Result<void>& loaded) {
      EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
      EXPECT_FALSE(done) << "told twice";
      done = true;
    });
    EXPECT_TRUE(world_->runUntil([&] { return done; }, std::chrono::minutes(5)));
    return process_->clock().monotonic() - from;
  }
  void expectAllLoaded() {
    for (int i = 0; i < kLogs; ++i) {
      const auto log = manager_->get(name(i));
      ASSERT_TRUE(log) << i;
      EXPECT_EQ(log->logEndOffset(), Offset(10 * kSegments));
    }
  }

  LogManagerOptions managerOptions_;
  std::unique_ptr<events::Recorder> recorder_;
  std::shared_ptr<LogManager> manager_;
  std::vector<std::shared_ptr<PartitionLog>> logs_;
};

TEST_F(Loading, severalThreadsRecoverTheLogsOfADirectorySideBySide) {
  fill();
  crashManager();
  const auto alone = loadOn(1);
  expectAllLoaded();
  crashManager();
  const auto three = loadOn(3);
  expectAllLoaded();
  EXPECT_LT(three * 2, alone);
}

TEST_F(Loading, noMoreThreadsRecoverThanTheDirectoryIsAllowed) {
  fill();
  crashManager();
  recorder_->want(events::Kinds::all());
  loadOn(2);
  std::vector<events::Event> told;
  recorder_->drain(told);
  std::set<int> threads;
  for (const events::Event& event : told)
    if (const auto* progress = std::get_if<events::RecoveryProgressed>(&event.payload))
      threads.insert(progress->thread);
  EXPECT_EQ(threads, (std::set<int>{0, 1}));
}

TEST_F(Loading, recoveryTellsHowManyLogsAndSegmentsAreLeft) {
  fill();
  crashManager();
  recorder_->want(events::Kinds::all());
  loadOn(1);
  std::vector<events::Event> told;
  recorder_->drain(told);
  std::vector<std::pair<int, int>> left;
  for (const events::Event& event : told)
    if (const auto* progress = std::get_if<events::RecoveryProgressed>(&event.payload)) {
      EXPECT_EQ(progress->directory.view(), "/data/a");
      left.emplace_back(progress->remainingLogs, progress->remainingSegments);
    }
  std::vector<std::pair<int, int>> expected;
  for (int logs = kLogs; logs > 0; --logs)
    for (int segments = kSegments; segments >= 0; --segments) expected.emplace_back(logs, segments);
  EXPECT_EQ(left, expected);
}

TEST_F(Loading, afterACleanStopNoRecoveryIsTold) {
  fill();
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  crashManager();
  recorder_->want(events::Kinds::all());
  loadOn(2);
  expectAllLoaded();
  std::vector<events::Event> told;
  recorder_->drain(told);
  for (const events::Event& event : told)
    EXPECT_FALSE(std::holds_alternative<events::RecoveryProgressed>(event.payload));
}

TEST_F(Loading, aStopWhileLoadingLeavesTheRestAloneAndNoMarker) {
  fill();
  manager_->checkpoint();
  crashManager();
  std::optional<Result<void>> loaded;
  manager_->startLoading({.threadsPerDirectory = 1}, [&](const Result<void>& result) { loaded = result; });
  ASSERT_TRUE(world_->runUntil([&] { return manager_->get(name(0)) != nullptr; }, std::chrono::minutes(1)));
  manager_->stopLoading();
  ASSERT_TRUE(world_->runUntil([&] { return loaded.has_value(); }, std::chrono::minutes(1)));
  EXPECT_FALSE(*loaded);
  EXPECT_FALSE(manager_->get(name(kLogs - 1)));
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  EXPECT_THAT(text("/data/a/replication-offset-checkpoint"), HasSubstr("orders 5 0"));
  EXPECT_THAT(names("/data/a"), Not(Contains(".kafka_cleanshutdown")));
  crashManager();
  loadOn(2);
  expectAllLoaded();
}

TEST_F(Loading, aLogThatCannotBeOpenedTakesItsDirectoryOfflineAndTheOthersGoOn) {
  fill();
  const Uuid second = manager_->metaProperties()[1]->directoryId;
  const TopicPartition other{"other", PartitionIndex(0)};
  ASSERT_TRUE(manager_->getOrCreate(other, Uuid(), options_.config, second));
  crashManager();
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Read && path.starts_with("/data/a/orders-2/");
  });
  loadOn(2);
  process_->disk().failWhen({});
  const auto directories = manager_->directories();
  EXPECT_TRUE(directories[0].offline);
  EXPECT_FALSE(directories[1].offline);
  EXPECT_TRUE(manager_->get(other));
}

TEST_F(Loading, aKillWhileLoadingIsNoTrouble) {
  fill();
  crashManager();
  manager_->startLoading({.threadsPerDirectory = 3},
                         [](const Result<void>&) { FAIL() << "nobody is there to be told"; });
  ASSERT_TRUE(world_->runUntil([&] { return manager_->get(name(1)) != nullptr; }, std::chrono::minutes(1)));
  crashManager();
  loadOn(3);
  expectAllLoaded();
}

}  // namespace
}  // namespace tidemark::log
