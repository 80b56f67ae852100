#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "records/batch.h"
#include "records/record.h"

namespace tidemark::client {

/// Walks over the records of one partition in a fetch answer as a consumer sees them: from a position on, without
/// control records, without those of aborted transactions. Checks the CRC of each batch. Pure; one thread.
class FetchReader {
 public:
  /// Starts anew. `bytes` must stay until the last record was given; an incomplete batch at the end is no error.
  void begin(ByteView bytes, Offset position);
  /// A transaction that was aborted, as the answer lists it. Before the first next().
  void addAborted(ProducerId producer, Offset first) { aborted_.push_back({first, producer}); }

  records::Step next();
  records::RecordView record() const noexcept { return cursor_->record(); }
  /// Where to go on after what next() has given so far; at the end, behind the last batch, whatever was in it.
  Offset position() const noexcept { return position_; }
  /// Of the last batch that was looked at.
  LeaderEpoch lastEpoch() const noexcept { return lastEpoch_; }
  const std::string& reason() const noexcept { return reason_; }

 private:
  struct Aborted {
    Offset first;
    ProducerId producer;
    friend auto operator<=>(const Aborted&, const Aborted&) = default;
  };
  records::Step nextBatch();
  /// Whether consumers do not see the batch.
  bool hides(const records::BatchView& batch);
  records::Step corrupt(std::string reason);

  records::BatchCursor batches_{{}};
  std::optional<records::RecordCursor> cursor_;
  records::BatchHeader header_;
  ByteVector buffer_;
  std::vector<Aborted> aborted_;
  bool sorted_ = false;
  size_t nextAborted_ = 0;
  std::set<ProducerId> aborting_;
  Offset position_;
  LeaderEpoch lastEpoch_;
  std::string reason_;
};

}  // namespace tidemark::client
