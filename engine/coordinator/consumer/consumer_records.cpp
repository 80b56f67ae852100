#include "coordinator/consumer/consumer_records.h"

#include "coordinator/record_encoding.h"
#include "protocol/generated/consumer_group_current_member_assignment_key.h"
#include "protocol/generated/consumer_group_current_member_assignment_value.h"
#include "protocol/generated/consumer_group_member_metadata_key.h"
#include "protocol/generated/consumer_group_member_metadata_value.h"
#include "protocol/generated/consumer_group_metadata_key.h"
#include "protocol/generated/consumer_group_metadata_value.h"
#include "protocol/generated/consumer_group_regular_expression_key.h"
#include "protocol/generated/consumer_group_regular_expression_value.h"
#include "protocol/generated/consumer_group_target_assignment_member_key.h"
#include "protocol/generated/consumer_group_target_assignment_member_value.h"
#include "protocol/generated/consumer_group_target_assignment_metadata_key.h"
#include "protocol/generated/consumer_group_target_assignment_metadata_value.h"

namespace tidemark::coordinator {
namespace {

ByteVector keyOfRegex(std::string_view group, std::string_view regex) {
  protocol::ConsumerGroupRegularExpressionKey key;
  key.groupId = protocol::Text::borrowed(group);
  key.regularExpression = protocol::Text::borrowed(regex);
  return encodedKey(key);
}

template <class Wire>
std::vector<Wire> epochsOf(const EpochsByTopic& partitions) {
  std::vector<Wire> wire;
  for (const auto& [topic, epochs] : partitions) {
    Wire& one = wire.emplace_back();
    one.topicId = topic;
    one.assignmentEpochs.emplace();
    for (const auto& [partition, epoch] : epochs) {
      one.partitions.push_back(partition);
      one.assignmentEpochs->push_back(epoch);
    }
  }
  return wire;
}

}  // namespace

CoordinatorRecord consumerEpochRecord(std::string_view group, int32_t epoch, int64_t metadataHash) {
  protocol::ConsumerGroupMetadataValue value;
  value.epoch = epoch;
  value.metadataHash = metadataHash;
  return {keyOfGroup<protocol::ConsumerGroupMetadataKey>(group), encodedValue(value, 0)};
}

CoordinatorRecord memberFactsRecord(std::string_view group, std::string_view member, const MemberFacts& facts) {
  protocol::ConsumerGroupMemberMetadataValue value;
  value.instanceId = borrowedText(facts.instanceId);
  value.rackId = borrowedText(facts.rackId);
  value.clientId = protocol::Text::borrowed(facts.clientId);
  value.clientHost = protocol::Text::borrowed(facts.clientHost);
  for (const std::string& topic : facts.topics) value.subscribedTopicNames.push_back(protocol::Text::borrowed(topic));
  value.subscribedTopicRegex = protocol::Text::borrowed(facts.regex);
  value.rebalanceTimeoutMs = facts.rebalanceTimeoutMs;
  value.serverAssignor = borrowedText(facts.serverAssignor);
  value.classicMemberMetadata.reset();
  if (facts.classic) {
    auto& classic = value.classicMemberMetadata.emplace();
    classic.sessionTimeoutMs = facts.classic->sessionTimeoutMs;
    for (const MemberProtocol& protocol : facts.classic->protocols) {
      auto& one = classic.supportedProtocols.emplace_back();
      one.name = protocol::Text::borrowed(protocol.name);
      one.metadata = protocol::Blob::borrowed(protocol.metadata);
    }
  }
  return {keyOfMember<protocol::ConsumerGroupMemberMetadataKey>(group, member), encodedValue(value, 0)};
}

CoordinatorRecord targetEpochRecord(std::string_view group, int32_t epoch, int64_t timestampMs) {
  protocol::ConsumerGroupTargetAssignmentMetadataValue value;
  value.assignmentEpoch = epoch;
  value.assignmentTimestamp = timestampMs;
  return {keyOfGroup<protocol::ConsumerGroupTargetAssignmentMetadataKey>(group), encodedValue(value, 0)};
}

CoordinatorRecord targetRecord(std::string_view group, std::string_view member, const PartitionsByTopic& target) {
  protocol::ConsumerGroupTargetAssignmentMemberValue value;
  value.topicPartitions = wireOf<protocol::ConsumerGroupTargetAssignmentMemberValue::TopicPartition>(target);
  return {keyOfMember<protocol::ConsumerGroupTargetAssignmentMemberKey>(group, member), encodedValue(value, 0)};
}

CoordinatorRecord progressRecord(std::string_view group, std::string_view member, const MemberProgress& progress) {
  using Value = protocol::ConsumerGroupCurrentMemberAssignmentValue;
  Value value;
  value.memberEpoch = progress.epoch;
  value.previousMemberEpoch = progress.previousEpoch;
  value.state = static_cast<int8_t>(progress.state);
  value.assignedPartitions = epochsOf<Value::TopicPartitions>(progress.assigned);
  value.partitionsPendingRevocation = epochsOf<Value::TopicPartitions>(progress.revoking);
  return {keyOfMember<protocol::ConsumerGroupCurrentMemberAssignmentKey>(group, member), encodedValue(value, 0)};
}

CoordinatorRecord regexRecord(std::string_view group, std::string_view regex, const ResolvedRegex& resolved) {
  protocol::ConsumerGroupRegularExpressionValue value;
  for (const std::string& topic : resolved.topics) value.topics.push_back(protocol::Text::borrowed(topic));
  value.version = resolved.version;
  value.timestamp = resolved.timestampMs;
  return {keyOfRegex(group, regex), encodedValue(value, 0)};
}

CoordinatorRecord regexTombstone(std::string_view group, std::string_view regex) {
  return {keyOfRegex(group, regex), std::nullopt};
}

void removeMemberRecords(std::string_view group, std::string_view member, std::vector<CoordinatorRecord>& out) {
  out.push_back({keyOfMember<protocol::ConsumerGroupCurrentMemberAssignmentKey>(group, member), std::nullopt});
  out.push_back({keyOfMember<protocol::ConsumerGroupTargetAssignmentMemberKey>(group, member), std::nullopt});
  out.push_back({keyOfMember<protocol::ConsumerGroupMemberMetadataKey>(group, member), std::nullopt});
}

void removeGroupRecords(const ConsumerGroup& group, std::vector<CoordinatorRecord>& out) {
  for (const auto& [member, _] : group.members()) {
    out.push_back({keyOfMember<protocol::ConsumerGroupCurrentMemberAssignmentKey>(group.id(), member), std::nullopt});
  }
  for (const auto& [member, _] : group.targets()) {
    out.push_back({keyOfMember<protocol::ConsumerGroupTargetAssignmentMemberKey>(group.id(), member), std::nullopt});
  }
  out.push_back({keyOfGroup<protocol::ConsumerGroupTargetAssignmentMetadataKey>(group.id()), std::nullopt});
  for (const auto& [member, _] : group.members()) {
    out.push_back({keyOfMember<protocol::ConsumerGroupMemberMetadataKey>(group.id(), member), std::nullopt});
  }
  for (const auto& [regex, _] : group.regexes()) out.push_back(regexTombstone(group.id(), regex));
  out.push_back({keyOfGroup<protocol::ConsumerGroupMetadataKey>(group.id()), std::nullopt});
}

void wholeGroupRecords(const ConsumerGroup& group, std::vector<CoordinatorRecord>& out) {
  for (const auto& [id, member] : group.members()) out.push_back(memberFactsRecord(group.id(), id, member.facts));
  out.push_back(consumerEpochRecord(group.id(), group.epoch(), group.metadataHash()));
  for (const auto& [id, target] : group.targets()) out.push_back(targetRecord(group.id(), id, target));
  out.push_back(targetEpochRecord(group.id(), group.assignmentEpoch(), group.assignmentTimestampMs()));
  for (const auto& [id, member] : group.members()) out.push_back(progressRecord(group.id(), id, member.progress));
}

}  // namespace tidemark::coordinator
