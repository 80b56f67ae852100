#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/checker.h"
#include "sim/replica_logs.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// T4: at every replica LSO = min(HW, first offset of each transaction that is open or whose marker is not below the
/// HW), worked out from its batches alone.
class StableOffsets final : public Checker {
 public:
  StableOffsets(Judge& judge, const ReplicaLogs& logs, const Watch& watch)
      : judge_(judge), logs_(logs), watch_(watch) {}
  void started(NodeId broker) override;
  void on(const Seen& seen) override;
  /// To be called after every step, once all of its events were told.
  void look();

 private:
  using Key = std::pair<NodeId, TopicPartition>;
  struct Ended {
    Offset first;
    Offset marker;
  };
  struct Replica {
    /// Where the next batch begins that was not looked at.
    Offset next{0};
    std::map<ProducerId, Offset> open;
    std::vector<Ended> ended;
  };

  void follow(const Key& key, Replica& replica) const;

  Judge& judge_;
  const ReplicaLogs& logs_;
  const Watch& watch_;
  std::map<Key, Replica> replicas_;
  std::set<Key> touched_;
};

}  // namespace tidemark::sim
