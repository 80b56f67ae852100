#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "log/partition_log.h"
#include "sim/checker.h"

namespace tidemark::sim {

/// What tells one batch from another.
struct BatchKey {
  Offset last;
  LeaderEpoch epoch;
  uint32_t crc = 0;
  bool transactional = false;
  bool control = false;
  /// Of an idempotent producer, or whose transaction a marker ends; else kNoProducerId.
  ProducerId producer = kNoProducerId;
  ProducerEpoch producerEpoch{};
  int32_t firstSequence = -1;
  int32_t lastSequence = -1;
  friend bool operator==(const BatchKey&, const BatchKey&) = default;
};

/// Batches by their base offset.
using Batches = std::map<Offset, BatchKey>;

Offset endOf(const Batches& batches);
std::string describe(Offset base, const BatchKey& batch);

/// Which batches each replica of each partition holds, the quorum's log included, kept up from events. Of a broker that
/// is dead: what it held last. To be the first of the checkers.
class ReplicaLogs final : public Checker {
 public:
  void started(NodeId broker) override;
  void opened(NodeId broker, broker::Node& node) override;
  void on(const Seen& seen) override;
  void missed(NodeId broker, broker::Node& node) override;

  /// Empty if it is not known.
  const Batches& of(NodeId broker, const TopicPartition& partition) const;
  /// What the truncation that is being told removed.
  const Batches& removed() const noexcept { return removed_; }
  /// The log itself, of a broker that runs; null if it has none.
  static std::shared_ptr<const log::PartitionLog> find(broker::Node& node, const TopicPartition& partition);

 private:
  struct Replica {
    Batches batches;
    /// Of the process that runs now.
    bool fresh = false;
  };
  void load(Replica& replica, const log::PartitionLog& log);

  std::map<std::pair<NodeId, TopicPartition>, Replica> replicas_;
  Batches removed_;
};

const TopicPartition& metadataPartition();
BatchKey keyOf(const records::BatchHeader& header);

}  // namespace tidemark::sim
