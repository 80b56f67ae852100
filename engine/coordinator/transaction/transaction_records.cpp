#include "coordinator/transaction/transaction_records.h"

#include <fmt/format.h>

#include "coordinator/record_encoding.h"
#include "protocol/generated/transaction_log_key.h"
#include "protocol/generated/transaction_log_value.h"

namespace tidemark::coordinator {
namespace {

ByteVector transactionKey(std::string_view transactionalId) {
  protocol::TransactionLogKey key;
  key.transactionalId = protocol::Text::borrowed(transactionalId);
  return encodedKey(key);
}

}  // namespace

CoordinatorRecord transactionRecord(std::string_view transactionalId, const TransactionMetadata& metadata,
                                    int16_t transactionVersion) {
  protocol::TransactionLogValue value;
  value.producerId = metadata.producerId.value();
  value.producerEpoch = metadata.producerEpoch.value();
  value.transactionTimeoutMs = static_cast<int32_t>(metadata.timeout.count());
  value.transactionStatus = static_cast<int8_t>(metadata.state);
  value.transactionLastUpdateTimestampMs = metadata.lastUpdateMs;
  value.transactionStartTimestampMs = metadata.startMs;
  if (metadata.state == TransactionState::Empty) {
    value.transactionPartitions.reset();
  } else {
    for (const TopicPartition& partition : metadata.partitions) {
      if (value.transactionPartitions->empty() || value.transactionPartitions->back().topic != partition.topic)
        value.transactionPartitions->push_back(
            {.topic = protocol::Text::borrowed(partition.topic), .partitionIds = {}});
      value.transactionPartitions->back().partitionIds.push_back(partition.partition.value());
    }
  }
  const bool flexible = transactionVersion >= kTransactionVersionWithFlexibleRecords;
  if (flexible) {
    value.previousProducerId = metadata.previousProducerId.value();
    value.nextProducerId = metadata.nextProducerId.value();
    value.clientTransactionVersion = metadata.clientVersion;
  }
  return {transactionKey(transactionalId), encodedValue(value, flexible ? 1 : 0)};
}

CoordinatorRecord transactionTombstone(std::string_view transactionalId) {
  return {transactionKey(transactionalId), std::nullopt};
}

Result<TransactionMetadata> readTransactionValue(ByteView bytes) {
  TIDEMARK_ASSIGN(const auto value, protocol::decodeVersionedAs<protocol::TransactionLogValue>(bytes));
  if (value.transactionStatus < 0 || value.transactionStatus > static_cast<int8_t>(TransactionState::PrepareEpochFence))
    return fail(ErrorCode::CorruptMessage, fmt::format("{} is no state of a transaction", value.transactionStatus));
  TransactionMetadata metadata;
  metadata.producerId = ProducerId(value.producerId);
  metadata.previousProducerId = ProducerId(value.previousProducerId);
  metadata.nextProducerId = ProducerId(value.nextProducerId);
  metadata.producerEpoch = ProducerEpoch(value.producerEpoch);
  metadata.timeout = platform::milliseconds(value.transactionTimeoutMs);
  metadata.state = static_cast<TransactionState>(value.transactionStatus);
  metadata.startMs = value.transactionStartTimestampMs;
  metadata.lastUpdateMs = value.transactionLastUpdateTimestampMs;
  metadata.clientVersion = value.clientTransactionVersion;
  if (value.transactionPartitions)
    for (const auto& topic : *value.transactionPartitions)
      for (const int32_t partition : topic.partitionIds)
        metadata.partitions.insert({topic.topic.str(), PartitionIndex(partition)});
  return metadata;
}

}  // namespace tidemark::coordinator
