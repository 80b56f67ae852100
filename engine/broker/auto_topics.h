#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/error_code.h"
#include "base/mutex.h"
#include "broker/forwarding.h"
#include "config/broker_config.h"

namespace tidemark::broker {

/// Whether Kafka would take it as a topic's name: 1 to 249 of a–z A–Z 0–9 . _ -, and neither "." nor "..".
bool isValidTopicName(std::string_view name);
/// __consumer_offsets, __transaction_state, __share_group_state.
bool isInternalTopic(std::string_view name);

/// Makes topics that a client mentions and nobody created (auto.create.topics.enable), and the internal ones when they
/// are first needed; Kafka's AutoTopicCreationManager. A topic is asked for once at a time. Any thread.
class AutoTopicCreation {
 public:
  using Config = std::function<std::shared_ptr<const config::BrokerConfig>()>;

  AutoTopicCreation(Forwarding& forwarding, Config config) : forwarding_(forwarding), config_(std::move(config)) {}

  /// What the client is told meanwhile: UnknownTopicOrPartition (it asks again), InvalidTopicException.
  ErrorCode request(const std::string& topic);

 private:
  Forwarding& forwarding_;
  const Config config_;
  Mutex mutex_;
  std::set<std::string> underWay_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::broker
