#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coordinator/group_fixture.h"
#include "coordinator/memory_log.h"
#include "coordinator/transaction/transaction_coordinator.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"
#include "purgatory/manual_executor.h"

namespace tidemark::coordinator {

/// Producer ids in a row, or an error if the test wants that.
class CountingProducerIds : public ProducerIdSource {
 public:
  explicit CountingProducerIds(ManualExecutor& executor) : executor_(executor) {}
  void next(std::move_only_function<void(Result<ProducerId>)> answer) override {
    executor_.post([this, answer = std::move(answer)]() mutable {
      if (failWith) return answer(fail(*failWith, "the test says so"));
      answer(ProducerId(++given));
    });
  }
  int64_t given = 100;
  std::optional<ErrorCode> failWith;

 private:
  ManualExecutor& executor_;
};

/// Keeps what is to be sent until the test writes the markers.
class HeldMarkers : public MarkerSender {
 public:
  void send(MarkerOrder order) override { orders.push_back(std::move(order)); }
  void forget(PartitionIndex partition) override {
    std::erase_if(orders, [&](const MarkerOrder& order) { return order.coordinatorPartition == partition; });
  }
  std::vector<MarkerOrder> orders;
};

inline std::set<TopicPartition> partitionsOf(const std::string& topic, std::initializer_list<int> indexes) {
  std::set<TopicPartition> all;
  for (const int index : indexes) all.insert({topic, PartitionIndex(index)});
  return all;
}

/// One transaction coordinator on a log in memory, with time, commits and markers in the test's hands.
class Transactions : public testing::Test {
 protected:
  static constexpr int32_t kPartitions = 2;

  Transactions() {
    config_.recorder = &recorder_;
    config_.transactionVersion = [this] { return serverVersion_; };
    start();
  }

  void start() {
    log_.listener = [this](PartitionIndex partition, Offset highWatermark) {
      coordinator_->onHighWatermark(partition, highWatermark);
    };
    coordinator_ = std::make_unique<TransactionCoordinator>(
        TransactionCoordinator::Dependencies{executor_, &clock_, &logger_, &log_, &producerIds_, &markers_}, config_);
    coordinator_->setPartitionCount(kPartitions);
    lead();
  }
  void lead() {
    epoch_ = epoch_.next();
    for (int32_t i = 0; i < kPartitions; ++i) coordinator_->onBecomeLeader(PartitionIndex(i), epoch_);
    executor_->drain();
  }
  void resign() {
    for (int32_t i = 0; i < kPartitions; ++i) coordinator_->onResign(PartitionIndex(i));
    executor_->drain();
  }
  /// Another coordinator takes over; what was not committed is lost if the test wants that.
  void failOver(bool loseUncommitted = false) {
    resign();
    markers_.orders.clear();
    epoch_ = epoch_.next();
    for (int32_t i = 0; i < kPartitions; ++i) log_.elect(PartitionIndex(i), epoch_.next(), loseUncommitted);
    start();
  }

  Answer<ProducerAnswer> beginLater(const std::string& id, std::optional<ProducerIdAndEpoch> expected = std::nullopt,
                                    platform::milliseconds timeout = 60s) {
    Answer<ProducerAnswer> answer;
    coordinator_->beginProducer({id, timeout, expected}, answer.reply());
    executor_->drain();
    return answer;
  }
  ProducerAnswer begin(const std::string& id, std::optional<ProducerIdAndEpoch> expected = std::nullopt,
                       platform::milliseconds timeout = 60s) {
    return beginLater(id, expected, timeout).get();
  }
  /// A producer that is new; must succeed.
  ProducerIdAndEpoch producer(const std::string& id, platform::milliseconds timeout = 60s) {
    const ProducerAnswer answer = begin(id, std::nullopt, timeout);
    EXPECT_EQ(answer.error, ErrorCode::None);
    return answer.producer;
  }

  Answer<PartitionErrors> addLater(const std::string& id, ProducerIdAndEpoch producer, std::set<TopicPartition> which,
                                   int16_t version = 2, bool verifyOnly = false) {
    Answer<PartitionErrors> answer;
    coordinator_->addPartitions({id, producer, std::move(which), verifyOnly, version}, answer.reply());
    executor_->drain();
    return answer;
  }
  /// The one error of all of them.
  ErrorCode add(const std::string& id, ProducerIdAndEpoch producer, std::set<TopicPartition> which,
                int16_t version = 2) {
    const auto answer = addLater(id, producer, which, version);
    EXPECT_EQ(answer.get().size(), which.size());
    std::set<ErrorCode> errors;
    for (const auto& [partition, error] : answer.get()) errors.insert(error);
    EXPECT_EQ(errors.size(), 1u);
    return *errors.begin();
  }
  ErrorCode verify(const std::string& id, ProducerIdAndEpoch producer, const TopicPartition& which) {
    return addLater(id, producer, {which}, 0, true).get().at(0).second;
  }

  Answer<ProducerAnswer> endLater(const std::string& id, ProducerIdAndEpoch producer, bool commit,
                                  int16_t version = 2) {
    Answer<ProducerAnswer> answer;
    coordinator_->end({id, producer, commit, version}, answer.reply());
    executor_->drain();
    return answer;
  }
  ProducerAnswer end(const std::string& id, ProducerIdAndEpoch producer, bool commit, int16_t version = 2) {
    return endLater(id, producer, commit, version).get();
  }

  /// All markers that are held are written, as the sender tells it.
  void writeMarkers() {
    const std::vector<MarkerOrder> orders = std::exchange(markers_.orders, {});
    for (const MarkerOrder& order : orders) coordinator_->markersWritten(order, order.partitions);
    executor_->drain();
  }
  /// A whole transaction; gives what its producer is afterwards.
  ProducerIdAndEpoch transaction(const std::string& id, ProducerIdAndEpoch producer, bool commit, int16_t version = 2) {
    EXPECT_EQ(add(id, producer, partitionsOf("orders", {0}), version), ErrorCode::None);
    const ProducerAnswer ended = end(id, producer, commit, version);
    EXPECT_EQ(ended.error, ErrorCode::None);
    writeMarkers();
    return ended.producer;
  }

  std::optional<TransactionSnapshot> look(const std::string& id) {
    Answer<std::vector<TransactionSnapshot>> answer;
    coordinator_->snapshot(answer.reply());
    executor_->drain();
    for (const TransactionSnapshot& one : answer.get())
      if (one.transactionalId == id) return one;
    return std::nullopt;
  }
  /// "none" for one that nobody knows.
  std::string stateOf(const std::string& id) {
    const auto found = look(id);
    return found ? std::string(events::nameOf(found->metadata.state)) : "none";
  }

  void commitAll() {
    for (int32_t i = 0; i < kPartitions; ++i) log_.commit(PartitionIndex(i));
    executor_->drain();
  }

  TransactionConfig config_;
  int16_t serverVersion_ = 2;
  ManualClock clock_;
  events::Recorder recorder_{clock_, NodeId(1)};
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  SilentLogger logger_;
  MemoryLog log_;
  CountingProducerIds producerIds_{*executor_};
  HeldMarkers markers_;
  LeaderEpoch epoch_{0};
  std::unique_ptr<TransactionCoordinator> coordinator_;
};

}  // namespace tidemark::coordinator
