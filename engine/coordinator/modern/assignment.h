#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/uuid.h"
#include "coordinator/request_info.h"

namespace tidemark::coordinator {

/// Partitions by topic id; a topic without partitions is not in it.
using PartitionsByTopic = std::map<Uuid, std::set<int32_t>>;

bool contains(const PartitionsByTopic& all, const Uuid& topic, int32_t partition) noexcept;
/// Whether each of `part` is in `all`.
bool isSubset(const PartitionsByTopic& part, const PartitionsByTopic& all) noexcept;
int32_t countOf(const PartitionsByTopic& partitions) noexcept;
/// With the names of the topics; those that are gone are left out.
std::vector<TopicPartition> namedPartitions(const PartitionsByTopic& partitions, const TopicLookup& topics);

/// From a list of {topicId, partitions} of any message.
template <class Wire>
PartitionsByTopic partitionsOf(const std::vector<Wire>& wire) {
  PartitionsByTopic partitions;
  for (const Wire& topic : wire) {
    if (!topic.partitions.empty()) partitions[topic.topicId].insert(topic.partitions.begin(), topic.partitions.end());
  }
  return partitions;
}

/// The same, back.
template <class Wire>
std::vector<Wire> wireOf(const PartitionsByTopic& partitions) {
  std::vector<Wire> wire;
  for (const auto& [topic, indexes] : partitions) {
    Wire& one = wire.emplace_back();
    one.topicId = topic;
    one.partitions.assign(indexes.begin(), indexes.end());
  }
  return wire;
}

}  // namespace tidemark::coordinator
