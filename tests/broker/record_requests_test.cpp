#include <algorithm>
#include <set>

#include "broker/broker_fixture.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "records/batch.h"
#include "records/batch_builder.h"

namespace tidemark::broker {
namespace {

using protocol::FetchRequest;
using protocol::ProduceRequest;

using test::operator+;

class RecordRequests : public BrokerTest {
 protected:
  RecordRequests() { createTopic("orders", 2); }

  ProduceRequest producing(int partition, ByteVector records, int16_t acks = -1) {
    ProduceRequest request{.acks = acks, .timeoutMs = 10000};
    auto& topic = request.topicData.emplace_back();
    topic.name = "orders";
    topic.topicId = topicId("orders");
    topic.partitionData.push_back({.index = partition, .records = protocol::Records(std::move(records))});
    return request;
  }
  protocol::ProduceResponse::PartitionProduceResponse produced(int broker, const ProduceRequest& request,
                                                               int16_t version) {
    const auto answer = ask(broker, request, version);
    EXPECT_EQ(answer.responses.size(), 1u);
    if (version >= 13) {
      EXPECT_EQ(answer.responses.at(0).topicId, request.topicData.at(0).topicId);
    } else {
      EXPECT_EQ(answer.responses.at(0).name, request.topicData.at(0).name.view());
    }
    return answer.responses.at(0).partitionResponses.at(0);
  }
  FetchRequest fetching(int partition, int64_t offset) {
    FetchRequest request{.maxWaitMs = 100, .minBytes = 1, .maxBytes = 1 << 20};
    auto& topic = request.topics.emplace_back();
    topic.topic = "orders";
    topic.topicId = topicId("orders");
    topic.partitions.push_back({.partition = partition, .fetchOffset = offset, .partitionMaxBytes = 1 << 20});
    return request;
  }
  protocol::FetchResponse::PartitionData fetched(int broker, const FetchRequest& request, int16_t version) {
    const auto answer = ask(broker, request, version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    EXPECT_EQ(answer.responses.size(), 1u);
    return answer.responses.at(0).partitions.at(0);
  }
};

TEST_F(RecordRequests, WhatIsRefusedIsNoTraffic) {
  const int leader = leaderOf("orders");
  const int other = otherThan(leader);
  const auto bytesAt = [this](int broker) { return node(broker).broker()->traffic().producedBytes(); };
  const int64_t before = bytesAt(other);
  EXPECT_EQ(code(produced(other, producing(0, batch({"lost"})), 9).errorCode), ErrorCode::NotLeaderOrFollower);
  EXPECT_EQ(bytesAt(other), before);
  const ByteVector kept = batch({"kept"});
  const int64_t at = bytesAt(leader);
  EXPECT_EQ(code(produced(leader, producing(0, kept), 9).errorCode), ErrorCode::None);
  EXPECT_EQ(bytesAt(leader), at + static_cast<int64_t>(kept.size()));
}

TEST_F(RecordRequests, ProduceAppendsInEachVersion) {
  const int leader = leaderOf("orders");
  int64_t next = 0;
  inEachVersion<ProduceRequest>([&](int16_t version) {
    const auto answer = produced(leader, producing(0, batch({"a", "b"})), version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    EXPECT_EQ(answer.baseOffset, next);
    next += 2;
    if (version >= 5) {
      EXPECT_EQ(answer.logStartOffset, 0);
    }
  });
}

TEST_F(RecordRequests, ProduceSaysWhatItRefusesInEachVersion) {
  const int leader = leaderOf("orders");
  inEachVersion<ProduceRequest>([&](int16_t version) {
    EXPECT_EQ(code(produced(leader, producing(0, batch({"a"}), 7), version).errorCode), ErrorCode::InvalidRequiredAcks);
    EXPECT_EQ(code(produced(leader, producing(9, batch({"a"})), version).errorCode),
              ErrorCode::UnknownTopicOrPartition);
    ByteVector damaged = batch({"a"});
    damaged.back() ^= 1;
    EXPECT_EQ(code(produced(leader, producing(0, damaged), version).errorCode), ErrorCode::CorruptMessage);
    const auto elsewhere = produced(otherThan(leader), producing(0, batch({"a"})), version);
    EXPECT_EQ(code(elsewhere.errorCode), ErrorCode::NotLeaderOrFollower);
    if (version >= 10) {
      EXPECT_EQ(elsewhere.currentLeader.leaderId, leader);
    }
    auto unknown = producing(0, batch({"a"}));
    unknown.topicData[0].name = "none";
    unknown.topicData[0].topicId = Uuid({1, 2, 3});
    EXPECT_EQ(code(produced(leader, unknown, version).errorCode),
              version >= 13 ? ErrorCode::UnknownTopicId : ErrorCode::UnknownTopicOrPartition);
  });
  EXPECT_EQ(node(leader).broker()->replicas().find(TopicPartition{"orders", PartitionIndex(0)})->log()->logEndOffset(),
            Offset(0));
}

TEST_F(RecordRequests, ABatchOfNoTransactionalIdIsRefusedSoThatNoReaderWaitsForItsEnd) {
  const int leader = leaderOf("orders");
  records::BatchBuilder builder(
      {.producerId = ProducerId(5), .producerEpoch = ProducerEpoch(0), .baseSequence = 0, .transactional = true});
  builder.append(1'767'225'600'000, std::nullopt, asBytes("x"));
  EXPECT_EQ(code(produced(leader, producing(0, builder.build()), 12).errorCode),
            ErrorCode::TransactionalIdAuthorizationFailed);
  EXPECT_EQ(code(produced(leader, producing(0, batch({"y"})), 12).errorCode), ErrorCode::None);
  const auto data = fetched(leader, fetching(0, 0), 12);
  EXPECT_EQ(data.lastStableOffset, data.highWatermark);
}

// Clients that wait for the answer of a broker that is gone do not know whether to send again.
TEST_F(RecordRequests, ADiskThatFailsIsToldBeforeTheBrokerEndsForIt) {
  for (const platform::FileCall failing : {platform::FileCall::Write, platform::FileCall::Sync}) {
    const bool writes = failing == platform::FileCall::Write;
    const std::string topic = writes ? "written" : "synced";
    const auto created = lab_.perform([&](auto done) {
      lab_.cluster().createTopic(
          {.name = topic, .partitions = 1, .replicationFactor = 3, .configs = {{"flush.messages", "1"}}},
          std::move(done));
    });
    ASSERT_TRUE(created) << created.error().message;
    const int leader = leaderOf(topic);
    const std::string name = "broker-" + std::to_string(leader);
    lab_.world().disk(name).failWhen([failing, topic](platform::FileCall call, const std::string& path) {
      return call == failing && path.contains("/" + topic + "-0/") && path.ends_with(".log");
    });
    auto request = producing(0, batch({"lost"}));
    request.topicData[0].name = topic;
    EXPECT_EQ(code(produced(leader, request, 12).errorCode), ErrorCode::KafkaStorageError) << topic;
    EXPECT_TRUE(lab_.awaitCluster([&](const observe::ClusterSnapshot& snapshot) {
      return std::ranges::any_of(snapshot.brokers, [&](const observe::BrokerSnapshot& broker) {
        return broker.id == NodeId(leader) && broker.state == observe::BrokerState::Killed &&
               broker.diedOf.contains("it cannot go on without the log directory");
      });
    })) << topic;
    lab_.world().disk(name).failWhen({});
    ASSERT_TRUE(lab_.perform([&](auto done) { lab_.cluster().restartBroker(NodeId(leader), std::move(done)); }));
  }
}

TEST_F(RecordRequests, ProduceWithoutAcksIsNeverAnsweredAndClosesWhenItFails) {
  const int leader = leaderOf("orders");
  // The next request on the connection is answered, and only that.
  ByteVector bytes = test::requestBytes(producing(0, batch({"a"}), 0), 9, 1);
  const auto frame = exchange(brokerAt(leader), bytes + test::requestBytes(fetching(0, 0), 12, 2));
  ASSERT_TRUE(frame);
  EXPECT_EQ(readBigEndian<int32_t>(frame->data()), 2);
  EXPECT_FALSE(exchange(brokerAt(otherThan(leader)), test::requestBytes(producing(0, batch({"a"}), 0), 9, 1)));
}

TEST_F(RecordRequests, FetchGivesTheRecordsInEachVersion) {
  produce("orders", 0, {"a", "b"});
  produce("orders", 0, {"c"});
  const int leader = leaderOf("orders");
  inEachVersion<FetchRequest>([&](int16_t version) {
    const auto answer = fetched(leader, fetching(0, 2), version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    EXPECT_EQ(answer.highWatermark, 3);
    const ByteView records = answer.records.view();
    ASSERT_GE(records.size(), records::kBatchHeaderSize);
    EXPECT_EQ(records::BatchHeader::read(records.data()).baseOffset, Offset(2));
    const auto atTheEnd = fetched(leader, fetching(0, 3), version);
    EXPECT_FALSE(atTheEnd.records.isNull()) << "nothing is empty, not null";
    EXPECT_EQ(atTheEnd.records.view().size(), 0u);
  });
}

TEST_F(RecordRequests, FetchSaysWhatItRefusesInEachVersion) {
  const int leader = leaderOf("orders");
  inEachVersion<FetchRequest>([&](int16_t version) {
    EXPECT_EQ(code(fetched(leader, fetching(0, 99), version).errorCode), ErrorCode::OffsetOutOfRange);
    EXPECT_EQ(code(fetched(leader, fetching(9, 0), version).errorCode), ErrorCode::UnknownTopicOrPartition);
    const auto elsewhere = fetched(otherThan(leader), fetching(0, 0), version);
    if (version < 11) {
      EXPECT_EQ(code(elsewhere.errorCode), ErrorCode::NotLeaderOrFollower) << "followers serve who may ask for a rack";
    }
    if (version >= 9) {
      auto newer = fetching(0, 0);
      newer.topics[0].partitions[0].currentLeaderEpoch = 5;
      EXPECT_EQ(code(fetched(leader, newer, version).errorCode), ErrorCode::UnknownLeaderEpoch);
    }
    auto unknown = fetching(0, 0);
    unknown.topics[0].topic = "none";
    unknown.topics[0].topicId = Uuid({1, 2, 3});
    EXPECT_EQ(code(fetched(leader, unknown, version).errorCode),
              version >= 13 ? ErrorCode::UnknownTopicId : ErrorCode::UnknownTopicOrPartition);
  });
}

TEST_F(RecordRequests, FetchKeepsASessionAndRefusesAStrangersOne) {
  produce("orders", 0, {"a"});
  const int leader = leaderOf("orders");
  for (int16_t version : {int16_t{7}, lastVersion<FetchRequest>()}) {
    auto first = fetching(0, 0);
    first.sessionEpoch = 0;
    const int32_t session = ask(leader, first, version).sessionId;
    EXPECT_NE(session, 0);
    // Nothing new to say, nothing new to hear.
    FetchRequest next{.maxWaitMs = 10, .minBytes = 1, .maxBytes = 1 << 20, .sessionId = session, .sessionEpoch = 1};
    auto again = ask(leader, next, version);
    EXPECT_EQ(code(again.errorCode), ErrorCode::None);
    EXPECT_EQ(again.sessionId, session);
    next.sessionEpoch = 7;
    EXPECT_EQ(code(ask(leader, next, version).errorCode), ErrorCode::InvalidFetchSessionEpoch);
    next.sessionId = session + 1;
    EXPECT_EQ(code(ask(leader, next, version).errorCode), ErrorCode::FetchSessionIdNotFound);
  }
}

TEST_F(RecordRequests, InitProducerIdGivesEachProducerAnIdOfItsOwnInEachVersion) {
  std::set<int64_t> given;
  inEachVersion<protocol::InitProducerIdRequest>([&](int16_t version) {
    protocol::InitProducerIdRequest request;
    request.transactionalId = std::nullopt;
    for (int broker = 1; broker <= 3; ++broker) {
      const auto answer = ask(broker, request, version);
      EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
      EXPECT_EQ(answer.producerEpoch, 0);
      EXPECT_TRUE(given.insert(answer.producerId).second) << answer.producerId;
    }
    request.transactionalId = protocol::Text("tx");
    const auto refused = ask(1, request, version);
    EXPECT_EQ(code(refused.errorCode), ErrorCode::InvalidTransactionTimeout) << "it names none";
    EXPECT_EQ(refused.producerId, -1);
  });
}

}  // namespace
}  // namespace tidemark::broker
