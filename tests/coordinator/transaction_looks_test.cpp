#include <fstream>

#include <nlohmann/json.hpp>

#include "coordinator/key_partition.h"
#include "coordinator/transaction/transaction_records.h"
#include "coordinator/transaction_fixture.h"
#include "protocol/framing.h"
#include "protocol/generated/transaction_log_value.h"

// What others see of transactions: lists, events, expiry, and the records on disk.

namespace tidemark::coordinator {
namespace {

class TransactionLooks : public Transactions {
 protected:
  protocol::ListTransactionsResponse list(const protocol::ListTransactionsRequest& request) {
    Answer<protocol::ListTransactionsResponse> answer;
    coordinator_->list(request, answer.reply());
    executor_->drain();
    return answer.get();
  }
  std::vector<std::string> listed(const protocol::ListTransactionsRequest& request) {
    std::vector<std::string> ids;
    for (const auto& one : list(request).transactionStates) ids.push_back(one.transactionalId.str());
    std::ranges::sort(ids);
    return ids;
  }
  protocol::DescribeTransactionsResponse::TransactionState describe(const std::string& id) {
    protocol::DescribeTransactionsRequest request;
    request.transactionalIds = {id};
    Answer<protocol::DescribeTransactionsResponse> answer;
    coordinator_->describe(request, answer.reply());
    executor_->drain();
    return answer.get().transactionStates.at(0);
  }
};

TEST_F(TransactionLooks, ListsAreFilteredByStateProducerAgeAndName) {
  const ProducerIdAndEpoch a = producer("pay-a", 600s);
  producer("pay-b");
  ASSERT_EQ(add("pay-a", a, partitionsOf("orders", {0})), ErrorCode::None);
  transaction("ship", producer("ship"), true);
  EXPECT_THAT(listed({}), testing::ElementsAre("pay-a", "pay-b", "ship"));
  protocol::ListTransactionsRequest byState;
  byState.stateFilters = {"Ongoing", "Sleeping"};
  EXPECT_THAT(listed(byState), testing::ElementsAre("pay-a"));
  EXPECT_THAT(list(byState).unknownStateFilters, testing::ElementsAre("Sleeping"));
  byState.stateFilters = {"Sleeping"};
  EXPECT_TRUE(listed(byState).empty());
  protocol::ListTransactionsRequest byProducer;
  byProducer.producerIdFilters = {a.id.value()};
  EXPECT_THAT(listed(byProducer), testing::ElementsAre("pay-a"));
  protocol::ListTransactionsRequest byName;
  byName.transactionalIdPattern = "pay-.*";
  EXPECT_THAT(listed(byName), testing::ElementsAre("pay-a", "pay-b"));
  byName.transactionalIdPattern = "pay";
  EXPECT_TRUE(listed(byName).empty()) << "the whole id has to match";
  byName.transactionalIdPattern = "pay-(";
  EXPECT_EQ(static_cast<ErrorCode>(list(byName).errorCode), ErrorCode::InvalidRegularExpression);
  protocol::ListTransactionsRequest byAge;
  byAge.stateFilters = {"Ongoing"};
  byAge.durationFilter = 5000;
  EXPECT_TRUE(listed(byAge).empty());
  executor_->advance(6s);
  EXPECT_THAT(listed(byAge), testing::ElementsAre("pay-a"));
}

TEST_F(TransactionLooks, ATransactionIsDescribedAsItIsCommitted) {
  EXPECT_EQ(static_cast<ErrorCode>(describe("tx").errorCode), ErrorCode::TransactionalIdNotFound);
  EXPECT_EQ(static_cast<ErrorCode>(describe("").errorCode), ErrorCode::InvalidRequest);
  const ProducerIdAndEpoch who = producer("tx");
  const int64_t before = clock_.wallMs();
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0, 2})), ErrorCode::None);
  const auto open = describe("tx");
  EXPECT_EQ(open.transactionState, "Ongoing");
  EXPECT_EQ(open.producerId, who.id.value());
  EXPECT_EQ(open.transactionTimeoutMs, 60000);
  EXPECT_EQ(open.transactionStartTimeMs, before);
  ASSERT_EQ(open.topics.size(), 1u);
  EXPECT_THAT(open.topics[0].partitions, testing::ElementsAre(0, 2));
  log_.commitsAtOnce = false;
  endLater("tx", who, true);
  EXPECT_EQ(describe("tx").transactionState, "Ongoing");
  commitAll();
  EXPECT_EQ(describe("tx").transactionState, "PrepareCommit");
  resign();
  EXPECT_EQ(static_cast<ErrorCode>(describe("tx").errorCode), ErrorCode::NotCoordinator);
}

TEST_F(TransactionLooks, IdsThatNobodyUsesExpireAndLeaveATombstone) {
  const ProducerIdAndEpoch idle = producer("idle");
  executor_->advance(config_.idExpiration - config_.expiryInterval * 2);
  producer("young");
  ASSERT_EQ(stateOf("idle"), "Empty");
  executor_->advance(config_.expiryInterval * 4);
  EXPECT_EQ(stateOf("idle"), "none");
  EXPECT_EQ(stateOf("young"), "Empty");
  failOver();
  EXPECT_EQ(stateOf("idle"), "none");
  EXPECT_EQ(add("idle", idle, partitionsOf("orders", {0})), ErrorCode::InvalidProducerIdMapping);
  EXPECT_EQ(producer("idle").epoch, ProducerEpoch(0));
}

TEST_F(TransactionLooks, EachChangeIsToldWithItsCause) {
  recorder_.want(events::Kinds::all());
  const ProducerIdAndEpoch who = producer("tx");
  ASSERT_EQ(add("tx", who, partitionsOf("orders", {0, 1})), ErrorCode::None);
  ASSERT_EQ(begin("tx").error, ErrorCode::ConcurrentTransactions);
  writeMarkers();
  std::vector<events::Event> told;
  recorder_.drain(told);
  std::vector<std::string> lines;
  for (const events::Event& event : told) lines.push_back(events::fieldsText(event.payload));
  EXPECT_THAT(
      lines, testing::ElementsAre(
                 "transactionalId=\"tx\" producer=101 epoch=0 from=Empty to=Empty cause=Initialized partitions=0",
                 "transactionalId=\"tx\" producer=101 epoch=0 from=Empty to=Ongoing cause=PartitionsAdded partitions=2",
                 "transactionalId=\"tx\" producer=101 epoch=1 from=Ongoing to=PrepareAbort cause=Fenced partitions=2",
                 "transactionalId=\"tx\" producer=101 epoch=1 from=PrepareAbort to=CompleteAbort cause=MarkersWritten "
                 "partitions=2"));
  failOver();
  told.clear();
  recorder_.drain(told);
  EXPECT_TRUE(told.empty()) << "what is read was told when it happened";
}

TEST_F(TransactionLooks, RecordsAreOfTheVersionThatTheClusterIsAt) {
  const auto versionOfLast = [&](const std::string& id) {
    const auto records = log_.records(*coordinator_->partitionFor(id));
    return protocol::decodeVersioned(*records.back().value)->version;
  };
  producer("tx");
  EXPECT_EQ(versionOfLast("tx"), 1);
  serverVersion_ = 0;
  producer("tx");
  EXPECT_EQ(versionOfLast("tx"), 0);
}

// ---- golden

ByteVector golden(int partition) {
  std::ifstream file(
      std::string(TIDEMARK_TEST_DATA) + "/coordinator/__transaction_state-" + std::to_string(partition) + ".log",
      std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return {bytes.begin(), bytes.end()};
}

TEST_F(TransactionLooks, OfARealKafkaAreReadAsItsAdminSawThem) {
  resign();
  for (int i = 0; i < kPartitions; ++i) log_.load(PartitionIndex(i), golden(i));
  start();
  std::ifstream file(std::string(TIDEMARK_TEST_DATA) + "/data-dirs/cluster-clean.expected.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  size_t compared = 0;
  for (const auto& one : expected["transactions"]) {
    SCOPED_TRACE(one["transactionalId"].get<std::string>());
    const auto described = describe(one["transactionalId"]);
    EXPECT_EQ(static_cast<ErrorCode>(described.errorCode), ErrorCode::None);
    EXPECT_EQ(described.transactionState, one["state"].get<std::string>());
    EXPECT_EQ(described.producerId, one["producerId"].get<int64_t>());
    EXPECT_EQ(described.producerEpoch, one["producerEpoch"].get<int16_t>());
    EXPECT_EQ(described.transactionTimeoutMs, one["timeoutMs"].get<int32_t>());
    EXPECT_TRUE(described.topics.empty());
    ++compared;
  }
  EXPECT_EQ(compared, 3u);
}

TEST_F(TransactionLooks, RecordsOfARealKafkaAreWrittenAgainByteForByte) {
  size_t compared = 0;
  for (int i = 0; i < kPartitions; ++i) {
    log_.load(PartitionIndex(i), golden(i));
    for (const CoordinatorRecord& record : log_.records(PartitionIndex(i))) {
      ASSERT_TRUE(record.value);
      const auto metadata = readTransactionValue(*record.value);
      ASSERT_TRUE(metadata);
      const auto key = protocol::decodeCoordinatorKey(record.key);
      ASSERT_TRUE(key);
      const std::string id(reinterpret_cast<const char*>(key->body.data()) + 2, key->body.size() - 2);
      const CoordinatorRecord ours = transactionRecord(id, *metadata, 2);
      EXPECT_EQ(ours.key, record.key);
      // Kafka lists the partitions of a topic in the order of a hash.
      if (metadata->partitions.size() <= 1) {
        EXPECT_EQ(*ours.value, *record.value) << id << " " << compared;
      }
      const auto again = readTransactionValue(*ours.value);
      ASSERT_TRUE(again);
      EXPECT_EQ(*again, *metadata);
      ++compared;
    }
  }
  EXPECT_GT(compared, 90u);
}

}  // namespace
}  // namespace tidemark::coordinator
