#pragma once

#include <utility>

#include "network/channel.h"
#include "protocol/framing.h"

/// The template of channel.h, apart from it since it needs the codecs.
namespace tidemark::network {

/// The versions of an API that this program sends: the stable ones.
inline ApiRange ourVersions(protocol::ApiKey key) noexcept {
  const protocol::ApiInfo& info = protocol::apiInfo(key);
  return {key, info.versions.first, info.maxStable};
}

template <class Request, class Handler>
void Channel::send(Request request, SendOptions options, Handler handler, std::shared_ptr<const void> keep) {
  using Response = typename Request::Response;
  auto encode = [request = std::move(request), keep = std::move(keep)](
                    int16_t version, int32_t correlationId,
                    std::string_view clientId) -> Result<std::vector<platform::Piece>> {
    protocol::FrameWriter writer(256);
    TIDEMARK_TRY(protocol::writeRequestFrame(writer, request, version, correlationId, clientId));
    return writer.takePieces();
  };
  const bool answered = options.expectResponse;
  auto decode = [handler = std::move(handler), answered](Result<RawResponse> raw) mutable {
    if (!raw) return handler(Result<Received<Response>>(std::unexpected(std::move(raw).error())));
    Received<Response> received{.message = {}, .frame = std::move(raw->frame), .version = raw->version};
    if (answered) {
      Result<Response> message = protocol::decode<Response>(raw->body, raw->version);
      if (!message)
        return handler(Result<Received<Response>>(fail(ErrorCode::CorruptMessage, std::move(message).error().message)));
      received.message = std::move(*message);
    }
    handler(Result<Received<Response>>(std::move(received)));
  };
  sendRaw(ourVersions(Request::kApiKey), options, std::move(encode), std::move(decode));
}

}  // namespace tidemark::network
