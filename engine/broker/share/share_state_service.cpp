#include "broker/share/share_state_service.h"

namespace tidemark::broker {

ShareStateService::ShareStateService(platform::Process& process, replication::ReplicaManager& replicas,
                                     coordinator::ShareStateConfig config)
    : topic_(replicas, std::string(kShareStateTopic),
             {.onPartitionCount = [this](int32_t count) { states_.setPartitionCount(count); },
              .onBecomeLeader = [this](PartitionIndex partition,
                                       LeaderEpoch epoch) { states_.onBecomeLeader(partition, epoch); },
              .onResign = [this](PartitionIndex partition) { states_.onResign(partition); },
              .onHighWatermark = [this](PartitionIndex partition,
                                        Offset highWatermark) { states_.onHighWatermark(partition, highWatermark); }}),
      states_({.executor = process.createExecutor({.name = "share-coordinator", .threads = 1}),
               .clock = &process.clock(),
               .log = &process.log(),
               .partitions = &topic_,
               .exists =
                   [&replicas](const Uuid& topic, PartitionIndex partition) {
                     return replicas.image()->topics.partition(topic, partition) != nullptr;
                   },
               .prune = [this](PartitionIndex partition, Offset upTo) { topic_.prune(partition, upTo); }},
              config) {}

ShareStateService::~ShareStateService() = default;

void ShareStateService::apply(const replication::MetadataChange& change, NodeId self) {
  topic_.apply(change, self);
  std::set<Uuid> deleted;
  for (const TopicIdPartition& id : change.partitions)
    if (change.after->topics.find(id.topicId) == nullptr && change.before->topics.find(id.topicId) != nullptr)
      deleted.insert(id.topicId);
  if (!deleted.empty()) states_.onTopicsDeleted(std::move(deleted));
}

}  // namespace tidemark::broker
