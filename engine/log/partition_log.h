#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/uuid.h"
#include "events/text.h"
#include "log/cleaner/clean_view.h"
#include "log/epoch_cache.h"
#include "log/log_config.h"
#include "log/log_context.h"
#include "log/log_types.h"
#include "log/txn_index.h"
#include "records/validator.h"

namespace tidemark::log {

class LookupTrace;
class ProducerStateManager;
struct EndedTransaction;
struct ProducerBatch;
class Segment;
class SegmentList;
struct LoadedLog;

/// What a log tells its owner. Called without the log's lock, on the thread that made the change.
struct LogHooks {
  /// Writing, or a sync, failed: whatever was promised since is in doubt. Called once; the whole log directory goes
  /// offline.
  std::function<void(const Error&)> onFailure;
  /// The recovery point (or where the cleaner got to) fell (truncation). The checkpoint must be on disk before anything
  /// is appended again, so this returns only then.
  std::function<void()> onRecoveryPointLowered;
  /// The high watermark, the log start or the recovery point moved: a checkpoint is due some time.
  std::function<void()> onCheckpointDue;
  /// There may be something to clean: a closed segment became stable, or the topic's settings changed. Only of topics
  /// that are compacted.
  std::function<void()> onCleanable;
};

struct PartitionLogOptions {
  TopicPartition partition;
  /// Zero: not known; written to `partition.metadata` otherwise, and compared with what is there.
  Uuid topicId;
  /// The folder, `TOPIC-PARTITION`, made if missing.
  std::string directory;
  LogConfig config;
  /// What `partition.metadata` says, if the caller has read it already.
  std::optional<std::string> partitionMetadata;
  /// The log starts no earlier.
  Offset logStartOffset{0};
  /// That comes from a checkpoint, which has no sum: the epochs on disk know better where it is too high.
  bool logStartIsCheckpointed = false;
  /// As checkpointed: everything below is on disk.
  Offset recoveryPoint{0};
  /// False: there was a checkpoint, but it could not be read.
  bool recoveryPointKnown = true;
  /// The broker stopped cleanly: nothing is scanned.
  bool cleanShutdown = false;
  /// As checkpointed; nothing: not known.
  std::optional<Offset> highWatermark;
  /// As checkpointed: where the last cleaning ended. Below it offsets may have gaps.
  std::optional<Offset> cleanedTo;
  /// Never cleaned, and filled from nobody whose log is: a batch behind a gap has a false offset.
  bool contiguous = false;
  LogHooks hooks;
  /// Told while the log is opened after an unclean stop: how many segments are still to be read.
  std::function<void(int32_t remainingSegments)> onRecoveryProgress;
};

/// One replica of one partition on disk: segments, indexes, leader epochs, producer state; Kafka's UnifiedLog. Files as
/// Kafka 4.4 writes them (README.md).
///
/// Thread-safe: appends, truncations and moves of the offsets are serial under the log's own lock, which is held for
/// the write into the page cache and not for a sync (but of the folder when a truncation drops segments, and of a
/// segment that is closed where compaction leaves gaps). Reads take the lock only to learn their bounds; who asks for
/// the offsets, the size or a look() gets what was published last and waits for no disk. Errors carry the code a client
/// is told. After a write or a sync failed every call answers KafkaStorageError. The destructor does no I/O: call
/// close() for a clean stop.
class PartitionLog : public std::enable_shared_from_this<PartitionLog> {
 public:
  /// Opens or makes the log. After an unclean stop everything from the recovery point on is read again, cut at the
  /// first bad batch and indexed anew.
  static Result<std::shared_ptr<PartitionLog>> open(LogContext context, PartitionLogOptions options);
  /// Opens what is in a folder for whoever only looks: nothing in it is changed, whether a broker runs on it or not, in
  /// whatever state it is. The log ends behind the last whole batch; indexes that are missing or wrong count as empty;
  /// no producers are known. Of the options the folder, the settings and the log start count.
  static Result<std::shared_ptr<const PartitionLog>> openForReading(LogContext context, PartitionLogOptions options);
  ~PartitionLog();
  PartitionLog(const PartitionLog&) = delete;
  PartitionLog& operator=(const PartitionLog&) = delete;

  // --- append ---
  /// Appends what a client, a coordinator or a controller sent: one batch. Validates by the topic's settings, assigns
  /// offsets and `epoch` in place, checks the producer's sequence, writes once. The bytes are changed (offset, epoch,
  /// timestamps) but not kept. Nothing is appended on failure.
  std::expected<AppendInfo, records::ProduceFailure> appendAsLeader(MutableBytes batch, LeaderEpoch epoch,
                                                                    const AppendOptions& options = {});

  /// Before somebody asks the coordinator whether this partition is in a producer's transaction: what the append of its
  /// first batch has to bring along. Nothing: the transaction is open here already.
  std::optional<VerificationGuard> beginVerification(ProducerId producerId, ProducerEpoch epoch, int32_t firstSequence);

  /// Appends batches that have their offsets and epochs: what a leader sent to its follower, or a quorum's records.
  /// Checks every CRC (`checkCrc`), cuts off an incomplete batch at the end, stops before a batch of a later epoch than
  /// `maxEpoch` (KIP-966: what a leader of a later epoch wrote while this answer was on its way). OffsetOutOfRange if
  /// it does not begin at or after the log end, CorruptMessage if a batch is damaged.
  Result<AppendInfo> appendAsFollower(ByteView batches, LeaderEpoch maxEpoch = LeaderEpoch(INT32_MAX),
                                      bool checkCrc = true);

  // --- read ---
  /// From the batch that holds `start` on, up to `maxBytes` of one segment. `minOneMessage`: the first batch comes
  /// whole even if it is larger. OffsetOutOfRange outside [log start, log end]. A slice stays readable, but its bytes
  /// may change if the log is truncated meanwhile.
  /// `trace`, here and below: is told each step of the lookup, may be null.
  Result<ReadResult> read(Offset start, size_t maxBytes, FetchIsolation isolation, bool minOneMessage,
                          LookupTrace* trace = nullptr) const;
  /// The same with a bound of the caller's (at most the log end): nothing at or after `upperBound` is read.
  Result<ReadResult> readBelow(Offset start, size_t maxBytes, Offset upperBound, bool minOneMessage) const;
  /// The whole batches of read(), in memory: for whoever interprets records (quorum, coordinators).
  Result<ByteVector> readBytes(Offset start, size_t maxBytes, FetchIsolation isolation,
                               bool minOneMessage = true) const;
  Result<ByteVector> readBytesBelow(Offset start, size_t maxBytes, Offset upperBound, bool minOneMessage = true) const;

  /// Aborted transactions whose data or marker lies in [from, upTo), in the order of their markers; perhaps a few
  /// beyond.
  Result<std::vector<AbortedTxn>> abortedTransactions(Offset from, Offset upTo) const;

  /// ListOffsets: the first record from `timestampMs` on, or one of the special timestamps (k…Timestamp). Latest is the
  /// log end: the caller bounds it by what its reader may see. Nothing if there is no such record.
  Result<std::optional<TimestampAndOffset>> offsetForTimestamp(int64_t timestampMs, LookupTrace* trace = nullptr) const;

  /// The place of an offset between log start and log end, for fetch sizes.
  Result<LogOffsetMetadata> locate(Offset offset) const;

  // --- offsets ---
  Offset logStartOffset() const;
  Offset logEndOffset() const;
  LogOffsetMetadata logEndOffsetMetadata() const;
  Offset highWatermark() const;
  /// min(high watermark, first offset of the oldest open transaction).
  Offset lastStableOffset() const;
  OffsetSnapshot offsetSnapshot() const;
  /// Everything below is on disk.
  Offset recoveryPoint() const;

  /// Sets the high watermark, kept within [log start, log end], and returns it. For followers and after a restart; it
  /// may fall.
  Offset updateHighWatermark(Offset offset);
  Offset updateHighWatermark(const LogOffsetMetadata& offset);
  /// For followers: raises it to min(`offset`, log end). The new one, if it moved.
  std::optional<Offset> maybeUpdateHighWatermark(Offset offset);
  /// For the leader: raises it, or learns its place on a newer segment. The old one, if it changed. `slowest`: who held
  /// it back until now, for the event.
  std::optional<LogOffsetMetadata> maybeIncrementHighWatermark(const LogOffsetMetadata& offset,
                                                               NodeId slowest = kNoNode);

  /// DeleteRecords and followers of it: records below `offset` are gone. OffsetOutOfRange above the high watermark.
  /// Returns whether it moved. Segments entirely below go at the next cleanup.
  Result<bool> maybeIncrementLogStartOffset(Offset offset);
  /// DeleteRecords at a leader: `offset` −1 means the high watermark. Returns the new log start.
  Result<Offset> deleteRecords(Offset offset);

  // --- truncation ---
  /// Removes `offset` and everything after it; a batch that holds it goes whole, so that the log may end before it.
  /// Returns whether the log end moved.
  Result<bool> truncateTo(Offset offset);
  /// Removes everything; the log goes on at `offset`, and starts at `logStartOffset` if given.
  Result<void> truncateFullyAndStartAt(Offset offset, std::optional<Offset> logStartOffset = std::nullopt);

  // --- leader epochs ---
  std::optional<LeaderEpoch> latestEpoch() const;
  EpochEndOffset endOffsetForEpoch(LeaderEpoch epoch) const;
  /// A new leader begins its epoch at the log end, whether it will append or not.
  void assignEpochStartOffset(LeaderEpoch epoch, Offset startOffset);
  std::vector<EpochEntry> epochEntries() const;
  /// The epoch that holds `offset`.
  std::optional<LeaderEpoch> epochForOffset(Offset offset) const;

  // --- disk ---
  /// All records appended so far survive a power loss once this returns (the `.log` files only: for logs that are
  /// recovered at every start, as the quorum's). A failure takes the log offline.
  Result<void> sync();
  /// The same with indexes and checkpoints below `upTo` (log end if not given); moves the recovery point.
  Result<void> flush(std::optional<Offset> upTo = std::nullopt);
  /// Closes the active segment and starts an empty one at the log end.
  Result<void> roll();
  /// Flushes and leaves the files as after a clean stop: last time index entry, producer snapshot. Nothing works after.
  Result<void> close();
  /// Stops without touching the disk. Used for logs that are being removed.
  void abandon();
  /// Its directory failed elsewhere: nothing works any more. No hook is called.
  void takeOffline();
  bool offline() const noexcept { return offline_.load(std::memory_order_acquire); }

  /// Removes segments that retention or the log start gave up. Returns how many.
  Result<int> deleteOldSegments();
  /// Removes whole segments below `offset` (quorum log after a snapshot; moves the log start there).
  Result<int> deleteSegmentsBelow(Offset offset);
  /// Drops producers that were silent for too long.
  void expireProducers();

  // --- cleaning; for the cleaner ---
  CleanView cleanView(bool withProducers) const;
  /// Where the last cleaning ended; nothing: never cleaned. Falls with a truncation.
  std::optional<Offset> cleanedTo() const;
  /// Nothing happens if the log was truncated since.
  void setCleanedTo(Offset offset, uint64_t truncations);
  /// Runs `work`, a cleaning; close(), abandon() and a move wait for its end, which it comes to soon once mayClean()
  /// says no.
  Result<void> cleaning(const std::function<Result<void>()>& work);
  bool mayClean(uint64_t truncations) const;
  /// The log is being copied to another directory: it is not cleaned meanwhile, or the copy would keep what the cleaner
  /// dropped, or lose the tombstone of what it has. Returns once a cleaning that runs has stopped.
  void pauseCleaning();
  void resumeCleaning();
  /// An empty segment whose files are named `.cleaned`.
  Result<std::shared_ptr<Segment>> newCleanedSegment(Offset base) const;
  /// `cleaned`, which is on disk, takes the place of `old`, which are neighbours. False: some of them are gone or were
  /// cut, nothing was done. An error before the swap began leaves the log as it was; one in it takes the log offline.
  Result<bool> replaceSegments(std::span<const std::shared_ptr<Segment>> old, const std::shared_ptr<Segment>& cleaned,
                               uint64_t truncations);

  // --- settings and looks ---
  const TopicPartition& partition() const noexcept { return partition_; }
  /// The folder's path.
  const std::string& directory() const noexcept { return directory_; }
  Uuid topicId() const;
  /// Remembers the id and writes `partition.metadata` if there was none. InconsistentTopicId if there was another.
  Result<void> assignTopicId(const Uuid& id);
  std::shared_ptr<const LogConfig> config() const;
  void updateConfig(const LogConfig& config);

  /// Ends, size and segments, true at one moment. Never waits for a file call, nor do the offsets but the recovery
  /// point: an append that the disk holds up has not happened yet.
  LogLook look() const;
  Offset firstSegmentBase() const;
  int64_t sizeInBytes() const;
  std::vector<SegmentInfo> segments() const;
  /// Up to `count` entries of a segment's offset index, from entry `from` on.
  Result<std::vector<OffsetIndexEntry>> offsetIndexEntries(Offset segmentBase, size_t from, size_t count) const;
  Result<std::vector<TimeIndexEntry>> timeIndexEntries(Offset segmentBase, size_t from, size_t count) const;
  /// Headers of up to `count` batches from the one that holds `start` on.
  Result<std::vector<BatchInfo>> batches(Offset start, size_t count) const;
  std::vector<ProducerInfo> producers() const;

 private:
  struct Private {};

 public:
  PartitionLog(Private, LogContext context, PartitionLogOptions options, events::PartitionTag tag, LoadedLog loaded);

 private:
  struct Group {
    ByteView bytes;
    std::span<const records::BatchHeader> headers;
  };

  /// The log's lock for a change of what is published, which is published before others get the lock.
  class TIDEMARK_THREAD_ANNOTATION(scoped_lockable) Changing {
   public:
    explicit Changing(const PartitionLog& log) ACQUIRE(log.mutex_) : log_(log) { log.mutex_.lock(); }
    // The analysis does not see that log_ is the constructor's `log`.
    ~Changing() RELEASE() NO_THREAD_SAFETY_ANALYSIS {
      log_.publish();
      log_.mutex_.unlock();
    }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

   private:
    const PartitionLog& log_;
  };

  // Called with the lock held.
  void publish() const REQUIRES(mutex_) EXCLUDES(publishedMutex_);
  Result<void> checkUsable() const REQUIRES(mutex_);
  /// Takes the log offline; returns what the caller answers.
  Error goOffline(Error error) REQUIRES(mutex_);
  Result<void> maybeRoll(size_t bytes, int64_t maxTimestampMs, Offset firstOffset, Offset lastOffset) REQUIRES(mutex_);
  Result<void> rollTo(Offset baseOffset) REQUIRES(mutex_);
  Result<void> write(const Group& group, bool asLeader) REQUIRES(mutex_);
  /// What a batch that was appended opened or ended.
  void tellTransaction(const records::BatchHeader& header, const std::optional<EndedTransaction>& ended) const
      REQUIRES(mutex_);
  Result<void> noteAppended(const Group& group, int64_t position, Segment& segment, bool asLeader) REQUIRES(mutex_);
  void assignEpoch(LeaderEpoch epoch, Offset startOffset) REQUIRES(mutex_);
  /// `flush.messages` were appended: whoever appended waits until all below this is on disk.
  std::optional<Offset> dueFlush() const REQUIRES(mutex_);
  void setLogEnd(Offset offset) REQUIRES(mutex_);
  void setHighWatermark(const LogOffsetMetadata& offset, NodeId slowest) REQUIRES(mutex_);
  LogOffsetMetadata clamp(const LogOffsetMetadata& offset) const REQUIRES(mutex_);
  LogOffsetMetadata lastStableMetadata() const REQUIRES(mutex_);
  bool raiseLogStart(Offset offset) REQUIRES(mutex_);
  void setLogStart(Offset offset) REQUIRES(mutex_);
  Result<void> truncatePart(Offset offset) REQUIRES(mutex_);
  Result<void> truncateFully(Offset offset, std::optional<Offset> logStartOffset) REQUIRES(mutex_);
  void lowerCleanedTo(Offset offset) REQUIRES(mutex_);
  Result<void> rebuildProducers() REQUIRES(mutex_);
  /// The batch of the last five of its producer that `header` repeats, null: it is new. Looks into the log for those
  /// that a snapshot did not tell.
  Result<const ProducerBatch*> findDuplicate(const records::BatchHeader& header) REQUIRES(mutex_);
  /// An offset so many bytes before `offset`, about; the log start if there are fewer.
  Result<Offset> offsetBefore(Offset offset, uint64_t bytes) const REQUIRES(mutex_);
  Result<size_t> countDeletable() REQUIRES(mutex_);
  Result<int> removeFirstSegments(size_t count) REQUIRES(mutex_);
  /// Renames the segment's files and has them removed later.
  Result<void> retire(Segment& segment) REQUIRES(mutex_);
  Result<void> swapLocked(size_t first, std::span<const std::shared_ptr<Segment>> old,
                          const std::shared_ptr<Segment>& cleaned) REQUIRES(mutex_);
  /// The cleaner is told once the lock is free.
  void noteCleanable() REQUIRES(mutex_);
  /// Works out stableWanted_ anew.
  void waitForStable() REQUIRES(mutex_);
  /// Nothing is cleaned any more, and whoever was at it has stopped.
  void endCleaning();
  /// Has files removed once the topic's delay is over.
  void removeLater(std::vector<std::string> names);
  void removeNow(const std::vector<std::string>& names);

  // Called without it.
  /// Runs what became due under the lock: hooks, files to remove, checkpoints, flushes.
  void afterChange();
  Result<void> writeEpochs() REQUIRES(syncMutex_);
  Result<void> syncSegments(Offset upTo, bool indexes) REQUIRES(syncMutex_);
  Result<void> flushLocked(std::optional<Offset> upTo) REQUIRES(syncMutex_);
  /// Runs `work` with the sync lock, if the log is usable, then what became due.
  Result<void> synced(const std::function<Result<void>()>& work);
  /// What an append left for the background.
  Result<void> catchUp(bool epochs, std::optional<Offset> flushBelow);
  /// Everything below `target`, which was appended, is on disk once it returns. One flushes for all that come until it
  /// begins (group commit); they wait for its end.
  Result<void> flushReaching(Offset target);
  /// Has what was appended flushed after `flush.ms` from now.
  void armFlushTimer() REQUIRES(mutex_);
  void flushLater(int64_t afterMs);
  Result<void> closeFiles() REQUIRES(syncMutex_);
  Result<void> failIfSo(Result<void> result);

  Result<ReadResult> readBounded(Offset start, size_t maxBytes, std::optional<FetchIsolation> isolation,
                                 Offset upperBound, bool minOneMessage, LookupTrace* trace = nullptr) const;
  Result<LogOffsetMetadata> locateFrom(std::shared_ptr<Segment> segment, Offset offset) const;
  Result<std::vector<AbortedTransaction>> abortedIn(const Segment& segment, Offset start, uint64_t end,
                                                    Offset bound) const;
  Result<ByteVector> wholeBatches(const Result<ReadResult>& read) const;
  /// Repeats `look` while segments went away under it.
  template <class Look>
  auto stable(const Look& look) const -> decltype(look());
  std::vector<std::shared_ptr<Segment>> segmentsFrom(Offset offset) const;

  const LogContext context_;
  const TopicPartition partition_;
  const std::string directory_;
  const LogHooks hooks_;
  const events::PartitionTag tag_;
  /// Set under the lock, only from false to true.
  std::atomic<bool> offline_{false};

  /// Held while the log is cleaned; taken before all others.
  Mutex cleanMutex_;
  std::atomic<bool> cleaningCancelled_{false};
  std::atomic<bool> cleaningPaused_{false};
  /// Held over syncs, never by an append; taken before mutex_. Whoever has it knows that no sync of a write it waits
  /// for is still on its way.
  mutable Mutex syncMutex_;
  mutable Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  Uuid topicId_ GUARDED_BY(mutex_);
  std::shared_ptr<const LogConfig> config_ GUARDED_BY(mutex_);
  const std::unique_ptr<SegmentList> segments_ PT_GUARDED_BY(mutex_);
  EpochCache epochs_ GUARDED_BY(mutex_);
  const std::unique_ptr<ProducerStateManager> producers_ PT_GUARDED_BY(mutex_);
  /// Only rises, but for truncation.
  Offset logStart_ GUARDED_BY(mutex_){0};
  LogOffsetMetadata logEnd_ GUARDED_BY(mutex_);
  /// log start <= high watermark <= log end.
  mutable LogOffsetMetadata highWatermark_ GUARDED_BY(mutex_);
  /// Only falls by truncation, and is checkpointed then before anything is appended.
  Offset recoveryPoint_ GUARDED_BY(mutex_){0};
  /// Raised whenever bytes or segments below the log end go away: readers look again if it changed under them.
  uint64_t removals_ GUARDED_BY(mutex_) = 0;
  /// Names changed in the folder since it was last synced.
  bool namesDirty_ GUARDED_BY(mutex_) = false;
  int64_t recordsSinceFlush_ GUARDED_BY(mutex_) = 0;
  struct JointFlush {
    /// Whoever leads it holds this one till its end.
    SharedMutex running;
    /// All who joined need what lies below this on disk. Of the log's lock.
    Offset target;
  };
  /// The flush that appenders may still join. Null: the next one leads.
  std::shared_ptr<JointFlush> nextFlush_ GUARDED_BY(mutex_);
  /// The number of the timer that will flush by `flush.ms`, any other has become void; 0: there is none.
  uint64_t flushTimer_ GUARDED_BY(mutex_) = 0;
  /// Only grows.
  uint64_t flushTimers_ GUARDED_BY(mutex_) = 0;
  uint64_t truncations_ GUARDED_BY(mutex_) = 0;
  std::optional<Offset> cleanedTo_ GUARDED_BY(mutex_);
  /// Once the last stable offset gets there, another closed segment may be cleaned.
  Offset stableWanted_ GUARDED_BY(mutex_){INT64_MAX};
  /// Renamed, but readers may still come for them: removed when `file.delete.delay.ms` is over.
  std::vector<std::string> retired_ GUARDED_BY(mutex_);

  /// What lookers get. The segments are replaced, never changed.
  struct Published {
    OffsetSnapshot ends;
    std::shared_ptr<const std::vector<std::shared_ptr<Segment>>> segments;
    uint64_t segmentsVersion = 0;
    std::shared_ptr<const LogConfig> config;
    std::optional<Offset> cleanedTo;
    uint64_t truncations = 0;
  };
  Published published() const EXCLUDES(publishedMutex_);
  /// A leaf, taken under mutex_ or alone and never held over a file call: mutex_ is held for as long as the disk lets
  /// an append wait.
  mutable Mutex publishedMutex_;
  mutable Published published_ GUARDED_BY(publishedMutex_);

  // What became due under the lock and is done after it.
  struct Due {
    std::optional<Error> failure;
    bool recoveryPointLowered = false;
    bool checkpoint = false;
    bool cleanable = false;
    bool epochs = false;
    /// The first record since a flush came: so long it may wait.
    std::optional<int64_t> flushAfterMs;
    /// A roll: everything below is to be flushed in the background.
    std::optional<Offset> flushBelow;
    std::vector<std::string> filesToRemove;
    bool any = false;
  };
  Due due_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::log
