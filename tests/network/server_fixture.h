#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network/peer.h"
#include "network/request_codec.h"
#include "network/server.h"
#include "network/stage.h"

namespace tidemark::test {

/// Wakes the test when something happened, and counts.
class Watch final : public network::ServerObserver {
 public:
  explicit Watch(std::unique_ptr<Stage>& stage) : stage_(stage) {}
  void connectionOpened(const network::Peer& peer) override;
  void connectionClosed(const network::Peer& peer, std::string_view reason) override;
  void connectionMuted(const network::Peer& peer, std::string_view reason) override;
  void requestBegun(const network::RequestContext& context) override;
  void responseSent(const network::RequestContext& context, uint64_t bytes) override;

  // Only inside await() and change().
  int open = 0;
  std::map<std::string, int> mutes;
  /// "begun 7", "sent 7": by the correlation id.
  std::vector<std::string> steps;

 private:
  std::unique_ptr<Stage>& stage_;
};

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
  bool isQuick(protocol::ApiKey /*key*/) const override { return quick; }
  /// Answers Heartbeat requests with this error code.
  static void answerHeartbeat(network::Request& request, int16_t error = 0, network::Request::Throttle throttle = {});
  /// Takes the oldest parked request out.
  network::RequestPtr takeParked();

  std::function<void(network::RequestPtr)> script;
  bool quick = false;
  std::vector<network::RequestPtr> parked;  ///< Only inside await() and change().
  Watch watch{stage};
  std::shared_ptr<platform::Process> serverProcess;
  std::shared_ptr<platform::Process> clientProcess;
  std::unique_ptr<network::Server> server;
};

/// Heartbeat 0: an API with a small answer. `payload` makes the request larger.
ByteVector heartbeat(int32_t correlationId, size_t payload = 0, std::string_view clientId = "peer");

}  // namespace tidemark::test
