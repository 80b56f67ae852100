#include "replication/alter_partition_manager.h"

namespace tidemark::replication {

AlterPartitionManager::AlterPartitionManager(std::shared_ptr<platform::Executor> executor, NodeId self,
                                             std::function<BrokerEpoch()> brokerEpoch, Send send, Decided decided)
    : executor_(std::move(executor)),
      self_(self),
      brokerEpoch_(std::move(brokerEpoch)),
      send_(std::move(send)),
      decided_(std::move(decided)) {}

void AlterPartitionManager::propose(IsrProposal proposal) {
  {
    Lock lock(mutex_);
    const TopicIdPartition key = proposal.partition;
    waiting_.insert_or_assign(key, std::move(proposal));
  }
  executor_->post([this] { maybeSend(); });
}

void AlterPartitionManager::maybeSend() {
  if (!inFlight_.empty()) return;
  {
    Lock lock(mutex_);
    std::swap(inFlight_, waiting_);
  }
  if (inFlight_.empty()) return;
  protocol::AlterPartitionRequest request;
  request.brokerId = self_.value();
  request.brokerEpoch = brokerEpoch_().value();
  // Ordered by topic id, so that one topic's partitions lie together.
  for (const auto& [key, proposal] : inFlight_) {
    if (request.topics.empty() || request.topics.back().topicId != key.topicId)
      request.topics.push_back({.topicId = key.topicId, .partitions = {}});
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partitionIndex = key.partition.value();
    partition.leaderEpoch = proposal.leaderEpoch.value();
    partition.partitionEpoch = proposal.partitionEpoch.value();
    partition.leaderRecoveryState = static_cast<int8_t>(proposal.recoveryState);
    for (const IsrProposal::Member& member : proposal.isr)
      partition.newIsrWithEpochs.push_back({.brokerId = member.node.value(), .brokerEpoch = member.epoch.value()});
  }
  send_(std::move(request),
        [this](Result<protocol::AlterPartitionResponse> response) { answered(std::move(response)); });
}

void AlterPartitionManager::retrySoon() {
  {
    // What was asked for since takes the place of what was under way.
    Lock lock(mutex_);
    for (auto& [key, proposal] : inFlight_) waiting_.try_emplace(key, std::move(proposal));
  }
  inFlight_.clear();
  retry_ = executor_->schedule(kRetryBackoff, [this] { maybeSend(); });
}

void AlterPartitionManager::answered(Result<protocol::AlterPartitionResponse> response) {
  if (!response || response->errorCode != 0) {
    retrySoon();
    return;
  }
  std::map<TopicIdPartition, IsrProposal> decided = std::exchange(inFlight_, {});
  for (const auto& topic : response->topics) {
    for (const auto& partition : topic.partitions) {
      const auto found = decided.find({topic.topicId, PartitionIndex(partition.partitionIndex)});
      if (found == decided.end()) continue;
      IsrDecision decision{.error = static_cast<ErrorCode>(partition.errorCode),
                           .leader = NodeId(partition.leaderId),
                           .leaderEpoch = LeaderEpoch(partition.leaderEpoch),
                           .partitionEpoch = PartitionEpoch(partition.partitionEpoch),
                           .isr = {}};
      for (int32_t node : partition.isr) decision.isr.emplace_back(node);
      decided_(found->second, decision);
      decided.erase(found);
    }
  }
  // A partition that the answer leaves out is asked for again.
  inFlight_ = std::move(decided);
  if (inFlight_.empty()) {
    maybeSend();
  } else {
    retrySoon();
  }
}

}  // namespace tidemark::replication
