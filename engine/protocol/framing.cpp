#include "protocol/framing.h"

#include <fmt/format.h>

namespace tidemark::protocol {
namespace {

/// The version that stands in front of every value of the metadata log.
constexpr uint32_t kMetadataFrameVersion = 1;

Result<int16_t> leadingInt16(Reader& reader, std::string_view what) {
  const int16_t value = reader.int16();
  if (!reader.ok())
    return fail(ErrorCode::CorruptMessage, fmt::format("{} bytes are too few for a {}", reader.frame().size(), what));
  if (value < 0) return fail(ErrorCode::CorruptMessage, fmt::format("{} {} is negative", what, value));
  return value;
}

}  // namespace

Result<RequestHeader> decodeRequestHeader(Reader& frame) {
  // Key and version stand first in every header and say which header it is.
  Reader ahead = frame;
  const int16_t key = ahead.int16();
  const int16_t version = ahead.int16();
  if (!ahead.ok())
    return fail(ErrorCode::InvalidRequest, fmt::format("{} bytes are too few for a request header", frame.remaining()));
  const ApiInfo* api = findApi(key);
  if (api == nullptr) return fail(ErrorCode::InvalidRequest, fmt::format("no API has the key {}", key));
  return decode<RequestHeader>(frame, requestHeaderVersion(api->key, version));
}

Result<void> writeRequestHeader(FrameWriter& writer, const RequestHeader& header) {
  const ApiInfo* api = findApi(header.requestApiKey);
  if (api == nullptr)
    return fail(ErrorCode::InvalidRequest, fmt::format("no API has the key {}", header.requestApiKey));
  return header.write(writer, requestHeaderVersion(api->key, header.requestApiVersion));
}

Result<ResponseHeader> decodeResponseHeader(Reader& frame, ApiKey key, int16_t version) {
  return decode<ResponseHeader>(frame, responseHeaderVersion(key, version));
}

Result<void> writeResponseHeader(FrameWriter& writer, ApiKey key, int16_t version, int32_t correlationId) {
  return ResponseHeader{.correlationId = correlationId}.write(writer, responseHeaderVersion(key, version));
}

Result<void> writeRequestFrame(FrameWriter& writer, ApiKey key, OutMessage request, int16_t version,
                               int32_t correlationId, std::string_view clientId) {
  const size_t mark = writer.beginFrame();
  TIDEMARK_TRY(writeRequestHeader(writer, {.requestApiKey = static_cast<int16_t>(key),
                                           .requestApiVersion = version,
                                           .correlationId = correlationId,
                                           .clientId = Text::borrowed(clientId)}));
  TIDEMARK_TRY(request.write(request.message, writer, version));
  writer.endFrame(mark);
  return {};
}

Result<void> writeResponseFrame(FrameWriter& writer, ApiKey key, OutMessage response, int16_t version,
                                int32_t correlationId) {
  const size_t mark = writer.beginFrame();
  TIDEMARK_TRY(writeResponseHeader(writer, key, version, correlationId));
  TIDEMARK_TRY(response.write(response.message, writer, version));
  writer.endFrame(mark);
  return {};
}

Result<ByteVector> encodeMetadataRecord(int16_t type, OutMessage record, int16_t version) {
  FrameWriter writer;
  writeMetadataFrame(writer, type, version);
  TIDEMARK_TRY(record.write(record.message, writer, version));
  return writer.takeBytes();
}

Result<ByteVector> encodeAfter(int16_t lead, OutMessage message, int16_t version) {
  FrameWriter writer;
  writer.int16(lead);
  TIDEMARK_TRY(message.write(message.message, writer, version));
  return writer.takeBytes();
}

Result<FramedRecord> decodeMetadataFrame(ByteView value) {
  Reader reader(value);
  const uint32_t frame = reader.unsignedVarint();
  if (reader.ok() && frame != kMetadataFrameVersion)
    return fail(ErrorCode::CorruptMessage,
                fmt::format("a metadata record's frame has version {}, not {}", frame, kMetadataFrameVersion));
  const uint32_t type = reader.unsignedVarint();
  const uint32_t version = reader.unsignedVarint();
  if (!reader.ok()) return fail(reader.error());
  if (type > INT16_MAX || version > INT16_MAX)
    return fail(ErrorCode::CorruptMessage,
                fmt::format("a record of type {} and version {}: both end at {}", type, version, INT16_MAX));
  return FramedRecord{static_cast<int16_t>(type), static_cast<int16_t>(version), reader.rest()};
}

void writeMetadataFrame(FrameWriter& writer, int16_t type, int16_t version) {
  writer.unsignedVarint(kMetadataFrameVersion);
  writer.unsignedVarint(static_cast<uint32_t>(type));
  writer.unsignedVarint(static_cast<uint32_t>(version));
}

Result<FramedRecord> decodeCoordinatorKey(ByteView key) {
  Reader reader(key);
  TIDEMARK_ASSIGN(const int16_t type, leadingInt16(reader, "record type"));
  return FramedRecord{type, 0, reader.rest()};
}

Result<FramedRecord> decodeVersioned(ByteView value) {
  Reader reader(value);
  TIDEMARK_ASSIGN(const int16_t version, leadingInt16(reader, "version"));
  return FramedRecord{0, version, reader.rest()};
}

}  // namespace tidemark::protocol
