#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "platform/executor.h"
#include "protocol/generated/alter_partition_request.h"
#include "protocol/generated/alter_partition_response.h"
#include "replication/partition.h"

namespace tidemark::replication {

/// Takes the ISR changes that leaders of this broker want to the active controller: one request at a time, all that was
/// asked for meanwhile in the next one. A request without an answer, or refused as a whole, is repeated; each proposal
/// is decided once. Any thread; answers are handed out on the executor.
class AlterPartitionManager {
 public:
  using Answer = std::move_only_function<void(Result<protocol::AlterPartitionResponse>)>;
  /// Sends to the active controller, whoever that is by then, on a connection of its own; answers on `executor`.
  using Send = std::function<void(protocol::AlterPartitionRequest request, Answer answer)>;
  using Decided = std::function<void(const IsrProposal& proposal, const IsrDecision& decision)>;

  AlterPartitionManager(std::shared_ptr<platform::Executor> executor, NodeId self,
                        std::function<BrokerEpoch()> brokerEpoch, Send send, Decided decided);

  void propose(IsrProposal proposal);

 private:
  void maybeSend();
  void answered(Result<protocol::AlterPartitionResponse> response);
  void retrySoon();

  static constexpr platform::Duration kRetryBackoff = std::chrono::milliseconds(50);

  const std::shared_ptr<platform::Executor> executor_;
  const NodeId self_;
  const std::function<BrokerEpoch()> brokerEpoch_;
  const Send send_;
  const Decided decided_;

  Mutex mutex_;
  /// The newest proposal of each partition that is not under way.
  std::map<TopicIdPartition, IsrProposal> waiting_ GUARDED_BY(mutex_);

  // Of the executor.
  std::map<TopicIdPartition, IsrProposal> inFlight_;
  platform::Timer retry_;
};

}  // namespace tidemark::replication
