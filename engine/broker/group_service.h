#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "coordinator/coordinator_log.h"
#include "coordinator/group/group_coordinator.h"
#include "platform/process.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// The group coordinator on this broker's replicas of `__consumer_offsets`: writes its records there, tells it which
/// partitions it leads and how far they are committed.
class GroupService final : private coordinator::CoordinatorLog, private coordinator::TopicLookup {
 public:
  GroupService(platform::Process& process, replication::ReplicaManager& replicas, coordinator::GroupConfig config);
  ~GroupService() override;

  coordinator::GroupCoordinator& groups() noexcept { return groups_; }
  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  void stop() { groups_.stop(); }

 private:
  size_t maxBatchSize(PartitionIndex partition) const override;
  Result<Offset> append(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch) override;
  Result<coordinator::LogRange> range(PartitionIndex partition) const override;
  Result<SharedBytes> read(PartitionIndex partition, Offset from, size_t maxBytes) const override;
  std::optional<std::string> topicName(const Uuid& id) const override;
  std::optional<Uuid> topicId(std::string_view name) const override;
  std::optional<coordinator::TopicFacts> topic(std::string_view name) const override;
  std::vector<std::string> topicNames() const override;
  int64_t version() const override;
  std::shared_ptr<replication::Partition> find(PartitionIndex partition) const;

  replication::ReplicaManager& replicas_;
  coordinator::GroupCoordinator groups_;
  /// Of the executor that calls apply().
  std::map<PartitionIndex, LeaderEpoch> led_;
};

}  // namespace tidemark::broker
