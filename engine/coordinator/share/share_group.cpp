#include "coordinator/share/share_group.h"

#include <algorithm>

namespace tidemark::coordinator {

std::set<std::string> ShareGroup::subscribedTopics() const {
  std::set<std::string> topics;
  for (const auto& [id, member] : members) topics.insert(member.topics.begin(), member.topics.end());
  return topics;
}

bool ShareGroup::isInitialized(const Uuid& topic, int32_t partition) const {
  const auto found = initialized.find(topic);
  return found != initialized.end() && found->second.partitions.contains(partition);
}

std::map<std::string, SharePartitions, std::less<>> assignSimply(
    const std::map<std::string, ShareGroupMember, std::less<>>& members,
    const std::map<std::string, std::pair<Uuid, std::set<int32_t>>, std::less<>>& partitions,
    const std::map<std::string, SharePartitions, std::less<>>& before) {
  std::map<std::string, SharePartitions, std::less<>> target;
  for (const auto& [id, member] : members) target.emplace(id, SharePartitions());
  // Members with the same subscription form a ring of their own.
  std::map<std::set<std::string>, std::vector<std::string>> rings;
  for (const auto& [id, member] : members) rings[member.topics].push_back(id);
  for (const auto& [topics, ring] : rings) {
    std::vector<TopicIdPartition> all;
    for (const std::string& topic : topics)
      if (const auto known = partitions.find(topic); known != partitions.end())
        for (const int32_t partition : known->second.second)
          all.push_back({known->second.first, PartitionIndex(partition)});
    if (all.empty()) continue;
    // As many for each, one more for some; and each partition for as many members as any other, one more for some.
    const size_t places = std::max(all.size(), ring.size());
    const size_t perMember = (places + ring.size() - 1) / ring.size();
    const size_t perPartition = (places + all.size() - 1) / all.size();
    std::map<TopicIdPartition, size_t> taken;
    std::map<std::string, size_t> held;
    size_t given = 0;
    const auto give = [&](const std::string& member, const TopicIdPartition& partition) {
      if (!target.find(member)->second[partition.topicId].insert(partition.partition.value()).second) return false;
      ++taken[partition];
      ++held[member];
      ++given;
      return true;
    };
    // Who may have more than the smaller share: only so many.
    size_t largerMembers = places % ring.size() == 0 ? ring.size() : places % ring.size();
    size_t largerPartitions = places % all.size() == 0 ? all.size() : places % all.size();
    const auto fits = [&](const std::string& member, const TopicIdPartition& partition) {
      const size_t has = held[member], shared = taken[partition];
      if (has >= perMember || shared >= perPartition) return false;
      if (has + 1 == perMember && largerMembers == 0) return false;
      return shared + 1 < perPartition || largerPartitions > 0;
    };
    const auto place = [&](const std::string& member, const TopicIdPartition& partition) {
      if (!fits(member, partition) || !give(member, partition)) return;
      if (held[member] == perMember) --largerMembers;
      if (taken[partition] == perPartition) --largerPartitions;
    };
    const std::set<TopicIdPartition> known(all.begin(), all.end());
    for (const std::string& member : ring)
      if (const auto old = before.find(member); old != before.end())
        for (const auto& [topic, indexes] : old->second)
          for (const int32_t index : indexes)
            if (const TopicIdPartition partition{topic, PartitionIndex(index)}; known.contains(partition))
              place(member, partition);
    // Then whoever has least gets what is shared least.
    while (given < places) {
      const auto hungriest =
          std::min_element(ring.begin(), ring.end(), [&](const auto& a, const auto& b) { return held[a] < held[b]; });
      const TopicIdPartition* best = nullptr;
      for (const TopicIdPartition& partition : all) {
        const auto& own = target.find(*hungriest)->second;
        const auto topic = own.find(partition.topicId);
        if (topic != own.end() && topic->second.contains(partition.partition.value())) continue;
        if (best == nullptr || taken[partition] < taken[*best]) best = &partition;
      }
      if (best == nullptr || !give(*hungriest, *best)) break;
    }
  }
  for (auto& [id, assigned] : target) std::erase_if(assigned, [](const auto& topic) { return topic.second.empty(); });
  return target;
}

}  // namespace tidemark::coordinator
