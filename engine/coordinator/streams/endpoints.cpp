#include "coordinator/streams/endpoints.h"

namespace tidemark::coordinator {
namespace {

using ServedPartitions = protocol::StreamsGroupHeartbeatResponse::TopicPartition;

std::vector<ServedPartitions> servedPartitions(const TaskSet& tasks, const ConfiguredTopology& topology,
                                               const TopicLookup& lookup) {
  std::vector<ServedPartitions> served;
  for (auto at = tasks.begin(); at != tasks.end();) {
    const std::string& subtopologyId = at->subtopology;
    std::vector<int32_t> partitions;
    for (; at != tasks.end() && at->subtopology == subtopologyId; ++at) partitions.push_back(at->partition);
    const auto found = topology.subtopologies->find(subtopologyId);
    if (found == topology.subtopologies->end()) continue;
    std::set<std::string> sources = found->second.sourceTopics;
    for (const auto& [name, topic] : found->second.repartitionSourceTopics) sources.insert(name);
    for (const std::string& name : sources) {
      const std::optional<TopicFacts> facts = lookup.topic(name);
      if (!facts) continue;
      ServedPartitions one;
      one.topic = name;
      for (const int32_t partition : partitions) {
        if (partition < facts->partitionCount()) one.partitions.push_back(partition);
      }
      if (!one.partitions.empty()) served.push_back(std::move(one));
    }
  }
  return served;
}

}  // namespace

void addEndpoint(const StreamsMember& member, const ConfiguredTopology& topology, const TopicLookup& topics,
                 std::vector<protocol::StreamsGroupHeartbeatResponse::EndpointToPartitions>& into) {
  if (!member.userEndpoint || !topology.subtopologies) return;
  auto& one = into.emplace_back();
  one.userEndpoint.host = member.userEndpoint->host;
  one.userEndpoint.port = member.userEndpoint->port;
  const StreamsTasks tasks = member.assigned.tasks();
  TaskSet copies = tasks.standby;
  copies.insert(tasks.warmup.begin(), tasks.warmup.end());
  one.activePartitions = servedPartitions(tasks.active, topology, topics);
  one.standbyPartitions = servedPartitions(copies, topology, topics);
}

}  // namespace tidemark::coordinator
