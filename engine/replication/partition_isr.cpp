#include <algorithm>

#include "base/mutation.h"
#include "replication/partition.h"

// The ISR at its leader: who is asked into it and out of it, and what the controller decided.

namespace tidemark::replication {

IsrProposal Partition::proposal() const {
  IsrProposal wanted{.partition = id_,
                     .leaderEpoch = leaderEpoch_,
                     .partitionEpoch = partitionEpoch_,
                     .isr = {},
                     .recoveryState = metadata::LeaderRecoveryState::Recovered};
  for (NodeId node : proposedIsr(facts_.isr)) {
    const auto follower = facts_.followers.find(node);
    wanted.isr.push_back({.node = node,
                          .epoch = node == facts_.self                  ? environment_->brokerEpoch()
                                   : follower != facts_.followers.end() ? follower->second.brokerEpoch
                                                                        : BrokerEpoch{}});
  }
  return wanted;
}

std::optional<IsrProposal> Partition::maybeExpand(NodeId node) {
  if (isMutated(Mutation::NeverRejoins)) return std::nullopt;
  facts_.highWatermark = log()->highWatermark();
  if (isInflight(facts_.isr) || inMaximalIsr(facts_.isr, node) || !reachedIsr(facts_, node) ||
      !environment_->eligible(node, facts_.followers[node].brokerEpoch))
    return std::nullopt;
  facts_.isr = PendingExpand{committedIsr(facts_.isr), node};
  return proposal();
}

void Partition::checkIsr() {
  std::optional<IsrProposal> wanted;
  {
    ReaderLock leadership(leadership_);
    if (role_ != Role::Leader) return;
    Lock lock(replicas_);
    facts_.logEndOffset = log()->logEndOffset();
    std::vector<NodeId> behind = outOfSync(facts_, environment_->clock.monotonic());
    if (!behind.empty()) {
      facts_.isr = PendingShrink{committedIsr(facts_.isr), std::move(behind)};
      wanted = proposal();
    } else {
      noteLag();
    }
  }
  if (wanted) environment_->propose(std::move(*wanted));
}

void Partition::emitIsrChange(const std::vector<NodeId>& before, const std::vector<NodeId>& after) {
  events::Recorder& recorder = environment_->recorder;
  if (!recorder.wants<events::IsrShrunk, events::IsrExpanded>()) return;
  const auto contains = [](const std::vector<NodeId>& nodes, NodeId node) {
    return std::ranges::find(nodes, node) != nodes.end();
  };
  for (NodeId node : before)
    if (!contains(after, node))
      recorder.emit(
          events::IsrShrunk{.partition = tag_,
                            .before = events::NodeList(before),
                            .after = events::NodeList(after),
                            .removed = node,
                            .epoch = partitionEpoch_,
                            .behindFor = environment_->clock.monotonic() - facts_.followers[node].lastCaughtUp});
  for (NodeId node : after)
    if (!contains(before, node))
      recorder.emit(events::IsrExpanded{.partition = tag_,
                                        .before = events::NodeList(before),
                                        .after = events::NodeList(after),
                                        .added = node,
                                        .epoch = partitionEpoch_});
}

bool Partition::decided(const IsrProposal& proposed, const IsrDecision& decision) {
  std::optional<IsrProposal> again;
  bool moved = false;
  {
    ReaderLock leadership(leadership_);
    Lock lock(replicas_);
    // Metadata may have overtaken the answer.
    if (role_ != Role::Leader || proposed.leaderEpoch != leaderEpoch_ || proposed.partitionEpoch != partitionEpoch_ ||
        !isInflight(facts_.isr))
      return false;
    switch (decision.error) {
      case ErrorCode::None:
        if (decision.leaderEpoch == leaderEpoch_ && decision.partitionEpoch >= partitionEpoch_) {
          const std::vector<NodeId> before = committedIsr(facts_.isr);
          partitionEpoch_ = decision.partitionEpoch;
          facts_.isr = CommittedIsr{decision.isr};
          emitIsrChange(before, decision.isr);
          moved = advanceLocked();
          noteLag();
        }
        break;
      case ErrorCode::IneligibleReplica:
      case ErrorCode::OperationNotAttempted:
        // The controller saw it and refused: back to what is committed.
        facts_.isr = CommittedIsr{committedIsr(facts_.isr)};
        noteLag();
        break;
      case ErrorCode::UnknownTopicOrPartition:
      case ErrorCode::UnknownTopicId:
      case ErrorCode::FencedLeaderEpoch:
      case ErrorCode::InvalidUpdateVersion:
      case ErrorCode::InvalidRequest:
      case ErrorCode::NewLeaderElected:
        // Our view is old: the metadata log will bring the new one. Until then the pending state holds.
        break;
      default:
        again = proposal();
    }
  }
  if (again) environment_->propose(std::move(*again));
  return moved;
}

bool Partition::isInSync(NodeId node) const {
  Lock lock(replicas_);
  const std::vector<NodeId>& isr = committedIsr(facts_.isr);
  return std::ranges::find(isr, node) != isr.end();
}

std::vector<ReadableReplica> Partition::readableReplicas(Offset offset) const {
  std::vector<ReadableReplica> readable;
  ReaderLock leadership(leadership_);
  if (role_ != Role::Leader) return readable;
  const platform::MonotonicTime now = environment_->clock.monotonic();
  Lock lock(replicas_);
  for (NodeId node : committedIsr(facts_.isr)) {
    const auto follower = facts_.followers.find(node);
    if (follower == facts_.followers.end() || follower->second.logEndOffset < offset ||
        follower->second.logStartOffset > offset)
      continue;
    readable.push_back({.node = node,
                        .logEndOffset = follower->second.logEndOffset,
                        .behindFor = now - follower->second.lastCaughtUp});
  }
  return readable;
}

}  // namespace tidemark::replication
