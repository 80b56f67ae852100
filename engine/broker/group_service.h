#pragma once

#include <memory>
#include <optional>
#include <string>

#include "broker/coordinator_topic.h"
#include "coordinator/group/group_coordinator.h"
#include "platform/process.h"

namespace tidemark::broker {

/// The group coordinator on this broker's replicas of `__consumer_offsets`.
class GroupService final : private coordinator::TopicLookup {
 public:
  GroupService(platform::Process& process, replication::ReplicaManager& replicas, coordinator::GroupConfig config);
  ~GroupService() override;

  coordinator::GroupCoordinator& groups() noexcept { return groups_; }
  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  void stop() { groups_.stop(); }

 private:
  std::optional<std::string> topicName(const Uuid& id) const override;
  std::optional<Uuid> topicId(std::string_view name) const override;
  std::optional<coordinator::TopicFacts> topic(std::string_view name) const override;
  std::vector<std::string> topicNames() const override;
  int64_t version() const override;

  replication::ReplicaManager& replicas_;
  CoordinatorTopic topic_;
  coordinator::GroupCoordinator groups_;
};

}  // namespace tidemark::broker
