// Consumer groups as the log says.

#include <utility>

#include "coordinator/consumer/consumer_groups.h"
#include "protocol/generated/consumer_group_current_member_assignment_key.h"
#include "protocol/generated/consumer_group_current_member_assignment_value.h"
#include "protocol/generated/consumer_group_member_metadata_key.h"
#include "protocol/generated/consumer_group_member_metadata_value.h"
#include "protocol/generated/consumer_group_metadata_key.h"
#include "protocol/generated/consumer_group_metadata_value.h"
#include "protocol/generated/consumer_group_partition_metadata_key.h"
#include "protocol/generated/consumer_group_regular_expression_key.h"
#include "protocol/generated/consumer_group_regular_expression_value.h"
#include "protocol/generated/consumer_group_target_assignment_member_key.h"
#include "protocol/generated/consumer_group_target_assignment_member_value.h"
#include "protocol/generated/consumer_group_target_assignment_metadata_key.h"
#include "protocol/generated/consumer_group_target_assignment_metadata_value.h"

namespace tidemark::coordinator {
namespace {

std::optional<std::string> ownedText(const std::optional<protocol::Text>& text) {
  if (!text) return std::nullopt;
  return text->str();
}

MemberFacts factsOf(const protocol::ConsumerGroupMemberMetadataValue& value) {
  MemberFacts facts;
  facts.instanceId = ownedText(value.instanceId);
  facts.rackId = ownedText(value.rackId);
  facts.clientId = value.clientId.str();
  facts.clientHost = value.clientHost.str();
  for (const protocol::Text& topic : value.subscribedTopicNames) facts.topics.insert(topic.str());
  if (value.subscribedTopicRegex) facts.regex = value.subscribedTopicRegex->str();
  facts.rebalanceTimeoutMs = value.rebalanceTimeoutMs;
  facts.serverAssignor = ownedText(value.serverAssignor);
  if (value.classicMemberMetadata) {
    ClassicFacts& classic = facts.classic.emplace();
    classic.sessionTimeoutMs = value.classicMemberMetadata->sessionTimeoutMs;
    for (const auto& protocol : value.classicMemberMetadata->supportedProtocols) {
      classic.protocols.push_back({protocol.name.str(), protocol.metadata.bytes()});
    }
  }
  return facts;
}

/// Partitions without epochs of their own were written before there were any: they are as old as the member's.
template <class Wire>
EpochsByTopic epochsFrom(const std::vector<Wire>& wire, int32_t memberEpoch) {
  EpochsByTopic epochs;
  for (const Wire& topic : wire) {
    for (size_t i = 0; i < topic.partitions.size(); ++i) {
      const bool has = topic.assignmentEpochs && i < topic.assignmentEpochs->size();
      epochs[topic.topicId][topic.partitions[i]] = has ? (*topic.assignmentEpochs)[i] : memberEpoch;
    }
  }
  return epochs;
}

MemberProgress progressOf(const protocol::ConsumerGroupCurrentMemberAssignmentValue& value) {
  MemberProgress progress;
  progress.epoch = value.memberEpoch;
  progress.previousEpoch = value.previousMemberEpoch;
  progress.state = value.state >= 0 && value.state <= 2 ? static_cast<MemberState>(value.state) : MemberState::Unknown;
  progress.assigned = epochsFrom(value.assignedPartitions, value.memberEpoch);
  progress.revoking = epochsFrom(value.partitionsPendingRevocation, value.memberEpoch);
  return progress;
}

}  // namespace

ConsumerGroup* ConsumerGroups::findForReplay(const std::string& groupId, bool create) {
  const auto found = groups_.find(groupId);
  if (found != groups_.end()) return &found->second;
  return create ? &groups_.try_emplace(groupId, groupId).first->second : nullptr;
}

Result<std::optional<std::string>> ConsumerGroups::replay(const protocol::FramedRecord& key,
                                                          std::optional<ByteView> value) {
  using namespace protocol;  // NOLINT(google-build-using-namespace): each kind of record is named below
  const auto groupFor = [&](const Text& id) { return findForReplay(id.str(), value.has_value()); };
  if (key.type == ConsumerGroupMetadataKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupMetadataKey>(key.body, key.version));
    if (value) {
      TIDEMARK_ASSIGN(const auto says, decodeVersionedAs<ConsumerGroupMetadataValue>(*value));
      groupFor(named.groupId)->setEpoch(says.epoch, says.metadataHash);
      soft_[named.groupId.str()].refresh = false;
    } else {
      const auto group = groups_.extract(named.groupId.str());
      const auto soft = soft_.extract(named.groupId.str());
      // One with members became a classic group, which is told by whoever makes it one.
      const bool wasEmpty = !soft.empty() && soft.mapped().state == events::GroupState::Empty;
      if (loaded_ && !group.empty() && wasEmpty) teller_.removed(named.groupId, group.mapped().epoch());
    }
    return named.groupId.str();
  }
  if (key.type == ConsumerGroupMemberMetadataKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupMemberMetadataKey>(key.body, key.version));
    ConsumerGroup* group = groupFor(named.groupId);
    if (value) {
      TIDEMARK_ASSIGN(const auto says, decodeVersionedAs<ConsumerGroupMemberMetadataValue>(*value));
      group->setFacts(named.memberId.str(), factsOf(says));
    } else if (group != nullptr) {
      group->removeMember(named.memberId);
      Soft& soft = soft_[group->id()];
      soft.heard.erase(named.memberId.str());
      soft.awaitedJoins.erase(named.memberId.str());
    }
    return named.groupId.str();
  }
  if (key.type == ConsumerGroupCurrentMemberAssignmentKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupCurrentMemberAssignmentKey>(key.body, key.version));
    ConsumerGroup* group = groupFor(named.groupId);
    if (value) {
      TIDEMARK_ASSIGN(const auto says, decodeVersionedAs<ConsumerGroupCurrentMemberAssignmentValue>(*value));
      group->setProgress(named.memberId.str(), progressOf(says));
    } else if (group != nullptr && group->member(named.memberId) != nullptr) {
      MemberProgress gone;
      gone.epoch = gone.previousEpoch = kLeaveEpoch;
      group->setProgress(named.memberId.str(), gone);
    }
    return named.groupId.str();
  }
  if (key.type == ConsumerGroupTargetAssignmentMemberKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupTargetAssignmentMemberKey>(key.body, key.version));
    ConsumerGroup* group = groupFor(named.groupId);
    if (value) {
      TIDEMARK_ASSIGN(const auto says, decodeVersionedAs<ConsumerGroupTargetAssignmentMemberValue>(*value));
      group->setTarget(named.memberId.str(), partitionsOf(says.topicPartitions));
    } else if (group != nullptr) {
      group->removeTarget(named.memberId.str());
    }
    return named.groupId.str();
  }
  if (key.type == ConsumerGroupTargetAssignmentMetadataKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupTargetAssignmentMetadataKey>(key.body, key.version));
    ConsumerGroup* group = groupFor(named.groupId);
    if (value) {
      TIDEMARK_ASSIGN(const auto says, decodeVersionedAs<ConsumerGroupTargetAssignmentMetadataValue>(*value));
      group->setAssignmentEpoch(says.assignmentEpoch, says.assignmentTimestamp);
    } else if (group != nullptr) {
      group->setAssignmentEpoch(-1, 0);
    }
    return named.groupId.str();
  }
  if (key.type == ConsumerGroupRegularExpressionKey::kRecordType) {
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupRegularExpressionKey>(key.body, key.version));
    ConsumerGroup* group = groupFor(named.groupId);
    if (value) {
      TIDEMARK_ASSIGN(const auto says, decodeVersionedAs<ConsumerGroupRegularExpressionValue>(*value));
      ResolvedRegex resolved{{}, says.version, says.timestamp};
      for (const Text& topic : says.topics) resolved.topics.insert(topic.str());
      group->setRegex(named.regularExpression.str(), std::move(resolved));
    } else if (group != nullptr) {
      group->removeRegex(named.regularExpression.str());
    }
    return named.groupId.str();
  }
  if (key.type == ConsumerGroupPartitionMetadataKey::kRecordType) {
    // Written before there was a hash: what it says is made anew.
    TIDEMARK_ASSIGN(const auto named, decode<ConsumerGroupPartitionMetadataKey>(key.body, key.version));
    return named.groupId.str();
  }
  return std::nullopt;
}

}  // namespace tidemark::coordinator
