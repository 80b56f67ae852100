#pragma once

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
  /// This broker's registration; −1 before the first.
  std::function<BrokerEpoch()> brokerEpoch;
  /// Sends a proposal; the decision comes to Partition::decided(). Never inside the call.
  std::function<void(IsrProposal)> propose;
  /// A follower in the ISR is behind: Partition::checkIsr() is due at that time at the latest.
  std::function<void(platform::MonotonicTime)> lagDeadline;
  Rules rules = {};
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
/// replicas' state, then the log's own lock. What follows from a moved high watermark (parked requests) is the caller's:
/// each function that may move it says so in its result, and is called with no lock held.
class Partition {
 public:
  Partition(std::shared_ptr<const PartitionEnvironment> environment, TopicIdPartition id, TopicPartition name,
            std::shared_ptr<log::PartitionLog> log);

  const TopicPartition& name() const noexcept { return name_; }
  const TopicIdPartition& id() const noexcept { return id_; }
  log::PartitionLog& log() noexcept { return *log_; }
  const log::PartitionLog& log() const noexcept { return *log_; }
  const events::PartitionTag& tag() const noexcept { return tag_; }

  // --- what the metadata says ---------------------------------------------------------------------------------------

  struct RoleChange {
    bool newLeaderEpoch = false;
    bool highWatermarkMoved = false;
  };
  /// Older registrations than the one applied last are ignored.
  RoleChange makeLeader(const metadata::PartitionRegistration& registration, int minInsyncReplicas);
  RoleChange makeFollower(const metadata::PartitionRegistration& registration, int minInsyncReplicas);
  void setMinInsyncReplicas(int count);
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
  /// DeleteRecords at the leader; the new log start.
  Result<Offset> deleteRecords(Offset offset);
  /// The smallest log start of all replicas that are alive: what DeleteRecords waits for.
  Result<Offset> lowWatermark() const;

  // --- followers ----------------------------------------------------------------------------------------------------

  struct FollowerAppend {
    Offset logEndOffset;
    bool highWatermarkMoved = false;
  };
  /// What the leader of `epoch` sent. NotLeaderOrFollower if this replica no longer follows that epoch.
  Result<FollowerAppend> appendAsFollower(ByteView batches, LeaderEpoch epoch, Offset leaderHighWatermark, Offset leaderLogStart);
  Result<void> truncateAsFollower(Offset offset, LeaderEpoch epoch);
  Result<void> restartAsFollower(Offset offset, LeaderEpoch epoch);

  // --- the ISR ------------------------------------------------------------------------------------------------------

  /// Proposes to drop members that lag for too long.
  void checkIsr();
  /// The controller's answer to `proposal`. Whether the high watermark moved.
  bool decided(const IsrProposal& proposal, const IsrDecision& decision);

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

  enum class Role : uint8_t { None, Leader, Follower };

  const std::shared_ptr<const PartitionEnvironment> environment_;
  const TopicIdPartition id_;
  const TopicPartition name_;
  const std::shared_ptr<log::PartitionLog> log_;
  const events::PartitionTag tag_;

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
