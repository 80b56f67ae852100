#pragma once

#include "broker/coordinator_topic.h"
#include "coordinator/share_state/share_state_coordinator.h"
#include "platform/process.h"

namespace tidemark::broker {

inline constexpr std::string_view kShareStateTopic = "__share_group_state";

/// The share coordinator on this broker's replicas of `__share_group_state`.
class ShareStateService final {
 public:
  ShareStateService(platform::Process& process, replication::ReplicaManager& replicas,
                    coordinator::ShareStateConfig config);
  ~ShareStateService();

  coordinator::ShareStateCoordinator& states() noexcept { return states_; }
  /// After ReplicaManager::apply() of the same change, on the same executor.
  void apply(const replication::MetadataChange& change, NodeId self);
  void stop() { states_.stop(); }

 private:
  CoordinatorTopic topic_;
  coordinator::ShareStateCoordinator states_;
};

}  // namespace tidemark::broker
