#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "config/security_protocol.h"
#include "platform/clock.h"
#include "platform/network.h"

namespace tidemark::protocol {
enum class ApiKey : int16_t;
}  // namespace tidemark::protocol

namespace tidemark::network {

using config::SecurityProtocol;

/// What is true of a connection from its first byte to its last. Immutable, shared.
struct Peer {
  /// As Kafka names a connection: local host:port, remote host:port, processor, number.
  std::string connectionId;
  /// Of the listener it came in by ("PLAINTEXT", "CONTROLLER", …).
  std::string listener;
  SecurityProtocol securityProtocol = SecurityProtocol::Plaintext;
  platform::Endpoint address;
  platform::MonotonicTime since;
};

/// Who a client says it is. Immutable, shared; replaced when the client says something else.
struct ClientInfo {
  std::string clientId;
  /// "unknown" until it has sent ApiVersions 3 or newer.
  std::string softwareName = "unknown";
  std::string softwareVersion = "unknown";
};

/// What each handler knows about where a request came from. Cheap to copy; stays valid after the connection is gone.
struct RequestContext {
  std::shared_ptr<const Peer> peer;
  std::shared_ptr<const ClientInfo> client;
  /// "User:ANONYMOUS" unless the listener authenticates.
  std::shared_ptr<const std::string> principal;
  protocol::ApiKey apiKey{-1};
  int16_t apiVersion = -1;
  int32_t correlationId = 0;
  /// When the frame was complete.
  platform::MonotonicTime arrival;
  /// Of the frame, header included.
  uint32_t sizeInBytes = 0;

  const std::string& listener() const noexcept { return peer->listener; }
  const std::string& clientId() const noexcept { return client->clientId; }
  /// The client's address as Kafka shows it in groups and logs: "/127.0.0.1".
  std::string clientHost() const { return "/" + peer->address.host; }
};

}  // namespace tidemark::network
