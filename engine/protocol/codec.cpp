#include "protocol/codec.h"

#include <fmt/format.h>

#include "protocol/reflect.h"

namespace tidemark::protocol {
namespace {

template <class T>
void putNumbers(FrameWriter& writer, bool flexible, const std::vector<T>& array, void (FrameWriter::*put)(T)) {
  writer.arrayLength(array.size(), flexible);
  for (const T element : array) (writer.*put)(element);
}

template <class T>
void takeNumbers(Reader& reader, bool flexible, std::vector<T>& array) {
  const size_t count = reader.arrayLength(flexible, sizeof(T));
  const ByteView bytes = reader.bytes(count * sizeof(T));
  if (!reader.ok()) return;
  array.resize(count);
  for (size_t i = 0; i < count; ++i) array[i] = readBigEndian<T>(bytes.data() + i * sizeof(T));
}

}  // namespace

void putArray(FrameWriter& writer, bool flexible, const std::vector<int8_t>& array) {
  putNumbers(writer, flexible, array, &FrameWriter::int8);
}
void putArray(FrameWriter& writer, bool flexible, const std::vector<int16_t>& array) {
  putNumbers(writer, flexible, array, &FrameWriter::int16);
}
void putArray(FrameWriter& writer, bool flexible, const std::vector<int32_t>& array) {
  putNumbers(writer, flexible, array, &FrameWriter::int32);
}
void putArray(FrameWriter& writer, bool flexible, const std::vector<int64_t>& array) {
  putNumbers(writer, flexible, array, &FrameWriter::int64);
}
void putArray(FrameWriter& writer, bool flexible, const std::vector<Uuid>& array) {
  writer.arrayLength(array.size(), flexible);
  for (const Uuid& element : array) writer.uuid(element);
}
void putArray(FrameWriter& writer, bool flexible, const std::vector<Text>& array) {
  writer.arrayLength(array.size(), flexible);
  for (const Text& element : array) writer.text(element.view(), flexible);
}

void takeArray(Reader& reader, bool flexible, std::vector<int8_t>& array) {
  takeNumbers(reader, flexible, array);
}
void takeArray(Reader& reader, bool flexible, std::vector<int16_t>& array) {
  takeNumbers(reader, flexible, array);
}
void takeArray(Reader& reader, bool flexible, std::vector<int32_t>& array) {
  takeNumbers(reader, flexible, array);
}
void takeArray(Reader& reader, bool flexible, std::vector<int64_t>& array) {
  takeNumbers(reader, flexible, array);
}
void takeArray(Reader& reader, bool flexible, std::vector<Uuid>& array) {
  size_t count = reader.arrayLength(flexible, sizeof(Uuid));
  array.reserve(count);
  for (; count > 0 && reader.ok(); --count) array.push_back(reader.uuid());
}
void takeArray(Reader& reader, bool flexible, std::vector<Text>& array) {
  size_t count = reader.arrayLength(flexible, flexible ? 1 : 2);
  array.reserve(std::min(count, kMaxReservedBytes / sizeof(Text)));
  for (; count > 0 && reader.ok(); --count) array.push_back(reader.text(flexible));
}

bool takeNullArray(Reader& reader, bool flexible) noexcept {
  Reader ahead = reader;
  if (ahead.nullableArrayLength(flexible, 0).has_value() || !ahead.ok()) return false;
  reader = ahead;
  return true;
}

Result<void> checkVersion(const MessageSchema& schema, int16_t version) {
  if (schema.versions.contains(version)) [[likely]]
    return {};
  return fail(ErrorCode::UnsupportedVersion, fmt::format("{} has the versions {} to {}, not {}", schema.name,
                                                         schema.versions.first, schema.versions.last, version));
}

Result<void> readResult(const MessageSchema& schema, const Reader& reader, size_t start, int16_t version) {
  if (reader.ok()) [[likely]]
    return {};
  // Nothing on the way keeps the field's name; a second walk over the same bytes fails at the same place and knows it.
  Visitor nobody;
  if (Result<size_t> walked = walk(reader.frame().subspan(start), schema, version, nobody); !walked)
    return std::unexpected(std::move(walked).error());
  return fail(reader.error());
}

Result<size_t> encodedSize(OutMessage message, int16_t version) {
  FrameWriter counter{FrameWriter::CountOnly()};
  TIDEMARK_TRY(message.write(message.message, counter, version));
  return counter.size();
}

Result<ByteVector> encode(OutMessage message, int16_t version) {
  FrameWriter writer;
  TIDEMARK_TRY(message.write(message.message, writer, version));
  return writer.takeBytes();
}

Result<void> readWhole(InMessage message, ByteView bytes, int16_t version) {
  Reader reader(bytes);
  TIDEMARK_TRY(message.read(message.message, reader, version));
  if (reader.remaining() != 0) return fail(detail::trailingBytes(message.schema(), reader));
  return {};
}

Error detail::trailingBytes(const MessageSchema& schema, const Reader& reader) {
  return {schema.kind == MessageKind::Request ? ErrorCode::InvalidRequest : ErrorCode::CorruptMessage,
          fmt::format("{} ends at byte {}, but {} more follow", schema.name, reader.position(), reader.remaining())};
}

}  // namespace tidemark::protocol
