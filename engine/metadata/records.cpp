#include "metadata/records.h"

#include <fmt/format.h>

#include "protocol/framing.h"

namespace tidemark::metadata {
namespace {

template <size_t index = 0>
Result<RecordBody> decodeBody(const protocol::FramedRecord& framed) {
  if constexpr (index == std::variant_size_v<RecordBody>) {
    return fail(ErrorCode::CorruptMessage, fmt::format("Metadata records of type {} are not known", framed.type));
  } else {
    using Body = std::variant_alternative_t<index, RecordBody>;
    if (framed.type != Body::kRecordType) return decodeBody<index + 1>(framed);
    TIDEMARK_ASSIGN(Body body, protocol::decode<Body>(framed.body, framed.version));
    return RecordBody(std::move(body));
  }
}

}  // namespace

Record::Record(RecordBody bodyOfAnyType, int16_t versionOfBody) : body(std::move(bodyOfAnyType)), version(versionOfBody) {}
Record::Record(const Record&) = default;
Record::Record(Record&&) noexcept = default;
Record& Record::operator=(const Record&) = default;
Record& Record::operator=(Record&&) noexcept = default;
Record::~Record() = default;

std::string_view recordName(const Record& record) noexcept {
  return std::visit([](const auto& body) { return body.kName; }, record.body);
}

Result<ByteVector> encodeRecord(const Record& record) {
  return std::visit([&](const auto& body) { return protocol::encodeMetadataRecord(body, record.version); },
                    record.body);
}

Result<std::vector<ByteVector>> encodeRecords(const Records& records) {
  std::vector<ByteVector> encoded;
  encoded.reserve(records.size());
  for (const Record& record : records) {
    TIDEMARK_ASSIGN(ByteVector bytes, encodeRecord(record));
    encoded.push_back(std::move(bytes));
  }
  return encoded;
}

Result<Record> decodeRecord(ByteView framed) {
  TIDEMARK_ASSIGN(const protocol::FramedRecord frame, protocol::decodeMetadataFrame(framed));
  TIDEMARK_ASSIGN(RecordBody body, decodeBody(frame));
  return Record{std::move(body), frame.version};
}

}  // namespace tidemark::metadata
