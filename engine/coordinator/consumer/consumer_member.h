#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/classic/classic_group.h"
#include "coordinator/modern/assignment.h"
#include "coordinator/modern/member_state.h"

namespace tidemark::coordinator {

/// Partitions by topic id, each with the group epoch in which its owner was given it.
using EpochsByTopic = std::map<Uuid, std::map<int32_t, int32_t>>;

PartitionsByTopic partitionsOf(const EpochsByTopic& epochs);

/// What a member that follows the classic protocol has told inside a group of the consumer protocol.
struct ClassicFacts {
  int32_t sessionTimeoutMs = 0;
  /// In order of preference; all subscribe to the same.
  std::vector<MemberProtocol> protocols;
  friend bool operator==(const ClassicFacts&, const ClassicFacts&) = default;
};

/// What a member has told of itself; ConsumerGroupMemberMetadata holds it.
struct MemberFacts {
  std::optional<std::string> instanceId;
  std::optional<std::string> rackId;
  std::string clientId;
  /// With Java's leading slash: "/127.0.0.1".
  std::string clientHost;
  std::set<std::string> topics;
  /// Empty: none.
  std::string regex;
  int32_t rebalanceTimeoutMs = -1;
  std::optional<std::string> serverAssignor;
  /// Nothing: it follows the consumer protocol.
  std::optional<ClassicFacts> classic;
  friend bool operator==(const MemberFacts&, const MemberFacts&) = default;
};

/// How far a member is; ConsumerGroupCurrentMemberAssignment holds it.
struct MemberProgress {
  /// Only rises, but for kStaticLeaveEpoch while a static member is away.
  int32_t epoch = 0;
  /// The one before, which a member whose answer was lost still has.
  int32_t previousEpoch = 0;
  MemberState state = MemberState::Stable;
  EpochsByTopic assigned;
  /// Still owned, until the member no longer says so.
  EpochsByTopic revoking;
  friend bool operator==(const MemberProgress&, const MemberProgress&) = default;
};

struct ConsumerMember {
  std::string id;
  MemberFacts facts;
  MemberProgress progress;

  bool isClassic() const noexcept { return facts.classic.has_value(); }
  bool isStatic() const noexcept { return facts.instanceId.has_value(); }
  bool isReconciledTo(int32_t epoch) const noexcept {
    return progress.state == MemberState::Stable && progress.epoch == epoch;
  }
};

/// A target to reach, and what bears on how far a member can go towards it.
struct Reconciliation {
  int32_t targetEpoch = 0;
  const PartitionsByTopic& target;
  /// Whether some member owns the partition as the log says now.
  const std::function<bool(const Uuid& topic, int32_t partition)>& isOwned;
  /// What the member says that it owns; nothing: it did not say.
  const std::optional<PartitionsByTopic>& owned;
};

/// One step of a member towards its target (Kafka's CurrentAssignmentBuilder): gives back first what it is not to own,
/// moves to the target's epoch once that is done, and takes what is free then. FENCED_MEMBER_EPOCH for one in a state
/// that is not known and which still owns partitions.
Result<MemberProgress> reconcile(const MemberProgress& now, const Reconciliation& to);

}  // namespace tidemark::coordinator
