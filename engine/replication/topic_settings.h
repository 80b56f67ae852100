#pragma once

#include <string_view>

#include "config/broker_config.h"
#include "config/topic_config.h"
#include "log/cleaner/cleaner_types.h"
#include "log/log_config.h"
#include "metadata/image.h"

namespace tidemark::replication {

/// A topic's configuration as its logs obey it. `producerIdExpirationMs` is the broker's own setting.
log::LogConfig toLogConfig(const config::TopicConfig& topic, int64_t producerIdExpirationMs);

/// The broker's settings of its cleaner.
log::CleanerConfig toCleanerConfig(const config::BrokerConfig& broker);

}  // namespace tidemark::replication
