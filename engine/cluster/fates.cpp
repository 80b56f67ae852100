#include "cluster/fates.h"

#include <algorithm>
#include <unordered_map>

namespace tidemark::cluster {

void tellFates(const log::PartitionLog& log, std::vector<observe::BatchSnapshot>& batches) {
  if (std::ranges::none_of(batches, &observe::BatchSnapshot::transactional)) return;
  const auto aborted = log.abortedTransactions(batches.front().baseOffset, batches.back().lastOffset.next());
  std::unordered_map<ProducerId, Offset> open;
  for (const log::ProducerInfo& producer : log.producers())
    if (producer.currentTransactionStartOffset >= Offset(0))
      open[producer.producerId] = producer.currentTransactionStartOffset;
  for (observe::BatchSnapshot& batch : batches) {
    if (!batch.transactional) continue;
    batch.fate = observe::TransactionFate::Committed;
    if (aborted)
      for (const log::AbortedTxn& entry : *aborted) {
        const bool inside = entry.firstOffset <= batch.baseOffset && batch.baseOffset <= entry.lastOffset;
        // The entry ends with the marker itself.
        if (entry.producerId == batch.producer && inside && (!batch.control || batch.baseOffset == entry.lastOffset))
          batch.fate = observe::TransactionFate::Aborted;
      }
    const auto since = open.find(batch.producer);
    if (since != open.end() && batch.baseOffset >= since->second) batch.fate = observe::TransactionFate::Open;
  }
}

std::vector<observe::OpenTransactionSnapshot> openTransactionsOf(const log::PartitionLog& log) {
  std::vector<observe::OpenTransactionSnapshot> open;
  for (const log::ProducerInfo& producer : log.producers())
    if (producer.currentTransactionStartOffset >= Offset(0))
      open.push_back(
          {.producer = producer.producerId,
           .epoch = producer.producerEpoch,
           .first = producer.currentTransactionStartOffset,
           .lastWrite = platform::WallTime(platform::milliseconds(std::max<int64_t>(0, producer.lastTimestampMs)))});
  std::ranges::sort(open, {}, &observe::OpenTransactionSnapshot::first);
  return open;
}

}  // namespace tidemark::cluster
