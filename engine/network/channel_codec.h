#pragma once

#include <utility>

#include "network/channel.h"
#include "protocol/framing.h"

/// The template of channel.h, apart from it since it needs the codecs, and its halves for who stands in between.
namespace tidemark::network {

/// The versions of an API that this program sends: the stable ones.
inline ApiRange ourVersions(protocol::ApiKey key) noexcept {
  const protocol::ApiInfo& info = protocol::apiInfo(key);
  return {key, info.versions.first, info.maxStable};
}

Result<std::vector<platform::Piece>> encodeFrame(protocol::ApiKey key, protocol::OutMessage request, int16_t version,
                                                 int32_t correlationId, std::string_view clientId);
/// Reads `message`, whose frame and version are told, unless there is none to be answered.
Result<void> takeAnswer(Result<RawResponse> answer, protocol::InMessage message, FramePtr& frame, int16_t& version);

/// `request` without its type; `keep` as in Channel::send().
template <class Request>
RawRequest rawRequest(Request request, std::shared_ptr<const void> keep = {}) {
  return {ourVersions(Request::kApiKey), [request = std::move(request), keep = std::move(keep)](
                                             int16_t version, int32_t correlationId, std::string_view clientId) {
            return encodeFrame(Request::kApiKey, protocol::OutMessage::of(request), version, correlationId, clientId);
          }};
}

/// The answer with its type.
template <class Response>
Result<Received<Response>> decodeAnswer(Result<RawResponse> answer) {
  Result<Received<Response>> received;
  if (Result<void> taken =
          takeAnswer(std::move(answer), protocol::InMessage::of(received->message), received->frame, received->version);
      !taken)
    received = std::unexpected(std::move(taken).error());
  return received;
}

/// `handler`, void(Result<Received<Response>>), as one for answers that are not decoded yet.
template <class Response, class Handler>
RawHandler rawHandler(Handler handler) {
  return [handler = std::move(handler)](Result<RawResponse> answer) mutable {
    handler(decodeAnswer<Response>(std::move(answer)));
  };
}

template <class Request, class Handler>
void Channel::send(Request request, SendOptions options, Handler handler, std::shared_ptr<const void> keep) {
  sendRaw(rawRequest(std::move(request), std::move(keep)), options,
          rawHandler<typename Request::Response>(std::move(handler)));
}

}  // namespace tidemark::network
