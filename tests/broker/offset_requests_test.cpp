#include "broker/broker_fixture.h"
#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/offset_for_leader_epoch_request.h"
#include "protocol/generated/offset_for_leader_epoch_response.h"

namespace tidemark::broker {
namespace {

using protocol::DeleteRecordsRequest;
using protocol::ListOffsetsRequest;
using protocol::OffsetForLeaderEpochRequest;

constexpr int64_t kEarliest = -2;
constexpr int64_t kLatest = -1;
constexpr int64_t kMax = -3;

class OffsetRequests : public BrokerTest {
 protected:
  OffsetRequests() {
    createTopic("orders");
    leader_ = leaderOf("orders");
  }
  static ListOffsetsRequest listing(int64_t timestamp, const std::string& topic = "orders", int partition = 0) {
    ListOffsetsRequest request{.replicaId = -1};
    auto& asked = request.topics.emplace_back();
    asked.name = topic;
    asked.partitions.push_back({.partitionIndex = partition, .timestamp = timestamp});
    return request;
  }
  protocol::ListOffsetsResponse::ListOffsetsPartitionResponse listed(int broker, const ListOffsetsRequest& request,
                                                                     int16_t version) {
    return ask(broker, request, version).topics.at(0).partitions.at(0);
  }

  int leader_ = 0;
};

TEST_F(OffsetRequests, ListOffsetsFindsEndsAndTimesInEachVersion) {
  const int64_t time = 1'767'225'600'000;
  produce("orders", 0, {"a", "b"}, time);
  produce("orders", 0, {"c"}, time + 1000);
  inEachVersion<ListOffsetsRequest>([&](int16_t version) {
    EXPECT_EQ(listed(leader_, listing(kEarliest), version).offset, 0);
    EXPECT_EQ(listed(leader_, listing(kLatest), version).offset, 3);
    const auto byTime = listed(leader_, listing(time + 1), version);
    EXPECT_EQ(byTime.offset, 2);
    EXPECT_EQ(byTime.timestamp, time + 1000);
    const auto after = listed(leader_, listing(time + 2000), version);
    EXPECT_EQ(code(after.errorCode), ErrorCode::None);
    EXPECT_EQ(after.offset, -1);
    EXPECT_EQ(after.timestamp, -1);
    if (version >= 7) {
      EXPECT_EQ(listed(leader_, listing(kMax), version).offset, 2);
    }
  });
}

TEST_F(OffsetRequests, ListOffsetsSaysWhatItRefusesInEachVersion) {
  inEachVersion<ListOffsetsRequest>([&](int16_t version) {
    EXPECT_EQ(code(listed(otherThan(leader_), listing(kLatest), version).errorCode), ErrorCode::NotLeaderOrFollower);
    EXPECT_EQ(code(listed(leader_, listing(kLatest, "none"), version).errorCode), ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(code(listed(leader_, listing(kLatest, "orders", 9), version).errorCode),
              ErrorCode::UnknownTopicOrPartition);
    if (version < 4) return;
    auto newer = listing(kLatest);
    newer.topics[0].partitions[0].currentLeaderEpoch = 9;
    EXPECT_EQ(code(listed(leader_, newer, version).errorCode), ErrorCode::UnknownLeaderEpoch);
  });
}

TEST_F(OffsetRequests, OffsetForLeaderEpochTellsWhereAnEpochEndsInEachVersion) {
  produce("orders", 0, {"a", "b"});
  inEachVersion<OffsetForLeaderEpochRequest>([&](int16_t version) {
    OffsetForLeaderEpochRequest request;
    auto& topic = request.topics.emplace_back();
    topic.topic = "orders";
    topic.partitions.push_back({.partition = 0, .leaderEpoch = 0});
    topic.partitions.push_back({.partition = 0, .leaderEpoch = 9});
    topic.partitions.push_back({.partition = 0, .currentLeaderEpoch = 9, .leaderEpoch = 0});
    topic.partitions.push_back({.partition = 9, .leaderEpoch = 0});
    const auto answer = ask(leader_, request, version).topics.at(0).partitions;
    ASSERT_EQ(answer.size(), 4u);
    EXPECT_EQ(code(answer[0].errorCode), ErrorCode::None);
    EXPECT_EQ(answer[0].endOffset, 2);
    EXPECT_EQ(answer[0].leaderEpoch, 0);
    EXPECT_EQ(answer[1].endOffset, -1) << "an epoch nobody knows";
    EXPECT_EQ(code(answer[2].errorCode), ErrorCode::UnknownLeaderEpoch);
    EXPECT_EQ(code(answer[3].errorCode), ErrorCode::UnknownTopicOrPartition);
    const auto elsewhere = ask(otherThan(leader_), request, version).topics.at(0).partitions.at(0);
    EXPECT_EQ(code(elsewhere.errorCode), ErrorCode::NotLeaderOrFollower);
  });
}

TEST_F(OffsetRequests, DeleteRecordsCutsTheLogInEachVersion) {
  produce("orders", 0, {"a", "b", "c", "d", "e", "f"});
  const auto deleting = [](int64_t offset, int partition = 0) {
    DeleteRecordsRequest request{.timeoutMs = 10000};
    auto& topic = request.topics.emplace_back();
    topic.name = "orders";
    topic.partitions.push_back({.partitionIndex = partition, .offset = offset});
    return request;
  };
  int64_t offset = 0;
  inEachVersion<DeleteRecordsRequest>([&](int16_t version) {
    ++offset;
    const auto answer = ask(leader_, deleting(offset), version).topics.at(0).partitions.at(0);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    EXPECT_EQ(answer.lowWatermark, offset);
    EXPECT_EQ(listed(leader_, listing(kEarliest), 1).offset, offset);
    EXPECT_EQ(code(ask(leader_, deleting(99), version).topics.at(0).partitions.at(0).errorCode),
              ErrorCode::OffsetOutOfRange);
    EXPECT_EQ(code(ask(leader_, deleting(0, 9), version).topics.at(0).partitions.at(0).errorCode),
              ErrorCode::UnknownTopicOrPartition);
    EXPECT_EQ(code(ask(otherThan(leader_), deleting(1), version).topics.at(0).partitions.at(0).errorCode),
              ErrorCode::NotLeaderOrFollower);
  });
  const auto all = ask(leader_, deleting(-1)).topics.at(0).partitions.at(0);
  EXPECT_EQ(all.lowWatermark, 6) << "-1 is the high watermark";
}

}  // namespace
}  // namespace tidemark::broker
