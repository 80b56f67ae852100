#pragma once

#include "network/request.h"
#include "protocol/framing.h"

/// The templates of request.h, apart from it since they need the codecs.
namespace tidemark::network {

template <class Message>
Result<Message> Request::decode() const {
  // What follows the message is ignored, as Kafka does: librdkafka pads its Metadata requests.
  protocol::Reader reader{ByteView(body_)};
  return protocol::decode<Message>(reader, context_.apiVersion);
}

template <class Message>
void Request::respond(const Message& message, Throttle throttle) {
  protocol::FrameWriter writer(256);
  const Result<void> written =
      protocol::writeResponseFrame(writer, message, context_.apiVersion, context_.correlationId);
  if (!written) return close("the answer does not fit the request's version: " + written.error().message);
  respondPieces(writer.takePieces(), throttle);
}

}  // namespace tidemark::network
