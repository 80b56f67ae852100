#include "coordinator/consumer/consumer_group.h"

#include <algorithm>
#include <utility>

#include "coordinator/classic/consumer_protocol.h"

namespace tidemark::coordinator {

const ConsumerMember* ConsumerGroup::member(std::string_view id) const noexcept {
  const auto found = byId_.find(id);
  return found == byId_.end() ? nullptr : found->second;
}

const ConsumerMember* ConsumerGroup::staticMember(std::string_view instanceId) const noexcept {
  const auto found = static_.find(instanceId);
  return found == static_.end() ? nullptr : member(found->second);
}

const PartitionsByTopic& ConsumerGroup::target(const std::string& memberId) const noexcept {
  static const PartitionsByTopic none;
  const auto found = targets_.find(memberId);
  return found == targets_.end() ? none : found->second;
}

events::GroupState ConsumerGroup::state() const noexcept {
  if (members_.empty()) return events::GroupState::Empty;
  if (epoch_ > assignmentEpoch_) return events::GroupState::Assigning;
  const bool reconciled = std::all_of(members_.begin(), members_.end(),
                                      [this](const auto& one) { return one.second.isReconciledTo(assignmentEpoch_); });
  return reconciled ? events::GroupState::Stable : events::GroupState::Reconciling;
}

bool ConsumerGroup::isOwned(const Uuid& topic, int32_t partition) const noexcept {
  const auto found = owners_.find(topic);
  return found != owners_.end() && found->second.contains(partition);
}

bool ConsumerGroup::isSubscribedTo(std::string_view topic) const {
  const std::string name(topic);
  return std::any_of(members_.begin(), members_.end(), [&](const auto& one) {
    const MemberFacts& facts = one.second.facts;
    if (facts.topics.contains(name)) return true;
    const auto regex = regexes_.find(facts.regex);
    return regex != regexes_.end() && regex->second.topics.contains(name);
  });
}

std::set<std::string> ConsumerGroup::topicsOf(const MemberFacts& facts) const {
  std::set<std::string> topics = facts.topics;
  if (const auto regex = regexes_.find(facts.regex); regex != regexes_.end()) {
    topics.insert(regex->second.topics.begin(), regex->second.topics.end());
  }
  return topics;
}

std::optional<std::string> ConsumerGroup::preferredAssignor() const {
  const auto most = std::max_element(assignors_.begin(), assignors_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == assignors_.end()) return std::nullopt;
  return most->first;
}

bool ConsumerGroup::isClassicExcept(std::string_view memberId) const noexcept {
  const ConsumerMember* one = member(memberId);
  return one != nullptr && !one->isClassic() && classicCount_ + 1 == members_.size();
}

bool ConsumerGroup::supportsProtocols(std::string_view protocolType, const std::vector<std::string_view>& names) const {
  if (protocolType != kConsumerProtocol || names.empty()) return false;
  if (classicCount_ == 0) return true;
  return std::any_of(names.begin(), names.end(), [this](std::string_view name) {
    const auto found = offered_.find(name);
    return found != offered_.end() && static_cast<size_t>(found->second) == classicCount_;
  });
}

bool ConsumerGroup::isWaiting(const ConsumerMember& member) const {
  if (member.progress.state != MemberState::UnreleasedPartitions) return false;
  for (const auto& [topic, partitions] : target(member.id)) {
    const auto has = member.progress.assigned.find(topic);
    for (const int32_t partition : partitions) {
      if (has != member.progress.assigned.end() && has->second.contains(partition)) continue;
      if (isOwned(topic, partition)) return true;
    }
  }
  return false;
}

void ConsumerGroup::setEpoch(int32_t epoch, int64_t metadataHash) {
  epoch_ = epoch;
  metadataHash_ = metadataHash;
}

void ConsumerGroup::setAssignmentEpoch(int32_t epoch, int64_t timestampMs) {
  assignmentEpoch_ = epoch;
  assignmentTimestampMs_ = timestampMs;
}

ConsumerMember& ConsumerGroup::memberOrNew(const std::string& memberId) {
  const auto [at, isNew] = members_.try_emplace(memberId, ConsumerMember{memberId, {}, {}});
  if (isNew) byId_.emplace(at->first, &at->second);
  return at->second;
}

void ConsumerGroup::setFacts(const std::string& memberId, MemberFacts facts) {
  ConsumerMember& member = memberOrNew(memberId);
  count(member.facts, -1);
  if (member.facts.instanceId) static_.erase(*member.facts.instanceId);
  member.facts = std::move(facts);
  if (member.facts.instanceId) static_[*member.facts.instanceId] = memberId;
  count(member.facts, +1);
}

void ConsumerGroup::setProgress(const std::string& memberId, MemberProgress progress) {
  ConsumerMember& member = memberOrNew(memberId);
  disown(member);
  member.progress = std::move(progress);
  own(member);
}

void ConsumerGroup::removeMember(std::string_view memberId) {
  const auto found = members_.find(memberId);
  if (found == members_.end()) return;
  disown(found->second);
  count(found->second.facts, -1);
  if (const auto& instanceId = found->second.facts.instanceId) {
    const auto known = static_.find(*instanceId);
    if (known != static_.end() && known->second == memberId) static_.erase(known);
  }
  byId_.erase(found->first);
  members_.erase(found);
}

void ConsumerGroup::own(const ConsumerMember& member) {
  for (const EpochsByTopic* partitions : {&member.progress.assigned, &member.progress.revoking}) {
    for (const auto& [topic, epochs] : *partitions) {
      for (const auto& [partition, epoch] : epochs) owners_[topic][partition] = member.id;
    }
  }
}

void ConsumerGroup::disown(const ConsumerMember& member) {
  for (const EpochsByTopic* partitions : {&member.progress.assigned, &member.progress.revoking}) {
    for (const auto& [topic, epochs] : *partitions) {
      const auto owners = owners_.find(topic);
      if (owners == owners_.end()) continue;
      for (const auto& [partition, epoch] : epochs) {
        const auto owner = owners->second.find(partition);
        if (owner != owners->second.end() && owner->second == member.id) owners->second.erase(owner);
      }
      if (owners->second.empty()) owners_.erase(owners);
    }
  }
}

void ConsumerGroup::count(const MemberFacts& facts, int change) {
  const auto add = [change](auto& counts, const std::string& name) {
    const auto found = counts.try_emplace(name, 0).first;
    found->second += change;
    if (found->second <= 0) counts.erase(found);
  };
  if (facts.serverAssignor) add(assignors_, *facts.serverAssignor);
  if (!facts.classic) return;
  classicCount_ = change > 0 ? classicCount_ + 1 : classicCount_ - 1;
  for (const MemberProtocol& protocol : facts.classic->protocols) add(offered_, protocol.name);
}

}  // namespace tidemark::coordinator
