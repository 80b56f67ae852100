#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "metadata/image.h"
#include "sim/checker.h"
#include "sim/replication_checkers.h"
#include "sim/watch.h"

namespace tidemark::sim {

/// R3: a running member of the ISR or of the ELR holds every committed record: asked when records are committed, of
/// those who are members then, and when somebody becomes a member, of all that is committed.
class InSyncReplicas final : public Checker {
 public:
  InSyncReplicas(Judge& judge, const ReplicaLogs& logs, CommittedRecords& committed, const Watch& watch)
      : judge_(judge), logs_(logs), committed_(committed), watch_(watch) {}
  void on(const Seen& seen) override;
  /// To be called now and then: looks at who is a member by the newest image, if that is as new as the quorum's log.
  void look();

 private:
  /// It runs with the registration that the image knows: what it holds is what it was made a member for.
  bool runs(NodeId broker, const metadata::Image& image) const;

  Judge& judge_;
  const ReplicaLogs& logs_;
  CommittedRecords& committed_;
  const Watch& watch_;
  Offset looked_ = kNoOffset;
  std::map<TopicPartition, PartitionEpoch> known_;
};

/// T1: the committed batches of one producer id and epoch in a partition follow each other from 0 on. T2: none is there
/// twice.
class ProducerSequences {
 public:
  explicit ProducerSequences(Judge& judge) : judge_(judge) {}
  void committed(const TopicPartition& partition, Offset base, const BatchKey& batch);
  /// These are committed no more: nobody knows where their producers begin again.
  void lost(const TopicPartition& partition, const Batches& batches);

 private:
  Judge& judge_;
  /// Which sequence comes next; nothing: any.
  std::map<std::tuple<TopicPartition, ProducerId, ProducerEpoch>, std::optional<int32_t>> next_;
};

}  // namespace tidemark::sim
