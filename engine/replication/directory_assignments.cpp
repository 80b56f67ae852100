#include "replication/directory_assignments.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemark::replication {

DirectoryAssignments::DirectoryAssignments(std::shared_ptr<platform::Executor> executor, NodeId self,
                                           std::function<BrokerEpoch()> brokerEpoch, Send send,
                                           std::function<bool(const TopicIdPartition&)> isReplica)
    : executor_(std::move(executor)),
      self_(self),
      brokerEpoch_(std::move(brokerEpoch)),
      send_(std::move(send)),
      isReplica_(std::move(isReplica)) {}

void DirectoryAssignments::assign(const TopicIdPartition& partition, const Uuid& directory,
                                  std::function<void()> accepted) {
  {
    Lock lock(mutex_);
    waiting_.insert_or_assign(partition, Assignment{directory, std::move(accepted)});
  }
  executor_->post([this] { maybeSend(); });
}

void DirectoryAssignments::maybeSend() {
  if (!inFlight_.empty() || waitingToRetry_) return;
  {
    Lock lock(mutex_);
    while (!waiting_.empty() && inFlight_.size() < kMostAtOnce) {
      auto taken = waiting_.extract(waiting_.begin());
      // The replica may be gone by now.
      if (isReplica_(taken.key())) inFlight_.insert(std::move(taken));
    }
  }
  if (inFlight_.empty()) return;
  if (!send_) {
    for (auto& [key, assignment] : std::exchange(inFlight_, {}))
      if (assignment.accepted) assignment.accepted();
    return;
  }
  protocol::AssignReplicasToDirsRequest request;
  request.brokerId = self_.value();
  request.brokerEpoch = brokerEpoch_().value();
  // By directory, then by topic, each once.
  std::vector<std::pair<Uuid, TopicIdPartition>> ordered;
  ordered.reserve(inFlight_.size());
  for (const auto& [key, assignment] : inFlight_) ordered.emplace_back(assignment.directory, key);
  std::ranges::sort(ordered);
  for (const auto& [directory, key] : ordered) {
    if (request.directories.empty() || request.directories.back().id != directory)
      request.directories.push_back({.id = directory, .topics = {}});
    auto& topics = request.directories.back().topics;
    if (topics.empty() || topics.back().topicId != key.topicId)
      topics.push_back({.topicId = key.topicId, .partitions = {}});
    topics.back().partitions.push_back({.partitionIndex = key.partition.value()});
  }
  send_(std::move(request),
        [this](Result<protocol::AssignReplicasToDirsResponse> response) { answered(std::move(response)); });
}

void DirectoryAssignments::retrySoon() {
  {
    // What was said since takes the place of what was under way.
    Lock lock(mutex_);
    for (auto& [key, assignment] : inFlight_) waiting_.try_emplace(key, std::move(assignment));
  }
  inFlight_.clear();
  waitingToRetry_ = true;
  retry_ = executor_->schedule(backoff_, [this] {
    waitingToRetry_ = false;
    maybeSend();
  });
  backoff_ = std::min(backoff_ * 2, kLongestBackoff);
}

void DirectoryAssignments::answered(Result<protocol::AssignReplicasToDirsResponse> response) {
  if (!response || response->errorCode != 0) {
    retrySoon();
    return;
  }
  for (const auto& directory : response->directories) {
    for (const auto& topic : directory.topics) {
      for (const auto& partition : topic.partitions) {
        const auto found = inFlight_.find({topic.topicId, PartitionIndex(partition.partitionIndex)});
        if (found == inFlight_.end() || partition.errorCode != 0) continue;
        const Assignment taken = std::move(found->second);
        inFlight_.erase(found);
        if (taken.accepted) taken.accepted();
      }
    }
  }
  // Refused, or left out of the answer: said again.
  if (inFlight_.empty()) {
    backoff_ = kFirstBackoff;
    maybeSend();
  } else {
    retrySoon();
  }
}

}  // namespace tidemark::replication
