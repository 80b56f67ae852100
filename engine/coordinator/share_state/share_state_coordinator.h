#pragma once

#include <memory>
#include <optional>
#include <set>

#include "coordinator/coordinator_log.h"
#include "coordinator/request_info.h"
#include "coordinator/share_state/share_state_shard.h"
#include "platform/executor.h"
#include "platform/logger.h"
#include "protocol/generated/forward.h"

namespace tidemark::coordinator {

/// The share coordinator of one broker: the delivery states of the share-partitions whose partition of
/// `__share_group_state` it leads. Everything runs on one serial executor; all calls from any thread.
class ShareStateCoordinator {
 public:
  struct Dependencies {
    /// Serial.
    std::shared_ptr<platform::Executor> executor;
    const platform::Clock* clock = nullptr;
    platform::Logger* log = nullptr;
    CoordinatorLog* partitions = nullptr;
    std::function<bool(const Uuid& topic, PartitionIndex partition)> exists;
    /// Cuts a partition of the state topic off below an offset.
    std::function<void(PartitionIndex, Offset)> prune;
  };

  ShareStateCoordinator(Dependencies dependencies, ShareStateConfig config);
  ~ShareStateCoordinator();

  /// Partitions of `__share_group_state`, once it exists; until then every request gets COORDINATOR_NOT_AVAILABLE.
  void setPartitionCount(int32_t partitions);
  /// Nothing while the count is unknown.
  std::optional<PartitionIndex> partitionFor(const ShareKey& key) const;

  void onBecomeLeader(PartitionIndex partition, LeaderEpoch epoch);
  void onResign(PartitionIndex partition);
  void onHighWatermark(PartitionIndex partition, Offset highWatermark);
  void onTopicsDeleted(std::set<Uuid> topics);
  void stop();

  // The requests answer for each share-partition on its own.
  void initialize(const protocol::InitializeShareGroupStateRequest& request,
                  Reply<protocol::InitializeShareGroupStateResponse> reply);
  void read(const protocol::ReadShareGroupStateRequest& request, Reply<protocol::ReadShareGroupStateResponse> reply);
  void write(const protocol::WriteShareGroupStateRequest& request, Reply<protocol::WriteShareGroupStateResponse> reply);
  void remove(const protocol::DeleteShareGroupStateRequest& request,
              Reply<protocol::DeleteShareGroupStateResponse> reply);
  void summarize(const protocol::ReadShareGroupStateSummaryRequest& request,
                 Reply<protocol::ReadShareGroupStateSummaryResponse> reply);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::coordinator
