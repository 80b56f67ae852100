#include "coordinator/streams/configured_topology.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::coordinator {
namespace {

using Problem = ConfiguredTopology::Problem;
using Counts = std::map<std::string, int32_t, std::less<>>;

/// The topology can never work (an Error), or not with these topics (a Problem).
using Obstacle = std::variant<Error, Problem>;
using Step = std::expected<void, Obstacle>;

std::unexpected<Obstacle> invalid(std::string message) {
  return std::unexpected(Obstacle(Error{ErrorCode::StreamsInvalidTopology, std::move(message)}));
}

std::unexpected<Obstacle> incorrectlyPartitioned(std::string detail) {
  return std::unexpected(Obstacle(Problem{StreamsStatus::IncorrectlyPartitionedTopics, std::move(detail)}));
}

/// "a, b, c and 2 additional topics"
template <class Names>
std::string summary(const Names& names) {
  constexpr size_t kShown = 3;
  std::vector<std::string_view> shown;
  for (const std::string& name : names) {
    if (shown.size() < kShown) shown.push_back(name);
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} additional topics", names.size() - kShown);
  return text;
}

std::string listed(const std::map<std::string, int32_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [topic, count] : counts) parts.push_back(fmt::format("{}={}", topic, count));
  return fmt::format("Following topics do not have the same number of partitions: [{{{}}}]", fmt::join(parts, ", "));
}

/// Decides how many partitions the internal topics of a topology have.
class Layout {
 public:
  Layout(const StreamsTopology& topology, const PartitionCounts& existing) : topology_(topology), existing_(existing) {}

  Step decide() {
    if (Step step = decideRepartitionTopics(); !step) return step;
    for (const auto& [id, subtopology] : topology_.subtopologies) {
      for (const CopartitionGroup& group : subtopology.copartitionGroups) {
        if (Step step = alignCopartitioned(subtopology, group); !step) return step;
      }
    }
    for (const auto& [id, subtopology] : topology_.subtopologies) {
      const std::optional<int32_t> widest = widestSource(subtopology);
      if (!widest) return invalid(fmt::format("No source topics found for subtopology {}", id));
      for (const InternalTopicInfo& topic : subtopology.stateChangelogTopics) decided_[topic.name] = *widest;
    }
    return {};
  }

  ConfiguredSubtopology configured(const Subtopology& subtopology) const {
    ConfiguredSubtopology made;
    made.tasks = *widestSource(subtopology);
    made.sourceTopics.insert(subtopology.sourceTopics.begin(), subtopology.sourceTopics.end());
    made.repartitionSinkTopics.insert(subtopology.repartitionSinkTopics.begin(),
                                      subtopology.repartitionSinkTopics.end());
    for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
      made.repartitionSourceTopics[topic.name] = withPartitions(topic);
    }
    for (const InternalTopicInfo& topic : subtopology.stateChangelogTopics) {
      made.stateChangelogTopics[topic.name] = withPartitions(topic);
    }
    return made;
  }

 private:
  /// A topic that exists counts as it is, whatever was decided.
  std::optional<int32_t> countOf(std::string_view topic) const {
    if (const std::optional<int32_t> count = existing_(topic)) return count;
    const auto found = decided_.find(topic);
    return found != decided_.end() ? std::optional(found->second) : std::nullopt;
  }

  InternalTopicInfo withPartitions(InternalTopicInfo topic) const {
    if (topic.partitions == 0) topic.partitions = decided_.find(topic.name)->second;
    return topic;
  }

  std::optional<int32_t> widestSource(const Subtopology& subtopology) const {
    std::optional<int32_t> widest;
    for (const std::string& topic : subtopology.sourceTopics) widest = std::max(widest, countOf(topic));
    for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
      widest = std::max(widest, countOf(topic.name));
    }
    return widest;
  }

  /// Of what is known so far of the subtopology that writes a repartition topic.
  std::optional<int32_t> widestKnown(const Subtopology& subtopology, const Counts& known) const {
    std::optional<int32_t> widest;
    for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
      if (const auto found = known.find(topic.name); found != known.end()) {
        widest = std::max(widest, std::optional(found->second));
      }
    }
    for (const std::string& topic : subtopology.sourceTopics) widest = std::max(widest, existing_(topic));
    return widest;
  }

  Step decideRepartitionTopics() {
    Counts known;
    for (const auto& [id, subtopology] : topology_.subtopologies) {
      for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
        if (topic.partitions != 0) known[topic.name] = topic.partitions;
      }
    }
    // From the sources on, round by round: each round knows at least one more, or there is a loop.
    for (bool waiting = true; waiting;) {
      waiting = false;
      bool progress = false;
      for (const auto& [id, subtopology] : topology_.subtopologies) {
        for (const std::string& sink : subtopology.repartitionSinkTopics) {
          if (known.contains(sink)) continue;
          if (const std::optional<int32_t> count = widestKnown(subtopology, known)) {
            known[sink] = *count;
            progress = true;
          } else {
            waiting = true;
          }
        }
      }
      if (waiting && !progress) {
        return invalid(
            "Failed to compute number of partitions for all repartition topics. There may be loops in the topology "
            "that cannot be resolved.");
      }
    }
    for (const auto& [id, subtopology] : topology_.subtopologies) {
      for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
        if (known.contains(topic.name)) continue;
        return invalid(
            "Failed to compute number of partitions for all repartition topics, because a repartition source topic is "
            "never used as a sink topic.");
      }
    }
    decided_ = std::move(known);
    return {};
  }

  /// Repartition topics of the whole topology whose number the application has set.
  std::set<std::string> fixedTopics() const {
    std::set<std::string> fixed;
    for (const auto& [id, subtopology] : topology_.subtopologies) {
      for (const InternalTopicInfo& topic : subtopology.repartitionSourceTopics) {
        if (topic.partitions != 0) fixed.insert(topic.name);
      }
    }
    return fixed;
  }

  bool isRepartitionTopic(std::string_view topic) const {
    return std::ranges::any_of(topology_.subtopologies, [topic](const auto& one) {
      const auto& topics = one.second.repartitionSourceTopics;
      return std::ranges::find(topics, topic, &InternalTopicInfo::name) != topics.end();
    });
  }

  Step alignCopartitioned(const Subtopology& subtopology, const CopartitionGroup& group) {
    std::map<std::string, int32_t> repartition;
    std::map<std::string, int32_t> external;
    const auto sort = [&](const std::string& topic) {
      (isRepartitionTopic(topic) ? repartition : external)[topic] = countOf(topic).value_or(0);
    };
    for (const int16_t i : group.sourceTopics) sort(subtopology.sourceTopics[static_cast<size_t>(i)]);
    for (const int16_t i : group.repartitionSourceTopics) {
      sort(subtopology.repartitionSourceTopics[static_cast<size_t>(i)].name);
    }
    if (repartition.empty() && external.empty()) return {};

    const std::set<std::string> fixed = fixedTopics();
    int32_t wanted = 0;
    if (!external.empty()) {
      wanted = external.begin()->second;
      if (std::ranges::any_of(external, [wanted](const auto& one) { return one.second != wanted; })) {
        return incorrectlyPartitioned(listed(external));
      }
    } else if (!fixed.empty()) {
      // As Kafka: all numbers that were set count here, also of topics outside this group.
      wanted = countOf(*fixed.begin()).value_or(0);
      if (std::ranges::any_of(fixed, [&](const std::string& topic) { return countOf(topic) != wanted; })) {
        return incorrectlyPartitioned(listed(repartition));
      }
    } else {
      for (const auto& [topic, count] : repartition) wanted = std::max(wanted, count);
    }
    for (const auto& [topic, count] : repartition) {
      decided_[topic] = wanted;
      if (fixed.contains(topic) && count != wanted) {
        return incorrectlyPartitioned(fmt::format(
            "Number of partitions [{}] of repartition topic [{}] doesn't match number of partitions [{}] of the source "
            "topic.",
            count, topic, wanted));
      }
    }
    return {};
  }

  const StreamsTopology& topology_;
  const PartitionCounts& existing_;
  Counts decided_;
};

/// Leaves in `topicsToCreate` what does not exist; a problem if one that does has another number of partitions.
std::optional<Problem> compareWithExisting(ConfiguredTopology& configured, const StreamsTopology& topology,
                                           const PartitionCounts& existing) {
  for (const auto& [id, subtopology] : *configured.subtopologies) {
    configured.topicsToCreate.insert(subtopology.repartitionSourceTopics.begin(),
                                     subtopology.repartitionSourceTopics.end());
    configured.topicsToCreate.insert(subtopology.stateChangelogTopics.begin(), subtopology.stateChangelogTopics.end());
  }
  for (const std::string& topic : topology.requiredTopics()) {
    const std::optional<int32_t> found = existing(topic);
    const auto expected = configured.topicsToCreate.find(topic);
    if (!found || expected == configured.topicsToCreate.end()) continue;
    if (*found != expected->second.partitions) {
      return Problem{StreamsStatus::IncorrectlyPartitionedTopics,
                     fmt::format("Existing topic {} has different number of partitions: expected {}, found {}", topic,
                                 expected->second.partitions, *found)};
    }
    configured.topicsToCreate.erase(expected);
  }
  if (configured.topicsToCreate.empty()) return std::nullopt;
  std::vector<std::string> missing;
  for (const auto& [name, topic] : configured.topicsToCreate) missing.push_back(name);
  return Problem{StreamsStatus::MissingInternalTopics, "Internal topics are missing: " + summary(missing)};
}

}  // namespace

Result<ConfiguredTopology> configureTopology(const StreamsTopology& topology, const PartitionCounts& existing) {
  ConfiguredTopology configured;
  configured.epoch = topology.epoch;
  std::set<std::string> missing;
  for (const auto& [id, subtopology] : topology.subtopologies) {
    for (const std::string& topic : subtopology.sourceTopics) {
      if (!existing(topic)) missing.insert(topic);
    }
  }
  if (!missing.empty()) {
    configured.problem =
        Problem{StreamsStatus::MissingSourceTopics, fmt::format("Source topics {} are missing.", summary(missing))};
    return configured;
  }
  Layout layout(topology, existing);
  if (Step decided = layout.decide(); !decided) {
    if (Error* error = std::get_if<Error>(&decided.error())) return fail(std::move(*error));
    configured.problem = std::get<Problem>(std::move(decided.error()));
    return configured;
  }
  configured.subtopologies.emplace();
  for (const auto& [id, subtopology] : topology.subtopologies) {
    configured.subtopologies->emplace(id, layout.configured(subtopology));
  }
  configured.problem = compareWithExisting(configured, topology, existing);
  if (configured.problem && configured.problem->status == StreamsStatus::IncorrectlyPartitionedTopics) {
    configured.subtopologies.reset();
    configured.topicsToCreate.clear();
  }
  return configured;
}

protocol::StreamsGroupDescribeResponse::Topology ConfiguredTopology::described() const {
  using Described = protocol::StreamsGroupDescribeResponse;
  Described::Topology described;
  described.epoch = epoch;
  described.subtopologies.emplace();
  if (!subtopologies) return described;
  const auto topics = [](const std::map<std::string, InternalTopicInfo>& internal) {
    std::vector<Described::TopicInfo> infos;
    for (const auto& [name, topic] : internal) {
      auto& info = infos.emplace_back();
      info.name = name;
      info.partitions = topic.partitions;
      info.replicationFactor = topic.replicationFactor;
      for (const auto& [key, value] : topic.configs) info.topicConfigs.push_back({key, value});
    }
    return infos;
  };
  for (const auto& [id, subtopology] : *subtopologies) {
    auto& one = described.subtopologies->emplace_back();
    one.subtopologyId = id;
    one.sourceTopics.assign(subtopology.sourceTopics.begin(), subtopology.sourceTopics.end());
    one.repartitionSinkTopics.assign(subtopology.repartitionSinkTopics.begin(),
                                     subtopology.repartitionSinkTopics.end());
    one.repartitionSourceTopics = topics(subtopology.repartitionSourceTopics);
    one.stateChangelogTopics = topics(subtopology.stateChangelogTopics);
  }
  return described;
}

}  // namespace tidemark::coordinator
