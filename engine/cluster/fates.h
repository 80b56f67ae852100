#pragma once

#include <vector>

#include "log/partition_log.h"
#include "observe/snapshot.h"

namespace tidemark::cluster {

/// What became of the transactions that a log's newest batches belong to, as the log itself knows it: its index of
/// aborted transactions and its producers. Reads files only where there is something aborted.
void tellFates(const log::PartitionLog& log, std::vector<observe::BatchSnapshot>& batches);

/// Transactions that are open on a log, by first offset.
std::vector<observe::OpenTransactionSnapshot> openTransactionsOf(const log::PartitionLog& log);

}  // namespace tidemark::cluster
