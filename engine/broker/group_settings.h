#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "config/broker_config.h"
#include "config/config_value.h"
#include "coordinator/consumer/consumer_config.h"
#include "coordinator/streams/streams_config.h"

namespace tidemark::broker {

/// What is in force for one streams group: `group`, its own configuration, over the broker's. Values outside of the
/// broker's bounds count as the bound, as with Kafka.
coordinator::StreamsGroupConfig streamsGroupConfig(const config::BrokerConfig& broker, const config::ConfigMap& group);

/// What is in force for consumer groups that say nothing of their own.
coordinator::ConsumerGroupConfig consumerGroupConfig(const config::BrokerConfig& broker);
/// What a consumer group's own configuration says.
coordinator::ConsumerGroupOverrides consumerGroupOverrides(const config::ConfigMap& group);

}  // namespace tidemark::broker
