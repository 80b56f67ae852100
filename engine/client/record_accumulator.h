#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "client/pending_records.h"
#include "client/producer.h"
#include "platform/clock.h"
#include "records/batch_builder.h"

namespace tidemark::client {

/// Records of one partition that are sent and answered together.
struct ProducerBatch {
  enum class State : uint8_t { Ready, Sent, Retry };

  bool isNumbered() const noexcept { return sequence != records::kNoSequence; }

  std::shared_ptr<ByteVector> bytes;
  std::vector<PendingRecord> records;
  platform::MonotonicTime deadline;
  int32_t sequence = records::kNoSequence;
  State state = State::Ready;
  /// How often it was sent.
  int attempts = 0;
  NodeId sentTo;
};
using ProducerBatchPtr = std::shared_ptr<ProducerBatch>;

/// What is on its way to one partition.
struct ProducerLane {
  /// A batch that still takes records.
  struct Open {
    records::BatchBuilder builder;
    std::vector<PendingRecord> records;
    platform::MonotonicTime opened;
    /// It lingers no longer.
    bool due = false;
  };

  bool isEmpty() const noexcept { return batches.empty() && !open; }

  TopicPartition where;
  /// Oldest first.
  std::deque<ProducerBatchPtr> batches;
  std::optional<Open> open;
  int32_t nextSequence = 0;
  /// After a failure.
  platform::MonotonicTime notBefore{};
};

/// A batch and where it goes.
struct ProducerSending {
  ProducerLane* lane;
  ProducerBatchPtr batch;
};

/// Gathers a producer's records into batches, numbers these and says which may go when. Decides only; of the producer's
/// executor.
class RecordAccumulator {
 public:
  using Lanes = std::map<TopicPartition, ProducerLane>;

  /// Both must outlive it.
  RecordAccumulator(const ProducerOptions& options, const platform::Clock& clock) : options_(options), clock_(clock) {}

  void append(const TopicPartition& where, const ProducerRecord& record, PendingRecord pending);
  /// The open batch takes no more records. There must be one.
  ProducerBatchPtr close(ProducerLane& lane);
  /// What is open lingers no longer.
  void endLinger();

  struct Next {
    /// Null: none may go now.
    ProducerBatchPtr batch;
    /// When one may, unless something happens before; the end of time: only then.
    platform::MonotonicTime wakeAt = platform::MonotonicTime::max();
  };
  /// The oldest batch that is not on its way, if it may go to `leader` now; without `mayNumber` only one that has its
  /// number.
  Next next(ProducerLane& lane, NodeId leader, bool mayNumber);
  /// Gives the batch its number, unless it has one.
  void number(ProducerLane& lane, ProducerBatch& batch, ProducerId id, ProducerEpoch epoch);
  /// Numbers begin anew.
  void restartNumbers();

  /// What has run out of time and is not on its way; closes what is open.
  std::vector<ProducerSending> expired();
  /// When the next batch runs out of time.
  platform::MonotonicTime nextDeadline() const;

  bool isEmpty() const;
  bool anyNumbered() const;
  Lanes& lanes() noexcept { return lanes_; }

 private:
  const ProducerOptions& options_;
  const platform::Clock& clock_;
  /// Never shrinks: who sends to a partition sends to it again.
  Lanes lanes_;
};

}  // namespace tidemark::client
