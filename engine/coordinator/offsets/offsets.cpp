#include "coordinator/offsets/offsets.h"

#include <algorithm>
#include <utility>

#include "base/mutation.h"
#include "base/utf8.h"

namespace tidemark::coordinator {

using protocol::OffsetCommitRequest;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;

namespace {

/// How long Java holds a text to be.
size_t utf16Length(std::string_view text) {
  size_t units = 0;
  for (const char c : text)
    if (!utf8::isContinuation(c)) units += static_cast<uint8_t>(c) >= 0xF0 ? 2 : 1;
  return units;
}

}  // namespace

// ---- the table

OffsetTable::Value OffsetTable::get(std::string_view group, std::string_view topic, int32_t partition) const {
  const Topics* topics = topicsOf(group);
  if (topics == nullptr) return nullptr;
  const auto partitions = topics->find(topic);
  if (partitions == topics->end()) return nullptr;
  const auto found = partitions->second.find(partition);
  return found == partitions->second.end() ? nullptr : found->second;
}

const OffsetTable::Topics* OffsetTable::topicsOf(std::string_view group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : &found->second;
}

void OffsetTable::put(const std::string& group, const std::string& topic, int32_t partition, Value value) {
  groups_[group][topic][partition] = std::move(value);
}

void OffsetTable::remove(std::string_view group, std::string_view topic, int32_t partition) {
  const auto topics = groups_.find(group);
  if (topics == groups_.end()) return;
  const auto partitions = topics->second.find(topic);
  if (partitions == topics->second.end()) return;
  partitions->second.erase(partition);
  if (partitions->second.empty()) topics->second.erase(partitions);
  if (topics->second.empty()) groups_.erase(topics);
}

// ---- handlers

Offsets::Commit Offsets::commit(const OffsetCommitRequest& request, int64_t nowMs) const {
  Commit result;
  std::optional<int64_t> expireMs;
  if (request.retentionTimeMs != -1) expireMs = nowMs + request.retentionTimeMs;
  for (const auto& topic : request.topics) {
    auto& answered = result.response.topics.emplace_back();
    answered.name = topic.name;
    answered.topicId = topic.topicId;
    for (const auto& partition : topic.partitions) {
      auto& one = answered.partitions.emplace_back();
      one.partitionIndex = partition.partitionIndex;
      if (partition.committedMetadata && utf16Length(partition.committedMetadata->view()) > config_.offsetMetadataMax) {
        one.errorCode = static_cast<int16_t>(ErrorCode::OffsetMetadataTooLarge);
        continue;
      }
      CommittedOffset committed;
      committed.offset = Offset(partition.committedOffset);
      committed.leaderEpoch = LeaderEpoch(partition.committedLeaderEpoch);
      if (partition.committedMetadata) committed.metadata = partition.committedMetadata->str();
      committed.commitTimestampMs = nowMs;
      committed.expireTimestampMs = expireMs;
      committed.topicId = topic.topicId;
      result.records.push_back(offsetCommitRecord(request.groupId, topic.name, partition.partitionIndex, committed));
    }
  }
  return result;
}

OffsetFetchResponse::OffsetFetchResponseGroup Offsets::fetch(const OffsetFetchRequest::OffsetFetchRequestGroup& request,
                                                             bool stable) const {
  const OffsetTable& table = stable ? latest_ : committed_;
  OffsetFetchResponse::OffsetFetchResponseGroup answer;
  answer.groupId = request.groupId;
  const auto add = [&](auto& topic, std::string_view name, int32_t partition, const OffsetTable::Value& value) {
    auto& one = topic.partitions.emplace_back();
    one.partitionIndex = partition;
    one.committedOffset = -1;
    one.committedLeaderEpoch = -1;
    one.metadata = "";
    if (stable && hasPendingTransaction(request.groupId, name, partition)) {
      one.errorCode = static_cast<int16_t>(ErrorCode::UnstableOffsetCommit);
      return;
    }
    // An offset of another topic that had the same name says nothing about this one.
    if (!value || (!value->topicId.isZero() && !topic.topicId.isZero() && value->topicId != topic.topicId)) return;
    one.committedOffset = value->offset.value();
    one.committedLeaderEpoch = value->leaderEpoch.value();
    one.metadata = value->metadata;
  };
  if (!request.topics) {
    const OffsetTable::Topics* topics = table.topicsOf(request.groupId);
    if (topics == nullptr) return answer;
    for (const auto& [name, partitions] : *topics) {
      auto& topic = answer.topics.emplace_back();
      topic.name = name;
      for (const auto& [partition, value] : partitions) add(topic, name, partition, value);
    }
    return answer;
  }
  for (const auto& asked : *request.topics) {
    auto& topic = answer.topics.emplace_back();
    topic.name = asked.name;
    topic.topicId = asked.topicId;
    for (const int32_t partition : asked.partitionIndexes) {
      add(topic, asked.name, partition, table.get(request.groupId, asked.name, partition));
    }
  }
  return answer;
}

OffsetDeleteResponse Offsets::remove(const OffsetDeleteRequest& request, const OffsetOwner& group,
                                     std::vector<CoordinatorRecord>& records) const {
  OffsetDeleteResponse response;
  for (const auto& topic : request.topics) {
    auto& answered = response.topics.emplace_back();
    answered.name = topic.name;
    const bool subscribed = group.isSubscribedTo(topic.name);
    for (const auto& partition : topic.partitions) {
      auto& one = answered.partitions.emplace_back();
      one.partitionIndex = partition.partitionIndex;
      if (subscribed) {
        one.errorCode = static_cast<int16_t>(ErrorCode::GroupSubscribedToTopic);
      } else if (latest_.get(group.groupId, topic.name, partition.partitionIndex) ||
                 hasPendingTransaction(group.groupId, topic.name, partition.partitionIndex)) {
        records.push_back(offsetTombstone(group.groupId, topic.name, partition.partitionIndex));
      }
    }
  }
  return response;
}

void Offsets::removeAll(std::string_view groupId, std::vector<CoordinatorRecord>& records) const {
  const auto removeFrom = [&](const OffsetTable& table, const OffsetTable* except) {
    const OffsetTable::Topics* topics = table.topicsOf(groupId);
    if (topics == nullptr) return;
    for (const auto& [topic, partitions] : *topics) {
      for (const auto& [partition, value] : partitions) {
        if (except != nullptr && except->get(groupId, topic, partition)) continue;
        records.push_back(offsetTombstone(groupId, topic, partition));
      }
    }
  };
  removeFrom(latest_, nullptr);
  for (const auto& [producer, table] : pending_) removeFrom(table, &latest_);
}

void Offsets::removeTopic(const DeletedTopic& topic, std::vector<CoordinatorRecord>& records) const {
  const auto removeFrom = [&](const OffsetTable& table) {
    for (const auto& [group, topics] : table.groups()) {
      const auto found = topics.find(topic.name);
      if (found == topics.end()) continue;
      for (const auto& [partition, value] : found->second)
        if (value->topicId.isZero() || value->topicId == topic.id)
          records.push_back(offsetTombstone(group, topic.name, partition));
    }
  };
  removeFrom(latest_);
  for (const auto& [producer, table] : pending_) removeFrom(table);
}

bool Offsets::expire(const OffsetOwner& group, int64_t nowMs, std::vector<CoordinatorRecord>& records) const {
  const OffsetTable::Topics* topics = latest_.topicsOf(group.groupId);
  if (topics == nullptr) return !pendingByGroup_.contains(group.groupId);
  if (group.keepsAll) return false;
  bool allExpired = true;
  for (const auto& [topic, partitions] : *topics) {
    const bool atOnce = isMutated(Mutation::OffsetsExpireWithMembers);
    const bool subscribed = group.isSubscribedTo(topic) && !atOnce;
    for (const auto& [partition, value] : partitions) {
      const bool expired = value->expireTimestampMs ? nowMs >= *value->expireTimestampMs
                                                    : nowMs - group.emptySinceMs.value_or(value->commitTimestampMs) >=
                                                          config_.offsetsRetention.count();
      if (!subscribed && (expired || atOnce) && !hasPendingTransaction(group.groupId, topic, partition)) {
        records.push_back(offsetTombstone(group.groupId, topic, partition));
      } else {
        allExpired = false;
      }
    }
  }
  return allExpired && !pendingByGroup_.contains(group.groupId);
}

bool Offsets::hasPendingTransaction(std::string_view group, std::string_view topic, int32_t partition) const {
  const auto producers = pendingByGroup_.find(group);
  if (producers == pendingByGroup_.end()) return false;
  return std::any_of(producers->second.begin(), producers->second.end(), [&](ProducerId producer) {
    const auto table = pending_.find(producer);
    return table != pending_.end() && table->second.get(group, topic, partition) != nullptr;
  });
}

// ---- the log

void Offsets::apply(Offset at, const std::string& group, const std::string& topic, int32_t partition,
                    OffsetTable::Value value) {
  if (value) {
    latest_.put(group, topic, partition, value);
  } else {
    latest_.remove(group, topic, partition);
  }
  uncommitted_.push_back({at, group, topic, partition, std::move(value)});
}

void Offsets::replay(Offset recordOffset, ProducerId producerId, const std::string& group, const std::string& topic,
                     int32_t partition, const protocol::OffsetCommitValue* value) {
  if (value == nullptr) {
    apply(recordOffset, group, topic, partition, nullptr);
    if (const auto producers = pendingByGroup_.find(group); producers != pendingByGroup_.end()) {
      for (const ProducerId producer : producers->second) pending_[producer].remove(group, topic, partition);
    }
    return;
  }
  auto committed = std::make_shared<CommittedOffset>();
  committed->offset = Offset(value->offset);
  committed->leaderEpoch = LeaderEpoch(value->leaderEpoch);
  committed->metadata = value->metadata.str();
  committed->commitTimestampMs = value->commitTimestamp;
  if (value->expireTimestamp != -1) committed->expireTimestampMs = value->expireTimestamp;
  committed->topicId = value->topicId;
  committed->recordOffset = recordOffset;
  if (producerId == kNoProducerId) {
    apply(recordOffset, group, topic, partition, std::move(committed));
    return;
  }
  pending_[producerId].put(group, topic, partition, std::move(committed));
  pendingByGroup_[group].insert(producerId);
}

void Offsets::replayEndTxn(Offset markerOffset, ProducerId producerId, bool commit) {
  auto node = pending_.extract(producerId);
  if (node.empty()) return;
  for (const auto& [group, topics] : node.mapped().groups()) {
    if (!commit || isMutated(Mutation::OffsetsOfTransactionLost)) continue;
    for (const auto& [topic, partitions] : topics) {
      for (const auto& [partition, value] : partitions) {
        // A plain commit that was written after it counts more.
        const OffsetTable::Value existing = latest_.get(group, topic, partition);
        if (!existing || value->recordOffset > existing->recordOffset) {
          apply(markerOffset, group, topic, partition, value);
        }
      }
    }
  }
  for (auto at = pendingByGroup_.begin(); at != pendingByGroup_.end();) {
    at->second.erase(producerId);
    at = at->second.empty() ? pendingByGroup_.erase(at) : std::next(at);
  }
}

void Offsets::onHighWatermark(Offset highWatermark) {
  while (!uncommitted_.empty() && uncommitted_.front().recordOffset < highWatermark) {
    Change change = std::move(uncommitted_.front());
    uncommitted_.pop_front();
    if (change.value) {
      committed_.put(change.group, change.topic, change.partition, std::move(change.value));
    } else {
      committed_.remove(change.group, change.topic, change.partition);
    }
  }
}

}  // namespace tidemark::coordinator
