#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
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

/// One message type with its type forgotten.
struct AnyMessage {
  std::string_view name;
  /// Decodes, strictly, and nothing else.
  Result<void> (*decode)(ByteView bytes, int16_t version);
  /// What decoding and encoding again gives.
  Result<ByteVector> (*again)(ByteView bytes, int16_t version);
  /// encodedSize() of what was decoded.
  Result<size_t> (*size)(ByteView bytes, int16_t version);
  /// Decodes a temporary copy of the bytes, copies the message, overwrites the bytes, encodes the copy.
  Result<ByteVector> (*copied)(ByteView bytes, int16_t version);
  /// Whether decoding twice gives equal messages and differs from a message of defaults exactly if `bytes` do.
  Result<bool> (*equal)(ByteView bytes, int16_t version);
  /// What the framing of its kind gives for the decoded message; empty for a kind without one.
  Result<ByteVector> (*framed)(ByteView bytes, int16_t version);
};

const AnyMessage& anyMessage(std::string_view name);

ByteVector fromHex(std::string_view hex);
std::string toHex(ByteView bytes);

}  // namespace tidemark::protocol::test
