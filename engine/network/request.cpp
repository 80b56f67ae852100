#include "network/request.h"

#include <string>

#include <fmt/format.h>

#include "base/invariant.h"
#include "protocol/api.h"
#include "protocol/framing.h"

namespace tidemark::network {

Request::Request(std::shared_ptr<AnswerSink> sink, RequestContext context, FramePtr frame, size_t bodyOffset)
    : sink_(std::move(sink)),
      context_(std::move(context)),
      frame_(std::move(frame)),
      body_(frame_->mutableBytes().subspan(bodyOffset)) {}

Request::~Request() {
  if (sink_) finish({.kind = Answer::Kind::Close, .reason = "its request was dropped without an answer"});
}

void Request::releaseFrame() noexcept {
  body_ = {};
  frame_.reset();
}

Result<void> Request::decodeInto(protocol::InMessage message) const {
  // What follows the message is ignored, as Kafka does: librdkafka pads its Metadata requests.
  protocol::Reader reader{ByteView(body_)};
  return message.read(message.message, reader, context_.apiVersion);
}

void Request::respondWith(protocol::ApiKey key, protocol::OutMessage message, Throttle throttle) {
  protocol::FrameWriter writer(256);
  const Result<void> written =
      protocol::writeResponseFrame(writer, key, message, context_.apiVersion, context_.correlationId);
  if (!written) return close("the answer does not fit the request's version: " + written.error().message);
  respondPieces(writer.takePieces(), throttle);
}

void Request::respondPieces(std::vector<platform::Piece> pieces, Throttle throttle) {
  finish({.kind = Answer::Kind::Response, .pieces = std::move(pieces), .throttle = throttle});
}

void Request::noResponse(Throttle throttle) {
  finish({.kind = Answer::Kind::NoResponse, .throttle = throttle});
}

void Request::close(std::string_view reason) {
  finish({.kind = Answer::Kind::Close,
          .reason = fmt::format("{} v{}: {}", protocol::apiName(context_.apiKey), context_.apiVersion, reason)});
}

void Request::finish(Answer answer) {
  TIDEMARK_INVARIANT(sink_ != nullptr, std::string("a request is answered twice"));
  releaseFrame();
  const auto sink = std::move(sink_);
  sink->answer(std::move(answer));
}

}  // namespace tidemark::network
