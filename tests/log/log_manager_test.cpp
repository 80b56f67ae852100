#include <gmock/gmock.h>

#include "log/log_manager.h"
#include "log_fixture.h"
#include "records/control.h"

namespace tidemark::log {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const TopicPartition kOrders{"orders", PartitionIndex(0)};
const Uuid kOrdersId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
const Uuid kOtherId = *Uuid::parse("WUPcycz9SQuWa1bKSlm43w");

class LogManagerTest : public LogFixture {
 protected:
  LogManagerTest() {
    managerOptions_.directories = {"/data/a"};
    startManager();
  }
  Result<void> tryStart(const LoadOptions& load = {}) {
    background_ = process_->createExecutor({.name = "background"});
    TIDEMARK_ASSIGN(manager_, LogManager::open(*process_, background_, nullptr, managerOptions_));
    return manager_->load(load);
  }
  void startManager(const LoadOptions& load = {}) {
    const auto started = tryStart(load);
    ASSERT_TRUE(started) << started.error().message;
    settle();
  }
  void settle(platform::Duration duration = std::chrono::milliseconds(100)) { world_->runFor(duration); }
  void crashManager(Crash how = Crash::Kill) {
    crash(how);
    log_.reset();
    manager_.reset();
    background_.reset();
    restart();
  }
  std::shared_ptr<PartitionLog> create(const TopicPartition& partition = kOrders, const Uuid& id = kOrdersId) {
    auto log = manager_->getOrCreate(partition, id, options_.config);
    EXPECT_TRUE(log) << (log ? "" : log.error().message);
    log_ = log.value_or(nullptr);
    return log_;
  }

  LogManagerOptions managerOptions_;
  std::shared_ptr<LogManager> manager_;
};

TEST_F(LogManagerTest, logsComeBackAfterACleanStopWithTheirHighWatermark) {
  create();
  append({.count = 5});
  log_->updateHighWatermark(Offset(3));
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(18)));
  EXPECT_EQ(text("/data/a/.kafka_cleanshutdown"), R"({"version":0,"brokerEpoch":18})");
  EXPECT_EQ(text("/data/a/replication-offset-checkpoint"), "0\n1\norders 0 3\n");
  EXPECT_EQ(text("/data/a/recovery-point-offset-checkpoint"), "0\n1\norders 0 5\n");
  EXPECT_THAT(names("/data/a"), Not(Contains(".lock")));
  process_->disk().setStrictDirectories(true);
  crashManager(Crash::PowerLoss);
  startManager();
  EXPECT_TRUE(manager_->wasCleanShutdown());
  EXPECT_EQ(manager_->previousBrokerEpoch(), BrokerEpoch(18));
  log_ = manager_->get(kOrders);
  ASSERT_TRUE(log_);
  expectEnd(5);
  EXPECT_EQ(log_->highWatermark(), Offset(3));
  EXPECT_EQ(log_->topicId(), kOrdersId);
}

TEST_F(LogManagerTest, aStartReadsEachSmallFileOfALogOnce) {
  for (const bool clean : {true, false}) {
    create();
    append({.count = 5});
    log_->updateHighWatermark(Offset(5));
    ASSERT_TRUE(log_->roll());
    if (clean)
      ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
    else
      manager_->checkpoint();
    crashManager();
    std::map<std::string, int> opened;
    process_->disk().failWhen([&opened](platform::FileCall call, const std::string& path) {
      if (call == platform::FileCall::Open && (path.ends_with(".metadata") || path.ends_with(".snapshot")))
        ++opened[path];
      return false;
    });
    startManager({.isOurs = [](const TopicPartition&, const Uuid&) { return true; }});
    process_->disk().failWhen(nullptr);
    EXPECT_EQ(opened["/data/a/orders-0/partition.metadata"], 1) << (clean ? "clean" : "killed");
    for (const auto& [path, times] : opened) EXPECT_LE(times, 1) << path << (clean ? ", clean" : ", killed");
  }
}

TEST_F(LogManagerTest, lessThanAtTheCleanStopIsNoticed) {
  create();
  append({.count = 5});
  append({.count = 5});
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(18)));
  const auto again = [&](const std::function<void()>& meddle) {
    manager_.reset();
    log_.reset();
    meddle();
    startManager();
    const bool less = manager_->hasLess();
    EXPECT_TRUE(manager_->shutdown(BrokerEpoch(18)));
    return less;
  };
  EXPECT_FALSE(again([] {}));
  EXPECT_TRUE(again([&] {
    const auto log = process_->files().open("/data/a/orders-0/00000000000000000000.log", platform::OpenMode::ReadWrite);
    ASSERT_TRUE(log);
    ASSERT_TRUE((*log)->truncate(*(*log)->size() / 2));
  }));
  EXPECT_FALSE(again([] {})) << "now it has what its checkpoints say";
  EXPECT_TRUE(again([&] { ASSERT_TRUE(process_->files().removeTree("/data/a/orders-0")); }));
}

TEST_F(LogManagerTest, theMarkerIsGoneBeforeAnythingIsLoaded) {
  create();
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  crashManager();
  startManager();
  process_->disk().setStrictDirectories(true);
  crashManager(Crash::PowerLoss);
  EXPECT_THAT(names("/data/a"), Not(Contains(".kafka_cleanshutdown")));
  startManager();
  EXPECT_FALSE(manager_->wasCleanShutdown());
  EXPECT_EQ(manager_->previousBrokerEpoch(), BrokerEpoch(-1));
}

TEST_F(LogManagerTest, theMarkerIsWrittenLast) {
  create();
  append({.count = 5});
  log_->updateHighWatermark(Offset(5));
  create({"orders", PartitionIndex(1)});
  append({.count = 5});
  std::vector<std::string> before;
  std::vector<std::string> behind;
  bool marked = false;
  process_->disk().failWhen([&](platform::FileCall, const std::string& path) {
    marked = marked || path.contains(".kafka_cleanshutdown");
    (marked ? behind : before).push_back(path);
    return false;
  });
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(18)));
  process_->disk().failWhen(nullptr);
  ASSERT_TRUE(marked);
  for (const char* name : {"orders-0/", "orders-1/", "recovery-point", "replication"})
    EXPECT_THAT(before, Contains(HasSubstr(name)));
  EXPECT_THAT(behind, Each(AnyOf(HasSubstr(".kafka_cleanshutdown"), "/data/a", "/data/a/.lock")));
}

TEST_F(LogManagerTest, aStopBeforeLoadingLeavesNoMarker) {
  create();
  crashManager();
  background_ = process_->createExecutor({.name = "background"});
  manager_ = *LogManager::open(*process_, background_, nullptr, managerOptions_);
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  EXPECT_THAT(names("/data/a"), Not(Contains(".kafka_cleanshutdown")));
}

TEST_F(LogManagerTest, aStopBeforeLoadingLeavesTheCheckpointsOfACleanStopAsTheyWere) {
  create();
  append({.count = 5});
  append({.count = 5});
  log_->updateHighWatermark(Offset(8));
  ASSERT_TRUE(log_->deleteRecords(Offset(7)));
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  crashManager();
  background_ = process_->createExecutor({.name = "background"});
  manager_ = *LogManager::open(*process_, background_, nullptr, managerOptions_);
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  EXPECT_EQ(text("/data/a/replication-offset-checkpoint"), "0\n1\norders 0 8\n");
  EXPECT_EQ(text("/data/a/recovery-point-offset-checkpoint"), "0\n1\norders 0 10\n");
  EXPECT_EQ(text("/data/a/log-start-offset-checkpoint"), "0\n1\norders 0 7\n");
  crashManager();
  startManager();
  EXPECT_TRUE(manager_->wasCleanShutdown());
  EXPECT_EQ(manager_->get(kOrders)->highWatermark(), Offset(8));
}

TEST_F(LogManagerTest, afterAKillTheCheckpointedHighWatermarkIsTakenUp) {
  create();
  append({.count = 5});
  log_->updateHighWatermark(Offset(4));
  settle(std::chrono::seconds(6));
  crashManager();
  startManager();
  log_ = manager_->get(kOrders);
  expectEnd(5);
  EXPECT_EQ(log_->highWatermark(), Offset(4));
}

TEST_F(LogManagerTest, anIdleManagerWritesNothing) {
  options_.config.retentionMs = -1;
  create();
  append();
  log_->updateHighWatermark(Offset(1));
  settle(std::chrono::minutes(2));
  const uint64_t calls = process_->fileCalls();
  const uint64_t tasks = process_->tasksRun();
  settle(std::chrono::minutes(10));
  EXPECT_EQ(process_->fileCalls(), calls);
  EXPECT_LE(process_->tasksRun() - tasks, 6u) << "only the look after retention";
}

TEST_F(LogManagerTest, aRemovedLogIsRenamedAndItsFolderGoesInTheBackground) {
  create();
  append();
  manager_->checkpoint();
  ASSERT_TRUE(manager_->remove(kOrders));
  EXPECT_FALSE(manager_->get(kOrders));
  EXPECT_EQ(appendError({}), ErrorCode::KafkaStorageError);
  const auto retired = names("/data/a");
  EXPECT_TRUE(std::ranges::any_of(retired, [](const std::string& name) {
    return name.starts_with("orders-0.") && name.ends_with("-delete") && name.size() == 8 + 1 + 32 + 7;
  }));
  EXPECT_EQ(text("/data/a/recovery-point-offset-checkpoint"), "0\n0\n");
  settle();
  EXPECT_THAT(names("/data/a"), Not(Contains(testing::StartsWith("orders"))));
  create(kOrders, kOtherId);
  expectEnd(0);
}

TEST_F(LogManagerTest, anInterruptedRemovalIsFinishedAtTheNextStart) {
  create();
  ASSERT_TRUE(manager_->remove(kOrders));
  crashManager();
  startManager();
  EXPECT_THAT(names("/data/a"), Not(Contains(testing::StartsWith("orders"))));
}

TEST_F(LogManagerTest, aTopicOfTheSameNameAndAnotherIdIsToldApart) {
  create();
  EXPECT_EQ(manager_->getOrCreate(kOrders, kOtherId, {}).error().code, ErrorCode::InconsistentTopicId);
}

TEST_F(LogManagerTest, whatNobodyOwnsIsSetAside) {
  create();
  create({"other", PartitionIndex(3)}, kOtherId);
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  crashManager();
  startManager({.isOurs = [](const TopicPartition&, const Uuid& id) { return id == kOrdersId; }});
  EXPECT_TRUE(manager_->get(kOrders));
  EXPECT_FALSE(manager_->get({"other", PartitionIndex(3)}));
  EXPECT_THAT(names("/data/a"), Contains(testing::AllOf(testing::StartsWith("other-3."), testing::EndsWith("-stray"))));
}

TEST_F(LogManagerTest, aDirectoryInUseIsRefused) {
  const auto other = world_->createProcess({.name = "broker-2", .disk = "broker-1"});
  const auto background = other->createExecutor({.name = "background"});
  EXPECT_EQ(LogManager::open(*other, background, nullptr, managerOptions_).error().code, ErrorCode::KafkaStorageError);
}

TEST_F(LogManagerTest, formattingGivesEachDirectoryAnId) {
  managerOptions_.directories = {"/data/a", "/data/b"};
  crashManager();
  startManager();
  ASSERT_TRUE(manager_->format("cluster", NodeId(1)));
  const auto meta = manager_->metaProperties();
  ASSERT_TRUE(meta[0] && meta[1]);
  EXPECT_NE(meta[0]->directoryId, meta[1]->directoryId);
  EXPECT_EQ(meta[1]->clusterId, "cluster");
  const Uuid second = meta[1]->directoryId;
  auto log = manager_->getOrCreate(kOrders, kOrdersId, {}, second);
  ASSERT_TRUE(log);
  EXPECT_EQ((*log)->directory(), "/data/b/orders-0");
  EXPECT_EQ(manager_->directoryOf(kOrders), second);
  crashManager();
  startManager();
  EXPECT_EQ(manager_->metaProperties()[1]->directoryId, second);
}

TEST_F(LogManagerTest, aFailingDirectoryGoesOfflineAloneAndGetsNoMarker) {
  managerOptions_.directories = {"/data/a", "/data/b"};
  crashManager();
  startManager();
  ASSERT_TRUE(manager_->format("cluster", NodeId(1)));
  const auto ids = manager_->metaProperties();
  const auto bad = *manager_->getOrCreate(kOrders, kOrdersId, options_.config, ids[0]->directoryId);
  const auto neighbour =
      *manager_->getOrCreate({"n", PartitionIndex(0)}, kOtherId, options_.config, ids[0]->directoryId);
  const auto good = *manager_->getOrCreate({"g", PartitionIndex(0)}, kOtherId, options_.config, ids[1]->directoryId);
  std::vector<std::string> told;
  manager_->onDirectoryFailure([&](const Uuid&, const std::string& path, const Error&) { told.push_back(path); });
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Sync && path.starts_with("/data/a/orders-0");
  });
  log_ = bad;
  append();
  EXPECT_FALSE(bad->sync());
  process_->disk().failWhen({});
  EXPECT_THAT(told, ElementsAre("/data/a"));
  EXPECT_TRUE(neighbour->offline());
  EXPECT_FALSE(good->offline());
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  EXPECT_THAT(names("/data/a"), Not(Contains(".kafka_cleanshutdown")));
  EXPECT_THAT(names("/data/b"), Contains(".kafka_cleanshutdown"));
}

TEST_F(LogManagerTest, unreadableCheckpointsMeanAFullScanAndNoRefusal) {
  create();
  append({.count = 5});
  manager_->checkpoint();
  crashManager();
  for (const char* name :
       {"recovery-point-offset-checkpoint", "replication-offset-checkpoint", "log-start-offset-checkpoint"}) {
    const auto file = files().open(std::string("/data/a/") + name, platform::OpenMode::Truncate);
    ASSERT_TRUE((*file)->writeAt(0, asBytes("0\nmany\nrubbish")));
  }
  startManager();
  log_ = manager_->get(kOrders);
  expectEnd(5);
}

TEST_F(LogManagerTest, withoutItsHighWatermarkATransactionIsUnstableUntilItsMarkerIsCommittedAnew) {
  create();
  append({.producer = ProducerId(1), .producerEpoch = ProducerEpoch(0), .baseSequence = 0, .transactional = true});
  ByteVector marker = records::buildEndTxnMarker(ProducerId(1), ProducerEpoch(0), {.commit = true}, 1);
  ASSERT_TRUE(log_->appendAsLeader(marker, LeaderEpoch(0), {.origin = records::Origin::Coordinator}));
  log_->updateHighWatermark(Offset(2));
  EXPECT_EQ(log_->lastStableOffset(), Offset(2));
  ASSERT_TRUE(manager_->shutdown(BrokerEpoch(1)));
  ASSERT_TRUE(files().remove("/data/a/replication-offset-checkpoint"));
  crashManager();
  startManager();
  log_ = manager_->get(kOrders);
  log_->updateHighWatermark(Offset(1));
  EXPECT_EQ(log_->lastStableOffset(), Offset(0));
  log_->updateHighWatermark(Offset(2));
  EXPECT_EQ(log_->lastStableOffset(), Offset(2));
}

TEST_F(LogManagerTest, theRecoveryPointIsLoweredOnDiskBeforeAnythingIsAppendedAgain) {
  create();
  append({.count = 5});
  append({.count = 5});
  ASSERT_TRUE(log_->flush());
  manager_->checkpoint();
  EXPECT_EQ(text("/data/a/recovery-point-offset-checkpoint"), "0\n1\norders 0 10\n");
  ASSERT_TRUE(log_->truncateTo(Offset(5)));
  EXPECT_EQ(text("/data/a/recovery-point-offset-checkpoint"), "0\n1\norders 0 5\n");
}

TEST_F(LogManagerTest, theLogStartIsCheckpointedOnlyAboveTheFirstSegment) {
  create();
  append({.count = 5});
  append({.count = 5});
  log_->updateHighWatermark(Offset(10));
  manager_->checkpoint();
  EXPECT_EQ(text("/data/a/log-start-offset-checkpoint"), "0\n0\n");
  ASSERT_TRUE(log_->deleteRecords(Offset(7)));
  settle(std::chrono::seconds(61));
  EXPECT_EQ(text("/data/a/log-start-offset-checkpoint"), "0\n1\norders 0 7\n");
  crashManager();
  startManager();
  EXPECT_EQ(manager_->get(kOrders)->logStartOffset(), Offset(7));
}

TEST_F(LogManagerTest, noNewLogIsPlacedInACordonedDirectoryAndNoneIsMovedThere) {
  crashManager();
  managerOptions_.directories = {"/data/a", "/data/b", "/data/c"};
  startManager();
  ASSERT_TRUE(manager_->format("cluster", NodeId(1)));
  const auto directoryOf = [&](int partition) {
    const TopicPartition name{"orders", PartitionIndex(partition)};
    create(name);
    return manager_->pathOf(manager_->directoryOf(name));
  };
  manager_->setCordoned(std::vector<std::string>{"/data/a"});
  EXPECT_THAT((std::vector{directoryOf(0), directoryOf(1), directoryOf(2)}),
              ElementsAre("/data/b", "/data/c", "/data/b"));
  EXPECT_EQ(manager_->directoryForMove("/data/a").error().code, ErrorCode::InvalidReplicaAssignment);
  EXPECT_TRUE(manager_->directories()[0].cordoned);
  manager_->setCordoned(std::vector<std::string>{"/data/b", "/data/c"});
  EXPECT_EQ(directoryOf(3), "/data/a");
  EXPECT_TRUE(manager_->directoryForMove("/data/a"));
  manager_->setCordoned(std::vector<std::string>{"/data/a", "/data/b", "/data/c"});
  EXPECT_EQ(directoryOf(4), "/data/a") << "the controller did not know yet; one with the fewest";
}

TEST_F(LogManagerTest, aRecordWaitsForItsFlushNoLongerThanTheTopicSays) {
  options_.config.flushMs = 1000;
  create();
  append();
  settle(std::chrono::milliseconds(500));
  append();
  EXPECT_EQ(log_->recoveryPoint(), Offset(0));
  settle(std::chrono::milliseconds(600));
  EXPECT_EQ(log_->recoveryPoint(), Offset(2)) << "the timer ran since the first of them";
  append();
  settle(std::chrono::milliseconds(1100));
  EXPECT_EQ(log_->recoveryPoint(), Offset(3));
}

TEST_F(LogManagerTest, afterSoManyRecordsAnAppendWaitsForItsFlush) {
  options_.config.flushMessages = 3;
  create();
  append({.count = 2});
  EXPECT_EQ(log_->recoveryPoint(), Offset(0));
  append({.count = 2});
  EXPECT_EQ(log_->recoveryPoint(), Offset(4));
  append({.count = 2});
  EXPECT_EQ(log_->recoveryPoint(), Offset(4)) << "they are counted anew";
}

}  // namespace
}  // namespace tidemark::log
