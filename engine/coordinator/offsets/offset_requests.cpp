#include "coordinator/offsets/offset_requests.h"

namespace tidemark::coordinator {

using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;

namespace {

constexpr int16_t kFirstVersionWithTopicIds = 10;
constexpr int16_t kFirstFetchVersionWithGroups = 8;
/// Before it an error that concerns the group is told for each partition.
constexpr int16_t kFirstFetchVersionWithTopLevelError = 2;

}  // namespace

OffsetCommitResponse takeUnknownTopics(OffsetCommitRequest& request, int16_t apiVersion, const TopicLookup& topics) {
  const bool byId = apiVersion >= kFirstVersionWithTopicIds;
  OffsetCommitResponse unknown;
  std::erase_if(request.topics, [&](OffsetCommitRequest::OffsetCommitRequestTopic& topic) {
    if (byId) {
      if (const auto name = topics.topicName(topic.topicId)) {
        topic.name = *name;
        return false;
      }
    } else if (const auto id = topics.topicId(topic.name)) {
      topic.topicId = *id;
      return false;
    }
    auto& answered = unknown.topics.emplace_back();
    answered.name = topic.name;
    answered.topicId = topic.topicId;
    const ErrorCode error = byId ? ErrorCode::UnknownTopicId : ErrorCode::UnknownTopicOrPartition;
    for (const auto& partition : topic.partitions) {
      answered.partitions.push_back({partition.partitionIndex, static_cast<int16_t>(error)});
    }
    return true;
  });
  return unknown;
}

OffsetFetchGather::OffsetFetchGather(int16_t apiVersion, OffsetFetchRequest request, const TopicLookup& topics,
                                     Reply<OffsetFetchResponse> reply)
    : apiVersion_(apiVersion), topics_(topics), reply_(std::move(reply)), requireStable_(request.requireStable) {
  if (apiVersion >= kFirstFetchVersionWithGroups) {
    groups_ = std::move(request.groups);
  } else {
    Group& group = groups_.emplace_back();
    group.groupId = request.groupId;
    group.topics.reset();
    if (request.topics) {
      auto& asked = group.topics.emplace();
      for (auto& topic : *request.topics) {
        auto& one = asked.emplace_back();
        one.name = topic.name;
        one.partitionIndexes = std::move(topic.partitionIndexes);
      }
    }
  }
  answers_.resize(groups_.size());
  unknown_.resize(groups_.size());
  left_ = groups_.size() + 1;
  if (apiVersion < kFirstVersionWithTopicIds) return;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].topics) continue;
    std::erase_if(*groups_[i].topics, [&](OffsetFetchRequest::OffsetFetchRequestTopics& topic) {
      if (const auto name = topics_.topicName(topic.topicId)) {
        topic.name = *name;
        return false;
      }
      auto& answered = unknown_[i].emplace_back();
      answered.topicId = topic.topicId;
      for (const int32_t partition : topic.partitionIndexes) {
        auto& one = answered.partitions.emplace_back();
        one.partitionIndex = partition;
        one.committedOffset = -1;
        one.errorCode = static_cast<int16_t>(ErrorCode::UnknownTopicId);
      }
      return true;
    });
  }
}

void OffsetFetchGather::answer(size_t index, Answer answer) {
  answer.groupId = groups_[index].groupId;
  if (answer.errorCode == 0) {
    if (apiVersion_ >= kFirstVersionWithTopicIds) nameTopics(answer);
    for (auto& topic : unknown_[index]) answer.topics.push_back(std::move(topic));
  }
  answers_[index] = std::move(answer);
  finish();
}

/// When all offsets were asked for, the topics found have names only; a topic that is gone has no id to answer with.
void OffsetFetchGather::nameTopics(Answer& answer) const {
  std::erase_if(answer.topics, [this](OffsetFetchResponse::OffsetFetchResponseTopics& topic) {
    if (!topic.topicId.isZero()) return false;
    const auto id = topics_.topicId(topic.name);
    if (id) topic.topicId = *id;
    return !id.has_value();
  });
}

void OffsetFetchGather::refuse(size_t index, ErrorCode code) {
  Answer refused;
  refused.errorCode = static_cast<int16_t>(code);
  answer(index, std::move(refused));
}

void OffsetFetchGather::started() {
  finish();
}

void OffsetFetchGather::finish() {
  if (--left_ > 0) return;
  if (apiVersion_ < kFirstFetchVersionWithGroups) return reply_(singleResponse());
  OffsetFetchResponse response;
  response.groups = std::move(answers_);
  reply_(std::move(response));
}

OffsetFetchResponse OffsetFetchGather::singleResponse() {
  OffsetFetchResponse response;
  Answer& only = answers_.front();
  response.errorCode = only.errorCode;
  if (only.errorCode != 0 && apiVersion_ < kFirstFetchVersionWithTopLevelError && groups_.front().topics) {
    for (const auto& asked : *groups_.front().topics) {
      auto& topic = response.topics.emplace_back();
      topic.name = asked.name;
      for (const int32_t partition : asked.partitionIndexes) {
        auto& one = topic.partitions.emplace_back();
        one.partitionIndex = partition;
        one.committedOffset = -1;
        one.errorCode = only.errorCode;
      }
    }
    return response;
  }
  for (auto& answered : only.topics) {
    auto& topic = response.topics.emplace_back();
    topic.name = answered.name;
    for (auto& partition : answered.partitions) {
      auto& one = topic.partitions.emplace_back();
      one.partitionIndex = partition.partitionIndex;
      one.committedOffset = partition.committedOffset;
      one.committedLeaderEpoch = partition.committedLeaderEpoch;
      one.metadata = partition.metadata;
      one.errorCode = partition.errorCode;
    }
  }
  return response;
}

}  // namespace tidemark::coordinator
