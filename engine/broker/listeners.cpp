#include "broker/listeners.h"

#include <algorithm>

#include "metadata/features.h"

namespace tidemark::broker {
namespace {

/// Longer than any connection lives, and no time that could overflow.
constexpr int64_t kNeverMs = int64_t{100} * 365 * 24 * 3600 * 1000;

}  // namespace

network::ServerOptions serverOptions(const config::BrokerConfig& config, ListenersOf role) {
  network::ServerOptions server;
  for (const config::Listener& listener : config.listeners())
    if (config.isControllerListener(listener.name) == (role == ListenersOf::Controller))
      server.listeners.push_back({.name = listener.name,
                                  .endpoint = {bindHost(listener.host), listener.port},
                                  .securityProtocol = listener.protocol});
  server.queuedMaxRequests = config.getInt("queued.max.requests");
  server.maxRequestBytes = static_cast<uint32_t>(config.getInt("socket.request.max.bytes"));
  server.sockets = {.sendBufferBytes = config.getInt("socket.send.buffer.bytes"),
                    .receiveBufferBytes = config.getInt("socket.receive.buffer.bytes"),
                    .backlog = config.getInt("socket.listen.backlog.size")};
  // Negative: never, as Kafka has it.
  const int64_t idleMs = config.getLong("connections.max.idle.ms");
  server.connectionsMaxIdle = std::chrono::milliseconds(idleMs < 0 ? kNeverMs : std::min(idleMs, kNeverMs));
  return server;
}

network::FeatureInfo featureInfo(const metadata::Image& image, const std::string& clusterId, NodeId self) {
  network::FeatureInfo info;
  for (const metadata::FeatureDefinition& feature : metadata::knownFeatures())
    info.supported.push_back(
        {.name = std::string(feature.name), .min = feature.minSupported, .max = feature.maxSupported});
  for (const auto& [name, level] : image.features.finalized) info.finalized.push_back({.name = name, .level = level});
  info.finalizedEpoch = image.provenance.lastContainedOffset.value();
  info.clusterId = clusterId;
  info.nodeId = self.value();
  return info;
}

}  // namespace tidemark::broker
