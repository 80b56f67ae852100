#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "config/broker_config.h"
#include "metadata/image.h"
#include "network/server.h"

// How both roles of a node listen.

namespace tidemark::broker {

/// Where a listener binds: "::" is every address of both families, as with Kafka; for the platform an empty host says
/// so.
inline std::string bindHost(const std::string& host) {
  return host == "::" ? std::string() : host;
}

enum class ListenersOf : uint8_t { Broker, Controller };

/// What the configuration says of the listeners of one role; its threads, its APIs and whom it tells are the role's
/// own.
network::ServerOptions serverOptions(const config::BrokerConfig& config, ListenersOf role);

/// What ApiVersions tells of features, as of that image.
network::FeatureInfo featureInfo(const metadata::Image& image, const std::string& clusterId, NodeId self);

}  // namespace tidemark::broker
