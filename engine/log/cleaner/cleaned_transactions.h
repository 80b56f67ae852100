#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/ids.h"
#include "log/txn_index.h"
#include "records/batch.h"
#include "records/control.h"

namespace tidemark::log {

/// What the cleaner knows of transactions while it reads a log from front to back (Kafka's CleanedTransactionMetadata):
/// whether a batch was aborted, and whether anything of a transaction is left so that its marker has to stay.
class CleanedTransactions {
 public:
  /// Told before the batches are read; again and in any order is fine.
  void addAborted(std::span<const AbortedTxn> transactions);

  /// The next data batch: whether its transaction was aborted, so that its records go.
  bool onBatch(const records::BatchHeader& header);

  struct Marker {
    /// Nothing of its transaction was read: the marker may go once its horizon has passed.
    bool transactionIsGone = false;
    /// The marker stays and is an abort: its entry stays in the transaction index.
    std::optional<AbortedTxn> aborted;
  };
  /// The next control batch; `marker` is empty if there is none (any more) in it.
  Marker onControlBatch(const records::BatchHeader& header, const std::optional<records::EndTxnMarker>& marker);

 private:
  struct Ongoing {
    AbortedTxn transaction;
    bool seen = false;
  };
  void beginUpTo(Offset offset);

  /// Not begun yet, by first offset.
  std::map<Offset, AbortedTxn> ahead_;
  std::map<ProducerId, Ongoing> aborted_;
  /// Producers of whose committed transaction something was read.
  std::set<ProducerId> committed_;
};

}  // namespace tidemark::log
