#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/fields.h"
#include "protocol/reflect.h"

namespace tidemark::protocol::test {

/// A line of tests/data/wire: bytes that Apache Kafka wrote, with what they mean.
struct WireVector {
  std::string message;
  int16_t version = 0;
  std::string variant;
  std::string json;
  ByteVector bytes;
  /// As in a log or a blob; empty if the line has none.
  ByteVector framed;
  const MessageSchema* schema = nullptr;

  std::string title() const;
};

/// All of them, read once.
const std::vector<WireVector>& wireVectors();

/// One message type with its type forgotten: what needs the type, and on top of it what the tests ask.
struct AnyMessage {
  std::string_view name;
  /// Of one object: plain functions, as hundreds of types have them.
  void* (*construct)();
  void* (*clone)(const void* message);
  void (*destroy)(void* message);
  bool (*same)(const void* a, const void* b);
  Result<void> (*read)(void* message, Reader& reader, int16_t version);
  Result<void> (*write)(const void* message, FrameWriter& writer, int16_t version);
  const MessageSchema& (*schema)() noexcept;

  std::shared_ptr<void> make() const { return {construct(), destroy}; }
  std::shared_ptr<void> copy(const void* message) const { return {clone(message), destroy}; }
  /// Strictly: trailing bytes are an error.
  Result<std::shared_ptr<void>> decode(ByteView bytes, int16_t version) const;
  Result<ByteVector> encode(const void* message, int16_t version) const;
  /// What decoding and encoding again gives.
  Result<ByteVector> again(ByteView bytes, int16_t version) const;
  /// The size of what was decoded, by counting.
  Result<size_t> size(ByteView bytes, int16_t version) const;
  /// Decodes a temporary copy of the bytes, copies the message, overwrites the bytes, encodes the copy.
  Result<ByteVector> copied(ByteView bytes, int16_t version) const;
  /// Whether decoding twice gives equal messages, and one equal to a message of defaults exactly if `bytes` are its.
  Result<bool> equal(ByteView bytes, int16_t version) const;
};

const AnyMessage& anyMessage(std::string_view name);

ByteVector fromHex(std::string_view hex);
std::string toHex(ByteView bytes);

}  // namespace tidemark::protocol::test
