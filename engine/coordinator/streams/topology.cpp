#include "coordinator/streams/topology.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::coordinator {
namespace {

using protocol::Text;
using DescribedTopic = protocol::StreamsGroupDescribeResponse::TopicInfo;

std::vector<std::string> stringsOf(const std::vector<Text>& texts) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (const Text& text : texts) strings.push_back(text.str());
  return strings;
}

std::vector<Text> textsOf(const std::vector<std::string>& strings) {
  return {strings.begin(), strings.end()};
}

std::vector<Text> sortedTexts(std::vector<std::string> strings) {
  std::ranges::sort(strings);
  return textsOf(strings);
}

/// Of a request and of a record alike: both name the same things.
template <class Info>
std::vector<InternalTopicInfo> infosOf(const std::vector<Info>& infos) {
  std::vector<InternalTopicInfo> topics;
  for (const Info& info : infos) {
    InternalTopicInfo& topic = topics.emplace_back();
    topic.name = info.name.str();
    topic.partitions = info.partitions;
    topic.replicationFactor = info.replicationFactor;
    for (const auto& config : info.topicConfigs) topic.configs.emplace_back(config.key.str(), config.value.str());
  }
  return topics;
}

template <class From>
Subtopology subtopologyOf(const From& from) {
  Subtopology subtopology;
  subtopology.id = from.subtopologyId.str();
  subtopology.sourceTopics = stringsOf(from.sourceTopics);
  subtopology.sourceTopicRegex = stringsOf(from.sourceTopicRegex);
  subtopology.stateChangelogTopics = infosOf(from.stateChangelogTopics);
  subtopology.repartitionSinkTopics = stringsOf(from.repartitionSinkTopics);
  subtopology.repartitionSourceTopics = infosOf(from.repartitionSourceTopics);
  for (const auto& group : from.copartitionGroups) {
    subtopology.copartitionGroups.push_back(
        {group.sourceTopics, group.sourceTopicRegex, group.repartitionSourceTopics});
  }
  return subtopology;
}

bool areWithin(const std::vector<int16_t>& indices, size_t size) {
  return std::ranges::all_of(indices, [size](int16_t i) { return i >= 0 && static_cast<size_t>(i) < size; });
}

Result<void> validateSubtopology(const Subtopology& subtopology) {
  if (!subtopology.sourceTopicRegex.empty()) {
    return fail(ErrorCode::InvalidRequest, "Regular expressions for source topics are not supported yet.");
  }
  for (const InternalTopicInfo& topic : subtopology.stateChangelogTopics) {
    if (topic.partitions != 0) {
      return fail(ErrorCode::StreamsInvalidTopology,
                  fmt::format("Changelog topic {} must have an undefined partition count, but it is set to {}.",
                              topic.name, topic.partitions));
    }
  }
  for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
    if (topic.partitions < 0) {
      return fail(ErrorCode::StreamsInvalidTopology,
                  fmt::format("Repartition topic {} cannot have {} partitions.", topic.name, topic.partitions));
    }
  }
  for (const CopartitionGroup& group : subtopology.copartitionGroups) {
    if (!areWithin(group.sourceTopics, subtopology.sourceTopics.size()) ||
        !areWithin(group.repartitionSourceTopics, subtopology.repartitionSourceTopics.size())) {
      return fail(
          ErrorCode::StreamsInvalidTopology,
          fmt::format("A copartition group of subtopology {} names a topic that it does not list.", subtopology.id));
    }
  }
  return {};
}

std::vector<DescribedTopic> describedTopics(const std::vector<InternalTopicInfo>& topics) {
  std::vector<DescribedTopic> described;
  for (const InternalTopicInfo& topic : topics) {
    DescribedTopic& one = described.emplace_back();
    one.name = topic.name;
    one.partitions = topic.partitions;
    one.replicationFactor = topic.replicationFactor;
    for (const auto& [key, value] : topic.configs) one.topicConfigs.push_back({key, value});
  }
  std::ranges::sort(described, {}, [](const DescribedTopic& one) { return one.name.view(); });
  return described;
}

std::vector<protocol::StreamsGroupTopologyValue::TopicInfo> infoValues(const std::vector<InternalTopicInfo>& topics) {
  std::vector<protocol::StreamsGroupTopologyValue::TopicInfo> values;
  for (const InternalTopicInfo& topic : topics) {
    auto& value = values.emplace_back();
    value.name = topic.name;
    value.partitions = topic.partitions;
    value.replicationFactor = topic.replicationFactor;
    for (const auto& [key, config] : topic.configs) value.topicConfigs.push_back({key, config});
  }
  return values;
}

}  // namespace

std::set<std::string> StreamsTopology::requiredTopics() const {
  std::set<std::string> topics;
  for (const auto& [id, subtopology] : subtopologies) {
    topics.insert(subtopology.sourceTopics.begin(), subtopology.sourceTopics.end());
    for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) topics.insert(topic.name);
    for (const InternalTopicInfo& topic : subtopology.stateChangelogTopics) topics.insert(topic.name);
  }
  return topics;
}

const Subtopology* StreamsTopology::readerOf(std::string_view topic) const {
  for (const auto& [id, subtopology] : subtopologies) {
    if (std::ranges::find(subtopology.sourceTopics, topic) != subtopology.sourceTopics.end()) return &subtopology;
    if (std::ranges::find(subtopology.repartitionSourceTopics, topic, &InternalTopicInfo::name) !=
        subtopology.repartitionSourceTopics.end()) {
      return &subtopology;
    }
  }
  return nullptr;
}

protocol::StreamsGroupDescribeResponse::Topology StreamsTopology::described() const {
  protocol::StreamsGroupDescribeResponse::Topology described;
  described.epoch = epoch;
  described.subtopologies.emplace();
  for (const auto& [id, subtopology] : subtopologies) {
    auto& one = described.subtopologies->emplace_back();
    one.subtopologyId = id;
    one.sourceTopics = sortedTexts(subtopology.sourceTopics);
    one.repartitionSinkTopics = sortedTexts(subtopology.repartitionSinkTopics);
    one.stateChangelogTopics = describedTopics(subtopology.stateChangelogTopics);
    one.repartitionSourceTopics = describedTopics(subtopology.repartitionSourceTopics);
  }
  return described;
}

Result<StreamsTopology> topologyOf(const protocol::StreamsGroupHeartbeatRequest::Topology& topology) {
  if (topology.epoch < 0) {
    return fail(ErrorCode::StreamsInvalidTopology, fmt::format("The topology epoch is {}.", topology.epoch));
  }
  StreamsTopology made{.epoch = topology.epoch, .subtopologies = {}};
  for (const auto& given : topology.subtopologies) {
    Subtopology subtopology = subtopologyOf(given);
    TIDEMARK_TRY(validateSubtopology(subtopology));
    const std::string id = subtopology.id;
    if (!made.subtopologies.emplace(id, std::move(subtopology)).second) {
      return fail(ErrorCode::StreamsInvalidTopology, fmt::format("The topology has two subtopologies {}.", id));
    }
  }
  return made;
}

StreamsTopology topologyOf(const protocol::StreamsGroupTopologyValue& value) {
  StreamsTopology topology{.epoch = value.epoch, .subtopologies = {}};
  for (const auto& given : value.subtopologies) {
    topology.subtopologies.insert_or_assign(given.subtopologyId.str(), subtopologyOf(given));
  }
  return topology;
}

protocol::StreamsGroupTopologyValue topologyValue(const StreamsTopology& topology) {
  protocol::StreamsGroupTopologyValue value;
  value.epoch = topology.epoch;
  for (const auto& [id, subtopology] : topology.subtopologies) {
    auto& one = value.subtopologies.emplace_back();
    one.subtopologyId = id;
    one.sourceTopics = textsOf(subtopology.sourceTopics);
    one.sourceTopicRegex = textsOf(subtopology.sourceTopicRegex);
    one.stateChangelogTopics = infoValues(subtopology.stateChangelogTopics);
    one.repartitionSinkTopics = textsOf(subtopology.repartitionSinkTopics);
    one.repartitionSourceTopics = infoValues(subtopology.repartitionSourceTopics);
    for (const CopartitionGroup& group : subtopology.copartitionGroups) {
      auto& copartitioned = one.copartitionGroups.emplace_back();
      copartitioned.sourceTopics = group.sourceTopics;
      copartitioned.sourceTopicRegex = group.sourceTopicRegex;
      copartitioned.repartitionSourceTopics = group.repartitionSourceTopics;
    }
  }
  return value;
}

}  // namespace tidemark::coordinator
