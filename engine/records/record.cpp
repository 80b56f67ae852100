#include "records/record.h"

#include <fmt/format.h>

#include "base/varint.h"

namespace tidemark::records {
namespace {

// Record (inside a batch of format 2): length varint | attributes i8 | timestamp delta varlong | offset delta varint |
// key length varint, key | value length varint, value | count of headers varint, each: key length, key, value length,
// value. All varints are zig-zag; length −1 is null.

// Each of these takes a field off `at` and returns what stands behind it, or null if the field reaches beyond `end`.

template <class Signed>
[[gnu::noinline]] const uint8_t* takeLongVarint(const uint8_t* at, const uint8_t* end, Signed& value) noexcept {
  ByteView bytes(at, end);
  const auto taken = takeUnsignedVarint<std::make_unsigned_t<Signed>>(bytes);
  if (!taken) return nullptr;
  value = unZigZag(*taken);
  return bytes.data();
}

template <class Signed>
inline const uint8_t* takeVarint(const uint8_t* at, const uint8_t* end, Signed& value) noexcept {
  if (end - at >= 2) [[likely]] {
    if (const uint8_t* const behind = takeShortVarint(at, value)) return behind;
  }
  return takeLongVarint(at, end, value);
}

/// Bytes behind their size, of which a negative one means null.
inline const uint8_t* takeNullableBytes(const uint8_t* at, const uint8_t* end, const uint8_t*& bytes,
                                        int32_t& size) noexcept {
  at = takeVarint(at, end, size);
  if (at == nullptr) return nullptr;
  bytes = at;
  if (size <= 0) return at;
  return size <= end - at ? at + size : nullptr;
}

}  // namespace

std::optional<RecordHeader> HeaderCursor::next() noexcept {
  if (count_ <= 0) return std::nullopt;
  --count_;
  const uint8_t* const end = left_.data() + left_.size();
  const uint8_t* key = nullptr;
  const uint8_t* value = nullptr;
  int32_t keySize = 0;
  int32_t valueSize = 0;
  const uint8_t* at = takeNullableBytes(left_.data(), end, key, keySize);
  if (at != nullptr && keySize >= 0) at = takeNullableBytes(at, end, value, valueSize);
  if (at == nullptr || keySize < 0) {
    count_ = 0;
    return std::nullopt;
  }
  left_ = {at, end};
  RecordHeader header{.key = {key, static_cast<size_t>(keySize)}, .value = {}};
  if (valueSize >= 0) header.value = ByteView(value, static_cast<size_t>(valueSize));
  return header;
}

Step RecordCursor::takeAny() noexcept {
  if (reason_ != nullptr) return Step::Corrupt;
  if (given_ >= header_->recordCount) {
    return at_ == end_ ? Step::End : corrupt("more bytes than the declared count of records");
  }
  if (at_ == end_) return corrupt("fewer records than declared");

  Found& found = found_;
  found.begin = at_;
  int32_t size = 0;
  const uint8_t* at = takeVarint(at_, end_, size);
  if (at == nullptr) return corrupt("a record's length is not a varint");
  if (size < 0 || size > end_ - at) return corrupt("a record reaches beyond its batch");
  const uint8_t* const end = at + size;

  if (at == end) return corrupt("a record without attributes");
  ++at;
  if ((at = takeVarint(at, end, found.timestampDelta)) == nullptr) return corrupt("a record's timestamp is cut off");
  if ((at = takeVarint(at, end, found.offsetDelta)) == nullptr) return corrupt("a record's offset is cut off");
  if ((at = takeNullableBytes(at, end, found.key, found.keySize)) == nullptr)
    return corrupt("a record's key reaches beyond it");
  if ((at = takeNullableBytes(at, end, found.value, found.valueSize)) == nullptr)
    return corrupt("a record's value reaches beyond it");
  if ((at = takeVarint(at, end, found.headerCount)) == nullptr)
    return corrupt("a record's count of headers is cut off");
  if (found.headerCount < 0 || found.headerCount > end - at)
    return corrupt("a record has an impossible count of headers");
  found.headers = at;
  for (int32_t i = 0; i < found.headerCount; ++i) {
    const uint8_t* part = nullptr;
    int32_t partSize = 0;
    at = takeNullableBytes(at, end, part, partSize);
    if (at == nullptr || partSize < 0) return corrupt("a record header's key is null or reaches beyond it");
    if ((at = takeNullableBytes(at, end, part, partSize)) == nullptr)
      return corrupt("a record header's value reaches beyond it");
  }
  if (at != end) return corrupt("a record is longer than its fields");

  at_ = end;
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
