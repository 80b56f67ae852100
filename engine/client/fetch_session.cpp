#include "client/fetch_session.h"

#include <algorithm>

namespace tidemark::client {

void FetchSession::ask(const AskedAll& wanted, int32_t partitionMaxBytes, protocol::FetchRequest& request) {
  // A topic that was made anew under its name.
  const bool isStale = std::ranges::any_of(wanted, [this](const auto& each) {
    const auto before = asked_.find(each.first);
    return before != asked_.end() && before->second.topicId != each.second.topicId;
  });
  if (isStale) forget();
  request.sessionId = id_;
  request.sessionEpoch = incremental_ ? epoch_ : kNone;
  const bool goesOn = request.sessionEpoch > kFirst;
  for (const auto& [where, asked] : wanted) {
    const auto before = asked_.find(where);
    if (goesOn && before != asked_.end() && before->second == asked) continue;
    if (request.topics.empty() || request.topics.back().topic != where.topic)
      request.topics.push_back({.topic = where.topic, .topicId = asked.topicId, .partitions = {}});
    request.topics.back().partitions.push_back({.partition = where.partition.value(),
                                                .currentLeaderEpoch = asked.leaderEpoch.value(),
                                                .fetchOffset = asked.offset.value(),
                                                .lastFetchedEpoch = asked.lastEpoch.value(),
                                                .partitionMaxBytes = partitionMaxBytes});
  }
  if (goesOn)
    for (const auto& [where, asked] : asked_) {
      if (wanted.contains(where)) continue;
      if (request.forgottenTopicsData.empty() || request.forgottenTopicsData.back().topic != where.topic)
        request.forgottenTopicsData.push_back({.topic = where.topic, .topicId = asked.topicId, .partitions = {}});
      request.forgottenTopicsData.back().partitions.push_back(where.partition.value());
    }
  asked_ = wanted;
}

void FetchSession::answered(int32_t id) {
  if (!incremental_) return;
  id_ = id;
  epoch_ = id == 0 ? kFirst : epoch_ == INT32_MAX ? 1 : epoch_ + 1;
}

void FetchSession::askAgain(const TopicPartition& where) {
  if (const auto found = asked_.find(where); found != asked_.end()) found->second.offset = kNoOffset;
}

void FetchSession::forget() {
  id_ = 0;
  epoch_ = kFirst;
  asked_.clear();
}

}  // namespace tidemark::client
