#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "metadata/image.h"
#include "protocol/fields.h"

/// Whom to ask instead, in an answer that says that a partition is not led here (KIP-951).
namespace tidemark::broker {

/// Leader and epoch of a partition.
template <class Partition>
void addCurrentLeader(const metadata::PartitionRegistration& registration, Partition& into) {
  into.currentLeader.leaderId = registration.leader.value();
  into.currentLeader.leaderEpoch = registration.leaderEpoch.value();
}

/// Where that broker is reached by whoever asked over `listener`; once in a response, and only if it is there.
template <class Response>
void addNodeEndpoint(const metadata::Image& image, NodeId node, std::string_view listener, Response& response) {
  const metadata::BrokerRegistration* broker = image.cluster.broker(node);
  if (broker == nullptr || broker->fenced) return;
  if (std::ranges::any_of(response.nodeEndpoints, [&](const auto& known) { return known.nodeId == node.value(); }))
    return;
  const metadata::Endpoint* endpoint = broker->endpoint(listener);
  if (endpoint == nullptr) return;
  response.nodeEndpoints.push_back(
      {.nodeId = node.value(),
       .host = protocol::Text(endpoint->host),
       .port = endpoint->port,
       .rack = broker->rack ? std::optional(protocol::Text(*broker->rack)) : std::nullopt});
}

/// Both. Null: the partition is not known, and nothing is told.
template <class Partition, class Response>
void addLeaderHint(const metadata::Image& image, const metadata::PartitionRegistration* registration,
                   std::string_view listener, Partition& into, Response& response) {
  if (registration == nullptr) return;
  addCurrentLeader(*registration, into);
  addNodeEndpoint(image, registration->leader, listener, response);
}

}  // namespace tidemark::broker
