#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "events/recorder.h"
#include "network/api_table.h"
#include "network/request.h"
#include "platform/process.h"

namespace tidemark::network {

class ServerObserver;

/// Where a server listens. `endpoint.port` 0 picks one.
struct ListenerOptions {
  std::string name;
  platform::Endpoint endpoint;
  SecurityProtocol securityProtocol = SecurityProtocol::Plaintext;
};

/// What an ApiVersions answer says besides the table.
struct FeatureInfo {
  struct Supported {
    std::string name;
    int16_t min = 0;
    int16_t max = 0;
  };
  struct Finalized {
    std::string name;
    int16_t level = 0;
  };
  std::vector<Supported> supported;
  std::vector<Finalized> finalized;
  /// Offset of the metadata the finalized levels are true at; -1: unknown.
  int64_t finalizedEpoch = -1;
  /// Whom the client has reached; empty and -1: not checked against what ApiVersions 5 expects.
  std::string clusterId;
  int32_t nodeId = -1;
};

struct ServerOptions {
  /// In front of the executors' names: "" or "controller-".
  std::string namePrefix;
  std::vector<ListenerOptions> listeners;
  /// What is served on all of them.
  ApiTable apis;
  /// Asked for each ApiVersions answer, on a processor; must not block. May be empty.
  std::function<FeatureInfo()> features;

  int numProcessors = 3;        ///< num.network.threads
  int numHandlers = 8;          ///< num.io.threads
  int queuedMaxRequests = 500;  ///< queued.max.requests
  /// queued.max.request.bytes. Memory for requests from their first byte until their frame is let go; one request more
  /// may go over it, so that a large one gets through a small budget.
  uint64_t queuedMaxBytes = 64ULL << 20;
  uint32_t maxRequestBytes = 100U << 20;  ///< socket.request.max.bytes
  /// socket.send.buffer.bytes, socket.receive.buffer.bytes, socket.listen.backlog.size; of all listeners.
  platform::ListenOptions sockets;
  int maxConnections = 1 << 20;       ///< max.connections: at the limit, further ones wait in the backlog
  int maxConnectionsPerIp = 1 << 20;  ///< max.connections.per.ip: above the limit, they are closed at once
  /// connections.max.idle.ms
  platform::Duration connectionsMaxIdle = std::chrono::minutes(10);
  /// How long a peer may say nothing inside a request before it is closed; a sixth of it while others wait for the
  /// memory that it holds.
  platform::Duration maxSilenceInRequest = std::chrono::seconds(30);

  /// Told of each connection that is gone, on its processor; must not block. isConnected() is false by then. May be
  /// empty.
  std::function<void(const Peer&)> disconnected;
  /// May be null. Outlives the server.
  ServerObserver* observer = nullptr;
  /// Where connections tell that they came, said who they are, and went. May be null. Outlives the server.
  events::Recorder* recorder = nullptr;
};

/// A connection as views show it.
struct ConnectionInfo {
  std::shared_ptr<const Peer> peer;
  std::shared_ptr<const ClientInfo> client;
  bool inFlight = false;
  uint64_t bytesIn = 0;
  uint64_t bytesOut = 0;
  uint64_t requests = 0;
};

/// How full a server is now.
struct ServerLoad {
  int connections = 0;
  /// Handed to the handler pool and not begun.
  int queued = 0;
  /// Complete, waiting for room in the queue; their connections are mute.
  int waiting = 0;
  uint64_t bytesInFlight = 0;
};

/// Told what happens, as it happens, on the thread where it happens, with no lock held. Must not block.
class ServerObserver {
 public:
  virtual ~ServerObserver() = default;
  virtual void connectionOpened(const Peer& /*peer*/) {}
  virtual void connectionClosed(const Peer& /*peer*/, std::string_view /*reason*/) {}
  /// A frame is complete and its header understood.
  virtual void requestReceived(const RequestContext& /*context*/) {}
  /// A handler begins with it.
  virtual void requestBegun(const RequestContext& /*context*/) {}
  /// The last byte of the answer went to the operating system; 0 bytes: there was none.
  virtual void responseSent(const RequestContext& /*context*/, uint64_t /*bytes*/) {}
  /// The connection is not read from because the queue or the budget is full.
  virtual void connectionMuted(const Peer& /*peer*/, std::string_view /*reason*/) {}
};

/// The server side of one broker or controller: acceptor → N processors, each owning its connections → bounded queue →
/// M handlers. Each of these is an executor of the Process. A request that its handler calls quick is handled on the
/// processor, without a change of threads, while nothing is queued and that stays quick. ApiVersions is answered here;
/// requests outside the table close the connection, as Kafka does.
///
/// Made, started and destroyed by the owner's thread. Destroy it only when the Process is dead and awaited, or after
/// shutdown() has called back. Requests may outlive it.
class Server {
 public:
  Server(platform::Process& process, ServerOptions options, RequestHandler& handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens on every listener: connections wait in the backlog until open(). An address in use is an error that names
  /// it.
  Result<void> listen();
  /// Begins to accept and to serve.
  void open();
  /// Both.
  Result<void> start();

  /// With the ports that were picked, in the order of the options. After listen().
  std::vector<std::pair<std::string, platform::Endpoint>> endpoints() const;
  /// Of the named listener. After listen().
  platform::Endpoint endpoint(std::string_view listener) const;

  /// Stops accepting, closes the listeners and all connections, lets running handlers finish, then calls `done` on some
  /// executor of the server. Requests that are parked stay with their holders; their answers go nowhere.
  void shutdown(platform::Task done);

  /// Begins no further request; calls `done`, on some executor of the server, once running handlers have finished and
  /// what they answered was handed to the sockets. For a process that is about to die; any thread.
  void drain(platform::Task done);

  /// Any thread.
  std::vector<ConnectionInfo> connections() const;
  /// Whether a connection of that id is there: a look at all of them.
  bool isConnected(std::string_view connectionId) const;
  ServerLoad load() const;

  /// Core is shared by the tasks on the executors; private to the folder.
  class Core;

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace tidemark::network
