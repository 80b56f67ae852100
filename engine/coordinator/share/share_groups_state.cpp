#include <utility>

#include "coordinator/share/share_group_records.h"
#include "coordinator/share/share_groups.h"

// What share groups keep at the share coordinator: what of it is set up, set anew and given up.

namespace tidemark::coordinator {

Effects ShareGroups::initializations(std::string_view groupId,
                                     std::move_only_function<void(std::vector<ShareStateInitialization>)> ask) const {
  const ShareGroup* known = find(groupId);
  Effects out;
  if (known == nullptr) return out;
  const platform::MonotonicTime now = clock_.monotonic();
  const auto asked = asked_.find(groupId);
  const bool again = asked == asked_.end() || now - asked->second >= environment_.initializeRetry;
  ShareGroup group = *known;
  std::vector<ShareStateInitialization> wanted;
  for (const std::string& name : group.subscribedTopics()) {
    const auto topic = environment_.topic(name);
    if (!topic) continue;
    for (int32_t partition = 0; partition < topic->partitions; ++partition) {
      if (group.isInitialized(topic->id, partition)) continue;
      const auto under = group.initializing.find(topic->id);
      if (under != group.initializing.end() && under->second.partitions.contains(partition) && !again) continue;
      ShareTopicState& state = group.initializing[topic->id];
      state.name = name;
      state.partitions.insert(partition);
      wanted.push_back({{std::string(groupId), topic->id, PartitionIndex(partition)}, group.epoch, kUndecidedStart});
    }
  }
  if (wanted.empty()) return out;
  asked_[std::string(groupId)] = now;
  if (group.initializing != known->initializing) out.records.push_back(shareStatePartitionsRecord(groupId, group));
  out.whenCommitted = [wanted = std::move(wanted), ask = std::move(ask)](ErrorCode code) mutable {
    if (code == ErrorCode::None) ask(std::move(wanted));
    return Effects();
  };
  return out;
}

Effects ShareGroups::initialized(std::string_view groupId, const std::vector<ShareKey>& keys) const {
  const ShareGroup* known = find(groupId);
  Effects out;
  if (known == nullptr) return out;
  ShareGroup group = *known;
  for (const ShareKey& key : keys) {
    const auto under = group.initializing.find(key.topicId);
    if (under == group.initializing.end() || under->second.partitions.erase(key.partition.value()) == 0) continue;
    ShareTopicState& done = group.initialized[key.topicId];
    done.name = under->second.name;
    done.partitions.insert(key.partition.value());
    if (under->second.partitions.empty()) group.initializing.erase(under);
  }
  if (group.initialized != known->initialized || group.initializing != known->initializing)
    out.records.push_back(shareStatePartitionsRecord(groupId, group));
  return out;
}

Effects ShareGroups::alter(std::string_view groupId, const std::vector<Alteration>& alterations,
                           std::move_only_function<void(ErrorCode, std::vector<ShareStateInitialization>)> ask) const {
  const ShareGroup* known = find(groupId);
  if (known == nullptr || !known->members.empty()) {
    Effects out;
    out.replies.emplace_back([error = known == nullptr ? ErrorCode::GroupIdNotFound : ErrorCode::NonEmptyGroup,
                              ask = std::move(ask)]() mutable { ask(error, {}); });
    return out;
  }
  ShareGroup group = *known;
  ++group.epoch;
  std::vector<ShareStateInitialization> wanted;
  for (const Alteration& alteration : alterations) {
    const auto topic = environment_.topic(alteration.topic);
    if (!topic || alteration.partition >= topic->partitions) continue;
    ShareTopicState& state = group.initializing[topic->id];
    state.name = alteration.topic;
    state.partitions.insert(alteration.partition);
    if (const auto done = group.initialized.find(topic->id); done != group.initialized.end()) {
      done->second.partitions.erase(alteration.partition);
      if (done->second.partitions.empty()) group.initialized.erase(done);
    }
    wanted.push_back(
        {{std::string(groupId), topic->id, PartitionIndex(alteration.partition)}, group.epoch, alteration.start});
  }
  Effects out;
  out.records.push_back(shareGroupRecord(groupId, group));
  out.records.push_back(shareStatePartitionsRecord(groupId, group));
  out.whenCommitted = [wanted = std::move(wanted), ask = std::move(ask)](ErrorCode code) mutable {
    ask(clientErrorOfWrite(code), std::move(wanted));
    return Effects();
  };
  return out;
}

Effects ShareGroups::forget(std::string_view groupId, const std::set<Uuid>& topics,
                            std::move_only_function<void(ErrorCode)> done) const {
  const ShareGroup* known = find(groupId);
  std::vector<CoordinatorRecord> records;
  if (known != nullptr) {
    ShareGroup group = *known;
    for (const Uuid& topic : topics) {
      group.initializing.erase(topic);
      group.initialized.erase(topic);
      group.deleting.erase(topic);
    }
    records.push_back(shareStatePartitionsRecord(groupId, group));
  }
  return answerWhenCommitted(std::move(records),
                             [done = std::move(done)](ErrorCode code) mutable { done(clientErrorOfWrite(code)); });
}

Effects ShareGroups::remove(std::string_view groupId, std::move_only_function<void(ErrorCode)> done) const {
  const ShareGroup* known = find(groupId);
  std::vector<CoordinatorRecord> records;
  if (known != nullptr && !known->members.empty()) {
    Effects out;
    out.replies.emplace_back([done = std::move(done)]() mutable { done(ErrorCode::NonEmptyGroup); });
    return out;
  }
  if (known != nullptr) addShareGroupTombstones(groupId, records);
  return answerWhenCommitted(std::move(records),
                             [done = std::move(done)](ErrorCode code) mutable { done(clientErrorOfWrite(code)); });
}

}  // namespace tidemark::coordinator
