#include <fmt/format.h>

#include "replication/log_start.h"
#include "replication/partition.h"

// A replica that follows: what its leader sent, and where its log parts from the leader's.

namespace tidemark::replication {

Result<void> Partition::checkFollows(LeaderEpoch epoch) const {
  if (role_ != Role::Follower || leaderEpoch_ != epoch)
    return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} does not follow epoch {} any more", name_, epoch));
  return {};
}

Result<Partition::FollowerAppend> Partition::appendAsFollower(ByteView batches, LeaderEpoch epoch,
                                                              Offset leaderHighWatermark, Offset leaderLogStart) {
  {
    ReaderLock leadership(leadership_);
    TIDEMARK_TRY(checkFollows(epoch));
    if (!beginsInside(*log(), batches)) return appendLocked(batches, epoch, leaderHighWatermark, leaderLogStart);
  }
  // Nobody reads an empty log whose end goes back.
  WriterLock leadership(leadership_);
  TIDEMARK_TRY(checkFollows(epoch));
  if (beginsInside(*log(), batches)) TIDEMARK_TRY(beginAtBatch(*log(), batches));
  return appendLocked(batches, epoch, leaderHighWatermark, leaderLogStart);
}

Result<Partition::FollowerAppend> Partition::appendLocked(ByteView batches, LeaderEpoch epoch,
                                                          Offset leaderHighWatermark, Offset leaderLogStart) {
  if (!batches.empty()) TIDEMARK_TRY(log()->appendAsFollower(batches, epoch));
  FollowerAppend result;
  result.highWatermarkMoved = log()->maybeUpdateHighWatermark(leaderHighWatermark).has_value();
  if (leaderLogStart > log()->logStartOffset() && leaderLogStart <= log()->highWatermark())
    TIDEMARK_TRY(log()->maybeIncrementLogStartOffset(leaderLogStart));
  result.logEndOffset = log()->logEndOffset();
  return result;
}

Result<void> Partition::truncateAsFollower(Offset offset, LeaderEpoch epoch) {
  // Exclusive, so that nobody copies what is being cut.
  WriterLock leadership(leadership_);
  TIDEMARK_TRY(checkFollows(epoch));
  const Offset committed = log()->highWatermark();
  const Offset all = log()->logEndOffset();
  TIDEMARK_TRY(log()->truncateTo(offset));
  // A leader that was elected cleanly has all of it.
  const Offset end = log()->logEndOffset();
  if (end < committed)
    environment_->recorder.emit(events::RecordsLost{
        .partition = tag_, .leader = leader_, .epoch = epoch, .from = end, .to = committed, .gaveUpTo = all});
  return {};
}

void Partition::tellDivergence(LeaderEpoch epoch, LeaderEpoch inEpoch, Offset leaderEnd, Offset cut) const {
  ReaderLock leadership(leadership_);
  if (!checkFollows(epoch)) return;
  environment_->recorder.emit(events::LogDiverged{.partition = tag_,
                                                  .leader = leader_,
                                                  .epoch = epoch,
                                                  .inEpoch = inEpoch,
                                                  .leaderEnd = leaderEnd,
                                                  .from = cut,
                                                  .logEnd = log()->logEndOffset()});
}

Result<void> Partition::restartAsFollower(Offset offset, LeaderEpoch epoch) {
  WriterLock leadership(leadership_);
  TIDEMARK_TRY(checkFollows(epoch));
  return log()->truncateFullyAndStartAt(offset);
}

}  // namespace tidemark::replication
