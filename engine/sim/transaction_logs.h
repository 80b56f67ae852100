#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "log/partition_log.h"
#include "sim/checker.h"

namespace tidemark::sim {

/// A transaction on one partition, as its batches tell it.
struct LoggedTransaction {
  ProducerId producer;
  ProducerEpoch epoch;
  Offset first;
  /// kNoOffset: it is open.
  Offset marker = kNoOffset;
  ProducerEpoch markerEpoch{-1};
  bool committed = false;
};

/// The first transaction.version (KIP-890) in which each end raises its producer's epoch: epochs tell transactions
/// apart.
inline constexpr int16_t kFirstVersionThatRaisesEpochs = 2;

/// What a log holds, read batch by batch without the engine's knowledge of producers.
struct LoggedPartition {
  struct Record {
    std::string value;
    /// Of `transactions`; nothing: it belongs to none.
    std::optional<size_t> transaction;
  };
  std::map<Offset, Record> records;
  std::vector<LoggedTransaction> transactions;
  /// Also of those that ended nothing here: by producer and epoch of the marker; the first, where epochs are shared.
  std::map<std::pair<ProducerId, ProducerEpoch>, bool> markers;

  /// Whether a read_committed reader is to be given it.
  bool isVisible(const Record& record) const {
    return !record.transaction || transactions[*record.transaction].committed;
  }
};

/// `version`: the cluster's transaction.version. `withValues`: of clients' records, as text. Tells T7: a producer's
/// epoch falls, or a transaction goes on in another one; T5: two markers of one end disagree, which epochs tell from
/// version 2 on only.
LoggedPartition readLog(Judge& judge, const log::PartitionLog& log, int16_t version, bool withValues);

/// T4 and T8 of a log at rest: its last stable offset and its index of aborted transactions are those of its batches.
void checkAgainst(Judge& judge, NodeId broker, const log::PartitionLog& log, const LoggedPartition& held);

}  // namespace tidemark::sim
