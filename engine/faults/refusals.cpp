#include "faults/refusals.h"

#include <algorithm>
#include <array>
#include <utility>

#include "network/request_codec.h"
#include "protocol/api.h"
#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_offsets_to_txn_response.h"
#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"
#include "protocol/generated/consumer_group_heartbeat_request.h"
#include "protocol/generated/consumer_group_heartbeat_response.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/join_group_request.h"
#include "protocol/generated/join_group_response.h"
#include "protocol/generated/leave_group_request.h"
#include "protocol/generated/leave_group_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/offset_commit_request.h"
#include "protocol/generated/offset_commit_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/generated/offset_for_leader_epoch_request.h"
#include "protocol/generated/offset_for_leader_epoch_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"
#include "protocol/generated/share_group_heartbeat_request.h"
#include "protocol/generated/share_group_heartbeat_response.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/streams_group_heartbeat_response.h"
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"

namespace tidemark::faults {
namespace {

using protocol::ApiKey;

constexpr int16_t kFirstFetchWithError = 7;
constexpr int16_t kFirstFindOfMany = 4;
constexpr int16_t kFirstAddPartitionsOfMany = 4;
constexpr int16_t kFirstOffsetFetchWithError = 2;
constexpr int16_t kFirstOffsetFetchOfGroups = 8;

// --- how messages that name partitions call their parts
// ------------------------------------------------------------------

template <class Topic>
concept NamesPartitions = requires(const Topic& topic) { topic.partitionData.front(); } ||
                          requires(const Topic& topic) { topic.partitions.front(); };

template <class Message>
concept AsksForPartitions =
    requires(const Message& message) { message.topicData.front(); } || requires(const Message& message) {
      requires NamesPartitions<std::remove_cvref_t<decltype(message.topics.front())>>;
    };

template <class Message>
auto& topicsOf(Message& message) {
  if constexpr (requires { message.topicData; }) {
    return message.topicData;
  } else if constexpr (requires { message.responses; }) {
    return message.responses;
  } else {
    return message.topics;
  }
}

template <class Topic>
auto& nameOf(Topic& topic) {
  if constexpr (requires { topic.name; }) {
    return topic.name;
  } else {
    return topic.topic;
  }
}

template <class Topic>
auto& partitionsOf(Topic& topic) {
  if constexpr (requires { topic.partitionData; }) {
    return topic.partitionData;
  } else if constexpr (requires { topic.partitionResponses; }) {
    return topic.partitionResponses;
  } else {
    return topic.partitions;
  }
}

template <class Partition>
auto& indexOf(Partition& partition) {
  if constexpr (requires { partition.partitionIndex; }) {
    return partition.partitionIndex;
  } else if constexpr (requires { partition.partition; }) {
    return partition.partition;
  } else {
    return partition.index;
  }
}

// --- the answers: from a request and an error code
// ---------------------------------------------------------------------

/// The error for each partition that was asked for; what the API does not know of a refused one is -1.
template <AsksForPartitions Request>
typename Request::Response refusal(const Request& request, int16_t code, int16_t version) {
  typename Request::Response response;
  if constexpr (std::is_same_v<Request, protocol::FetchRequest>)
    if (request.topics.empty() && version >= kFirstFetchWithError) response.errorCode = code;
  for (const auto& topic : topicsOf(request)) {
    auto& answered = topicsOf(response).emplace_back();
    nameOf(answered) = nameOf(topic);
    if constexpr (requires { answered.topicId; }) answered.topicId = topic.topicId;
    for (const auto& partition : partitionsOf(topic)) {
      auto& answer = partitionsOf(answered).emplace_back();
      indexOf(answer) = indexOf(partition);
      answer.errorCode = code;
      if constexpr (requires { answer.baseOffset; }) answer.baseOffset = -1;
      if constexpr (requires { answer.highWatermark; }) answer.highWatermark = -1;
      if constexpr (requires { answer.lowWatermark; }) answer.lowWatermark = -1;
    }
  }
  return response;
}

protocol::MetadataResponse refusal(const protocol::MetadataRequest& request, int16_t code, int16_t /*version*/) {
  protocol::MetadataResponse response;
  response.errorCode = code;
  if (!request.topics) return response;
  for (const auto& topic : *request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.errorCode = code;
    answer.name = topic.name;
    answer.topicId = topic.topicId;
  }
  return response;
}

protocol::CreateTopicsResponse refusal(const protocol::CreateTopicsRequest& request, int16_t code,
                                       int16_t /*version*/) {
  protocol::CreateTopicsResponse response;
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    answer.errorCode = code;
  }
  return response;
}

protocol::FindCoordinatorResponse refusal(const protocol::FindCoordinatorRequest& request, int16_t code,
                                          int16_t version) {
  protocol::FindCoordinatorResponse response;
  if (version < kFirstFindOfMany) {
    response.errorCode = code;
    response.nodeId = -1;
    response.port = -1;
    return response;
  }
  for (const auto& key : request.coordinatorKeys) {
    auto& answer = response.coordinators.emplace_back();
    answer.key = key;
    answer.nodeId = -1;
    answer.port = -1;
    answer.errorCode = code;
  }
  return response;
}

protocol::OffsetFetchResponse refusal(const protocol::OffsetFetchRequest& request, int16_t code, int16_t version) {
  protocol::OffsetFetchResponse response;
  if (version < kFirstOffsetFetchWithError && request.topics)
    for (const auto& topic : *request.topics) {
      auto& answered = response.topics.emplace_back();
      answered.name = topic.name;
      for (const int32_t partition : topic.partitionIndexes) {
        auto& answer = answered.partitions.emplace_back();
        answer.partitionIndex = partition;
        answer.committedOffset = -1;
        answer.errorCode = code;
      }
    }
  else if (version < kFirstOffsetFetchOfGroups)
    response.errorCode = code;
  for (const auto& group : request.groups) {
    auto& answer = response.groups.emplace_back();
    answer.groupId = group.groupId;
    answer.errorCode = code;
  }
  return response;
}

/// Of the whole request: what its session has asked for is not in it.
protocol::ShareFetchResponse refusal(const protocol::ShareFetchRequest& /*request*/, int16_t code,
                                     int16_t /*version*/) {
  protocol::ShareFetchResponse response;
  response.errorCode = code;
  return response;
}

protocol::ShareAcknowledgeResponse refusal(const protocol::ShareAcknowledgeRequest& /*request*/, int16_t code,
                                           int16_t /*version*/) {
  protocol::ShareAcknowledgeResponse response;
  response.errorCode = code;
  return response;
}

protocol::AddPartitionsToTxnResponse refusal(const protocol::AddPartitionsToTxnRequest& request, int16_t code,
                                             int16_t version) {
  protocol::AddPartitionsToTxnResponse response;
  if (version >= kFirstAddPartitionsOfMany) {
    response.errorCode = code;
    return response;
  }
  for (const auto& topic : request.v3AndBelowTopics) {
    auto& answered = response.resultsByTopicV3AndBelow.emplace_back();
    answered.name = topic.name;
    for (const int32_t partition : topic.partitions)
      answered.resultsByPartition.push_back({.partitionIndex = partition, .partitionErrorCode = code});
  }
  return response;
}

template <class Request>
  requires(!AsksForPartitions<Request>) && requires(typename Request::Response response) { response.errorCode; }
typename Request::Response refusal(const Request& /*request*/, int16_t code, int16_t /*version*/) {
  typename Request::Response response;
  response.errorCode = code;
  return response;
}

/// Calls use(std::type_identity<Message>()) with the API's request; false: not one of ours.
template <class Use>
bool withRequestOf(ApiKey key, Use&& use) {
  switch (key) {
    case ApiKey::Produce:
      return use(std::type_identity<protocol::ProduceRequest>()), true;
    case ApiKey::Fetch:
      return use(std::type_identity<protocol::FetchRequest>()), true;
    case ApiKey::ListOffsets:
      return use(std::type_identity<protocol::ListOffsetsRequest>()), true;
    case ApiKey::Metadata:
      return use(std::type_identity<protocol::MetadataRequest>()), true;
    case ApiKey::OffsetCommit:
      return use(std::type_identity<protocol::OffsetCommitRequest>()), true;
    case ApiKey::OffsetFetch:
      return use(std::type_identity<protocol::OffsetFetchRequest>()), true;
    case ApiKey::FindCoordinator:
      return use(std::type_identity<protocol::FindCoordinatorRequest>()), true;
    case ApiKey::JoinGroup:
      return use(std::type_identity<protocol::JoinGroupRequest>()), true;
    case ApiKey::Heartbeat:
      return use(std::type_identity<protocol::HeartbeatRequest>()), true;
    case ApiKey::LeaveGroup:
      return use(std::type_identity<protocol::LeaveGroupRequest>()), true;
    case ApiKey::SyncGroup:
      return use(std::type_identity<protocol::SyncGroupRequest>()), true;
    case ApiKey::CreateTopics:
      return use(std::type_identity<protocol::CreateTopicsRequest>()), true;
    case ApiKey::DeleteRecords:
      return use(std::type_identity<protocol::DeleteRecordsRequest>()), true;
    case ApiKey::InitProducerId:
      return use(std::type_identity<protocol::InitProducerIdRequest>()), true;
    case ApiKey::OffsetForLeaderEpoch:
      return use(std::type_identity<protocol::OffsetForLeaderEpochRequest>()), true;
    case ApiKey::AddPartitionsToTxn:
      return use(std::type_identity<protocol::AddPartitionsToTxnRequest>()), true;
    case ApiKey::AddOffsetsToTxn:
      return use(std::type_identity<protocol::AddOffsetsToTxnRequest>()), true;
    case ApiKey::EndTxn:
      return use(std::type_identity<protocol::EndTxnRequest>()), true;
    case ApiKey::TxnOffsetCommit:
      return use(std::type_identity<protocol::TxnOffsetCommitRequest>()), true;
    case ApiKey::ConsumerGroupHeartbeat:
      return use(std::type_identity<protocol::ConsumerGroupHeartbeatRequest>()), true;
    case ApiKey::ShareGroupHeartbeat:
      return use(std::type_identity<protocol::ShareGroupHeartbeatRequest>()), true;
    case ApiKey::ShareFetch:
      return use(std::type_identity<protocol::ShareFetchRequest>()), true;
    case ApiKey::ShareAcknowledge:
      return use(std::type_identity<protocol::ShareAcknowledgeRequest>()), true;
    case ApiKey::StreamsGroupHeartbeat:
      return use(std::type_identity<protocol::StreamsGroupHeartbeatRequest>()), true;
    default:
      return false;
  }
}

}  // namespace

bool canRefuse(std::string_view api) noexcept {
  for (int16_t key = 0; key < 128; ++key) {
    if (protocol::apiName(static_cast<ApiKey>(key)) != api) continue;
    return withRequestOf(static_cast<ApiKey>(key), [](auto) {});
  }
  return false;
}

void refuse(network::RequestPtr request, ErrorCode error) {
  withRequestOf(request->apiKey(), [&]<class Message>(std::type_identity<Message>) {
    const auto message = request->decode<Message>();
    if (!message) return request->close(message.error().message);
    if constexpr (std::is_same_v<Message, protocol::ProduceRequest>)
      if (message->acks == 0) return request->close("the lab refuses it, and nobody waits for an answer");
    request->respond(refusal(*message, static_cast<int16_t>(error), request->apiVersion()));
  });
}

}  // namespace tidemark::faults
