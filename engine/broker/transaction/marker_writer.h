#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "broker/group_service.h"
#include "coordinator/runtime.h"
#include "platform/process.h"
#include "replication/replica_manager.h"

namespace tidemark::broker {

/// Appends the markers that end transactions to partitions that this broker leads; those of `__consumer_offsets`
/// through the group coordinator, which has offsets waiting for them.
class MarkerWriter {
 public:
  using Results = std::vector<std::pair<TopicPartition, ErrorCode>>;
  using Done = std::move_only_function<void(Results)>;

  MarkerWriter(platform::Process& process, replication::ReplicaManager& replicas, GroupService& groups,
               platform::Duration timeout)
      : process_(process), replicas_(replicas), groups_(groups), timeout_(timeout) {}

  /// `done` once all are committed or have failed, in no order, perhaps inside the call. Any thread.
  void write(const coordinator::TransactionMarker& marker, const std::vector<TopicPartition>& partitions, Done done);

 private:
  platform::Process& process_;
  replication::ReplicaManager& replicas_;
  GroupService& groups_;
  const platform::Duration timeout_;
};

}  // namespace tidemark::broker
