#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "base/mutex.h"
#include "broker/forwarding.h"
#include "config/broker_config.h"
#include "platform/clock.h"

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

  AutoTopicCreation(Forwarding& forwarding, const platform::Clock& clock, Config config)
      : forwarding_(forwarding), clock_(clock), config_(std::move(config)) {}

  /// What the client is told meanwhile: UnknownTopicOrPartition (it asks again), InvalidTopicException.
  ErrorCode request(const std::string& topic);

  /// Has topics made as they are described (those of an application), unless that is under way or has failed less than
  /// `errorsKept` ago. What kept any of them when it was tried last, by name.
  std::map<std::string, std::string> create(std::vector<protocol::CreateTopicsRequest::CreatableTopic> topics,
                                            platform::milliseconds errorsKept);

 private:
  struct Failure {
    std::string error;
    platform::MonotonicTime until;
  };

  Forwarding& forwarding_;
  const platform::Clock& clock_;
  const Config config_;
  Mutex mutex_;
  std::set<std::string> underWay_ GUARDED_BY(mutex_);
  std::map<std::string, Failure> failed_ GUARDED_BY(mutex_);
};

}  // namespace tidemark::broker
