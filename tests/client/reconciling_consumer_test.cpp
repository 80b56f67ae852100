#include "client/reconciling_consumer.h"

#include <gtest/gtest.h>

#include <vector>

#include "client/client_fixture.h"
#include "client/held_requests.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"

namespace tidemark::test {
namespace {

using namespace std::chrono_literals;
using protocol::ApiKey;

/// A member whose coordinator is the test: it answers heartbeats and what is asked of committed offsets.
class ReconcilingConsumerTest : public ClientTest {
 protected:
  void SetUp() override {
    cluster.createTopic("t", 2);
    cluster.takes = [this](network::RequestPtr& request) {
      if (request->apiKey() == ApiKey::ConsumerGroupHeartbeat) beats_.take(request);
      if (request != nullptr && request->apiKey() == ApiKey::OffsetFetch) fetches_.take(request);
    };
    start({.retryBackoff = 5ms});
    // Else heartbeats that name nothing leave until another broker has said what the topic is called.
    bool known = false;
    run([&] { client->refresh({"t"}, [&](const Result<void>& done) { change([&] { known = done.has_value(); }); }); });
    ASSERT_TRUE(await([&] { return known; }));
    run([&] {
      consumer_ = std::make_unique<client::ReconcilingConsumer>(
          *client, client::ReconcilingOptions{.groupId = "g", .instanceId = {}, .topics = {"t"}},
          [](const client::ConsumedRecord&) {},
          [this](int32_t, const std::vector<TopicPartition>& owned) { change([&] { owned_ = owned; }); });
    });
  }
  void release() override {
    consumer_.reset();
    beats_.clear();
    fetches_.clear();
  }

  /// Waits for heartbeat `number`, the first being 1; which partitions it names.
  std::vector<int32_t> beat(size_t number) {
    const auto asked = beats_.read<protocol::ConsumerGroupHeartbeatRequest>(number);
    EXPECT_TRUE(asked.topicPartitions);
    std::vector<int32_t> named;
    if (!asked.topicPartitions) return named;
    for (const auto& topic : *asked.topicPartitions)
      named.insert(named.end(), topic.partitions.begin(), topic.partitions.end());
    return named;
  }
  void give(size_t number, int32_t epoch, std::vector<int32_t> partitions) {
    protocol::ConsumerGroupHeartbeatResponse response;
    response.memberEpoch = epoch;
    response.heartbeatIntervalMs = 10;
    auto& topic = response.assignment.emplace().topicPartitions.emplace_back();
    topic.topicId = cluster.topics.at("t").id;
    topic.partitions = std::move(partitions);
    beats_.answer(number, response);
  }
  /// Nothing is committed.
  void answerFetch(size_t number) {
    const auto asked = fetches_.read<protocol::OffsetFetchRequest>(number);
    ASSERT_EQ(asked.groups.size(), 1u);
    protocol::OffsetFetchResponse response;
    auto& group = response.groups.emplace_back();
    group.groupId = asked.groups[0].groupId;
    for (const auto& topic : *asked.groups[0].topics) {
      group.topics.emplace_back().name = topic.name;
      for (const int32_t index : topic.partitionIndexes) {
        auto& partition = group.topics.back().partitions.emplace_back();
        partition.partitionIndex = index;
        partition.committedOffset = -1;
      }
    }
    fetches_.answer(number, response);
  }

  std::unique_ptr<client::ReconcilingConsumer> consumer_;
  std::vector<TopicPartition> owned_;
  HeldRequests beats_{*stage};
  HeldRequests fetches_{*stage};
};

TIDEMARK_ON_EACH_PLATFORM(ReconcilingConsumerTest);

// Simulated time alone lets the next heartbeat leave while the test keeps an answer back.

TEST_P(ReconcilingConsumerTest, NamesWhatItIsAboutToTakeAsOwned) {
  EXPECT_EQ(beat(1), std::vector<int32_t>());
  give(1, 1, {0});
  ASSERT_TRUE(await([&] { return fetches_.count() == 1; }));
  stage->pass(1s);
  answerFetch(1);
  // This one left before it began to read. Did it not name the partition, the coordinator would take it for given back
  // and give it to somebody else.
  EXPECT_EQ(beat(2), std::vector<int32_t>{0});
  EXPECT_TRUE(await([&] { return owned_ == std::vector<TopicPartition>{{"t", PartitionIndex(0)}}; }));
}

TEST_P(ReconcilingConsumerTest, SendsNoHeartbeatThatCannotNameWhatTheLastOneGave) {
  beat(1);
  give(1, 1, {0});
  ASSERT_TRUE(await([&] { return fetches_.count() == 1; }));
  stage->pass(1s);
  answerFetch(1);
  beat(2);
  ASSERT_TRUE(await([&] { return owned_.size() == 1; }));
  stage->pass(1s);
  give(2, 1, {0, 1});
  answerFetch(2);
  EXPECT_EQ(beat(3), (std::vector<int32_t>{0, 1}));
}

}  // namespace
}  // namespace tidemark::test
