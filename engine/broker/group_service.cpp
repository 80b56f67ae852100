#include "broker/group_service.h"

#include <algorithm>

namespace tidemark::broker {

GroupService::GroupService(platform::Process& process, replication::ReplicaManager& replicas, coordinator::GroupConfig config)
    : replicas_(replicas),
      topic_(replicas, "__consumer_offsets",
             {.onPartitionCount = [this](int32_t count) { groups_.setPartitionCount(count); },
              .onBecomeLeader = [this](PartitionIndex partition, LeaderEpoch epoch) { groups_.onBecomeLeader(partition, epoch); },
              .onResign = [this](PartitionIndex partition) { groups_.onResign(partition); },
              .onHighWatermark = [this](PartitionIndex partition,
                                        Offset highWatermark) { groups_.onHighWatermark(partition, highWatermark); }}),
      groups_({.executor = process.createExecutor({.name = "group-coordinator", .threads = 1}),
               .clock = &process.clock(),
               .random = &process.random(),
               .log = &process.log(),
               .partitions = &topic_,
               .topics = this},
              config) {}

GroupService::~GroupService() = default;

void GroupService::apply(const replication::MetadataChange& change, NodeId self) {
  topic_.apply(change, self);
  std::vector<std::string> deleted;
  for (const TopicIdPartition& id : change.partitions) {
    if (change.after->topics.find(id.topicId) != nullptr) continue;
    if (const metadata::TopicImage* gone = change.before->topics.find(id.topicId))
      if (deleted.empty() || deleted.back() != gone->name) deleted.push_back(gone->name);
  }
  if (!deleted.empty()) groups_.onTopicsDeleted(std::move(deleted));
}

std::optional<std::string> GroupService::topicName(const Uuid& id) const {
  const metadata::ImagePtr image = replicas_.image();
  const metadata::TopicImage* topic = image->topics.find(id);
  return topic != nullptr ? std::optional(topic->name) : std::nullopt;
}

std::optional<Uuid> GroupService::topicId(std::string_view name) const {
  const metadata::ImagePtr image = replicas_.image();
  const metadata::TopicImage* topic = image->topics.find(name);
  return topic != nullptr ? std::optional(topic->id) : std::nullopt;
}

std::optional<coordinator::TopicFacts> GroupService::topic(std::string_view name) const {
  const metadata::ImagePtr image = replicas_.image();
  const metadata::TopicImage* topic = image->topics.find(name);
  if (topic == nullptr) return std::nullopt;
  coordinator::TopicFacts facts{.name = topic->name, .id = topic->id, .racks = {}};
  facts.racks.resize(topic->partitions.size());
  for (const auto& [index, partition] : topic->partitions) {
    if (static_cast<size_t>(index.value()) >= facts.racks.size()) continue;
    std::vector<std::string>& racks = facts.racks[static_cast<size_t>(index.value())];
    for (const NodeId replica : partition->replicas) {
      const metadata::BrokerRegistration* broker = image->cluster.broker(replica);
      if (broker != nullptr && broker->rack) racks.push_back(*broker->rack);
    }
    std::sort(racks.begin(), racks.end());
  }
  return facts;
}

std::vector<std::string> GroupService::topicNames() const {
  const metadata::ImagePtr image = replicas_.image();
  std::vector<std::string> names;
  for (const auto& [name, topic] : image->topics.byName) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

int64_t GroupService::version() const { return replicas_.image()->provenance.lastContainedOffset.value(); }

}  // namespace tidemark::broker
