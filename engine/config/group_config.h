#pragma once

#include "base/result.h"
#include "config/topic_config.h"

namespace tidemark::config {

/// Checks the whole of a group's own configuration (Kafka's GroupConfig.validate): known keys, each value, within the
/// bounds that the broker sets for groups, and rules between keys.
Result<void> validateGroupConfig(const ConfigMap& group, const BrokerLayers& broker);

}  // namespace tidemark::config
