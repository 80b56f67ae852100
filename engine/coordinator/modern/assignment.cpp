#include "coordinator/modern/assignment.h"

#include <algorithm>

namespace tidemark::coordinator {

bool contains(const PartitionsByTopic& all, const Uuid& topic, int32_t partition) noexcept {
  const auto found = all.find(topic);
  return found != all.end() && found->second.contains(partition);
}

bool isSubset(const PartitionsByTopic& part, const PartitionsByTopic& all) noexcept {
  return std::all_of(part.begin(), part.end(), [&](const auto& topic) {
    const auto found = all.find(topic.first);
    return found != all.end() &&
           std::includes(found->second.begin(), found->second.end(), topic.second.begin(), topic.second.end());
  });
}

int32_t countOf(const PartitionsByTopic& partitions) noexcept {
  int32_t count = 0;
  for (const auto& [topic, indexes] : partitions) count += static_cast<int32_t>(indexes.size());
  return count;
}

std::vector<TopicPartition> namedPartitions(const PartitionsByTopic& partitions, const TopicLookup& topics) {
  std::vector<TopicPartition> named;
  for (const auto& [topic, indexes] : partitions) {
    const auto name = topics.topicName(topic);
    if (!name) continue;
    for (const int32_t index : indexes) named.push_back({*name, PartitionIndex(index)});
  }
  std::sort(named.begin(), named.end());
  return named;
}

}  // namespace tidemark::coordinator
