#include "broker/group_service.h"

#include <algorithm>

#include <fmt/format.h>

#include "broker/group_settings.h"
#include "broker/settings_without_effect.h"

namespace tidemark::broker {
namespace {

std::set<std::string, std::less<>> protocolsOf(const config::BrokerConfig& config) {
  const std::vector<std::string> names = config.getList("group.coordinator.rebalance.protocols");
  return {names.begin(), names.end()};
}

}  // namespace

GroupService::GroupService(platform::Process& process, replication::ReplicaManager& replicas,
                           coordinator::GroupConfig config, Config brokerConfig,
                           coordinator::ShareStatePersister& persister, LatestOffsets& latestOffsets)
    : log_(process.log()),
      replicas_(replicas),
      brokerConfig_(std::move(brokerConfig)),
      protocols_(protocolsOf(*brokerConfig_())),
      topic_(replicas, "__consumer_offsets",
             {.onPartitionCount = [this](int32_t count) { groups_.setPartitionCount(count); },
              .onBecomeLeader = [this](PartitionIndex partition,
                                       LeaderEpoch epoch) { groups_.onBecomeLeader(partition, epoch); },
              .onResign = [this](PartitionIndex partition) { groups_.onResign(partition); },
              .onHighWatermark = [this](PartitionIndex partition,
                                        Offset highWatermark) { groups_.onHighWatermark(partition, highWatermark); }}),
      turns_(std::make_shared<coordinator::Turns>(process.createExecutor({.name = "group-coordinator", .threads = 1}))),
      groups_({.executor = turns_,
               .clock = &process.clock(),
               .random = &process.random(),
               .log = &process.log(),
               .partitions = &topic_,
               .topics = this,
               .streamsConfigOf = [this](std::string_view groupId) { return streamsConfigOf(groupId); },
               .turns = turns_.get()},
              complete(std::move(config))),
      shares_({.groups = &groups_,
               .persister = &persister,
               .topics = this,
               .topic = [this](std::string_view name) { return shareTopic(name); },
               .latestOffset =
                   [&latestOffsets](const TopicPartition& partition, coordinator::Reply<std::optional<Offset>> reply) {
                     latestOffsets.ask(partition, std::move(reply));
                   }}) {}

GroupService::~GroupService() = default;

coordinator::GroupConfig GroupService::complete(coordinator::GroupConfig config) {
  assignmentIntervalMs_.store(config.consumer.assignmentInterval.count());
  config.consumer.overrides = [this](std::string_view groupId) {
    coordinator::ConsumerGroupOverrides own =
        consumerGroupOverrides(replicas_.image()->configs.of(config::ResourceType::Group, groupId));
    if (!own.assignmentInterval) own.assignmentInterval = platform::milliseconds(assignmentIntervalMs_.load());
    return own;
  };
  config.share.topic = [this](std::string_view name) { return shareTopic(name); };
  config.share.remove = [this](const std::string& groupId, std::move_only_function<void(ErrorCode)> done) {
    shares_.remove(groupId, std::move(done));
  };
  return config;
}

std::optional<coordinator::ShareTopic> GroupService::shareTopic(std::string_view name) const {
  const metadata::ImagePtr image = replicas_.image();
  const metadata::TopicImage* topic = image->topics.find(name);
  if (topic == nullptr) return std::nullopt;
  // Differs for another topic of that name, and with more partitions.
  uint64_t hash = 1469598103934665603U;
  const auto mix = [&hash](uint8_t byte) { hash = (hash ^ byte) * 1099511628211U; };
  for (const char c : topic->name) mix(static_cast<uint8_t>(c));
  for (const uint8_t byte : topic->id.bytes()) mix(byte);
  for (size_t left = topic->partitions.size(); left > 0; left >>= 8) mix(static_cast<uint8_t>(left));
  return coordinator::ShareTopic{topic->id, static_cast<int32_t>(topic->partitions.size()), static_cast<int64_t>(hash)};
}

void GroupService::apply(const replication::MetadataChange& change, NodeId self) {
  if (change.brokerConfigChanged)
    assignmentIntervalMs_.store(brokerConfig_()->getLong("group.consumer.assignment.interval.ms"));
  for (const std::string& group : change.configuredGroups)
    for (const std::string& warning :
         groupSettingsWithoutEffect(change.after->configs.of(config::ResourceType::Group, group)))
      log_.warning("group-coordinator", "of group {}: {}", group, warning);
  topic_.apply(change, self);
  std::vector<coordinator::DeletedTopic> deleted;
  std::set<std::string, std::less<>> changed;
  for (const TopicIdPartition& id : change.partitions) {
    const metadata::TopicImage* topic = change.after->topics.find(id.topicId);
    if (topic != nullptr) {
      changed.insert(topic->name);
    } else if (const metadata::TopicImage* gone = change.before->topics.find(id.topicId)) {
      changed.insert(gone->name);
      if (deleted.empty() || deleted.back().id != gone->id) deleted.push_back({gone->name, gone->id});
    }
  }
  // Where replicas are counts as well.
  const bool moved = std::any_of(change.brokers.begin(), change.brokers.end(), [&](NodeId id) {
    const metadata::BrokerRegistration* before = change.before->cluster.broker(id);
    const metadata::BrokerRegistration* after = change.after->cluster.broker(id);
    return (before != nullptr ? before->rack : std::nullopt) != (after != nullptr ? after->rack : std::nullopt);
  });
  if (moved)
    for (const auto& [name, topic] : change.after->topics.byName) changed.insert(name);
  if (!changed.empty()) groups_.onTopicsChanged(std::move(changed));
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

coordinator::StreamsGroupConfig GroupService::streamsConfigOf(std::string_view groupId) const {
  const metadata::ImagePtr image = replicas_.image();
  return streamsGroupConfig(*brokerConfig_(), image->configs.of(config::ResourceType::Group, groupId));
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

int64_t GroupService::version() const {
  return replicas_.image()->provenance.lastContainedOffset.value();
}

}  // namespace tidemark::broker
