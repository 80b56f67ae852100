#include "broker/broker_fixture.h"
#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_offsets_to_txn_response.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/generated/write_txn_markers_response.h"
#include "records/batch_builder.h"

// Each API of transactions in each version, against three brokers: what a client of that age would send.

namespace tidemark::broker {
namespace {

using protocol::AddOffsetsToTxnRequest;
using protocol::AddPartitionsToTxnRequest;
using protocol::EndTxnRequest;
using protocol::FindCoordinatorRequest;
using protocol::InitProducerIdRequest;
using protocol::ProduceRequest;
using protocol::TxnOffsetCommitRequest;
using protocol::WriteTxnMarkersRequest;

/// Clients of transaction.version 2 from here on.
constexpr int16_t kProduceThatAdds = 12;

class TransactionRequests : public BrokerTest {
 protected:
  TransactionRequests() { createTopic("orders", 2); }

  struct Producing {
    std::string id;
    int64_t producer = -1;
    int16_t epoch = -1;
    int32_t sequence = 0;
  };

  /// The coordinator of a transactional id (1) or a group (0), once it answers.
  int coordinatorOf(const std::string& key, int8_t type) {
    FindCoordinatorRequest request{.keyType = type};
    request.coordinatorKeys.emplace_back(key);
    for (int tries = 0; tries < 200; ++tries) {
      const auto answer = ask(1, request, 4).coordinators.at(0);
      if (code(answer.errorCode) == ErrorCode::None) return answer.nodeId;
      EXPECT_EQ(code(answer.errorCode), ErrorCode::CoordinatorNotAvailable);
      lab_.world().runFor(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "no coordinator of " << key;
    return 1;
  }
  /// Asks until the answer is another one than those that pass.
  template <class Ask>
  ErrorCode settled(const Ask& ask) {
    ErrorCode error = ErrorCode::None;
    for (int tries = 0; tries < 200; ++tries) {
      error = ask();
      if (error != ErrorCode::ConcurrentTransactions && error != ErrorCode::CoordinatorLoadInProgress &&
          error != ErrorCode::NotCoordinator && error != ErrorCode::CoordinatorNotAvailable)
        break;
      lab_.world().runFor(std::chrono::milliseconds(50));
    }
    return error;
  }

  Producing begin(const std::string& id, int16_t version = 5, int32_t timeoutMs = 60000) {
    InitProducerIdRequest request;
    request.transactionalId = id;
    request.transactionTimeoutMs = timeoutMs;
    Producing producing{.id = id};
    EXPECT_EQ(settled([&] {
                const auto answer = ask(coordinatorOf(id, 1), request, version);
                producing.producer = answer.producerId;
                producing.epoch = answer.producerEpoch;
                return code(answer.errorCode);
              }),
              ErrorCode::None);
    return producing;
  }

  ErrorCode add(const Producing& who, int partition, int16_t version = 3) {
    AddPartitionsToTxnRequest request;
    const auto topics = [&](auto& list) {
      auto& topic = list.emplace_back();
      topic.name = "orders";
      topic.partitions = {partition};
    };
    if (version < 4) {
      request.v3AndBelowTransactionalId = who.id;
      request.v3AndBelowProducerId = who.producer;
      request.v3AndBelowProducerEpoch = who.epoch;
      topics(request.v3AndBelowTopics);
    } else {
      auto& transaction = request.transactions.emplace_back();
      transaction.transactionalId = who.id;
      transaction.producerId = who.producer;
      transaction.producerEpoch = who.epoch;
      topics(transaction.topics);
    }
    return settled([&] {
      const auto answer = ask(coordinatorOf(who.id, 1), request, version);
      const auto& results =
          version < 4 ? answer.resultsByTopicV3AndBelow : answer.resultsByTransaction.at(0).topicResults;
      return code(results.at(0).resultsByPartition.at(0).partitionErrorCode);
    });
  }

  ErrorCode produce(Producing& who, int partition, std::string_view value, int16_t version) {
    records::BatchBuilder builder({.producerId = ProducerId(who.producer),
                                   .producerEpoch = ProducerEpoch(who.epoch),
                                   .baseSequence = who.sequence,
                                   .transactional = true});
    builder.append(1'767'225'600'000, std::nullopt, asBytes(value));
    ProduceRequest request{.acks = -1, .timeoutMs = 10000};
    request.transactionalId = who.id;
    auto& topic = request.topicData.emplace_back();
    topic.name = "orders";
    topic.topicId = topicId("orders");
    topic.partitionData.push_back({.index = partition, .records = protocol::Records(builder.build())});
    const auto answer = ask(leaderOf("orders", partition), request, version);
    const ErrorCode error = code(answer.responses.at(0).partitionResponses.at(0).errorCode);
    if (error == ErrorCode::None) ++who.sequence;
    return error;
  }

  /// Ends it and takes over what its producer is then.
  ErrorCode end(Producing& who, bool commit, int16_t version = 5) {
    EndTxnRequest request;
    request.transactionalId = who.id;
    request.producerId = who.producer;
    request.producerEpoch = who.epoch;
    request.committed = commit;
    const ErrorCode error = settled([&] {
      const auto answer = ask(coordinatorOf(who.id, 1), request, version);
      if (answer.errorCode == 0 && version >= 5) {
        who.producer = answer.producerId;
        who.epoch = answer.producerEpoch;
        who.sequence = 0;
      }
      return code(answer.errorCode);
    });
    if (error == ErrorCode::None) {
      EXPECT_TRUE(awaitComplete(who.id));
    }
    return error;
  }
  protocol::DescribeTransactionsResponse::TransactionState describe(const std::string& id) {
    protocol::DescribeTransactionsRequest request;
    request.transactionalIds = {id};
    return ask(coordinatorOf(id, 1), request).transactionStates.at(0);
  }
  bool awaitComplete(const std::string& id) {
    for (int tries = 0; tries < 500; ++tries) {
      if (describe(id).transactionState.view().starts_with("Complete")) return true;
      lab_.world().runFor(std::chrono::milliseconds(20));
    }
    return false;
  }

  struct Read {
    int64_t lastStable;
    int64_t highWatermark;
    size_t bytes;
    size_t aborted;
  };
  Read read(int partition, int8_t isolation) {
    protocol::FetchRequest request{.maxWaitMs = 100, .minBytes = 1, .maxBytes = 1 << 20};
    request.isolationLevel = isolation;
    auto& topic = request.topics.emplace_back();
    topic.topic = "orders";
    topic.partitions.push_back({.partition = partition, .fetchOffset = 0, .partitionMaxBytes = 1 << 20});
    const auto data = ask(leaderOf("orders", partition), request, 12).responses.at(0).partitions.at(0);
    EXPECT_EQ(code(data.errorCode), ErrorCode::None);
    return {data.lastStableOffset, data.highWatermark, data.records.size(),
            data.abortedTransactions ? data.abortedTransactions->size() : 0};
  }
};

TEST_F(TransactionRequests, AClientOfAnyAgeCommitsAndAborts) {
  int64_t offset = 0;
  for (int16_t version = 0; version <= 5; ++version) {
    SCOPED_TRACE(version);
    Producing who = begin("tx-" + std::to_string(version), version);
    for (const bool commit : {true, false}) {
      ASSERT_EQ(add(who, 0, std::min<int16_t>(version, 3)), ErrorCode::None);
      ASSERT_EQ(produce(who, 0, "value", static_cast<int16_t>(version + 6)), ErrorCode::None);
      EXPECT_EQ(read(0, 1).lastStable, offset) << "open";
      EXPECT_EQ(read(0, 0).highWatermark, offset + 1);
      ASSERT_EQ(end(who, commit, version), ErrorCode::None);
      offset += 2;
      EXPECT_EQ(read(0, 1).lastStable, offset);
    }
  }
  EXPECT_EQ(read(0, 1).aborted, 6u);
  EXPECT_EQ(read(0, 0).aborted, 0u);
}

TEST_F(TransactionRequests, AProduceOfVersion2AddsItsPartitionByItself) {
  Producing who = begin("tx");
  ASSERT_EQ(produce(who, 0, "a", kProduceThatAdds), ErrorCode::None);
  ASSERT_EQ(produce(who, 0, "b", kProduceThatAdds), ErrorCode::None);
  who.sequence = 0;
  ASSERT_EQ(produce(who, 1, "c", kProduceThatAdds + 1), ErrorCode::None);
  const auto open = describe("tx");
  EXPECT_EQ(open.transactionState, "Ongoing");
  EXPECT_THAT(open.topics.at(0).partitions, testing::ElementsAre(0, 1));
  const int16_t epoch = who.epoch;
  ASSERT_EQ(end(who, true), ErrorCode::None);
  EXPECT_EQ(who.epoch, epoch + 1);
  EXPECT_EQ(read(0, 1).lastStable, 3);
  EXPECT_EQ(read(1, 1).lastStable, 2);
  Producing zombie = who;
  zombie.epoch = epoch;
  zombie.sequence = 2;
  EXPECT_EQ(produce(zombie, 0, "late", kProduceThatAdds), ErrorCode::InvalidProducerEpoch);
  ASSERT_EQ(produce(who, 0, "next", kProduceThatAdds), ErrorCode::None);
}

TEST_F(TransactionRequests, WhatIsInNoTransactionIsRefusedInWordsThatTheClientKnows) {
  Producing who = begin("tx");
  EXPECT_EQ(produce(who, 0, "x", 10), ErrorCode::InvalidTxnState);
  EXPECT_EQ(produce(who, 0, "x", 11), ErrorCode::TransactionAbortable);
  Producing nobody{.id = "nobody", .producer = 99, .epoch = 0};
  EXPECT_EQ(produce(nobody, 0, "x", 11), ErrorCode::InvalidProducerIdMapping);
  Producing fenced = who;
  begin("tx");
  EXPECT_EQ(produce(fenced, 0, "x", 11), ErrorCode::InvalidProducerEpoch);
  EXPECT_EQ(produce(fenced, 0, "x", kProduceThatAdds), ErrorCode::InvalidProducerEpoch);
  EXPECT_EQ(read(0, 0).highWatermark, 0);
}

TEST_F(TransactionRequests, PartitionsAreAddedAllOrNone) {
  const Producing who = begin("tx");
  AddPartitionsToTxnRequest request;
  request.v3AndBelowTransactionalId = who.id;
  request.v3AndBelowProducerId = who.producer;
  request.v3AndBelowProducerEpoch = who.epoch;
  auto& known = request.v3AndBelowTopics.emplace_back();
  known.name = "orders";
  known.partitions = {0};
  auto& unknown = request.v3AndBelowTopics.emplace_back();
  unknown.name = "none";
  unknown.partitions = {0};
  std::map<std::string, ErrorCode> errors;
  for (const auto& topic : ask(coordinatorOf("tx", 1), request, 3).resultsByTopicV3AndBelow)
    errors[topic.name.str()] = code(topic.resultsByPartition.at(0).partitionErrorCode);
  EXPECT_EQ(errors["none"], ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(errors["orders"], ErrorCode::OperationNotAttempted);
  EXPECT_EQ(describe("tx").transactionState, "Empty");
}

TEST_F(TransactionRequests, AFencedProducerIsToldSoInTheWordsOfItsVersion) {
  Producing old = begin("tx");
  begin("tx");
  for (int16_t version = 0; version <= 3; ++version)
    EXPECT_EQ(add(old, 0, version), version < 2 ? ErrorCode::InvalidProducerEpoch : ErrorCode::ProducerFenced)
        << version;
  for (int16_t version = 0; version <= 5; ++version)
    EXPECT_EQ(end(old, true, version), version < 2 ? ErrorCode::InvalidProducerEpoch : ErrorCode::ProducerFenced)
        << version;
  InitProducerIdRequest request;
  request.transactionalId = "tx";
  request.transactionTimeoutMs = 1000;
  request.producerId = old.producer;
  request.producerEpoch = old.epoch;
  EXPECT_EQ(code(ask(coordinatorOf("tx", 1), request, 3).errorCode), ErrorCode::InvalidProducerEpoch);
  EXPECT_EQ(code(ask(coordinatorOf("tx", 1), request, 4).errorCode), ErrorCode::ProducerFenced);
  request.producerEpoch = -1;
  EXPECT_EQ(code(ask(coordinatorOf("tx", 1), request, 4).errorCode), ErrorCode::InvalidRequest);
}

TEST_F(TransactionRequests, OffsetsOfAGroupCountOnceTheTransactionIsCommittedInEachVersion) {
  const int group = coordinatorOf("readers", 0);
  const auto committed = [&](bool stable) {
    protocol::OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.groupId = "readers";
    auto& topic = asked.topics->emplace_back();
    topic.name = "orders";
    topic.partitionIndexes = {0};
    request.requireStable = stable;
    const auto answer = ask(group, request, 9);
    const auto& partition = answer.groups.at(0).topics.at(0).partitions.at(0);
    return std::pair(code(partition.errorCode), partition.committedOffset);
  };
  Producing who = begin("tx");
  int64_t offset = 10;
  inEachVersion<TxnOffsetCommitRequest>([&](int16_t version) {
    if (version < 5) {
      AddOffsetsToTxnRequest adding;
      adding.transactionalId = who.id;
      adding.producerId = who.producer;
      adding.producerEpoch = who.epoch;
      adding.groupId = "readers";
      ASSERT_EQ(
          settled([&] { return code(ask(coordinatorOf("tx", 1), adding, std::min<int16_t>(version, 4)).errorCode); }),
          ErrorCode::None);
    }
    TxnOffsetCommitRequest request;
    request.transactionalId = who.id;
    request.groupId = "readers";
    request.producerId = who.producer;
    request.producerEpoch = who.epoch;
    auto& topic = request.topics.emplace_back();
    topic.name = "orders";
    topic.topicId = topicId("orders");
    auto& partition = topic.partitions.emplace_back();
    partition.committedOffset = ++offset;
    ASSERT_EQ(settled([&] { return code(ask(group, request, version).topics.at(0).partitions.at(0).errorCode); }),
              ErrorCode::None);
    EXPECT_EQ(committed(true).first, ErrorCode::UnstableOffsetCommit);
    EXPECT_NE(committed(false).second, offset);
    ASSERT_EQ(end(who, true), ErrorCode::None);
    EXPECT_EQ(committed(true), std::pair(ErrorCode::None, offset));
  });
}

TEST_F(TransactionRequests, OffsetsOutsideOfATransactionAreRefused) {
  const int group = coordinatorOf("readers", 0);
  const Producing who = begin("tx");
  TxnOffsetCommitRequest request;
  request.transactionalId = who.id;
  request.groupId = "readers";
  request.producerId = who.producer;
  request.producerEpoch = who.epoch;
  auto& topic = request.topics.emplace_back();
  topic.name = "orders";
  topic.partitions.emplace_back().committedOffset = 1;
  const auto commit = [&](int16_t version) {
    return code(ask(group, request, version).topics.at(0).partitions.at(0).errorCode);
  };
  EXPECT_EQ(commit(3), ErrorCode::InvalidTxnState);
  EXPECT_EQ(commit(4), ErrorCode::TransactionAbortable);
  request.topics[0].name = "none";
  EXPECT_EQ(commit(5), ErrorCode::UnknownTopicOrPartition);
}

TEST_F(TransactionRequests, OffsetsOfAGroupThatIsNotThereAreRefusedInWordsThatTheClientKnows) {
  const int group = coordinatorOf("nobody", 0);
  const Producing who = begin("tx");
  TxnOffsetCommitRequest request;
  request.transactionalId = who.id;
  request.groupId = "nobody";
  request.producerId = who.producer;
  request.producerEpoch = who.epoch;
  request.generationIdOrMemberEpoch = 3;
  request.memberId = "m";
  auto& topic = request.topics.emplace_back();
  topic.name = "orders";
  topic.topicId = topicId("orders");
  topic.partitions.emplace_back().committedOffset = 1;
  const auto commit = [&](int16_t version) {
    return code(ask(group, request, version).topics.at(0).partitions.at(0).errorCode);
  };
  EXPECT_EQ(commit(5), ErrorCode::IllegalGeneration);
  EXPECT_EQ(commit(6), ErrorCode::GroupIdNotFound);
}

TEST_F(TransactionRequests, ATransactionThatIsOpenForTooLongEndsByItself) {
  Producing who = begin("tx", 5, 3000);
  ASSERT_EQ(produce(who, 0, "x", kProduceThatAdds), ErrorCode::None);
  EXPECT_TRUE(awaitComplete("tx"));
  EXPECT_EQ(read(0, 1).lastStable, 2);
  EXPECT_EQ(read(0, 1).aborted, 1u);
  EXPECT_EQ(produce(who, 0, "y", kProduceThatAdds), ErrorCode::InvalidProducerEpoch);
  EXPECT_EQ(end(who, true), ErrorCode::InvalidTxnState);
  EXPECT_EQ(end(who, true, 4), ErrorCode::ProducerFenced);
}

TEST_F(TransactionRequests, AHangingTransactionIsFoundAndAborted) {
  Producing who = begin("tx");
  ASSERT_EQ(produce(who, 0, "x", kProduceThatAdds), ErrorCode::None);
  const int leader = leaderOf("orders", 0);
  protocol::DescribeProducersRequest look;
  look.topics.push_back({.name = "orders", .partitionIndexes = {0}});
  const auto producers = ask(leader, look).topics.at(0).partitions.at(0).activeProducers;
  ASSERT_EQ(producers.size(), 1u);
  EXPECT_EQ(producers[0].producerId, who.producer);
  EXPECT_EQ(producers[0].currentTxnStartOffset, 0);
  WriteTxnMarkersRequest abort;
  auto& marker = abort.markers.emplace_back();
  marker.producerId = who.producer;
  marker.producerEpoch = who.epoch;
  marker.coordinatorEpoch = producers[0].coordinatorEpoch;
  marker.topics.push_back({.name = "orders", .partitionIndexes = {0}});
  marker.topics.push_back({.name = "none", .partitionIndexes = {0}});
  const auto answer = ask(leader, abort, 1).markers.at(0);
  EXPECT_EQ(answer.producerId, who.producer);
  std::map<std::string, ErrorCode> errors;
  for (const auto& topic : answer.topics) errors[topic.name.str()] = code(topic.partitions.at(0).errorCode);
  EXPECT_EQ(errors["orders"], ErrorCode::None);
  EXPECT_EQ(errors["none"], ErrorCode::UnknownTopicOrPartition);
  EXPECT_EQ(read(0, 1).lastStable, 2);
  marker.producerEpoch = static_cast<int16_t>(who.epoch - 1);
  marker.topics.pop_back();
  EXPECT_EQ(code(ask(leader, abort, 2).markers.at(0).topics.at(0).partitions.at(0).errorCode),
            ErrorCode::InvalidProducerEpoch);
}

TEST_F(TransactionRequests, TransactionsAreListedByTheirCoordinators) {
  Producing who = begin("tx");
  ASSERT_EQ(produce(who, 0, "x", kProduceThatAdds), ErrorCode::None);
  inEachVersion<protocol::ListTransactionsRequest>([&](int16_t version) {
    const auto answer = ask(coordinatorOf("tx", 1), protocol::ListTransactionsRequest(), version);
    EXPECT_EQ(code(answer.errorCode), ErrorCode::None);
    ASSERT_EQ(answer.transactionStates.size(), 1u);
    EXPECT_EQ(answer.transactionStates[0].transactionalId, "tx");
    EXPECT_EQ(answer.transactionStates[0].transactionState, "Ongoing");
  });
}

TEST_F(TransactionRequests, ATopicThatIsGoneNeedsNoMarker) {
  createTopic("gone");
  Producing who = begin("tx");
  ASSERT_EQ(produce(who, 0, "x", kProduceThatAdds), ErrorCode::None);
  AddPartitionsToTxnRequest request;
  auto& transaction = request.transactions.emplace_back();
  transaction.transactionalId = who.id;
  transaction.producerId = who.producer;
  transaction.producerEpoch = who.epoch;
  transaction.topics.emplace_back().name = "gone";
  transaction.topics.back().partitions = {0};
  ask(coordinatorOf("tx", 1), request, 5);
  ASSERT_EQ(describe("tx").topics.size(), 2u);
  protocol::DeleteTopicsRequest deleting{.timeoutMs = 10000};
  deleting.topicNames = {"gone"};
  ASSERT_EQ(code(ask(1, deleting, 4).responses.at(0).errorCode), ErrorCode::None);
  EXPECT_EQ(end(who, true), ErrorCode::None);
}

}  // namespace
}  // namespace tidemark::broker
