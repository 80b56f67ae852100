#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "broker/coordinator_topic.h"
#include "broker/share/latest_offsets.h"
#include "config/broker_config.h"
#include "coordinator/group/group_coordinator.h"
#include "coordinator/share/share_group_coordinator.h"
#include "coordinator/turns.h"
#include "platform/process.h"

namespace tidemark::broker {

/// The group coordinator on this broker's replicas of `__consumer_offsets`.
class GroupService final : private coordinator::TopicLookup {
 public:
  /// The broker's configuration as it is now.
  using Config = std::function<std::shared_ptr<const config::BrokerConfig>()>;

  GroupService(platform::Process& process, replication::ReplicaManager& replicas, coordinator::GroupConfig config,
               Config brokerConfig, coordinator::ShareStatePersister& persister, LatestOffsets& latestOffsets);
  ~GroupService() override;

  coordinator::GroupCoordinator& groups() noexcept { return groups_; }
  coordinator::ShareGroupCoordinator& shares() noexcept { return shares_; }
  /// Whether `group.coordinator.rebalance.protocols` names it; that cannot change while a broker runs.
  bool isServed(std::string_view protocol) const { return protocols_.contains(protocol); }
  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  void stop() { groups_.stop(); }

 private:
  std::optional<std::string> topicName(const Uuid& id) const override;
  std::optional<Uuid> topicId(std::string_view name) const override;
  std::optional<coordinator::TopicFacts> topic(std::string_view name) const override;
  std::vector<std::string> topicNames() const override;
  int64_t version() const override;

  coordinator::StreamsGroupConfig streamsConfigOf(std::string_view groupId) const;
  /// Completes `config` with what the service itself knows.
  coordinator::GroupConfig complete(coordinator::GroupConfig config);
  std::optional<coordinator::ShareTopic> shareTopic(std::string_view name) const;

  platform::Logger& log_;
  replication::ReplicaManager& replicas_;
  const Config brokerConfig_;
  const std::set<std::string, std::less<>> protocols_;
  /// `group.consumer.assignment.interval.ms` as it is now: it may change while the broker runs.
  std::atomic<int64_t> assignmentIntervalMs_ = 0;
  CoordinatorTopic topic_;
  const std::shared_ptr<coordinator::Turns> turns_;
  coordinator::GroupCoordinator groups_;
  coordinator::ShareGroupCoordinator shares_;
};

}  // namespace tidemark::broker
