#include <algorithm>

#include "broker/leader_hint.h"
#include "broker/requests.h"
#include "broker/share/share_service.h"
#include "broker/traffic.h"
#include "metadata/features.h"
#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "protocol/generated/share_fetch_request.h"
#include "protocol/generated/share_fetch_response.h"

// ShareFetch and ShareAcknowledge.

namespace tidemark::broker {
namespace {

using network::AclOperation;
using network::ResourceType;
using protocol::ShareAcknowledgeRequest;
using protocol::ShareAcknowledgeResponse;
using protocol::ShareFetchRequest;
using protocol::ShareFetchResponse;

constexpr int8_t kRecordLimitMode = 1;

template <class Response>
void refuseShareRequest(network::RequestPtr request, ErrorCode error, std::string_view message) {
  Response response;
  response.errorCode = static_cast<int16_t>(error);
  response.errorMessage = protocol::Text(message);
  request->respond(response);
}

/// Of the whole request; None if it may be served.
template <class Message>
Error whyRefused(const BrokerContext& broker, const network::Request& request, const Message& message) {
  if (broker.image()->features.level(metadata::kShareVersionFeature) < 1)
    return {ErrorCode::UnsupportedVersion, "share.version is 0: the cluster has no share groups"};
  if (!message.groupId || message.groupId->empty()) return {ErrorCode::InvalidRequest, "the request names no group"};
  if (!message.memberId || message.memberId->empty()) return {ErrorCode::InvalidRequest, "the request names no member"};
  if (!broker.allows(request.context(), AclOperation::Read, ResourceType::Group, message.groupId->view()))
    return {ErrorCode::GroupAuthorizationFailed, "not allowed to read the group"};
  return {ErrorCode::None, {}};
}

bool mayRead(const BrokerContext& broker, const network::Request& request, const metadata::Image& image,
             const Uuid& topicId) {
  const metadata::TopicImage* topic = image.topics.find(topicId);
  // An unknown one is told by its own error.
  return topic == nullptr || broker.allows(request.context(), AclOperation::Read, ResourceType::Topic, topic->name);
}

/// What a partition of the request acknowledges; nothing if it does not.
template <class Partition>
std::optional<ShareService::Acknowledgement> acknowledgementOf(const TopicIdPartition& id, const Partition& partition,
                                                               bool allowed, bool renews) {
  if (partition.acknowledgementBatches.empty()) return std::nullopt;
  if (!allowed)
    return ShareService::Acknowledgement{
        id, fail(ErrorCode::TopicAuthorizationFailed, std::string("not allowed to read the topic"))};
  std::vector<std::pair<Offset, Offset>> ranges;
  std::vector<std::vector<int8_t>> types;
  for (const auto& batch : partition.acknowledgementBatches) {
    ranges.emplace_back(Offset(batch.firstOffset), Offset(batch.lastOffset));
    types.emplace_back(batch.acknowledgeTypes.begin(), batch.acknowledgeTypes.end());
  }
  return ShareService::Acknowledgement{id, readAcknowledgeBatches(ranges, types, renews)};
}

/// Where the leader is now, for an error that says it is not here.
template <class Partition, class Response>
void tellLeader(const BrokerContext& broker, const network::Request& request, const TopicIdPartition& id,
                Partition& into, Response& response) {
  const metadata::ImagePtr image = broker.image();
  addLeaderHint(*image, image->topics.partition(id.topicId, id.partition), request.context().listener(), into,
                response);
}

/// The answer's entry for the partition, made if there is none.
template <class Response>
auto& entryOf(Response& response, const TopicIdPartition& id) {
  auto topic = std::ranges::find_if(response.responses, [&](const auto& one) { return one.topicId == id.topicId; });
  if (topic == response.responses.end()) {
    response.responses.emplace_back().topicId = id.topicId;
    topic = std::prev(response.responses.end());
  }
  auto partition = std::ranges::find_if(topic->partitions,
                                        [&](const auto& one) { return one.partitionIndex == id.partition.value(); });
  if (partition == topic->partitions.end()) {
    topic->partitions.emplace_back().partitionIndex = id.partition.value();
    partition = std::prev(topic->partitions.end());
  }
  return *partition;
}

bool isMoved(ErrorCode code) {
  return code == ErrorCode::NotLeaderOrFollower || code == ErrorCode::FencedLeaderEpoch;
}

void answerFetch(const BrokerContext& broker, network::Request& request, ShareService::FetchAnswer answer) {
  ShareFetchResponse response;
  response.errorCode = static_cast<int16_t>(answer.error.code);
  if (answer.error.code != ErrorCode::None) response.errorMessage = protocol::Text(answer.error.message);
  response.acquisitionLockTimeoutMs = static_cast<int32_t>(answer.lockDuration.count());
  int64_t bytes = 0;
  for (ShareService::Fetched& fetched : answer.fetched) {
    auto& entry = entryOf(response, fetched.partition);
    entry.errorCode = static_cast<int16_t>(fetched.error.code);
    if (fetched.error.code != ErrorCode::None) entry.errorMessage = protocol::Text(fetched.error.message);
    if (isMoved(fetched.error.code)) tellLeader(broker, request, fetched.partition, entry, response);
    bytes += static_cast<int64_t>(fetched.records.length);
    if (fetched.records.length > 0) entry.records = protocol::Records(std::move(fetched.records));
    for (const AcquiredRange& range : fetched.acquired)
      entry.acquiredRecords.push_back(
          {.firstOffset = range.first.value(), .lastOffset = range.last.value(), .deliveryCount = range.deliveryCount});
  }
  for (const ShareService::Outcome& outcome : answer.acknowledged) {
    auto& entry = entryOf(response, outcome.partition);
    entry.acknowledgeErrorCode = static_cast<int16_t>(outcome.error.code);
    if (outcome.error.code != ErrorCode::None) entry.acknowledgeErrorMessage = protocol::Text(outcome.error.message);
    if (isMoved(outcome.error.code)) tellLeader(broker, request, outcome.partition, entry, response);
  }
  broker.traffic.fetched(bytes);
  request.respond(response);
}

void answerAcknowledge(const BrokerContext& broker, network::Request& request,
                       const ShareService::FetchAnswer& answer) {
  ShareAcknowledgeResponse response;
  response.errorCode = static_cast<int16_t>(answer.error.code);
  if (answer.error.code != ErrorCode::None) response.errorMessage = protocol::Text(answer.error.message);
  response.acquisitionLockTimeoutMs = static_cast<int32_t>(answer.lockDuration.count());
  for (const ShareService::Outcome& outcome : answer.acknowledged) {
    auto& entry = entryOf(response, outcome.partition);
    entry.errorCode = static_cast<int16_t>(outcome.error.code);
    if (outcome.error.code != ErrorCode::None) entry.errorMessage = protocol::Text(outcome.error.message);
    if (isMoved(outcome.error.code)) tellLeader(broker, request, outcome.partition, entry, response);
  }
  request.respond(response);
}

}  // namespace

void handleShareFetch(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<ShareFetchRequest>(std::move(request), [&broker](network::RequestPtr held,
                                                               const ShareFetchRequest& message) {
    if (const Error refused = whyRefused(broker, *held, message); refused.code != ErrorCode::None)
      return refuseShareRequest<ShareFetchResponse>(std::move(held), refused.code, refused.message);
    if (message.isRenewAck &&
        (message.maxWaitMs != 0 || message.minBytes != 0 || message.maxBytes != 0 || message.maxRecords != 0))
      return refuseShareRequest<ShareFetchResponse>(
          std::move(held), ErrorCode::InvalidRequest,
          "a request that renews locks fetches nothing: its limits must be 0");
    if (message.isRenewAck && !shareGroupSettings(*broker.image(), *broker.config(), message.groupId->view()).renews)
      return refuseShareRequest<ShareFetchResponse>(std::move(held), ErrorCode::InvalidRequest,
                                                    "the group does not let locks be renewed");
    const metadata::ImagePtr image = broker.image();
    ShareService::FetchRequest fetch{.session = {.member = {message.groupId->str(), message.memberId->str()},
                                                 .epoch = message.shareSessionEpoch,
                                                 .wanted = {},
                                                 .forgotten = {},
                                                 .connection = held->context().peer->connectionId},
                                     .acknowledgements = {},
                                     .maxWait = std::chrono::milliseconds(message.maxWaitMs),
                                     .minBytes = message.minBytes,
                                     .maxBytes = std::min(message.maxBytes, broker.fetchMaxBytes),
                                     .maxRecords = message.maxRecords,
                                     .batchSize = message.batchSize,
                                     .strict = message.shareAcquireMode == kRecordLimitMode,
                                     .renewsOnly = message.isRenewAck};
    std::vector<ShareService::Fetched> refused;
    for (const auto& topic : message.topics) {
      const bool allowed = mayRead(broker, *held, *image, topic.topicId);
      for (const auto& partition : topic.partitions) {
        const TopicIdPartition id{topic.topicId, PartitionIndex(partition.partitionIndex)};
        if (auto acknowledgement = acknowledgementOf(id, partition, allowed, message.isRenewAck))
          fetch.acknowledgements.push_back(std::move(*acknowledgement));
        if (allowed) {
          fetch.session.wanted.push_back(id);
        } else {
          refused.push_back({.partition = id,
                             .error = {ErrorCode::TopicAuthorizationFailed, "not allowed to read the topic"},
                             .records = {},
                             .acquired = {}});
        }
      }
    }
    for (const auto& topic : message.forgottenTopicsData)
      for (const int32_t partition : topic.partitions)
        fetch.session.forgotten.push_back({topic.topicId, PartitionIndex(partition)});
    fetch.session.acknowledges = !fetch.acknowledgements.empty();
    // With an error to tell, the answer does not wait.
    if (!refused.empty()) fetch.maxWait = platform::Duration(0);
    held->releaseFrame();
    broker.shares.fetch(std::move(fetch), [&broker, answered = std::move(held),
                                           refused = std::move(refused)](ShareService::FetchAnswer answer) mutable {
      if (answer.error.code == ErrorCode::None)
        for (ShareService::Fetched& one : refused) answer.fetched.push_back(std::move(one));
      answerFetch(broker, *answered, std::move(answer));
    });
  });
}

void handleShareAcknowledge(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<ShareAcknowledgeRequest>(std::move(request), [&broker](network::RequestPtr held,
                                                                     const ShareAcknowledgeRequest& message) {
    if (const Error refused = whyRefused(broker, *held, message); refused.code != ErrorCode::None)
      return refuseShareRequest<ShareAcknowledgeResponse>(std::move(held), refused.code, refused.message);
    if (message.isRenewAck && !shareGroupSettings(*broker.image(), *broker.config(), message.groupId->view()).renews)
      return refuseShareRequest<ShareAcknowledgeResponse>(std::move(held), ErrorCode::InvalidRequest,
                                                          "the group does not let locks be renewed");
    const metadata::ImagePtr image = broker.image();
    ShareService::FetchRequest acknowledge{.session = {.member = {message.groupId->str(), message.memberId->str()},
                                                       .epoch = message.shareSessionEpoch,
                                                       .wanted = {},
                                                       .forgotten = {},
                                                       .acknowledges = true},
                                           .acknowledgements = {}};
    for (const auto& topic : message.topics) {
      const bool allowed = mayRead(broker, *held, *image, topic.topicId);
      for (const auto& partition : topic.partitions)
        if (auto acknowledgement = acknowledgementOf({topic.topicId, PartitionIndex(partition.partitionIndex)},
                                                     partition, allowed, message.isRenewAck))
          acknowledge.acknowledgements.push_back(std::move(*acknowledgement));
    }
    held->releaseFrame();
    broker.shares.acknowledge(std::move(acknowledge),
                              [&broker, answered = std::move(held)](ShareService::FetchAnswer answer) mutable {
                                answerAcknowledge(broker, *answered, answer);
                              });
  });
}

}  // namespace tidemark::broker
