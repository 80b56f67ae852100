#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "coordinator/share_state/share_state_operations.h"
#include "platform/clock.h"

namespace tidemark::broker {

using coordinator::DeliveryState;
using coordinator::StateBatch;

/// What a consumer says of records that it acquired, with the numbers of the wire.
enum class AcknowledgeType : int8_t {
  Gap = 0,      ///< there is no record
  Accept = 1,   ///< done
  Release = 2,  ///< somebody else shall try
  Reject = 3,   ///< nobody can
  Renew = 4,    ///< not done yet: locked anew
};

/// Offsets that a consumer acknowledges, both ends inside; one type for all or one for each.
struct AcknowledgeBatch {
  Offset first;
  Offset last;
  std::vector<AcknowledgeType> types;
  AcknowledgeType typeOf(Offset offset) const {
    return types.size() == 1 ? types.front() : types[static_cast<size_t>(offset - first)];
  }
};

/// Settings of a share group, under Kafka's names; a group may have its own.
struct SharePartitionConfig {
  /// `share.record.lock.duration.ms`
  platform::Duration lockDuration = std::chrono::seconds(30);
  /// `share.delivery.count.limit`: after so many deliveries a record is given up.
  int16_t deliveryCountLimit = 5;
  /// `share.partition.max.record.locks`: offsets from the start to the end at most.
  int32_t maxRecordLocks = 2000;
  /// What is given up goes to a dead letter queue before it is archived (KIP-1191).
  bool deadLetters = false;
};

/// A batch of the partition's log, by its offsets; `skipped`: its transaction was aborted and the group does not want
/// those.
struct LogBatchRange {
  Offset first;
  Offset last;
  bool skipped = false;
};

/// Offsets that a consumer holds now, both ends inside.
struct AcquiredRange {
  Offset first;
  Offset last;
  int16_t deliveryCount = 0;
  friend bool operator==(const AcquiredRange&, const AcquiredRange&) = default;
};

/// What one share group has done with one partition, at the partition's leader, as a state machine without I/O; Kafka's
/// SharePartition.
///
/// From the start offset to the end every offset belongs to a stretch of offsets in the same state. Acquired stretches
/// are locked for their member until a time; what becomes of them (acknowledged, archived, available again) counts once
/// it is persisted, and is taken back if it cannot be (expire() is due then: a lock may have run out); until then
/// nobody may have them. With all before them done, stretches that are final leave and the start moves. Writes go one
/// at a time; what comes meanwhile goes together in the next.
///
/// Not thread-safe.
class SharePartition {
 public:
  /// Tells who waits for a write apart; 0: nobody.
  using Ticket = uint64_t;

  SharePartition(coordinator::ShareKey key, LeaderEpoch leaderEpoch, SharePartitionConfig config)
      : key_(std::move(key)), leaderEpoch_(leaderEpoch), config_(config) {}

  const coordinator::ShareKey& key() const noexcept { return key_; }
  LeaderEpoch leaderEpoch() const noexcept { return leaderEpoch_; }
  void configure(const SharePartitionConfig& config) noexcept { config_ = config; }

  /// Takes up what was persisted; `start` is where to begin if nobody has decided that yet.
  void load(const coordinator::ShareStateRead& state, Offset start);

  // --- fetching -----------------------------------------------------------------------------------------------------

  /// From where the log is to be read next: the first offset that is available again, else behind the end.
  Offset nextFetchOffset() const;
  /// Whether acquire() could give anything, if the log has it.
  bool canAcquire() const { return nextFetchOffset() < end_ || inFlight() < config_.maxRecordLocks; }

  struct Acquisition {
    std::string member;
    /// Records at most. Whole batches of the log are given, though, unless `strict` says otherwise.
    int32_t maxRecords = INT32_MAX;
    bool strict = false;
    /// Ranges of about so many records are made, along the batches of the log.
    int32_t batchSize = INT32_MAX;
    /// Where the log was read, and what was found there, in order. What lies between is not in the log.
    Offset fetchOffset;
    std::span<const LogBatchRange> batches;
    platform::MonotonicTime now;
  };
  /// Locks what is available for the member. Records that have been delivered often are given few at a time and at last
  /// alone, so that a bad one does not spoil the others.
  std::vector<AcquiredRange> acquire(const Acquisition& what);

  // --- acknowledging
  // --------------------------------------------------------------------------------------------------

  /// All or nothing. Nothing: done, no write is needed. A ticket: once written() names it. What is before the start is
  /// left as it is, as in Kafka, but done only once that start is persisted: until then the next leader would give it
  /// out again. Errors: InvalidRequest (offsets that were never given out), InvalidRecordState (not this member's, or
  /// not any more).
  Result<std::optional<Ticket>> acknowledge(const std::string& member, std::span<const AcknowledgeBatch> batches,
                                            platform::MonotonicTime now);
  /// The member is gone: what it holds is available again, as if it had not been delivered. Nothing: it held nothing.
  std::optional<Ticket> release(const std::string& member);

  // --- time
  // -------------------------------------------------------------------------------------------------------------

  std::optional<platform::MonotonicTime> nextLockTimeout() const;
  struct ExpiredLock {
    Offset first;
    Offset last;
    std::string member;
    int16_t deliveryCount = 0;
    /// Delivered for the last time.
    bool archived = false;
  };
  /// Locks that have run out; this is not taken back if it cannot be persisted.
  std::vector<ExpiredLock> expire(platform::MonotonicTime now);

  // --- persistence
  // ------------------------------------------------------------------------------------------------------

  /// The next write, if there is something to write and none is under way.
  std::optional<coordinator::ShareStateWrite> takeWrite();
  /// The write that was taken is done, or has failed: what it changed counts, or is taken back. Whose it was.
  std::vector<Ticket> written(bool done);
  bool isWriting() const noexcept { return writing_.has_value(); }
  /// All that wait, for whoever fences this share-partition.
  std::vector<Ticket> abandon();

  // --- dead letters
  // -----------------------------------------------------------------------------------------------------

  struct Letter {
    Offset first;
    Offset last;
    int16_t deliveryCount = 0;
    /// By a consumer; else it was delivered too often.
    bool rejected = false;
    friend bool operator==(const Letter&, const Letter&) = default;
  };
  /// What is to be written to the dead letter queue: it waits in the state Archiving, which holds the start, until
  /// archive().
  std::vector<Letter> takeLetters() { return std::exchange(letters_, {}); }
  /// Their dead letters are written, or never will be.
  void archive(Offset first, Offset last);

  /// The log starts here now: what was before is gone.
  void moveStart(Offset logStart);

  // --- looks
  // --------------------------------------------------------------------------------------------------------------

  Offset startOffset() const noexcept { return start_; }
  /// Behind the last offset that was ever given out.
  Offset endOffset() const noexcept { return end_; }
  int64_t inFlight() const noexcept { return end_ - start_; }
  int32_t stateEpoch() const noexcept { return stateEpoch_; }
  /// Offsets from the start on whose delivery is over.
  int32_t deliveryCompleteCount() const;

  struct Stretch {
    Offset first;
    Offset last;
    DeliveryState state = DeliveryState::Available;
    int16_t deliveryCount = 0;
    /// Of an acquired one.
    std::string member;
    platform::MonotonicTime lockedUntil;
    friend bool operator==(const Stretch&, const Stretch&) = default;
  };
  std::vector<Stretch> stretches() const;

 private:
  using Member = std::shared_ptr<const std::string>;
  struct Run {
    Offset last;
    DeliveryState state = DeliveryState::Available;
    int16_t deliveryCount = 0;
    /// Of one that is acquired, or would be again.
    Member member;
    platform::MonotonicTime lockedUntil;
    /// The write that makes the state count; 0: it counts. It was Acquired before, delivered `countBefore` times.
    uint64_t write = 0;
    int16_t countBefore = 0;
    /// Of one that is on its way to the dead letter queue.
    bool rejected = false;
    bool isFree() const noexcept { return state == DeliveryState::Available && write == 0; }
    bool isHeld() const noexcept { return state == DeliveryState::Acquired; }
  };
  using Runs = std::map<Offset, Run>;
  struct Write {
    uint64_t number = 0;
    std::vector<StateBatch> batches;
    std::vector<Ticket> tickets;
  };

  /// Makes `offset` the first of a run, if it is inside one.
  Runs::iterator splitAt(Offset offset);
  /// Offsets that the log does not have, or the group does not want.
  void drop(Offset first, Offset last);
  void addNew(Offset first, Run run);
  Result<void> check(const std::string& member, const AcknowledgeBatch& batch) const;
  void change(Runs::iterator run, DeliveryState state, int16_t deliveryCount);
  DeliveryState givenUp() const noexcept {
    return config_.deadLetters ? DeliveryState::Archiving : DeliveryState::Archived;
  }
  DeliveryState stateAfterRelease(int16_t deliveryCount) const noexcept {
    return deliveryCount >= config_.deliveryCountLimit ? givenUp() : DeliveryState::Available;
  }
  Ticket ticket();
  /// Of a write that is under way, if it is that one or a later one, else of the next.
  Ticket ticketOfWrite(uint64_t number);
  void advanceStart();

  const coordinator::ShareKey key_;
  const LeaderEpoch leaderEpoch_;
  SharePartitionConfig config_;
  int32_t stateEpoch_ = 0;
  Offset start_{0};
  Offset end_{0};
  /// By first offset, from start_ to end_ without a gap.
  Runs runs_;
  uint64_t lastNumber_ = 0;
  Write queued_{.number = 1, .batches = {}, .tickets = {}};
  std::optional<Write> writing_;
  /// The first write to tell of the last records that were given up without waiting for one: what is before the start
  /// may be given out again by the next leader until it is done.
  std::optional<uint64_t> unsaved_;
  std::vector<Letter> letters_;
};

/// Whether the batches of a request make sense: in order, not empty, with one type or one for each offset, and Renew
/// only in a request that says so.
Result<std::vector<AcknowledgeBatch>> readAcknowledgeBatches(std::span<const std::pair<Offset, Offset>> ranges,
                                                             std::span<const std::vector<int8_t>> types, bool renews);

}  // namespace tidemark::broker
