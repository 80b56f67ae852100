#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "platform/network.h"

namespace tidemark::protocol {
struct MetadataResponse;
}

namespace tidemark::client {

/// What a cluster says about itself, as far as the client has asked. A value; the Client's own belongs to its executor.
struct MetadataCache {
  struct Partition {
    NodeId leader;
    LeaderEpoch leaderEpoch;
    std::vector<NodeId> replicas;
    std::vector<NodeId> isr;
    ErrorCode error = ErrorCode::None;
  };
  struct Topic {
    /// Zero from brokers older than Metadata 10.
    Uuid id;
    bool internal = false;
    ErrorCode error = ErrorCode::None;
    /// By index.
    std::map<int32_t, Partition> partitions;
  };

  std::map<NodeId, platform::Endpoint> brokers;
  std::map<std::string, Topic, std::less<>> topics;
  std::string clusterId;
  NodeId controller;

  /// Null if topic or partition are not known.
  const Partition* find(const TopicPartition& which) const;
  const Topic* find(std::string_view topic) const;
  /// Nothing if the partition is not known or has no leader now.
  std::optional<NodeId> leaderOf(const TopicPartition& which) const;
  /// Empty if no topic has that id.
  std::string_view nameOf(const Uuid& topicId) const;

  /// Replaces brokers, controller and every topic of the answer. Within a topic id an older leader epoch does not
  /// replace a newer one. Topics that no longer exist go.
  void update(const protocol::MetadataResponse& response);
  /// The partition is known to be in that leader epoch or a later one: of an older one nothing is known any more, nor
  /// taken from an answer.
  void learn(const TopicPartition& which, LeaderEpoch epoch);
};

}  // namespace tidemark::client
