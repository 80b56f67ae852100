#include "client/transactional_producer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "client/client_fixture.h"

namespace tidemark::test {
namespace {

using client::Delivered;
using client::ProducerRecord;
using client::TransactionalProducer;
using protocol::ApiKey;
using testing::ElementsAre;
using namespace std::chrono_literals;

network::FeatureInfo levelOf(int16_t version, int64_t epoch = 10) {
  network::FeatureInfo info;
  if (version > 0) info.finalized.push_back({.name = "transaction.version", .level = version});
  info.finalizedEpoch = epoch;
  return info;
}

class TransactionalProducerTest : public ClientTest {
 protected:
  void release() override { producer.reset(); }

  /// Of a cluster of that transaction.version, with a topic "t".
  void open(int16_t version) {
    cluster.createTopic("t", 2);
    if (!cluster.features) cluster.features = [version](int) { return levelOf(version); };
    start({.retryBackoff = 5ms, .retryBackoffMax = 20ms});
    run([&] {
      producer = std::make_unique<TransactionalProducer>(
          *client, client::TransactionalProducerOptions{.transactionalId = "id", .patience = 5s, .producer = {}});
    });
    EXPECT_EQ(perform([&](auto done) { producer->begin(std::move(done)); }), ErrorCode::None);
  }
  ErrorCode perform(const std::function<void(TransactionalProducer::Done)>& what) {
    std::optional<ErrorCode> told;
    run([&] {
      what([&](const Result<void>& result) { change([&] { told = result ? ErrorCode::None : result.error().code; }); });
    });
    EXPECT_TRUE(await([&] { return told.has_value(); }));
    return told.value_or(ErrorCode::UnknownServerError);
  }
  ErrorCode end(bool commit) {
    return perform([&](auto done) { producer->end(commit, std::move(done)); });
  }
  ErrorCode sendOffsets(const std::string& group) {
    return perform(
        [&](auto done) { producer->sendOffsets(group, {{{"t", PartitionIndex(0)}, Offset(7)}}, std::move(done)); });
  }
  /// A record to each of the partitions, named by it.
  void send(const std::vector<int32_t>& partitions) {
    run([&] {
      for (const int32_t partition : partitions) {
        const std::string value = fmt::format("{}", sent++);
        producer->send(
            {.topic = "t", .partition = partition, .key = {}, .value = ByteVector(value.begin(), value.end())},
            [this](const Result<Delivered>& delivered) {
              change([&] {
                ++settled;
                if (!delivered) errors.push_back(delivered.error().code);
              });
            });
      }
    });
  }
  void allSettle() {
    EXPECT_TRUE(await([&] { return settled == sent; }));
  }
  std::vector<std::string> asked() {
    std::vector<std::string> lines;
    change([&] { lines = std::exchange(cluster.transactions.asked, {}); });
    return lines;
  }
  int16_t epoch() {
    int16_t epoch = -1;
    run([&] { epoch = producer->producerEpoch().value(); });
    return epoch;
  }
  void refuse(ApiKey key, std::vector<ErrorCode> codes) {
    change([&] { cluster.transactions.errors[key].assign(codes.begin(), codes.end()); });
  }

  std::unique_ptr<TransactionalProducer> producer;
  int sent = 0;
  int settled = 0;
  std::vector<ErrorCode> errors;
};

TIDEMARK_ON_EACH_PLATFORM(TransactionalProducerTest);

TEST_P(TransactionalProducerTest, FromVersionTwoOnAProduceAddsItsPartitionAndEachEndRaisesTheEpoch) {
  open(2);
  send({0});
  EXPECT_EQ(end(true), ErrorCode::None);
  EXPECT_EQ(epoch(), 1);
  send({0});
  EXPECT_EQ(sendOffsets("g"), ErrorCode::None);
  EXPECT_EQ(end(false), ErrorCode::None);
  EXPECT_EQ(epoch(), 2);
  const auto lines = asked();
  EXPECT_THAT(lines, testing::Contains("Produce 13 t-0"));
  EXPECT_THAT(lines, testing::Contains("TxnOffsetCommit 5 g"));
  EXPECT_THAT(lines, testing::Contains("EndTxn 5 commit"));
  EXPECT_THAT(lines, testing::Contains("EndTxn 5 abort"));
  EXPECT_THAT(lines, testing::Not(testing::Contains(testing::StartsWith("Add"))));
}

TEST_P(TransactionalProducerTest, BelowVersionTwoPartitionsAreAddedInEachTransactionBeforeAnythingIsSentToThem) {
  open(1);
  EXPECT_THAT(asked(), ElementsAre("InitProducerId"));
  send({0});
  allSettle();
  send({0});
  allSettle();
  EXPECT_THAT(asked(), ElementsAre("AddPartitionsToTxn 3 t-0", "Produce 11 t-0", "Produce 11 t-0"));
  send({1});
  EXPECT_EQ(end(true), ErrorCode::None);
  EXPECT_THAT(asked(), ElementsAre("AddPartitionsToTxn 3 t-1", "Produce 11 t-1", "EndTxn 4 commit"));
  // The numbers go on with the epoch, or they would be out of order.
  send({0, 1});
  allSettle();
  EXPECT_EQ(end(false), ErrorCode::None);
  const auto lines = asked();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines.front(), "AddPartitionsToTxn 3 t-0 t-1");
  EXPECT_EQ(lines.back(), "EndTxn 4 abort");
  EXPECT_EQ(epoch(), 0);
  EXPECT_TRUE(errors.empty());
}

TEST_P(TransactionalProducerTest, BelowVersionTwoAGroupIsAddedBeforeItsOffsets) {
  open(0);
  EXPECT_EQ(sendOffsets("g"), ErrorCode::None);
  EXPECT_EQ(end(true), ErrorCode::None);
  EXPECT_THAT(asked(), ElementsAre("InitProducerId", "AddOffsetsToTxn 4 g", "TxnOffsetCommit 4 g", "EndTxn 4 commit"));
  EXPECT_EQ(epoch(), 0);
}

TEST_P(TransactionalProducerTest, WhatPassesIsAskedAgain) {
  open(1);
  refuse(ApiKey::AddPartitionsToTxn, {ErrorCode::ConcurrentTransactions, ErrorCode::CoordinatorLoadInProgress});
  refuse(ApiKey::AddOffsetsToTxn, {ErrorCode::NotCoordinator});
  refuse(ApiKey::TxnOffsetCommit, {ErrorCode::CoordinatorNotAvailable});
  refuse(ApiKey::EndTxn, {ErrorCode::ConcurrentTransactions, ErrorCode::NotCoordinator});
  send({0});
  EXPECT_EQ(sendOffsets("g"), ErrorCode::None);
  EXPECT_EQ(end(true), ErrorCode::None);
  EXPECT_EQ(epoch(), 0);
  EXPECT_TRUE(errors.empty());
  change([&] {
    EXPECT_EQ(cluster.requests[ApiKey::AddPartitionsToTxn], 3);
    EXPECT_EQ(cluster.requests[ApiKey::AddOffsetsToTxn], 2);
    EXPECT_EQ(cluster.requests[ApiKey::TxnOffsetCommit], 2);
    EXPECT_EQ(cluster.requests[ApiKey::EndTxn], 3);
    EXPECT_EQ(cluster.values("t", 0), std::vector<std::string>{"0"});
  });
}

TEST_P(TransactionalProducerTest, BelowVersionTwoAnAbortOfRecordsOnTheirWayTakesTheNextEpoch) {
  open(1);
  change([&] {
    cluster.mishap = [](int, ApiKey key) { return key == ApiKey::Produce ? Mishap::Silence : Mishap::None; };
  });
  send({0});
  ASSERT_TRUE(await([&] { return cluster.requests[ApiKey::Produce] == 1; }));
  EXPECT_EQ(end(false), ErrorCode::None);
  EXPECT_THAT(asked(),
              ElementsAre("InitProducerId", "AddPartitionsToTxn 3 t-0", "EndTxn 4 abort", "InitProducerId of epoch 0"));
  EXPECT_EQ(epoch(), 1);
  change([&] { cluster.mishap = {}; });
  send({1});
  EXPECT_EQ(end(true), ErrorCode::None);
  EXPECT_THAT(asked(), ElementsAre("AddPartitionsToTxn 3 t-1", "Produce 11 t-1", "EndTxn 4 commit"));
}

TEST_P(TransactionalProducerTest, PartitionsThatMayNotBeAddedFailWhatIsSentToThemAndTheAbortOfNothingSucceeds) {
  open(1);
  refuse(ApiKey::AddPartitionsToTxn, {ErrorCode::TopicAuthorizationFailed});
  send({0, 1});
  allSettle();
  EXPECT_THAT(errors, ElementsAre(ErrorCode::TopicAuthorizationFailed, ErrorCode::TopicAuthorizationFailed));
  EXPECT_EQ(end(true), ErrorCode::TopicAuthorizationFailed);
  EXPECT_EQ(end(false), ErrorCode::None);
  EXPECT_THAT(asked(), ElementsAre("InitProducerId", "AddPartitionsToTxn 3 t-0 t-1", "EndTxn 4 abort",
                                   "InitProducerId of epoch 0"));
  EXPECT_EQ(epoch(), 1);
}

TEST_P(TransactionalProducerTest, ABrokerThatLagsBehindDoesNotTakeTheVersionBack) {
  // The second is the coordinator, and asked last.
  cluster.features = [](int node) { return node == 1 ? levelOf(2, 12) : levelOf(0, 11); };
  open(2);
  run([&] { EXPECT_EQ(producer->transactionVersion(), 2); });
}

}  // namespace
}  // namespace tidemark::test
