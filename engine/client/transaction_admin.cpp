#include "client/transaction_admin.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/admin_call.h"
#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"
#include "protocol/generated/write_txn_markers_request.h"
#include "protocol/generated/write_txn_markers_response.h"

namespace tidemark::client {

using detail::Call;
using detail::noAnswerFor;
using detail::Target;

bool isHanging(const ProducerOnPartition& producer, const TransactionDescription* known) noexcept {
  if (producer.transactionStart < Offset(0)) return false;
  if (known == nullptr) return true;
  // A newer epoch has fenced it: its coordinator ended what it had before.
  if (known->epoch.value() > producer.epoch.value() + 1) return true;
  return std::ranges::find(known->partitions, producer.partition) == known->partitions.end();
}

TransactionAdmin::TransactionAdmin(Client& client, platform::Duration timeout)
    : core_(std::make_shared<detail::Calls>(client, timeout)) {}

TransactionAdmin::~TransactionAdmin() {
  core_->stop();
}

void TransactionAdmin::listTransactions(const Filter& filter, Handler<Gathered<ListedTransaction>> handler) {
  protocol::ListTransactionsRequest request;
  for (const std::string& state : filter.states) request.stateFilters.emplace_back(state);
  for (const ProducerId producer : filter.producers) request.producerIdFilters.push_back(producer.value());
  request.durationFilter = filter.longerThan.count();
  core_->startAtEach<ListedTransaction>(
      std::move(request),
      [](NodeId node, const protocol::ListTransactionsResponse& response) -> Result<std::vector<ListedTransaction>> {
        if (response.errorCode != 0) return fail(errorOf(response.errorCode, {}, fmt::format("broker {}", node)));
        if (!response.unknownStateFilters.empty())
          return fail(ErrorCode::InvalidRequest,
                      fmt::format("there is no transaction state {}", response.unknownStateFilters[0].view()));
        std::vector<ListedTransaction> found;
        for (const auto& each : response.transactionStates)
          found.push_back({.transactionalId = each.transactionalId.str(),
                           .producer = ProducerId(each.producerId),
                           .state = each.transactionState.str(),
                           .coordinator = node});
        return found;
      },
      [handler = std::move(handler)](Result<Gathered<ListedTransaction>> all) mutable {
        if (all) std::ranges::sort(all->all, {}, &ListedTransaction::transactionalId);
        handler(std::move(all));
      });
}

void TransactionAdmin::describeTransaction(std::string transactionalId, Handler<TransactionDescription> handler) {
  using namespace protocol;
  DescribeTransactionsRequest request;
  request.transactionalIds.emplace_back(transactionalId);
  core_->start(Call<TransactionDescription, DescribeTransactionsRequest>{
      .target = Target::transactionCoordinator(transactionalId),
      .request = std::move(request),
      .extract = [transactionalId](const DescribeTransactionsResponse& response) -> Result<TransactionDescription> {
        if (response.transactionStates.size() != 1) return noAnswerFor(transactionalId);
        const auto& found = response.transactionStates[0];
        if (found.errorCode != 0) return fail(errorOf(found.errorCode, {}, transactionalId));
        TransactionDescription description{.transactionalId = transactionalId,
                                           .state = found.transactionState.str(),
                                           .producer = ProducerId(found.producerId),
                                           .epoch = ProducerEpoch(found.producerEpoch),
                                           .timeout = std::chrono::milliseconds(found.transactionTimeoutMs),
                                           .startedMs = found.transactionStartTimeMs,
                                           .partitions = {}};
        for (const auto& topic : found.topics)
          for (const int32_t partition : topic.partitions)
            description.partitions.push_back({topic.topic.str(), PartitionIndex(partition)});
        std::ranges::sort(description.partitions);
        return description;
      },
      .handler = std::move(handler)});
}

void TransactionAdmin::describeProducers(TopicPartition partition, Handler<std::vector<ProducerOnPartition>> handler) {
  using namespace protocol;
  DescribeProducersRequest request;
  request.topics.push_back({.name = partition.topic, .partitionIndexes = {partition.partition.value()}});
  core_->start(Call<std::vector<ProducerOnPartition>, DescribeProducersRequest>{
      .target = Target::leaderOf(partition),
      .request = std::move(request),
      .extract = [partition](const DescribeProducersResponse& response) -> Result<std::vector<ProducerOnPartition>> {
        const std::string what = fmt::format("{}", partition);
        if (response.topics.size() != 1 || response.topics[0].partitions.size() != 1) return noAnswerFor(what);
        const auto& found = response.topics[0].partitions[0];
        if (found.errorCode != 0) return fail(errorOf(found.errorCode, found.errorMessage, what));
        std::vector<ProducerOnPartition> producers;
        for (const auto& each : found.activeProducers)
          producers.push_back({.partition = partition,
                               .producer = ProducerId(each.producerId),
                               .epoch = ProducerEpoch(static_cast<int16_t>(each.producerEpoch)),
                               .lastSequence = each.lastSequence,
                               .lastTimestampMs = each.lastTimestamp,
                               .coordinatorEpoch = each.coordinatorEpoch,
                               .transactionStart = Offset(each.currentTxnStartOffset)});
        return producers;
      },
      .handler = std::move(handler)});
}

void TransactionAdmin::fenceProducer(std::string transactionalId, Handler<ProducerEpoch> handler) {
  using namespace protocol;
  InitProducerIdRequest request;
  request.transactionalId = Text(transactionalId);
  request.transactionTimeoutMs = core_->timeoutMs();
  core_->start(Call<ProducerEpoch, InitProducerIdRequest>{
      .target = Target::transactionCoordinator(transactionalId),
      .request = std::move(request),
      .extract = [transactionalId](const InitProducerIdResponse& response) -> Result<ProducerEpoch> {
        if (response.errorCode != 0) return fail(errorOf(response.errorCode, {}, transactionalId));
        return ProducerEpoch(response.producerEpoch);
      },
      .handler = std::move(handler)});
}

void TransactionAdmin::abort(ProducerOnPartition which, Done done) {
  using namespace protocol;
  WriteTxnMarkersRequest request;
  auto& marker = request.markers.emplace_back();
  marker.producerId = which.producer.value();
  marker.producerEpoch = which.epoch.value();
  marker.transactionResult = false;
  marker.coordinatorEpoch = which.coordinatorEpoch;
  marker.topics.push_back({.name = which.partition.topic, .partitionIndexes = {which.partition.partition.value()}});
  core_->start(Call<void, WriteTxnMarkersRequest>{
      .target = Target::leaderOf(which.partition),
      .request = std::move(request),
      .extract = [partition = which.partition](const WriteTxnMarkersResponse& response) -> Result<void> {
        const std::string what = fmt::format("{}", partition);
        if (response.markers.size() != 1 || response.markers[0].topics.size() != 1 ||
            response.markers[0].topics[0].partitions.size() != 1)
          return noAnswerFor(what);
        const auto& result = response.markers[0].topics[0].partitions[0];
        if (result.errorCode != 0) return fail(errorOf(result.errorCode, {}, what));
        return {};
      },
      .handler = std::move(done)});
}

}  // namespace tidemark::client
