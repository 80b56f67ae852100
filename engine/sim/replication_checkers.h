#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/checker.h"
#include "sim/losses.h"
#include "sim/replica_logs.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// R4 and, of the quorum's log, K5: what was once below some replica's high watermark is the same below every other's,
/// for ever. R2: a leader that is elected holds all of it, unless it was elected as the last leader and may lack some
/// (Losses): that much is lost, and its brokers have to say so. R3: nobody gives it up.
class CommittedRecords final : public Checker {
 public:
  /// `told` hears of each batch when it is committed first.
  using Told = std::function<void(const TopicPartition&, Offset base, const BatchKey&)>;
  CommittedRecords(Judge& judge, const ReplicaLogs& logs, const Watch& watch, Losses& losses, Told told)
      : judge_(judge), logs_(logs), watch_(watch), losses_(losses), told_(std::move(told)) {}
  void on(const Seen& seen) override;

  /// Where the committed part of a partition ends, as far as any replica has told.
  Offset end(const TopicPartition& partition) const;
  /// All committed batches are in this replica, unless a breach is told; with `upTo` those up to the first that was
  /// committed in a later epoch.
  void demandAll(NodeId broker, const TopicPartition& partition, std::string_view invariant, const std::string& who,
                 std::optional<LeaderEpoch> upTo = {});
  const std::map<TopicPartition, Batches>& all() const noexcept { return committed_; }

 private:
  void commit(const Seen& seen, Offset from, Offset to);
  /// Whether the metadata says that this leader was elected although it need not hold all.
  bool isUnclean(const Seen& seen, LeaderEpoch epoch) const;
  /// What the leader lacks is lost from now on.
  void giveUp(const Seen& seen, const events::BecameLeader& leads);
  void checkLoss(const Seen& seen, const events::RecordsLost& told);
  /// Who led as the batch was committed, at the latest: nobody of an earlier epoch need ever hold it, whatever epoch
  /// wrote it.
  LeaderEpoch committedBy(const TopicPartition& partition, Offset base) const;

  Judge& judge_;
  const ReplicaLogs& logs_;
  const Watch& watch_;
  Losses& losses_;
  const Told told_;
  std::map<TopicPartition, Batches> committed_;
  /// The newest epoch that anybody has begun to lead in, and that of each committed batch as it was committed.
  std::map<TopicPartition, LeaderEpoch> newest_;
  std::map<TopicPartition, std::map<Offset, LeaderEpoch>> committedBy_;
  /// The highest high watermark that was told. Of what a broker appended in the step in which it died nobody can read
  /// the batch.
  std::map<TopicPartition, Offset> reached_;
};

/// S3: no offset below the high watermark is given twice, none twice in one leader epoch.
class GivenOffsets final : public Checker {
 public:
  GivenOffsets(Judge& judge, const CommittedRecords& committed) : judge_(judge), committed_(committed) {}
  void on(const Seen& seen) override;

 private:
  Judge& judge_;
  const CommittedRecords& committed_;
  std::map<std::pair<TopicPartition, LeaderEpoch>, Offset> next_;
  std::map<TopicPartition, LeaderEpoch> newest_;
};

/// R5: a replica's high watermark only rises while its process lives, unless it gives up what is lost; log start ≤ LSO
/// ≤ HW ≤ log end. R8: it does not move at a leader whose ISR is smaller than the minimum. R7: a leader is in its ISR.
/// R10: a fenced broker is in no ISR, unless it is the last and there is no ELR; nobody is in both.
class HighWatermarks final : public Checker {
 public:
  HighWatermarks(Judge& judge, const Losses& losses, int minInsyncReplicas)
      : judge_(judge), losses_(losses), minInsyncReplicas_(minInsyncReplicas) {}
  void started(NodeId broker) override;
  void on(const Seen& seen) override;
  /// Of every image that a broker takes up.
  void look(broker::Node& node);

 private:
  Judge& judge_;
  const Losses& losses_;
  const int minInsyncReplicas_;
  std::map<std::pair<NodeId, TopicPartition>, Offset> last_;
  std::set<Offset> images_;
};

}  // namespace tidemark::sim
