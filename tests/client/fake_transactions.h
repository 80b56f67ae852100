#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "network/request.h"

namespace tidemark::test {

/// One transactional id and what its producer asks, as simple as a coordinator can be: each end is at once complete.
class FakeTransactions {
 public:
  /// Serves InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit and EndTxn.
  void serve(network::Request& request);
  /// Whether a partition may take a produce of that version: from 12 on it adds the partition.
  ErrorCode produced(const TopicPartition& where, int16_t version);

  /// What was asked, with its version: "EndTxn 4 commit".
  std::vector<std::string> asked;
  /// Answers to come, the first one first; then it is served.
  std::map<protocol::ApiKey, std::deque<ErrorCode>> errors;
  ProducerEpoch epoch{-1};
  /// Of the open transaction.
  std::set<TopicPartition> partitions;
  std::set<std::string> groups;
  std::map<TopicPartition, int64_t> offsets;

 private:
  ErrorCode nextError(protocol::ApiKey key);
  void initProducerId(network::Request& request);
  void addPartitions(network::Request& request);
  void addOffsets(network::Request& request);
  void commitOffsets(network::Request& request);
  void end(network::Request& request);
};

}  // namespace tidemark::test
