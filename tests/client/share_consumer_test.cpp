#include "client/share_consumer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "client/client_fixture.h"
#include "client/held_requests.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"
#include "records/batch_builder.h"

namespace tidemark::test {
namespace {

using namespace std::chrono_literals;
using client::AcknowledgeType;
using protocol::ApiKey;
using protocol::ShareAcknowledgeRequest;
using protocol::ShareAcknowledgeResponse;
using protocol::ShareFetchRequest;
using protocol::ShareFetchResponse;
using protocol::ShareGroupHeartbeatRequest;
using protocol::ShareGroupHeartbeatResponse;

/// "0-2:1 5-5:3", what is said of offsets of a request's first partition.
template <class Request>
std::string acknowledgedIn(const Request& request) {
  std::string text;
  for (const auto& topic : request.topics)
    for (const auto& partition : topic.partitions)
      for (const auto& batch : partition.acknowledgementBatches)
        text += fmt::format("{}{}-{}:{}", text.empty() ? "" : " ", batch.firstOffset, batch.lastOffset,
                            batch.acknowledgeTypes.at(0));
  return text;
}

/// A member whose coordinator and leaders are the test: heartbeats are answered as they come, all else by hand.
class ShareConsumerTest : public ClientTest {
 protected:
  void SetUp() override {
    cluster.createTopic("t", 1);
    cluster.takes = [this](network::RequestPtr& request) {
      if (request->apiKey() == ApiKey::ShareGroupHeartbeat) return answerBeat(std::move(request));
      if (request->apiKey() == ApiKey::ShareFetch || request->apiKey() == ApiKey::ShareAcknowledge)
        asked_.take(request);
    };
    start({.retryBackoff = 5ms});
    run([&] {
      consumer_ = std::make_unique<client::ShareConsumer>(
          *client, client::ShareOptions{.groupId = "g", .topics = {"t"}},
          client::ShareConsumer::Handlers{
              .onRecord =
                  [this](const client::AcquiredRecord& record) {
                    change([&] {
                      given_.push_back(record.delivery);
                      values_.push_back(fmt::format("{}:{}x{}", record.delivery.offset, asText(*record.record.value),
                                                    record.delivery.count));
                    });
                    if (onRecord_) onRecord_(record.delivery);
                  },
              .onAcknowledged =
                  [this](const client::Acknowledged& told) {
                    change([&] { told_.push_back(fmt::format("{} {}", told.delivery.offset, errorName(told.error))); });
                  },
              .onError = [this](const Error& error) { change([&] { error_ = error.message; }); }});
    });
  }
  void release() override {
    consumer_.reset();
    asked_.clear();
  }

  void answerBeat(network::RequestPtr request) {
    const auto asked = request->decode<ShareGroupHeartbeatRequest>();
    if (!asked) return request->close();
    ids_.push_back(asked->memberId.str());
    epochs_.push_back(asked->memberEpoch);
    ShareGroupHeartbeatResponse response;
    response.errorCode = static_cast<int16_t>(std::exchange(beatError_, ErrorCode::None));
    response.memberEpoch = asked->memberEpoch < 0 ? -1 : 7;
    response.heartbeatIntervalMs = 10;
    if (asked->memberEpoch == 0) {
      auto& topic = response.assignment.emplace().topicPartitions.emplace_back();
      topic.topicId = cluster.topics.at("t").id;
      topic.partitions = {0};
    }
    request->respond(response);
  }

  template <class Response>
  auto& partitionOf(Response& response) {
    auto& topic = response.responses.emplace_back();
    topic.topicId = cluster.topics.at("t").id;
    return topic.partitions.emplace_back();
  }
  struct Range {
    int64_t first;
    int64_t last;
    int16_t count = 1;
  };
  /// Answers it with one batch of records from `base` on, and what of it is acquired.
  void give(size_t number, int64_t base, const std::vector<std::string>& values, const std::vector<Range>& acquired,
            ErrorCode acknowledged = ErrorCode::None) {
    ShareFetchResponse response;
    auto& partition = partitionOf(response);
    partition.acknowledgeErrorCode = static_cast<int16_t>(acknowledged);
    if (!values.empty()) {
      records::BatchBuilder builder({.baseOffset = Offset(base), .leaderEpoch = LeaderEpoch(0)});
      for (const auto& value : values) builder.append(1000, std::nullopt, asBytes(value));
      partition.records = protocol::Records(builder.build());
    }
    for (const Range& range : acquired)
      partition.acquiredRecords.push_back(
          {.firstOffset = range.first, .lastOffset = range.last, .deliveryCount = range.count});
    asked_.answer(number, response);
  }
  void refuse(size_t number, ErrorCode error) {
    ShareFetchResponse response;
    response.errorCode = static_cast<int16_t>(error);
    asked_.answer(number, response);
  }
  void acknowledge(size_t given, AcknowledgeType type) {
    run([&] { consumer_->acknowledge(given_.at(given), type); });
  }

  std::unique_ptr<client::ShareConsumer> consumer_;
  std::function<void(const client::Delivery&)> onRecord_;
  std::vector<client::Delivery> given_;
  std::vector<std::string> values_;
  std::vector<std::string> told_;
  std::string error_;
  ErrorCode beatError_ = ErrorCode::None;
  std::vector<std::string> ids_;
  std::vector<int32_t> epochs_;
  /// What leaders are asked.
  HeldRequests asked_{*stage};
};

TIDEMARK_ON_EACH_PLATFORM(ShareConsumerTest);

TEST_P(ShareConsumerTest, JoinsUnderAnIdOfItsOwnAndAgainOnceItIsFenced) {
  // It knows the topic's name then. Heartbeats may come before, as another broker is asked for the name.
  ASSERT_TRUE(asked_.reach(1));
  ASSERT_TRUE(await([&] { return epochs_.size() >= 2; }));
  change([&] { beatError_ = ErrorCode::FencedMemberEpoch; });
  ASSERT_TRUE(await([&] { return std::count(epochs_.begin(), epochs_.end(), 0) == 2; }));
  change([&] { beatError_ = ErrorCode::UnknownMemberId; });
  ASSERT_TRUE(await([&] { return std::count(epochs_.begin(), epochs_.end(), 0) == 3 && epochs_.back() == 7; }));
  run([&] {
    EXPECT_EQ(consumer_->epoch(), 7);
    EXPECT_EQ(consumer_->assignment(), (std::vector<TopicPartition>{{"t", PartitionIndex(0)}}));
  });
  change([&] {
    EXPECT_EQ(epochs_[0], 0);
    EXPECT_EQ(epochs_[1], 7);
    for (const std::string& id : ids_) EXPECT_EQ(id, ids_[0]);
    EXPECT_EQ(error_, "");
  });
}

TEST_P(ShareConsumerTest, GivesWhatIsAcquiredAndSaysWhatBecameOfItWithTheNextFetch) {
  onRecord_ = [this](const client::Delivery& delivery) {
    if (delivery.offset != Offset(12)) consumer_->acknowledge(delivery, AcknowledgeType::Accept);
  };
  const auto first = asked_.read<ShareFetchRequest>(1);
  EXPECT_EQ(first.shareSessionEpoch, 0);
  ASSERT_EQ(first.topics.size(), 1u);
  // Offset 11 is somebody else's.
  give(1, 10, {"a", "b", "c"}, {{10, 10}, {12, 12, 3}});
  const auto second = asked_.read<ShareFetchRequest>(2);
  EXPECT_EQ(second.shareSessionEpoch, 1);
  EXPECT_EQ(acknowledgedIn(second), "10-10:1");
  give(2, 0, {}, {});
  const auto third = asked_.read<ShareFetchRequest>(3);
  EXPECT_EQ(third.shareSessionEpoch, 2);
  EXPECT_TRUE(third.topics.empty()) << "nothing has changed";
  acknowledge(1, AcknowledgeType::Release);
  give(3, 0, {}, {});
  EXPECT_EQ(acknowledgedIn(asked_.read<ShareFetchRequest>(4)), "12-12:2");
  give(4, 0, {}, {}, ErrorCode::InvalidRecordState);
  ASSERT_TRUE(await([&] { return told_.size() == 2; }));
  EXPECT_EQ(values_, (std::vector<std::string>{"10:ax1", "12:cx3"}));
  EXPECT_EQ(told_, (std::vector<std::string>{"10 NONE", "12 INVALID_RECORD_STATE"}));
}

TEST_P(ShareConsumerTest, SaysItselfWhereThereIsNoRecord) {
  onRecord_ = [this](const client::Delivery& delivery) { consumer_->acknowledge(delivery, AcknowledgeType::Accept); };
  give(1, 2, {"a", "b"}, {{0, 5}});
  EXPECT_EQ(acknowledgedIn(asked_.read<ShareFetchRequest>(2)), "0-1:0 2-3:1 4-5:0");
  give(2, 0, {}, {});
  ASSERT_TRUE(await([&] { return told_.size() == 2; })) << "of its own words nothing is told";
}

TEST_P(ShareConsumerTest, AcknowledgesAloneIfItIsToldTo) {
  give(1, 0, {"a", "b"}, {{0, 1}});
  ASSERT_TRUE(await([&] { return given_.size() == 2 && asked_.count() == 2; }));
  acknowledge(0, AcknowledgeType::Accept);
  acknowledge(1, AcknowledgeType::Reject);
  run([&] { consumer_->commit(); });
  give(2, 0, {}, {});
  const auto alone = asked_.read<ShareAcknowledgeRequest>(3);
  EXPECT_EQ(alone.shareSessionEpoch, 2);
  EXPECT_EQ(acknowledgedIn(alone), "0-0:1 1-1:3");
  ShareAcknowledgeResponse response;
  partitionOf(response);
  asked_.answer(3, response);
  EXPECT_EQ(asked_.read<ShareFetchRequest>(4).shareSessionEpoch, 3) << "of the same session";
  EXPECT_EQ(told_, (std::vector<std::string>{"0 NONE", "1 NONE"}));
}

TEST_P(ShareConsumerTest, BeginsASessionAnewThatTheLeaderHasForgotten) {
  size_t number = 1;
  for (const ErrorCode error : {ErrorCode::ShareSessionNotFound, ErrorCode::InvalidShareSessionEpoch}) {
    const size_t before = told_.size();
    EXPECT_EQ(asked_.read<ShareFetchRequest>(number).shareSessionEpoch, 0);
    give(number, 0, {"a", "b"}, {{0, 1}});
    ASSERT_TRUE(await([&] { return asked_.count() == number + 1; }));
    acknowledge(given_.size() - 2, AcknowledgeType::Accept);
    refuse(number + 1, error);
    const auto again = asked_.read<ShareFetchRequest>(number + 2);
    EXPECT_EQ(again.shareSessionEpoch, 0);
    EXPECT_EQ(again.topics.size(), 1u);
    EXPECT_EQ(acknowledgedIn(again), "") << "the first of a session acknowledges nothing";
    acknowledge(given_.size() - 1, AcknowledgeType::Accept);
    ASSERT_TRUE(await([&] { return told_.size() == before + 2; }));
    EXPECT_EQ(told_[before], "0 SHARE_SESSION_NOT_FOUND");
    EXPECT_EQ(told_[before + 1], "1 SHARE_SESSION_NOT_FOUND");
    number += 2;
  }
}

TEST_P(ShareConsumerTest, GoesWithTheLeaderAndForgetsWhatIsNoLongerThere) {
  give(1, 0, {"a"}, {{0, 0}});
  ASSERT_TRUE(await([&] { return asked_.count() == 2; }));
  change([&] { cluster.elect("t", 0, cluster.at("t", 0).leader.value() == 1 ? 2 : 1); });
  ShareFetchResponse moved;
  partitionOf(moved).errorCode = static_cast<int16_t>(ErrorCode::NotLeaderOrFollower);
  asked_.answer(2, moved);
  // Two requests, in whatever order: one begins at the new leader, one forgets at the old one. The old one may be asked
  // as before until the new one is known, and what it was asked may arrive after what was said to the new one later.
  bool begins = false;
  bool forgets = false;
  int32_t epochThere = 2;
  for (size_t number = 3; !begins || !forgets; ++number) {
    ASSERT_TRUE(await([&] { return asked_.count() >= number; })) << begins << forgets;
    const auto next = asked_.read<ShareFetchRequest>(number);
    if (next.shareSessionEpoch == 0) {
      EXPECT_EQ(next.topics.size(), 1u);
      EXPECT_FALSE(std::exchange(begins, true));
      continue;
    }
    EXPECT_EQ(next.shareSessionEpoch, epochThere++);
    if (next.forgottenTopicsData.empty()) {
      EXPECT_FALSE(forgets);
      asked_.answer(number, moved);
    } else {
      EXPECT_EQ(next.forgottenTopicsData.size(), 1u);
      EXPECT_FALSE(std::exchange(forgets, true));
    }
  }
}

TEST_P(ShareConsumerTest, EndsItsSessionsWithWhatWasAcknowledgedAndLeaves) {
  give(1, 0, {"a"}, {{0, 0}});
  ASSERT_TRUE(await([&] { return given_.size() == 1 && asked_.count() == 2; }));
  acknowledge(0, AcknowledgeType::Accept);
  bool left = false;
  run([&] { consumer_->leave([&] { change([&] { left = true; }); }); });
  give(2, 0, {}, {});
  const auto last = asked_.read<ShareAcknowledgeRequest>(3);
  EXPECT_EQ(last.shareSessionEpoch, -1);
  EXPECT_EQ(acknowledgedIn(last), "0-0:1");
  ShareAcknowledgeResponse response;
  partitionOf(response);
  asked_.answer(3, response);
  ASSERT_TRUE(await([&] { return left; }));
  EXPECT_EQ(epochs_.back(), -1);
  EXPECT_EQ(told_, (std::vector<std::string>{"0 NONE"}));
}

TEST_P(ShareConsumerTest, IsToldWhatOfItsLastWordsDoesNotCount) {
  give(1, 0, {"a"}, {{0, 0}});
  ASSERT_TRUE(await([&] { return given_.size() == 1 && asked_.count() == 2; }));
  acknowledge(0, AcknowledgeType::Accept);
  run([&] { consumer_->leave([] {}); });
  give(2, 0, {}, {});
  EXPECT_EQ(asked_.read<ShareAcknowledgeRequest>(3).shareSessionEpoch, -1);
  ShareAcknowledgeResponse response;
  partitionOf(response).errorCode = static_cast<int16_t>(ErrorCode::InvalidRecordState);
  asked_.answer(3, response);
  ASSERT_TRUE(await([&] { return !told_.empty(); }));
  EXPECT_EQ(told_, (std::vector<std::string>{"0 INVALID_RECORD_STATE"}));
}

}  // namespace
}  // namespace tidemark::test
