#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "config/broker_config.h"
#include "coordinator/group/group_config.h"
#include "coordinator/share_state/share_state_shard.h"
#include "events/recorder.h"
#include "metadata/image.h"
#include "platform/logger.h"

// What the roles of a broker take from its configuration.

namespace tidemark::broker {

/// A rate in bytes per second, which is a dynamic value only; INT64_MAX: no limit.
int64_t rateLimit(const metadata::ConfigsImage& configs, NodeId self, std::string_view key);
/// replica.selector.class. Of the classes that Kafka has, and by its names alone.
bool isRackAware(const config::BrokerConfig& config, platform::Logger& log);
/// Without the settings of each share group: they change while a broker runs.
coordinator::GroupConfig groupConfig(const config::BrokerConfig& config, events::Recorder& recorder);
coordinator::ShareStateConfig shareStateConfig(const config::BrokerConfig& config);

}  // namespace tidemark::broker
