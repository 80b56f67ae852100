#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/uuid.h"
#include "coordinator/modern/assignment.h"

namespace tidemark::coordinator {

/// A member as an assignor sees it.
struct AssignorMember {
  /// `group.instance.id`
  std::optional<std::string> instanceId;
  std::optional<std::string> rackId;
  /// That exist.
  std::set<Uuid> topics;
  /// What it was to own until now.
  PartitionsByTopic assigned;
};

/// What an assignor works on.
struct AssignorInput {
  /// By member id.
  std::map<std::string, AssignorMember> members;
  /// Of each topic that any member subscribes to.
  std::map<Uuid, int32_t> partitionCounts;
  /// Whether all subscribe to the same topics.
  bool homogeneous = true;
};

/// What each member is to own; members that are to own nothing may be left out.
using AssignorOutput = std::map<std::string, PartitionsByTopic>;

/// Distributes partitions among the members of a group: a pure function of its input. Any thread.
class Assignor {
 public:
  virtual ~Assignor() = default;
  /// As clients ask for it ("uniform").
  virtual std::string_view name() const noexcept = 0;
  virtual AssignorOutput assign(const AssignorInput& input) const = 0;
};

}  // namespace tidemark::coordinator
