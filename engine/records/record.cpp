#include "records/record.h"

#include <fmt/format.h>

#include "base/varint.h"

namespace tidemark::records {
namespace {

// Record (inside a batch of format 2): length varint | attributes i8 | timestamp delta varlong | offset delta varint |
// key length varint, key | value length varint, value | count of headers varint, each: key length, key, value length,
// value. All varints are zig-zag; length −1 is null.

inline bool takeVarint(ByteView& from, int32_t& value) noexcept {
  if (!from.empty() && from[0] < 0x80) [[likely]] {
    value = unZigZag(static_cast<uint32_t>(from[0]));
    from = from.subspan(1);
    return true;
  }
  const std::optional<uint32_t> taken = takeUnsignedVarint<uint32_t>(from);
  if (!taken) return false;
  value = unZigZag(*taken);
  return true;
}

inline bool takeVarlong(ByteView& from, int64_t& value) noexcept {
  const std::optional<uint64_t> taken = takeUnsignedVarint<uint64_t>(from);
  if (!taken) return false;
  value = unZigZag(*taken);
  return true;
}

inline bool takeNullableBytes(ByteView& from, std::optional<ByteView>& value) noexcept {
  int32_t size = 0;
  if (!takeVarint(from, size)) return false;
  if (size < 0) {
    value.reset();
    return true;
  }
  if (static_cast<size_t>(size) > from.size()) return false;
  value = from.first(static_cast<size_t>(size));
  from = from.subspan(static_cast<size_t>(size));
  return true;
}

}  // namespace

std::optional<RecordHeader> HeaderCursor::next() noexcept {
  if (count_ <= 0) return std::nullopt;
  --count_;
  RecordHeader header;
  std::optional<ByteView> key;
  if (!takeNullableBytes(left_, key) || !key || !takeNullableBytes(left_, header.value)) {
    count_ = 0;
    return std::nullopt;
  }
  header.key = *key;
  return header;
}

Step RecordCursor::next() noexcept {
  if (*reason_ != '\0') return Step::Corrupt;
  if (given_ >= header_->recordCount) {
    return left_.empty() ? Step::End : corrupt("more bytes than the declared count of records");
  }
  if (left_.empty()) return corrupt("fewer records than declared");

  const uint8_t* const start = left_.data();
  int32_t size = 0;
  if (!takeVarint(left_, size)) return corrupt("a record's length is not a varint");
  if (size < 0 || static_cast<size_t>(size) > left_.size()) return corrupt("a record reaches beyond its batch");
  ByteView body = left_.first(static_cast<size_t>(size));
  left_ = left_.subspan(static_cast<size_t>(size));
  record_.bytes = {start, static_cast<size_t>(left_.data() - start)};

  if (body.empty()) return corrupt("a record without attributes");
  body = body.subspan(1);
  int64_t timestampDelta = 0;
  int32_t offsetDelta = 0;
  if (!takeVarlong(body, timestampDelta)) return corrupt("a record's timestamp is cut off");
  if (!takeVarint(body, offsetDelta)) return corrupt("a record's offset is cut off");
  if (!takeNullableBytes(body, record_.key)) return corrupt("a record's key reaches beyond it");
  if (!takeNullableBytes(body, record_.value)) return corrupt("a record's value reaches beyond it");
  if (!takeVarint(body, record_.headerCount)) return corrupt("a record's count of headers is cut off");
  if (record_.headerCount < 0 || static_cast<size_t>(record_.headerCount) > body.size()) {
    return corrupt("a record has an impossible count of headers");
  }
  record_.encodedHeaders = body;
  for (int32_t i = 0; i < record_.headerCount; ++i) {
    std::optional<ByteView> part;
    if (!takeNullableBytes(body, part) || !part) return corrupt("a record header's key is null or reaches beyond it");
    if (!takeNullableBytes(body, part)) return corrupt("a record header's value reaches beyond it");
  }
  if (!body.empty()) return corrupt("a record is longer than its fields");

  record_.offset = header_->baseOffset + offsetDelta;
  record_.timestampMs = header_->timestampType() == TimestampType::LogAppendTime
                            ? header_->maxTimestampMs
                            : static_cast<int64_t>(static_cast<uint64_t>(header_->baseTimestampMs) +
                                                   static_cast<uint64_t>(timestampDelta));
  record_.sequence = header_->baseSequence >= 0 ? nextSequence(header_->baseSequence, offsetDelta) : kNoSequence;
  ++given_;
  return Step::Next;
}

Result<ByteView> openPayload(const BatchView& batch, ByteVector& buffer, size_t limit) {
  const std::optional<Codec> codec = codecByNumber(batch.header.codecNumber());
  if (!codec) {
    return fail(ErrorCode::UnsupportedCompressionType,
                fmt::format("a record batch names codec {}, which does not exist", batch.header.codecNumber()));
  }
  return decompress(*codec, batch.payload(), limit, buffer);
}

Result<void> forEachRecord(const BatchView& batch, const std::function<void(const RecordView&)>& visit, size_t limit) {
  ByteVector buffer;
  TIDEMARK_ASSIGN(const ByteView payload, openPayload(batch, buffer, limit));
  RecordCursor cursor(batch.header, payload);
  while (true) {
    switch (cursor.next()) {
      case Step::Next:
        visit(cursor.record());
        break;
      case Step::End:
        return {};
      case Step::Corrupt:
        return fail(ErrorCode::CorruptMessage, fmt::format("a record of the batch at offset {} cannot be read: {}",
                                                           batch.header.baseOffset, cursor.reason()));
    }
  }
}

}  // namespace tidemark::records
