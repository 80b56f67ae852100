#pragma once

#include <string>
#include <vector>

#include "broker_links.h"

namespace tidemark::bench {

/// Transactional producers, a connection each. A transaction is one batch of one record, and its end
/// (transaction version 2: no AddPartitionsToTxn, and each end brings the epoch of the next).
class TransactionLoad {
 public:
  TransactionLoad(Links& links, std::string prefix, std::string topic, int32_t partitions, size_t producers);

  /// Each producer takes up its transactional id.
  void begin();
  /// So many of each producer.
  void commit(size_t times);

 private:
  struct Producer {
    std::string transactionalId;
    int64_t id = -1;
    int16_t epoch = -1;
  };

  void init(size_t producer);
  void produce(size_t producer, size_t times);
  void end(size_t producer, size_t times);

  Links& links_;
  const std::string topic_;
  const int32_t partitions_;
  std::vector<Producer> producers_;
};

}  // namespace tidemark::bench
