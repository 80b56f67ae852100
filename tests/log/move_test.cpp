#include <gmock/gmock.h>

#include "log/file_names.h"
#include "log/log_manager.h"
#include "log_fixture.h"

// A log that is moved to another directory: its copy, the swap, and what a crash leaves of it.

namespace tidemark::log {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Not;
using testing::StartsWith;

const TopicPartition kMoved{"orders", PartitionIndex(0)};
const Uuid kMovedId = *Uuid::parse("tJMO2nMoSU2UnLx3qwW8VA");
const auto kIsCopy = AllOf(StartsWith("orders-0."), EndsWith("-future"));
const auto kIsGoing = EndsWith("-delete");

class MoveTest : public LogFixture {
 protected:
  MoveTest() { begin(1); }
  void begin(uint64_t seed) {
    forget();
    startWorld(seed);
    options_.config.segmentBytes = 600;
    options_.config.timestampAfterMaxMs = INT64_MAX;
    ASSERT_TRUE(start());
    ASSERT_TRUE(manager_->format("cluster", NodeId(1)));
    a_ = manager_->metaProperties()[0]->directoryId;
    b_ = manager_->metaProperties()[1]->directoryId;
    assigned_ = a_;
  }
  void forget() {
    log_.reset();
    manager_.reset();
    background_.reset();
  }
  bool start() {
    background_ = process_->createExecutor({.name = "background"});
    auto opened = LogManager::open(*process_, background_, nullptr,
                                   {.directories = {"/data/a", "/data/b"}, .defaults = options_.config});
    if (!opened) return false;
    manager_ = *opened;
    const auto loaded =
        manager_->load({.directoryOf = [this](const TopicPartition&, const Uuid&) { return assigned_; }});
    log_ = manager_->get(kMoved);
    return loaded.has_value();
  }
  void crashManager(Crash how = Crash::Kill) {
    crash(how);
    forget();
    restart();
    ASSERT_TRUE(start());
  }
  void settle() { world_->runFor(std::chrono::milliseconds(100)); }
  void create() {
    log_ = *manager_->getOrCreate(kMoved, kMovedId, options_.config, a_);
    for (int i = 0; i < 6; ++i)
      append({.count = 2,
              .valueSize = 100,
              .epoch = LeaderEpoch(i / 3),
              .producer = ProducerId(7),
              .producerEpoch = ProducerEpoch(0),
              .baseSequence = 2 * i});
    log_->updateHighWatermark(Offset(12));
  }
  /// What the mover does between the two.
  void copy() {
    const auto future = manager_->future(kMoved);
    ASSERT_TRUE(future);
    if (const Offset start = log_->logStartOffset(); future->logEndOffset() < start) {
      ASSERT_TRUE(future->truncateFullyAndStartAt(log_->batches(start, 1)->front().header.baseOffset));
    }
    while (future->logEndOffset() < log_->logEndOffset()) {
      const Offset from = std::max(future->logEndOffset(), log_->logStartOffset());
      const auto bytes = log_->readBytes(from, 300, FetchIsolation::LogEnd);
      ASSERT_TRUE(bytes);
      ASSERT_TRUE(future->appendAsFollower(*bytes));
    }
    future->updateHighWatermark(log_->highWatermark());
    ASSERT_TRUE(future->maybeIncrementLogStartOffset(log_->logStartOffset()));
  }
  void expectLog(const std::string& folder) {
    log_ = manager_->get(kMoved);
    ASSERT_TRUE(log_);
    EXPECT_EQ(log_->directory(), folder);
    EXPECT_EQ(log_->topicId(), kMovedId);
    expectEnd(12);
    std::vector<int64_t> bases;
    for (const auto& header : readHeaders(*log_, log_->logStartOffset())) bases.push_back(header.baseOffset.value());
    EXPECT_THAT(bases, ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(log_->epochEntries(),
                ElementsAre(EpochEntry{LeaderEpoch(0), Offset(0)}, EpochEntry{LeaderEpoch(1), Offset(6)}));
    ASSERT_EQ(log_->producers().size(), 1u);
    EXPECT_EQ(log_->producers()[0].lastSequence, 11);
    options_.directory = folder;
    expectIndexesTrue();
  }

  std::shared_ptr<LogManager> manager_;
  Uuid a_;
  Uuid b_;
  /// Where the metadata says the replica is.
  Uuid assigned_;
};

TEST_F(MoveTest, aCopyThatHasEverythingTakesThePlaceOfItsLog) {
  create();
  const auto old = log_;
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  EXPECT_THAT(names("/data/b"), Contains(kIsCopy));
  EXPECT_EQ(manager_->futureDirectoryOf(kMoved), b_);
  copy();
  ASSERT_TRUE(manager_->prepareFuture(kMoved));
  ASSERT_TRUE(manager_->replaceWithFuture(kMoved));
  expectLog("/data/b/orders-0");
  EXPECT_EQ(log_->highWatermark(), Offset(12));
  EXPECT_EQ(manager_->directoryOf(kMoved), b_);
  EXPECT_FALSE(manager_->future(kMoved));
  ByteVector batch = makeBatch({});
  EXPECT_FALSE(old->appendAsLeader(batch, LeaderEpoch(1))) << "the old log is closed";
  settle();
  EXPECT_THAT(names("/data/a"), Not(Contains(StartsWith("orders-0"))));
  EXPECT_EQ(text("/data/b/recovery-point-offset-checkpoint"), "0\n1\norders 0 12\n");
  append({.epoch = LeaderEpoch(1)});
  expectEnd(13);
}

TEST_F(MoveTest, theLogStartAndALeadersEmptyEpochComeAlong) {
  create();
  ASSERT_TRUE(log_->deleteRecords(Offset(5)));
  log_->assignEpochStartOffset(LeaderEpoch(4), Offset(12));
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  copy();
  ASSERT_TRUE(manager_->prepareFuture(kMoved));
  log_ = *manager_->replaceWithFuture(kMoved);
  EXPECT_EQ(log_->logStartOffset(), Offset(5));
  EXPECT_EQ(log_->latestEpoch(), LeaderEpoch(4));
  crashManager();
  ASSERT_TRUE(log_);
  EXPECT_EQ(log_->logStartOffset(), Offset(5)) << "also after a kill right behind the swap";
}

TEST_F(MoveTest, whereverTheBrokerDiesInASwapEveryRecordIsThereAfterwards) {
  for (const Crash how : {Crash::Kill, Crash::PowerLoss}) {
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(fmt::format("{} at file call {}", how == Crash::Kill ? "killed" : "without power", call));
      begin(call);
      if (HasFatalFailure()) return;
      process_->disk().setStrictDirectories(call % 2 == 0);
      create();
      ASSERT_TRUE(log_->flush());
      ASSERT_TRUE(manager_->createFuture(kMoved, b_));
      copy();
      process_->crashAtFileCall(call, how);
      // As the mover does: prepared, then announced, then swapped.
      const bool prepared = call % 3 == 0 || manager_->prepareFuture(kMoved).has_value();
      if (prepared) assigned_ = b_;
      const bool swapped = prepared && manager_->replaceWithFuture(kMoved).has_value();
      if (swapped) settle();
      const bool done = process_->state() == platform::Process::State::Running;
      if (done) crash(how);
      process_->awaitStopped();
      forget();
      restart();
      ASSERT_TRUE(start());
      settle();
      const std::string folder = manager_->directoryOf(kMoved) == a_ ? "/data/a" : "/data/b";
      expectLog(folder + "/orders-0");
      if (HasFatalFailure()) return;
      EXPECT_THAT(names("/data/a"), Not(Contains(kIsGoing)));
      // Where it was: the copy is still there, to be gone on with.
      if (folder == "/data/a") {
        ASSERT_TRUE(manager_->future(kMoved));
        copy();
        ASSERT_TRUE(manager_->prepareFuture(kMoved));
        ASSERT_TRUE(manager_->replaceWithFuture(kMoved));
        settle();
        expectLog("/data/b/orders-0");
      }
      EXPECT_THAT(names("/data/a"), Not(Contains(StartsWith("orders-0"))));
      if (done) break;
    }
  }
}

TEST_F(MoveTest, anUnfinishedCopyIsFoundAgainAndItsLogStaysUncleaned) {
  options_.config.compact = true;
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  EXPECT_FALSE(log_->mayClean(log_->cleanView(false).truncations));
  copy();
  ASSERT_TRUE(manager_->future(kMoved)->truncateTo(Offset(6)));
  crashManager();
  ASSERT_TRUE(log_);
  EXPECT_FALSE(log_->mayClean(log_->cleanView(false).truncations));
  ASSERT_TRUE(manager_->future(kMoved));
  EXPECT_EQ(manager_->future(kMoved)->logEndOffset(), Offset(6));
  EXPECT_EQ(manager_->futureDirectoryOf(kMoved), b_);
}

TEST_F(MoveTest, aCopyThatIsGivenUpGoesAndItsLogIsCleanedAgain) {
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  copy();
  ASSERT_TRUE(manager_->removeFuture(kMoved));
  EXPECT_TRUE(log_->mayClean(log_->cleanView(false).truncations));
  settle();
  EXPECT_THAT(names("/data/b"), Not(Contains(StartsWith("orders-0"))));
  crashManager();
  EXPECT_FALSE(manager_->future(kMoved));
  expectLog("/data/a/orders-0");
}

TEST_F(MoveTest, aCopyWhoseLogIsGoneIsTheReplicaIfTheMetadataSaysSo) {
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  copy();
  ASSERT_TRUE(manager_->prepareFuture(kMoved));
  crash(Crash::Kill);
  forget();
  restart();
  ASSERT_TRUE(files().removeTree("/data/a/orders-0"));
  ASSERT_TRUE(start());
  EXPECT_FALSE(log_) << "it is said to be in the other directory";
  ASSERT_TRUE(manager_->future(kMoved));
  assigned_ = b_;
  crashManager();
  expectLog("/data/b/orders-0");
  EXPECT_FALSE(manager_->future(kMoved));
}

TEST_F(MoveTest, ofTwoLogsTheLongerStaysWhereverTheMetadataSaysItIs) {
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  copy();
  ASSERT_TRUE(manager_->future(kMoved)->truncateTo(Offset(8)));
  const std::string folder = manager_->future(kMoved)->directory();
  crash(Crash::Kill);
  forget();
  restart();
  ASSERT_TRUE(files().rename(folder, "/data/b/orders-0"));
  assigned_ = b_;
  ASSERT_TRUE(start());
  expectLog("/data/a/orders-0");
  settle();
  EXPECT_THAT(names("/data/b"), Not(Contains(StartsWith("orders-0"))));
}

TEST_F(MoveTest, ofTwoEqualLogsTheOneInTheDirectoryOfTheMetadataStays) {
  for (const bool moved : {false, true}) {
    begin(3);
    create();
    ASSERT_TRUE(manager_->createFuture(kMoved, b_));
    copy();
    const std::string folder = manager_->future(kMoved)->directory();
    crash(Crash::Kill);
    forget();
    restart();
    ASSERT_TRUE(files().rename(folder, "/data/b/orders-0"));
    assigned_ = moved ? b_ : a_;
    ASSERT_TRUE(start());
    expectLog(moved ? "/data/b/orders-0" : "/data/a/orders-0");
    settle();
    EXPECT_THAT(names(moved ? "/data/a" : "/data/b"), Not(Contains(StartsWith("orders-0"))));
  }
}

TEST_F(MoveTest, noCopyIsMadeWhileADirectoryIsOffline) {
  create();
  const auto other = *manager_->getOrCreate({"other", PartitionIndex(0)}, Uuid(), options_.config, b_);
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Sync && path.starts_with("/data/b");
  });
  ByteVector batch = makeBatch({});
  ASSERT_TRUE(other->appendAsLeader(batch, LeaderEpoch(0)));
  EXPECT_FALSE(other->sync());
  process_->disk().failWhen({});
  const auto made = manager_->createFuture(kMoved, b_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::KafkaStorageError);
  EXPECT_TRUE(log_->mayClean(log_->cleanView(false).truncations));
  EXPECT_EQ(manager_->directoryForMove("/data/b").error().code, ErrorCode::KafkaStorageError);
  EXPECT_EQ(manager_->directoryForMove("/data/c").error().code, ErrorCode::LogDirNotFound);
  EXPECT_EQ(*manager_->directoryForMove("/data/a"), a_);
}

TEST_F(MoveTest, aCopyThatCannotTakeThePlaceTakesItsDirectoryOfflineAndTheLogGoesOn) {
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  copy();
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Rename && path.starts_with("/data/b");
  });
  EXPECT_FALSE(manager_->replaceWithFuture(kMoved));
  process_->disk().failWhen({});
  EXPECT_TRUE(manager_->directories()[1].offline);
  expectLog("/data/a/orders-0");
  append({.epoch = LeaderEpoch(1)});
  expectEnd(13);
}

TEST_F(MoveTest, anOldLogThatCannotGoIsItsOwnDirectorysTrouble) {
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  copy();
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Rename && path.starts_with("/data/a");
  });
  EXPECT_TRUE(manager_->replaceWithFuture(kMoved));
  process_->disk().failWhen({});
  EXPECT_TRUE(manager_->directories()[0].offline);
  expectLog("/data/b/orders-0");
  assigned_ = b_;
  append({.epoch = LeaderEpoch(1)});
  crashManager();
  expectEnd(13);
  EXPECT_EQ(log_->directory(), "/data/b/orders-0");
}

TEST_F(MoveTest, aRemovedLogTakesItsCopyAlong) {
  create();
  ASSERT_TRUE(manager_->createFuture(kMoved, b_));
  ASSERT_TRUE(manager_->remove(kMoved));
  EXPECT_FALSE(manager_->future(kMoved));
  settle();
  EXPECT_THAT(names("/data/a"), Not(Contains(StartsWith("orders-0"))));
  EXPECT_THAT(names("/data/b"), Not(Contains(StartsWith("orders-0"))));
}

TEST_F(MoveTest, aLogIsMadeInTheDirectoryItWasPreferredToBeIn) {
  manager_->preferDirectory(kMoved, b_);
  create();
  EXPECT_EQ(manager_->directoryOf(kMoved), b_) << "whatever the metadata says";
  ASSERT_TRUE(manager_->remove(kMoved));
  create();
  EXPECT_EQ(manager_->directoryOf(kMoved), a_) << "only once";
}

TEST_F(MoveTest, aLogWhoseDirectoryIsOfflineIsNotMadeAnewElsewhere) {
  create();
  process_->disk().failWhen([](platform::FileCall call, const std::string& path) {
    return call == platform::FileCall::Sync && path.starts_with("/data/a");
  });
  EXPECT_FALSE(log_->sync());
  process_->disk().failWhen({});
  const auto made = manager_->getOrCreate({"other", PartitionIndex(0)}, Uuid(), options_.config, a_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::KafkaStorageError);
  EXPECT_TRUE(manager_->getOrCreate({"other", PartitionIndex(0)}, Uuid(), options_.config));
}

TEST(FutureFolder, tellsWhoseCopyItIs) {
  const Uuid id = *Uuid::parse("WUPcycz9SQuWa1bKSlm43w");
  EXPECT_EQ(*futureFolderName(kMoved, id), "orders-0.5943dcc9ccfd490b966b56ca4a59b8df-future");
  EXPECT_EQ(partitionOfFutureFolder("orders-0.5943dcc9ccfd490b966b56ca4a59b8df-future"), kMoved);
  EXPECT_EQ(partitionOfFutureFolder("a.b-c-12.5943dcc9ccfd490b966b56ca4a59b8df-future"),
            (TopicPartition{"a.b-c", PartitionIndex(12)}));
  EXPECT_FALSE(partitionOfFutureFolder("orders-0"));
  EXPECT_FALSE(partitionOfFutureFolder("orders-0.5943-future"));
  EXPECT_FALSE(partitionOfFutureFolder("orders-0.5943dcc9ccfd490b966b56ca4a59b8df-delete"));
  EXPECT_EQ(futureFolderName({std::string(240, 'x'), PartitionIndex(0)}, id).error().code,
            ErrorCode::InvalidTopicException);
}

}  // namespace
}  // namespace tidemark::log
