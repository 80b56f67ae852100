#include <algorithm>

#include <fmt/format.h>

#include "replication/replica_manager.h"

// Fetches, of consumers and of followers.

namespace tidemark::replication {
namespace {

/// Nothing is read: the consumer goes elsewhere.
void tellPreferred(FetchResult& result, Partition& partition, NodeId preferred, std::optional<LeaderEpoch> epoch) {
  const auto ends = partition.offsets({.currentLeaderEpoch = epoch, .leaderOnly = true});
  if (!ends) {
    result.error = ends.error();
    return;
  }
  result.highWatermark = ends->highWatermark.offset;
  result.lastStableOffset = ends->lastStableOffset.offset;
  result.logStartOffset = ends->logStartOffset;
  result.preferredReadReplica = preferred;
}

}  // namespace

std::vector<FetchResult> ReplicaManager::readAll(const FetchParams& params, const std::vector<FetchItem>& items,
                                                 bool noteFollower) {
  std::vector<FetchResult> results;
  results.reserve(items.size());
  int64_t left = params.maxBytes;
  bool minOneMessage = true;
  for (const FetchItem& item : items) {
    FetchResult& result = results.emplace_back();
    if (item.key.topic.empty()) {
      result.error = {ErrorCode::UnknownTopicId, fmt::format("no topic has the id {}", item.key.topicId)};
      continue;
    }
    const TopicPartition name{item.key.topic, item.key.partition};
    const std::shared_ptr<Partition> partition = find(name);
    if (!partition) {
      result.error = whyMissing(name, item.key.topicId);
      continue;
    }
    if (!item.key.topicId.isZero() && partition->id().topicId != item.key.topicId) {
      result.error = {ErrorCode::InconsistentTopicId, fmt::format("{} has another topic id now", name)};
      continue;
    }
    if (const auto preferred =
            params.follower ? std::nullopt : preferredReadReplica(*partition, params.rack, item.ask.fetchOffset)) {
      tellPreferred(result, *partition, *preferred, item.ask.currentLeaderEpoch);
      continue;
    }
    const bool held = holdsBack(params, *partition);
    PartitionReadOptions options{
        .fetchOffset = item.ask.fetchOffset,
        .lastFetchedEpoch = item.ask.lastFetchedEpoch,
        .check = {.currentLeaderEpoch = item.ask.currentLeaderEpoch, .leaderOnly = params.leaderOnly},
        .maxBytes = held ? 0 : static_cast<int32_t>(std::clamp<int64_t>(left, 0, item.ask.maxBytes)),
        .minOneMessage = minOneMessage && !held,
        .isolation = params.isolation,
        .follower = std::nullopt};
    if (noteFollower && params.follower)
      options.follower = FollowerFetch{.replica = params.follower->replica,
                                       .brokerEpoch = params.follower->brokerEpoch,
                                       .logStartOffset = item.ask.logStartOffset};
    auto read = partition->read(options);
    if (!read) {
      result.error = std::move(read).error();
      if (result.error.code == ErrorCode::OffsetOutOfRange) {
        result.logStartOffset = partition->log()->logStartOffset();
        result.highWatermark = partition->log()->highWatermark();
      }
      continue;
    }
    result.partition = partition;
    result.highWatermark = read->offsets.highWatermark.offset;
    result.lastStableOffset = read->offsets.lastStableOffset.offset;
    result.logStartOffset = read->offsets.logStartOffset;
    result.diverging = read->diverging;
    result.start = read->read.start;
    result.slice = std::move(read->read.slice);
    result.aborted = std::move(read->read.abortedTransactions);
    if (result.slice.length > 0) {
      minOneMessage = false;
      left -= static_cast<int64_t>(result.slice.length);
    }
    if (read->highWatermarkMoved) highWatermarkMoved(*partition);
    if (options.follower && deletes_.delayed() > 0) deletes_.checkAndComplete(partition->id());
  }
  return results;
}

std::optional<NodeId> ReplicaManager::preferredReadReplica(const Partition& partition, const std::string& rack,
                                                           Offset offset) const {
  if (!options_.rackAwareReads || rack.empty()) return std::nullopt;
  const std::vector<ReadableReplica> followers = partition.readableReplicas(offset);
  if (followers.empty()) return std::nullopt;
  const metadata::ImagePtr image = this->image();
  return closestReplica(rack, options_.self, followers, [&image](NodeId node) -> std::optional<std::string> {
    const metadata::BrokerRegistration* broker = image->cluster.broker(node);
    return broker != nullptr && !broker->fenced ? broker->rack : std::nullopt;
  });
}

bool ReplicaManager::holdsBack(const FetchParams& params, const Partition& partition) const {
  return params.follower && partition.isLeaderThrottled() && leaderQuota_.isExceeded() &&
         !partition.isInSync(params.follower->replica);
}

void ReplicaManager::noteSent(const FetchParams& params, const std::vector<FetchResult>& results) {
  if (!params.follower) return;
  for (const FetchResult& result : results)
    if (result.partition && result.partition->isLeaderThrottled())
      leaderQuota_.record(static_cast<int64_t>(result.slice.length));
}

void ReplicaManager::fetch(const FetchParams& params, std::vector<FetchItem> items, FetchDone done) {
  std::vector<FetchResult> results = readAll(params, items, true);
  int64_t bytes = 0;
  bool atOnce = params.maxWait <= platform::Duration(0) || items.empty();
  for (const FetchResult& result : results) {
    bytes += static_cast<int64_t>(result.slice.length);
    atOnce = atOnce || result.error.code != ErrorCode::None || result.diverging.has_value() ||
             result.preferredReadReplica.has_value();
  }
  if (atOnce || bytes >= params.minBytes) {
    noteSent(params, results);
    done(std::move(results));
    return;
  }
  std::vector<PendingFetch> pending;
  std::vector<TopicIdPartition> keys;
  pending.reserve(items.size());
  keys.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    keys.push_back(results[i].partition->id());
    pending.push_back({.partition = results[i].partition, .ask = items[i].ask, .start = results[i].start});
  }
  fetches_.tryCompleteElseWatch(std::make_shared<DelayedFetch>(*this, params, std::move(items), std::move(pending),
                                                               recorder_, process_.clock(), std::move(done)),
                                keys);
}

}  // namespace tidemark::replication
