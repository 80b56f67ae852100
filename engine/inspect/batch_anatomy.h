#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "records/batch.h"

namespace tidemark::inspect {

/// What a field is.
enum class FieldKind : uint8_t {
  // Of a batch.
  BaseOffset,
  Length,
  PartitionLeaderEpoch,
  Magic,
  Crc,
  Attributes,
  LastOffsetDelta,
  BaseTimestamp,
  DeleteHorizonMs,
  MaxTimestamp,
  ProducerId,
  ProducerEpoch,
  BaseSequence,
  RecordsCount,
  Records,
  // Of a record.
  Record,
  RecordLength,
  RecordAttributes,
  TimestampDelta,
  OffsetDelta,
  KeyLength,
  Key,
  ValueLength,
  Value,
  HeadersCount,
  // Of a header of a record.
  Header,
  HeaderKeyLength,
  HeaderKey,
  HeaderValueLength,
  HeaderValue,
};
/// Kafka's word for it: "baseOffset", "timestampDelta". Not to be translated.
std::string_view nameOf(FieldKind kind) noexcept;
/// It is a header of a record, or part of one.
constexpr bool isOfHeader(FieldKind kind) noexcept {
  return kind >= FieldKind::Header;
}

/// A stretch of bytes and what it says. Children lie inside it, in order, and cover it unless bytes are damaged.
struct AnatomyField {
  FieldKind kind{};
  /// That of its kind; of several with their number: "[2]" for the third record, "headers[2]".
  std::string name;
  /// Bytes [begin, end) of whatever the field is part of.
  size_t begin = 0;
  size_t end = 0;
  /// As text: a number; "null"; of keys and values their size, since the bytes are at hand.
  std::string value;
  /// What follows from it: "offset 17", "zstd", "2023-11-14T22:13:20.000Z", "computed 0x…"; may be empty.
  std::string note;
  std::vector<AnatomyField> children;
};

/// A batch taken apart, byte by byte.
struct BatchAnatomy {
  records::BatchHeader header;
  /// All bytes of the batch; `headerFields` are ranges of it.
  SharedBytes bytes;
  std::vector<AnatomyField> headerFields;
  /// The CRC is that of the bytes.
  bool crcValid = false;
  uint32_t computedCrc = 0;
  /// The records as they are once decompressed; `recordFields` are ranges of it. Of a batch that is not compressed its
  /// bytes from `kBatchHeaderSize` on.
  SharedBytes records;
  bool compressed = false;
  /// One field a record, from number `firstRecord` on.
  uint64_t firstRecord = 0;
  std::vector<AnatomyField> recordFields;
  /// Why the records cannot be read (further); empty if they can.
  std::string problem;
};

/// Takes apart the batch that `bytes` holds, up to `count` records from number `from` on. Whatever the bytes are, an
/// answer comes; only what is shorter than a header is CorruptMessage.
Result<BatchAnatomy> dissect(const SharedBytes& bytes, uint64_t from, size_t count);

/// Milliseconds since 1970 as `2023-11-14T22:13:20.000Z`; "none" for −1, and the number itself if it is out of range.
std::string timeText(int64_t timestampMs);

}  // namespace tidemark::inspect
