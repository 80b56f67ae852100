#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "log/cleaner/clean_view.h"
#include "log/log_types.h"
#include "platform/file_system.h"
#include "platform/logger.h"
#include "records/batch.h"
#include "records/control.h"
#include "records/validator.h"

namespace tidemark::log {

/// A batch of an idempotent producer as it is remembered for retries.
struct ProducerBatch {
  int32_t lastSequence = records::kNoSequence;
  Offset lastOffset = kNoOffset;
  /// last offset − first offset = last sequence − first sequence.
  int32_t offsetDelta = 0;
  int64_t timestampMs = records::kNoTimestamp;

  int32_t firstSequence() const noexcept;
  Offset firstOffset() const noexcept { return lastOffset - offsetDelta; }
};

/// What the log knows of one producer.
class ProducerEntry {
 public:
  static constexpr size_t kWindow = 5;

  explicit ProducerEntry(ProducerId id) noexcept : id_(id) {}

  ProducerId id() const noexcept { return id_; }
  ProducerEpoch epoch() const noexcept { return epoch_; }
  bool hasBatches() const noexcept { return count_ > 0; }
  /// −1 if no batch of this epoch is known.
  int32_t lastSequence() const noexcept {
    return count_ == 0 ? records::kNoSequence : batches_[count_ - 1].lastSequence;
  }
  const ProducerBatch& lastBatch() const noexcept { return batches_[count_ - 1]; }
  int32_t coordinatorEpoch() const noexcept { return coordinatorEpoch_; }
  int64_t lastTimestampMs() const noexcept { return lastTimestampMs_; }
  /// kNoOffset: no transaction is open.
  Offset transactionStart() const noexcept { return transactionStart_; }

  /// The remembered batch with exactly these sequences in this epoch: a retry of it.
  const ProducerBatch* findDuplicate(ProducerEpoch epoch, int32_t firstSequence, int32_t lastSequence) const noexcept;

  void addBatch(ProducerEpoch epoch, const ProducerBatch& batch) noexcept;
  /// The last batch of this epoch, of a producer without any: as somebody else remembers it.
  void adoptBatch(const ProducerBatch& batch) noexcept;
  /// A batch that lies in the log before some of those that are remembered: it joins them unless it is there or five
  /// are newer.
  void recallBatch(ProducerEpoch epoch, const ProducerBatch& batch) noexcept;
  /// Whether a batch with this last sequence comes before those that are remembered, of which there is room for more.
  bool mayRecall(ProducerEpoch epoch, int32_t lastSequence) const noexcept;
  void beginTransaction(Offset first) noexcept { transactionStart_ = first; }
  void endTransaction(ProducerEpoch epoch, int32_t coordinatorEpoch, int64_t timestampMs) noexcept;
  /// As a snapshot tells it.
  void restore(ProducerEpoch epoch, const std::optional<ProducerBatch>& batch, int64_t timestampMs,
               int32_t coordinatorEpoch, Offset transactionStart) noexcept;

 private:
  /// A new epoch starts without batches.
  void enter(ProducerEpoch epoch) noexcept;

  ProducerId id_;
  ProducerEpoch epoch_;
  int32_t coordinatorEpoch_ = -1;
  int64_t lastTimestampMs_ = records::kNoTimestamp;
  Offset transactionStart_ = kNoOffset;
  size_t count_ = 0;
  /// Oldest first.
  std::array<ProducerBatch, kWindow> batches_;
};

/// A transaction that a marker ended.
struct EndedTransaction {
  ProducerId producerId;
  Offset firstOffset;
  /// Of the marker.
  Offset lastOffset;
  bool aborted = false;
  /// First offset of the oldest transaction that is still open, else the marker's offset + 1.
  Offset lastStableOffset;
};

/// The producers of one log (Kafka's ProducerStateManager): which sequence comes next, which batches are repeated,
/// which transactions are open; with its `.snapshot` files. Guarded by the log's lock.
///
/// Rules of Apache Kafka 4.4: an older epoch is refused; within an epoch sequences follow each other modulo 2³¹; a new
/// epoch begins at 0; a producer nobody knows (any more) may begin anywhere.
class ProducerStateManager {
 public:
  ProducerStateManager(platform::FileSystem& files, platform::Logger& logger, std::string directory)
      : files_(files), logger_(logger), directory_(std::move(directory)) {}

  // --- appends ---
  /// The remembered batch that `header` repeats; null: it is new.
  const ProducerBatch* findDuplicate(const records::BatchHeader& header) const;
  /// Whether `header`, which has a producer id and is about to be appended, may follow. InvalidProducerEpoch,
  /// OutOfOrderSequenceNumber (only from clients), InvalidTxnState, NotLeaderOrFollower (kNotAsked),
  /// TransactionCoordinatorFenced.
  Result<void> check(const records::BatchHeader& header, const std::optional<records::EndTxnMarker>& marker,
                     const AppendOptions& options) const;
  /// Before the coordinator is asked whether this log is in the transaction (KIP-890): what an append must bring along.
  /// Nothing: the transaction is open here, so nobody has to be asked.
  std::optional<VerificationGuard> beginVerification(ProducerId producerId, ProducerEpoch epoch, int32_t firstSequence,
                                                     int64_t nowMs);
  struct Verification {
    VerificationGuard guard = 0;
    ProducerEpoch epoch;
    /// A later one may not come before it, though nobody knows the producer yet.
    int32_t lowestSequence = 0;
    int64_t sinceMs = 0;
  };
  /// Of the transaction that follows the one which a marker of version 2 ends: it has the marker's own epoch. Whoever
  /// appends the marker keeps it, since apply() voids all of the producer.
  std::optional<Verification> nextVerification(const records::BatchHeader& marker) const;
  void keepVerification(ProducerId producerId, const Verification& verification) {
    verifications_[producerId] = verification;
  }
  /// A batch is in the log at `header.baseOffset`. `place`: of its first byte. Returns the transaction it ended.
  std::optional<EndedTransaction> apply(const records::BatchHeader& header,
                                        const std::optional<records::EndTxnMarker>& marker,
                                        const LogOffsetMetadata& place);
  /// The state holds up to `offset`.
  void advanceTo(Offset offset) noexcept { end_ = offset; }
  Offset end() const noexcept { return end_; }

  // --- retries that a snapshot forgot ---
  /// What check() found out of order may be a retry all the same: a snapshot says of each producer only its last batch,
  /// and the ones before it lie in the log, below the returned offset. Nothing: it is none.
  std::optional<Offset> forgottenBelow(const records::BatchHeader& header) const;
  /// A batch that lies below forgottenBelow().
  void recall(const records::BatchHeader& header);
  /// All were recalled that are to be: nobody asks again.
  void endRecall() noexcept { forgottenBelow_.reset(); }

  // --- transactions ---
  /// First offset of the oldest transaction that is open or whose marker is not below the high watermark.
  std::optional<LogOffsetMetadata> firstUnstableOffset() const;
  /// First offset of the transaction that a producer has open; kNoOffset: none.
  Offset transactionStart(ProducerId producer) const;
  void onHighWatermark(Offset highWatermark);
  void onLogStart(Offset logStart);

  // --- looks ---
  bool empty() const noexcept { return producers_.empty(); }
  /// By producer id.
  std::vector<ProducerInfo> producers() const;
  /// For the cleaner: where each producer's newest state is.
  std::unordered_map<ProducerId, LastProducerRecord> lastRecords() const;
  /// Forgets who was silent for `expirationMs` and has no transaction open.
  void expire(int64_t nowMs, int64_t expirationMs);

  // --- disk ---
  /// The offsets of the snapshot files that were found in the folder, told once after opening.
  void adoptSnapshots(std::vector<Offset> offsets);
  const std::vector<Offset>& snapshots() const noexcept { return snapshots_; }
  /// Writes a snapshot named by end(), if the state moved since the last. Returns its path if it wrote one. Not synced.
  Result<std::optional<std::string>> takeSnapshot();
  /// Goes back to the newest snapshot in (logStart, logEnd], unless the state holds at logEnd already; snapshots
  /// outside are removed, damaged ones too. Of those above `notAbove`, the high watermark, none is loaded: transactions
  /// whose markers lie between are in no snapshot, and keep their records unstable. end() is then the offset from which
  /// batches have to be applied again.
  Result<void> reload(Offset logStart, Offset logEnd, int64_t nowMs, int64_t expirationMs,
                      Offset notAbove = Offset(INT64_MAX));
  /// Nothing is known, the state holds at `offset`; all snapshots are removed.
  Result<void> resetTo(Offset offset);
  Result<void> removeSnapshot(Offset offset);
  /// Removes those before the newest that belong to no segment.
  Result<void> removeStraySnapshots(const std::vector<Offset>& segmentBases);

  /// Producers of whom the batches that were applied tell nothing, since theirs lie below the log start or were
  /// compacted away: as the newest snapshot up to end() has them, which reload() passed over. A damaged one counts as
  /// none.
  Result<void> adoptProducers(int64_t nowMs, int64_t expirationMs);

 private:
  struct OpenTransaction {
    ProducerId producerId;
    LogOffsetMetadata first;
    /// Of the marker; kNoOffset while it is open.
    Offset last = kNoOffset;
  };

  Result<void> loadSnapshot(Offset offset, int64_t nowMs, int64_t expirationMs);
  Result<void> checkVerified(const records::BatchHeader& header, VerificationGuard guard) const;
  void clear();
  std::string pathOf(Offset offset) const;

  platform::FileSystem& files_;
  platform::Logger& logger_;
  const std::string directory_;
  std::unordered_map<ProducerId, ProducerEntry> producers_;
  /// Questions under way, and answered ones whose batch has not come; not on disk.
  std::unordered_map<ProducerId, Verification> verifications_;
  VerificationGuard lastGuard_ = 0;
  /// By first offset.
  std::map<Offset, OpenTransaction> open_;
  /// Ended, but the marker is not below the high watermark yet.
  std::map<Offset, OpenTransaction> unreplicated_;
  Offset end_{0};
  Offset lastSnapshot_{0};
  /// Where the snapshot was taken from which the state was loaded, until the batches before it are recalled.
  std::optional<Offset> forgottenBelow_;
  /// Rising.
  std::vector<Offset> snapshots_;
};

/// The bytes of a `.snapshot` file: i16 version 1, u32 CRC-32C of what follows it, i32 count, 46 bytes an entry.
ByteVector encodeProducerSnapshot(const std::vector<const ProducerEntry*>& entries);
/// CorruptMessage if version, size or CRC are wrong.
Result<std::vector<ProducerEntry>> decodeProducerSnapshot(ByteView bytes);

}  // namespace tidemark::log
