#include <set>

#include <fmt/format.h>

#include "broker/requests.h"
#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/offset_for_leader_epoch_request.h"
#include "protocol/generated/offset_for_leader_epoch_response.h"

// ListOffsets 1–11, OffsetForLeaderEpoch 2–4, DeleteRecords 0–2.

namespace tidemark::broker {
namespace {

/// Any replica may answer a replica's debugging consumer (−2); everybody else asks the leader.
constexpr int32_t kDebuggingReplica = -2;

/// Timestamps that mean a place, and the first version that knows each.
bool isSupportedTimestamp(int64_t timestamp, int16_t version) {
  switch (timestamp) {
    case log::kMaxTimestamp:
      return version >= 7;
    case log::kEarliestLocalTimestamp:
      return version >= 8;
    case log::kLatestTieredTimestamp:
      return version >= 9;
    default:
      return timestamp >= log::kEarliestTimestamp || (timestamp == -6 && version >= 11);
  }
}

struct Found {
  ErrorCode error = ErrorCode::None;
  log::TimestampAndOffset at;
};

Found findOffset(const BrokerContext& broker, const TopicPartition& name, int64_t timestamp, LeaderEpoch epoch,
                 bool checkEpoch, const protocol::ListOffsetsRequest& message, int16_t version) {
  if (!isSupportedTimestamp(timestamp, version)) return {.error = ErrorCode::UnsupportedVersion, .at = {}};
  // Nothing is tiered here.
  if (timestamp == log::kLatestTieredTimestamp || timestamp == -6) return {};
  const auto partition = broker.replicas.find(name);
  if (!partition) return {.error = broker.replicas.whyMissing(name, Uuid()).code, .at = {}};
  const bool replica = message.replicaId >= 0 || message.replicaId == kDebuggingReplica;
  const auto isolation = replica                       ? log::FetchIsolation::LogEnd
                         : message.isolationLevel == 1 ? log::FetchIsolation::Committed
                                                       : log::FetchIsolation::HighWatermark;
  const auto found = partition->listOffset(timestamp, isolation,
                                           {.currentLeaderEpoch = checkEpoch ? std::optional(epoch) : std::nullopt,
                                            .leaderOnly = message.replicaId != kDebuggingReplica});
  if (!found) return {.error = found.error().code, .at = {}};
  return {.error = ErrorCode::None, .at = found->value_or(log::TimestampAndOffset{})};
}

}  // namespace

void handleListOffsets(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::ListOffsetsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::ListOffsetsRequest& message) {
        protocol::ListOffsetsResponse response;
        std::set<std::pair<std::string, int32_t>> seen;
        for (const auto& topic : message.topics) {
          auto& answered = response.topics.emplace_back();
          answered.name = topic.name;
          const bool allowed = broker.mayDescribe(*held, topic.name);
          for (const auto& asked : topic.partitions) {
            auto& answer = answered.partitions.emplace_back();
            answer.partitionIndex = asked.partitionIndex;
            Found found;
            if (!allowed) {
              found.error = ErrorCode::TopicAuthorizationFailed;
            } else if (!seen.emplace(topic.name.str(), asked.partitionIndex).second) {
              found.error = ErrorCode::InvalidRequest;
            } else {
              found = findOffset(broker, {topic.name.str(), PartitionIndex(asked.partitionIndex)}, asked.timestamp,
                                 LeaderEpoch(asked.currentLeaderEpoch), asked.currentLeaderEpoch >= 0, message,
                                 held->apiVersion());
            }
            answer.errorCode = static_cast<int16_t>(found.error);
            answer.timestamp = found.at.timestampMs;
            answer.offset = found.at.offset.value();
            if (held->apiVersion() >= 4) answer.leaderEpoch = found.at.leaderEpoch.value();
          }
        }
        held->respond(response);
      });
}

void handleOffsetForLeaderEpoch(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::OffsetForLeaderEpochRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::OffsetForLeaderEpochRequest& message) {
        protocol::OffsetForLeaderEpochResponse response;
        for (const auto& topic : message.topics) {
          auto& answered = response.topics.emplace_back();
          answered.topic = topic.topic;
          const bool allowed = broker.mayDescribe(*held, topic.topic);
          for (const auto& asked : topic.partitions) {
            auto& answer = answered.partitions.emplace_back();
            answer.partition = asked.partition;
            if (!allowed) {
              answer.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
              continue;
            }
            const TopicPartition name{topic.topic.str(), PartitionIndex(asked.partition)};
            const auto partition = broker.replicas.find(name);
            if (!partition) {
              answer.errorCode = static_cast<int16_t>(broker.replicas.whyMissing(name, Uuid()).code);
              continue;
            }
            const auto end = partition->endOffsetForEpoch(
                LeaderEpoch(asked.leaderEpoch),
                {.currentLeaderEpoch = epochOrNone(asked.currentLeaderEpoch), .leaderOnly = true});
            if (!end) {
              answer.errorCode = static_cast<int16_t>(end.error().code);
              continue;
            }
            answer.leaderEpoch = end->epoch.value();
            answer.endOffset = end->endOffset.value();
          }
        }
        held->respond(response);
      });
}

void handleDeleteRecords(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<protocol::DeleteRecordsRequest>(
      std::move(request), [&broker](network::RequestPtr held, const protocol::DeleteRecordsRequest& message) {
        protocol::DeleteRecordsResponse response;
        std::vector<replication::ReplicaManager::DeleteItem> items;
        // Where each item's answer goes.
        std::vector<std::pair<size_t, size_t>> places;
        for (const auto& topic : message.topics) {
          const bool allowed = broker.allows(held->context(), network::AclOperation::Delete,
                                             network::ResourceType::Topic, topic.name.view());
          auto& answered = response.topics.emplace_back();
          answered.name = topic.name;
          for (const auto& asked : topic.partitions) {
            auto& answer = answered.partitions.emplace_back();
            answer.partitionIndex = asked.partitionIndex;
            answer.lowWatermark = -1;
            if (!allowed) {
              answer.errorCode = static_cast<int16_t>(ErrorCode::TopicAuthorizationFailed);
              continue;
            }
            places.emplace_back(response.topics.size() - 1, answered.partitions.size() - 1);
            items.push_back({.partition = {topic.name.str(), PartitionIndex(asked.partitionIndex)},
                             .offset = Offset(asked.offset)});
          }
        }
        const auto timeout = std::chrono::milliseconds(message.timeoutMs);
        held->releaseFrame();
        broker.replicas.deleteRecords(
            items, timeout,
            [held = std::move(held), response = std::move(response),
             places = std::move(places)](std::vector<replication::DeleteResult> results) mutable {
              for (size_t i = 0; i < results.size(); ++i) {
                auto& answer = response.topics[places[i].first].partitions[places[i].second];
                answer.errorCode = static_cast<int16_t>(results[i].error);
                answer.lowWatermark = results[i].lowWatermark.value();
              }
              held->respond(response);
            });
      });
}

}  // namespace tidemark::broker
