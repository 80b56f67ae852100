#include "network/server_fixture.h"

#include "protocol/generated/heartbeat_request.h"
#include "protocol/generated/heartbeat_response.h"

namespace tidemark::test {

using protocol::ApiKey;

void Watch::connectionOpened(const network::Peer& /*peer*/) {
  stage_->change([&] { ++open; });
}

void Watch::connectionClosed(const network::Peer& /*peer*/, std::string_view /*reason*/) {
  stage_->change([&] { --open; });
}

void Watch::connectionMuted(const network::Peer& /*peer*/, std::string_view reason) {
  stage_->change([&] { ++mutes[std::string(reason)]; });
}

void Watch::requestBegun(const network::RequestContext& context) {
  stage_->change([&] { steps.push_back("begun " + std::to_string(context.correlationId)); });
}

void Watch::responseSent(const network::RequestContext& context, uint64_t /*bytes*/) {
  stage_->change([&] { steps.push_back("sent " + std::to_string(context.correlationId)); });
}

network::ServerOptions ServerTest::defaults() {
  network::ServerOptions options;
  options.observer = &watch;
  options.listeners = {{.name = "PLAINTEXT", .endpoint = {stage->isSimulated() ? "server" : "127.0.0.1", 0}}};
  options.apis = network::ApiTable{
      {ApiKey::Heartbeat, 0, 4}, {ApiKey::Fetch, 4, 18}, {ApiKey::Produce, 3, 13}, {ApiKey::ApiVersions, 0, 4}};
  options.numProcessors = 2;
  options.numHandlers = 2;
  return options;
}

void ServerTest::startServer(network::ServerOptions options) {
  serverProcess = process("server");
  clientProcess = process("client");
  server = std::make_unique<network::Server>(*serverProcess, std::move(options), *this);
  const auto started = server->start();
  ASSERT_TRUE(started.has_value()) << started.error().message;
  ASSERT_NE(at().port, 0);
}

std::unique_ptr<Peer> ServerTest::connect() {
  auto peer = std::make_unique<Peer>(*stage, *clientProcess, at());
  EXPECT_TRUE(await([&] { return peer->connected(); }));
  return peer;
}

void ServerTest::handle(network::RequestPtr request) {
  if (script) {
    script(std::move(request));
  } else if (request->apiKey() == ApiKey::Heartbeat) {
    answerHeartbeat(*request);
  } else {
    stage->change([&] { parked.push_back(std::move(request)); });
  }
}

void ServerTest::answerHeartbeat(network::Request& request, int16_t error, network::Request::Throttle throttle) {
  protocol::HeartbeatResponse response;
  response.errorCode = error;
  request.respond(response, throttle);
}

network::RequestPtr ServerTest::takeParked() {
  network::RequestPtr request;
  EXPECT_TRUE(await([&] { return !parked.empty(); }));
  stage->change([&] {
    request = std::move(parked.front());
    parked.erase(parked.begin());
  });
  return request;
}

ByteVector heartbeat(int32_t correlationId, size_t payload, std::string_view clientId) {
  protocol::HeartbeatRequest request;
  request.groupId = std::string(std::min<size_t>(payload, 30'000), 'g');
  request.memberId = std::string(payload > 30'000 ? payload - 30'000 : 0, 'm');
  return requestBytes(request, 0, correlationId, clientId);
}

}  // namespace tidemark::test
