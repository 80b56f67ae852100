#pragma once

#include <string_view>

#include "protocol/api.h"
#include "protocol/generated/request_header.h"
#include "protocol/generated/response_header.h"
#include "protocol/message.h"

/// What stands around a message: length prefix and headers on a connection, type and version in a log.
namespace tidemark::protocol {

// --- On a connection ---------------------------------------------------------------------------------------------

/// Bytes of the length prefix (int32, big-endian, not counting itself).
inline constexpr size_t kFrameLengthSize = 4;

/// Takes the header off a request frame (without its length prefix); the body follows in the reader. The header's
/// version comes from the API key and version inside it; a key that no API has is InvalidRequest. The version may be
/// one that is not served: ask apiInfo().
Result<RequestHeader> decodeRequestHeader(Reader& frame);
Result<void> writeRequestHeader(FrameWriter& writer, const RequestHeader& header);
/// For the response to a request of that key and version.
Result<ResponseHeader> decodeResponseHeader(Reader& frame, ApiKey key, int16_t version);
Result<void> writeResponseHeader(FrameWriter& writer, ApiKey key, int16_t version, int32_t correlationId);

/// Length prefix, header and body of a request, ready to be sent.
Result<void> writeRequestFrame(FrameWriter& writer, ApiKey key, OutMessage request, int16_t version,
                               int32_t correlationId, std::string_view clientId);
template <class Request>
Result<void> writeRequestFrame(FrameWriter& writer, const Request& request, int16_t version, int32_t correlationId,
                               std::string_view clientId) {
  return writeRequestFrame(writer, Request::kApiKey, OutMessage::of(request), version, correlationId, clientId);
}

/// Length prefix, header and body of a response, ready to be sent.
Result<void> writeResponseFrame(FrameWriter& writer, ApiKey key, OutMessage response, int16_t version,
                                int32_t correlationId);
template <class Response>
Result<void> writeResponseFrame(FrameWriter& writer, const Response& response, int16_t version, int32_t correlationId) {
  return writeResponseFrame(writer, Response::kApiKey, OutMessage::of(response), version, correlationId);
}

// --- In a log ----------------------------------------------------------------------------------------------------

/// A framed record taken apart: the body follows as `body`.
struct FramedRecord {
  int16_t type = 0;
  int16_t version = 0;
  ByteView body;
};

/// The value of a record of `__cluster_metadata` or `__remote_log_metadata` (their types are apart): unsigned varints 1
/// (the frame's version), type and version, then the body. `Record::kRecordType` says the type.
Result<FramedRecord> decodeMetadataFrame(ByteView value);
void writeMetadataFrame(FrameWriter& writer, int16_t type, int16_t version);
/// The key of a coordinator's record (`__consumer_offsets`, `__transaction_state`, `__share_group_state`): int16 type,
/// then the body, whose version is always 0. `version` is set to 0.
Result<FramedRecord> decodeCoordinatorKey(ByteView key);
/// The value of a coordinator's record, of ConsumerProtocol* and of DefaultPrincipalData: int16 version, then the body.
/// `type` is left 0.
Result<FramedRecord> decodeVersioned(ByteView value);

Result<ByteVector> encodeMetadataRecord(int16_t type, OutMessage record, int16_t version);
template <class Record>
Result<ByteVector> encodeMetadataRecord(const Record& record, int16_t version) {
  return encodeMetadataRecord(Record::kRecordType, OutMessage::of(record), version);
}
/// `lead` stands before the body.
Result<ByteVector> encodeAfter(int16_t lead, OutMessage message, int16_t version);
template <class Key>
Result<ByteVector> encodeCoordinatorKey(const Key& key) {
  return encodeAfter(Key::kRecordType, OutMessage::of(key), 0);
}
template <class M>
Result<ByteVector> encodeVersioned(const M& message, int16_t version) {
  return encodeAfter(version, OutMessage::of(message), version);
}
/// The counterpart for a type that is known: strict about trailing bytes.
template <class M>
Result<M> decodeVersionedAs(ByteView value) {
  TIDEMARK_ASSIGN(const FramedRecord framed, decodeVersioned(value));
  return decode<M>(framed.body, framed.version);
}

}  // namespace tidemark::protocol
