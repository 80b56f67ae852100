// What a group is to own: its topics, its epoch, the target that an assignor makes, and a member's steps towards it.

#include <algorithm>
#include <utility>

#include "coordinator/consumer/assignors.h"
#include "coordinator/consumer/consumer_change.h"
#include "coordinator/consumer/consumer_records.h"
#include "coordinator/consumer/regex.h"

namespace tidemark::coordinator {

void ConsumerGroups::addTopicsOf(const Change& change, const MemberFacts& facts, std::set<std::string>& topics) {
  // Most members of a group subscribe to the same.
  const auto add = [&topics](const std::set<std::string>& some) {
    for (const std::string& topic : some) {
      if (!topics.contains(topic)) topics.insert(topic);
    }
  };
  add(facts.topics);
  if (facts.regex.empty()) return;
  if (const auto regex = change.regexes.find(facts.regex); regex != change.regexes.end()) add(regex->second.topics);
}

std::set<std::string> ConsumerGroups::topicsOf(const Change& change, const MemberFacts& facts) const {
  std::set<std::string> topics;
  addTopicsOf(change, facts, topics);
  return topics;
}

std::map<std::string, TargetMember> ConsumerGroups::membersOf(const Change& change) const {
  std::map<std::string, TargetMember> members;
  change.visitMembers([&](const ConsumerMember& member) {
    members.try_emplace(members.end(), member.id,
                        TargetMember{member.facts.instanceId, member.facts.rackId, topicsOf(change, member.facts)});
  });
  return members;
}

void ConsumerGroups::resolveRegexes(Change& change, const RequestInfo& info) {
  const std::string& regex = change.after.facts.regex;
  const std::string before = change.before ? change.before->facts.regex : "";
  if (!change.before || change.after.facts != change.before->facts) {
    change.records.push_back(memberFactsRecord(change.groupId, change.memberId, change.after.facts));
  }
  const bool isNew = !change.before && change.replaces.empty();
  if (isNew || regex != before || change.after.facts.topics != change.before->facts.topics) {
    change.subscriptionChanged = true;
    if (change.cause == events::GroupCause::Unknown) {
      change.cause = isNew ? events::GroupCause::MemberJoined : events::GroupCause::SubscriptionChanged;
    }
  }
  if (!before.empty() && before != regex) {
    const auto& members = change.group->members();
    const bool others = std::any_of(members.begin(), members.end(), [&](const auto& one) {
      return one.first != change.memberId && one.first != change.replaces && one.second.facts.regex == before;
    });
    if (!others && change.regexes.erase(before) > 0) change.records.push_back(regexTombstone(change.groupId, before));
  }
  if (!regex.empty()) change.regexes.try_emplace(regex, ResolvedRegex{{}, -1, 0});
  if (change.regexes.empty()) return;

  Soft& soft = soft_[change.groupId];
  const platform::MonotonicTime now = clock_.monotonic();
  const bool isUnresolved =
      std::any_of(change.regexes.begin(), change.regexes.end(), [](const auto& one) { return one.second.version < 0; });
  const platform::Duration since =
      soft.regexesLookedAt ? now - *soft.regexesLookedAt : platform::Duration(config_.consumer.regexRefreshInterval);
  const bool isStale = soft.regexesStale && since >= config_.consumer.regexRefreshMin;
  if (!isUnresolved && !isStale && since < config_.consumer.regexRefreshInterval) return;
  soft.regexesLookedAt = now;
  soft.regexesStale = false;
  const std::vector<std::string> names = topics_.topicNames();
  for (auto& [expression, resolved] : change.regexes) {
    std::set<std::string> topics = matchingTopics(expression, names, info.mayDescribe);
    if (resolved.version >= 0 && topics == resolved.topics) continue;
    if (resolved.version >= 0 && change.cause == events::GroupCause::Unknown) {
      change.cause = events::GroupCause::TopicsChanged;
    }
    change.subscriptionChanged = true;
    resolved = {std::move(topics), std::max<int64_t>(topics_.version(), 0), clock_.wallMs()};
    change.records.push_back(regexRecord(change.groupId, expression, resolved));
  }
}

void ConsumerGroups::updateEpoch(Change& change) {
  Soft& soft = soft_[change.groupId];
  if (!change.subscriptionChanged && !soft.refresh) return;
  std::set<std::string> topics;
  change.visitMembers([&](const ConsumerMember& member) { addTopicsOf(change, member.facts, topics); });
  const int64_t hash = hashes_.ofGroup(topics);
  if (!change.subscriptionChanged && hash == change.hash) {
    soft.refresh = false;
    return;
  }
  if (change.cause == events::GroupCause::Unknown) change.cause = events::GroupCause::TopicsChanged;
  change.hash = hash;
  ++change.epoch;
  change.records.push_back(consumerEpochRecord(change.groupId, change.epoch, hash));
}

const Assignor& ConsumerGroups::assignorOf(const Change& change) const {
  std::map<std::string, int> votes;
  for (const auto& [id, member] : change.group->members()) {
    if (id != change.replaces && id != change.memberId && member.facts.serverAssignor) {
      ++votes[*member.facts.serverAssignor];
    }
  }
  if (!change.memberId.empty() && change.after.facts.serverAssignor) ++votes[*change.after.facts.serverAssignor];
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const Assignor* chosen = assignorNamed(most != votes.end() ? most->first : config_.consumer.assignors.front());
  return chosen != nullptr ? *chosen : defaultAssignor();
}

std::optional<platform::milliseconds> ConsumerGroups::untilTarget(const Change& change) const {
  if (change.epoch <= change.assignmentEpoch) return std::nullopt;
  const platform::milliseconds interval = config_.consumer.timesOf(change.groupId).assignmentInterval;
  const platform::milliseconds wait(change.group->assignmentTimestampMs() + interval.count() - clock_.wallMs());
  // A clock that was set back must not hold it up for longer than that.
  const bool isSoon = change.group->assignmentTimestampMs() > 0 && wait.count() > 0 && wait <= interval;
  return isSoon ? wait : platform::milliseconds(0);
}

bool ConsumerGroups::isToGetTargetWithOthers(const Change& change) const {
  const bool joins = !change.before && change.replaces.empty();
  return joins && !change.made && !change.group->isEmpty() && untilTarget(change) == platform::milliseconds(0);
}

void ConsumerGroups::updateTarget(Change& change, Effects& out) {
  const std::string& holder = change.replaces.empty() ? change.memberId : change.replaces;
  change.target = change.group->target(holder);
  const std::optional<platform::milliseconds> wait = untilTarget(change);
  if (!wait) return;
  if (wait->count() > 0) {
    out.arm({TimerKey::Kind::Assignment, change.groupId, ""}, *wait);
    return;
  }
  const std::map<std::string, PartitionsByTopic>* before = &change.group->targets();
  std::map<std::string, PartitionsByTopic> renamed;
  if (before->contains(change.replaces)) {
    renamed = *before;
    auto node = renamed.extract(change.replaces);
    node.key() = change.memberId;
    renamed.insert(std::move(node));
    before = &renamed;
  }
  if (change.cause == events::GroupCause::Unknown) change.cause = events::GroupCause::Assigned;
  const Assignor& assignor = assignorOf(change);
  TargetAssignment target = buildTarget(membersOf(change), *before, topics_, assignor);
  for (const std::string& id : target.changed) {
    change.records.push_back(targetRecord(change.groupId, id, target.members[id]));
  }
  change.assignmentEpoch = change.epoch;
  change.records.push_back(targetEpochRecord(change.groupId, change.epoch, clock_.wallMs()));
  log_.info("group-coordinator", "group {} has a target for epoch {} by {}", change.groupId, change.epoch,
            assignor.name());
  if (!change.memberId.empty()) change.target = std::move(target.members[change.memberId]);
}

Result<void> ConsumerGroups::advance(Change& change, const std::optional<PartitionsByTopic>& owned, Effects& out) {
  const std::function<bool(const Uuid&, int32_t)> isOwned = [group = change.group](const Uuid& topic, int32_t index) {
    return group->isOwned(topic, index);
  };
  const MemberProgress before = change.after.progress;
  if (!change.after.isReconciledTo(change.assignmentEpoch)) {
    TIDEMARK_ASSIGN(change.after.progress, reconcile(before, {change.assignmentEpoch, change.target, isOwned, owned}));
  }
  const MemberProgress& after = change.after.progress;
  const bool isWritten = change.before && change.before->progress == after;
  if (!isWritten) {
    change.records.push_back(progressRecord(change.groupId, change.memberId, after));
    const TimerKey key{TimerKey::Kind::MemberRebalance, change.groupId, change.memberId};
    if (after.state == MemberState::UnrevokedPartitions && !change.after.isClassic()) {
      out.arm(key, platform::milliseconds(change.after.facts.rebalanceTimeoutMs));
    } else {
      out.disarm(key);
    }
  }
  if (!change.replaces.empty()) disarmAll(change.groupId, change.replaces, out);
  if (!change.records.empty()) tellAfter(change.groupId, change.memberId, change.cause, out);
  return {};
}

}  // namespace tidemark::coordinator
