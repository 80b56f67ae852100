#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "network/stage.h"
#include "platform/process.h"
#include "protocol/framing.h"

namespace tidemark::test {

/// A client that sends whatever bytes it is told to and keeps what comes back. Called by the test's thread; its fields
/// are read inside Stage::await() predicates.
class Peer {
 public:
  Peer(Stage& stage, platform::Process& process, platform::Endpoint server);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Queues bytes; they are sent in order once connected.
  void send(ByteVector bytes);
  /// Closes the whole connection. The seam offers no half close.
  void close();
  /// Stops reading until resumed.
  void stopReading();
  void goOnReading();

  // Only inside Stage::await() and change().
  bool connected() const;
  bool closed() const;
  const ByteVector& received() const;
  /// Complete frames that came, without their lengths.
  std::vector<ByteVector> frames() const;
  std::vector<int32_t> correlationIds() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A whole frame: length, header, body.
template <class Request>
ByteVector requestBytes(const Request& request, int16_t version, int32_t correlationId,
                        std::string_view clientId = "peer") {
  protocol::FrameWriter writer;
  EXPECT_TRUE(protocol::writeRequestFrame(writer, request, version, correlationId, clientId).has_value());
  return *writer.takeBytes();
}

/// A frame that holds just these bytes.
ByteVector framed(ByteView bytes);

ByteVector operator+(ByteVector a, const ByteVector& b);

/// The body of an answer frame.
template <class Response>
Response answerOf(ByteView frame, int16_t version) {
  protocol::Reader reader(frame);
  EXPECT_TRUE(protocol::decodeResponseHeader(reader, Response::kApiKey, version).has_value());
  auto response = protocol::decode<Response>(reader.rest(), version);
  EXPECT_TRUE(response.has_value()) << (response ? "" : response.error().message);
  return response ? *response : Response();  // Copied: owns.
}

}  // namespace tidemark::test
