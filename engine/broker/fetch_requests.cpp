#include <algorithm>

#include <fmt/format.h>

#include "base/mutation.h"
#include "broker/leader_hint.h"
#include "broker/requests.h"
#include "broker/traffic.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"

// Fetch 4–18, of consumers and of followers. From version 13 on it names topics by id, from 7 on it may be part of a
// session.

namespace tidemark::broker {
namespace {

using protocol::FetchRequest;
using protocol::FetchResponse;

constexpr int16_t kFirstWithRack = 11;
constexpr int16_t kFirstWithTopicIds = 13;
constexpr int16_t kFirstWithReplicaState = 15;
constexpr int16_t kFirstWithDivergingEpoch = 12;
constexpr int16_t kFirstWithLeaderHint = 12;
constexpr int16_t kFirstWithEndpoints = 16;

NodeId replicaOf(const FetchRequest& message, int16_t version) {
  return NodeId(version >= kFirstWithReplicaState ? message.replicaState.replicaId : message.replicaId);
}

replication::FetchKey keyOf(const metadata::Image& image, const protocol::Text& name, const Uuid& id, int32_t partition,
                            bool byId) {
  replication::FetchKey key{.topicId = id, .topic = name.str(), .partition = PartitionIndex(partition)};
  if (byId) {
    const metadata::TopicImage* topic = image.topics.find(id);
    key.topic = topic != nullptr ? topic->name : std::string();
  }
  return key;
}

replication::FetchSessionCache::Request sessionRequest(const metadata::Image& image, const FetchRequest& message,
                                                       int16_t version) {
  const bool byId = version >= kFirstWithTopicIds;
  replication::FetchSessionCache::Request session{.sessionId = message.sessionId,
                                                  .sessionEpoch = message.sessionEpoch,
                                                  .fromFollower = replicaOf(message, version).value() >= 0,
                                                  .usesTopicIds = byId,
                                                  .items = {},
                                                  .forgotten = {}};
  for (const auto& topic : message.topics)
    for (const auto& partition : topic.partitions)
      session.items.push_back(
          {.key = keyOf(image, topic.topic, topic.topicId, partition.partition, byId),
           .ask = {.fetchOffset = Offset(partition.fetchOffset),
                   .logStartOffset = Offset(partition.logStartOffset),
                   .maxBytes = partition.partitionMaxBytes,
                   .currentLeaderEpoch = epochOrNone(partition.currentLeaderEpoch),
                   .lastFetchedEpoch =
                       version >= kFirstWithDivergingEpoch ? epochOrNone(partition.lastFetchedEpoch) : std::nullopt}});
  for (const auto& topic : message.forgottenTopicsData)
    for (int32_t partition : topic.partitions)
      session.forgotten.push_back(keyOf(image, topic.topic, topic.topicId, partition, byId));
  return session;
}

/// The first `count` items may be read; the rest have an error of their own already.
struct Gathered {
  std::vector<replication::FetchItem> readable;
  /// For each item of the session: its place in `readable`, or its error.
  std::vector<std::pair<std::optional<size_t>, Error>> places;
};

Gathered gather(const BrokerContext& broker, const network::RequestContext& context,
                const std::vector<replication::FetchItem>& items, bool fromFollower, bool byId) {
  Gathered gathered;
  gathered.places.reserve(items.size());
  const metadata::ImagePtr image = broker.image();
  const bool clusterAction = !fromFollower || broker.allows(context, network::AclOperation::ClusterAction,
                                                            network::ResourceType::Cluster, network::kClusterResource);
  for (const replication::FetchItem& item : items) {
    replication::FetchItem named = item;
    if (byId && named.key.topic.empty()) {
      // A session may know an id that had no topic when it began.
      if (const metadata::TopicImage* topic = image->topics.find(named.key.topicId)) named.key.topic = topic->name;
    }
    Error error{ErrorCode::None, {}};
    if (byId && named.key.topic.empty()) {
      error = {ErrorCode::UnknownTopicId, {}};
    } else if (byId && image->topics.find(named.key.topicId) == nullptr) {
      // Deleted, or made again under its name: the session's client must learn the new id.
      error = {
          image->topics.find(named.key.topic) != nullptr ? ErrorCode::InconsistentTopicId : ErrorCode::UnknownTopicId,
          {}};
    } else if (!clusterAction || (!fromFollower && !broker.allows(context, network::AclOperation::Read,
                                                                  network::ResourceType::Topic, named.key.topic))) {
      error = {ErrorCode::TopicAuthorizationFailed, {}};
    }
    if (error.code != ErrorCode::None) {
      gathered.places.emplace_back(std::nullopt, std::move(error));
      continue;
    }
    gathered.places.emplace_back(gathered.readable.size(), Error{ErrorCode::None, {}});
    gathered.readable.push_back(std::move(named));
  }
  return gathered;
}

FetchResponse::PartitionData partitionAnswer(const BrokerContext& broker, const replication::FetchItem& item,
                                             const Error& refused, replication::FetchResult* result,
                                             log::FetchIsolation isolation, const network::Request& request,
                                             FetchResponse& response) {
  FetchResponse::PartitionData data;
  data.partitionIndex = item.key.partition.value();
  const ErrorCode error = result != nullptr ? result->error.code : refused.code;
  data.errorCode = static_cast<int16_t>(error);
  data.highWatermark = -1;
  data.lastStableOffset = -1;
  data.abortedTransactions = std::nullopt;
  if (result != nullptr) {
    data.highWatermark = result->highWatermark.value();
    data.lastStableOffset = result->lastStableOffset.value();
    data.logStartOffset = result->logStartOffset.value();
  }
  if (error == ErrorCode::None) {
    if (isolation == log::FetchIsolation::Committed) {
      data.abortedTransactions.emplace();
      for (const log::AbortedTransaction& aborted : result->aborted)
        data.abortedTransactions->push_back(
            {.producerId = aborted.producerId.value(), .firstOffset = aborted.firstOffset.value()});
    }
    if (result->diverging)
      data.divergingEpoch = {.epoch = result->diverging->epoch.value(),
                             .endOffset = result->diverging->endOffset.value()};
    if (result->preferredReadReplica) data.preferredReadReplica = result->preferredReadReplica->value();
    if (result->slice.length > 0) data.records = protocol::Records(std::move(result->slice));
  } else if ((error == ErrorCode::NotLeaderOrFollower || error == ErrorCode::FencedLeaderEpoch) &&
             request.apiVersion() >= kFirstWithLeaderHint) {
    const metadata::ImagePtr image = broker.image();
    if (const metadata::PartitionRegistration* registration =
            image->topics.partition(item.key.topic, item.key.partition)) {
      addCurrentLeader(*registration, data);
      if (request.apiVersion() >= kFirstWithEndpoints)
        addNodeEndpoint(*image, registration->leader, request.context().listener(), response);
    }
  }
  return data;
}

void answer(const BrokerContext& broker, network::RequestPtr request, replication::FetchContext& context,
            const Gathered& gathered, std::vector<replication::FetchResult> results, log::FetchIsolation isolation) {
  const std::vector<replication::FetchItem>& items = context.items();
  std::vector<replication::FetchFacts> facts(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& [place, refused] = gathered.places[i];
    replication::FetchFacts& fact = facts[i];
    if (!place) {
      fact.error = refused.code;
      continue;
    }
    const replication::FetchResult& result = results[*place];
    fact = {.error = result.error.code,
            .highWatermark = result.highWatermark,
            .logStartOffset = result.logStartOffset,
            .hasRecords = result.slice.length > 0,
            .hasDivergingEpoch = result.diverging.has_value(),
            .hasPreferredReplica = result.preferredReadReplica.has_value()};
  }
  const std::vector<bool> carried = context.select(facts);
  FetchResponse response;
  response.sessionId = context.sessionId();
  for (size_t i = 0; i < items.size(); ++i) {
    if (!carried[i]) continue;
    const replication::FetchItem& item = items[i];
    if (response.responses.empty() || response.responses.back().topicId != item.key.topicId ||
        (item.key.topicId.isZero() && response.responses.back().topic != item.key.topic))
      response.responses.push_back(
          {.topic = protocol::Text(item.key.topic), .topicId = item.key.topicId, .partitions = {}});
    const auto& [place, refused] = gathered.places[i];
    replication::FetchResult* result = place ? &results[*place] : nullptr;
    auto data = partitionAnswer(broker, place ? gathered.readable[*place] : item, refused, result, isolation, *request,
                                response);
    response.responses.back().partitions.push_back(std::move(data));
  }
  request->respond(response);
}

}  // namespace

void handleFetch(BrokerContext& broker, network::RequestPtr request) {
  withDecoded<FetchRequest>(std::move(request), [&broker](network::RequestPtr held, const FetchRequest& message) {
    const int16_t version = held->apiVersion();
    const bool byId = version >= kFirstWithTopicIds;
    const NodeId replica = replicaOf(message, version);
    const bool fromFollower = replica.value() >= 0;
    auto context = broker.replicas.fetchSessions().begin(sessionRequest(*broker.image(), message, version),
                                                         broker.process.clock().monotonic());
    if (!context) {
      FetchResponse response;
      response.errorCode = static_cast<int16_t>(context.error().code);
      held->respond(response);
      return;
    }
    Gathered gathered = gather(broker, held->context(), context->items(), fromFollower, byId);
    bool refusedAny = false;
    for (const auto& [place, refused] : gathered.places) refusedAny = refusedAny || !place;
    replication::FetchParams params{
        .follower = std::nullopt,
        // With an error to tell, the answer does not wait.
        .maxWait =
            refusedAny ? platform::Duration(0) : platform::Duration(std::chrono::milliseconds(message.maxWaitMs)),
        .minBytes = message.minBytes,
        .maxBytes = std::min(message.maxBytes, broker.fetchMaxBytes),
        .isolation = fromFollower || isMutated(Mutation::ReadsUncommitted) ? log::FetchIsolation::LogEnd
                     : message.isolationLevel == 1                         ? log::FetchIsolation::Committed
                                                                           : log::FetchIsolation::HighWatermark,
        .leaderOnly = fromFollower || version < kFirstWithRack,
        .rack = version >= kFirstWithRack ? message.rackId.str() : std::string(),
        .label = {.client = held->context().clientId(), .correlation = held->context().correlationId}};
    if (!fromFollower && broker.recorder.isWatched())
      for (const replication::FetchItem& item : gathered.readable)
        broker.traffic.reads(held->context(), {item.key.topic, item.key.partition}, item.ask.fetchOffset);
    if (fromFollower)
      params.follower = {.replica = replica, .brokerEpoch = BrokerEpoch(message.replicaState.replicaEpoch)};
    held->releaseFrame();
    const log::FetchIsolation isolation = params.isolation;
    std::vector<replication::FetchItem> readable = gathered.readable;
    broker.replicas.fetch(
        params, std::move(readable),
        [&broker, answered = std::move(held), context = std::move(*context), gathered = std::move(gathered), isolation,
         fromFollower](std::vector<replication::FetchResult> results) mutable {
          if (!fromFollower) {
            int64_t bytes = 0;
            for (const replication::FetchResult& result : results) bytes += static_cast<int64_t>(result.slice.length);
            broker.traffic.fetched(bytes);
          }
          answer(broker, std::move(answered), context, gathered, std::move(results), isolation);
        });
  });
}

}  // namespace tidemark::broker
