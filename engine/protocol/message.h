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

/// Takes a message off the front of what the reader has left. Its strings, bytes and records refer to the frame.
/// The error names the field and the position: InvalidRequest for requests, CorruptMessage for the rest,
/// UnsupportedVersion for a version that the message does not have.
template <class M>
Result<M> decode(Reader& reader, int16_t version) {
  M message;
  if (Result<void> read = message.read(reader, version); !read) return std::unexpected(std::move(read).error());
  return message;
}

namespace detail {
Error trailingBytes(const MessageSchema& schema, const Reader& reader);
}  // namespace detail

/// The same for bytes that hold one message and nothing else: trailing bytes are an error.
template <class M>
Result<M> decode(ByteView bytes, int16_t version) {
  Reader reader(bytes);
  Result<M> message = decode<M>(reader, version);
  if (message && reader.remaining() != 0) return std::unexpected(detail::trailingBytes(M::schema(), reader));
  return message;
}

/// The bytes that write() would write, records included, or why it refuses.
template <class M>
Result<size_t> encodedSize(const M& message, int16_t version) {
  FrameWriter counter{FrameWriter::CountOnly()};
  if (Result<void> written = message.write(counter, version); !written)
    return std::unexpected(std::move(written).error());
  return counter.size();
}

/// The body in one piece of memory (for tests, files and nested messages).
template <class M>
Result<ByteVector> encode(const M& message, int16_t version) {
  FrameWriter writer;
  if (Result<void> written = message.write(writer, version); !written)
    return std::unexpected(std::move(written).error());
  return writer.takeBytes();
}

}  // namespace tidemark::protocol
