#include "faults/refusals.h"

#include <algorithm>
#include <array>
#include <utility>

#include "network/request_codec.h"
#include "protocol/api.h"
#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/delete_records_request.h"
#include "protocol/generated/delete_records_response.h"
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
#include "protocol/generated/sync_group_request.h"
#include "protocol/generated/sync_group_response.h"

namespace tidemark::faults {
namespace {

using protocol::ApiKey;

constexpr PartitionIndex kWholeTopic{-1};
constexpr int16_t kFirstFetchWithError = 7;
constexpr int16_t kFirstFindOfMany = 4;
constexpr int16_t kFirstOffsetFetchOfGroups = 8;

// --- the answers: from a request and an error code ---------------------------------------------------------------------

protocol::ProduceResponse refusal(const protocol::ProduceRequest& request, int16_t code, int16_t /*version*/) {
  protocol::ProduceResponse response;
  for (const auto& topic : request.topicData) {
    auto& answered = response.responses.emplace_back();
    answered.name = topic.name;
    answered.topicId = topic.topicId;
    for (const auto& partition : topic.partitionData) {
      auto& answer = answered.partitionResponses.emplace_back();
      answer.index = partition.index;
      answer.errorCode = code;
      answer.baseOffset = -1;
    }
  }
  return response;
}

protocol::FetchResponse refusal(const protocol::FetchRequest& request, int16_t code, int16_t version) {
  protocol::FetchResponse response;
  if (request.topics.empty() && version >= kFirstFetchWithError) response.errorCode = code;
  for (const auto& topic : request.topics) {
    auto& answered = response.responses.emplace_back();
    answered.topic = topic.topic;
    answered.topicId = topic.topicId;
    for (const auto& partition : topic.partitions) {
      auto& answer = answered.partitions.emplace_back();
      answer.partitionIndex = partition.partition;
      answer.errorCode = code;
      answer.highWatermark = -1;
    }
  }
  return response;
}

protocol::ListOffsetsResponse refusal(const protocol::ListOffsetsRequest& request, int16_t code, int16_t /*version*/) {
  protocol::ListOffsetsResponse response;
  for (const auto& topic : request.topics) {
    auto& answered = response.topics.emplace_back();
    answered.name = topic.name;
    for (const auto& partition : topic.partitions) {
      auto& answer = answered.partitions.emplace_back();
      answer.partitionIndex = partition.partitionIndex;
      answer.errorCode = code;
    }
  }
  return response;
}

protocol::OffsetForLeaderEpochResponse refusal(const protocol::OffsetForLeaderEpochRequest& request, int16_t code, int16_t /*version*/) {
  protocol::OffsetForLeaderEpochResponse response;
  for (const auto& topic : request.topics) {
    auto& answered = response.topics.emplace_back();
    answered.topic = topic.topic;
    for (const auto& partition : topic.partitions) {
      auto& answer = answered.partitions.emplace_back();
      answer.partition = partition.partition;
      answer.errorCode = code;
    }
  }
  return response;
}

protocol::DeleteRecordsResponse refusal(const protocol::DeleteRecordsRequest& request, int16_t code, int16_t /*version*/) {
  protocol::DeleteRecordsResponse response;
  for (const auto& topic : request.topics) {
    auto& answered = response.topics.emplace_back();
    answered.name = topic.name;
    for (const auto& partition : topic.partitions) {
      auto& answer = answered.partitions.emplace_back();
      answer.partitionIndex = partition.partitionIndex;
      answer.errorCode = code;
      answer.lowWatermark = -1;
    }
  }
  return response;
}

protocol::OffsetCommitResponse refusal(const protocol::OffsetCommitRequest& request, int16_t code, int16_t /*version*/) {
  protocol::OffsetCommitResponse response;
  for (const auto& topic : request.topics) {
    auto& answered = response.topics.emplace_back();
    answered.name = topic.name;
    answered.topicId = topic.topicId;
    for (const auto& partition : topic.partitions) {
      auto& answer = answered.partitions.emplace_back();
      answer.partitionIndex = partition.partitionIndex;
      answer.errorCode = code;
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

protocol::CreateTopicsResponse refusal(const protocol::CreateTopicsRequest& request, int16_t code, int16_t /*version*/) {
  protocol::CreateTopicsResponse response;
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    answer.errorCode = code;
  }
  return response;
}

protocol::FindCoordinatorResponse refusal(const protocol::FindCoordinatorRequest& request, int16_t code, int16_t version) {
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
  if (version < kFirstOffsetFetchOfGroups) response.errorCode = code;
  for (const auto& group : request.groups) {
    auto& answer = response.groups.emplace_back();
    answer.groupId = group.groupId;
    answer.errorCode = code;
  }
  return response;
}

template <class Request>
  requires requires(typename Request::Response response) { response.errorCode; }
typename Request::Response refusal(const Request& /*request*/, int16_t code, int16_t /*version*/) {
  typename Request::Response response;
  response.errorCode = code;
  return response;
}

/// Calls use(std::type_identity<Message>()) with the API's request; false: not one of ours.
template <class Use>
bool withRequestOf(ApiKey key, Use&& use) {
  switch (key) {
    case ApiKey::Produce: return use(std::type_identity<protocol::ProduceRequest>()), true;
    case ApiKey::Fetch: return use(std::type_identity<protocol::FetchRequest>()), true;
    case ApiKey::ListOffsets: return use(std::type_identity<protocol::ListOffsetsRequest>()), true;
    case ApiKey::Metadata: return use(std::type_identity<protocol::MetadataRequest>()), true;
    case ApiKey::OffsetCommit: return use(std::type_identity<protocol::OffsetCommitRequest>()), true;
    case ApiKey::OffsetFetch: return use(std::type_identity<protocol::OffsetFetchRequest>()), true;
    case ApiKey::FindCoordinator: return use(std::type_identity<protocol::FindCoordinatorRequest>()), true;
    case ApiKey::JoinGroup: return use(std::type_identity<protocol::JoinGroupRequest>()), true;
    case ApiKey::Heartbeat: return use(std::type_identity<protocol::HeartbeatRequest>()), true;
    case ApiKey::LeaveGroup: return use(std::type_identity<protocol::LeaveGroupRequest>()), true;
    case ApiKey::SyncGroup: return use(std::type_identity<protocol::SyncGroupRequest>()), true;
    case ApiKey::CreateTopics: return use(std::type_identity<protocol::CreateTopicsRequest>()), true;
    case ApiKey::DeleteRecords: return use(std::type_identity<protocol::DeleteRecordsRequest>()), true;
    case ApiKey::InitProducerId: return use(std::type_identity<protocol::InitProducerIdRequest>()), true;
    case ApiKey::OffsetForLeaderEpoch: return use(std::type_identity<protocol::OffsetForLeaderEpochRequest>()), true;
    default: return false;
  }
}

// --- what a request names ----------------------------------------------------------------------------------------------

class Names {
 public:
  explicit Names(const TopicName& topicName) : topicName_(topicName) {}

  template <class Topic>
  void add(const Topic& topic) {
    std::string name;
    if constexpr (requires { topic.name->view(); }) {
      if (topic.name) name = topic.name->str();
    } else if constexpr (requires { topic.name.str(); }) {
      name = topic.name.str();
    } else {
      name = topic.topic.str();
    }
    if constexpr (requires { topic.topicId; })
      if (name.empty() && !topic.topicId.isZero() && topicName_) name = topicName_(topic.topicId);
    const auto each = [&](PartitionIndex index) { all_.push_back({name, index}); };
    if constexpr (requires { topic.partitionData; }) {
      for (const auto& partition : topic.partitionData) each(PartitionIndex(partition.index));
    } else if constexpr (requires { topic.partitions.front().partitionIndex; }) {
      for (const auto& partition : topic.partitions) each(PartitionIndex(partition.partitionIndex));
    } else if constexpr (requires { topic.partitions.front().partition; }) {
      for (const auto& partition : topic.partitions) each(PartitionIndex(partition.partition));
    } else {
      each(kWholeTopic);
    }
  }
  template <class Message>
  void addAll(const Message& message) {
    if constexpr (requires { message.topicData; }) {
      for (const auto& topic : message.topicData) add(topic);
    } else if constexpr (requires { message.topics->front(); }) {
      if (message.topics) addOptional(*message.topics);
    } else if constexpr (requires { message.topics.front(); }) {
      for (const auto& topic : message.topics) add(topic);
    }
  }
  std::vector<TopicPartition> take() { return std::move(all_); }

 private:
  template <class Topics>
  void addOptional(const Topics& topics) {
    for (const auto& topic : topics) add(topic);
  }

  const TopicName& topicName_;
  std::vector<TopicPartition> all_;
};

}  // namespace

std::vector<TopicPartition> namedIn(const network::Request& request, const TopicName& topicName) {
  Names names(topicName);
  withRequestOf(request.apiKey(), [&]<class Message>(std::type_identity<Message>) {
    if (const auto message = request.decode<Message>()) names.addAll(*message);
  });
  return names.take();
}

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
