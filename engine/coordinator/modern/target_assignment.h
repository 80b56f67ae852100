#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/modern/assignor.h"

namespace tidemark::coordinator {

/// A member of a server-assigned group, as far as its target depends on it.
struct TargetMember {
  std::optional<std::string> instanceId;
  std::optional<std::string> rackId;
  /// Names, whether they exist or not.
  std::set<std::string> topics;
};

/// What each member is to own from now on, and for whom that is a change (or new).
struct TargetAssignment {
  /// Of every member.
  std::map<std::string, PartitionsByTopic> members;
  std::vector<std::string> changed;
};

/// Computes the target of a group (Kafka's TargetAssignmentBuilder). `before`: the target until now, where a member
/// that takes over a static member's place has the entry of whom it replaces. Topics that do not exist are passed over.
TargetAssignment buildTarget(const std::map<std::string, TargetMember>& members,
                             const std::map<std::string, PartitionsByTopic>& before, const TopicLookup& topics,
                             const Assignor& assignor);

}  // namespace tidemark::coordinator
