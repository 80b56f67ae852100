#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "coordinator/streams/topology.h"

namespace tidemark::coordinator {

/// What the coordinator has to say beside an answer; the numbers are those of the protocol.
enum class StreamsStatus : int8_t {
  StaleTopology = 0,
  MissingSourceTopics = 1,
  IncorrectlyPartitionedTopics = 2,
  MissingInternalTopics = 3,
  ShutdownApplication = 4,
  AssignmentDelayed = 5,
  MissingClientTags = 6,
};

/// A subtopology with all numbers known.
struct ConfiguredSubtopology {
  /// One for each partition of its widest source.
  int32_t tasks = 0;
  std::set<std::string> sourceTopics;
  std::set<std::string> repartitionSinkTopics;
  /// By name, with the partitions they are to have.
  std::map<std::string, InternalTopicInfo> repartitionSourceTopics;
  std::map<std::string, InternalTopicInfo> stateChangelogTopics;

  bool isStateful() const noexcept { return !stateChangelogTopics.empty(); }
};

/// A topology laid over the topics that exist: how many tasks each subtopology has, and what is still in the way.
struct ConfiguredTopology {
  struct Problem {
    StreamsStatus status;
    std::string detail;
  };

  int32_t epoch = 0;
  /// By id; nothing if the topics do not allow it.
  std::optional<std::map<std::string, ConfiguredSubtopology, std::less<>>> subtopologies;
  /// Internal topics that do not exist yet, by name.
  std::map<std::string, InternalTopicInfo> topicsToCreate;
  std::optional<Problem> problem;

  /// Tasks can be assigned.
  bool isReady() const noexcept { return !problem.has_value(); }
  protocol::StreamsGroupDescribeResponse::Topology described() const;
};

/// Partitions of a topic; nothing if there is no such topic.
using PartitionCounts = std::function<std::optional<int32_t>(std::string_view topic)>;

/// Derives the partitions of internal topics and the tasks of each subtopology, as Kafka 4.4 does: repartition topics
/// get the widest source of the subtopology that writes them, topics that are joined the same number, changelogs one
/// for each task. A topology that can never be laid out is STREAMS_INVALID_TOPOLOGY; what topics are missing or have
/// the wrong number is the result's `problem`.
Result<ConfiguredTopology> configureTopology(const StreamsTopology& topology, const PartitionCounts& existing);

}  // namespace tidemark::coordinator
