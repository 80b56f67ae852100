#pragma once

#include <functional>
#include <map>
#include <memory>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/uuid.h"
#include "platform/executor.h"
#include "protocol/generated/assign_replicas_to_dirs_request.h"
#include "protocol/generated/assign_replicas_to_dirs_response.h"

namespace tidemark::replication {

/// Tells the active controller in which of this broker's directories replicas are (AssignReplicasToDirs, KIP-858);
/// Kafka's AssignmentsManager. One request at a time, what came meanwhile in the next; of a partition only the newest
/// word counts. Repeated until the controller has taken it. Any thread; `accepted` runs on the executor.
class DirectoryAssignments {
 public:
  using Answer = std::move_only_function<void(Result<protocol::AssignReplicasToDirsResponse>)>;
  using Send = std::function<void(protocol::AssignReplicasToDirsRequest request, Answer answer)>;

  /// `send`: to the active controller, whoever that is by then; answers on `executor`. Null: there is none to be told,
  /// and all is accepted. `isReplica`: whether this broker still has such a replica.
  DirectoryAssignments(std::shared_ptr<platform::Executor> executor, NodeId self,
                       std::function<BrokerEpoch()> brokerEpoch, Send send,
                       std::function<bool(const TopicIdPartition&)> isReplica);

  void assign(const TopicIdPartition& partition, const Uuid& directory, std::function<void()> accepted = {});

 private:
  struct Assignment {
    Uuid directory;
    std::function<void()> accepted;
  };
  void maybeSend();
  void answered(Result<protocol::AssignReplicasToDirsResponse> response);
  void retrySoon();

  static constexpr size_t kMostAtOnce = 2250;
  static constexpr platform::Duration kFirstBackoff = std::chrono::milliseconds(100);
  static constexpr platform::Duration kLongestBackoff = std::chrono::seconds(10);

  const std::shared_ptr<platform::Executor> executor_;
  const NodeId self_;
  const std::function<BrokerEpoch()> brokerEpoch_;
  const Send send_;
  const std::function<bool(const TopicIdPartition&)> isReplica_;

  Mutex mutex_;
  std::map<TopicIdPartition, Assignment> waiting_ GUARDED_BY(mutex_);

  // Of the executor.
  std::map<TopicIdPartition, Assignment> inFlight_;
  platform::Duration backoff_ = kFirstBackoff;
  bool waitingToRetry_ = false;
  platform::Timer retry_;
};

}  // namespace tidemark::replication
