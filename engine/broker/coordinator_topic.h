#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "coordinator/coordinator_log.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// A coordinator's internal topic on this broker's replicas: where the coordinator writes, and who tells it which
/// partitions it leads and how far they are committed.
class CoordinatorTopic final : public coordinator::CoordinatorLog {
 public:
  struct Listener {
    std::function<void(int32_t partitions)> onPartitionCount;
    std::function<void(PartitionIndex, LeaderEpoch)> onBecomeLeader;
    std::function<void(PartitionIndex)> onResign;
    /// On the thread that moved it.
    std::function<void(PartitionIndex, Offset)> onHighWatermark;
  };

  CoordinatorTopic(replication::ReplicaManager& replicas, std::string topic, Listener listener)
      : replicas_(replicas), topic_(std::move(topic)), listener_(std::move(listener)) {}

  const std::string& topic() const noexcept { return topic_; }
  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  /// Cuts the partition's log off below `offset`, here and at the followers.
  void prune(PartitionIndex partition, Offset offset);

  size_t maxBatchSize(PartitionIndex partition) const override;
  Result<Offset> append(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch) override;
  Result<Offset> appendTransactional(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch,
                                     const TransactionTerms& terms) override;
  Result<coordinator::LogRange> range(PartitionIndex partition) const override;
  Result<SharedBytes> read(PartitionIndex partition, Offset from, size_t maxBytes) const override;

 private:
  TopicPartition nameOf(PartitionIndex partition) const { return {topic_, partition}; }
  Result<Offset> write(PartitionIndex partition, LeaderEpoch epoch, MutableBytes batch,
                       const log::AppendOptions& options);
  std::shared_ptr<replication::Partition> find(PartitionIndex partition) const {
    return replicas_.find(nameOf(partition));
  }

  replication::ReplicaManager& replicas_;
  const std::string topic_;
  const Listener listener_;
  /// Of the executor that calls apply().
  std::map<PartitionIndex, LeaderEpoch> led_;
};

}  // namespace tidemark::broker
