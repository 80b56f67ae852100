#include <gmock/gmock.h>

#include "log/log_fixture.h"
#include "metadata/features.h"
#include "metadata/records.h"
#include "replication/images.h"
#include "replication/replica_manager.h"
#include "replication/topic.h"

// AlterReplicaLogDirs: a replica is copied to another directory of its broker, announced to the controller, swapped in.

namespace tidemark::replication {
namespace {

using log::makeBatch;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

/// Broker 1 of three with three log directories, in front of metadata and of a controller that the test plays.
class ReplicaMoveTest : public testing::Test {
 protected:
  ReplicaMoveTest() { start(); }
  ~ReplicaMoveTest() override {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  void start() {
    executor_ = process_->createExecutor({.name = "metadata", .threads = 1});
    logs_ = *log::LogManager::open(*process_, process_->createExecutor({.name = "background", .threads = 1}), nullptr,
                                   {.directories = {"/a", "/b", "/c"}, .defaults = {}});
    ASSERT_TRUE(logs_->load({.directoryOf = [this](const TopicPartition& name, const Uuid&) {
      const auto* registration = images_.newest->topics.partition(kTopic, name.partition);
      return registration == nullptr ? Uuid() : registration->directoryOf(NodeId(1));
    }}));
    ASSERT_TRUE(logs_->format("cluster", NodeId(1)));
    directories_.clear();
    for (const auto& meta : logs_->metaProperties()) directories_.push_back(meta->directoryId);
    logs_->onDirectoryFailure([this](const Uuid& directory, const std::string&, const Error&) {
      executor_->post([this, directory] { manager_->directoryFailed(directory); });
    });
    manager_ = std::make_unique<ReplicaManager>(
        *process_, logs_, *recorder_,
        ReplicaManagerOptions{
            .self = NodeId(1),
            .interBrokerListener = "PLAINTEXT",
            .lagMax = seconds(10),
            .fetchMaxBytes = 1000,
            .settingsOf = [](const metadata::Image&, const std::string&) { return TopicSettings{}; },
            .brokerEpoch = [] { return BrokerEpoch(100); },
            .isrExecutor = process_->createExecutor({.name = "isr", .threads = 1}),
            .alterPartition = [](protocol::AlterPartitionRequest, AlterPartitionManager::Answer) {},
            .assignDirectories =
                [this](protocol::AssignReplicasToDirsRequest request, DirectoryAssignments::Answer answer) {
                  asked_.push_back(std::move(request));
                  answer_ = std::move(answer);
                  if (agrees_) accept();
                }});
    if (images_.offset == 0) {
      metadata::Records records{
          {protocol::TopicRecord{.name = "orders", .topicId = kTopic}},
          {protocol::FeatureLevelRecord{.name = protocol::Text(std::string(metadata::kMetadataVersionFeature)),
                                        .featureLevel = 30}}};
      for (int id = 1; id <= 3; ++id) {
        protocol::RegisterBrokerRecord record{
            .brokerId = id, .incarnationId = Uuid({static_cast<uint8_t>(id)}), .brokerEpoch = 99 + id, .fenced = false};
        record.endPoints.push_back(
            {.name = "PLAINTEXT", .host = "broker-" + std::to_string(id), .port = 9092, .securityProtocol = 0});
        records.push_back({std::move(record), 3});
      }
      apply(std::move(records));
    } else {
      MetadataChange everything{.before = std::make_shared<const metadata::Image>(), .after = images_.newest};
      for (const auto& [index, partition] : images_.newest->topics.find(kTopic)->partitions)
        everything.partitions.push_back({kTopic, index});
      manager_->apply(everything);
    }
  }
  void restart() {
    process_->kill("the test kills it");
    process_->awaitStopped();
    manager_.reset();
    logs_.reset();
    executor_.reset();
    answer_ = {};
    asked_.clear();
    process_ = world_.createProcess({.name = "broker-1", .host = "broker-1"});
    recorder_ = std::make_unique<events::Recorder>(process_->clock(), NodeId(1));
    start();
  }

  void apply(const metadata::Records& records) { manager_->apply(images_.take(records)); }
  /// Led by `leader`, here in the first directory.
  void create(int index = 0, int leader = 1, std::optional<Uuid> directory = std::nullopt) {
    apply({{protocol::PartitionRecord{.partitionId = index,
                                      .topicId = kTopic,
                                      .replicas = {1, 2, 3},
                                      .isr = {1},
                                      .leader = leader,
                                      .leaderEpoch = 0,
                                      .partitionEpoch = 0,
                                      .directories = {directory.value_or(directories_[0]), Uuid({8}), Uuid({9})}},
            1}});
  }
  /// What the controller writes once it has taken a directory down.
  void assign(const Uuid& directory, int index = 0) {
    protocol::PartitionChangeRecord record{.partitionId = index, .topicId = kTopic};
    record.directories = {directory, Uuid({8}), Uuid({9})};
    apply({{std::move(record), 1}});
  }
  void produce(int count, int index = 0) {
    for (int i = 0; i < count; ++i) {
      ByteVector batch = makeBatch({.count = 1, .valueSize = 200, .firstTimestampMs = process_->clock().wallMs()});
      const ProduceItem item{.partition = name(index), .records = batch};
      manager_->append(1, seconds(5), std::span(&item, 1), {.origin = records::Origin::Client, .apiVersion = 12},
                       {.client = "test", .correlation = 1},
                       [](std::vector<ProduceResult> done) { EXPECT_EQ(done[0].error, ErrorCode::None); });
    }
  }
  ErrorCode move(const std::string& path, int index = 0) {
    return manager_->alterLogDirs({{.partition = name(index), .path = path}})[0];
  }
  /// The controller takes down what it was asked for last.
  void accept(ErrorCode error = ErrorCode::None) {
    ASSERT_FALSE(asked_.empty());
    protocol::AssignReplicasToDirsResponse response;
    response.errorCode = static_cast<int16_t>(error);
    for (const auto& directory : asked_.back().directories) {
      auto& answered = response.directories.emplace_back();
      answered.id = directory.id;
      for (const auto& topic : directory.topics) {
        auto& answeredTopic = answered.topics.emplace_back();
        answeredTopic.topicId = topic.topicId;
        for (const auto& partition : topic.partitions)
          answeredTopic.partitions.push_back({.partitionIndex = partition.partitionIndex, .errorCode = 0});
      }
    }
    std::exchange(answer_, {})(std::move(response));
  }
  std::vector<Uuid> askedFor() const {
    std::vector<Uuid> ids;
    for (const auto& request : asked_)
      for (const auto& directory : request.directories) ids.push_back(directory.id);
    return ids;
  }
  void settle(platform::Duration duration = milliseconds(300)) { world_.runFor(duration); }
  static TopicPartition name(int index) { return {"orders", PartitionIndex(index)}; }
  log::PartitionLog& log(int index = 0) { return *manager_->find(name(index))->log(); }
  Uuid where(int index = 0) const { return logs_->directoryOf(name(index)); }
  void failDisk(const std::string& path) {
    process_->disk().failWhen([path](platform::FileCall call, const std::string& file) {
      return (call == platform::FileCall::Sync || call == platform::FileCall::Write) && file.starts_with(path + "/");
    });
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess({.name = "broker-1", .host = "broker-1"});
  std::unique_ptr<events::Recorder> recorder_ = std::make_unique<events::Recorder>(process_->clock(), NodeId(1));
  std::shared_ptr<platform::Executor> executor_;
  std::shared_ptr<log::LogManager> logs_;
  std::unique_ptr<ReplicaManager> manager_;
  Images images_;
  std::vector<Uuid> directories_;
  std::vector<protocol::AssignReplicasToDirsRequest> asked_;
  DirectoryAssignments::Answer answer_;
  /// The controller answers at once.
  bool agrees_ = false;
};

TEST_F(ReplicaMoveTest, ACopyIsSwappedInOnceTheControllerHasTakenItsDirectoryDown) {
  create();
  produce(20);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle(seconds(3));
  EXPECT_THAT(askedFor(), ElementsAre(directories_[1]));
  EXPECT_EQ(where(), directories_[0]) << "not before";
  ASSERT_TRUE(logs_->future(name(0)));
  EXPECT_EQ(logs_->future(name(0))->logEndOffset(), Offset(20));
  accept();
  settle();
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_FALSE(logs_->future(name(0)));
  EXPECT_FALSE(manager_->find(name(0))->isMoving());
  EXPECT_EQ(log().logEndOffset(), Offset(20));
  EXPECT_EQ(log().directory(), "/b/orders-0");
  produce(1);
  EXPECT_EQ(log().logEndOffset(), Offset(21));
}

TEST_F(ReplicaMoveTest, WhatIsAppendedWhileACopyWaitsIsInItAtTheSwap) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  produce(30);
  accept();
  // No time passes for another step: what is left comes with the swap.
  settle();
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_EQ(log().logEndOffset(), Offset(35));
  EXPECT_EQ(log().highWatermark(), Offset(35));
  EXPECT_EQ(log::readHeaders(log(), Offset(0)).size(), 35u);
}

TEST_F(ReplicaMoveTest, AMoveToWhereTheReplicaLiesDoesNothing) {
  create();
  EXPECT_EQ(move("/a"), ErrorCode::None);
  settle();
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(logs_->future(name(0)));
}

TEST_F(ReplicaMoveTest, MovingBackGivesTheCopyUpAndTellsTheController) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  EXPECT_EQ(move("/a"), ErrorCode::None);
  EXPECT_FALSE(logs_->future(name(0)));
  EXPECT_FALSE(manager_->find(name(0))->isMoving());
  accept();
  settle();
  EXPECT_THAT(askedFor(), ElementsAre(directories_[1], directories_[0])) << "it may have taken the other down";
  accept();
  settle();
  EXPECT_EQ(where(), directories_[0]);
  produce(1);
  EXPECT_EQ(log().logEndOffset(), Offset(6));
}

TEST_F(ReplicaMoveTest, AnotherDirectoryTakesThePlaceOfTheFirst) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  EXPECT_EQ(move("/c"), ErrorCode::None);
  EXPECT_EQ(move("/c"), ErrorCode::None) << "said twice";
  agrees_ = true;
  settle(seconds(1));
  EXPECT_EQ(where(), directories_[2]);
  EXPECT_EQ(log().logEndOffset(), Offset(5));
}

TEST_F(ReplicaMoveTest, EachPartitionGetsItsOwnError) {
  create();
  EXPECT_EQ(move("/nowhere"), ErrorCode::LogDirNotFound);
  EXPECT_EQ(move("/b", 7), ErrorCode::ReplicaNotAvailable);
  EXPECT_EQ(manager_->alterLogDirs({{.partition = {std::string(230, 'x'), PartitionIndex(0)}, .path = "/b"}})[0],
            ErrorCode::InvalidTopicException);
  agrees_ = true;
  create(7, 1, metadata::kUnassignedDirectory);
  settle();
  EXPECT_EQ(where(7), directories_[1]) << "it was remembered";
  EXPECT_THAT(askedFor(), ElementsAre(directories_[1]));
}

TEST_F(ReplicaMoveTest, AnOfflineDirectoryIsNoPlaceAndNoSource) {
  create(0);
  create(1, 1, directories_[1]);
  failDisk("/b");
  ByteVector batch = makeBatch({});
  EXPECT_FALSE(manager_->find(name(1))->log()->appendAsLeader(batch, LeaderEpoch(0)));
  process_->disk().failWhen({});
  settle();
  EXPECT_EQ(move("/b"), ErrorCode::KafkaStorageError) << "the place is offline";
  EXPECT_EQ(move("/a", 1), ErrorCode::KafkaStorageError) << "the replica is offline";
  EXPECT_EQ(move("/c"), ErrorCode::KafkaStorageError) << "another directory is, which may hold a copy";
}

TEST_F(ReplicaMoveTest, WhatTheLogGivesUpTheCopyGivesUp) {
  create(0, 2);
  const auto partition = manager_->find(name(0));
  ASSERT_TRUE(partition->appendAsFollower(makeBatch({.count = 8}), LeaderEpoch(0), Offset(4), Offset(0)));
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  ASSERT_EQ(logs_->future(name(0))->logEndOffset(), Offset(8));
  // Another leader, which never had the last records.
  protocol::PartitionChangeRecord record{.partitionId = 0, .topicId = kTopic};
  record.leader = 3;
  apply({{std::move(record)}});
  ASSERT_TRUE(partition->truncateAsFollower(Offset(0), LeaderEpoch(1)));
  ASSERT_TRUE(partition->appendAsFollower(makeBatch({.count = 3, .epoch = LeaderEpoch(1)}), LeaderEpoch(1), Offset(2),
                                          Offset(0)));
  ASSERT_TRUE(partition->appendAsFollower(makeBatch({.count = 9, .baseOffset = Offset(3), .epoch = LeaderEpoch(1)}),
                                          LeaderEpoch(1), Offset(2), Offset(0)));
  accept();
  settle();
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_EQ(log().logEndOffset(), Offset(12));
  EXPECT_EQ(log().latestEpoch(), LeaderEpoch(1));
  for (const auto& header : log::readHeaders(log(), Offset(0))) EXPECT_EQ(header.leaderEpoch, LeaderEpoch(1));
}

TEST_F(ReplicaMoveTest, ALogThatBeginsAnewFurtherUpTakesItsCopyAlong) {
  create(0, 2);
  const auto partition = manager_->find(name(0));
  ASSERT_TRUE(partition->appendAsFollower(makeBatch({.count = 8}), LeaderEpoch(0), Offset(4), Offset(0)));
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  ASSERT_TRUE(partition->restartAsFollower(Offset(100), LeaderEpoch(0)));
  ASSERT_TRUE(partition->appendAsFollower(makeBatch({.count = 8, .baseOffset = Offset(100)}), LeaderEpoch(0),
                                          Offset(108), Offset(100)));
  accept();
  settle();
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_EQ(log().logStartOffset(), Offset(100));
  EXPECT_EQ(log().logEndOffset(), Offset(108));
}

TEST_F(ReplicaMoveTest, ALogThatStartsInsideABatchIsCopiedFromThatBatchOn) {
  create();
  ByteVector batch = makeBatch({.count = 10});
  ASSERT_TRUE(manager_->find(name(0))->log()->appendAsLeader(batch, LeaderEpoch(0)));
  manager_->find(name(0))->advance();
  ASSERT_TRUE(manager_->find(name(0))->deleteRecords(Offset(4)));
  agrees_ = true;
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle(seconds(1));
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_EQ(log().logStartOffset(), Offset(4));
  EXPECT_EQ(log().logEndOffset(), Offset(10));
}

TEST_F(ReplicaMoveTest, ALeaderThatBecomesAFollowerIsMovedAllTheSame) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  protocol::PartitionChangeRecord record{.partitionId = 0, .topicId = kTopic};
  record.leader = 2;
  apply({{std::move(record)}});
  accept();
  settle();
  EXPECT_EQ(where(), directories_[1]);
  ASSERT_TRUE(manager_->find(name(0))->appendAsFollower(
      makeBatch({.count = 2, .baseOffset = Offset(5), .epoch = LeaderEpoch(1)}), LeaderEpoch(1), Offset(7), Offset(0)));
  EXPECT_EQ(log().logEndOffset(), Offset(7));
}

TEST_F(ReplicaMoveTest, ATopicThatGoesTakesItsMoveAlong) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  apply({{protocol::RemoveTopicRecord{.topicId = kTopic}}});
  EXPECT_FALSE(logs_->get(name(0)));
  EXPECT_FALSE(logs_->future(name(0)));
  accept();
  settle();
  for (const std::string directory : {"/a", "/b"}) {
    const auto entries = process_->files().list(directory);
    for (const auto& entry : entries.value()) EXPECT_FALSE(entry.isDirectory) << directory << "/" << entry.name;
  }
}

TEST_F(ReplicaMoveTest, ADirectoryThatFailsUnderItsCopyLeavesTheReplicaWhereItIs) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  failDisk("/b");
  produce(5);
  settle();
  process_->disk().failWhen({});
  EXPECT_FALSE(manager_->find(name(0))->isMoving());
  EXPECT_FALSE(logs_->future(name(0)));
  agrees_ = true;
  accept();
  settle();
  EXPECT_EQ(askedFor().back(), directories_[0]) << "the controller may believe otherwise";
  EXPECT_EQ(where(), directories_[0]);
  produce(1);
  EXPECT_EQ(log().logEndOffset(), Offset(11));
}

TEST_F(ReplicaMoveTest, ADirectoryThatFailsUnderItsLogEndsTheMoveAndTheControllerIsToldWhereItWas) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  failDisk("/a");
  ByteVector batch = makeBatch({});
  EXPECT_FALSE(manager_->find(name(0))->log()->appendAsLeader(batch, LeaderEpoch(0)));
  settle();
  agrees_ = true;
  accept();
  settle();
  EXPECT_EQ(where(), directories_[0]) << "a copy that may lack records is no replica";
  EXPECT_EQ(askedFor().back(), directories_[0]);
  EXPECT_FALSE(manager_->find(name(0))->isMoving());
}

TEST_F(ReplicaMoveTest, AMoveGoesOnAfterARestart) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  restart();
  settle();
  ASSERT_TRUE(manager_->find(name(0)));
  EXPECT_TRUE(manager_->find(name(0))->isMoving());
  EXPECT_EQ(askedFor(), std::vector<Uuid>{directories_[1]});
  accept();
  settle();
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_EQ(log().logEndOffset(), Offset(5));
}

TEST_F(ReplicaMoveTest, AMoveThatWasTakenDownIsNotAnnouncedAgainAfterARestart) {
  create();
  produce(5);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  assign(directories_[1]);
  settle();
  EXPECT_EQ(askedFor().size(), 1u) << "what is announced is not taken back";
  produce(5);
  restart();
  settle();
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(where(), directories_[1]);
  EXPECT_EQ(log().logEndOffset(), Offset(10)) << "with what was appended since it was announced";
}

TEST_F(ReplicaMoveTest, TheControllerIsToldWhereAReplicaLiesIfItBelievesOtherwise) {
  create(0, 1, metadata::kUnassignedDirectory);
  settle();
  EXPECT_THAT(askedFor(), ElementsAre(where()));
  accept();
  settle(seconds(1));
  EXPECT_EQ(asked_.size(), 1u);
}

// The mover waited for an answer that nobody could give any more.
TEST_F(ReplicaMoveTest, NewsOfThePartitionDoesNotTakeAnAnnouncementsPlace) {
  create(0, 1, metadata::kUnassignedDirectory);
  const Uuid from = where();
  settle();
  EXPECT_THAT(askedFor(), ElementsAre(from)) << "not answered yet: what follows waits";
  EXPECT_EQ(move(from == directories_[1] ? "/a" : "/b"), ErrorCode::None);
  settle();
  protocol::PartitionChangeRecord record{.partitionId = 0, .topicId = kTopic};
  record.isr = std::vector<int32_t>{1, 2};
  apply({{std::move(record)}});
  settle();
  agrees_ = true;
  accept();
  settle(seconds(1));
  EXPECT_NE(where(), from);
}

TEST_F(ReplicaMoveTest, AnAssignmentIsRepeatedUntilTheControllerTakesIt) {
  create();
  produce(1);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle();
  accept(ErrorCode::StaleBrokerEpoch);
  settle(milliseconds(50));
  EXPECT_EQ(asked_.size(), 1u);
  settle(seconds(1));
  EXPECT_THAT(askedFor(), ElementsAre(directories_[1], directories_[1]));
  accept();
  settle();
  EXPECT_EQ(where(), directories_[1]);
}

TEST_F(ReplicaMoveTest, TheThrottleBoundsWhatIsCopiedASecond) {
  create();
  produce(40);
  agrees_ = true;
  const auto bytes = log().sizeInBytes();
  manager_->setMoveLimit(bytes / 10);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle(seconds(8));
  EXPECT_EQ(where(), directories_[0]);
  ASSERT_TRUE(logs_->future(name(0)));
  EXPECT_GT(logs_->future(name(0))->logEndOffset(), Offset(20)) << "but it goes on";
  settle(seconds(4));
  EXPECT_EQ(where(), directories_[1]);
}

TEST_F(ReplicaMoveTest, ACopyThatHasCaughtUpCostsNothing) {
  create();
  produce(1);
  EXPECT_EQ(move("/b"), ErrorCode::None);
  settle(seconds(70));
  const uint64_t tasks = process_->tasksRun();
  settle(seconds(60));
  EXPECT_LE(process_->tasksRun() - tasks, 4u);
}

}  // namespace
}  // namespace tidemark::replication
