#include "broker/auto_topics.h"

#include <algorithm>
#include <cctype>

namespace tidemark::broker {
namespace {

constexpr std::string_view kOffsets = "__consumer_offsets";
constexpr std::string_view kTransactions = "__transaction_state";
constexpr std::string_view kShareState = "__share_group_state";

protocol::CreateTopicsRequest::CreatableTopic describe(const std::string& name, const config::BrokerConfig& config) {
  protocol::CreateTopicsRequest::CreatableTopic topic;
  topic.name = protocol::Text(name);
  const auto set = [&topic](std::string_view key, std::string_view value) {
    topic.configs.push_back({.name = protocol::Text(key), .value = protocol::Text(value)});
  };
  if (name == kOffsets) {
    topic.numPartitions = config.getInt("offsets.topic.num.partitions");
    topic.replicationFactor = static_cast<int16_t>(config.getInt("offsets.topic.replication.factor"));
    set("cleanup.policy", "compact");
    set("compression.type", "producer");
    set("segment.bytes", std::to_string(config.getInt("offsets.topic.segment.bytes")));
  } else if (name == kTransactions) {
    topic.numPartitions = config.getInt("transaction.state.log.num.partitions");
    topic.replicationFactor = static_cast<int16_t>(config.getInt("transaction.state.log.replication.factor"));
    set("cleanup.policy", "compact");
    set("compression.type", "uncompressed");
    set("min.insync.replicas", std::to_string(config.getInt("transaction.state.log.min.isr")));
    set("segment.bytes", std::to_string(config.getInt("transaction.state.log.segment.bytes")));
    set("unclean.leader.election.enable", "false");
  } else if (name == kShareState) {
    topic.numPartitions = config.getInt("share.coordinator.state.topic.num.partitions");
    topic.replicationFactor = static_cast<int16_t>(config.getInt("share.coordinator.state.topic.replication.factor"));
    // Its coordinator cuts it off itself; what one record says another cannot replace.
    set("cleanup.policy", "delete");
    set("compression.type", "producer");
    set("min.insync.replicas", std::to_string(config.getInt("share.coordinator.state.topic.min.isr")));
    set("retention.ms", "-1");
    set("segment.bytes", std::to_string(config.getInt("share.coordinator.state.topic.segment.bytes")));
  } else {
    topic.numPartitions = -1;
    topic.replicationFactor = -1;
  }
  return topic;
}

}  // namespace

bool isValidTopicName(std::string_view name) {
  return !name.empty() && name.size() <= 249 && name != "." && name != ".." && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  });
}

bool isInternalTopic(std::string_view name) {
  return name == kOffsets || name == kTransactions || name == kShareState;
}

ErrorCode AutoTopicCreation::request(const std::string& topic) {
  if (!isValidTopicName(topic)) return ErrorCode::InvalidTopicException;
  {
    Lock lock(mutex_);
    if (!underWay_.insert(topic).second) return ErrorCode::UnknownTopicOrPartition;
  }
  protocol::CreateTopicsRequest request;
  request.topics.push_back(describe(topic, *config_()));
  request.timeoutMs = 30000;
  forwarding_.createTopics(std::move(request), [this, topic](const Result<protocol::CreateTopicsResponse>&) {
    // Made, there already, or refused: the client's next question shows which.
    Lock lock(mutex_);
    underWay_.erase(topic);
  });
  return ErrorCode::UnknownTopicOrPartition;
}

std::map<std::string, std::string> AutoTopicCreation::create(
    std::vector<protocol::CreateTopicsRequest::CreatableTopic> topics, platform::milliseconds errorsKept) {
  std::map<std::string, std::string> errors;
  std::vector<std::string> names;
  {
    const platform::MonotonicTime now = clock_.monotonic();
    Lock lock(mutex_);
    std::erase_if(failed_, [now](const auto& one) { return one.second.until <= now; });
    std::erase_if(topics, [&](const auto& topic) REQUIRES(mutex_) {
      if (const auto failed = failed_.find(topic.name.str()); failed != failed_.end()) {
        errors.emplace(failed->first, failed->second.error);
        return true;
      }
      return !underWay_.insert(topic.name.str()).second;
    });
  }
  if (topics.empty()) return errors;
  for (const auto& topic : topics) names.push_back(topic.name.str());
  protocol::CreateTopicsRequest request;
  request.topics = std::move(topics);
  request.timeoutMs = 30000;
  forwarding_.createTopics(std::move(request), [this, names = std::move(names),
                                                errorsKept](const Result<protocol::CreateTopicsResponse>& made) {
    const platform::MonotonicTime until = clock_.monotonic() + errorsKept;
    Lock lock(mutex_);
    for (const std::string& name : names) {
      underWay_.erase(name);
      if (!made) failed_[name] = {made.error().message, until};
    }
    if (!made) return;
    for (const auto& topic : made->topics) {
      if (topic.errorCode == 0) continue;
      const auto code = static_cast<ErrorCode>(topic.errorCode);
      failed_[topic.name.str()] = {topic.errorMessage ? topic.errorMessage->str() : std::string(errorName(code)),
                                   until};
    }
  });
  return errors;
}

}  // namespace tidemark::broker
