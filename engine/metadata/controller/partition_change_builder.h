#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "metadata/controller/view.h"
#include "metadata/image.h"
#include "metadata/records.h"

namespace tidemark::metadata {

/// Which nodes a partition may be given to.
enum class Election : uint8_t {
  Preferred,  ///< the first replica if it can, then as Online
  /// The leader if it can go on, then any member of the ISR or, with an empty ISR, of the ELR. With both empty nobody
  /// is known to hold all that was committed: then the last leader, as soon as it is back (KIP-966).
  Online,
  Unclean,  ///< then, at the price of records, any live replica
};

/// Works out what has to change in one partition when its ISR, its leader or its directories do: Kafka's
/// PartitionChangeBuilder. Set the targets, then build() once.
class PartitionChangeBuilder {
 public:
  using Predicate = std::function<bool(NodeId)>;

  /// `isAlive`: who may lead, as far as brokers go (directories are checked here).
  PartitionChangeBuilder(const ControllerView& view, const TopicImage& topic, PartitionIndex index,
                         const PartitionRegistration& partition, Predicate isAlive);
  /// Alive: registered, not fenced, not shutting down.
  PartitionChangeBuilder(const ControllerView& view, const TopicImage& topic, PartitionIndex index,
                         const PartitionRegistration& partition);

  PartitionChangeBuilder& election(Election election) {
    election_ = election;
    return *this;
  }
  PartitionChangeBuilder& targetIsr(std::vector<NodeId> isr) {
    targetIsr_ = std::move(isr);
    return *this;
  }
  PartitionChangeBuilder& targetReplicas(std::vector<NodeId> replicas) {
    targetReplicas_ = std::move(replicas);
    return *this;
  }
  PartitionChangeBuilder& targetRemoving(std::vector<NodeId> replicas) {
    targetRemoving_ = std::move(replicas);
    return *this;
  }
  PartitionChangeBuilder& targetAdding(std::vector<NodeId> replicas) {
    targetAdding_ = std::move(replicas);
    return *this;
  }
  PartitionChangeBuilder& targetLeaderRecoveryState(LeaderRecoveryState state) {
    targetRecovery_ = state;
    return *this;
  }
  PartitionChangeBuilder& uncleanShutdownReplica(NodeId node) {
    uncleanShutdown_ = node;
    return *this;
  }
  PartitionChangeBuilder& directory(NodeId replica, const Uuid& directory);

  /// Nothing if nothing changes.
  std::optional<Record> build();

 private:
  struct Elected {
    NodeId node;
    bool unclean = false;
  };
  void completeReassignment();
  void populateTargetElr();
  Elected elect() const;
  bool canElectLastKnownLeader() const;
  bool isValidLeader(NodeId node) const;
  bool isAcceptable(NodeId node) const;
  void tryElection(protocol::PartitionChangeRecord& record);
  void bumpLeaderEpochIfNeeded(protocol::PartitionChangeRecord& record) const;
  void setElr(protocol::PartitionChangeRecord& record);
  void setAssignment(protocol::PartitionChangeRecord& record) const;

  const ControllerView& view_;
  const TopicImage& topic_;
  PartitionIndex index_;
  const PartitionRegistration& partition_;
  Predicate isAlive_;
  bool elrEnabled_;
  Election election_ = Election::Online;
  std::vector<NodeId> targetIsr_;
  std::vector<NodeId> targetReplicas_;
  std::vector<NodeId> targetRemoving_;
  std::vector<NodeId> targetAdding_;
  std::vector<NodeId> targetElr_;
  std::vector<NodeId> targetLastKnownElr_;
  std::map<NodeId, Uuid> targetDirectories_;
  NodeId uncleanShutdown_;
  LeaderRecoveryState targetRecovery_;
};

}  // namespace tidemark::metadata
