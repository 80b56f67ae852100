#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "events/recorder.h"
#include "log/log_types.h"
#include "platform/clock.h"
#include "purgatory/delayed_operation.h"
#include "records/validator.h"
#include "replication/fetch_session.h"
#include "replication/partition.h"

// The three requests that wait in a broker's purgatories: a produce for the ISR, a fetch for bytes, a DeleteRecords for
// the followers' log starts.

namespace tidemark::replication {

class ReplicaManager;

/// Whose request it is, for views and events.
struct RequestLabel {
  std::string client;
  int32_t correlation = 0;
};

struct ProduceItem {
  TopicPartition partition;
  /// Stamped in place.
  MutableBytes records;
  /// Of a batch of a transaction: as in log::AppendOptions.
  std::optional<log::VerificationGuard> verification = std::nullopt;
};

struct ProduceResult {
  TopicPartition partition;
  ErrorCode error = ErrorCode::None;
  std::string message;
  Offset baseOffset = kNoOffset;
  int64_t logAppendTimeMs = records::kNoTimestamp;
  Offset logStartOffset = kNoOffset;
  std::vector<records::RecordError> recordErrors;
};
using ProduceDone = std::move_only_function<void(std::vector<ProduceResult>)>;

struct FetchParams {
  struct Follower {
    NodeId replica;
    BrokerEpoch brokerEpoch{};
  };
  /// None: a consumer.
  std::optional<Follower> follower;
  platform::Duration maxWait{};
  int32_t minBytes = 0;
  int32_t maxBytes = 0;
  log::FetchIsolation isolation = log::FetchIsolation::HighWatermark;
  /// False: a consumer that may read from any replica (KIP-392).
  bool leaderOnly = true;
  /// Where the consumer stands; empty: it does not say.
  std::string rack;
  RequestLabel label;
};

struct FetchResult {
  Error error{ErrorCode::None, {}};
  std::shared_ptr<Partition> partition;
  Offset highWatermark = kNoOffset;
  Offset lastStableOffset = kNoOffset;
  Offset logStartOffset = kNoOffset;
  std::optional<log::EpochEndOffset> diverging;
  /// Where the fetch begins in the files.
  log::LogOffsetMetadata start;
  platform::FileSlice slice;
  std::vector<log::AbortedTransaction> aborted;
  /// The consumer should read from that broker; nothing was read then.
  std::optional<NodeId> preferredReadReplica;
};
using FetchDone = std::move_only_function<void(std::vector<FetchResult>)>;

struct DeleteResult {
  TopicPartition partition;
  ErrorCode error = ErrorCode::None;
  Offset lowWatermark = kNoOffset;
};
using DeleteDone = std::move_only_function<void(std::vector<DeleteResult>)>;

// --- what each waits for
// ----------------------------------------------------------------------------------------------

struct PendingProduce {
  /// Of its result.
  size_t index = 0;
  std::shared_ptr<Partition> partition;
  Offset requiredOffset;
  LeaderEpoch epoch;
};

/// What a view shows of a parked request.
struct ParkedView {
  RequestLabel label;
  TopicPartition partition;
  /// High watermark waited for, or the offset a fetch starts at.
  Offset needs;
  int32_t minBytes = 0;
  NodeId follower;
  platform::Duration timeout{};
  platform::MonotonicTime deadline{};
};

/// Waits until the high watermark of each partition has passed what was appended (acks=all).
class DelayedProduce final : public purgatory::DelayedOperation {
 public:
  DelayedProduce(platform::Duration timeout, std::vector<PendingProduce> pending, std::vector<ProduceResult> results,
                 RequestLabel label, events::Recorder& recorder, platform::Clock& clock, ProduceDone done);
  std::string describe() const override;
  ParkedView view() const;

 protected:
  bool canComplete() override;
  void onParked() override;
  void onComplete() override;
  void onExpiration() override;

 private:
  const RequestLabel label_;
  events::Recorder& recorder_;
  platform::Clock& clock_;
  const platform::MonotonicTime begun_;
  /// The first one's, for views and events.
  const std::shared_ptr<Partition> partition_;
  const Offset needs_;
  std::vector<PendingProduce> pending_;
  std::vector<ProduceResult> results_;
  ProduceDone done_;
  bool wasParked_ = false;
};

struct PendingFetch {
  std::shared_ptr<Partition> partition;
  FetchAsk ask;
  log::LogOffsetMetadata start;
};

/// Waits until enough bytes lie below the reader's bound, or something else makes the answer worth sending.
class DelayedFetch final : public purgatory::DelayedOperation {
 public:
  DelayedFetch(ReplicaManager& manager, FetchParams params, std::vector<FetchItem> items,
               std::vector<PendingFetch> pending, events::Recorder& recorder, platform::Clock& clock, FetchDone done);
  std::string describe() const override;
  /// Of `preferred`, if that is among the partitions it waits for, else of the first.
  ParkedView view(const TopicPartition* preferred) const;

 protected:
  bool canComplete() override;
  void onParked() override;
  void onComplete() override;
  void onExpiration() override;

 private:
  ReplicaManager& manager_;
  const FetchParams params_;
  events::Recorder& recorder_;
  platform::Clock& clock_;
  const platform::MonotonicTime begun_;
  const std::vector<FetchItem> items_;
  const std::vector<PendingFetch> pending_;
  FetchDone done_;
  bool wasParked_ = false;
};

struct PendingDelete {
  size_t index = 0;
  std::shared_ptr<Partition> partition;
  Offset requiredOffset;
};

/// Waits until each follower that is alive has cut its log as well.
class DelayedDeleteRecords final : public purgatory::DelayedOperation {
 public:
  DelayedDeleteRecords(platform::Duration timeout, std::vector<PendingDelete> pending,
                       std::vector<DeleteResult> results, DeleteDone done);
  std::string describe() const override;

 protected:
  bool canComplete() override;
  void onComplete() override;

 private:
  std::vector<PendingDelete> pending_;
  std::vector<DeleteResult> results_;
  DeleteDone done_;
};

}  // namespace tidemark::replication
