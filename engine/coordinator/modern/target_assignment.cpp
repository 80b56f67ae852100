#include "coordinator/modern/target_assignment.h"

#include <utility>

namespace tidemark::coordinator {

TargetAssignment buildTarget(const std::map<std::string, TargetMember>& members,
                             const std::map<std::string, PartitionsByTopic>& before, const TopicLookup& topics,
                             const Assignor& assignor) {
  AssignorInput input;
  std::map<std::string, Uuid> known;
  std::set<std::string> missing;
  for (const auto& [id, member] : members) {
    AssignorMember& one = input.members.emplace_hint(input.members.end(), id, AssignorMember())->second;
    one.instanceId = member.instanceId;
    one.rackId = member.rackId;
    if (const auto found = before.find(id); found != before.end()) one.assigned = found->second;
    for (const std::string& name : member.topics) {
      auto found = known.find(name);
      if (found == known.end()) {
        if (missing.contains(name)) continue;
        const auto facts = topics.topic(name);
        if (!facts) {
          missing.insert(name);
          continue;
        }
        found = known.emplace(name, facts->id).first;
        input.partitionCounts[facts->id] = facts->partitionCount();
      }
      one.topics.insert(found->second);
    }
    input.homogeneous = input.homogeneous && one.topics == input.members.begin()->second.topics;
  }
  AssignorOutput output = assignor.assign(input);
  TargetAssignment target;
  for (const auto& [id, member] : members) {
    PartitionsByTopic& assigned = target.members.emplace_hint(target.members.end(), id, PartitionsByTopic())->second;
    if (const auto found = output.find(id); found != output.end()) assigned = std::move(found->second);
    const auto old = before.find(id);
    if (old == before.end() || old->second != assigned) target.changed.push_back(id);
  }
  return target;
}

}  // namespace tidemark::coordinator
