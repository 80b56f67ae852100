#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "protocol/generated/streams_group_describe_response.h"
#include "protocol/generated/streams_group_heartbeat_request.h"
#include "protocol/generated/streams_group_topology_value.h"

namespace tidemark::coordinator {

/// A topic that the application needs for itself.
struct InternalTopicInfo {
  std::string name;
  /// 0: to be derived from the topics that feed it.
  int32_t partitions = 0;
  /// 0: the broker's default.
  int16_t replicationFactor = 0;
  std::vector<std::pair<std::string, std::string>> configs;
  friend bool operator==(const InternalTopicInfo&, const InternalTopicInfo&) = default;
};

/// Topics of one subtopology that must have the same number of partitions, as indices into its lists.
struct CopartitionGroup {
  std::vector<int16_t> sourceTopics;
  std::vector<int16_t> sourceTopicRegex;
  std::vector<int16_t> repartitionSourceTopics;
  friend bool operator==(const CopartitionGroup&, const CopartitionGroup&) = default;
};

/// A part of an application that is connected within itself: what it reads, what it stores, what it writes on.
struct Subtopology {
  std::string id;
  std::vector<std::string> sourceTopics;
  std::vector<std::string> sourceTopicRegex;
  std::vector<InternalTopicInfo> stateChangelogTopics;
  std::vector<std::string> repartitionSinkTopics;
  std::vector<InternalTopicInfo> repartitionSourceTopics;
  std::vector<CopartitionGroup> copartitionGroups;
  friend bool operator==(const Subtopology&, const Subtopology&) = default;
};

/// What an application says it is (KIP-1071). Its first member sets it; others must bring the same, or an older epoch.
struct StreamsTopology {
  int32_t epoch = 0;
  std::map<std::string, Subtopology, std::less<>> subtopologies;

  /// Source, repartition and changelog topics.
  std::set<std::string> requiredTopics() const;
  /// The subtopology that reads `topic`; null.
  const Subtopology* readerOf(std::string_view topic) const;
  protocol::StreamsGroupDescribeResponse::Topology described() const;
  friend bool operator==(const StreamsTopology&, const StreamsTopology&) = default;
};

/// STREAMS_INVALID_TOPOLOGY: a negative epoch, an id given twice, a changelog topic with partitions, an index out of
/// range. INVALID_REQUEST: source topics by regular expression, which Kafka 4.4 does not take either.
Result<StreamsTopology> topologyOf(const protocol::StreamsGroupHeartbeatRequest::Topology& topology);
StreamsTopology topologyOf(const protocol::StreamsGroupTopologyValue& value);
protocol::StreamsGroupTopologyValue topologyValue(const StreamsTopology& topology);

}  // namespace tidemark::coordinator
