#include "replication/replica_manager.h"

#include <gmock/gmock.h>

#include "log/log_fixture.h"
#include "metadata/records.h"
#include "network/request_codec.h"
#include "network/server.h"
#include "protocol/generated/fetch_request.h"
#include "replication/images.h"
#include "replication/topic.h"

namespace tidemark::replication {
namespace {

using log::makeBatch;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kBrokers = 3;

/// Broker 3 stands in another rack than the others.
metadata::Record brokerRecord(int id, int64_t epoch) {
  protocol::RegisterBrokerRecord record{
      .brokerId = id, .incarnationId = Uuid({static_cast<uint8_t>(id)}), .brokerEpoch = epoch, .fenced = false};
  record.rack = protocol::Text(std::string(id == 3 ? "far" : "near"));
  record.endPoints.push_back(
      {.name = "PLAINTEXT", .host = "broker-" + std::to_string(id), .port = 9092, .securityProtocol = 0});
  return {std::move(record), 3};
}

metadata::Record partitionRecord(int index, std::vector<int32_t> isr, int leader) {
  return {protocol::PartitionRecord{.partitionId = index,
                                    .topicId = kTopic,
                                    .replicas = {1, 2, 3},
                                    .isr = std::move(isr),
                                    .leader = leader,
                                    .leaderEpoch = 0,
                                    .partitionEpoch = 0}};
}

/// Broker 1 of three, in front of metadata that the test writes. Nobody listens at the others unless the test does.
class ReplicaManagerTest : public testing::Test {
 protected:
  ReplicaManagerTest() {
    logs_ = *log::LogManager::open(*process_, process_->createExecutor({.name = "background", .threads = 1}),
                                   &recorder_, {.directories = {"/data"}, .defaults = {}});
    EXPECT_TRUE(logs_->load({}));
    manager_ = std::make_unique<ReplicaManager>(
        *process_, logs_, recorder_,
        ReplicaManagerOptions{
            .self = NodeId(1),
            .interBrokerListener = "PLAINTEXT",
            .lagMax = seconds(10),
            .rackAwareReads = true,
            .settingsOf =
                [this](const metadata::Image&, const std::string&) {
                  return TopicSettings{
                      .log = {}, .minInsyncReplicas = minIsr_, .leaderThrottled = throttled_, .followerThrottled = {}};
                },
            .brokerEpoch = [] { return BrokerEpoch(100); },
            .isrExecutor = process_->createExecutor({.name = "isr", .threads = 1}),
            .alterPartition = [this](protocol::AlterPartitionRequest request,
                                     AlterPartitionManager::Answer) { proposals_.push_back(std::move(request)); }});
    metadata::Records records{{protocol::TopicRecord{.name = "orders", .topicId = kTopic}}};
    for (int id = 1; id <= kBrokers; ++id) records.push_back(brokerRecord(id, 99 + id));
    apply(std::move(records));
  }
  ~ReplicaManagerTest() override {
    process_->kill("the test is over");
    process_->awaitStopped();
  }

  void apply(const metadata::Records& records) { manager_->apply(images_.take(records)); }
  void change(int index, protocol::PartitionChangeRecord record) {
    record.partitionId = index;
    record.topicId = kTopic;
    apply({{std::move(record)}});
  }
  static TopicPartition name(int index) { return {"orders", PartitionIndex(index)}; }

  /// Parks or answers; what came is in the result once it did.
  std::shared_ptr<std::optional<std::vector<ProduceResult>>> produce(int index, int16_t acks = -1,
                                                                     platform::Duration timeout = seconds(5)) {
    return produce(index, makeBatch({.count = 1, .firstTimestampMs = process_->clock().wallMs()}), acks, timeout);
  }
  std::shared_ptr<std::optional<std::vector<ProduceResult>>> produce(
      int index, ByteVector batch, int16_t acks, platform::Duration timeout = seconds(5),
      std::optional<log::VerificationGuard> verification = std::nullopt) {
    auto result = std::make_shared<std::optional<std::vector<ProduceResult>>>();
    const ProduceItem item{.partition = name(index), .records = batch, .verification = verification};
    manager_->append(acks, timeout, std::span(&item, 1), {.origin = records::Origin::Client, .apiVersion = 12},
                     {.client = "test", .correlation = 1},
                     [result](std::vector<ProduceResult> done) { *result = std::move(done); });
    return result;
  }
  std::shared_ptr<std::optional<std::vector<FetchResult>>> fetch(int index, int64_t offset, int follower = -1,
                                                                 int32_t minBytes = 1,
                                                                 platform::Duration wait = seconds(2),
                                                                 const std::string& rack = {}) {
    auto result = std::make_shared<std::optional<std::vector<FetchResult>>>();
    FetchParams params{.maxWait = wait, .minBytes = minBytes, .maxBytes = 1 << 20, .rack = rack};
    if (follower >= 0) {
      params.follower = FetchParams::Follower{.replica = NodeId(follower), .brokerEpoch = BrokerEpoch(99 + follower)};
      params.isolation = log::FetchIsolation::LogEnd;
    }
    std::vector<FetchItem> items{
        {.key = {.topicId = kTopic, .topic = "orders", .partition = PartitionIndex(index)},
         .ask = {.fetchOffset = Offset(offset), .logStartOffset = Offset(0), .maxBytes = 1 << 20}}};
    manager_->fetch(params, std::move(items), [result](std::vector<FetchResult> done) { *result = std::move(done); });
    return result;
  }
  /// Two records of the idempotent producer 7.
  ErrorCode produceNumbered(int index, int32_t sequence) {
    return errorOf(produce(index,
                           makeBatch({.count = 2,
                                      .firstTimestampMs = process_->clock().wallMs(),
                                      .producer = ProducerId(7),
                                      .producerEpoch = ProducerEpoch(0),
                                      .baseSequence = sequence}),
                           1));
  }
  ErrorCode errorOf(const std::shared_ptr<std::optional<std::vector<ProduceResult>>>& result) {
    EXPECT_TRUE(*result) << "no answer";
    return *result ? (**result)[0].error : ErrorCode::UnknownServerError;
  }

  platform::World world_;
  std::shared_ptr<platform::SimulatedProcess> process_ = world_.createProcess({.name = "broker-1", .host = "broker-1"});
  events::Recorder recorder_{process_->clock(), NodeId(1)};
  std::shared_ptr<log::LogManager> logs_;
  std::unique_ptr<ReplicaManager> manager_;
  Images images_;
  std::vector<protocol::AlterPartitionRequest> proposals_;
  int minIsr_ = 1;
  std::vector<std::string> throttled_;
};

TEST_F(ReplicaManagerTest, TakesUpAndGivesUpWhatTheMetadataSays) {
  EXPECT_FALSE(manager_->find(name(0)));
  EXPECT_EQ(manager_->whyMissing(name(0), {}).code, ErrorCode::UnknownTopicOrPartition);
  apply({partitionRecord(0, {1, 2, 3}, 1)});
  ASSERT_TRUE(manager_->find(name(0)));
  EXPECT_TRUE(manager_->find(name(0))->isLeader());
  apply({{protocol::RemoveTopicRecord{.topicId = kTopic}}});
  EXPECT_FALSE(manager_->find(name(0)));
  EXPECT_FALSE(logs_->get(name(0))) << "and its log with it";
  EXPECT_EQ(manager_->whyMissing(name(0), kTopic).code, ErrorCode::UnknownTopicId);
}

TEST_F(ReplicaManagerTest, AcksOneIsAnsweredAtOnceAndAcksAllWhenTheIsrHasIt) {
  apply({partitionRecord(0, {1, 2, 3}, 1)});
  EXPECT_EQ(errorOf(produce(0, 1)), ErrorCode::None);
  const auto all = produce(0);
  EXPECT_FALSE(*all);
  EXPECT_EQ(manager_->parkedProduces().size(), 1u);
  fetch(0, 2, 2);
  EXPECT_FALSE(*all) << "broker 3 is a member too";
  fetch(0, 2, 3);
  EXPECT_EQ(errorOf(all), ErrorCode::None);
  EXPECT_EQ((**all)[0].baseOffset, Offset(1));
  EXPECT_TRUE(manager_->parkedProduces().empty());
}

TEST_F(ReplicaManagerTest, AProduceThatWaitsTooLongTimesOut) {
  apply({partitionRecord(0, {1, 2}, 1)});
  const auto late = produce(0, -1, seconds(3));
  world_.runFor(milliseconds(2900));
  EXPECT_FALSE(*late);
  world_.runFor(milliseconds(200));
  EXPECT_EQ(errorOf(late), ErrorCode::RequestTimedOut);
}

TEST_F(ReplicaManagerTest, WhatWaitsIsAnsweredWhenTheLeadershipGoes) {
  apply({partitionRecord(0, {1, 2}, 1)});
  const auto waiting = produce(0);
  const auto reading = fetch(0, 0, -1, 1, seconds(60));
  EXPECT_FALSE(*waiting);
  EXPECT_FALSE(*reading);
  change(0, {.leader = 2});
  EXPECT_EQ(errorOf(waiting), ErrorCode::NotLeaderOrFollower);
  ASSERT_TRUE(*reading);
  EXPECT_EQ((**reading)[0].error.code, ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(errorOf(produce(0)), ErrorCode::NotLeaderOrFollower);
}

TEST_F(ReplicaManagerTest, AShrunkIsrLetsAParkedProduceGoOrFail) {
  minIsr_ = 2;
  apply({partitionRecord(0, {1, 2, 3}, 1), partitionRecord(1, {1, 2}, 1)});
  const auto going = produce(0);
  const auto failing = produce(1);
  fetch(0, 1, 2);
  change(0, {.isr = std::vector<int32_t>{1, 2}});
  EXPECT_FALSE(*going) << "broker 3 could still join";
  apply({{protocol::BrokerRegistrationChangeRecord{.brokerId = 3, .brokerEpoch = 102, .fenced = 1}}});
  EXPECT_EQ(errorOf(going), ErrorCode::None);
  change(1, {.isr = std::vector<int32_t>{1}});
  EXPECT_FALSE(*failing) << "the high watermark stays: it may still come";
  EXPECT_EQ(errorOf(produce(1)), ErrorCode::NotEnoughReplicas);
}

TEST_F(ReplicaManagerTest, WhatFollowsABatchThatWasRefusedForNowIsRefusedLikewise) {
  apply({partitionRecord(0, {1, 2}, 2)});
  EXPECT_EQ(produceNumbered(0, 0), ErrorCode::NotLeaderOrFollower);
  change(0, {.leader = 1});
  EXPECT_EQ(produceNumbered(0, 2), ErrorCode::NotLeaderOrFollower) << "it would be the first, and 0 could never come";
  EXPECT_EQ(produceNumbered(0, 0), ErrorCode::None);
  EXPECT_EQ(produceNumbered(0, 2), ErrorCode::None);
  EXPECT_EQ(produceNumbered(0, 6), ErrorCode::OutOfOrderSequenceNumber) << "nothing before it was refused";
  change(0, {.leader = 2});
  EXPECT_EQ(produceNumbered(0, 4), ErrorCode::NotLeaderOrFollower);
  change(0, {.leader = 1});
  EXPECT_EQ(produceNumbered(0, 6), ErrorCode::NotLeaderOrFollower) << "a gap, but 4 will come again";
  EXPECT_EQ(produceNumbered(0, 4), ErrorCode::None);
  EXPECT_EQ(produceNumbered(0, 6), ErrorCode::None);
}

TEST_F(ReplicaManagerTest, WhoeverDidNotLeadWhenTheTransactionWasAskedForDoesNotAppendToItOnceItLeads) {
  apply({partitionRecord(0, {1, 2}, 1)});
  const auto produceIn = [&](int32_t sequence, log::VerificationGuard verification) {
    return errorOf(produce(0,
                           makeBatch({.count = 1,
                                      .firstTimestampMs = process_->clock().wallMs(),
                                      .producer = ProducerId(7),
                                      .producerEpoch = ProducerEpoch(0),
                                      .baseSequence = sequence,
                                      .transactional = true}),
                           1, seconds(5), verification));
  };
  EXPECT_EQ(produceIn(0, log::kNotAsked), ErrorCode::NotLeaderOrFollower);
  const auto guard = logs_->get(name(0))->beginVerification(ProducerId(7), ProducerEpoch(0), 1);
  EXPECT_EQ(produceIn(1, guard.value()), ErrorCode::NotLeaderOrFollower) << "the first one comes again";
  EXPECT_EQ(logs_->get(name(0))->logEndOffset(), Offset(0));
  EXPECT_EQ(produceIn(0, guard.value()), ErrorCode::None);
  EXPECT_EQ(produceIn(1, log::kNotAsked), ErrorCode::None) << "the transaction is open here";
  EXPECT_EQ(produceIn(3, 0), ErrorCode::OutOfOrderSequenceNumber);
}

TEST_F(ReplicaManagerTest, AFetchWaitsForBytesAndIsAnsweredByAnAppend) {
  apply({partitionRecord(0, {1}, 1)});
  const auto waiting = fetch(0, 0);
  EXPECT_FALSE(*waiting);
  EXPECT_EQ(manager_->parkedFetches().size(), 1u);
  produce(0, 1);
  ASSERT_TRUE(*waiting);
  EXPECT_EQ((**waiting)[0].highWatermark, Offset(1));
  const auto idle = fetch(0, 1, -1, 1, milliseconds(500));
  world_.runFor(milliseconds(510));
  ASSERT_TRUE(*idle) << "its time is over";
  EXPECT_EQ((**idle)[0].error.code, ErrorCode::None);
  EXPECT_FALSE(*fetch(0, 1, -1, 0, seconds(0)) == std::nullopt) << "who waits for nothing is answered at once";
}

TEST_F(ReplicaManagerTest, ConsumersSeeNothingAboveTheHighWatermarkReplicasDo) {
  apply({partitionRecord(0, {1, 2}, 1)});
  produce(0, 1);
  EXPECT_FALSE(*fetch(0, 0, -1, 1, seconds(1)));
  const auto replica = fetch(0, 0, 2);
  ASSERT_TRUE(*replica);
  EXPECT_GT((**replica)[0].slice.length, 0u);
}

TEST_F(ReplicaManagerTest, AReaderAheadOfTheHighWatermarkWaitsForIt) {
  apply({partitionRecord(0, {1, 2}, 1)});
  produce(0, 1);
  produce(0, 1);
  const auto ahead = fetch(0, 1, -1, 1, seconds(60));
  EXPECT_FALSE(*ahead) << "an answer without records is followed by the next question at once";
  fetch(0, 1, 2);
  EXPECT_FALSE(*ahead) << "the high watermark has come to where it reads, and no record below it";
  fetch(0, 2, 2);
  ASSERT_TRUE(*ahead);
  EXPECT_GT((**ahead)[0].slice.length, 0u);
}

TEST_F(ReplicaManagerTest, AReplicaThatIsNoneIsRefused) {
  apply({{protocol::PartitionRecord{.partitionId = 0,
                                    .topicId = kTopic,
                                    .replicas = {1, 2},
                                    .isr = {1, 2},
                                    .leader = 1,
                                    .leaderEpoch = 0,
                                    .partitionEpoch = 0}}});
  const auto stranger = fetch(0, 0, 3);
  ASSERT_TRUE(*stranger);
  EXPECT_NE((**stranger)[0].error.code, ErrorCode::None);
}

TEST_F(ReplicaManagerTest, WhoLagsIsProposedToLeave) {
  apply({partitionRecord(0, {1, 2, 3}, 1)});
  produce(0, 1);
  for (int i = 0; i < 12; ++i) {
    fetch(0, 1, 2);
    world_.runFor(seconds(1));
  }
  ASSERT_EQ(proposals_.size(), 1u);
  EXPECT_EQ(proposals_[0].brokerId, 1);
  std::vector<int32_t> members;
  for (const auto& member : proposals_[0].topics.at(0).partitions.at(0).newIsrWithEpochs)
    members.push_back(member.brokerId);
  EXPECT_THAT(members, testing::UnorderedElementsAre(1, 2));
}

TEST_F(ReplicaManagerTest, DeleteRecordsWaitsForTheReplicasThatAreAlive) {
  apply({partitionRecord(0, {1, 2}, 1)});
  produce(0, 1);
  fetch(0, 1, 2);
  fetch(0, 1, 3);
  std::optional<std::vector<DeleteResult>> done;
  manager_->deleteRecords({{.partition = name(0), .offset = Offset(1)}}, seconds(5),
                          [&](std::vector<DeleteResult> results) { done = std::move(results); });
  world_.runFor(seconds(6));
  ASSERT_TRUE(done);
  EXPECT_EQ((*done)[0].error, ErrorCode::RequestTimedOut) << "nobody told of a log start yet";
  EXPECT_EQ(manager_->find(name(0))->log()->logStartOffset(), Offset(1));
  std::optional<std::vector<DeleteResult>> beyond;
  manager_->deleteRecords({{.partition = name(0), .offset = Offset(9)}}, seconds(5),
                          [&](std::vector<DeleteResult> results) { beyond = std::move(results); });
  ASSERT_TRUE(beyond);
  EXPECT_EQ((*beyond)[0].error, ErrorCode::OffsetOutOfRange);
}

TEST_F(ReplicaManagerTest, OneFetcherForEachLeaderThatIsFollowed) {
  apply({partitionRecord(0, {2, 3}, 2), partitionRecord(1, {2, 3}, 2), partitionRecord(2, {3}, 3)});
  EXPECT_EQ(manager_->fetcherCount(), 2);
  manager_->shutdown();
  EXPECT_TRUE(manager_->all().empty());
}

TEST_F(ReplicaManagerTest, ListenersHearOfEachRiseOfTheHighWatermark) {
  apply({partitionRecord(0, {1, 2}, 1)});
  std::vector<Offset> heard;
  manager_->onHighWatermark(name(0), [&](Offset highWatermark) { heard.push_back(highWatermark); });
  produce(0, 1);
  EXPECT_TRUE(heard.empty());
  fetch(0, 1, 2);
  EXPECT_EQ(heard, (std::vector<Offset>{Offset(1)}));
  manager_->forgetHighWatermark(name(0));
  produce(0, 1);
  fetch(0, 2, 2);
  EXPECT_EQ(heard.size(), 1u);
}

TEST_F(ReplicaManagerTest, AMinimumThatFallsLetsTheHighWatermarkGo) {
  minIsr_ = 2;
  apply({partitionRecord(0, {1}, 1)});
  ASSERT_EQ(errorOf(produce(0, 1)), ErrorCode::None);
  EXPECT_EQ(manager_->find(name(0))->log()->highWatermark(), Offset(0));
  minIsr_ = 1;
  protocol::ConfigRecord record{.resourceType = 4, .name = "min.insync.replicas"};
  record.value = protocol::Text(std::string("1"));
  apply({{std::move(record)}});
  EXPECT_EQ(manager_->find(name(0))->log()->highWatermark(), Offset(1));
}

TEST_F(ReplicaManagerTest, AFetchOfABrokersLastIncarnationIsRefused) {
  apply({partitionRecord(0, {1, 2, 3}, 1)});
  ASSERT_EQ(errorOf(produce(0, 1)), ErrorCode::None);
  EXPECT_EQ((**fetch(0, 0, 2))[0].error.code, ErrorCode::None);
  apply({brokerRecord(2, 500)});
  EXPECT_EQ((**fetch(0, 1, 2))[0].error.code, ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(manager_->find(name(0))->view().followers.at(NodeId(2)).logEndOffset, Offset(0));
}

TEST_F(ReplicaManagerTest, AConsumerIsSentToTheReplicaInItsRackThatHasWhatItReads) {
  apply({partitionRecord(0, {1, 2, 3}, 1)});
  ASSERT_EQ(errorOf(produce(0, 1)), ErrorCode::None);
  const auto preferred = [&](const std::string& rack, int64_t offset = 0) {
    const auto answered = fetch(0, offset, -1, 0, seconds(0), rack);
    EXPECT_TRUE(*answered);
    const FetchResult& result = (**answered)[0];
    EXPECT_EQ(result.error.code, ErrorCode::None);
    EXPECT_TRUE(!result.preferredReadReplica || result.slice.length == 0);
    return result.preferredReadReplica;
  };
  EXPECT_FALSE(preferred("far")) << "broker 3 has not fetched yet";
  fetch(0, 1, 3);
  EXPECT_EQ(preferred("far"), NodeId(3));
  EXPECT_FALSE(preferred("near"));
  EXPECT_FALSE(preferred(""));
  // Out of sync it may lack what was committed.
  change(0, {.isr = {{1, 2}}});
  EXPECT_FALSE(preferred("far"));
}

TEST_F(ReplicaManagerTest, AFollowerThatIsNotInSyncWaitsForTheLeadersQuota) {
  throttled_ = {"0:1"};
  apply({partitionRecord(0, {1, 2}, 1), partitionRecord(1, {1, 2}, 1)});
  for (int index : {0, 1}) ASSERT_EQ(errorOf(produce(index, 1)), ErrorCode::None);
  const auto bytes = [&](int index, int follower) {
    const auto answered = fetch(index, 0, follower, 0, seconds(0));
    EXPECT_TRUE(*answered);
    return (**answered)[0].slice.length;
  };
  manager_->setReplicationLimits(1, ReplicationQuota::kUnlimited);
  EXPECT_GT(bytes(0, 3), 0u) << "nothing was sent yet";
  EXPECT_EQ(bytes(0, 3), 0u);
  EXPECT_GT(bytes(0, 2), 0u) << "broker 2 is in sync";
  EXPECT_GT(bytes(1, 3), 0u) << "orders-1 is not throttled";
  // It waits its time out.
  const auto parked = fetch(0, 0, 3, 1, seconds(2));
  EXPECT_FALSE(*parked);
  world_.runFor(seconds(3));
  ASSERT_TRUE(*parked);
  EXPECT_EQ((**parked)[0].slice.length, 0u);
  world_.runFor(seconds(60));
  EXPECT_GT(bytes(0, 3), 0u);
}

TEST_F(ReplicaManagerTest, PartitionsAreSpreadOverTheFetchersFromTheirLeader) {
  metadata::Records records;
  for (int index = 0; index < 6; ++index) records.push_back(partitionRecord(index, {1, 2, 3}, 2));
  apply(records);
  EXPECT_EQ(manager_->fetcherCount(), 1);
  manager_->setFetchersPerLeader(3);
  EXPECT_EQ(manager_->fetcherCount(), 3);
  manager_->setFetchersPerLeader(1);
  EXPECT_EQ(manager_->fetcherCount(), 1);
}

TEST_F(ReplicaManagerTest, AfterShutdownNothingIsServed) {
  apply({partitionRecord(0, {1, 2}, 1)});
  const auto waiting = produce(0);
  manager_->shutdown();
  EXPECT_EQ(errorOf(waiting), ErrorCode::NotLeaderOrFollower);
  EXPECT_NE(errorOf(produce(0, 1)), ErrorCode::None);
}

}  // namespace
}  // namespace tidemark::replication
