#pragma once

#include "network/request.h"
#include "protocol/framing.h"

/// The templates of request.h, apart from it since they need the codecs.
namespace tidemark::network {

template <class Message>
Result<Message> Request::decode() const {
  Result<Message> message;
  if (Result<void> read = decodeInto(protocol::InMessage::of(*message)); !read)
    message = std::unexpected(std::move(read).error());
  return message;
}

template <class Message>
void Request::respond(const Message& message, Throttle throttle) {
  respondWith(Message::kApiKey, protocol::OutMessage::of(message), throttle);
}

}  // namespace tidemark::network
