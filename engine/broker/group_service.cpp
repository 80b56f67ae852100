#include "broker/group_service.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::broker {
namespace {

constexpr std::string_view kTopic = "__consumer_offsets";

TopicPartition nameOf(PartitionIndex partition) { return {std::string(kTopic), partition}; }

}  // namespace

GroupService::GroupService(platform::Process& process, replication::ReplicaManager& replicas, coordinator::GroupConfig config)
    : replicas_(replicas),
      groups_({.executor = process.createExecutor({.name = "group-coordinator", .threads = 1}),
               .clock = &process.clock(),
               .random = &process.random(),
               .log = &process.log(),
               .partitions = this,
               .topics = this},
              config) {}

GroupService::~GroupService() = default;

std::shared_ptr<replication::Partition> GroupService::find(PartitionIndex partition) const { return replicas_.find(nameOf(partition)); }

void GroupService::apply(const replication::MetadataChange& change, NodeId self) {
  const metadata::TopicImage* before = change.before->topics.find(kTopic);
  const metadata::TopicImage* after = change.after->topics.find(kTopic);
  if (after != nullptr && (before == nullptr || before->partitions.size() != after->partitions.size()))
    groups_.setPartitionCount(static_cast<int32_t>(after->partitions.size()));
  std::vector<std::string> deleted;
  for (const TopicIdPartition& id : change.partitions) {
    if (after != nullptr && id.topicId == after->id) {
      const metadata::PartitionRegistration* registration = after->partition(id.partition);
      const bool leads = registration != nullptr && registration->leader == self;
      const auto led = led_.find(id.partition);
      if (leads && (led == led_.end() || led->second != registration->leaderEpoch)) {
        led_[id.partition] = registration->leaderEpoch;
        replicas_.onHighWatermark(nameOf(id.partition), [this, partition = id.partition](Offset highWatermark) {
          groups_.onHighWatermark(partition, highWatermark);
        });
        groups_.onBecomeLeader(id.partition, registration->leaderEpoch);
      } else if (!leads && led != led_.end()) {
        led_.erase(led);
        replicas_.forgetHighWatermark(nameOf(id.partition));
        groups_.onResign(id.partition);
      }
    } else if (change.after->topics.find(id.topicId) == nullptr) {
      if (const metadata::TopicImage* gone = change.before->topics.find(id.topicId))
        if (deleted.empty() || deleted.back() != gone->name) deleted.push_back(gone->name);
    }
  }
  if (!deleted.empty()) groups_.onTopicsDeleted(std::move(deleted));
}

size_t GroupService::maxBatchSize(PartitionIndex partition) const {
  const auto found = find(partition);
  return found ? static_cast<size_t>(found->log()->config()->maxMessageBytes) : 0;
}

Result<Offset> GroupService::append(PartitionIndex partition, LeaderEpoch epoch, ByteVector batch) {
  const auto found = find(partition);
  if (!found || found->leaderEpoch() != epoch)
    return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not led here in epoch {}", nameOf(partition), epoch));
  // acks=all, so that too small an ISR refuses it; the coordinator itself waits for the high watermark.
  auto appended = found->appendAsLeader(batch, -1, {.origin = records::Origin::Coordinator});
  if (!appended) return fail(std::move(appended.error().error));
  replicas_.appended(*found);
  return appended->requiredOffset;
}

Result<coordinator::LogRange> GroupService::range(PartitionIndex partition) const {
  const auto found = find(partition);
  if (!found) return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not here", nameOf(partition)));
  const log::OffsetSnapshot ends = found->log()->offsetSnapshot();
  return coordinator::LogRange{.start = ends.logStartOffset, .end = ends.logEndOffset.offset, .highWatermark = ends.highWatermark.offset};
}

Result<SharedBytes> GroupService::read(PartitionIndex partition, Offset from, size_t maxBytes) const {
  const auto found = find(partition);
  if (!found) return fail(ErrorCode::NotLeaderOrFollower, fmt::format("{} is not here", nameOf(partition)));
  TIDEMARK_ASSIGN(ByteVector bytes, found->log()->readBytes(from, maxBytes, log::FetchIsolation::LogEnd));
  return SharedBytes(std::move(bytes));
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
