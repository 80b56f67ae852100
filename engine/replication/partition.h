#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "events/recorder.h"
#include "log/partition_log.h"
#include "metadata/image.h"
#include "platform/clock.h"
#include "replication/isr.h"
#include "replication/replica_selector.h"

namespace tidemark::replication {

/// A change of a partition's ISR that its leader asks the controller for (AlterPartition).
struct IsrProposal {
  TopicIdPartition partition;
  LeaderEpoch leaderEpoch;
  PartitionEpoch partitionEpoch;
  struct Member {
    NodeId node;
    /// −1: not known, the controller does not check it.
    BrokerEpoch epoch{};
  };
  std::vector<Member> isr;
  metadata::LeaderRecoveryState recoveryState = metadata::LeaderRecoveryState::Recovered;
};

/// What the controller made of a proposal.
struct IsrDecision {
  ErrorCode error = ErrorCode::None;
  NodeId leader;
  LeaderEpoch leaderEpoch;
  PartitionEpoch partitionEpoch;
  std::vector<NodeId> isr;
};

/// What partitions use of their broker. The references outlive them.
struct PartitionEnvironment {
  NodeId self;
  platform::Clock& clock;
  events::Recorder& recorder;
  /// replica.lag.time.max.ms
  platform::Duration lagMax{};
  /// Whether a broker may join an ISR: alive, neither fenced nor shutting down, and, if `epoch` is known, still of that
  /// registration. Any thread, takes no lock that is held while a partition is called.
  std::function<bool(NodeId node, BrokerEpoch epoch)> eligible;
  /// Whether a broker has registered anew since it had `epoch`: what it fetched then says nothing of what it has now.
  /// Under the same rules; null: never.
  std::function<bool(NodeId node, BrokerEpoch epoch)> isStale;
  /// This broker's registration; −1 before the first.
  std::function<BrokerEpoch()> brokerEpoch;
  /// Sends a proposal; the decision comes to Partition::decided(). Never inside the call.
  std::function<void(IsrProposal)> propose;
  /// A follower in the ISR is behind: Partition::checkIsr() is due at that time at the latest.
  std::function<void(platform::MonotonicTime)> lagDeadline;
};

/// Who asks and in which belief.
struct EpochCheck {
  /// None: the client did not say, so nothing is compared.
  std::optional<LeaderEpoch> currentLeaderEpoch;
  bool leaderOnly = true;
};

struct FollowerFetch {
  NodeId replica;
  BrokerEpoch brokerEpoch{};
  Offset logStartOffset;
};

struct PartitionRead {
  log::ReadResult read;
  log::OffsetSnapshot offsets;
  /// The reader's log parted from ours: where the last epoch that both know ends here. Nothing was read then.
  std::optional<log::EpochEndOffset> diverging;
  /// The high watermark, as this read moved it by telling how far a follower is.
  bool highWatermarkMoved = false;
};

struct PartitionReadOptions {
  Offset fetchOffset;
  std::optional<LeaderEpoch> lastFetchedEpoch;
  EpochCheck check;
  int32_t maxBytes = 0;
  bool minOneMessage = false;
  log::FetchIsolation isolation = log::FetchIsolation::HighWatermark;
  /// A replica's fetch, which tells the leader its log end.
  std::optional<FollowerFetch> follower;
};

/// A partition as views and DescribeTopics see it at this broker.
struct PartitionView {
  bool isLeader = false;
  NodeId leader;
  LeaderEpoch leaderEpoch;
  PartitionEpoch partitionEpoch;
  Offset epochStartOffset;
  std::vector<NodeId> isr;
  std::map<NodeId, FollowerState> followers;
};

/// One replica of a partition on this broker: leads or follows by what the metadata says, knows how far the others are,
/// moves the high watermark, asks for ISR changes; Kafka's Partition.
///
/// Thread-safe. Lock order: leadership (shared by appends, reads and fetches; exclusive for a change of role), then the
/// replicas' state, then the log's own lock. What follows from a moved high watermark (parked requests) is the
/// caller's: each function that may move it says so in its result, and is called with no lock held.
class Partition {
 public:
  Partition(std::shared_ptr<const PartitionEnvironment> environment, TopicIdPartition id, TopicPartition name,
            std::shared_ptr<log::PartitionLog> log);

  const TopicPartition& name() const noexcept { return name_; }
  const TopicIdPartition& id() const noexcept { return id_; }
  /// Another one once the replica moved to another directory; the old one is closed then.
  std::shared_ptr<log::PartitionLog> log() const {
    Lock lock(logMutex_);
    return log_;
  }
  const events::PartitionTag& tag() const noexcept { return tag_; }

  // --- what the metadata says ---------------------------------------------------------------------------------------

  struct RoleChange {
    bool newLeaderEpoch = false;
    bool highWatermarkMoved = false;
  };
  /// Older registrations than the one applied last are ignored; the same one again leaves what the controller has been
  /// asked for since as it is.
  RoleChange makeLeader(const metadata::PartitionRegistration& registration, int minInsyncReplicas);
  RoleChange makeFollower(const metadata::PartitionRegistration& registration, int minInsyncReplicas);
  /// Whether the high watermark moved.
  bool setMinInsyncReplicas(int count);
  /// Neither leads nor follows any more: its log is about to be closed.
  void stop();

  // --- clients ------------------------------------------------------------------------------------------------------

  struct Appended {
    log::AppendInfo info;
    /// The offset that the high watermark must reach for acks=all.
    Offset requiredOffset;
    LeaderEpoch leaderEpoch;
  };
  /// NotLeaderOrFollower; NotEnoughReplicas for acks=all while the ISR is too small. Does not move the high watermark:
  /// call advance() next.
  std::expected<Appended, records::ProduceFailure> appendAsLeader(MutableBytes batch, int16_t acks,
                                                                  const log::AppendOptions& options);
  /// Raises the high watermark to what the ISR holds. Whether it moved.
  bool advance();

  /// Also for followers, whose progress moves the high watermark.
  Result<PartitionRead> read(const PartitionReadOptions& options);

  /// Whether an acks=all produce up to `requiredOffset` in `epoch` is done: nothing while it must wait, else its error
  /// (None; NotEnoughReplicasAfterAppend; NotLeaderOrFollower).
  std::optional<ErrorCode> produceOutcome(Offset requiredOffset, LeaderEpoch epoch) const;

  /// The offsets as they are, for the arithmetic of a parked fetch.
  Result<log::OffsetSnapshot> offsets(const EpochCheck& check) const;

  /// ListOffsets. `isolation`: LogEnd for replicas. Nothing: no such record.
  Result<std::optional<log::TimestampAndOffset>> listOffset(int64_t timestampMs, log::FetchIsolation isolation,
                                                            const EpochCheck& check) const;
  Result<log::EpochEndOffset> endOffsetForEpoch(LeaderEpoch epoch, const EpochCheck& check) const;
  /// DeleteRecords at the leader; the new log start. PolicyViolation: the topic is compacted and nothing else.
  Result<Offset> deleteRecords(Offset offset);
  /// The smallest log start of all replicas that are alive: what DeleteRecords waits for.
  Result<Offset> lowWatermark() const;

  // --- followers ----------------------------------------------------------------------------------------------------

  struct FollowerAppend {
    Offset logEndOffset;
    bool highWatermarkMoved = false;
  };
  /// What the leader of `epoch` sent. NotLeaderOrFollower if this replica no longer follows that epoch.
  Result<FollowerAppend> appendAsFollower(ByteView batches, LeaderEpoch epoch, Offset leaderHighWatermark,
                                          Offset leaderLogStart);
  Result<void> truncateAsFollower(Offset offset, LeaderEpoch epoch);
  /// The leader of `epoch` answered a fetch with where its log parts from this one: tells events::LogDiverged, before
  /// what lies from `cut` on is truncated. Nothing if this replica no longer follows that epoch.
  void tellDivergence(LeaderEpoch epoch, LeaderEpoch inEpoch, Offset leaderEnd, Offset cut) const;
  Result<void> restartAsFollower(Offset offset, LeaderEpoch epoch);

  // --- moving to another directory (KIP-113) ------------------------------------------------------------------------
  // The copy is the mover's: nobody else appends to it. An exclusive hold on the leadership keeps it as it is.

  /// The copy that will take the log's place; null if the replica is not being moved.
  std::shared_ptr<log::PartitionLog> future() const;
  void setFuture(std::shared_ptr<log::PartitionLog> future);
  /// Cheap: whether somebody wants to know of appends.
  bool isMoving() const noexcept { return moving_.load(std::memory_order_relaxed); }

  struct CopyStep {
    int64_t bytes = 0;
    /// The copy ended where the log did.
    bool caughtUp = false;
  };
  /// Cuts the copy where it parts from the log, then copies up to `maxBytes` behind it, and the log's offsets.
  /// ReplicaNotAvailable if there is none.
  Result<CopyStep> copyToFuture(size_t maxBytes);
  /// Copies what is left, if that is no more than `maxBytes`, and has the copy take the log's place by `replace`, while
  /// nobody reads or appends. Whether it did.
  Result<bool> replaceWithFuture(size_t maxBytes,
                                 const std::function<Result<std::shared_ptr<log::PartitionLog>>()>& replace);

  // --- the ISR ------------------------------------------------------------------------------------------------------

  /// Proposes to drop members that lag for too long.
  void checkIsr();
  /// The controller's answer to `proposal`. Whether the high watermark moved.
  bool decided(const IsrProposal& proposal, const IsrDecision& decision);

  // --- quotas and racks ---------------------------------------------------------------------------------------------

  /// Whether the topic's configuration names this replica in leader.replication.throttled.replicas, and in
  /// follower.….
  void setThrottled(bool asLeader, bool asFollower) noexcept {
    leaderThrottled_.store(asLeader, std::memory_order_relaxed);
    followerThrottled_.store(asFollower, std::memory_order_relaxed);
  }
  bool isLeaderThrottled() const noexcept { return leaderThrottled_.load(std::memory_order_relaxed); }
  bool isFollowerThrottled() const noexcept { return followerThrottled_.load(std::memory_order_relaxed); }
  /// In the committed ISR, as this leader knows it.
  bool isInSync(NodeId node) const;
  /// Followers in sync that hold `offset`; none if this replica does not lead.
  std::vector<ReadableReplica> readableReplicas(Offset offset) const;

  bool isLeader() const;
  NodeId leader() const;
  LeaderEpoch leaderEpoch() const;
  PartitionView view() const;

 private:
  /// Error, or nothing if the caller may go on.
  Result<void> checkEpoch(const EpochCheck& check) const REQUIRES_SHARED(leadership_);
  bool advanceLocked() REQUIRES_SHARED(leadership_) REQUIRES(replicas_);
  std::optional<IsrProposal> maybeExpand(NodeId node) REQUIRES_SHARED(leadership_) REQUIRES(replicas_);
  IsrProposal proposal() const REQUIRES_SHARED(leadership_) REQUIRES(replicas_);
  bool noteFollower(const FollowerFetch& follower, Offset fetchOffset, Offset leaderEnd);
  /// Events of the committed ISR having become `after`.
  void emitIsrChange(const std::vector<NodeId>& before, const std::vector<NodeId>& after) REQUIRES(replicas_);
  void setFollowers(const metadata::PartitionRegistration& registration, bool forget) REQUIRES(replicas_);
  void noteLag() REQUIRES(replicas_);
  Result<CopyStep> copyLocked(size_t maxBytes) REQUIRES_SHARED(leadership_);
  /// NotLeaderOrFollower, or nothing if this replica follows that epoch.
  Result<void> checkFollows(LeaderEpoch epoch) const REQUIRES_SHARED(leadership_);
  Result<FollowerAppend> appendLocked(ByteView batches, LeaderEpoch epoch, Offset leaderHighWatermark,
                                      Offset leaderLogStart) REQUIRES_SHARED(leadership_);

  enum class Role : uint8_t { None, Leader, Follower };

  const std::shared_ptr<const PartitionEnvironment> environment_;
  const TopicIdPartition id_;
  const TopicPartition name_;
  const events::PartitionTag tag_;
  /// A leaf. Changed only with the leadership held exclusively as well.
  mutable Mutex logMutex_;
  std::shared_ptr<log::PartitionLog> log_ GUARDED_BY(logMutex_);
  std::shared_ptr<log::PartitionLog> future_ GUARDED_BY(logMutex_);
  std::atomic<bool> moving_{false};
  std::atomic<bool> leaderThrottled_{false};
  std::atomic<bool> followerThrottled_{false};

  mutable SharedMutex leadership_;
  Role role_ GUARDED_BY(leadership_) = Role::None;
  NodeId leader_ GUARDED_BY(leadership_);
  LeaderEpoch leaderEpoch_ GUARDED_BY(leadership_);
  metadata::LeaderRecoveryState recovery_ GUARDED_BY(leadership_) = metadata::LeaderRecoveryState::Recovered;

  mutable Mutex replicas_ ACQUIRED_AFTER(leadership_);
  PartitionEpoch partitionEpoch_ GUARDED_BY(replicas_);
  /// logEndOffset and highWatermark are refreshed from the log before they are used.
  LeaderFacts facts_ GUARDED_BY(replicas_);
};

}  // namespace tidemark::replication
