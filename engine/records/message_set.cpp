#include "records/message_set.h"

#include <fmt/format.h>
#include <zlib.h>

#include "records/batch.h"

namespace tidemark::records {
namespace {

// Message, magic 0 and 1: offset i64 | size i32 | crc u32 (CRC-32 from the magic on) | magic i8 | attributes i8 |
// timestamp i64 (magic 1 only) | key length i32, key | value length i32, value. A compressed message's value is a
// message set; in magic 1 the offsets inside are relative and the wrapper carries the last one's absolute offset.
constexpr size_t kCrcAt0 = 12;
constexpr size_t kMagicAt0 = 16;
constexpr size_t kAttributesAt0 = 17;
constexpr size_t kTimestampAt1 = 18;
constexpr size_t kSmallestMessage = 26;

struct Raw {
  int8_t magic = 0;
  uint8_t attributes = 0;
  uint32_t crc = 0;
  OldMessage message;
  size_t size = 0;
};

std::unexpected<Error> corrupt(std::string_view what) {
  return fail(ErrorCode::CorruptMessage, fmt::format("a message of an old format cannot be read: {}", what));
}

bool takeNullable(ByteView& from, std::optional<ByteView>& value) {
  if (from.size() < 4) return false;
  const int32_t size = readBigEndian<int32_t>(from.data());
  from = from.subspan(4);
  if (size < 0) {
    value.reset();
    return true;
  }
  if (static_cast<size_t>(size) > from.size()) return false;
  value = from.first(static_cast<size_t>(size));
  from = from.subspan(static_cast<size_t>(size));
  return true;
}

Result<Raw> readRaw(ByteView bytes) {
  if (bytes.size() < kSmallestMessage) return corrupt("it is cut off");
  const int32_t length = readBigEndian<int32_t>(bytes.data() + kLengthAt);
  if (length < static_cast<int32_t>(kSmallestMessage - kLogOverhead)) return corrupt("an impossible length");
  Raw raw;
  raw.size = kLogOverhead + static_cast<size_t>(length);
  if (raw.size > bytes.size()) return corrupt("it is cut off");
  raw.magic = static_cast<int8_t>(bytes[kMagicAt0]);
  if (raw.magic != 0 && raw.magic != 1) return corrupt("its format is neither 0 nor 1");
  raw.attributes = bytes[kAttributesAt0];
  raw.crc = readBigEndian<uint32_t>(bytes.data() + kCrcAt0);
  const ByteView covered = bytes.subspan(kMagicAt0, raw.size - kMagicAt0);
  if (::crc32(0, covered.data(), static_cast<uInt>(covered.size())) != raw.crc)
    return corrupt("the checksum does not match");
  raw.message.offset = Offset(readBigEndian<int64_t>(bytes.data()));
  ByteView fields = bytes.subspan(kTimestampAt1, raw.size - kTimestampAt1);
  if (raw.magic == 1) {
    if (fields.size() < 8) return corrupt("it has no timestamp");
    raw.message.timestampMs = readBigEndian<int64_t>(fields.data());
    fields = fields.subspan(8);
  }
  if (!takeNullable(fields, raw.message.key)) return corrupt("its key reaches beyond it");
  if (!takeNullable(fields, raw.message.value)) return corrupt("its value reaches beyond it");
  if (!fields.empty()) return corrupt("it is longer than its fields");
  return raw;
}

}  // namespace

Result<OldBatch> readOldBatch(ByteView bytes, size_t limit) {
  TIDEMARK_ASSIGN(Raw outer, readRaw(bytes));
  OldBatch batch;
  batch.magic = outer.magic;
  batch.crc = outer.crc;
  batch.logAppendTime = outer.magic == 1 && (outer.attributes & kLogAppendTimeBit) != 0;
  batch.sizeInBytes = outer.size;
  batch.lastOffset = outer.message.offset;
  batch.maxTimestampMs = outer.message.timestampMs;
  const std::optional<Codec> codec = codecByNumber(outer.attributes & kCodecMask);
  if (!codec || *codec == Codec::Zstd) return corrupt("a codec that its format does not have");
  batch.codec = *codec;
  if (*codec == Codec::None) {
    batch.baseOffset = outer.message.offset;
    batch.messages.push_back(outer.message);
    return batch;
  }
  if (!outer.message.value) return corrupt("it is compressed, but null");

  TIDEMARK_ASSIGN(ByteView left, *codec == Codec::Lz4 && outer.magic == 0
                                     ? decompressLz4OfFormat0(*outer.message.value, limit, batch.buffer)
                                     : decompress(*codec, *outer.message.value, limit, batch.buffer));
  while (!left.empty()) {
    TIDEMARK_ASSIGN(Raw inner, readRaw(left));
    if (inner.magic != outer.magic) return corrupt("a message inside is of another format");
    if ((inner.attributes & kCodecMask) != 0) return corrupt("a message inside is compressed again");
    if (batch.logAppendTime) inner.message.timestampMs = outer.message.timestampMs;
    batch.messages.push_back(inner.message);
    left = left.subspan(inner.size);
  }
  if (batch.messages.empty()) return corrupt("it is compressed, but empty");
  if (outer.magic == 1) {
    const int64_t shift = outer.message.offset - batch.messages.back().offset;
    for (OldMessage& message : batch.messages) message.offset = message.offset + shift;
  }
  batch.baseOffset = batch.messages.front().offset;
  return batch;
}

}  // namespace tidemark::records
