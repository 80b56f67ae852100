#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network/peer.h"
#include "network/request_codec.h"
#include "network/server.h"
#include "network/stage.h"

namespace tidemark::test {

/// A server whose handler does what the test says.
class ServerTest : public OnEachPlatform, public network::RequestHandler {
 protected:
  ~ServerTest() override {
    killAll();
    parked.clear();
    server.reset();
  }

  network::ServerOptions defaults();
  void startServer(network::ServerOptions options);
  void startServer() { startServer(defaults()); }
  platform::Endpoint at() { return server->endpoint("PLAINTEXT"); }
  std::unique_ptr<Peer> connect();

  /// Without a script: an empty answer to Heartbeat, the request is parked otherwise.
  void handle(network::RequestPtr request) override;
  /// Answers Heartbeat requests with this error code.
  static void answerHeartbeat(network::Request& request, int16_t error = 0, network::Request::Throttle throttle = {});
  /// Takes the oldest parked request out.
  network::RequestPtr takeParked();

  std::function<void(network::RequestPtr)> script;
  std::vector<network::RequestPtr> parked;  ///< Only inside await() and change().
  int handled = 0;                          ///< Only inside await() and change().
  std::shared_ptr<platform::Process> serverProcess;
  std::shared_ptr<platform::Process> clientProcess;
  std::unique_ptr<network::Server> server;
};

/// Heartbeat 0: an API with a small answer. `payload` makes the request larger.
ByteVector heartbeat(int32_t correlationId, size_t payload = 0, std::string_view clientId = "peer");

}  // namespace tidemark::test
