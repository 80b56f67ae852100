#include "metadata/controller/controller_events.h"

#include <charconv>
#include <string_view>

namespace tidemark::metadata {
namespace {

/// Of a PartitionChangeRecord that leaves the leader as it is.
constexpr int32_t kSameLeader = -2;
// Kinds of resources in a ConfigRecord.
constexpr int8_t kTopicResource = 2;
constexpr int8_t kBrokerResource = 4;

events::ElectionCause causeOf(const PartitionRegistration& before, const PartitionRegistration& after,
                              const Image& cluster) {
  using events::ElectionCause;
  if (after.leaderRecoveryState == LeaderRecoveryState::Recovering &&
      before.leaderRecoveryState != LeaderRecoveryState::Recovering)
    return before.isr.empty() && before.elr.empty() && before.lastKnownElr == std::vector{after.leader}
               ? ElectionCause::LastLeader
               : ElectionCause::Unclean;
  if (!before.hasLeader()) return ElectionCause::Returned;
  if (!after.isReplica(before.leader)) return ElectionCause::Reassigned;
  const BrokerRegistration* old = cluster.cluster.broker(before.leader);
  if (old != nullptr && old->inControlledShutdown && !old->fenced) return ElectionCause::ControlledShutdown;
  if (old == nullptr || old->fenced || !after.isInIsr(before.leader)) return ElectionCause::LeaderFenced;
  return after.leader == after.preferredLeader() ? ElectionCause::Preferred : ElectionCause::Reassigned;
}

}  // namespace

std::vector<events::Payload> eventsOf(events::Recorder& recorder, const Image& before, const Image& after,
                                      const Records& records) {
  std::vector<events::Payload> events;
  for (const Record& record : records) {
    if (const auto* created = record.as<protocol::TopicRecord>()) {
      const TopicImage* topic = after.topics.find(created->topicId);
      if (topic == nullptr) continue;
      const PartitionRegistration* first = topic->partition(PartitionIndex(0));
      events.push_back(events::TopicCreated{
          .topic = recorder.topic(topic->name),
          .partitions = static_cast<int32_t>(topic->partitions.size()),
          .replicationFactor = first == nullptr ? 0 : static_cast<int32_t>(first->replicas.size())});
    } else if (const auto* deleted = record.as<protocol::RemoveTopicRecord>()) {
      if (const TopicImage* topic = before.topics.find(deleted->topicId))
        events.push_back(events::TopicDeleted{.topic = recorder.topic(topic->name)});
    } else if (const auto* partition = record.as<protocol::PartitionRecord>()) {
      const TopicImage* topic = after.topics.find(partition->topicId);
      if (topic == nullptr) continue;
      events.push_back(
          events::LeaderElected{.partition = recorder.partition(topic->name, PartitionIndex(partition->partitionId)),
                                .from = kNoNode,
                                .to = NodeId(partition->leader),
                                .epoch = LeaderEpoch(partition->leaderEpoch),
                                .cause = events::ElectionCause::Created});
    } else if (const auto* change = record.as<protocol::PartitionChangeRecord>()) {
      const PartitionIndex index(change->partitionId);
      const PartitionRegistration* then = before.topics.partition(change->topicId, index);
      const PartitionRegistration* now = after.topics.partition(change->topicId, index);
      if (change->leader == kSameLeader || then == nullptr || now == nullptr || then->leader == now->leader) continue;
      events.push_back(
          events::LeaderElected{.partition = recorder.partition(after.topics.find(change->topicId)->name, index),
                                .from = then->leader,
                                .to = now->leader,
                                .epoch = now->leaderEpoch,
                                .cause = causeOf(*then, *now, after)});
    } else if (const auto* config = record.as<protocol::ConfigRecord>()) {
      events::ConfigChanged changed{.topic = events::kNoTopicTag,
                                    .node = kNoNode,
                                    .key = decltype(events::ConfigChanged::key)(config->name.view())};
      if (config->resourceType == kTopicResource) changed.topic = recorder.topic(config->resourceName.view());
      if (config->resourceType == kBrokerResource) {
        const std::string_view id = config->resourceName.view();
        int32_t node = -1;
        if (std::from_chars(id.data(), id.data() + id.size(), node).ec == std::errc()) changed.node = NodeId(node);
      }
      events.push_back(changed);
    }
  }
  return events;
}

}  // namespace tidemark::metadata
