#include "broker/broker_fixture.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"
#include "records/record.h"

namespace tidemark::broker {
namespace {

using protocol::ShareAcknowledgeRequest;
using protocol::ShareFetchRequest;
using protocol::ShareFetchResponse;
using protocol::ShareGroupHeartbeatRequest;
using testing::ElementsAre;
using testing::IsEmpty;

class ShareRequests : public BrokerTest {
 protected:
  ShareRequests() {
    createTopic("orders");
    configure("share.auto.offset.reset", "earliest");
    // A share session ends with its connection.
    keepConnections();
  }

  /// By default the group.
  void configure(const std::string& key, const std::string& value, int8_t type = 32, const std::string& name = "g") {
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resourceType = type;
    resource.resourceName = protocol::Text(name);
    resource.configs.push_back({.name = protocol::Text(key), .configOperation = 0, .value = protocol::Text(value)});
    ASSERT_EQ(code(ask(1, request).responses.at(0).errorCode), ErrorCode::None);
  }
  int find(int8_t type, const std::string& key) {
    for (int tries = 0; tries < 200; ++tries) {
      protocol::FindCoordinatorRequest request{.keyType = type};
      request.coordinatorKeys.push_back(key);
      const auto answer = ask(1, request, 6);
      if (answer.coordinators.at(0).errorCode == 0) return answer.coordinators.at(0).nodeId;
      lab_.world().runFor(std::chrono::milliseconds(200));
    }
    ADD_FAILURE() << "no coordinator for " << key;
    return 1;
  }
  /// Until the member has its partition.
  void join(const std::string& member) {
    const int coordinator = find(0, "g");
    int32_t epoch = 0;
    for (int tries = 0; tries < 100; ++tries) {
      ShareGroupHeartbeatRequest request{.groupId = "g", .memberId = protocol::Text(member), .memberEpoch = epoch};
      request.subscribedTopicNames.emplace().push_back("orders");
      const auto answer = ask(coordinator, request);
      if (answer.errorCode == 0) {
        epoch = answer.memberEpoch;
        if (answer.assignment && !answer.assignment->topicPartitions.empty()) return;
      }
      lab_.world().runFor(std::chrono::milliseconds(500));
    }
    ADD_FAILURE() << "no partition for " << member;
  }
  struct Range {
    int64_t first;
    int64_t last;
    int16_t count;
    friend bool operator==(const Range&, const Range&) = default;
  };
  static std::vector<Range> acquired(const ShareFetchResponse& answer) {
    std::vector<Range> ranges;
    for (const auto& topic : answer.responses)
      for (const auto& partition : topic.partitions)
        for (const auto& range : partition.acquiredRecords)
          ranges.push_back({range.firstOffset, range.lastOffset, range.deliveryCount});
    return ranges;
  }
  ShareFetchRequest fetching(const std::string& member, int32_t epoch) {
    ShareFetchRequest request{.groupId = protocol::Text("g"),
                              .memberId = protocol::Text(member),
                              .shareSessionEpoch = epoch,
                              .maxWaitMs = 500,
                              .minBytes = 1,
                              .maxBytes = 1 << 20,
                              .maxRecords = 500,
                              .batchSize = 500};
    auto& topic = request.topics.emplace_back();
    topic.topicId = topicId("orders");
    topic.partitions.emplace_back().partitionIndex = 0;
    return request;
  }
  ShareFetchResponse fetch(const std::string& member, int32_t epoch) {
    return ask(leaderOf("orders"), fetching(member, epoch));
  }
  ErrorCode acknowledge(const std::string& member, int32_t epoch, int64_t first, int64_t last,
                        std::vector<int8_t> types) {
    ShareAcknowledgeRequest request{
        .groupId = protocol::Text("g"), .memberId = protocol::Text(member), .shareSessionEpoch = epoch};
    auto& topic = request.topics.emplace_back();
    topic.topicId = topicId("orders");
    auto& partition = topic.partitions.emplace_back();
    auto& batch = partition.acknowledgementBatches.emplace_back();
    batch.firstOffset = first;
    batch.lastOffset = last;
    batch.acknowledgeTypes = std::move(types);
    const auto answer = ask(leaderOf("orders"), request);
    if (answer.errorCode != 0) return code(answer.errorCode);
    return code(answer.responses.at(0).partitions.at(0).errorCode);
  }
};

TEST_F(ShareRequests, RecordsAreGivenOnceAndAgainIfTheyAreReleased) {
  join("m1");
  produce("orders", 0, {"a", "b", "c"});
  const ShareFetchResponse first = fetch("m1", 0);
  ASSERT_EQ(code(first.errorCode), ErrorCode::None);
  EXPECT_EQ(first.acquisitionLockTimeoutMs, 30000);
  ASSERT_THAT(acquired(first), ElementsAre(Range{0, 2, 1}));
  std::vector<std::string> values;
  records::BatchCursor cursor(first.responses.at(0).partitions.at(0).records.view());
  while (cursor.next() == records::Step::Next)
    (void)records::forEachRecord(
        cursor.batch(), [&](const records::RecordView& record) { values.emplace_back(asText(*record.value)); });
  EXPECT_THAT(values, ElementsAre("a", "b", "c"));
  EXPECT_EQ(acknowledge("m1", 1, 0, 2, {1, 2, 3}), ErrorCode::None);
  EXPECT_THAT(acquired(fetch("m1", 2)), ElementsAre(Range{1, 1, 2}));
  EXPECT_EQ(acknowledge("m1", 3, 1, 1, {1}), ErrorCode::None);
  EXPECT_EQ(acknowledge("m1", 4, 1, 1, {1}), ErrorCode::None) << "what lies before the start is done";
  EXPECT_EQ(acknowledge("m1", 5, 3, 3, {1}), ErrorCode::InvalidRequest);
  const ShareFetchResponse last = fetch("m1", 6);
  EXPECT_EQ(code(last.errorCode), ErrorCode::None);
  EXPECT_THAT(last.responses, IsEmpty()) << "nothing new";
}

TEST_F(ShareRequests, TwoMembersNeverGetTheSame) {
  join("m1");
  join("m2");
  produce("orders", 0, {"a", "b"});
  EXPECT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 1, 1}));
  EXPECT_THAT(acquired(fetch("m2", 0)), IsEmpty());
  produce("orders", 0, {"c"});
  EXPECT_THAT(acquired(fetch("m2", 1)), ElementsAre(Range{2, 2, 1}));
  EXPECT_EQ(acknowledge("m2", 2, 0, 0, {1}), ErrorCode::InvalidRecordState);
  lab_.world().runFor(std::chrono::seconds(31));
  EXPECT_EQ(acknowledge("m1", 1, 0, 1, {1}), ErrorCode::InvalidRecordState) << "its lock has run out";
  EXPECT_THAT(acquired(fetch("m2", 3)), ElementsAre(Range{0, 2, 2}));
}

TEST_F(ShareRequests, AcknowledgementsMayComeWithTheNextFetchAndTheLastEndsTheSession) {
  join("m1");
  produce("orders", 0, {"a", "b"});
  ASSERT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 1, 1}));
  const auto with = [&](int32_t epoch, int64_t offset, int8_t type) {
    ShareFetchRequest request = fetching("m1", epoch);
    auto& batch = request.topics[0].partitions[0].acknowledgementBatches.emplace_back();
    batch.firstOffset = batch.lastOffset = offset;
    batch.acknowledgeTypes = {type};
    return ask(leaderOf("orders"), request);
  };
  const ShareFetchResponse answer = with(1, 0, 1);
  ASSERT_EQ(answer.responses.size(), 1u);
  EXPECT_EQ(answer.responses[0].partitions.at(0).acknowledgeErrorCode, 0);
  EXPECT_EQ(code(with(-1, 1, 2).errorCode), ErrorCode::None);
  EXPECT_EQ(code(fetch("m1", 2).errorCode), ErrorCode::ShareSessionNotFound);
  EXPECT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{1, 1, 2}));
}

TEST_F(ShareRequests, WhatAMemberHoldsIsForOthersOnceItsConnectionIsLost) {
  join("m1");
  join("m2");
  produce("orders", 0, {"a", "b"});
  ASSERT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 1, 1}));
  EXPECT_THAT(acquired(fetch("m2", 0)), IsEmpty()) << "they are locked";
  closeConnections();
  EXPECT_EQ(code(fetch("m1", 1).errorCode), ErrorCode::ShareSessionNotFound);
  EXPECT_THAT(acquired(fetch("m2", 0)), ElementsAre(Range{0, 1, 1})) << "as if nobody had had them";
}

TEST_F(ShareRequests, ASessionThatBeganAnewDoesNotEndWithItsFormerConnection) {
  join("m1");
  produce("orders", 0, {"a"});
  ASSERT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 0, 1}));
  const auto before = takeConnections();
  ASSERT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 0, 1})) << "it has forgotten what it held";
  for (const auto& connection : before) connection->close();
  lab_.world().runFor(std::chrono::milliseconds(100));
  EXPECT_EQ(acknowledge("m1", 1, 0, 0, {1}), ErrorCode::None);
}

TEST_F(ShareRequests, OutOfTurnAreRefused) {
  join("m1");
  produce("orders", 0, {"a"});
  EXPECT_EQ(code(fetch("m1", 3).errorCode), ErrorCode::ShareSessionNotFound);
  EXPECT_EQ(acknowledge("m1", 0, 0, 0, {1}), ErrorCode::InvalidShareSessionEpoch);
  EXPECT_EQ(code(fetch("m1", 0).errorCode), ErrorCode::None);
  EXPECT_EQ(code(fetch("m1", 2).errorCode), ErrorCode::InvalidShareSessionEpoch);
  ShareFetchRequest nobody = fetching("m1", 1);
  nobody.memberId.reset();
  EXPECT_EQ(code(ask(leaderOf("orders"), nobody).errorCode), ErrorCode::InvalidRequest);
  const ShareFetchResponse elsewhere = ask(otherThan(leaderOf("orders")), fetching("m1", 0));
  ASSERT_EQ(elsewhere.responses.size(), 1u);
  EXPECT_EQ(code(elsewhere.responses[0].partitions.at(0).errorCode), ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(elsewhere.responses[0].partitions[0].currentLeader.leaderId, leaderOf("orders"));
  ASSERT_EQ(elsewhere.nodeEndpoints.size(), 1u);
  ShareFetchRequest unknown = fetching("m2", 0);
  unknown.topics[0].topicId = Uuid({1, 2, 3});
  EXPECT_EQ(code(ask(leaderOf("orders"), unknown).responses.at(0).partitions.at(0).errorCode),
            ErrorCode::UnknownTopicId);
}

TEST_F(ShareRequests, TheNextLeaderGoesOnFromWhatWasAcknowledged) {
  join("m1");
  produce("orders", 0, {"a", "b", "c"});
  ASSERT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 2, 1}));
  ASSERT_EQ(acknowledge("m1", 1, 0, 1, {1, 2}), ErrorCode::None);
  const int before = leaderOf("orders");
  ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().killBroker(NodeId(before), std::move(done)); }));
  ASSERT_TRUE(await([&] { return leaderOf("orders") != before && leaderOf("orders") > 0; }));
  ShareFetchRequest request = fetching("m1", 0);
  std::vector<Range> ranges;
  for (int32_t epoch = 0; ranges.empty() && epoch < 60; ++epoch) {
    request.shareSessionEpoch = epoch;
    ranges = acquired(ask(leaderOf("orders"), request));
  }
  EXPECT_THAT(ranges, ElementsAre(Range{1, 1, 2}, Range{2, 2, 1}));
}

TEST_F(ShareRequests, ABrokerMayDieWhileFetchesWait) {
  join("m1");
  ASSERT_THAT(acquired(fetch("m1", 0)), IsEmpty());
  const int leader = leaderOf("orders");
  const auto killer = lab_.createProcess("killer");
  const auto executor = killer->createExecutor({.name = "killer"});
  bool killed = false;
  const platform::Timer timer = executor->schedule(std::chrono::milliseconds(100), [&] {
    lab_.cluster().killBroker(NodeId(leader), [&](const auto&) { killed = true; });
  });
  ShareFetchRequest waiting = fetching("m1", 0);
  waiting.maxWaitMs = 5000;
  EXPECT_FALSE(exchange(brokerAt(leader), test::requestBytes(waiting, lastVersion<ShareFetchRequest>(), 7)))
      << "there is nobody to answer";
  EXPECT_TRUE(await([&] { return killed; }));
  killer->kill("the test is over");
  killer->awaitStopped();
}

TEST_F(ShareRequests, WhatIsRejectedGoesToTheDeadLetterQueue) {
  createTopic("dlq.orders");
  configure("errors.deadletterqueue.group.enable", "true", 2, "dlq.orders");
  configure("errors.deadletterqueue.topic.name", "dlq.orders");
  configure("errors.deadletterqueue.copy.record.enable", "true");
  join("m1");
  produce("orders", 0, {"a", "b"});
  ASSERT_THAT(acquired(fetch("m1", 0)), ElementsAre(Range{0, 1, 1}));
  EXPECT_EQ(acknowledge("m1", 1, 0, 1, {3, 1}), ErrorCode::None);
  const auto letters = [&] {
    return node(leaderOf("dlq.orders")).broker()->replicas().find({"dlq.orders", PartitionIndex(0)})->log();
  };
  ASSERT_TRUE(await([&] { return letters()->highWatermark() == Offset(1); }));
  const auto bytes = letters()->readBytes(Offset(0), 1 << 20, log::FetchIsolation::HighWatermark);
  records::BatchCursor cursor(*bytes);
  ASSERT_EQ(cursor.next(), records::Step::Next);
  (void)records::forEachRecord(cursor.batch(), [&](const records::RecordView& record) {
    EXPECT_EQ(asText(*record.value), "a");
    EXPECT_EQ(record.headerCount, 6);
  });
  produce("orders", 0, {"c"});
  EXPECT_THAT(acquired(fetch("m1", 2)), ElementsAre(Range{2, 2, 1}));
}

TEST_F(ShareRequests, TheirCoordinatorIsFoundByKey) {
  const std::string key = "g:" + topicId("orders").toString() + ":0";
  const int node = find(2, key);
  EXPECT_GE(node, 1);
  protocol::FindCoordinatorRequest request{.keyType = 2};
  request.coordinatorKeys.push_back("no key");
  EXPECT_EQ(code(ask(1, request, 6).coordinators.at(0).errorCode), ErrorCode::InvalidRequest);
}

}  // namespace
}  // namespace tidemark::broker
