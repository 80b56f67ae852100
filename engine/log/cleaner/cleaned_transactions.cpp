#include "log/cleaner/cleaned_transactions.h"

namespace tidemark::log {

void CleanedTransactions::addAborted(std::span<const AbortedTxn> transactions) {
  for (const AbortedTxn& transaction : transactions) ahead_.try_emplace(transaction.firstOffset, transaction);
}

void CleanedTransactions::beginUpTo(Offset offset) {
  while (!ahead_.empty() && ahead_.begin()->first <= offset) {
    const AbortedTxn& transaction = ahead_.begin()->second;
    aborted_.try_emplace(transaction.producerId, Ongoing{transaction});
    ahead_.erase(ahead_.begin());
  }
}

bool CleanedTransactions::onBatch(const records::BatchHeader& header) {
  beginUpTo(header.lastOffset());
  if (!header.isTransactional()) return false;
  if (const auto aborted = aborted_.find(header.producerId); aborted != aborted_.end()) {
    aborted->second.seen = true;
    return true;
  }
  committed_.insert(header.producerId);
  return false;
}

CleanedTransactions::Marker CleanedTransactions::onControlBatch(const records::BatchHeader& header,
                                                                const std::optional<records::EndTxnMarker>& marker) {
  beginUpTo(header.lastOffset());
  // Emptied by an earlier pass, to keep its producer's epoch.
  if (header.recordCount == 0) return {.transactionIsGone = true, .aborted = std::nullopt};
  // A control batch of something else than a transaction stays.
  if (!marker) return {};
  if (marker->commit) return {.transactionIsGone = committed_.erase(header.producerId) == 0, .aborted = std::nullopt};
  const auto aborted = aborted_.extract(header.producerId);
  if (aborted.empty() || !aborted.mapped().seen) return {.transactionIsGone = true, .aborted = std::nullopt};
  return {.transactionIsGone = false, .aborted = aborted.mapped().transaction};
}

}  // namespace tidemark::log
