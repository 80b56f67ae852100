#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/reader.h"
#include "protocol/writer.h"

/// What every generated message M can do, as templates over it. A message is a plain struct with
///   kName, kMinVersion, kMaxVersion, kFlexibleFrom; requests and responses also kApiKey, requests `Response`,
///   responses `Request`; metadata and coordinator records kRecordType;
///   Result<void> write(FrameWriter&, int16_t version) const;   // the body, no header
///   Result<void> read(Reader&, int16_t version);               // into a fresh object
///   static const MessageSchema& schema();
/// Versions are Kafka's for that message (metadata and coordinator records: the record's version).
namespace tidemark::protocol {

/// A message of whatever type that is to be written: what is done around its write() is compiled once, not for each
/// type.
struct OutMessage {
  const void* message;
  Result<void> (*write)(const void* message, FrameWriter& writer, int16_t version);

  template <class M>
  static OutMessage of(const M& message) {
    return {&message, [](const void* it, FrameWriter& writer, int16_t version) {
              return static_cast<const M*>(it)->write(writer, version);
            }};
  }
};

/// The same for one that is to be read, into a fresh object.
struct InMessage {
  void* message;
  Result<void> (*read)(void* message, Reader& reader, int16_t version);
  const MessageSchema& (*schema)();

  template <class M>
  static InMessage of(M& message) {
    return {&message,
            [](void* it, Reader& reader, int16_t version) { return static_cast<M*>(it)->read(reader, version); },
            &M::schema};
  }
};

/// Takes a message off the front of what the reader has left. Its strings, bytes and records refer to the frame.
/// The error names the field and the position: InvalidRequest for requests, CorruptMessage for the rest,
/// UnsupportedVersion for a version that the message does not have.
template <class M>
Result<M> decode(Reader& reader, int16_t version) {
  Result<M> message;
  if (Result<void> read = message->read(reader, version); !read) message = std::unexpected(std::move(read).error());
  return message;
}

namespace detail {
Error trailingBytes(const MessageSchema& schema, const Reader& reader);
}  // namespace detail

/// The same for bytes that hold one message and nothing else: trailing bytes are an error.
Result<void> readWhole(InMessage message, ByteView bytes, int16_t version);
template <class M>
Result<M> decode(ByteView bytes, int16_t version) {
  Result<M> message;
  if (Result<void> read = readWhole(InMessage::of(*message), bytes, version); !read)
    message = std::unexpected(std::move(read).error());
  return message;
}

/// The bytes that write() would write, records included, or why it refuses.
Result<size_t> encodedSize(OutMessage message, int16_t version);
template <class M>
Result<size_t> encodedSize(const M& message, int16_t version) {
  return encodedSize(OutMessage::of(message), version);
}

/// The body in one piece of memory (for tests, files and nested messages).
Result<ByteVector> encode(OutMessage message, int16_t version);
template <class M>
Result<ByteVector> encode(const M& message, int16_t version) {
  return encode(OutMessage::of(message), version);
}

}  // namespace tidemark::protocol
