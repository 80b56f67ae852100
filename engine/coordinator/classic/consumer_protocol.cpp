#include "coordinator/classic/consumer_protocol.h"

#include <algorithm>

#include "coordinator/record_encoding.h"
#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/reader.h"

namespace tidemark::coordinator {
namespace {

// Version 0 is a prefix of every later version.
constexpr int16_t kSharedVersion = 0;

/// The message behind the version, read as version 0; later fields are left over.
template <class Message>
std::optional<Message> readShared(ByteView bytes) {
  protocol::Reader reader(bytes);
  const int16_t version = reader.int16();
  if (!reader.ok() || version < 0) return std::nullopt;
  Message message;
  if (!message.read(reader, kSharedVersion)) return std::nullopt;
  return message;
}

}  // namespace

std::optional<Subscription> subscriptionOf(ByteView subscription) {
  protocol::Reader reader(subscription);
  const int16_t version = reader.int16();
  if (!reader.ok() || version < 0) return std::nullopt;
  protocol::ConsumerProtocolSubscription message;
  if (!message.read(reader, std::min(version, protocol::ConsumerProtocolSubscription::kMaxVersion))) {
    return std::nullopt;
  }
  Subscription read;
  for (const protocol::Text& topic : message.topics) read.topics.push_back(topic.str());
  for (const auto& topic : message.ownedPartitions) {
    for (const int32_t partition : topic.partitions)
      read.owned.push_back({topic.topic.str(), PartitionIndex(partition)});
  }
  if (message.rackId && !message.rackId->empty()) read.rackId = message.rackId->str();
  return read;
}

int16_t protocolVersionOf(ByteView subscription) {
  protocol::Reader reader(subscription);
  const int16_t version = reader.int16();
  const bool isKnown = reader.ok() && version >= 0;
  return isKnown ? std::min(version, protocol::ConsumerProtocolAssignment::kMaxVersion)
                 : protocol::ConsumerProtocolAssignment::kMaxVersion;
}

ByteVector encodedAssignment(const std::vector<TopicPartition>& partitions, int16_t version) {
  protocol::ConsumerProtocolAssignment message;
  for (const TopicPartition& one : partitions) {
    if (message.assignedPartitions.empty() || message.assignedPartitions.back().topic != one.topic) {
      message.assignedPartitions.emplace_back().topic = protocol::Text(one.topic);
    }
    message.assignedPartitions.back().partitions.push_back(one.partition.value());
  }
  message.userData.reset();
  return encodedValue(message, version);
}

std::optional<std::vector<std::string>> subscribedTopicsOf(ByteView subscription) {
  const auto message = readShared<protocol::ConsumerProtocolSubscription>(subscription);
  if (!message) return std::nullopt;
  std::vector<std::string> topics;
  for (const protocol::Text& topic : message->topics) topics.push_back(topic.str());
  return topics;
}

std::optional<std::vector<TopicPartition>> assignedPartitionsOf(ByteView assignment) {
  const auto message = readShared<protocol::ConsumerProtocolAssignment>(assignment);
  if (!message) return std::nullopt;
  std::vector<TopicPartition> partitions;
  for (const auto& topic : message->assignedPartitions) {
    for (const int32_t partition : topic.partitions) {
      partitions.push_back({topic.topic.str(), PartitionIndex(partition)});
    }
  }
  return partitions;
}

}  // namespace tidemark::coordinator
