// Which topics and partitions a request names, wherever they stand in its message.
#include <gmock/gmock.h>

#include "faults/named.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/alter_partition_request.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/message.h"
#include "protocol/reflect.h"

namespace tidemark::faults {
namespace {

using protocol::ApiKey;
using protocol::Text;
using testing::ElementsAre;
using testing::IsEmpty;

const Uuid kOrders = *Uuid::parse("4L6g3nShT-eMCtK--X86sw");

/// "orders-0", or "orders--1" for all of it.
template <class Request>
std::vector<std::string> names(ApiKey api, int16_t version, const Request& request) {
  const auto body = protocol::encode(request, version);
  EXPECT_TRUE(body) << body.error().message;
  std::vector<std::string> all;
  for (const TopicPartition& each : namedIn(api, version, body.value_or(ByteVector()), [](const Uuid& id) {
         return id == kOrders ? std::string("orders") : std::string();
       }))
    all.push_back(fmt::format("{}", each));
  return all;
}

TEST(Named, OffsetsOfOneGroupAndOfSeveralByNameAndById) {
  protocol::OffsetFetchRequest one;
  one.groupId = Text("billing");
  one.topics->push_back({.name = Text("orders"), .partitionIndexes = {0, 2}});
  EXPECT_THAT(names(ApiKey::OffsetFetch, 7, one), ElementsAre("orders-0", "orders-2"));
  protocol::OffsetFetchRequest many;
  for (const char* group : {"billing", "shop"}) {
    auto& asked = many.groups.emplace_back();
    asked.groupId = Text(group);
    asked.topics->push_back({.name = Text(group), .topicId = {}, .partitionIndexes = {1}});
  }
  EXPECT_THAT(names(ApiKey::OffsetFetch, 8, many), ElementsAre("billing-1", "shop-1"));
  many.groups.resize(1);
  many.groups[0].topics->assign(1, {.name = {}, .topicId = kOrders, .partitionIndexes = {3}});
  EXPECT_THAT(names(ApiKey::OffsetFetch, 10, many), ElementsAre("orders-3"));
  many.groups[0].topics.reset();
  EXPECT_THAT(names(ApiKey::OffsetFetch, 9, many), IsEmpty()) << "all that there are";
}

TEST(Named, TransactionsAndTheirMarkers) {
  protocol::AddPartitionsToTxnRequest old;
  old.v3AndBelowTopics.push_back({.name = Text("orders"), .partitions = {1}});
  EXPECT_THAT(names(ApiKey::AddPartitionsToTxn, 3, old), ElementsAre("orders-1"));
  protocol::AddPartitionsToTxnRequest batched;
  batched.transactions.emplace_back().topics.push_back({.name = Text("orders"), .partitions = {0, 1}});
  EXPECT_THAT(names(ApiKey::AddPartitionsToTxn, 5, batched), ElementsAre("orders-0", "orders-1"));
  protocol::WriteTxnMarkersRequest markers;
  markers.markers.emplace_back().topics.push_back({.name = Text("orders"), .partitionIndexes = {4}});
  EXPECT_THAT(names(ApiKey::WriteTxnMarkers, 1, markers), ElementsAre("orders-4"));
}

TEST(Named, TopicsByNameAndByIdAlsoWithoutPartitions) {
  protocol::DeleteTopicsRequest byName;
  byName.topicNames = {Text("orders"), Text("payments")};
  EXPECT_THAT(names(ApiKey::DeleteTopics, 5, byName), ElementsAre("orders--1", "payments--1"));
  protocol::DeleteTopicsRequest byId;
  byId.topics.push_back({.name = std::nullopt, .topicId = kOrders});
  EXPECT_THAT(names(ApiKey::DeleteTopics, 6, byId), ElementsAre("orders--1"));
  protocol::CreateTopicsRequest create;
  create.topics.emplace_back().name = Text("orders");
  EXPECT_THAT(names(ApiKey::CreateTopics, 7, create), ElementsAre("orders--1"));
  protocol::AlterPartitionRequest alter;
  alter.topics.emplace_back().topicId = kOrders;
  alter.topics[0].partitions.emplace_back().partitionIndex = 2;
  EXPECT_THAT(names(ApiKey::AlterPartition, 3, alter), ElementsAre("orders-2"));
  protocol::ProduceRequest produce;
  produce.topicData.emplace_back().name = Text("orders");
  produce.topicData[0].partitionData.emplace_back().index = 5;
  EXPECT_THAT(names(ApiKey::Produce, 9, produce), ElementsAre("orders-5"));
}

TEST(Named, WhatMembersOfGroupsSubscribeAndOwn) {
  protocol::ConsumerGroupHeartbeatRequest consumer;
  consumer.subscribedTopicNames = std::vector{Text("payments")};
  consumer.topicPartitions.emplace().push_back({.topicId = kOrders, .partitions = {0}});
  EXPECT_THAT(names(ApiKey::ConsumerGroupHeartbeat, 0, consumer), ElementsAre("payments--1", "orders-0"));
  protocol::StreamsGroupHeartbeatRequest streams;
  auto& part = streams.topology.emplace().subtopologies.emplace_back();
  part.sourceTopics = {Text("orders")};
  part.stateChangelogTopics.emplace_back().name = Text("counts");
  // Counts and task numbers are no partitions of these.
  part.stateChangelogTopics[0].partitions = 7;
  EXPECT_THAT(names(ApiKey::StreamsGroupHeartbeat, 0, streams), ElementsAre("orders--1", "counts--1"));
}

TEST(Named, AFetchNamesWhatItAsksForAndNotWhatItForgets) {
  protocol::ShareFetchRequest share;
  share.topics.emplace_back().topicId = kOrders;
  share.topics[0].partitions.emplace_back().partitionIndex = 1;
  share.forgottenTopicsData.push_back({.topicId = kOrders, .partitions = {9}});
  EXPECT_THAT(names(ApiKey::ShareFetch, 1, share), ElementsAre("orders-1"));
  protocol::FetchRequest fetch;
  fetch.forgottenTopicsData.push_back({.topic = {}, .topicId = kOrders, .partitions = {9}});
  EXPECT_THAT(names(ApiKey::Fetch, 13, fetch), IsEmpty());
}

TEST(Named, OfResourcesOnlyTopics) {
  protocol::DescribeConfigsRequest configs;
  configs.resources.push_back({.resourceType = 4, .resourceName = Text("1"), .configurationKeys = {}});
  configs.resources.push_back({.resourceType = 2, .resourceName = Text("orders"), .configurationKeys = {}});
  EXPECT_THAT(names(ApiKey::DescribeConfigs, 4, configs), ElementsAre("orders--1"));
}

TEST(Named, WhatDoesNotDecodeNamesNothing) {
  EXPECT_THAT(namedIn(ApiKey::Fetch, 13, asBytes("x"), {}), IsEmpty());
  EXPECT_THAT(namedIn(ApiKey::Fetch, 99, {}, {}), IsEmpty());
}

TEST(Named, AnApiSaysWhetherItCanNameATopicOrAPartition) {
  EXPECT_TRUE(namesPartitions("Fetch"));
  EXPECT_TRUE(namesPartitions("OffsetFetch"));
  EXPECT_TRUE(namesPartitions("Vote"));
  EXPECT_TRUE(namesTopics("Metadata"));
  EXPECT_FALSE(namesPartitions("Metadata"));
  EXPECT_TRUE(namesTopics("DescribeTopicPartitions"));
  EXPECT_FALSE(namesPartitions("DescribeTopicPartitions")) << "its cursor is no partition that it asks for";
  EXPECT_FALSE(namesTopics("Heartbeat"));
  EXPECT_FALSE(namesTopics("FindCoordinator"));
  EXPECT_FALSE(namesTopics("nothing"));
  EXPECT_FALSE(namesTopics("StreamsGroupDescribe"));
}

}  // namespace
}  // namespace tidemark::faults
