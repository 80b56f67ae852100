#include "metadata/controller/partition_change_builder.h"

#include <algorithm>
#include <set>

#include "base/mutation.h"
#include "metadata/image_writer.h"
#include "metadata/replay.h"

namespace tidemark::metadata {
namespace {

bool contains(const std::vector<NodeId>& list, NodeId node) {
  return std::ranges::find(list, node) != list.end();
}

bool containsAll(const std::vector<NodeId>& list, const std::vector<NodeId>& nodes) {
  return std::ranges::all_of(nodes, [&](NodeId node) { return contains(list, node); });
}

std::vector<NodeId> without(const std::vector<NodeId>& list, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> rest;
  std::ranges::copy_if(list, std::back_inserter(rest), [&](NodeId node) { return !contains(nodes, node); });
  return rest;
}

}  // namespace

PartitionChangeBuilder::PartitionChangeBuilder(const ControllerView& view, const TopicImage& topic,
                                               PartitionIndex index, const PartitionRegistration& partition,
                                               Predicate isAlive)
    : view_(view),
      topic_(topic),
      index_(index),
      partition_(partition),
      isAlive_(std::move(isAlive)),
      elrEnabled_(view.elrEnabled()),
      targetIsr_(partition.isr),
      targetReplicas_(partition.replicas),
      targetRemoving_(partition.removingReplicas),
      targetAdding_(partition.addingReplicas),
      targetElr_(partition.elr),
      targetLastKnownElr_(partition.lastKnownElr),
      targetRecovery_(partition.leaderRecoveryState) {
  for (size_t i = 0; i < partition.replicas.size(); ++i) {
    targetDirectories_[partition.replicas[i]] = partition.directories[i];
  }
}

PartitionChangeBuilder::PartitionChangeBuilder(const ControllerView& view, const TopicImage& topic,
                                               PartitionIndex index, const PartitionRegistration& partition)
    : PartitionChangeBuilder(view, topic, index, partition,
                             [&view](NodeId node) { return view.image.cluster.isActive(node); }) {}

PartitionChangeBuilder& PartitionChangeBuilder::directory(NodeId replica, const Uuid& directory) {
  targetDirectories_[replica] = directory;
  return *this;
}

std::optional<Record> PartitionChangeBuilder::build() {
  protocol::PartitionChangeRecord record{.partitionId = index_.value(), .topicId = topic_.id};
  completeReassignment();
  populateTargetElr();
  tryElection(record);
  if (record.leader == kNoLeaderChange && !containsAll(targetReplicas_, partition_.replicas)) {
    record.leader = partition_.leader.value();
  }
  setElr(record);
  // Without ELR the last member of an ISR stays, though nobody leads.
  if (!record.isr && (!targetIsr_.empty() || elrEnabled_) && targetIsr_ != partition_.isr) {
    record.isr = toNumbers(targetIsr_);
  }
  bumpLeaderEpochIfNeeded(record);
  setAssignment(record);
  if (targetRecovery_ != partition_.leaderRecoveryState) {
    record.leaderRecoveryState = static_cast<int8_t>(targetRecovery_);
  }
  if (record == protocol::PartitionChangeRecord{.partitionId = index_.value(), .topicId = topic_.id})
    return std::nullopt;
  return Record{std::move(record), view_.version().partitionChangeRecordVersion()};
}

void PartitionChangeBuilder::completeReassignment() {
  if (targetRemoving_.empty() && targetAdding_.empty()) return;
  const std::vector<NodeId> isr = without(targetIsr_, targetRemoving_);
  const std::vector<NodeId> replicas = without(targetReplicas_, targetRemoving_);
  if (isr.empty() || replicas.empty() || !containsAll(isr, replicas)) return;
  targetIsr_ = isr;
  targetReplicas_ = replicas;
  targetRemoving_.clear();
  targetAdding_.clear();
}

void PartitionChangeBuilder::populateTargetElr() {
  if (!elrEnabled_) return;
  if (static_cast<int32_t>(targetIsr_.size()) >= view_.minInsyncReplicas(topic_.name, targetReplicas_.size())) {
    targetElr_.clear();
    targetLastKnownElr_.clear();
    return;
  }
  // Who was in the ISR or in the ELR still holds everything committed, unless it stopped uncleanly.
  std::set<NodeId> candidates(targetElr_.begin(), targetElr_.end());
  candidates.insert(partition_.isr.begin(), partition_.isr.end());
  targetElr_.clear();
  for (NodeId node : candidates) {
    if (!contains(targetIsr_, node) && node != uncleanShutdown_) targetElr_.push_back(node);
  }
  candidates.insert(targetLastKnownElr_.begin(), targetLastKnownElr_.end());
  targetLastKnownElr_.clear();
  for (NodeId node : candidates) {
    if (!contains(targetIsr_, node) && !contains(targetElr_, node)) targetLastKnownElr_.push_back(node);
  }
}

bool PartitionChangeBuilder::isAcceptable(NodeId node) const {
  if (!isAlive_(node)) return false;
  const BrokerRegistration* broker = view_.image.cluster.broker(node);
  const auto directory = targetDirectories_.find(node);
  return broker && (directory == targetDirectories_.end() || broker->hasOnlineDirectory(directory->second));
}

bool PartitionChangeBuilder::isValidLeader(NodeId node) const {
  return (isMutated(Mutation::ElectsAnybody) || contains(targetIsr_, node) ||
          (targetIsr_.empty() && contains(targetElr_, node))) &&
         isAcceptable(node);
}

bool PartitionChangeBuilder::canElectLastKnownLeader() const {
  return elrEnabled_ && targetIsr_.empty() && targetElr_.empty() && partition_.lastKnownElr.size() == 1 &&
         isAcceptable(partition_.lastKnownElr.front());
}

PartitionChangeBuilder::Elected PartitionChangeBuilder::elect() const {
  const NodeId preferred = targetReplicas_.front();
  if (election_ == Election::Preferred && isValidLeader(preferred)) return {preferred};
  if (partition_.hasLeader() && isValidLeader(partition_.leader)) return {partition_.leader};
  for (NodeId node : targetReplicas_) {
    if (isValidLeader(node)) return {node};
  }
  if (canElectLastKnownLeader()) return {partition_.lastKnownElr.front(), true};
  if (election_ == Election::Unclean) {
    for (NodeId node : targetReplicas_) {
      if (isAcceptable(node)) return {node, true};
    }
  }
  return {kNoNode};
}

void PartitionChangeBuilder::tryElection(protocol::PartitionChangeRecord& record) {
  const Elected elected = elect();
  if (elected.node == partition_.leader) return;
  if (contains(targetElr_, elected.node)) {
    targetIsr_ = {elected.node};
    targetElr_ = without(targetElr_, {elected.node});
  }
  record.leader = elected.node.value();
  if (!elected.unclean) return;
  // Whatever the others hold beyond this replica is lost.
  record.isr = std::vector<int32_t>{elected.node.value()};
  if (partition_.leaderRecoveryState != LeaderRecoveryState::Recovering) {
    record.leaderRecoveryState = static_cast<int8_t>(LeaderRecoveryState::Recovering);
  }
}

void PartitionChangeBuilder::bumpLeaderEpochIfNeeded(protocol::PartitionChangeRecord& record) const {
  if (!view_.version().bumpsLeaderEpochOnIsrShrink() || record.leader != kNoLeaderChange || !record.isr) return;
  for (NodeId node : partition_.isr) {
    if (std::ranges::find(*record.isr, node.value()) == record.isr->end()) record.leader = partition_.leader.value();
  }
}

void PartitionChangeBuilder::setElr(protocol::PartitionChangeRecord& record) {
  if (record.isr || !elrEnabled_) {
    targetElr_.clear();
    targetLastKnownElr_.clear();
  }
  if (view_.version().partitionChangeRecordVersion() < 2) return;
  if (targetElr_ != partition_.elr) record.eligibleLeaderReplicas = toNumbers(targetElr_);
  if (!elrEnabled_) {
    if (!partition_.lastKnownElr.empty()) record.lastKnownElr = std::vector<int32_t>();
    return;
  }
  // The last known ELR holds the last known leader while nobody leads (KIP-966).
  const bool losesIsr = !record.isr && targetIsr_.empty() && !partition_.isr.empty();
  const bool hasLeader = record.leader >= 0 || (record.leader == kNoLeaderChange && partition_.hasLeader());
  if (losesIsr && partition_.hasLeader() && partition_.lastKnownElr != std::vector{partition_.leader}) {
    record.lastKnownElr = std::vector<int32_t>{partition_.leader.value()};
  } else if (hasLeader && !partition_.lastKnownElr.empty()) {
    record.lastKnownElr = std::vector<int32_t>();
  }
}

void PartitionChangeBuilder::setAssignment(protocol::PartitionChangeRecord& record) const {
  if (view_.version().supportsDirectoryAssignment()) {
    std::vector<Uuid> directories;
    for (NodeId node : targetReplicas_) {
      const auto at = targetDirectories_.find(node);
      directories.push_back(at != targetDirectories_.end() ? at->second : view_.defaultDirectory(node));
    }
    if (directories != partition_.directories) record.directories = std::move(directories);
  }
  if (targetReplicas_ != partition_.replicas) record.replicas = toNumbers(targetReplicas_);
  if (targetRemoving_ != partition_.removingReplicas) record.removingReplicas = toNumbers(targetRemoving_);
  if (targetAdding_ != partition_.addingReplicas) record.addingReplicas = toNumbers(targetAdding_);
}

}  // namespace tidemark::metadata
