#include "replication/fetcher.h"

#include <deque>

#include <gmock/gmock.h>

#include "log/log_fixture.h"
#include "network/request_codec.h"
#include "network/server.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/list_offsets_request.h"
#include "replication/topic.h"

namespace tidemark::replication {
namespace {

using log::makeBatch;
using std::chrono::milliseconds;
using std::chrono::seconds;

const platform::Endpoint kLeaderEndpoint{"leader", 9092};

/// A follower whose leader says what the test tells it to say.
class FetcherTest : public log::LogFixture, public network::RequestHandler {
 protected:
  using Partial = protocol::FetchResponse::PartitionData;

  FetcherTest() {
    open();
    environment_ = std::make_shared<const PartitionEnvironment>(
        PartitionEnvironment{.self = NodeId(1),
                             .clock = process_->clock(),
                             .recorder = recorder_,
                             .lagMax = seconds(10),
                             .eligible = [](NodeId, BrokerEpoch) { return true; },
                             .brokerEpoch = [] { return BrokerEpoch(55); },
                             .propose = [](const IsrProposal&) {},
                             .lagDeadline = [](platform::MonotonicTime) {}});
    partition_ = std::make_shared<Partition>(environment_, kId, TopicPartition{"orders", PartitionIndex(0)}, log_);
    leader_ = world_->createProcess({.name = "leader", .host = "leader"});
    network::ServerOptions options;
    options.listeners = {{.name = "PLAINTEXT", .endpoint = kLeaderEndpoint}};
    using protocol::ApiKey;
    options.apis = network::ApiTable{{ApiKey::ApiVersions, 0, 4}, {ApiKey::Fetch, 4, 18}, {ApiKey::ListOffsets, 1, 11}};
    server_ = std::make_unique<network::Server>(*leader_, std::move(options), *this);
    EXPECT_TRUE(server_->start());
    fetcher_ = std::make_shared<Fetcher>(
        *process_, process_->createExecutor({.name = "fetcher", .threads = 1}),
        FetcherOptions{.self = NodeId(1),
                       .leader = NodeId(2),
                       .endpoint = kLeaderEndpoint,
                       .brokerEpoch = [] { return BrokerEpoch(55); },
                       .appended = [this](Partition&, bool moved) { moved_ += moved ? 1 : 0; },
                       .failed = [](Partition&, const Error& error) { ADD_FAILURE() << error.message; },
                       .quota = &quota_});
  }
  ~FetcherTest() override {
    for (const auto& process : {process_, leader_}) {
      process->kill("the test is over");
      process->awaitStopped();
    }
    parked_.clear();
    fetcher_.reset();
    server_.reset();
  }

  void handle(network::RequestPtr request) override {
    if (request->apiKey() == protocol::ApiKey::ListOffsets) {
      const auto asked = request->decode<protocol::ListOffsetsRequest>();
      const int64_t timestamp = asked->topics.at(0).partitions.at(0).timestamp;
      protocol::ListOffsetsResponse response;
      auto& topic = response.topics.emplace_back();
      topic.name = asked->topics[0].name;
      topic.partitions.push_back(
          {.partitionIndex = 0, .offset = timestamp == log::kLatestTimestamp ? leaderEnd_ : leaderStart_});
      request->respond(response);
      return;
    }
    fetches_.push_back(protocol::FetchRequest(*request->decode<protocol::FetchRequest>()));
    if (answers_.empty()) {
      parked_.push_back(std::move(request));
      return;
    }
    protocol::FetchResponse response = std::move(answers_.front());
    answers_.pop_front();
    request->respond(response);
  }

  void follow(int epoch = 3) {
    metadata::PartitionRegistration registered;
    registered.replicas = {NodeId(1), NodeId(2)};
    registered.directories.resize(2);
    registered.isr = registered.replicas;
    registered.leader = NodeId(2);
    registered.leaderEpoch = LeaderEpoch(epoch);
    registered.partitionEpoch = PartitionEpoch(epoch);
    partition_->makeFollower(registered, 1);
    fetcher_->add(partition_, LeaderEpoch(epoch));
  }
  /// What the leader says next.
  void say(Partial data, ErrorCode whole = ErrorCode::None, int32_t session = 9) {
    protocol::FetchResponse response{.errorCode = static_cast<int16_t>(whole), .sessionId = session};
    auto& topic = response.responses.emplace_back();
    topic.topicId = kId.topicId;
    topic.partitions.push_back(std::move(data));
    answers_.push_back(std::move(response));
  }
  static Partial records(int64_t base, int count, int epoch, int64_t highWatermark) {
    Partial data{.highWatermark = highWatermark};
    data.records =
        protocol::Records(makeBatch({.count = count, .baseOffset = Offset(base), .epoch = LeaderEpoch(epoch)}));
    return data;
  }
  bool awaitFetches(size_t count) {
    return world_->runUntil([&] { return fetches_.size() >= count; }, seconds(30));
  }
  const protocol::FetchRequest::FetchPartition& asked(size_t fetch) {
    return fetches_.at(fetch).topics.at(0).partitions.at(0);
  }
  int64_t end() { return log_->logEndOffset().value(); }

  events::Recorder recorder_{process_->clock(), NodeId(1)};
  std::shared_ptr<const PartitionEnvironment> environment_;
  std::shared_ptr<Partition> partition_;
  std::shared_ptr<platform::SimulatedProcess> leader_;
  std::unique_ptr<network::Server> server_;
  ReplicationQuota quota_{process_->clock()};
  std::shared_ptr<Fetcher> fetcher_;
  std::deque<protocol::FetchResponse> answers_;
  std::vector<protocol::FetchRequest> fetches_;
  std::vector<network::RequestPtr> parked_;
  int64_t leaderStart_ = 0;
  int64_t leaderEnd_ = 0;
  int moved_ = 0;
};

TEST_F(FetcherTest, SaysWhoItIsAndCopiesWhatComes) {
  say(records(0, 2, 3, 1));
  follow();
  ASSERT_TRUE(awaitFetches(2));
  EXPECT_EQ(fetches_[0].replicaState.replicaId, 1);
  EXPECT_EQ(fetches_[0].replicaState.replicaEpoch, 55);
  EXPECT_EQ(fetches_[0].sessionEpoch, 0);
  EXPECT_EQ(asked(0).fetchOffset, 0);
  EXPECT_EQ(asked(0).currentLeaderEpoch, 3);
  EXPECT_EQ(end(), 2);
  EXPECT_EQ(log_->highWatermark(), Offset(1));
  EXPECT_EQ(moved_, 1);
  EXPECT_EQ(fetches_[1].sessionId, 9) << "the session goes on";
  EXPECT_EQ(asked(1).fetchOffset, 2);
  EXPECT_EQ(asked(1).lastFetchedEpoch, 3);
}

TEST_F(FetcherTest, TruncatesWhereTheLogsPartAndThenGoesOn) {
  appendAsFollower({.count = 5, .baseOffset = Offset(0), .epoch = LeaderEpoch(1)});
  Partial diverging;
  diverging.divergingEpoch = {.epoch = 1, .endOffset = 3};
  say(diverging);
  say(records(0, 3, 1, 0));
  recorder_.want(events::Kinds::all());
  follow();
  ASSERT_TRUE(awaitFetches(3));
  // It is told before anything is given up.
  std::vector<events::Event> told;
  recorder_.drain(told);
  std::erase_if(told, [](const events::Event& event) {
    return !std::holds_alternative<events::LogDiverged>(event.payload) &&
           !std::holds_alternative<events::LogTruncated>(event.payload);
  });
  ASSERT_FALSE(told.empty());
  const auto* parted = std::get_if<events::LogDiverged>(&told[0].payload);
  ASSERT_NE(parted, nullptr);
  EXPECT_EQ(parted->leader, NodeId(2));
  EXPECT_EQ(parted->inEpoch, LeaderEpoch(1));
  EXPECT_EQ(parted->leaderEnd, Offset(3));
  EXPECT_EQ(parted->from, Offset(3));
  EXPECT_EQ(parted->logEnd, Offset(5));
  EXPECT_EQ(asked(0).fetchOffset, 5);
  EXPECT_EQ(asked(0).lastFetchedEpoch, 1);
  EXPECT_EQ(asked(1).fetchOffset, 0) << "a batch goes as a whole";
  EXPECT_EQ(end(), 3);
}

TEST_F(FetcherTest, CutsAtTheEndOfAnEpochThatItKnowsItself) {
  appendAsFollower({.count = 2, .baseOffset = Offset(0), .epoch = LeaderEpoch(1)});
  appendAsFollower({.count = 2, .baseOffset = Offset(2), .epoch = LeaderEpoch(2)});
  Partial diverging;
  diverging.divergingEpoch = {.epoch = 1, .endOffset = 9};
  say(diverging);
  follow();
  ASSERT_TRUE(awaitFetches(2));
  EXPECT_EQ(end(), 2);
  EXPECT_EQ(asked(1).fetchOffset, 2);
  EXPECT_EQ(asked(1).lastFetchedEpoch, 1);
}

TEST_F(FetcherTest, StartsAnewWhereTheLeadersLogBeginsIfItIsBehindThat) {
  leaderStart_ = 50;
  leaderEnd_ = 60;
  say({.errorCode = static_cast<int16_t>(ErrorCode::OffsetOutOfRange)});
  follow();
  ASSERT_TRUE(awaitFetches(2));
  EXPECT_EQ(log_->logStartOffset(), Offset(50));
  EXPECT_EQ(asked(1).fetchOffset, 50);
}

TEST_F(FetcherTest, CutsWhatTheLeaderDoesNotHave) {
  for (int i = 0; i < 5; ++i) appendAsFollower({.count = 1, .baseOffset = Offset(i), .epoch = LeaderEpoch(1)});
  leaderEnd_ = 2;
  say({.errorCode = static_cast<int16_t>(ErrorCode::OffsetOutOfRange)});
  follow();
  ASSERT_TRUE(awaitFetches(2));
  EXPECT_EQ(end(), 2);
  EXPECT_EQ(asked(1).fetchOffset, 2);
}

TEST_F(FetcherTest, AsksSoonAfterAnErrorAndEverLaterWhileItLasts) {
  constexpr int kErrors = 8;
  for (int i = 0; i < kErrors; ++i) say({.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicId)});
  follow();
  platform::Duration before{};
  for (int i = 1; i <= kErrors; ++i) {
    ASSERT_TRUE(awaitFetches(static_cast<size_t>(i)));
    const auto refused = world_->now();
    ASSERT_TRUE(awaitFetches(static_cast<size_t>(i) + 1));
    const platform::Duration waited = world_->now() - refused;
    EXPECT_GE(waited, std::min<platform::Duration>(milliseconds(31) * (1 << (i - 1)), milliseconds(990))) << i;
    EXPECT_LT(waited, std::min<platform::Duration>(milliseconds(40) * (1 << (i - 1)), milliseconds(1100)))
        << i << ": replica.fetch.backoff.ms";
    before = waited;
  }
  EXPECT_GE(before, milliseconds(990));
}

TEST_F(FetcherTest, AfterASuccessTheWaitsBeginAnew) {
  for (int i = 0; i < 4; ++i) say({.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicId)});
  say(records(0, 2, 3, 1));
  say({.errorCode = static_cast<int16_t>(ErrorCode::NotLeaderOrFollower)});
  follow();
  ASSERT_TRUE(awaitFetches(6));
  const auto refused = world_->now();
  ASSERT_TRUE(awaitFetches(7));
  EXPECT_LT(world_->now() - refused, milliseconds(100));
}

TEST_F(FetcherTest, BeginsALostSessionAnewAtOnce) {
  say(records(0, 1, 3, 0));
  say({}, ErrorCode::FetchSessionIdNotFound, 0);
  follow();
  const auto begun = world_->now();
  ASSERT_TRUE(awaitFetches(3));
  EXPECT_EQ(fetches_[2].sessionId, 0);
  EXPECT_EQ(fetches_[2].sessionEpoch, 0);
  EXPECT_EQ(asked(2).fetchOffset, 1);
  EXPECT_LT(world_->now() - begun, milliseconds(500));
}

TEST_F(FetcherTest, ADamagedBatchIsNotAppendedAndAskedForAgain) {
  Partial damaged = records(0, 1, 3, 0);
  ByteVector bytes = *damaged.records.bytes();
  bytes.back() ^= 1;
  damaged.records = protocol::Records(std::move(bytes));
  say(std::move(damaged));
  say(records(0, 1, 3, 0));
  follow();
  ASSERT_TRUE(awaitFetches(3));
  EXPECT_TRUE(fetches_[1].topics.empty()) << "as before, so the session need not say it";
  EXPECT_EQ(end(), 1);
}

TEST_F(FetcherTest, AnAnswerToAnEarlierEpochIsNotAppended) {
  follow(3);
  ASSERT_TRUE(awaitFetches(1));
  follow(4);
  world_->runFor(milliseconds(100));
  say(records(0, 1, 3, 0));
  protocol::FetchResponse late = std::move(answers_.front());
  answers_.pop_front();
  parked_.front()->respond(late);
  ASSERT_TRUE(awaitFetches(2));
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(asked(1).currentLeaderEpoch, 4);
}

TEST_F(FetcherTest, AReplicaThatLagsWaitsForTheQuota) {
  partition_->setThrottled(false, true);
  quota_.setLimit(1);
  say(records(0, 2, 3, 10));
  say(records(2, 8, 3, 10));
  say({.highWatermark = 10});
  const auto from = world_->now();
  follow();
  ASSERT_TRUE(awaitFetches(2));
  // So much for a byte a second, but not for ever: the rate is that of eleven seconds.
  EXPECT_GE(world_->now() - from, seconds(10));
  ASSERT_TRUE(awaitFetches(3));
  EXPECT_EQ(end(), 10);
  EXPECT_LT(world_->now() - from, seconds(13)) << "in sync it need not wait";
}

TEST_F(FetcherTest, WhatIsRemovedOrStoppedIsNotFetchedAgain) {
  follow();
  ASSERT_TRUE(awaitFetches(1));
  fetcher_->remove(kId);
  say(records(0, 1, 3, 0));
  protocol::FetchResponse late = std::move(answers_.front());
  answers_.pop_front();
  parked_.front()->respond(late);
  world_->runFor(seconds(5));
  EXPECT_EQ(fetches_.size(), 1u);
  EXPECT_EQ(end(), 0);
  fetcher_->stop();
  follow(4);
  world_->runFor(seconds(5));
  EXPECT_EQ(fetches_.size(), 1u);
}

}  // namespace
}  // namespace tidemark::replication
