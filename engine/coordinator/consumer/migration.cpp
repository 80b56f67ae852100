// Groups that change from one protocol to the other while their members work.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/classic/classic_records.h"
#include "coordinator/classic/consumer_protocol.h"
#include "coordinator/consumer/consumer_groups.h"
#include "coordinator/consumer/consumer_records.h"

namespace tidemark::coordinator {

Result<ConsumerGroup> ConsumerGroups::upgraded(const ClassicGroup& classic) const {
  const auto refuse = [&](std::string_view why) {
    log_.info("group-coordinator", "group {} is not upgraded to the consumer protocol: {}", classic.id(), why);
    return fail(ErrorCode::GroupIdNotFound, fmt::format("Group {} is not a consumer group.", classic.id()));
  };
  if (!config_.consumer.upgrades) return refuse("group.consumer.migration.policy");
  if (!classic.usesConsumerProtocol()) return refuse("its members are no consumers");
  if (classic.members().size() > static_cast<size_t>(std::max(config_.consumer.maxSize, 0))) {
    return refuse("group.consumer.max.size");
  }
  ConsumerGroup group(classic.id());
  group.setEpoch(classic.generation(), 0);
  group.setAssignmentEpoch(classic.generation(), 0);
  for (const auto& [id, member] : classic.members()) {
    const ByteVector* metadata = member.metadataOf(classic.protocol().value_or(""));
    if (metadata == nullptr && !member.protocols.empty()) metadata = &member.protocols.front().metadata;
    const auto subscription = metadata == nullptr ? std::nullopt : subscriptionOf(*metadata);
    if (!subscription) return refuse("a member's subscription cannot be read");
    MemberFacts facts;
    facts.instanceId = member.instanceId;
    facts.rackId = subscription->rackId;
    facts.clientId = member.clientId;
    facts.clientHost = member.clientHost;
    facts.topics.insert(subscription->topics.begin(), subscription->topics.end());
    facts.rebalanceTimeoutMs = static_cast<int32_t>(member.rebalanceTimeout.count());
    facts.classic = ClassicFacts{static_cast<int32_t>(member.sessionTimeout.count()), member.protocols};
    MemberProgress progress;
    progress.epoch = progress.previousEpoch = classic.generation();
    for (const TopicPartition& one : assignedPartitionsOf(member.assignment).value_or(std::vector<TopicPartition>())) {
      if (const auto topic = topics_.topicId(one.topic)) {
        progress.assigned[*topic][one.partition.value()] = classic.generation();
      }
    }
    group.setTarget(id, partitionsOf(progress.assigned));
    group.setFacts(id, std::move(facts));
    group.setProgress(id, std::move(progress));
  }
  return group;
}

void ConsumerGroups::downgrade(const ConsumerGroup& group, const std::string& leaves, const ConsumerMember* joins,
                               Effects& out) {
  log_.info("group-coordinator", "group {} is downgraded to the classic protocol", group.id());
  ClassicGroup classic(group.id(), ClassicState::Stable, clock_.wall());
  Assignments assignments;
  std::vector<const ConsumerMember*> members;
  for (const auto& [id, member] : group.members()) {
    if (id != leaves) members.push_back(&member);
  }
  if (joins != nullptr) members.push_back(joins);
  std::optional<std::string> leader;
  for (const ConsumerMember* member : members) {
    ClassicMember one;
    one.id = member->id;
    one.instanceId = member->facts.instanceId;
    one.clientId = member->facts.clientId;
    one.clientHost = member->facts.clientHost;
    one.rebalanceTimeout = platform::milliseconds(member->facts.rebalanceTimeoutMs);
    one.sessionTimeout = platform::milliseconds(member->facts.classic->sessionTimeoutMs);
    one.protocols = member->facts.classic->protocols;
    assignments[one.id] = encodedAssignment(namedPartitions(partitionsOf(member->progress.assigned), topics_),
                                            protocolVersionOf(one.protocols.front().metadata));
    if (!leader) leader = one.id;
    classic.add(std::move(one), kConsumerProtocol);
  }
  classic.restore(group.epoch(), std::string(kConsumerProtocol), classic.selectProtocol(), leader, clock_.wall());
  removeGroupRecords(group, out.records);
  if (joins != nullptr) removeMemberRecords(group.id(), joins->id, out.records);
  out.records.push_back(groupMetadataRecord(classic, assignments));
  for (const auto& [id, member] : group.members()) disarmAll(group.id(), id, out);
  for (const ConsumerMember* member : members) {
    out.arm({TimerKey::Kind::Heartbeat, group.id(), member->id},
            platform::milliseconds(member->facts.classic->sessionTimeoutMs));
  }
  out.replies.emplace_back(
      [this, id = group.id(), state = group.state(), epoch = group.epoch(), count = members.size()] {
        if (find(id) != nullptr) return;
        teller_.state({.group = id,
                       .from = state,
                       .to = events::GroupState::Dead,
                       .cause = events::GroupCause::Downgraded,
                       .member = {},
                       .generation = epoch,
                       .members = count});
        teller_.forget(id);
      });
  // Whoever takes over a static member's place changes nothing for the others; else what the leaver had is to be given
  // to somebody.
  if (joins != nullptr) return;
  out.whenCommitted = [this, id = group.id()](ErrorCode code) {
    return code == ErrorCode::None || code == ErrorCode::RequestTimedOut ? classic_.rebalanceDowngraded(id) : Effects();
  };
}

}  // namespace tidemark::coordinator
