#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "coordinator/transaction/transaction_metadata.h"

// What is asked of a transactional id, brought into one form for all versions of the requests.
namespace tidemark::coordinator {

struct BeginProducer {
  std::string transactionalId;
  platform::milliseconds timeout{};
  /// What the producer believes to be (KIP-360); nothing: it is new.
  std::optional<ProducerIdAndEpoch> expected;
};
/// None, with id and epoch; or the error.
struct ProducerAnswer {
  ErrorCode error = ErrorCode::None;
  ProducerIdAndEpoch producer;
};

struct AddPartitions {
  std::string transactionalId;
  ProducerIdAndEpoch producer;
  std::set<TopicPartition> partitions;
  /// Whether they are in the transaction; nothing is added.
  bool verifyOnly = false;
  /// Of the producer.
  int16_t clientVersion = 0;
};
/// Of each partition.
using PartitionErrors = std::vector<std::pair<TopicPartition, ErrorCode>>;

struct EndTransaction {
  std::string transactionalId;
  ProducerIdAndEpoch producer;
  bool commit = false;
  int16_t clientVersion = 0;
};

}  // namespace tidemark::coordinator
