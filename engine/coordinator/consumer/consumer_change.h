#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/consumer/consumer_groups.h"

namespace tidemark::coordinator {

struct ConsumerGroups::Change {
  explicit Change(std::string id) : groupId(std::move(id)) {}

  std::string groupId;
  std::string memberId;
  /// As the log says, or `made` for a group that is new or was of the classic protocol until now.
  const ConsumerGroup* group = nullptr;
  std::optional<ConsumerGroup> made;
  bool upgraded = false;
  /// Nothing for a member that is new.
  std::optional<ConsumerMember> before;
  ConsumerMember after;
  /// The static member whose place it takes.
  std::string replaces;
  std::map<std::string, ResolvedRegex, std::less<>> regexes;
  bool subscriptionChanged = false;
  events::GroupCause cause = events::GroupCause::Unknown;
  int32_t epoch = 0;
  int64_t hash = 0;
  int32_t assignmentEpoch = 0;
  PartitionsByTopic target;
  std::vector<CoordinatorRecord> records;

  /// Everyone who is in the group afterwards.
  template <class Visit>
  void visitMembers(Visit visit) const {
    for (const auto& [id, member] : group->members()) {
      if (id != replaces && id != memberId) visit(member);
    }
    if (!memberId.empty()) visit(after);
  }
};

}  // namespace tidemark::coordinator
