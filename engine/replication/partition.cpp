#include "replication/partition.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/mutation.h"

namespace tidemark::replication {
namespace {

std::unexpected<records::ProduceFailure> refuse(ErrorCode code, std::string message) {
  return std::unexpected(records::ProduceFailure{.error = {code, std::move(message)}, .recordErrors = {}});
}

}  // namespace

Partition::Partition(std::shared_ptr<const PartitionEnvironment> environment, TopicIdPartition id, TopicPartition name,
                     std::shared_ptr<log::PartitionLog> log)
    : environment_(std::move(environment)),
      id_(id),
      name_(std::move(name)),
      tag_(environment_->recorder.partition(name_.topic, name_.partition)),
      log_(std::move(log)) {
  facts_.self = environment_->self;
  facts_.lagMax = environment_->lagMax;
}

// --- roles ----------------------------------------------------------------------------------------------------------

void Partition::setFollowers(const metadata::PartitionRegistration& registration, bool forget) {
  const auto now = environment_->clock.monotonic();
  std::map<NodeId, FollowerState> before = std::exchange(facts_.followers, {});
  for (NodeId node : registration.replicas) {
    if (node == facts_.self) continue;
    FollowerState& state = facts_.followers[node];
    if (const auto known = before.find(node); known != before.end() && !forget) {
      state = known->second;
    } else if (registration.isInIsr(node)) {
      // A member gets the whole lag to make itself heard in the new epoch.
      state.lastCaughtUp = now;
    } else {
      state.lastCaughtUp = now - facts_.lagMax - platform::Duration(1);
    }
  }
}

Partition::RoleChange Partition::makeLeader(const metadata::PartitionRegistration& registration,
                                            int minInsyncReplicas) {
  RoleChange change;
  WriterLock leadership(leadership_);
  Lock lock(replicas_);
  if (partitionEpoch_ != PartitionEpoch{} && registration.partitionEpoch < partitionEpoch_) return change;
  if (role_ == Role::Leader && registration.partitionEpoch == partitionEpoch_) {
    // The controller's answer told this already. What has been asked of it since is still open: whoever may be a member
    // by now goes on holding the high watermark back.
    facts_.minInsyncReplicas = minInsyncReplicas;
    change.highWatermarkMoved = advanceLocked();
    return change;
  }
  change.newLeaderEpoch = role_ != Role::Leader || registration.leaderEpoch > leaderEpoch_;
  TIDEMARK_INVARIANT(
      registration.leaderEpoch >= leaderEpoch_,
      fmt::format("{}: leader epoch falls from {} to {}", name_, leaderEpoch_, registration.leaderEpoch));
  role_ = Role::Leader;
  leader_ = environment_->self;
  leaderEpoch_ = registration.leaderEpoch;
  recovery_ = registration.leaderRecoveryState;
  partitionEpoch_ = registration.partitionEpoch;
  facts_.minInsyncReplicas = minInsyncReplicas;
  // The controller takes a broker that it fences out of the ISR without being asked.
  if (!change.newLeaderEpoch) emitIsrChange(committedIsr(facts_.isr), registration.isr);
  facts_.isr = CommittedIsr{registration.isr};
  setFollowers(registration, change.newLeaderEpoch);
  if (change.newLeaderEpoch) {
    facts_.epochStartOffset = log()->logEndOffset();
    // A new leader begins its epoch at its log end, whether or not it ever appends.
    log()->assignEpochStartOffset(leaderEpoch_, facts_.epochStartOffset);
    environment_->recorder.emit(
        events::BecameLeader{.partition = tag_, .epoch = leaderEpoch_, .epochStart = facts_.epochStartOffset});
    if (recovery_ == metadata::LeaderRecoveryState::Recovering && !facts_.followers.empty())
      environment_->recorder.emit(events::RecordsLost{.partition = tag_,
                                                      .leader = environment_->self,
                                                      .epoch = leaderEpoch_,
                                                      .from = facts_.epochStartOffset,
                                                      .to = kNoOffset,
                                                      .gaveUpTo = kNoOffset});
  }
  change.highWatermarkMoved = advanceLocked();
  noteLag();
  return change;
}

Partition::RoleChange Partition::makeFollower(const metadata::PartitionRegistration& registration,
                                              int minInsyncReplicas) {
  RoleChange change;
  WriterLock leadership(leadership_);
  Lock lock(replicas_);
  if (partitionEpoch_ != PartitionEpoch{} && registration.partitionEpoch < partitionEpoch_) return change;
  change.newLeaderEpoch =
      role_ != Role::Follower || registration.leaderEpoch > leaderEpoch_ || leader_ != registration.leader;
  role_ = Role::Follower;
  leader_ = registration.leader;
  leaderEpoch_ = registration.leaderEpoch;
  recovery_ = registration.leaderRecoveryState;
  partitionEpoch_ = registration.partitionEpoch;
  facts_.minInsyncReplicas = minInsyncReplicas;
  facts_.isr = CommittedIsr{registration.isr};
  facts_.followers.clear();
  if (change.newLeaderEpoch)
    environment_->recorder.emit(events::BecameFollower{
        .partition = tag_, .epoch = leaderEpoch_, .leader = leader_, .logEnd = log()->logEndOffset()});
  return change;
}

void Partition::stop() {
  WriterLock leadership(leadership_);
  role_ = Role::None;
}

bool Partition::setMinInsyncReplicas(int count) {
  ReaderLock leadership(leadership_);
  Lock lock(replicas_);
  if (facts_.minInsyncReplicas == count) return false;
  facts_.minInsyncReplicas = count;
  return advanceLocked();
}

Result<void> Partition::checkEpoch(const EpochCheck& check) const {
  if (check.currentLeaderEpoch && !isMutated(Mutation::LeaderEpochFenceOff)) {
    if (*check.currentLeaderEpoch < leaderEpoch_)
      return fail(ErrorCode::FencedLeaderEpoch, fmt::format("{}: leader epoch {} is over, it is {} now", name_,
                                                            *check.currentLeaderEpoch, leaderEpoch_));
    if (*check.currentLeaderEpoch > leaderEpoch_)
      return fail(ErrorCode::UnknownLeaderEpoch, fmt::format("{}: leader epoch {} is not known here yet, only {}",
                                                             name_, *check.currentLeaderEpoch, leaderEpoch_));
  }
  if (role_ == Role::None || (check.leaderOnly && role_ != Role::Leader))
    return fail(ErrorCode::NotLeaderOrFollower,
                fmt::format("{} is led by broker {}, not by {}", name_, leader_, environment_->self));
  return {};
}

// --- the high watermark ---------------------------------------------------------------------------------------------

bool Partition::advanceLocked() {
  if (role_ != Role::Leader) return false;
  facts_.logEndOffset = log()->logEndOffset();
  facts_.highWatermark = log()->highWatermark();
  const auto next = nextHighWatermark(facts_, environment_->clock.monotonic(), environment_->eligible);
  if (!next) return false;
  NodeId slowest = kNoNode;
  for (const auto& [node, follower] : facts_.followers)
    if (inMaximalIsr(facts_.isr, node) && follower.logEndOffset == *next) slowest = node;
  return log()->maybeIncrementHighWatermark(log::LogOffsetMetadata{.offset = *next}, slowest).has_value();
}

bool Partition::advance() {
  ReaderLock leadership(leadership_);
  Lock lock(replicas_);
  const bool moved = advanceLocked();
  noteLag();
  return moved;
}

void Partition::noteLag() {
  facts_.logEndOffset = log()->logEndOffset();
  if (isInflight(facts_.isr)) return;
  if (const auto deadline = nextLagDeadline(facts_)) environment_->lagDeadline(*deadline);
}

// --- append and read ------------------------------------------------------------------------------------------------

std::expected<Partition::Appended, records::ProduceFailure> Partition::appendAsLeader(
    MutableBytes batch, int16_t acks, const log::AppendOptions& options) {
  ReaderLock leadership(leadership_);
  if (auto allowed = checkEpoch({.currentLeaderEpoch = std::nullopt, .leaderOnly = true}); !allowed)
    return refuse(allowed.error().code, allowed.error().message);
  if (acks == -1) {
    Lock lock(replicas_);
    const int members = static_cast<int>(committedIsr(facts_.isr).size());
    if (members < effectiveMinIsr(facts_))
      return refuse(ErrorCode::NotEnoughReplicas, fmt::format("{}: {} replicas are in sync, min.insync.replicas is {}",
                                                              name_, members, effectiveMinIsr(facts_)));
  }
  auto appended = log()->appendAsLeader(batch, leaderEpoch_, options);
  if (!appended) return std::unexpected(std::move(appended).error());
  return Appended{.info = *appended, .requiredOffset = appended->lastOffset.next(), .leaderEpoch = leaderEpoch_};
}

Result<PartitionRead> Partition::read(const PartitionReadOptions& options) {
  PartitionRead result;
  {
    ReaderLock leadership(leadership_);
    TIDEMARK_TRY(checkEpoch(options.check));
    if (options.follower) {
      Lock lock(replicas_);
      if (!facts_.followers.contains(options.follower->replica))
        return fail(ErrorCode::NotLeaderOrFollower,
                    fmt::format("broker {} has no replica of {}", options.follower->replica, name_));
      if (environment_->isStale && environment_->isStale(options.follower->replica, options.follower->brokerEpoch))
        return fail(ErrorCode::NotLeaderOrFollower,
                    fmt::format("broker {} has registered again since its epoch {}", options.follower->replica,
                                options.follower->brokerEpoch));
    }
    result.offsets = log()->offsetSnapshot();
    if (options.lastFetchedEpoch && !isMutated(Mutation::LeaderEpochFenceOff)) {
      const log::EpochEndOffset end = log()->endOffsetForEpoch(*options.lastFetchedEpoch);
      if (end.endOffset == kNoOffset)
        return fail(ErrorCode::OffsetOutOfRange, fmt::format("{}: epoch {} of the last fetched record is not known",
                                                             name_, *options.lastFetchedEpoch));
      if (end.epoch < *options.lastFetchedEpoch || end.endOffset < options.fetchOffset) {
        result.diverging = end;
        return result;
      }
    }
    TIDEMARK_ASSIGN(result.read, log()->read(options.fetchOffset, static_cast<size_t>(std::max(options.maxBytes, 0)),
                                             options.isolation, options.minOneMessage));
  }
  if (options.follower) {
    result.highWatermarkMoved =
        noteFollower(*options.follower, options.fetchOffset, result.offsets.logEndOffset.offset);
    if (result.highWatermarkMoved) result.offsets.highWatermark = log()->offsetSnapshot().highWatermark;
  }
  return result;
}

bool Partition::noteFollower(const FollowerFetch& follower, Offset fetchOffset, Offset leaderEnd) {
  std::optional<IsrProposal> wanted;
  bool moved = false;
  {
    ReaderLock leadership(leadership_);
    if (role_ != Role::Leader) return false;
    Lock lock(replicas_);
    const auto known = facts_.followers.find(follower.replica);
    if (known == facts_.followers.end()) return false;
    const Offset before = known->second.logEndOffset;
    known->second = afterFetch(known->second, fetchOffset, follower.logStartOffset, leaderEnd, follower.brokerEpoch,
                               environment_->clock.monotonic());
    if (before != fetchOffset)
      environment_->recorder.emit(events::FollowerFetched{
          .partition = tag_, .follower = follower.replica, .fetchOffset = fetchOffset, .leaderLogEnd = leaderEnd});
    wanted = maybeExpand(follower.replica);
    if (before != fetchOffset || wanted) moved = advanceLocked();
    noteLag();
  }
  if (wanted) environment_->propose(std::move(*wanted));
  return moved;
}

std::optional<ErrorCode> Partition::produceOutcome(Offset requiredOffset, LeaderEpoch epoch) const {
  ReaderLock leadership(leadership_);
  if (role_ != Role::Leader || leaderEpoch_ != epoch) return ErrorCode::NotLeaderOrFollower;
  if (log()->highWatermark() < requiredOffset && !isMutated(Mutation::AnswerBeforeReplicated)) return std::nullopt;
  Lock lock(replicas_);
  const bool enough = static_cast<int>(committedIsr(facts_.isr).size()) >= effectiveMinIsr(facts_);
  return enough ? ErrorCode::None : ErrorCode::NotEnoughReplicasAfterAppend;
}

Result<log::OffsetSnapshot> Partition::offsets(const EpochCheck& check) const {
  ReaderLock leadership(leadership_);
  TIDEMARK_TRY(checkEpoch(check));
  return log()->offsetSnapshot();
}

Result<std::optional<log::TimestampAndOffset>> Partition::listOffset(int64_t timestampMs, log::FetchIsolation isolation,
                                                                     const EpochCheck& check) const {
  ReaderLock leadership(leadership_);
  TIDEMARK_TRY(checkEpoch(check));
  const log::OffsetSnapshot ends = log()->offsetSnapshot();
  const bool forReplica = isolation == log::FetchIsolation::LogEnd;
  const Offset visible = isolation == log::FetchIsolation::LogEnd          ? ends.logEndOffset.offset
                         : isolation == log::FetchIsolation::HighWatermark ? ends.highWatermark.offset
                                                                           : ends.lastStableOffset.offset;
  bool settled = true;
  if (role_ == Role::Leader && !forReplica) {
    // A new leader's high watermark may lie below what consumers saw of the one before it.
    Lock lock(replicas_);
    settled = ends.highWatermark.offset >= facts_.epochStartOffset;
  }
  const auto notYet = [this, epoch = leaderEpoch_] {
    return fail(ErrorCode::OffsetNotAvailable,
                fmt::format("{}: the high watermark has not reached the start of leader epoch {}", name_, epoch));
  };
  if (timestampMs == log::kLatestTimestamp) {
    if (!settled) return notYet();
    return log::TimestampAndOffset{
        .timestampMs = records::kNoTimestamp, .offset = visible, .leaderEpoch = leaderEpoch_};
  }
  TIDEMARK_ASSIGN(std::optional<log::TimestampAndOffset> found, log()->offsetForTimestamp(timestampMs));
  if (found && isMutated(Mutation::EarliestIsLatest)) found->offset = visible;
  if (timestampMs == log::kEarliestTimestamp || timestampMs == log::kEarliestLocalTimestamp) return found;
  if (found && found->offset < visible) return found;
  if (!settled) return notYet();
  return std::optional<log::TimestampAndOffset>();
}

Result<log::EpochEndOffset> Partition::endOffsetForEpoch(LeaderEpoch epoch, const EpochCheck& check) const {
  ReaderLock leadership(leadership_);
  TIDEMARK_TRY(checkEpoch(check));
  return log()->endOffsetForEpoch(epoch);
}

Result<Offset> Partition::deleteRecords(Offset offset) {
  ReaderLock leadership(leadership_);
  TIDEMARK_TRY(checkEpoch({.currentLeaderEpoch = std::nullopt, .leaderOnly = true}));
  if (const auto config = log()->config(); config->compact && !config->remove)
    return fail(ErrorCode::PolicyViolation,
                fmt::format("{} is compacted: its records are not deleted by offset", name_));
  return log()->deleteRecords(offset);
}

Result<Offset> Partition::lowWatermark() const {
  ReaderLock leadership(leadership_);
  TIDEMARK_TRY(checkEpoch({.currentLeaderEpoch = std::nullopt, .leaderOnly = true}));
  Lock lock(replicas_);
  Offset low = log()->logStartOffset();
  for (const auto& [node, follower] : facts_.followers)
    if (environment_->eligible(node, BrokerEpoch{})) low = std::min(low, follower.logStartOffset);
  return low;
}

// --- looks ----------------------------------------------------------------------------------------------------------

bool Partition::isLeader() const {
  ReaderLock leadership(leadership_);
  return role_ == Role::Leader;
}

NodeId Partition::leader() const {
  ReaderLock leadership(leadership_);
  return leader_;
}

LeaderEpoch Partition::leaderEpoch() const {
  ReaderLock leadership(leadership_);
  return leaderEpoch_;
}

PartitionView Partition::view() const {
  ReaderLock leadership(leadership_);
  Lock lock(replicas_);
  return {.isLeader = role_ == Role::Leader,
          .leader = leader_,
          .leaderEpoch = leaderEpoch_,
          .partitionEpoch = partitionEpoch_,
          .epochStartOffset = facts_.epochStartOffset,
          .isr = committedIsr(facts_.isr),
          .followers = facts_.followers};
}

}  // namespace tidemark::replication
