#pragma once

#include <map>
#include <set>
#include <utility>

#include "sim/checker.h"
#include "sim/replication_checkers.h"
#include "sim/sim_platform.h"

namespace tidemark::sim {

/// K1: one leader per epoch. K2: one vote per epoch, on disk before the answer. K3: a node's epoch never falls. K4: a
/// majority holds everything below the quorum's high watermark, whatever of it is dead.
class Quorum final : public Checker {
 public:
  /// `voters` nodes from `first` on vote.
  Quorum(Judge& judge, const ReplicaLogs& logs, const CommittedRecords& committed, NodeId first, int voters,
         std::function<bool(NodeId)> voteIsDurable)
      : judge_(judge),
        logs_(logs),
        committed_(committed),
        first_(first),
        voters_(voters),
        voteIsDurable_(std::move(voteIsDurable)) {}
  void opened(NodeId broker, broker::Node& node) override;
  void on(const Seen& seen) override;

 private:
  void epoch(NodeId broker, LeaderEpoch epoch);
  void vote(NodeId voter, LeaderEpoch epoch, NodeId candidate);
  void majority();

  Judge& judge_;
  const ReplicaLogs& logs_;
  const CommittedRecords& committed_;
  const NodeId first_;
  const int voters_;
  const std::function<bool(NodeId)> voteIsDurable_;
  std::map<LeaderEpoch, NodeId> leaders_;
  std::map<std::pair<NodeId, LeaderEpoch>, NodeId> votes_;
  std::map<NodeId, LeaderEpoch> epochs_;
};

}  // namespace tidemark::sim
