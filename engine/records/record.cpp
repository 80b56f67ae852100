#include "records/record.h"

#include <fmt/format.h>

#include "base/varint.h"

namespace tidemark::records {
namespace {

// Record (inside a batch of format 2): length varint | attributes i8 | timestamp delta varlong | offset delta varint |
// key length varint, key | value length varint, value | count of headers varint, each: key length, key, value length,
// value. All varints are zig-zag; length −1 is null.

/// What is left to read, as two pointers: this is where a broker spends its time on produced records.
struct Input {
  explicit Input(ByteView bytes) noexcept : at(bytes.data()), end(bytes.data() + bytes.size()) {}
  Input(const uint8_t* from, const uint8_t* to) noexcept : at(from), end(to) {}
  size_t left() const noexcept { return static_cast<size_t>(end - at); }
  ByteView rest() const noexcept { return {at, left()}; }

  const uint8_t* at;
  const uint8_t* end;
};

template <class Signed, class Unsigned>
inline bool takeVarint(Input& from, Signed& value) noexcept {
  if (from.at != from.end) [[likely]] {
    const uint8_t first = from.at[0];
    if (first < 0x80) {
      value = unZigZag(static_cast<Unsigned>(first));
      from.at += 1;
      return true;
    }
    if (from.left() >= 2 && from.at[1] < 0x80) [[likely]] {
      value = unZigZag(static_cast<Unsigned>((first & 0x7f) | from.at[1] << 7));
      from.at += 2;
      return true;
    }
  }
  ByteView bytes = from.rest();
  const std::optional<Unsigned> taken = takeUnsignedVarint<Unsigned>(bytes);
  if (!taken) return false;
  value = unZigZag(*taken);
  from.at = bytes.data();
  return true;
}

inline bool takeInt32(Input& from, int32_t& value) noexcept {
  return takeVarint<int32_t, uint32_t>(from, value);
}
inline bool takeInt64(Input& from, int64_t& value) noexcept {
  return takeVarint<int64_t, uint64_t>(from, value);
}

inline bool takeNullableBytes(Input& from, std::optional<ByteView>& value) noexcept {
  int32_t size = 0;
  if (!takeInt32(from, size)) return false;
  if (size < 0) {
    value.reset();
    return true;
  }
  if (static_cast<size_t>(size) > from.left()) return false;
  value = ByteView(from.at, static_cast<size_t>(size));
  from.at += size;
  return true;
}

}  // namespace

std::optional<RecordHeader> HeaderCursor::next() noexcept {
  if (count_ <= 0) return std::nullopt;
  --count_;
  RecordHeader header;
  std::optional<ByteView> key;
  Input input(left_);
  if (!takeNullableBytes(input, key) || !key || !takeNullableBytes(input, header.value)) {
    count_ = 0;
    return std::nullopt;
  }
  left_ = input.rest();
  header.key = *key;
  return header;
}

Step RecordCursor::next() noexcept {
  if (*reason_ != '\0') return Step::Corrupt;
  if (given_ >= header_->recordCount) {
    return left_.empty() ? Step::End : corrupt("more bytes than the declared count of records");
  }
  if (left_.empty()) return corrupt("fewer records than declared");

  Input all(left_);
  int32_t size = 0;
  if (!takeInt32(all, size)) return corrupt("a record's length is not a varint");
  if (size < 0 || static_cast<size_t>(size) > all.left()) return corrupt("a record reaches beyond its batch");
  Input body(all.at, all.at + size);
  record_.bytes = {left_.data(), body.end};
  left_ = {body.end, all.end};

  if (body.left() == 0) return corrupt("a record without attributes");
  ++body.at;
  int64_t timestampDelta = 0;
  int32_t offsetDelta = 0;
  if (!takeInt64(body, timestampDelta)) return corrupt("a record's timestamp is cut off");
  if (!takeInt32(body, offsetDelta)) return corrupt("a record's offset is cut off");
  if (!takeNullableBytes(body, record_.key)) return corrupt("a record's key reaches beyond it");
  if (!takeNullableBytes(body, record_.value)) return corrupt("a record's value reaches beyond it");
  if (!takeInt32(body, record_.headerCount)) return corrupt("a record's count of headers is cut off");
  if (record_.headerCount < 0 || static_cast<size_t>(record_.headerCount) > body.left()) {
    return corrupt("a record has an impossible count of headers");
  }
  record_.encodedHeaders = body.rest();
  for (int32_t i = 0; i < record_.headerCount; ++i) {
    std::optional<ByteView> part;
    if (!takeNullableBytes(body, part) || !part) return corrupt("a record header's key is null or reaches beyond it");
    if (!takeNullableBytes(body, part)) return corrupt("a record header's value reaches beyond it");
  }
  if (body.left() != 0) return corrupt("a record is longer than its fields");

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
