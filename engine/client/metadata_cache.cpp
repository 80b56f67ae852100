#include "client/metadata_cache.h"

#include "protocol/generated/metadata_response.h"

namespace tidemark::client {

namespace {

std::vector<NodeId> nodesOf(const std::vector<int32_t>& ids) {
  std::vector<NodeId> nodes;
  nodes.reserve(ids.size());
  for (const int32_t id : ids) nodes.emplace_back(id);
  return nodes;
}

}  // namespace

const MetadataCache::Topic* MetadataCache::find(std::string_view topic) const {
  const auto at = topics.find(topic);
  return at == topics.end() ? nullptr : &at->second;
}

const MetadataCache::Partition* MetadataCache::find(const TopicPartition& which) const {
  const Topic* topic = find(which.topic);
  if (topic == nullptr) return nullptr;
  const auto at = topic->partitions.find(which.partition.value());
  return at == topic->partitions.end() ? nullptr : &at->second;
}

std::optional<NodeId> MetadataCache::leaderOf(const TopicPartition& which) const {
  const Partition* partition = find(which);
  if (partition == nullptr || partition->leader.value() < 0) return std::nullopt;
  return partition->leader;
}

std::string_view MetadataCache::nameOf(const Uuid& topicId) const {
  for (const auto& [name, topic] : topics) {
    if (topic.id == topicId) return name;
  }
  return {};
}

void MetadataCache::learn(const TopicPartition& which, LeaderEpoch epoch) {
  const auto topic = topics.find(which.topic);
  if (topic == topics.end()) return;
  const auto known = topic->second.partitions.find(which.partition.value());
  if (known == topic->second.partitions.end() || known->second.leaderEpoch >= epoch) return;
  known->second.leader = kNoNode;
  known->second.leaderEpoch = epoch;
}

void MetadataCache::update(const protocol::MetadataResponse& response) {
  if (!response.brokers.empty()) brokers.clear();
  for (const auto& broker : response.brokers) {
    brokers[NodeId(broker.nodeId)] = {broker.host.str(), static_cast<uint16_t>(broker.port)};
  }
  if (response.clusterId) clusterId = response.clusterId->str();
  controller = NodeId(response.controllerId);
  for (const auto& fresh : response.topics) {
    if (!fresh.name) continue;
    const std::string name = fresh.name->str();
    const auto error = static_cast<ErrorCode>(fresh.errorCode);
    if (error == ErrorCode::UnknownTopicOrPartition) {
      topics.erase(name);
      continue;
    }
    Topic& topic = topics[name];
    topic.error = error;
    if (error != ErrorCode::None) continue;
    if (topic.id != fresh.topicId) topic.partitions.clear();
    topic.id = fresh.topicId;
    topic.internal = fresh.isInternal;
    for (const auto& each : fresh.partitions) {
      Partition& partition = topic.partitions[each.partitionIndex];
      // Brokers learn of an election one after another; what an older answer says is over.
      if (each.leaderEpoch >= 0 && LeaderEpoch(each.leaderEpoch) < partition.leaderEpoch) continue;
      partition = {.leader = NodeId(each.leaderId),
                   .leaderEpoch = LeaderEpoch(each.leaderEpoch),
                   .replicas = nodesOf(each.replicaNodes),
                   .isr = nodesOf(each.isrNodes),
                   .error = static_cast<ErrorCode>(each.errorCode)};
    }
  }
}

}  // namespace tidemark::client
