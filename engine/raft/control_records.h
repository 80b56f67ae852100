#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "raft/effects.h"
#include "raft/snapshot.h"
#include "raft/types.h"

// The quorum's own records, in control batches of the log and of snapshots: LeaderChange, KRaftVersion, KRaftVoters,
// SnapshotHeader, SnapshotFooter.

namespace tidemark::raft {

/// The batch that begins a leader's epoch. `voters`: written too, with kraft.version 1, if this log has none yet (they
/// came from the bootstrap snapshot). Offset and epoch are set by the log.
Result<ByteVector> buildLeaderChangeBatch(NodeId leader, const BeginLeaderEpoch& begin, const VoterSet* voters,
                                          int64_t nowMs);
/// SnapshotHeader and, with kraft.version 1, KRaftVersion and KRaftVoters.
Result<ByteVector> buildSnapshotHeaderBatch(const SnapshotHeader& header, LeaderEpoch epoch, int64_t nowMs);
Result<ByteVector> buildSnapshotFooterBatch(Offset offset, LeaderEpoch epoch, int64_t nowMs);

/// What one control batch says.
struct ControlContents {
  std::optional<int64_t> snapshotHeaderTimestampMs;
  bool snapshotFooter = false;
  struct VersionAt {
    Offset offset;
    int16_t version = 0;
  };
  struct VotersAt {
    Offset offset;
    VoterSet voters;
  };
  std::vector<VersionAt> versions;
  std::vector<VotersAt> voters;
};
/// `batch`: one whole control batch.
Result<ControlContents> readControlBatch(ByteView batch);

/// Who voted and which kraft.version held, by offset: what was true at any offset of log and snapshots. The last entry
/// counts at once, committed or not.
class VoterHistory {
 public:
  /// `staticVoters`: controller.quorum.voters, until a record says otherwise.
  explicit VoterHistory(VoterSet staticVoters = {}) : staticVoters_(std::move(staticVoters)) {}

  /// Forgets all, and starts from a snapshot.
  void reset(OffsetAndEpoch snapshot, const SnapshotHeader& header);
  /// Looks through batches that were appended to the log. Whether voters or version changed.
  Result<bool> add(ByteView batches);
  void truncateFrom(Offset offset);
  /// Keeps what is true at `offset` and after.
  void forgetBelow(Offset offset);

  const VoterSet& voters() const;
  int16_t kraftVersion() const;
  /// Of the records before `offset`.
  VoterSet votersAt(Offset offset) const;
  int16_t kraftVersionAt(Offset offset) const;
  /// Whether the voters are those of the bootstrap snapshot, which no log holds.
  bool fromBootstrapSnapshot() const { return !voters_.empty() && voters_.rbegin()->first < Offset(0); }

 private:
  VoterSet staticVoters_;
  /// By the offset of the record; of a snapshot, the last offset it contains.
  std::map<Offset, VoterSet> voters_;
  std::map<Offset, int16_t> versions_;
};

}  // namespace tidemark::raft
